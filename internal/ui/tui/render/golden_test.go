package render

import (
	"flag"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"orange/internal/core/explain"
	"orange/internal/core/journal"
	"orange/internal/core/signal"
	"orange/internal/core/task"
	"orange/internal/core/workflow"
	"orange/internal/core/workflow/builtin"
	"orange/internal/view/ansi"
	"orange/internal/view/diff"
)

var update = flag.Bool("update", false, "write the golden files anew")

// golden compares lines with a file. Escape sequences are written out, so that the file
// can be read and its looks be reviewed.
func golden(t *testing.T, name string, lines []string) {
	t.Helper()
	got := strings.ReplaceAll(strings.Join(lines, "\n")+"\n", "\x1b", "␛")
	path := filepath.Join("testdata", name+".golden")
	if *update {
		if err := os.WriteFile(path, []byte(got), 0o644); err != nil {
			t.Fatal(err)
		}
		return
	}
	want, err := os.ReadFile(path)
	if err != nil {
		t.Fatalf("%v: run go test ./internal/ui/tui/render -update", err)
	}
	if d := cmp.Diff(string(want), got); d != "" {
		t.Errorf("%s has changed: look at it, then go test ./internal/ui/tui/render -update\n%s", path, d)
	}
}

// entries is the journal of a task that was really played.
func entries(t testing.TB, name string) []journal.Entry {
	t.Helper()
	text, err := os.ReadFile(filepath.Join("testdata", name+".jsonl"))
	if err != nil {
		t.Fatal(err)
	}
	var out []journal.Entry
	for line := range strings.Lines(string(text)) {
		e, err := journal.Decode([]byte(strings.TrimSpace(line)))
		if err != nil {
			t.Fatal(err)
		}
		out = append(out, e)
	}
	return out
}

func definition(t testing.TB, name string) *workflow.Definition {
	t.Helper()
	text, _ := builtin.Text(name)
	def, err := workflow.Parse(builtin.File(name), text)
	if err != nil {
		t.Fatal(err)
	}
	return def
}

// played is the day of the journals, an hour after their end.
var played = time.Date(2026, 11, 15, 16, 35, 34, 0, time.UTC)

func explained(t testing.TB, list []journal.Entry) explain.Explanation {
	t.Helper()
	folded, err := journal.Fold(task.Task{}, list)
	if err != nil {
		t.Fatal(err)
	}
	past := explain.Past{Entries: list, Refusals: []journal.Refusal{{
		Task: folded.ID, At: played.Add(-10 * time.Minute), Actor: "worker", Attempt: 1, Kind: signal.Request, Asked: "reviewing",
		Why: "working -> reviewing: no such way for the worker; it may ask for agent-review",
	}}}
	return explain.TaskWithPast(definition(t, "orange"), folded, signal.Signal{At: played}, past)
}

const document = `# Let customers log in

Some **strong** and *soft* words, ~~gone~~ ones, ` + "`code`" + `, a [link](https://example.org/a?b=c) and a
bare one: https://example.org. <b>HTML</b> is text. A [file](docs/login.md), an ![image](https://example.org/x.png).

## Plan

APPROACH: a form and a session
TOUCHING: login.txt

1. first, with a line that is so long that it has to be broken somewhere in the middle of it
2. second
   - deeper

     with a paragraph of its own
- [ ] to do
- [x] done

> quoted, and also so long that it has to be broken somewhere in the middle of it
>
> - a point

| field | type | what it is for |
|:------|:----:|---------------:|
| name  | text | shown to everybody who looks at the page, for as long as they look at it |
| ` + "`a\\|b`" + ` | 日本 | 3 |

` + "```go" + `
func main() {
	fmt.Println("a line of code that is cut where the pane ends, and not broken into two")
}
` + "```" + `

---
The end.
`

const changes = `diff --git a/login.txt b/login.txt
--- a/login.txt
+++ b/login.txt
@@ -1,3 +1,4 @@ func main() {
 one
-two
+two, with a	tab
+three 日本
 four
diff --git a/old.txt b/new.txt
rename from old.txt
rename to new.txt
diff --git a/x.png b/x.png
Binary files a/x.png and b/x.png differ
`

const captured = "\x1b[1;32muser@host\x1b[0m:\x1b[34m~/shop\x1b[0m$ ls\n\x1b[38;5;208mREADME\x1b[0m  \x1b[7mlogin.txt\x1b[0m\nwide: 日本\x1b[48;2;1;2;3m x\x1b[0m\n\n\n"

func TestGolden(t *testing.T) {
	login, search := entries(t, "login"), entries(t, "search")
	for name, theme := range map[string]Theme{"plain": NewTheme(true, false), "light": NewTheme(false, true), "dark": NewTheme(true, true)} {
		for part, lines := range map[string][]string{
			"timeline": theme.RenderTimeline(search, played, 70),
			"markdown": theme.RenderMarkdown(document, 60),
			"explain":  theme.RenderExplanation(explained(t, search[:6]), played, 60),
			"graph":    theme.RenderGraph(definition(t, "orange").ForTask(nil), "agent-review", login[:14], 60),
			"screen":   theme.RenderScreen(ansi.ParseLines(captured), 20, 2),
			"diff":     theme.RenderDiff(diff.Parse(changes), 60),
		} {
			if name == "light" && (part == "timeline" || part == "explain") {
				continue // its colours are seen in the others
			}
			t.Run(part+"-"+name, func(t *testing.T) { golden(t, part+"-"+name, lines) })
		}
	}
}

func TestGoldenNarrow(t *testing.T) {
	theme, login := NewTheme(true, false), entries(t, "login")
	golden(t, "narrow-timeline", theme.RenderTimeline(login, played.AddDate(0, 0, 1), 32))
	golden(t, "narrow-markdown", theme.RenderMarkdown(document, 24))
	golden(t, "narrow-explain", theme.RenderExplanation(explained(t, login), played, 28))
	golden(t, "narrow-diff", theme.RenderDiff(diff.Parse(changes), 20))
}

func TestGoldenGraphOfEveryBuiltIn(t *testing.T) {
	paths := map[string][]string{
		"cmat-feature":  {"pending", "requirements-analyst", "halted", "requirements-analyst", "architect"},
		"joan-board":    {"board", "ba-evaluate", "board", "architect-plan", "board", "dev-implement"},
		"linear-sdlc":   {"Backlog", "Started", "Finished", "Started", "Finished", "Delivered", "Halted"},
		"orange":        {"pending", "planning", "clarification", "planning", "working", "agent-review", "working", "agent-review", "reviewing", "done"},
		"orange-direct": nil,
	}
	for _, name := range builtin.Names() {
		list, at := walk(paths[name])
		golden(t, "graph-"+name, NewTheme(true, false).RenderGraph(definition(t, name), at, list, 60))
	}
}

// walk is the journal of a task that went a way.
func walk(path []string) (list []journal.Entry, at string) {
	for i, to := range path {
		list = append(list, journal.Entry{Seq: i + 1, Type: journal.StatusChanged, Move: journal.Move{From: at, To: to}})
		at = to
	}
	return list, at
}
