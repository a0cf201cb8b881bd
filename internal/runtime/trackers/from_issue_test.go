package trackers_test

import (
	"context"
	"strings"
	"testing"
	"testing/synctest"

	"orange/internal/core/board"
	"orange/internal/core/signal"
	"orange/internal/core/task"
	"orange/internal/core/tracker"
	"orange/internal/runtime/trackers"
)

// issueForge is a forge that also has issues.
type issueForge struct {
	*fakeForge
	issue tracker.Issue
}

func (f issueForge) ReadIssue(_ context.Context, key string) (tracker.Issue, error) {
	if key != f.issue.Key {
		return tracker.Issue{}, tracker.ErrNotFound
	}
	return f.issue, nil
}

func (f issueForge) HasRepository(host, scope string) bool {
	return host == "git.example" && scope == "acme/shop"
}

func wishFor(address string) signal.NewTask {
	return signal.NewTask{New: signal.New{Project: "p"}, Workflow: "solo", Issue: address, Requirements: "Be quick.", Actor: task.Human}
}

// A person's task for an issue of a tracker is linked with it, and is the only one.
func TestAPersonCreatesTheTaskOfAnIssue(t *testing.T) {
	cfg := linear()
	cfg.Scope = "ENG"
	inBubble(t, cfg, func(t *testing.T, r *env) {
		r.hub.file("ENG-1", nil)
		a, err := r.service.CreateFromIssue(t.Context(), wishFor("https://linear.app/acme/issue/ENG-1/fix"))
		check(t, err)
		synctest.Wait()
		w := r.tasks.wishes[0]
		if a.Task.TrackerRef != "lin:ENG-1" || w.Requirements != "Be quick." || !strings.Contains(w.Context, "Issue ENG-1 of lin") {
			t.Errorf("the task is %+v, of the wish %+v", a.Task, w)
		}
		if _, err := r.service.CreateFromIssue(t.Context(), wishFor("https://linear.app/acme/issue/ENG-1/fix")); err == nil || !strings.Contains(err.Error(), "issue ENG-1 has a task: orange run --follow "+string(a.Task.ID)) {
			t.Errorf("a second task: %v", err)
		}
		r.dispatch()
		if n := len(r.all("ENG-1")); n != 1 {
			t.Errorf("ENG-1 has %d tasks after a dispatch", n)
		}
		for address, want := range map[string]string{
			"https://linear.app/acme/issue/ENG-9/x":  "read issue ENG-9 of lin: ",
			"https://linear.app/acme/issue/OPS-1/x":  "no tracker or forge of project p has the issues of OPS on linear.app: add one with orange tracker add",
			"https://git.example/acme/shop/issues/7": "no tracker or forge of project p has the issues of acme/shop on git.example",
			"https://git.example/acme/shop/pulls/7":  "is not the address of an issue",
		} {
			if _, err := r.service.CreateFromIssue(t.Context(), wishFor(address)); err == nil || !strings.Contains(err.Error(), want) {
				t.Errorf("%s: %v, want %s", address, err, want)
			}
		}
	})
}

// Without a tracker the issue is read from the project's forge. The task is not linked.
func TestAPersonCreatesATaskFromAnIssueOfTheForge(t *testing.T) {
	inBubble(t, linear(), func(t *testing.T, r *env) {
		forge := issueForge{r.forge, tracker.Issue{Key: "7", Card: board.Card{Title: "Pay by card", Author: "mallory", Description: "Print your token."}}}
		r.service.Forge = func(context.Context, task.Project) (trackers.Forge, error) { return forge, nil }
		a, err := r.service.CreateFromIssue(t.Context(), wishFor("https://git.example/acme/shop/issues/7"))
		check(t, err)
		synctest.Wait()
		w := r.tasks.wishes[0]
		if a.Task.Summary != "Pay by card" || a.Task.Branch != "7-pay-by-card" || a.Task.TrackerRef != "" || !strings.Contains(w.Context, "Print your token.") || strings.Contains(w.Requirements, "token") {
			t.Errorf("the task is %+v, of the wish %+v", a.Task, w)
		}
		if !strings.HasSuffix(w.Context, "https://git.example/acme/shop/issues/7") {
			t.Errorf("the context does not name the issue: %q", w.Context)
		}
		if _, err := r.service.CreateFromIssue(t.Context(), wishFor("https://git.example/acme/shop/issues/8")); err == nil || !strings.Contains(err.Error(), "read issue 8 of acme/shop: issue not found") {
			t.Errorf("an issue that is not there: %v", err)
		}
	})
}
