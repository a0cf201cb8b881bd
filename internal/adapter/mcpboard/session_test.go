package mcpboard_test

import (
	"context"
	"errors"
	"fmt"
	"net/http"
	"net/http/httptest"
	"os"
	"path/filepath"
	"strconv"
	"strings"
	"sync/atomic"
	"syscall"
	"testing"

	"github.com/modelcontextprotocol/go-sdk/mcp"

	"orange/internal/adapter/mcpboard"
	"orange/internal/core/board"
	"orange/internal/core/tracker"
	"orange/internal/runtime/trackers"
	"orange/internal/trackertest"
	"orange/internal/trackertest/fakejoan"
	"orange/internal/wait"
)

var _ trackers.Backend = (*mcpboard.Tracker)(nil)

func open(t *testing.T, o mcpboard.BoardOptions) *mcpboard.Tracker {
	t.Helper()
	b, err := mcpboard.New(o)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { b.Close() })
	return b
}

func plain(t *testing.T, w trackertest.World) string {
	return w.AddIssue(t, tracker.Issue{Card: board.Card{Title: "T", Column: "Backlog"}})
}

func TestASessionThatTheServerForgotIsOpenedAgain(t *testing.T) {
	f := fakejoan.New(t, fakejoan.FakeOptions{Sessions: true})
	b := open(t, f.ClientOptions())
	key := plain(t, f)
	for range 3 {
		is, err := b.ReadIssue(t.Context(), key)
		if err != nil {
			t.Fatal(err)
		}
		f.ForgetSessions()
		if _, err := b.WriteChange(t.Context(), is, board.Change{Comment: "hi"}); err != nil {
			t.Errorf("what was never asked for may be asked for again: %v", err)
		}
		f.ForgetSessions()
	}
	if n := len(f.ReadIssue(t, key).Comments); n != 3 {
		t.Errorf("%d comments", n)
	}
}

func TestACommentIsNotSaidTwiceByItself(t *testing.T) {
	for name, f := range map[string]*fakejoan.Fake{"http": overHTTP(t), "stdio": overStdio(t)} {
		b := open(t, f.ClientOptions())
		key := plain(t, f)
		is, err := b.ReadIssue(t.Context(), key)
		if err != nil {
			t.Fatal(err)
		}
		f.InjectFault(trackertest.Fault{Kind: trackertest.Lost, Times: 1, Writes: true})
		if _, err := b.WriteChange(t.Context(), is, board.Change{Comment: "hi"}); err == nil {
			t.Errorf("%s: nobody knows whether it was said", name)
		}
		if n := len(f.ReadIssue(t, key).Comments); n != 1 || f.CountWrites() != 1 {
			t.Errorf("%s: %d comments, %d writes", name, n, f.CountWrites())
		}
	}
}

func TestMoreThanAPageIsAskedForByParts(t *testing.T) {
	f := overHTTP(t)
	for i := range 120 {
		f.AddIssue(t, tracker.Issue{Card: board.Card{Title: fmt.Sprint("T", i), Column: []string{"Backlog", "Started"}[i%2]}})
	}
	list, err := open(t, f.ClientOptions()).ListIssues(t.Context(), tracker.Query{})
	if err != nil || len(list) != 120 {
		t.Errorf("%d issues, %v", len(list), err)
	}
}

func TestAListThatMayLackSomethingIsAnError(t *testing.T) {
	f := overHTTP(t)
	for i := range 100 {
		f.AddIssue(t, tracker.Issue{Card: board.Card{Title: fmt.Sprint("T", i), Column: "Delivered"}})
	}
	key := plain(t, f)
	b := open(t, f.ClientOptions())
	if _, err := b.ListIssues(t.Context(), tracker.Query{}); err == nil || !strings.Contains(err.Error(), "at most 100") {
		t.Errorf("%v", err)
	}
	list, err := b.ListIssues(t.Context(), tracker.Query{Columns: []string{"Backlog"}})
	if err != nil || len(list) != 1 || list[0].Key != key {
		t.Errorf("what is full is not what was asked for: %+v, %v", list, err)
	}
}

// The program gets the environment that it is given, and ends with the board.
func TestAProgramGetsItsEnvironmentAndEnds(t *testing.T) {
	t.Setenv("ORANGE_TEST_SECRET", "planted")
	dir := t.TempDir()
	f := overStdio(t)
	o := f.ClientOptions()
	script := `env > "$D/env"; echo $$ > "$D/pid"; sleep 1000 & echo $! > "$D/child"; "$P"; wait`
	o.Env = append(o.Env, "D="+dir, "P="+o.Command[0], "PATH="+os.Getenv("PATH"))
	o.Command = []string{"/bin/sh", "-c", script}
	b, err := mcpboard.New(o)
	if err != nil {
		t.Fatal(err)
	}
	if _, err := b.AccountName(t.Context()); err != nil {
		t.Fatal(err)
	}
	env, _ := os.ReadFile(filepath.Join(dir, "env"))
	if strings.Contains(string(env), "planted") || !strings.Contains(string(env), "D="+dir) {
		t.Errorf("the environment is\n%s", env)
	}
	b.Close()
	for _, name := range []string{"pid", "child"} {
		text, _ := os.ReadFile(filepath.Join(dir, name))
		pid, err := strconv.Atoi(strings.TrimSpace(string(text)))
		if err != nil {
			t.Fatal(err)
		}
		wait.Until(t, name+" has ended", func() bool { return syscall.Kill(pid, 0) != nil || zombie(pid) })
	}
	if _, err := b.AccountName(t.Context()); err == nil {
		t.Error("it was closed")
	}
}

func zombie(pid int) bool {
	text, err := os.ReadFile(fmt.Sprintf("/proc/%d/stat", pid))
	return err == nil && strings.Contains(string(text), ") Z ")
}

func TestAProgramThatDoesNotWorkSaysWhy(t *testing.T) {
	m := mcpboard.ShippedMappings()["joan"]
	for name, tc := range map[string]struct {
		command []string
		want    string
	}{
		"it complains":    {[]string{"/bin/sh", "-c", "echo no board here, only $T >&2; exit 3"}, "no board here, only ***"},
		"it is not there": {[]string{"/nonexistent/board"}, "no such file"},
		"it says nothing": {[]string{"/bin/sh", "-c", "exit 0"}, "call the board at sh"},
	} {
		t.Run(name, func(t *testing.T) {
			b := open(t, mcpboard.BoardOptions{Command: tc.command, Env: []string{"T=topsecret-token"}, Mapping: m})
			_, err := b.AccountName(t.Context())
			if err == nil || !strings.Contains(err.Error(), tc.want) || strings.Contains(err.Error(), "topsecret") || strings.Contains(err.Error(), "\n") {
				t.Errorf("%v, want %q", err, tc.want)
			}
		})
	}
}

// strange returns a server with its own tools.
func strange(t *testing.T, tools map[string]func() (*mcp.CallToolResult, error)) string {
	t.Helper()
	s := mcp.NewServer(&mcp.Implementation{Name: "strange", Version: "1"}, nil)
	for name, answer := range tools {
		s.AddTool(&mcp.Tool{Name: name, InputSchema: map[string]any{"type": "object"}}, func(context.Context, *mcp.CallToolRequest) (*mcp.CallToolResult, error) { return answer() })
	}
	web := httptest.NewServer(mcp.NewStreamableHTTPHandler(func(*http.Request) *mcp.Server { return s }, nil))
	t.Cleanup(web.Close)
	return web.URL
}

func textIndex(text string) func() (*mcp.CallToolResult, error) {
	return func() (*mcp.CallToolResult, error) {
		return &mcp.CallToolResult{Content: []mcp.Content{&mcp.TextContent{Text: text}}}, nil
	}
}

func TestToolsThatAreMissingAreNamed(t *testing.T) {
	b := open(t, mcpboard.BoardOptions{URL: strange(t, map[string]func() (*mcp.CallToolResult, error){"list_tasks": textIndex("x")}), Mapping: mcpboard.ShippedMappings()["joan"]})
	_, err := b.AccountName(t.Context())
	if err == nil || !strings.Contains(err.Error(), "tool get_task") || !strings.Contains(err.Error(), "tool update_task") || strings.Contains(err.Error(), "tool list_tasks,") {
		t.Errorf("%v", err)
	}
}

func TestAnswersThatAreNone(t *testing.T) {
	for name, tc := range map[string]struct{ text, want string }{
		"too long":       {strings.Repeat("x", 1<<20+1), "longer than 1024 KB"},
		"not JSON":       {"Here is your task!", "it is not JSON"},
		"no object":      {`["x"]`, "not a JSON object"},
		"no issue":       {`{"x":1}`, "without id or title"},
		"an error":       {"Error: fetch failed\nat x", "fetch failed"},
		"of another one": {`{"id":"x","title":"T","project_id":"other"}`, tracker.ErrNotFound.Error()},
	} {
		t.Run(name, func(t *testing.T) {
			b := open(t, mcpboard.BoardOptions{URL: strange(t, map[string]func() (*mcp.CallToolResult, error){"get_task": textIndex(tc.text)}), Scope: "mine", Mapping: mcpboard.ShippedMappings()["joan"]})
			_, err := b.ReadIssue(t.Context(), "0a000000-0000-4000-8000-000000000001")
			if err == nil || !strings.Contains(err.Error(), tc.want) || strings.Contains(err.Error(), "\n") || len(err.Error()) > 500 {
				t.Errorf("%.600v, want %q", err, tc.want)
			}
		})
	}
}

// A write counts as made only if the answer confirms it.
func TestAWriteThatIsNotConfirmedIsAnError(t *testing.T) {
	b := open(t, mcpboard.BoardOptions{URL: strange(t, map[string]func() (*mcp.CallToolResult, error){"update_task": textIndex("Thank you for your message.")}), Mapping: mcpboard.ShippedMappings()["joan"]})
	_, err := b.WriteChange(t.Context(), tracker.Issue{Key: "x"}, board.Change{Title: "T"})
	if err == nil || !strings.Contains(err.Error(), "does not confirm that it was done") {
		t.Errorf("%v", err)
	}
}

// What a server does not know how to do is refused: another try would not help.
func TestAToolThatIsGoneIsARefusal(t *testing.T) {
	b := open(t, mcpboard.BoardOptions{URL: strange(t, nil), Mapping: mcpboard.ShippedMappings()["joan"]})
	_, err := b.WriteChange(t.Context(), tracker.Issue{Key: "x"}, board.Change{Title: "T"})
	if !errors.As(err, new(*board.Refusal)) || strings.Contains(err.Error(), "\n") {
		t.Errorf("%T: %v", err, err)
	}
}

func TestACancelledCallerGetsAnError(t *testing.T) {
	ctx, cancel := context.WithCancel(t.Context())
	stuck := func() (*mcp.CallToolResult, error) {
		cancel()
		<-t.Context().Done()
		return nil, errors.New("too late")
	}
	b := open(t, mcpboard.BoardOptions{URL: strange(t, map[string]func() (*mcp.CallToolResult, error){"get_task": stuck}), Mapping: mcpboard.ShippedMappings()["joan"]})
	if _, err := b.ReadIssue(ctx, "0a000000-0000-4000-8000-000000000001"); !errors.Is(err, context.Canceled) {
		t.Errorf("%v", err)
	}
}

func TestTheTokenGoesToTheBoardAlone(t *testing.T) {
	var leaked atomic.Bool
	other := httptest.NewServer(http.HandlerFunc(func(_ http.ResponseWriter, r *http.Request) { leaked.Store(true) }))
	defer other.Close()
	web := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		http.Redirect(w, r, other.URL, http.StatusTemporaryRedirect)
	}))
	defer web.Close()
	token := func(context.Context) (string, error) { return "topsecret-token", nil }
	b := open(t, mcpboard.BoardOptions{URL: web.URL, Token: token, Mapping: mcpboard.ShippedMappings()["joan"]})
	if _, err := b.AccountName(t.Context()); err == nil || strings.Contains(err.Error(), "topsecret") || leaked.Load() {
		t.Errorf("%v, followed: %v", err, leaked.Load())
	}
}

func TestATokenThatCannotBeReadIsTheError(t *testing.T) {
	f := overHTTP(t)
	o := f.ClientOptions()
	no := errors.New("the file is not there")
	o.Token = func(context.Context) (string, error) { return "", no }
	if _, err := open(t, o).AccountName(t.Context()); !errors.Is(err, no) {
		t.Errorf("%v", err)
	}
}

func TestOptionsThatAreNone(t *testing.T) {
	m := mcpboard.ShippedMappings()["joan"]
	for name, o := range map[string]mcpboard.BoardOptions{
		"nothing":        {Mapping: m},
		"both":           {Mapping: m, URL: "http://h/", Command: []string{"x"}},
		"no URL":         {Mapping: m, URL: "joan"},
		"another scheme": {Mapping: m, URL: "ftp://h/"},
		"a password":     {Mapping: m, URL: "https://u:p@h/"},
		"no mapping":     {URL: "http://h/"},
	} {
		if _, err := mcpboard.New(o); err == nil || strings.Contains(err.Error(), "\n") {
			t.Errorf("%s: %v", name, err)
		}
	}
}

// A status that was renamed is known as soon as the words are read again.
func TestBacklogStatusIsRenamed(t *testing.T) {
	w := newBacklog(t, initBacklog(t))
	b := open(t, w.options())
	if _, err := b.ReadVocabulary(t.Context()); err != nil {
		t.Fatal(err)
	}
	w.statuses(t, []string{"Backlog", "In Work", "Done"})
	is, err := b.ReadIssue(t.Context(), plain(t, w))
	if err != nil {
		t.Fatal(err)
	}
	if _, err := b.WriteChange(t.Context(), is, board.Change{Column: "In Work"}); !errors.Is(err, tracker.ErrStale) {
		t.Errorf("a status that was not read: %v", err)
	}
	v, err := b.ReadVocabulary(t.Context())
	if err != nil || strings.Join(v.Columns, ",") != "Backlog,In Work,Done" {
		t.Fatalf("%q, %v", v.Columns, err)
	}
	if _, err := b.WriteChange(t.Context(), is, board.Change{Column: "In Work"}); err != nil {
		t.Error(err)
	}
}
