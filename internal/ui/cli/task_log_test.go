package cli_test

import (
	"bytes"
	"cmp"
	"context"
	"encoding/json"
	"fmt"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"sync"
	"testing"
	"time"

	"orange/internal/core/task"
	"orange/internal/core/transcript"
	"orange/internal/ui/cli"
	"orange/internal/wait"
	"orange/internal/wire"
)

// screen is what a person sees while a command still runs.
type screen struct {
	mu   sync.Mutex
	text bytes.Buffer
}

func (s *screen) Write(b []byte) (int, error) {
	s.mu.Lock()
	defer s.mu.Unlock()
	return s.text.Write(b)
}

func (s *screen) String() string {
	s.mu.Lock()
	defer s.mu.Unlock()
	return s.text.String()
}

// shows waits until the screen shows all of text and nothing else.
func (s *screen) shows(t *testing.T, text string) {
	t.Helper()
	wait.Until(t, fmt.Sprintf("the screen shows %q", text), func() bool { return s.String() == text }, func() any { return s.String() })
}

// changing are attempts that a test changes while a command runs.
type changing struct {
	parts
	mu    sync.Mutex
	list  []wire.Attempt
	count int  // how often they were asked for
	gone  bool // the server is on its way out
}

// asked waits until the attempts were asked for so often.
func (c *changing) asked(t *testing.T, times int) {
	t.Helper()
	wait.Until(t, fmt.Sprintf("the attempts were read %d times", times), func() bool {
		c.mu.Lock()
		defer c.mu.Unlock()
		return c.count >= times
	})
}

func (c *changing) leave() {
	c.mu.Lock()
	defer c.mu.Unlock()
	c.gone = true
}

func (c *changing) set(list ...wire.Attempt) {
	c.mu.Lock()
	defer c.mu.Unlock()
	c.list = list
}

func (c *changing) ListAttempts(task.Task) ([]wire.Attempt, error) {
	c.mu.Lock()
	defer c.mu.Unlock()
	c.count++
	if c.gone {
		return nil, task.ErrClosing
	}
	return slices.Clone(c.list), nil
}

// serve lets a server answer with these attempts.
func (c *changing) serve(w *env) {
	c.parts, w.api.Attempts = parts{w}, c
	w.answers["/v1/tasks/"+idOne+"/explain"] = `{"status":"pending","kind":"queued"}`
}

func TestFollowingAnAttemptThatIsYetToCome(t *testing.T) {
	t.Parallel()
	w, out, attempts := newEnv(t), &screen{}, &changing{list: []wire.Attempt{}}
	attempts.serve(w)
	w.Stdout = out
	path := filepath.Join(t.TempDir(), "log")
	code := make(chan int)
	go func() { code <- cli.Run(t.Context(), w.Deps, []string{"task", "log", "-f", idOne}) }()
	attempts.asked(t, 1) // and there was none
	attempts.set(wire.Attempt{Number: 1, Role: "worker", Alive: true, Log: path})
	write(t, path, "first\n")
	out.shows(t, "first\n")
	write(t, path, "a question? ")
	out.shows(t, "first\na question? ")
	write(t, path, "yes\nlast")
	out.shows(t, "first\na question? yes\nlast")
	zero := 0
	attempts.set(wire.Attempt{Number: 1, Role: "worker", Code: &zero, Log: path}, wire.Attempt{Number: 2, Role: "worker", Alive: true, Log: path + "2"})
	if got := <-code; got != 0 {
		t.Errorf("exit %d: %s", got, w.err.String())
	}
}

func TestFollowingIsInterrupted(t *testing.T) {
	for _, name := range []string{"while it waits for an attempt", "while the attempt lives"} {
		t.Run(name, func(t *testing.T) {
			w, out, attempts := newEnv(t), &screen{}, &changing{list: []wire.Attempt{}}
			attempts.serve(w)
			w.Stdout = out
			if name == "while the attempt lives" {
				path := filepath.Join(t.TempDir(), "log")
				write(t, path, "here\n")
				attempts.set(wire.Attempt{Number: 1, Alive: true, Log: path})
			}
			ctx, cancel := context.WithCancel(t.Context())
			code := make(chan int)
			go func() { code <- cli.Run(ctx, w.Deps, []string{"task", "log", "-f", idOne}) }()
			attempts.asked(t, 1)
			cancel()
			if got := <-code; got != 130 || w.err.Len() > 0 {
				t.Errorf("exit %d: %q", got, w.err.String())
			}
		})
	}
}

func TestFollowingATaskThatIsOver(t *testing.T) {
	w := newEnv(t)
	w.answers[attemptsPath] = `{"attempts":[]}`
	w.answers["/v1/tasks/"+idOne+"/explain"] = `{"status":"cancelled","kind":"terminal"}`
	if code := w.run(t, "task", "log", "-f", idOne); code != 1 || w.err.String() != "orange: task log: task oneAAAAA ended cancelled and had no attempt\n" {
		t.Errorf("exit %d: %q", code, w.err.String())
	}
}

// Agents continue without a server.
func TestFollowingContinuesWhileTheServerStops(t *testing.T) {
	t.Parallel()
	w, out, attempts := newEnv(t), &screen{}, &changing{}
	path := filepath.Join(t.TempDir(), "log")
	attempts.set(wire.Attempt{Number: 1, Alive: true, Log: path})
	attempts.serve(w)
	w.Stdout = out
	ctx, cancel := context.WithCancel(t.Context())
	code := make(chan int)
	go func() { code <- cli.Run(ctx, w.Deps, []string{"task", "log", "-f", idOne}) }()
	attempts.asked(t, 1)
	attempts.leave()
	attempts.asked(t, 2)
	write(t, path, "still here\n")
	out.shows(t, "still here\n")
	cancel()
	if got := <-code; got != 130 {
		t.Errorf("exit %d: %q", got, w.err.String())
	}
}

// talking are attempts whose conversation gets another turn with each request.
type talking struct {
	changing
	turns []transcript.Turn
	given int
	form  string
}

func (c *talking) AttemptLog(_ task.Task, _ int, _, after string) (wire.Log, error) {
	c.mu.Lock()
	defer c.mu.Unlock()
	if c.gone {
		c.gone = false
		return wire.Log{}, task.ErrClosing
	}
	out := wire.Log{Attempt: 1, Alive: c.given+1 < len(c.turns), Form: cmp.Or(c.form, wire.FormTranscript)}
	if from, err := strconv.Atoi(after); err == nil {
		c.given = from
	}
	if c.given < len(c.turns) && out.Form == wire.FormTranscript {
		out.Turns = c.turns[c.given : c.given+1]
		c.given++
	}
	out.Next = strconv.Itoa(c.given)
	return out, nil
}

func talk() []transcript.Turn {
	at := func(s int) time.Time { return now().Add(time.Duration(s) * time.Second) }
	return []transcript.Turn{
		{At: at(0), Who: transcript.User, Text: "Make a button."},
		{At: at(1), Who: transcript.Agent, Text: "I **run** the\x1b[2J tests."},
		{At: at(2), Who: transcript.Agent, Tool: "Bash", Argument: "go test ./..."},
		{At: at(3), Who: transcript.Tool, Text: "FAIL", More: 3, Failed: true},
		{At: at(4), Who: transcript.Agent, Text: "Which colour?"},
	}
}

const talked = `2026-03-04 12:00:00 user
Make a button.

2026-03-04 12:00:01 agent
I **run** the tests.
› Bash: go test ./...
  FAIL
  ... 3 more lines

2026-03-04 12:00:04 agent
Which colour?
`

func TestAConversationIsFollowedToItsEnd(t *testing.T) {
	w, out := newEnv(t), &screen{}
	server := &talking{turns: talk()}
	server.set(wire.Attempt{Number: 1, Alive: true, Log: "/no/such/file"})
	server.serve(w)
	w.Stdout, w.api.Attempts = out, server
	code := make(chan int)
	go func() { code <- cli.Run(t.Context(), w.Deps, []string{"task", "log", "-f", idOne}) }()
	out.begins(t, "2026-03-04 12:00:00 user")
	server.leave()
	if got := <-code; got != 0 || out.String() != talked {
		t.Errorf("exit %d: %s\n%s", got, w.err.String(), out.String())
	}
}

// begins waits until the screen shows something that begins so.
func (s *screen) begins(t *testing.T, text string) {
	t.Helper()
	wait.Until(t, fmt.Sprintf("the screen begins with %q", text), func() bool { return strings.HasPrefix(s.String(), text) }, func() any { return s.String() })
}

func TestAConversationIsShown(t *testing.T) {
	w := newEnv(t)
	w.answers[attemptsPath] = attemptsOf(t, wire.Attempt{Number: 1, Role: "worker", Window: "worker", Log: "/no/such/file"})
	w.answers["/v1/tasks/"+idOne+"/log"] = string(mustJSON(t, wire.Log{Attempt: 1, Form: wire.FormTranscript, Turns: talk(), Cut: true}))
	for args, want := range map[string]string{
		"":     "(the beginning is left out: see --raw)\n" + talked,
		"-n 2": "2026-03-04 12:00:04 agent\nWhich colour?\n",
	} {
		if code := w.run(t, append([]string{"task", "log", idOne}, strings.Fields(args)...)...); code != 0 || w.out.String() != want {
			t.Errorf("%q: exit %d: %s\n%s", args, code, w.err.String(), w.out.String())
		}
	}
	var got struct {
		Turns []transcript.Turn
		Cut   bool
	}
	if code := w.run(t, "task", "log", idOne, "--json"); code != 0 || json.Unmarshal(w.out.Bytes(), &got) != nil || len(got.Turns) != 5 || !got.Cut {
		t.Errorf("exit %d: %s", code, w.out.String())
	}
}

func TestATerminalIsShownAsItLooked(t *testing.T) {
	w := newEnv(t)
	path := filepath.Join(t.TempDir(), "log")
	write(t, path, "\x1b[?25ltwo\x1b[1Cwords\r\n⠋ thinking\r⠙ thinking\r⠹ thinking\r\x1b[2Kdone\r\n\x1b[1Ccan I? ")
	w.answers[attemptsPath] = attemptsOf(t, wire.Attempt{Number: 1, Role: "worker", Window: "worker", Log: path})
	w.answers["/v1/tasks/"+idOne+"/log"] = `{"attempt":1,"form":"terminal"}`
	for args, want := range map[string]string{
		"":          "two words\ndone\n can I?\n",
		"-n 1":      " can I?\n",
		"-f":        "two words\ndone\n can I?\n",
		"-f -n 2":   "two words\ndone\n can I?\n",
		"-f --json": `{"line":"two words"}` + "\n" + `{"line":"done"}` + "\n" + `{"line":" can I?"}` + "\n",
	} {
		if code := w.run(t, append([]string{"task", "log", idOne}, strings.Fields(args)...)...); code != 0 || w.out.String() != want {
			t.Errorf("%q: exit %d: %s\n%q", args, code, w.err.String(), w.out.String())
		}
	}
}

// A terminal remembers so many lines. What is not shown of a long output is named.
func TestALongTerminalSaysWhatIsLeftOut(t *testing.T) {
	w := newEnv(t)
	path := filepath.Join(t.TempDir(), "log")
	const written = 100_000
	var text strings.Builder
	for i := range written {
		fmt.Fprintf(&text, "line %d\r\n", i)
	}
	write(t, path, text.String())
	w.answers[attemptsPath] = attemptsOf(t, wire.Attempt{Number: 1, Role: "worker", Window: "worker", Log: path})
	w.answers["/v1/tasks/"+idOne+"/log"] = `{"attempt":1,"form":"terminal"}`
	for _, args := range []string{"", "-f"} {
		code := w.run(t, append([]string{"task", "log", idOne}, strings.Fields(args)...)...)
		first, rest, _ := strings.Cut(w.out.String(), "\n")
		var left int
		if _, err := fmt.Sscanf(first, "(at least %d lines are left out here: see --raw)", &left); code != 0 || err != nil {
			t.Fatalf("%q: exit %d, the first line is %q: %v", args, code, first, err)
		}
		if n := strings.Count(rest, "\n"); left == 0 || left+n != written || !strings.HasPrefix(rest, fmt.Sprintf("line %d\n", left)) {
			t.Errorf("%q: %d left out, %d shown, from %.20q on", args, left, n, rest)
		}
	}
	if code := w.run(t, "task", "log", idOne, "-n", "1"); code != 0 || w.out.String() != fmt.Sprintf("line %d\n", written-1) {
		t.Errorf("exit %d: %.200s", code, w.out.String())
	}
}

func TestAFollowedTerminalGivesWayToTheConversation(t *testing.T) {
	t.Parallel()
	w, out := newEnv(t), &screen{}
	path := filepath.Join(t.TempDir(), "log")
	write(t, path, "Welcome\r\n")
	server := &talking{turns: talk(), form: wire.FormTerminal}
	server.set(wire.Attempt{Number: 1, Alive: true, Window: "worker", Log: path})
	server.serve(w)
	w.Stdout, w.api.Attempts = out, server
	code := make(chan int)
	go func() { code <- cli.Run(t.Context(), w.Deps, []string{"task", "log", "-f", idOne}) }()
	out.shows(t, "Welcome\n")
	write(t, path, "trust? ")
	out.shows(t, "Welcome\ntrust?")
	write(t, path, "yes\r\n")
	out.shows(t, "Welcome\ntrust? yes\n")
	server.mu.Lock()
	server.form = ""
	server.mu.Unlock()
	if got := <-code; got != 0 || !strings.HasSuffix(out.String(), "Which colour?\n") {
		t.Errorf("exit %d: %s\n%s", got, w.err.String(), out.String())
	}
}

func TestTaskOutput(t *testing.T) {
	const path = "/v1/tasks/" + idOne + "/output"
	says := func(m wire.Message) func(w *env) {
		return func(w *env) { w.answers[path] = string(mustJSON(t, m)) }
	}
	tell(t, []story{
		{name: "the last message", args: "task output " + idOne, prepare: says(wire.Message{Attempt: 2, Text: "Which\n\n- **colour**?\x1b[2J"}), out: "Which\n\n- **colour**?\n"},
		{name: "as JSON", args: "task output " + idOne + " --json", prepare: says(wire.Message{Attempt: 2, Role: "worker", Text: "x"}), out: `{"attempt":2,"role":"worker","alive":false,"text":"x"}` + "\n"},
		{name: "nothing", args: "task output " + idOne, prepare: says(wire.Message{Attempt: 2}), code: 1, err: "orange: task output: attempt 2 of task oneAAAAA has said nothing: see orange task log"},
		{name: "nothing, as JSON", args: "task output " + idOne + " --json", prepare: says(wire.Message{Attempt: 2}), code: 1, err: "has said nothing"},
		{name: "no attempt", args: "task output --attempt 0 " + idOne, code: 2, err: "--attempt 0: give a positive integer"},
	})
}
