package journal

import (
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"orange/internal/core/signal"
	"orange/internal/core/task"
	"orange/internal/core/taskfile"
)

func shown() task.Task {
	return task.Task{
		ID: "t", Project: "p", Branch: "b", Status: "working",
		Counters: []task.Counter{{Name: "review_round", Value: 1, Total: 4}, {Name: "crash_count"}},
		Summary:  "it's: \"x\"", CreatedAt: time.Unix(1, 0), UpdatedAt: time.Unix(2, 345678900),
		Setup:     task.Setup{Workflow: "orange", Harness: "claude", ReviewHarness: "claude", Effort: "high"},
		Resources: task.Resources{Workspace: "p--1", TmuxSession: "p/b", PRURL: "https://example.com/1", PRState: "OPEN"},
	}
}

func written(t *testing.T, r task.Task) string {
	t.Helper()
	doc, err := taskfile.Document{}.WithFields(Frontmatter(r))
	if err != nil {
		t.Fatal(err)
	}
	return string(doc.Bytes())
}

func TestFrontmatterIsInTheOrderPeopleKnow(t *testing.T) {
	const all = "id project branch harness review_harness effort review_effort status review_round crash_count summary " +
		"workflow workspace tmux_session created_at updated_at pr_url pr_state"
	for name, tc := range map[string]struct {
		record task.Task
		want   string
	}{
		"with a pull request": {shown(), all},
		"without one": {func() task.Task { r := shown(); r.PRURL, r.PRState = "", ""; return r }(),
			strings.TrimSuffix(all, " pr_url pr_state")},
		"with a counter called like a field": {func() task.Task {
			r := shown()
			r.Counters = append(r.Counters, task.Counter{Name: "status"})
			return r
		}(), all},
	} {
		t.Run(name, func(t *testing.T) {
			text := written(t, tc.record)
			if _, err := taskfile.Parse([]byte(text)); err != nil {
				t.Fatal(err)
			}
			front, _, _ := strings.Cut(strings.TrimPrefix(text, "---\n"), "\n---\n")
			var keys []string
			for line := range strings.Lines(front) {
				key, _, _ := strings.Cut(line, ":")
				keys = append(keys, key)
			}
			if diff := cmp.Diff(tc.want, strings.Join(keys, " ")); diff != "" {
				t.Errorf("(-want +got)\n%s", diff)
			}
		})
	}
}

func TestTampered(t *testing.T) {
	whole := written(t, shown())
	swap := func(old, new string) string {
		if !strings.Contains(whole, old) {
			t.Fatalf("%q is not in %s", old, whole)
		}
		return strings.Replace(whole, old, new, 1)
	}
	for name, tc := range map[string]struct {
		text string
		want []signal.Field
	}{
		"as it was written":      {whole + "\nbody\n", nil},
		"another way to write":   {swap("status: working", `status: "working"  # c`), nil},
		"empty instead of null":  {swap("review_effort: null", "review_effort:"), nil},
		"a key of somebody else": {swap("---\n", "---\nmine: 1\n"), nil},
		"a status":               {swap("status: working", "status: done"), []signal.Field{{Name: "status", From: "working", To: "done"}}},
		"a counter":              {swap("review_round: 1", "review_round: 0"), []signal.Field{{Name: "review_round", From: "1", To: "0"}}},
		"a key is gone":          {swap("branch: b\n", ""), []signal.Field{{Name: "branch", From: "b"}}},
		"a null key is gone":     {swap("review_effort: null\n", ""), []signal.Field{{Name: "review_effort"}}},
		"a time":                 {swap("02.345Z", "03.345Z"), []signal.Field{{Name: "updated_at", From: "1970-01-01T00:00:02.345Z", To: "1970-01-01T00:00:03.345Z"}}},
		"a list":                 {swap("status: working", "status: [a, b]"), []signal.Field{{Name: "status", From: "working", To: "[a, b]"}}},
	} {
		t.Run(name, func(t *testing.T) {
			doc, err := taskfile.Parse([]byte(tc.text))
			if err != nil {
				t.Fatal(err)
			}
			if diff := cmp.Diff(tc.want, TamperedFields(doc, shown())); diff != "" {
				t.Errorf("(-want +got)\n%s", diff)
			}
		})
	}
}

func TestTamperedWithoutFrontmatterAndWithAPullRequestOfNobody(t *testing.T) {
	doc, err := taskfile.Parse([]byte("## Plan\n"))
	if err != nil {
		t.Fatal(err)
	}
	if got, want := len(TamperedFields(doc, shown())), len(Frontmatter(shown())); got != want {
		t.Errorf("%d keys count as changed, want %d", got, want)
	}
	r := shown()
	r.PRURL = ""
	doc, err = taskfile.Parse([]byte(written(t, shown())))
	if err != nil {
		t.Fatal(err)
	}
	want := []signal.Field{{Name: "pr_url", To: "https://example.com/1"}}
	if diff := cmp.Diff(want, TamperedFields(doc, r)); diff != "" {
		t.Errorf("(-want +got)\n%s", diff)
	}
}
