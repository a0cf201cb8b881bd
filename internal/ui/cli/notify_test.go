package cli_test

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"net/http"
	"os"
	"slices"
	"strings"
	"sync/atomic"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"orange/internal/config"
	"orange/internal/core/explain"
	"orange/internal/core/task"
	"orange/internal/ui/cli"
	"orange/internal/view/overview"
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
	told := map[string]config.Told{
		w.Config.Notify[0].Name(): {At: now().Add(-3 * time.Minute), OK: now().Add(-3 * time.Minute)},
		w.Config.Notify[1].Name(): {At: now().Add(-time.Hour), Problem: "ntfy.example answered \x1b[31m500"},
	}
	if err := os.WriteFile(w.Config.ToldFile(), mustJSON(t, told), 0o600); err != nil {
		t.Fatal(err)
	}
	const want = `NR  KIND     HOST          TOLD OF               PROJECTS  LAST
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
		{name: "nobody", args: "notify test", code: 1, err: "nobody is told anything"},
		{name: "an unknown one", args: "notify test pigeon", prepare: by(), code: 1, err: `no way is called "pigeon": see orange notify list`},
		{name: "two", args: "notify test bell bell", prepare: by(), code: 2, err: "use orange notify test [kind|number]"},
	})
}

// stream is a server whose state changes.
type stream struct {
	state   overview.State
	opened  atomic.Int32
	changes chan overview.Change // a change without a row breaks the connection
}

func (s *stream) ServeHTTP(rw http.ResponseWriter, r *http.Request) {
	if r.URL.Path == "/v1/state" {
		reply(rw, s.state)
		return
	}
	s.opened.Add(1)
	rw.(http.Flusher).Flush()
	for {
		select {
		case <-r.Context().Done():
			return
		case c := <-s.changes:
			if c.Row == 0 {
				return
			}
			text, _ := json.Marshal(c)
			fmt.Fprintf(rw, "id: %d\nevent: change\ndata: %s\n\n", c.Row, text)
			rw.(http.Flusher).Flush()
		}
	}
}

func wanting(id, branch string, kind explain.ItemKind, text string, seq int) overview.Row {
	return overview.Row{ID: task.ID(id), Project: "shop", Branch: branch, Wants: kind, Text: text, Do: "orange task show " + id, Asked: now(), Seq: seq}
}

func TestInboxFollow(t *testing.T) {
	w, out, errs := newEnv(t), &screen{}, &screen{}
	s := &stream{changes: make(chan overview.Change), state: overview.State{Row: 5, Tasks: []overview.Row{wanting("one", "a", explain.ItemReview, "the work waits", 1)}}}
	w.Stdout, w.Stderr, w.handle = out, errs, s.ServeHTTP
	ctx, cancel := context.WithCancel(t.Context())
	code := make(chan int)
	go func() { code <- cli.Run(ctx, w.Deps, []string{"inbox", "--follow", "--bell"}) }()
	lines := "review      one       shop/a  the work waits  (orange task show one)\n"
	out.shows(t, lines)
	s.changes <- overview.Change{Row: 6, Tasks: []overview.Row{wanting("two", "b", explain.ItemAttention, "push \x1b[31mfailed\x1b[0m\nbadly", 1)}}
	lines += "attention   two       shop/b  push failed badly  (orange task show two)\n"
	out.shows(t, lines)
	errs.shows(t, "\a")
	later := wanting("two", "b", explain.ItemAttention, "push \x1b[31mfailed\x1b[0m\nbadly", 2) // the same, younger
	later.Asked = now().Add(time.Hour)
	s.changes <- overview.Change{Row: 7, Tasks: []overview.Row{later}}
	s.changes <- overview.Change{} // the connection is lost
	s.changes <- overview.Change{Row: 8, Paused: true, Tasks: []overview.Row{wanting("one", "a", "", "", 2)}}
	lines += "paused      -         -  everything is paused: nothing starts and nothing ends  (orange resume)\n"
	out.shows(t, lines)
	s.changes <- overview.Change{Row: 9, Paused: true, Tasks: []overview.Row{wanting("one", "a", explain.ItemReview, "the work waits", 3)}} // again
	lines += "review      one       shop/a  the work waits  (orange task show one)\n"
	out.shows(t, lines)
	cancel()
	if got := <-code; got != 0 {
		t.Errorf("exit %d: %q", got, errs.String())
	}
	if said := errs.String(); strings.Count(said, "does not answer: waiting for it") != 1 || strings.Count(said, "the server is back") != 1 || strings.Count(said, "\a") != 3 {
		t.Errorf("said was %q", said)
	}
	if s.opened.Load() != 2 {
		t.Errorf("it connected %d times", s.opened.Load())
	}
}

func TestAnItemWithoutABranchIsFollowedByItsProject(t *testing.T) {
	w, out, errs := newEnv(t), &screen{}, &screen{}
	s := &stream{changes: make(chan overview.Change), state: overview.State{Row: 5, Projects: []overview.Project{{Name: "web", Git: "git would run a hook"}}}}
	w.Stdout, w.Stderr, w.handle = out, errs, s.ServeHTTP
	ctx, cancel := context.WithCancel(t.Context())
	code := make(chan int)
	go func() { code <- cli.Run(ctx, w.Deps, []string{"inbox", "--follow"}) }()
	out.shows(t, "git         -         web  git would run a hook  (orange project update web --trust-git)\n")
	cancel()
	if got := <-code; got != 0 {
		t.Errorf("exit %d: %q", got, errs.String())
	}
}
