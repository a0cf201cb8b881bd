package tui

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"io"
	"strings"
	"sync"
	"testing"
	"time"
	"unicode/utf8"

	tea "charm.land/bubbletea/v2"
	"github.com/charmbracelet/colorprofile"
	"github.com/google/go-cmp/cmp"

	"orange/internal/core/task"
	"orange/internal/wait"
)

// The feed reads the state again when the server no longer has its row, and when the connection was lost.
func TestTheFeedResumesAfterFaults(t *testing.T) {
	api := newSampleServer(t)
	rows := len(api.store.Rows)
	var mu sync.Mutex
	var got []string
	count := func() int { mu.Lock(); defer mu.Unlock(); return len(got) }
	f := &feed{api: api, apart: time.Millisecond, send: func(msg tea.Msg) {
		mu.Lock()
		defer mu.Unlock()
		switch msg := msg.(type) {
		case stateMsg:
			if got == nil {
				api.store.CutRows(rows - 1) // the store was restored from a copy
			}
			got = append(got, "state")
		case changeMsg:
			got = append(got, fmt.Sprint("change ", msg.change.Row))
		case linkMsg:
			got = append(got, fmt.Sprint("link ", msg.err == nil))
		}
	}}
	ctx, cancel := context.WithCancel(t.Context())
	var wg sync.WaitGroup
	defer wg.Wait()
	defer cancel()
	wg.Go(func() { f.run(ctx) })
	wait.Until(t, "the stream is open", func() bool { return count() == 5 })
	api.http.CloseClientConnections()
	wait.Until(t, "the stream is open again", func() bool { return count() == 9 })
	mu.Lock()
	defer mu.Unlock()
	change := fmt.Sprint("change ", rows-1)
	want := []string{"state", "link false", "state", "link true", change, "link false", "state", "link true", change}
	if d := cmp.Diff(want, got); d != "" {
		t.Error(d)
	}
}

func TestAgesWakeTheScreenWhenTheyChange(t *testing.T) {
	for age, want := range map[time.Duration]time.Duration{
		-time.Second: 10 * time.Second, 0: 10 * time.Second, 11500 * time.Millisecond: 8500 * time.Millisecond,
		90 * time.Second: 30 * time.Second, 59*time.Minute + 59*time.Second: time.Second, 3*time.Hour + time.Second: time.Minute,
	} {
		if got := untilOlder(age); got != want {
			t.Errorf("%s: %s, want %s", age, got, want)
		}
	}
	r := newEnv(t, 100, 30)
	var set []time.Duration
	r.m.tick = func(d time.Duration, msg tea.Msg) tea.Cmd {
		if _, ok := msg.(alarmMsg); ok {
			set = append(set, d)
		}
		return nil
	}
	r.m.alarm = time.Time{}
	r.press("j", "k", "j")
	if len(set) != 1 || set[0] != ageInterval {
		t.Errorf("alarms %v, want one", set)
	}
	r.tell(alarmMsg(r.m.alarms))
	r.tell(alarmMsg(-1))
	if len(set) != 2 {
		t.Errorf("alarms %v, want another", set)
	}
}

// program is a dashboard on a terminal that is a pipe.
type program struct {
	keys *io.PipeWriter
	out  *record
	done chan error
}

// record keeps what is written to it.
type record struct {
	mu  sync.Mutex
	buf bytes.Buffer
}

func (r *record) Write(b []byte) (int, error) {
	r.mu.Lock()
	defer r.mu.Unlock()
	return r.buf.Write(b)
}

func (r *record) String() string {
	r.mu.Lock()
	defer r.mu.Unlock()
	return r.buf.String()
}

// open runs the whole program, as Run does, with a model that is watched.
func open(t *testing.T, api *server, watch func(tea.Msg)) *program {
	t.Helper()
	in, keys := io.Pipe()
	p := &program{keys: keys, out: &record{}, done: make(chan error, 1)}
	ctx, cancel := context.WithCancel(t.Context())
	m := newModel(ctx, DashboardOptions{API: api, Now: func() time.Time { return noon }})
	prog := tea.NewProgram(m, tea.WithContext(ctx), tea.WithInput(in), tea.WithOutput(p.out), tea.WithWindowSize(120, 40),
		tea.WithEnvironment([]string{"TERM=xterm-256color"}), tea.WithColorProfile(colorprofile.TrueColor), tea.WithoutSignals(), tea.WithFPS(framesPerSecond),
		tea.WithFilter(func(_ tea.Model, msg tea.Msg) tea.Msg { watch(msg); return msg }))
	m.send, m.program = prog.Send, prog
	var wg sync.WaitGroup
	wg.Go(func() { (&feed{api: api, send: prog.Send, apart: time.Second / changesPerSecond}).run(ctx) })
	wg.Go(func() {
		_, err := prog.Run()
		m.pace.stopTimer()
		cancel()
		p.done <- err
	})
	t.Cleanup(func() { cancel(); keys.Close(); wg.Wait() })
	return p
}

// await waits for what must come.
func await(t *testing.T, what string, c <-chan struct{}) {
	t.Helper()
	select {
	case <-c:
	case <-time.After(time.Minute):
		t.Fatalf("it does not come: %s", what)
	}
}

// newCrowd returns a server of many tasks, some of them with agents.
func newCrowd(t testing.TB, tasks, agents int) *server {
	t.Helper()
	f := newServer(t, task.Project{Name: "shop", PoolSize: agents})
	for i := range tasks {
		one := task.Task{ID: task.ID(fmt.Sprintf("id0%d", i)), Project: "shop", Branch: fmt.Sprintf("feature/%d", i), Status: "working", Summary: fmt.Sprintf("Let customers do thing number %d", i), CurrentVisit: task.CurrentVisit{Visit: 1, Since: ago(time.Hour)}}
		if i < agents {
			one.Agents, one.Workspace = agentIn(1, task.Condition{Name: task.Running}), fmt.Sprintf("shop--%d", i)
		}
		f.store.Tasks = append(f.store.Tasks, one)
		f.store.Tasks[i].WorkflowHash = f.def.Hash
	}
	return f
}

func TestNoKeyIsLostInABurst(t *testing.T) {
	const keys = 200
	api := newCrowd(t, 1000, 200)
	ctx, stop := context.WithCancel(t.Context())
	var storm sync.WaitGroup
	defer storm.Wait()
	defer stop()
	storm.Go(func() { // 1,000 changes a second, without an end
		tick := time.NewTicker(time.Millisecond)
		defer tick.Stop()
		for n := 0; ; n++ {
			select {
			case <-ctx.Done():
				return
			case <-tick.C:
				api.store.Change(api.store.Tasks[n%200].ID, func(t *task.Task) { t.UpdatedAt = noon.Add(time.Duration(n) * time.Millisecond) })
			}
		}
	})
	var mu sync.Mutex
	pressed, changes := 0, 0
	ready, all := make(chan struct{}), make(chan struct{})
	p := open(t, api, func(msg tea.Msg) {
		mu.Lock()
		defer mu.Unlock()
		switch msg := msg.(type) {
		case changeMsg:
			if changes++; changes == 1 {
				close(ready)
			}
		case tea.KeyPressMsg:
			if msg.Text == "j" || msg.Text == "k" {
				if pressed++; pressed == keys {
					close(all)
				}
			}
		}
	})
	await(t, "the storm", ready)
	for i := range keys {
		if _, err := p.keys.Write([]byte{"jjk"[i%3]}); err != nil {
			t.Fatal(err)
		}
	}
	await(t, "every key", all)
	if _, err := p.keys.Write([]byte("q")); err != nil {
		t.Fatal(err)
	}
	if err := <-p.done; err != nil {
		t.Fatal(err)
	}
	if pressed != keys {
		t.Errorf("%d keys arrived, want %d", pressed, keys)
	}
}

func TestNothingOfAnAgentReachesTheTerminal(t *testing.T) {
	const evil = "a\x1b[31mb\x1b]0;title\x07c\x1b]52;c;aGk=\x07d\x9b2Je\x1bPq\x1b\\f\u202eg\x1b[2J\r\nh\x07"
	api := newServer(t, task.Project{Name: evil, PoolSize: 6})
	api.addSamples()
	api.no = errors.New(evil)
	api.store.Change("id0login", func(t *task.Task) {
		t.Summary, t.Branch, t.Workspace, t.PRURL, t.Attention, t.StateReason = evil, evil, evil, evil, evil, evil
		t.Attempts[0].Role, t.Attempts[0].Condition.Detail = evil, evil
	})
	text := strings.ReplaceAll(evil, "\x9b", "\u009b") // TASK.md is UTF-8
	api.body = "# " + text + "\n\n" + text + "\n\n```\n" + text + "\n```\n<script>" + text
	loaded, quiet := make(chan struct{}, 100), make(chan struct{}, 100)
	p := open(t, api, func(msg tea.Msg) {
		switch msg.(type) {
		case loadedMsg, textMsg, doneMsg, screenMsg:
			loaded <- struct{}{}
		case stateMsg:
			quiet <- struct{}{}
		}
	})
	await(t, "the state", quiet)
	await(t, "the timeline", loaded)
	for _, keys := range []string{"2", "my", "v"} {
		if _, err := p.keys.Write([]byte(keys)); err != nil {
			t.Fatal(err)
		}
		await(t, "what "+keys+" asks for", loaded)
	}
	wait.Until(t, "the harmless part is shown", func() bool { return strings.Contains(p.out.String(), "abcd") })
	if _, err := p.keys.Write([]byte("qc")); err != nil {
		t.Fatal(err)
	}
	wait.Until(t, "the form is shown", func() bool { return strings.Contains(p.out.String(), "Workflow") })
	if _, err := p.keys.Write([]byte{3}); err != nil { // ctrl+c
		t.Fatal(err)
	}
	<-p.done
	raw := p.out.String()
	for what, bad := range map[string]string{"a title": "\x1b]0;title", "the clipboard": "\x1b]52;", "a device control": "\x1bPq", "a reordering": "\u202e", "a bell": "h\x07"} {
		if strings.Contains(raw, bad) {
			t.Errorf("%s reached the terminal", what)
		}
	}
	if !utf8.ValidString(raw) || strings.ContainsFunc(raw, func(r rune) bool { return r >= 0x80 && r < 0xa0 }) {
		t.Error("a C1 sequence reached the terminal")
	}
}

func TestTheRendererRests(t *testing.T) {
	prog := tea.NewProgram(newModel(t.Context(), DashboardOptions{API: newServer(t), Now: time.Now}), tea.WithInput(nil), tea.WithOutput(io.Discard))
	if findTicker(prog) != nil {
		t.Error("a program that does not run has no ticker")
	}
	started := make(chan struct{})
	api := newSampleServer(t)
	p := open(t, api, func(tea.Msg) {
		select {
		case started <- struct{}{}:
		default:
		}
	})
	await(t, "a message", started)
	_, err := p.keys.Write([]byte{3})
	if err != nil {
		t.Fatal(err)
	}
	<-p.done
	var pc framePacer
	pc.speedUp(nil)
	pc.stopTimer()
}
