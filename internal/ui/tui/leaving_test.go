package tui

import (
	"context"
	"io"
	"slices"
	"strings"
	"sync"
	"testing"
	"testing/synctest"

	tea "charm.land/bubbletea/v2"

	"orange/internal/wait"
)

// beginning is a terminal that reports the first write to it.
type beginning struct {
	once  sync.Once
	drawn chan struct{}
}

func (b *beginning) Write(p []byte) (int, error) {
	b.once.Do(func() { close(b.drawn) })
	return len(p), nil
}

func TestExitOnAttachLeavesTheDashboard(t *testing.T) {
	ctx, cancel := context.WithCancel(t.Context())
	in, keys := io.Pipe()
	defer keys.Close()
	out := &beginning{drawn: make(chan struct{})}
	left := make(chan error, 1)
	go func() {
		_, err := Run(ctx, DashboardOptions{API: newSampleServer(t), In: in, Out: out, Environ: []string{"TERM=xterm"}})
		left <- err
	}()
	await(t, "the screen", out.drawn)
	cancel()
	if err := <-left; err != nil {
		t.Errorf("it says %q", err)
	}
}

func TestWhoLeavesHasStillAsked(t *testing.T) {
	for name, tt := range map[string]struct {
		begun bool  // the request is on its way when they leave
		no    error // what the server says
		want  string
	}{
		"it is on its way":     {begun: true},
		"it was not begun yet": {},
		"it is refused":        {no: errNo, want: "a gate is not met: write ## Plan"},
	} {
		t.Run(name, func(t *testing.T) {
			r := newEnv(t, 80, 24)
			r.api.no = tt.no
			r.on("login")
			r.press("m")
			_, cmd := r.m.Update(tea.KeyPressMsg{Code: 'y', Text: "y"})
			if tt.begun {
				r.m.under["id0login"]()
			}
			r.press("q")
			if got := r.m.awaitRequests(t.Context()); got != tt.want {
				t.Errorf("it says %q, want %q", got, tt.want)
			}
			runAll(cmd) // nothing is asked twice
			r.heard("request id0login merge human")
		})
	}
	r := newEnv(t, 80, 24)
	r.on("login")
	r.press("m", "y")
	if got := r.m.awaitRequests(t.Context()); got != "" || len(r.m.under) > 0 {
		t.Errorf("what has its answer is waited for: %q", got)
	}
}

func runAll(cmd tea.Cmd) {
	if cmd == nil {
		return
	}
	if all, ok := cmd().(tea.BatchMsg); ok {
		for _, c := range all {
			runAll(c)
		}
	}
}

func TestAServerThatDoesNotAnswerHoldsNobody(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		ctx, cancel := context.WithCancel(t.Context())
		m := newModel(ctx, DashboardOptions{})
		m.sendRequest("id", "the merge", func(ctx context.Context) (string, error) {
			<-ctx.Done()
			return "", ctx.Err()
		})
		if got := m.awaitRequestsBriefly(); !strings.Contains(got, "a request had no answer yet") {
			t.Errorf("it says %q", got)
		}
		cancel()
		m.last.Wait()
	})
}

func TestARequestRightBeforeTheEndIsMade(t *testing.T) {
	in, keys := io.Pipe()
	defer keys.Close()
	api := newSampleServer(t)
	left := make(chan error, 1)
	go func() {
		_, err := Run(t.Context(), DashboardOptions{API: api, In: in, Out: io.Discard, Environ: []string{"TERM=xterm"}})
		left <- err
	}()
	wait.Until(t, "the dashboard has the state and follows it", func() bool { return api.streams.Load() > 0 })
	if _, err := keys.Write([]byte("myq")); err != nil {
		t.Fatal(err)
	}
	if err := <-left; err != nil {
		t.Errorf("it says %q", err)
	}
	if asked := api.take(); !slices.Contains(asked, "request id0login merge human") {
		t.Errorf("asked %q", asked)
	}
}
