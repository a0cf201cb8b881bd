package cli_test

import (
	"context"
	"errors"
	"os"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"orange/internal/config"
	"orange/internal/core/task"
	"orange/internal/ui/cli"
	"orange/internal/ui/client"
)

func TestNotifyList(t *testing.T) {
	w := newEnv(t)
	w.Config.Notify = []config.Notify{
		{Kind: "desktop"},
		{Kind: "ntfy", URL: "https://ntfy.example/secret-topic", On: []string{"review", "stuck"}, Projects: []string{"shop"}, Brief: true},
		{Kind: "slack", Secret: "file:/home/alice/.slack"},
	}
	if err := os.MkdirAll(w.Config.Home, 0o700); err != nil {
		t.Fatal(err)
	}
	told := map[string]config.NotifyResult{
		w.Config.Notify[0].Name(): {At: now().Add(-3 * time.Minute), OK: now().Add(-3 * time.Minute)},
		w.Config.Notify[1].Name(): {At: now().Add(-time.Hour), Problem: "ntfy.example answered \x1b[31m500"},
	}
	if err := os.WriteFile(w.Config.NotifyResultsFile(), mustJSON(t, told), 0o600); err != nil {
		t.Fatal(err)
	}
	const want = `NR  KIND     HOST          SENDS                 PROJECTS  LAST
1   desktop  -             all but start         all       3m ago
2   ntfy     ntfy.example  review,stuck (brief)  shop      1h ago: ntfy.example answered 500
3   slack    (file)        all but start         all       not yet
`
	if code := w.run(t, "notify", "list"); code != 0 {
		t.Fatal(w.err.String())
	}
	if diff := cmp.Diff(want, w.out.String()); diff != "" {
		t.Error(diff)
	}
	w.run(t, "notify", "list", "--json")
	if out := w.out.String(); !strings.Contains(out, `"told":"2026-03-04T11:57:00Z"`) || strings.Contains(out, "secret-topic") || strings.Contains(out, "/home/alice") {
		t.Errorf("as JSON: %s", out)
	}
}

func TestNotifyTest(t *testing.T) {
	ways := []config.Notify{{Kind: "desktop"}, {Kind: "bell"}, {Kind: "bell", Brief: true}}
	by := func(kinds ...string) func(*env) {
		return func(w *env) {
			w.Notify = func(_ context.Context, n config.Notify, _ string) error {
				if slices.Contains(kinds, n.Kind) {
					return errors.New("it is broken")
				}
				return nil
			}
			w.Config.Notify = ways
		}
	}
	tell(t, []story{
		{name: "all", args: "notify test", prepare: by(), out: "1 desktop: sent\n2 bell: sent\n3 bell: sent\n"},
		{name: "of a kind", args: "notify test bell", prepare: by(), out: "2 bell: sent\n3 bell: sent\n"},
		{name: "by number", args: "notify test 3", prepare: by(), out: "3 bell: sent\n"},
		{name: "one that is broken", args: "notify test", prepare: by("desktop"), code: 1, out: "1 desktop: it is broken\n2 bell: sent\n", err: "orange: notify test: 1 of 3 went wrong\n"},
		{name: "as JSON", args: "notify test 1 --json", prepare: by("desktop"), code: 1, out: `{"results":[{"number":1,"kind":"desktop","error":"it is broken"}]}` + "\n"},
		{name: "nobody", args: "notify test", code: 1, err: "no notifications are configured"},
		{name: "an unknown one", args: "notify test pigeon", prepare: by(), code: 1, err: `no way is called "pigeon": see orange notify list`},
		{name: "two", args: "notify test bell bell", prepare: by(), code: 2, err: "use orange notify test [kind|number]"},
	})
}

// pinned is a task of workflow orange that has waited since now.
func pinned(id task.ID, branch, status string) task.Task {
	return task.Task{ID: id, Project: "shop", Branch: branch, Status: status, Seq: 1, CurrentVisit: task.CurrentVisit{Visit: 1, Since: now()}}
}

func TestInboxFollow(t *testing.T) {
	w, out, errs := newEnv(t), &screen{}, &screen{}
	w.asOrange(pinned("one", "a", "reviewing"), pinned("two", "b", "working"), pinned("three", "c", "working"))
	w.Stdout, w.Stderr = out, errs
	ctx, cancel := context.WithCancel(t.Context())
	code := make(chan int)
	go func() { code <- cli.Run(ctx, w.Deps, []string{"inbox", "--follow", "--bell"}) }()
	const review = "review      one       shop/a  the work waits for a decision  (orange task merge one)\n"
	lines := review
	out.shows(t, lines)
	w.store.Change("two", func(t *task.Task) { t.Attention = "push \x1b[31mfailed\x1b[0m\nbadly" })
	lines += "attention   two       shop/b  push failed badly  (orange resume two)\n"
	out.shows(t, lines)
	errs.shows(t, "\a")
	w.store.Change("two", func(t *task.Task) { t.Since = now().Add(time.Hour) }) // the same, younger
	w.server.CloseClientConnections()
	errs.shows(t, "\aorange: the server does not answer: waiting for it (unexpected EOF)\norange: the server is back\n")
	server := client.New(w.Config.Socket)
	defer server.Close()
	if err := server.PauseAll(ctx); err != nil {
		t.Fatal(err)
	}
	lines += "paused      -         -  everything is paused: nothing starts and nothing ends  (orange resume)\n"
	out.shows(t, lines)
	w.store.Change("one", func(t *task.Task) { t.Status = "working" })
	w.store.Change("three", func(t *task.Task) { t.Status = "reviewing" }) // shows that the change before it was read
	lines += "review      three     shop/c  the work waits for a decision  (orange task merge three)\n"
	out.shows(t, lines)
	w.store.Change("one", func(t *task.Task) { t.Status = "reviewing" }) // again
	lines += review
	out.shows(t, lines)
	cancel()
	if got := <-code; got != 0 {
		t.Errorf("exit %d: %q", got, errs.String())
	}
	if said := errs.String(); strings.Count(said, "\a") != 4 {
		t.Errorf("said was %q", said)
	}
}

// gitPrograms are programs that nobody has trusted.
type gitPrograms struct{}

func (gitPrograms) TrustedPrograms(string) []task.GitProgram { return nil }
func (gitPrograms) UntrustedNotice(context.Context, task.Project) string {
	return "git would run a hook"
}
func (gitPrograms) LastNotice(string) string { return "git would run a hook" }

func TestAnItemWithoutABranchIsFollowedByItsProject(t *testing.T) {
	w, out, errs := newEnv(t), &screen{}, &screen{}
	w.store.Tasks, w.projects, w.api.GitPrograms = nil, []task.Project{{Name: "web"}}, gitPrograms{}
	w.Stdout, w.Stderr = out, errs
	ctx, cancel := context.WithCancel(t.Context())
	code := make(chan int)
	go func() { code <- cli.Run(ctx, w.Deps, []string{"inbox", "--follow"}) }()
	out.shows(t, "git         -         web  git would run a hook  (orange project update web --trust-git)\n")
	cancel()
	if got := <-code; got != 0 {
		t.Errorf("exit %d: %q", got, errs.String())
	}
}
