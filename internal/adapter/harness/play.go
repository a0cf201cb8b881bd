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

// PlayOptions describes one run of a script.
type PlayOptions struct {
	File string // the script
	Role string // whose steps to play; ORANGE_ROLE if empty

	Task, Attempt string // for {task} and {attempt}; ORANGE_TASK and ORANGE_ATTEMPT if empty
	Transcript    string // file for the transcript; ORANGE_TRANSCRIPT if empty; none if both are

	Stdin          io.Reader // a terminal, or a substitute
	Stdout, Stderr io.Writer
	Dir            string // the worktree
	TaskFile       string // TASK.md in Dir if empty
	Env            func(string) string

	Hook func(event string, payload []byte) error                    // sends an event to Orange; nil sends none
	Run  func(ctx context.Context, dir string, argv ...string) error // runs a program; nil runs it here
}

// Exit codes of a script that does not set one itself.
const (
	exitBroken = 2   // the script cannot be played
	exitEnded  = 143 // it was ended by a signal
)

// player is a script being played.
type player struct {
	PlayOptions
	keys    *keyboard
	places  *strings.Replacer
	said    string // the last message
	saying  bool   // the step before this one said something, and this one continues the message
	printed string // what was printed last
}

// PlayScript plays the steps of a role and returns the exit code. A script maps roles to lists
// of steps. The second attempt of the role worker plays the steps under worker#2, if there are
// any, instead of those under worker; ORANGE_ROLE_RUN gives the number of the attempt.
func PlayScript(ctx context.Context, o PlayOptions) (exit int) {
	p := newPlayer(o)
	steps, err := p.loadSteps()
	if err != nil {
		p.printError("%v", err)
		return exitBroken
	}
	p.noteTranscript(scriptNote{Type: "begin"})
	p.callHook(scriptStarted, scriptEvent{Session: p.Attempt, Transcript: p.Transcript})
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

// loadSteps reads the script and returns the steps to play.
func (p *player) loadSteps() ([]step, error) {
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
		return nil, fmt.Errorf("%s has no steps for role %q: add them", p.File, cleanLine(p.Role, 60))
	}
	return steps, nil
}

func (p *player) callHook(event string, e scriptEvent) {
	if p.Hook == nil {
		return
	}
	if err := p.Hook(event, e.toJSON()); err != nil {
		p.printError("send the event to Orange: %v", err)
	}
}

// printText prints a text and records it in the transcript.
func (p *player) printText(text string) {
	p.printed = cleanProse(text)
	p.noteTranscript(scriptNote{Type: "print", Text: p.printed})
	p.showText(p.printed)
}

// sayText says a text: it becomes the last message, or continues it.
func (p *player) sayText(text string) {
	text = cleanProse(text)
	p.showText(text)
	if p.saying {
		text = p.said + "\n" + text
	}
	p.said, p.saying = text, true
	p.noteTranscript(scriptNote{Type: "say", Text: text})
}

func (p *player) showText(text string) { _, _ = fmt.Fprintln(p.Stdout, text) }

// lastMessage returns what was said last, or else what was printed last.
func (p *player) lastMessage() string { return cmp.Or(p.said, p.printed) }

// noteTranscript appends a line to the transcript.
func (p *player) noteTranscript(n scriptNote) {
	if p.Transcript == "" {
		return
	}
	line, err := json.Marshal(n)
	if err == nil {
		err = appendLine(p.Transcript, line)
	}
	if err != nil {
		p.printError("write the transcript: %v", err)
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

func (p *player) printError(format string, args ...any) {
	_, _ = fmt.Fprintln(p.Stderr, cleanLine(fmt.Sprintf(format, args...), 1000))
}

// fillPlaces replaces the placeholders in a text of the script with the values of this attempt.
func (p *player) fillPlaces(text string) string { return p.places.Replace(text) }

func (p *player) runHere(ctx context.Context, dir string, argv ...string) error {
	cmd := exec.CommandContext(ctx, argv[0], argv[1:]...)
	cmd.Dir, cmd.Stdout, cmd.Stderr = dir, p.Stdout, p.Stderr
	cmd.WaitDelay = time.Second
	return cmd.Run()
}

// startDaemon starts a program in its own session and does not wait for it.
func (p *player) startDaemon(line string) error {
	cmd := exec.Command("sh", "-c", line)
	cmd.Dir = p.Dir
	cmd.SysProcAttr = &syscall.SysProcAttr{Setsid: true}
	if err := cmd.Start(); err != nil {
		return err
	}
	return cmd.Process.Release()
}

// awaitMessage waits for a message at the terminal. It sends the event to Orange once it can
// receive one.
func (p *player) awaitMessage(ctx context.Context, event, text string) (string, error) {
	restore := p.keys.enterRawMode(p.Stdout)
	defer restore()
	p.callHook(event, scriptEvent{Text: text})
	heard, err := p.keys.awaitMessage(ctx)
	return cleanProse(heard), err
}

// pauseFor waits for d or until ctx ends.
func pauseFor(ctx context.Context, d time.Duration) {
	timer := time.NewTimer(d)
	defer timer.Stop()
	select {
	case <-timer.C:
	case <-ctx.Done():
	}
}

// waitForever waits until ctx ends.
func waitForever(ctx context.Context) (exit int, over bool) {
	<-ctx.Done()
	return exitEnded, true
}

// reportFailure prints how a step failed; the script continues.
func (p *player) reportFailure(s step, err error) {
	var exit *exec.ExitError
	if errors.As(err, &exit) {
		err = fmt.Errorf("exit %d", exit.ExitCode())
	}
	p.printError("%s: %v", s.name, err)
}
