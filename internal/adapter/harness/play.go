package harness

import (
	"cmp"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"os"
	"os/exec"
	"path/filepath"
	"strconv"
	"strings"
	"syscall"
	"time"
)

// PlayOptions is one run of a script.
type PlayOptions struct {
	File string // the script
	Role string // whose steps; ORANGE_ROLE if empty

	Task, Attempt string // for {task} and {attempt}; ORANGE_TASK and ORANGE_ATTEMPT if empty
	Transcript    string // file to note in what is said; ORANGE_TRANSCRIPT if empty, and none if that is

	Stdin          io.Reader // a terminal, or what stands for one
	Stdout, Stderr io.Writer
	Dir            string // the worktree
	TaskFile       string // TASK.md in Dir if empty
	Env            func(string) string

	Hook func(event string, payload []byte) error                    // tells Orange; nil tells nobody
	Run  func(ctx context.Context, dir string, argv ...string) error // runs a program; nil runs it here
}

// Exit codes of a script that does not say one itself.
const (
	exitBroken = 2   // the script cannot be played
	exitEnded  = 143 // it was told to end
)

// player is a script being played.
type player struct {
	PlayOptions
	keys    *keyboard
	places  *strings.Replacer
	said    string // the last message
	saying  bool   // the step before this one said something: more belongs to it
	printed string // what was printed last
}

// Play plays the steps of a role and returns the exit code. A script maps roles to
// lists of steps. Steps under worker#2 are played by the second attempt of that role
// instead of those under worker; ORANGE_ROLE_RUN says which attempt this is.
func Play(ctx context.Context, o PlayOptions) (exit int) {
	p := newPlayer(o)
	steps, err := p.load()
	if err != nil {
		p.complain("%v", err)
		return exitBroken
	}
	p.note(scriptNote{Type: "begin"})
	p.tell(scriptStarted, scriptEvent{Session: p.Attempt, Transcript: p.Transcript})
	for _, s := range steps {
		p.saying = p.saying && s.name == "say"
		if exit, over := s.act(ctx, p, s); over {
			return exit
		}
		if ctx.Err() != nil {
			return exitEnded
		}
	}
	return 0
}

func newPlayer(o PlayOptions) *player {
	if o.Env == nil {
		o.Env = func(string) string { return "" }
	}
	for name, value := range map[string]*string{
		"ORANGE_ROLE": &o.Role, "ORANGE_TASK": &o.Task, "ORANGE_ATTEMPT": &o.Attempt, transcriptVariable: &o.Transcript,
	} {
		if *value == "" {
			*value = o.Env(name)
		}
	}
	if o.TaskFile == "" {
		o.TaskFile = filepath.Join(o.Dir, "TASK.md")
	}
	p := &player{PlayOptions: o, keys: &keyboard{in: o.Stdin}}
	p.places = strings.NewReplacer("{task}", o.Task, "{attempt}", o.Attempt, "{role}", o.Role,
		"{round}", o.Env("ORANGE_ROUND"), "{nonce}", o.Env("ORANGE_NONCE"), "{state}", o.Env("ORANGE_STATE"))
	if p.Run == nil {
		p.Run = p.runHere
	}
	return p
}

// load reads the script and finds the steps to play.
func (p *player) load() ([]step, error) {
	text, err := os.ReadFile(p.File)
	if err != nil {
		return nil, fmt.Errorf("read the script: %w", err)
	}
	roles, err := parseScript(p.File, string(text))
	if err != nil {
		return nil, err
	}
	run, err := strconv.Atoi(p.Env("ORANGE_ROLE_RUN"))
	if err != nil {
		run = 1
	}
	if steps, ok := roles[p.Role+"#"+strconv.Itoa(run)]; ok {
		return steps, nil
	}
	steps, ok := roles[p.Role]
	if !ok {
		return nil, fmt.Errorf("%s has no steps for role %q: add them", p.File, clean(p.Role, 60))
	}
	return steps, nil
}

func (p *player) tell(event string, e scriptEvent) {
	if p.Hook == nil {
		return
	}
	if err := p.Hook(event, e.json()); err != nil {
		p.complain("tell Orange: %v", err)
	}
}

// print prints a text, and notes that it was printed.
func (p *player) print(text string) {
	p.printed = prose(text)
	p.note(scriptNote{Type: "print", Text: p.printed})
	p.show(p.printed)
}

// say says a text: it is the last message, or more of it.
func (p *player) say(text string) {
	text = prose(text)
	p.show(text)
	if p.saying {
		text = p.said + "\n" + text
	}
	p.said, p.saying = text, true
	p.note(scriptNote{Type: "say", Text: text})
}

func (p *player) show(text string) { _, _ = fmt.Fprintln(p.Stdout, text) }

// lastMessage is what was said last, or else printed.
func (p *player) lastMessage() string { return cmp.Or(p.said, p.printed) }

// note writes a line into the transcript.
func (p *player) note(n scriptNote) {
	if p.Transcript == "" {
		return
	}
	line, err := json.Marshal(n)
	if err == nil {
		err = appendLine(p.Transcript, line)
	}
	if err != nil {
		p.complain("write the transcript: %v", err)
	}
}

func appendLine(path string, line []byte) error {
	f, err := os.OpenFile(path, os.O_WRONLY|os.O_CREATE|os.O_APPEND, 0o600)
	if err != nil {
		return err
	}
	_, err = f.Write(append(line, '\n'))
	return errors.Join(err, f.Close())
}

func (p *player) complain(format string, args ...any) {
	_, _ = fmt.Fprintln(p.Stderr, clean(fmt.Sprintf(format, args...), 1000))
}

// fill puts the values of this attempt into a text of the script.
func (p *player) fill(text string) string { return p.places.Replace(text) }

func (p *player) runHere(ctx context.Context, dir string, argv ...string) error {
	cmd := exec.CommandContext(ctx, argv[0], argv[1:]...)
	cmd.Dir, cmd.Stdout, cmd.Stderr = dir, p.Stdout, p.Stderr
	cmd.WaitDelay = time.Second
	return cmd.Run()
}

// daemon starts a program in a session of its own and forgets it.
func (p *player) daemon(line string) error {
	cmd := exec.Command("sh", "-c", line)
	cmd.Dir = p.Dir
	cmd.SysProcAttr = &syscall.SysProcAttr{Setsid: true}
	if err := cmd.Start(); err != nil {
		return err
	}
	return cmd.Process.Release()
}

// hear waits for a message at the terminal. Orange is told once one can be taken in.
func (p *player) hear(ctx context.Context, event, text string) (string, error) {
	restore := p.keys.listen(p.Stdout)
	defer restore()
	p.tell(event, scriptEvent{Text: text})
	heard, err := p.keys.message(ctx)
	return prose(heard), err
}

// pause waits, unless the script is told to end.
func pause(ctx context.Context, d time.Duration) {
	timer := time.NewTimer(d)
	defer timer.Stop()
	select {
	case <-timer.C:
	case <-ctx.Done():
	}
}

// forever waits until the script is told to end.
func forever(ctx context.Context) (exit int, over bool) {
	<-ctx.Done()
	return exitEnded, true
}

// failed says how a step went wrong; the script goes on.
func (p *player) failed(s step, err error) {
	var exit *exec.ExitError
	if errors.As(err, &exit) {
		err = fmt.Errorf("exit %d", exit.ExitCode())
	}
	p.complain("%s: %v", s.name, err)
}
