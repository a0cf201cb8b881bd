package mcpboard_test

import (
	"context"
	"crypto/sha256"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/goccy/go-yaml"
	"github.com/modelcontextprotocol/go-sdk/mcp"

	"orange/internal/adapter/mcpboard"
	"orange/internal/core/board"
	"orange/internal/core/tracker"
	"orange/internal/runtime/trackers"
	"orange/internal/testneeds"
	"orange/internal/trackertest"
)

// backlog is a repository with a board of Backlog.md. People use a separate server; its files
// are the real state.
type backlog struct {
	program string
	dir     string
	home    string
	people  func() (*mcp.ClientSession, error) // starts the server on first use

	mu     sync.Mutex
	print  string
	writes int
	hands  int
}

// backlogProgram finds the program, or skips.
func backlogProgram(t testing.TB) string {
	t.Helper()
	program := testneeds.NPM(t, ".bin/backlog")
	for _, need := range []string{"git", "node"} {
		if _, err := exec.LookPath(need); err != nil {
			t.Skipf("%s is not installed", need)
		}
	}
	return program
}

// initBacklog creates an empty board. The program takes about a second for it, so stories copy one board.
func initBacklog(t testing.TB) (dir string) {
	t.Helper()
	w := &backlog{program: backlogProgram(t), dir: t.TempDir(), home: t.TempDir()}
	w.run(t, "git", "init", "-q", ".")
	w.run(t, w.program, "init", "Scratch", "--defaults", "--integration-mode", "none", "--check-branches", "false", "--include-remote", "false", "--auto-open-browser", "false")
	w.statuses(t, trackertest.Columns)
	return w.dir
}

// newBacklog returns a copy of an empty board.
func newBacklog(t testing.TB, empty string) *backlog {
	t.Helper()
	w := &backlog{program: backlogProgram(t), dir: t.TempDir(), home: t.TempDir()}
	if err := os.CopyFS(w.dir, os.DirFS(empty)); err != nil {
		t.Fatal(err)
	}
	w.people = sync.OnceValues(func() (*mcp.ClientSession, error) {
		s, err := mcp.NewClient(&mcp.Implementation{Name: "people", Version: "1"}, nil).Connect(t.Context(), &mcp.CommandTransport{Command: w.command(w.program, "mcp", "start", "--cwd", w.dir)}, nil)
		if err == nil {
			t.Cleanup(func() { s.Close() })
		}
		return s, err
	})
	return w
}

func (w *backlog) env() []string { return []string{"PATH=" + os.Getenv("PATH"), "HOME=" + w.home} }

func (w *backlog) command(name string, args ...string) *exec.Cmd {
	cmd := exec.Command(name, args...)
	cmd.Dir, cmd.Env = w.dir, w.env()
	return cmd
}

func (w *backlog) run(t testing.TB, name string, args ...string) {
	t.Helper()
	if out, err := w.command(name, args...).CombinedOutput(); err != nil {
		t.Fatalf("%s %q: %v\n%s", filepath.Base(name), args, err, out)
	}
}

// statuses writes the board's columns into its configuration.
func (w *backlog) statuses(t testing.TB, names []string) {
	t.Helper()
	file := filepath.Join(w.dir, "backlog", "config.yml")
	text, err := os.ReadFile(file)
	if err != nil {
		t.Fatal(err)
	}
	quoted := strings.Split(fmt.Sprintf("%q", names), `" "`)
	list := strings.Join(quoted, `", "`)
	text = regexp.MustCompile(`(?m)^statuses:.*$`).ReplaceAll(text, []byte("statuses: "+list))
	text = regexp.MustCompile(`(?m)^default_status:.*$`).ReplaceAll(text, fmt.Appendf(nil, "default_status: %q", names[0]))
	if err := os.WriteFile(file, text, 0o600); err != nil {
		t.Fatal(err)
	}
}

func (w *backlog) options() mcpboard.BoardOptions {
	return mcpboard.BoardOptions{
		Command: []string{w.program, "mcp", "start", "--cwd", w.dir}, Env: w.env(), Dir: w.dir,
		Mapping: mcpboard.ShippedMappings()["backlog"], Tags: trackertest.Tags, Closed: []string{"Accepted", "Canceled"},
	}
}

func (w *backlog) OpenClient(t testing.TB) trackers.Backend {
	t.Helper()
	b, err := mcpboard.New(w.options())
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { b.Close() })
	return b
}

// ask has the people's server do something.
func (w *backlog) ask(t testing.TB, tool string, args map[string]any) string {
	t.Helper()
	people, err := w.people()
	if err != nil {
		t.Fatal(err)
	}
	r, err := people.CallTool(context.Background(), &mcp.CallToolParams{Name: tool, Arguments: args})
	if err != nil {
		t.Fatal(err)
	}
	text := r.Content[0].(*mcp.TextContent).Text
	if r.IsError {
		t.Fatalf("%s %v: %s", tool, args, text)
	}
	return text
}

var newTask = regexp.MustCompile(`(?m)^Task (\S+) - `)

func (w *backlog) AddIssue(t testing.TB, d tracker.Issue) string {
	t.Helper()
	args := map[string]any{"title": d.Card.Title, "description": d.Card.Description, "status": d.Card.Column, "labels": append([]string{}, d.Card.Tags...)}
	if p := map[tracker.Priority]string{tracker.High: "high", tracker.Medium: "medium", tracker.Low: "low"}[d.Priority]; p != "" {
		args["priority"] = p
	}
	if d.Parent != "" {
		args["parentTaskId"] = d.Parent
	}
	var blockers []string
	for _, l := range d.BlockedBy {
		blockers = append(blockers, l.Key)
	}
	if blockers != nil {
		args["dependencies"] = blockers
	}
	text, put := w.byHand(d.Card.Description, 10000)
	args["description"] = text
	key := newTask.FindStringSubmatch(w.ask(t, "task_create", args))[1]
	put(t, key)
	return key
}

// byHand is for texts that are too long for the server: people write them into the file.
// It returns what the server gets, and what is to be done then.
func (w *backlog) byHand(text string, most int) (string, func(t testing.TB, key string)) {
	if len(text) <= most {
		return text, func(testing.TB, string) {}
	}
	w.mu.Lock()
	w.hands++
	mark := fmt.Sprintf("by-hand-%d-", w.hands)
	w.mu.Unlock()
	return mark, func(t testing.TB, key string) {
		t.Helper()
		file := w.files(t)[key].name
		old, err := os.ReadFile(file)
		if err != nil {
			t.Fatal(err)
		}
		if err := os.WriteFile(file, []byte(strings.Replace(string(old), mark, text, 1)), 0o600); err != nil {
			t.Fatal(err)
		}
	}
}

func (w *backlog) edit(t testing.TB, key string, args map[string]any) {
	t.Helper()
	args["id"] = key
	w.ask(t, "task_edit", args)
}

func (w *backlog) MoveIssue(t testing.TB, key, column string) {
	t.Helper()
	w.edit(t, key, map[string]any{"status": column})
}

func (w *backlog) TagIssue(t testing.TB, key string, add, remove []string) {
	t.Helper()
	labels := append([]string{}, w.ReadIssue(t, key).Card.Tags...)
	labels = slices.DeleteFunc(labels, func(l string) bool { return slices.Contains(remove, l) || slices.Contains(add, l) })
	w.edit(t, key, map[string]any{"labels": append(labels, add...)})
}

func (w *backlog) CommentIssue(t testing.TB, key, author, text string) {
	t.Helper()
	text, put := w.byHand(strings.TrimSpace(regexp.MustCompile(`(?m)^---$`).ReplaceAllString(text, "- - -")), 5000)
	w.edit(t, key, map[string]any{"commentsAppend": []string{text}, "commentAuthor": author})
	put(t, key)
}

func (w *backlog) DescribeIssue(t testing.TB, key, text string) {
	t.Helper()
	w.edit(t, key, map[string]any{"description": text})
}

// A front is what the file of a task begins with.
type front struct {
	ID, Title, Status, Reporter, Priority string
	Labels                                []string
	Dependencies                          []string
	Parent                                string `yaml:"parent_task_id"`
}

type taskFile struct {
	front
	name, body string
}

func (w *backlog) files(t testing.TB) map[string]taskFile {
	t.Helper()
	out := map[string]taskFile{}
	names, err := filepath.Glob(filepath.Join(w.dir, "backlog", "tasks", "*.md"))
	if err != nil {
		t.Fatal(err)
	}
	for _, name := range names {
		text, err := os.ReadFile(name)
		if err != nil {
			continue // renamed in the meantime
		}
		head, body, _ := strings.Cut(strings.TrimPrefix(string(text), "---\n"), "\n---\n")
		f := taskFile{name: name, body: body}
		if err := yaml.Unmarshal([]byte(head), &f.front); err != nil {
			t.Fatalf("%s: %v", name, err)
		}
		out[f.ID] = f
	}
	return out
}

var (
	described = regexp.MustCompile(`(?s)<!-- SECTION:DESCRIPTION:BEGIN -->\n(.*?)\n<!-- SECTION:DESCRIPTION:END -->`)
	commented = regexp.MustCompile(`(?s)<!-- COMMENTS:BEGIN -->\n(.*)\n<!-- COMMENTS:END -->`)
	comment   = regexp.MustCompile(`(?ms)^(?:author: ([^\n]*)\n)?created: [^\n]*\n---\n(.*?)\n---$`)
)

// ReadIssue returns the content of a task's file. Its times are too coarse to be compared. A
// line of "- - -" stands for one that cannot be in a comment, as in the mapping.
func (w *backlog) ReadIssue(t testing.TB, key string) tracker.Issue {
	t.Helper()
	all := w.files(t)
	f, ok := all[key]
	if !ok {
		t.Fatalf("no task %s", key)
	}
	is := tracker.Issue{Key: f.ID, Parent: f.Parent, Priority: map[string]tracker.Priority{"high": tracker.High, "medium": tracker.Medium, "low": tracker.Low}[f.Priority],
		Card: board.Card{Title: f.Title, Author: f.Reporter, Column: f.Status, Tags: f.Labels}}
	if m := described.FindStringSubmatch(f.body); m != nil {
		is.Card.Description = m[1]
	}
	if m := commented.FindStringSubmatch(f.body); m != nil {
		for i, c := range comment.FindAllStringSubmatch(m[1], -1) {
			text := regexp.MustCompile(`(?m)^- - -$`).ReplaceAllString(c[2], "---")
			is.Comments = append(is.Comments, tracker.Comment{ID: fmt.Sprint(i + 1), Author: c[1], Text: text, At: time.Time{}})
		}
	}
	for _, d := range f.Dependencies {
		is.BlockedBy = append(is.BlockedBy, tracker.Link{Key: d, Closed: slices.Contains([]string{"Accepted", "Canceled"}, all[d].Status)})
	}
	for _, o := range all {
		if o.Parent == key {
			is.Children = append(is.Children, tracker.Link{Key: o.ID})
		}
	}
	return is
}

func (w *backlog) RenameColumn(t testing.TB, _, _ string) { t.Skip("not done to a real board") }
func (w *backlog) DeleteTag(t testing.TB, _ string)       { t.Skip("labels are free: none can be deleted") }
func (w *backlog) InjectFault(trackertest.Fault)          {}

// CountWrites counts how often the files were found changed.
func (w *backlog) CountWrites() int {
	w.mu.Lock()
	defer w.mu.Unlock()
	sum := sha256.New()
	names, _ := filepath.Glob(filepath.Join(w.dir, "backlog", "tasks", "*.md"))
	for _, name := range names {
		text, _ := os.ReadFile(name)
		fmt.Fprintf(sum, "%s\n%d\n%s", name, len(text), text)
	}
	if now := fmt.Sprintf("%x", sum.Sum(nil)); now != w.print {
		w.print = now
		w.writes++
	}
	return w.writes
}

// CanDo implements trackertest.Limit: a real server does not fail on demand.
func (w *backlog) CanDo(string) bool { return false }

func TestBacklog(t *testing.T) {
	empty := initBacklog(t)
	trackertest.RunTracker(t, func(t *testing.T) trackertest.World { return newBacklog(t, empty) })
}
