package client_test

import (
	"context"
	"errors"
	"fmt"
	"net/http"
	"strings"
	"testing"
	"testing/synctest"

	"github.com/google/go-cmp/cmp"

	"orange/internal/core/task"
	"orange/internal/ui/apitest"
	"orange/internal/ui/client"
	"orange/internal/view/overview"
	"orange/internal/wire"
)

func TestWhatIsAskedOfAState(t *testing.T) {
	for name, tt := range map[string]struct {
		ask  func(context.Context, *client.Client) error
		want string
	}{
		"now": {func(ctx context.Context, c *client.Client) error {
			_, err := c.ReadState(ctx, client.StateQuery{})
			return err
		}, "GET /v1/state"},
		"of project": {func(ctx context.Context, c *client.Client) error {
			_, err := c.ReadState(ctx, client.StateQuery{Project: "p q", All: true})
			return err
		}, "GET /v1/state?all=1&project=p+q"},
		"then": {func(ctx context.Context, c *client.Client) error {
			_, err := c.ReadState(ctx, client.StateQuery{At: 7})
			return err
		}, "GET /v1/state?at=7"},
		"screen": {func(ctx context.Context, c *client.Client) error {
			_, err := c.ReadScreen(ctx, "abc", "a b")
			return err
		}, "GET /v1/tasks/abc/screen?role=a+b"},
		"type":      {func(ctx context.Context, c *client.Client) error { return c.TypeText(ctx, "abc", "w", "yes\n") }, `POST /v1/tasks/abc/type {"role":"w","text":"yes\n"}`},
		"diff":      {func(ctx context.Context, c *client.Client) error { _, err := c.ReadDiff(ctx, "abc"); return err }, "GET /v1/tasks/abc/diff"},
		"workflows": {func(ctx context.Context, c *client.Client) error { _, err := c.ListWorkflows(ctx); return err }, "GET /v1/workflows"},
		"web":       {func(ctx context.Context, c *client.Client) error { _, err := c.OpenPage(ctx); return err }, "POST /v1/web null"},
		"web token": {func(ctx context.Context, c *client.Client) error { _, err := c.WebToken(ctx); return err }, "POST /v1/web/token null"},
	} {
		t.Run(name, func(t *testing.T) {
			socket := socketIn(t)
			r := inspect()
			listen(t, socket, r)
			c := client.New(socket)
			defer c.Close()
			if err := tt.ask(t.Context(), c); err != nil {
				t.Fatal(err)
			}
			if diff := cmp.Diff([]string{tt.want}, r.got); diff != "" {
				t.Error(diff)
			}
		})
	}
	c := client.New("/nowhere")
	for _, id := range []string{"", ".", ".."} {
		err := c.WatchScreen(t.Context(), id, "", func(wire.Screen) error { return nil })
		if err == nil || !strings.Contains(err.Error(), "not found") {
			t.Errorf("%q: %v", id, err)
		}
	}
}

func TestAStateOfAThousandTasks(t *testing.T) {
	var tasks []task.Task
	for n := range 1000 {
		tasks = append(tasks, task.Task{ID: task.ID(fmt.Sprintf("%021d", n)), Summary: strings.Repeat("s", 500)})
	}
	server := apitest.NewServer(apitest.NewStore(tasks...))
	server.Projects = apitest.Projects{{Name: "p"}}
	socket := socketIn(t)
	listen(t, socket, server.Handler())
	c := client.New(socket)
	defer c.Close()
	got, err := c.ReadState(t.Context(), client.StateQuery{})
	want := overview.State{At: got.At, Version: "1.2.3", Projects: []overview.Project{{Name: "p"}}}
	for i := range tasks {
		want.Tasks = append(want.Tasks, overview.NewRow(nil, &tasks[i], overview.Facts{}, got.At))
	}
	if diff := cmp.Diff(want, got); diff != "" || err != nil {
		t.Error(err, diff)
	}
}

func change(row int, id string) string {
	return fmt.Sprintf("id: %d\nevent: change\ndata: {\"row\":%d,\"tasks\":[{\"id\":%q}]}\n\n", row, row, id)
}

func TestAStateIsFollowedWhereItBroke(t *testing.T) {
	socket := socketIn(t)
	b := &broken{parts: []string{
		": orange\n\n" + change(4, "a") + change(5, "b") + "id: 6\nevent: change\ndata: {\"ro",
		"event: change\ndata: {\"row\":5,\"paused\":true}\n\n", // nothing in the journal: no id
		change(7, "c"),
	}}
	listen(t, socket, b)
	c := client.New(socket)
	defer c.Close()
	state, calls := overview.State{Row: 3}, []string{}
	err := c.FollowState(t.Context(), client.FollowOptions{StateQuery: client.StateQuery{Project: "p", All: true}, After: 3,
		Opened: func() error { calls = append(calls, "opened"); return nil },
		Lost:   func(error) { calls = append(calls, "lost") },
		Change: func(ch overview.Change) error {
			state.ApplyChange(ch)
			calls = append(calls, fmt.Sprint("row ", state.Row))
			return nil
		}})
	if err == nil || err.Error() != "gone" {
		t.Errorf("ended with %v", err)
	}
	if diff := cmp.Diff([]string{"opened", "row 4", "row 5", "lost", "opened", "row 5", "lost", "opened", "row 7", "lost"}, calls); diff != "" {
		t.Error(diff)
	}
	asked := "after=3&all=1&project=p"
	if diff := cmp.Diff([]string{asked + " last=", asked + " last=5", asked + " last=5", asked + " last=7"}, b.asked); diff != "" {
		t.Error(diff)
	}
	if len(state.Tasks) != 3 {
		t.Errorf("%+v", state.Tasks)
	}
}

func TestAFollowerEnds(t *testing.T) {
	socket := socketIn(t)
	listen(t, socket, http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		fmt.Fprint(w, change(1, "a"))
		w.(http.Flusher).Flush()
		<-r.Context().Done()
	}))
	c := client.New(socket)
	defer c.Close()
	ctx, cancel := context.WithCancel(t.Context())
	err := c.FollowState(ctx, client.FollowOptions{Change: func(overview.Change) error { cancel(); return nil }, Lost: func(error) { t.Error("lost") }})
	if !errors.Is(err, context.Canceled) {
		t.Errorf("its context ended: %v", err)
	}
	if err := c.FollowState(t.Context(), client.FollowOptions{Change: func(overview.Change) error { return errEnough }}); !errors.Is(err, errEnough) {
		t.Errorf("it has enough: %v", err)
	}
	if err := c.FollowState(t.Context(), client.FollowOptions{Opened: func() error { return errEnough }}); !errors.Is(err, errEnough) {
		t.Errorf("it does not want to: %v", err)
	}
}

// TestAFollowerWaitsForAServer continues as long as the caller wants to know that the connection is lost.
func TestAFollowerWaitsForAServer(t *testing.T) {
	socket := socketIn(t)
	synctest.Test(t, func(t *testing.T) {
		c := client.New(socket)
		defer c.Close()
		ctx, cancel := context.WithCancel(t.Context())
		lost := 0
		err := c.FollowState(ctx, client.FollowOptions{Lost: func(err error) {
			if lost++; lost == 50 {
				cancel()
			}
			if !client.IsAbsent(err) {
				t.Error(err)
			}
		}})
		if !errors.Is(err, context.Canceled) || lost != 50 {
			t.Errorf("%v after %d", err, lost)
		}
		if err := c.FollowState(t.Context(), client.FollowOptions{}); !client.IsAbsent(err) {
			t.Errorf("nobody hears of it: %v", err)
		}
	})
}

// TestAScreenIsWatchedForLong breaks the line more often than a stream without events
// may break.
func TestAScreenIsWatchedForLong(t *testing.T) {
	socket := socketIn(t)
	var parts []string
	for n := range 12 {
		parts = append(parts, fmt.Sprintf(": orange\n\nevent: screen\ndata: {\"attempt\":%d,\"lines\":[]}\n\n", n))
	}
	b := &broken{parts: parts}
	listen(t, socket, b)
	c := client.New(socket)
	defer c.Close()
	seen := 0
	err := c.WatchScreen(t.Context(), "abc", "worker", func(s wire.Screen) error {
		if s.Attempt != seen {
			t.Errorf("attempt %d after %d", s.Attempt, seen)
		}
		seen++
		return nil
	})
	if err == nil || err.Error() != "gone" || seen != 12 || b.asked[0] != "role=worker last=" {
		t.Errorf("%v after %d screens, %q", err, seen, b.asked)
	}
}

func TestWatchingAScreenEndsWithItsContext(t *testing.T) {
	socket := socketIn(t)
	left := make(chan struct{})
	listen(t, socket, http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		fmt.Fprint(w, "event: screen\ndata: {}\n\n")
		w.(http.Flusher).Flush()
		<-r.Context().Done()
		close(left)
	}))
	c := client.New(socket)
	defer c.Close()
	ctx, cancel := context.WithCancel(t.Context())
	if err := c.WatchScreen(ctx, "abc", "", func(wire.Screen) error { cancel(); return nil }); !errors.Is(err, context.Canceled) {
		t.Error(err)
	}
	<-left
}
