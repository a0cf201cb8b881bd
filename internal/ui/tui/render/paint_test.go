package render

import (
	"strings"
	"testing"
	"time"
	"unicode/utf8"

	charm "github.com/charmbracelet/x/ansi"
	"pgregory.net/rapid"

	"orange/internal/core/engine"
	"orange/internal/core/explain"
	"orange/internal/core/journal"
	"orange/internal/core/signal"
	"orange/internal/core/task"
	"orange/internal/core/workflow"
	"orange/internal/view/ansi"
	"orange/internal/view/diff"
)

// sound says what is wrong with lines: one that is too wide, or holds anything but text
// and sequences that say how it looks.
func sound(lines []string, width int, coloured bool) string {
	for _, l := range lines {
		switch {
		case charm.StringWidth(l) > width:
			return "too wide: " + l
		case !utf8.ValidString(l):
			return "no text: " + l
		case strings.ContainsAny(l, "\n\t"):
			return "more than a line: " + l
		}
		for rest := l; rest != ""; {
			before, after, found := strings.Cut(rest, "\x1b")
			if ansi.SafeText(before) != before {
				return "not clean: " + before
			}
			if !found {
				break
			}
			end := strings.IndexByte(after, 'm')
			if end < 1 || after[0] != '[' || strings.Trim(after[1:end], "0123456789;:") != "" {
				return "another sequence: " + l
			}
			for _, code := range strings.FieldsFunc(after[1:end], func(r rune) bool { return r == ';' || r == ':' }) {
				if !coloured && len(code) > 1 {
					return "a colour: " + l
				}
			}
			rest = after[end+1:]
		}
	}
	return ""
}

var nasty = []string{
	"", " ", "a", "word", "日本語", "🍊", "👩‍👩‍👧", "🇩🇪", "🇩", "e\u0301", "\u0301\u0301\u0301\u0301\u0301\u0301", "\u200d", "❤️", "1️⃣", "\x1b[31m", "\x1b]0;x\x07", "\x1b[2J",
	"\u009b1m", "\xff", "\x00", "\n", "\r", "\t", "\u202e", "\u2028", "ｆｕｌｌ", "ไทย", "नमस्ते", "한국", "ᄀ", "ᅡ", "ᆨ", "\ufe0f", "👍🏽", "🏽", "…",
	"**", "*", "`", "```\n", "# ", "## ", "- ", "- [x] ", "1. ", "> ", "| a | b |\n|---|---|\n| c | d |\n", "[a](http://b.example)", "---\n", "<b>", "&#27;", "\\", "~~",
	strings.Repeat("long", 60), "\n\n", "    code\n",
}

// textOf is anything at all, with a liking for what is hard to show.
func textOf() *rapid.Generator[string] {
	return rapid.Custom(func(t *rapid.T) string {
		parts := rapid.SliceOfN(rapid.OneOf(rapid.SampledFrom(nasty), rapid.String()), 0, 12).Draw(t, "parts")
		return strings.Join(parts, "")
	})
}

var (
	widths  = rapid.IntRange(-1, 200)
	moments = rapid.Custom(func(t *rapid.T) time.Time {
		return time.Unix(rapid.Int64Range(0, 4e9).Draw(t, "at"), 0).UTC()
	})
)

func holds(t *testing.T, name string, paint func(t *rapid.T, theme Theme, width int) []string) {
	t.Helper()
	t.Run(name, func(t *testing.T) {
		rapid.Check(t, func(rt *rapid.T) {
			theme, width := NewTheme(rapid.Bool().Draw(rt, "dark"), rapid.Bool().Draw(rt, "colour")), widths.Draw(rt, "width")
			lines := paint(rt, theme, width)
			if width < 1 && len(lines) > 0 {
				rt.Fatalf("lines of no width: %q", lines)
			}
			if wrong := sound(lines, width, theme.color); wrong != "" {
				rt.Fatalf("in %d columns: %q", width, wrong)
			}
		})
	})
}

func TestLinesAreSoundWhateverIsShown(t *testing.T) {
	holds(t, "Timeline", func(t *rapid.T, theme Theme, width int) []string {
		return theme.RenderTimeline(rapid.SliceOfN(anyEntry(), 0, 6).Draw(t, "entries"), moments.Draw(t, "now"), width)
	})
	holds(t, "Markdown", func(t *rapid.T, theme Theme, width int) []string {
		return theme.RenderMarkdown(textOf().Draw(t, "text"), width)
	})
	holds(t, "Explain", func(t *rapid.T, theme Theme, width int) []string {
		return theme.RenderExplanation(anyExplanation(t), moments.Draw(t, "now"), width)
	})
	orange := definition(t, "orange")
	holds(t, "Graph", func(t *rapid.T, theme Theme, width int) []string {
		def := rapid.SampledFrom([]*workflow.Definition{orange, nil}).Draw(t, "workflow")
		at := rapid.OneOf(textOf(), rapid.Just("working")).Draw(t, "at")
		return theme.RenderGraph(def, at, rapid.SliceOfN(anyEntry(), 0, 6).Draw(t, "entries"), width)
	})
	holds(t, "Screen", func(t *rapid.T, theme Theme, width int) []string {
		height := rapid.IntRange(-1, 10).Draw(t, "height")
		out := theme.RenderScreen(anyScreen(t), width, height)
		if len(out) > max(height, 0) {
			t.Fatalf("%d lines in %d", len(out), height)
		}
		return out
	})
	holds(t, "Diff", func(t *rapid.T, theme Theme, width int) []string {
		return theme.RenderDiff(rapid.SliceOfN(anyFile(), 0, 3).Draw(t, "files"), width)
	})
}

func TestFitIsExact(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		text, width := textOf().Draw(t, "text"), rapid.IntRange(0, 40).Draw(t, "width")
		got := FitWidth(text, width)
		if n := charm.StringWidth(got); n != width {
			t.Fatalf("%q has %d columns, not %d", got, n, width)
		}
		if wrong := sound([]string{got}, width, false); wrong != "" || strings.Contains(got, "\x1b") {
			t.Fatalf("%q: %s", got, wrong)
		}
	})
}

func anyEntry() *rapid.Generator[journal.Entry] {
	return rapid.Custom(func(t *rapid.T) journal.Entry {
		e := journal.Entry{
			Seq: rapid.Int().Draw(t, "seq"), At: moments.Draw(t, "at"), Type: journal.Type(rapid.OneOf(rapid.SampledFrom(types), textOf()).Draw(t, "type")),
			Actor: task.Actor(textOf().Draw(t, "actor")), Attempt: rapid.IntRange(-1, 99).Draw(t, "attempt"),
			Reason: textOf().Draw(t, "reason"), Note: textOf().Draw(t, "note"), AttemptChanges: journal.AttemptChanges{Role: textOf().Draw(t, "role"), StartedIn: textOf().Draw(t, "place")},
		}
		if rapid.Bool().Draw(t, "moves") {
			e.From, e.To = textOf().Draw(t, "from"), rapid.OneOf(textOf(), rapid.SampledFrom([]string{"working", "stuck", "done"})).Draw(t, "to")
		}
		if rapid.Bool().Draw(t, "more") {
			e.Receipt = &signal.Receipt{Error: textOf().Draw(t, "error")}
			e.Ended = []journal.Ended{{Number: 1, Role: textOf().Draw(t, "gone")}}
			e.Condition = &task.Condition{Name: task.WaitingInput}
			e.Fields = []signal.Field{{Name: textOf().Draw(t, "field")}}
			e.Effects = []task.Effect{{Do: textOf().Draw(t, "do")}}
			e.Asked = &task.Asked{To: textOf().Draw(t, "asked")}
			e.Rejected = []string{textOf().Draw(t, "rejected")}
		}
		return e
	})
}

var types = []string{
	"task.created", "task.updated", "task.queued", "task.paused", "task.resumed", "task.tampered", "task.deleted", "status.changed", "auto.advanced",
	"agent.spawned", "agent.exited", "agent.crashed", "agent.respawned", "agent.overdue", "agent.condition", "agent.limited", "agent.nudged",
	"agent.no-answer", "work.failed", "card.seen", "pr.closed", "effect.asked", "effect.done", "effect.failed", "effect.gave-up", "confirmation.asked",
}

func anyExplanation(t *rapid.T) explain.Explanation {
	text := func(name string) string { return textOf().Draw(t, name) }
	x := explain.Explanation{
		Task: task.ID(text("id")), Status: text("status"), Owner: text("owner"), Why: text("why"), Since: moments.Draw(t, "since"), Visit: 3,
		Cheapest: explain.Unblock{Edit: text("edit"), Action: explain.Action{Verb: text("run"), Note: text("note")}, Opens: text("opens")}, Problem: text("problem"),
	}
	if rapid.Bool().Draw(t, "rich") {
		x.Deadline = &engine.Timer{At: moments.Draw(t, "deadline")}
		x.Edges = []explain.Way{{To: text("to"), As: text("as"), On: text("on"), By: text("by"), Open: rapid.Bool().Draw(t, "open"),
			Reasons: []engine.Reason{{Rule: engine.Rule(text("rule")), Text: text("reason")}}}}
		x.Next = []explain.Step{{What: text("what"), At: moments.Draw(t, "step")}}
		x.Cost = []explain.RoleCost{{Role: text("role"), Attempts: 2, Seconds: 90}}
		x.Refusals = []journal.Refusal{{At: moments.Draw(t, "refused"), Actor: task.Actor(text("who")), Kind: signal.Request, Why: text("because")}}
	}
	return x
}

// anyScreen is what was captured, or what somebody says was: it comes over a socket.
func anyScreen(t *rapid.T) []ansi.Line {
	if rapid.Bool().Draw(t, "captured") {
		return ansi.ParseLines(textOf().Draw(t, "capture"))
	}
	run := rapid.Custom(func(t *rapid.T) ansi.Run {
		colour := rapid.SampledFrom([]string{"", "1", "208", "#ff8000", "-1", "99999", "#zz", "x\x1b[2J"})
		return ansi.Run{Text: textOf().Draw(t, "text"), Style: ansi.Style{
			FG: colour.Draw(t, "fg"), BG: colour.Draw(t, "bg"), Bold: rapid.Bool().Draw(t, "bold"), Faint: rapid.Bool().Draw(t, "faint"),
			Italic: rapid.Bool().Draw(t, "italic"), Underline: rapid.Bool().Draw(t, "underline"), Reverse: rapid.Bool().Draw(t, "reverse"),
		}}
	})
	var out []ansi.Line
	for range rapid.IntRange(0, 6).Draw(t, "lines") {
		out = append(out, rapid.SliceOfN(run, 0, 4).Draw(t, "line"))
	}
	return out
}

func anyFile() *rapid.Generator[diff.File] {
	return rapid.Custom(func(t *rapid.T) diff.File {
		f := diff.File{Path: textOf().Draw(t, "path"), Old: textOf().Draw(t, "old"), Binary: rapid.Bool().Draw(t, "binary"), Added: rapid.Int().Draw(t, "added")}
		line := rapid.Custom(func(t *rapid.T) diff.Line {
			return diff.Line{Kind: rapid.SampledFrom([]string{"+", "-", " ", "", "\x1b"}).Draw(t, "kind"), Old: rapid.Int().Draw(t, "old"), New: rapid.Int().Draw(t, "new"), Text: textOf().Draw(t, "text")}
		})
		for range rapid.IntRange(0, 2).Draw(t, "hunks") {
			f.Hunks = append(f.Hunks, diff.Hunk{Header: textOf().Draw(t, "header"), Lines: rapid.SliceOfN(line, 0, 4).Draw(t, "lines")})
		}
		return f
	})
}
