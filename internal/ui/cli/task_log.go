package cli

import (
	"context"
	"errors"
	"fmt"
	"io"
	"net/http"
	"time"

	"github.com/spf13/cobra"

	"orange/internal/core/screen"
	"orange/internal/core/transcript"
	"orange/internal/core/workflow"
	"orange/internal/ui/client"
	"orange/internal/wire"
)

// How often a log that is followed is read, and its attempt looked at.
const (
	logPoll          = 200 * time.Millisecond
	conversationPoll = time.Second
	attemptPoll      = 2 * time.Second
)

// logWish is which output is wanted, and how.
type logWish struct {
	attempt, lines int
	role           string
	follow, raw    bool
}

func newTaskLog(deps Deps) *cobra.Command {
	var l logWish
	cmd := &cobra.Command{
		Use: "log [id]", Short: "Show what a task's agent said and did, by default the newest one", Args: arguments(0, 1),
		Long: "Show the conversation of an agent: its prompts, its messages, the tools that it called and the first\n" +
			"lines of their answers. Of an agent that keeps no record of its conversation, show what its terminal\n" +
			"looked like, or what it printed without one. Of a long terminal the last lines are shown, and a line before\n" +
			"them says how many are left out. --raw shows the bytes that it printed; of a long output the beginning\n" +
			"and the end are kept, and a line says how much was left out. See also orange task output, which\n" +
			"prints the last message alone.",
		Example: "  orange task log -f MFTsZyeO\n" +
			"  orange task log MFTsZyeO --role reviewer -n 50",
	}
	f := cmd.Flags()
	f.BoolVarP(&l.follow, "follow", "f", false, "show what is added until the agent ends")
	f.IntVar(&l.attempt, "attempt", 0, "number of the attempt (default: the newest)")
	f.StringVar(&l.role, "role", "", "the newest attempt of this role")
	f.IntVarP(&l.lines, "lines", "n", 0, "begin so many lines before the end (default: at the beginning)")
	f.BoolVar(&l.raw, "raw", false, "show what it printed, byte by byte, with whatever controls a terminal")
	cmd.PreRunE = func(*cobra.Command, []string) error {
		for _, flag := range []struct {
			name  string
			value int
		}{{"attempt", l.attempt}, {"lines", l.lines}} {
			if f.Changed(flag.name) && flag.value < 1 {
				return usageError("--%s %d: give a positive integer", flag.name, flag.value)
			}
		}
		return nil
	}
	cmd.RunE = withServer(deps, func(ctx context.Context, s session, args []string) error {
		id, err := s.taskOf(ctx, args)
		if err != nil {
			return err
		}
		a, err := s.attemptFor(ctx, id, l)
		if err != nil {
			return quietly(ctx, l.follow, err)
		}
		return quietly(ctx, l.follow, s.showLog(ctx, id, a, l))
	})
	return cmd
}

// quietly makes the interruption of something that is followed no error: there is no
// other end to it.
func quietly(ctx context.Context, follow bool, err error) error {
	if follow && ctx.Err() != nil {
		return nil
	}
	return err
}

// attemptFor finds the attempt whose output is wanted, and waits for one to follow.
func (s session) attemptFor(ctx context.Context, id string, l logWish) (wire.Attempt, error) {
	a, ok, err := l.find(ctx, s.Client, id)
	for !ok && err == nil {
		select {
		case <-ctx.Done():
			return a, ctx.Err()
		case <-time.After(attemptPoll):
		}
		server := s.watcher()
		a, ok, err = l.find(ctx, server, id)
		server.Close()
	}
	return a, err
}

// find looks for the attempt that is meant. It is an error if there is none and none is
// to be waited for.
func (l logWish) find(ctx context.Context, server *client.Client, id string) (a wire.Attempt, ok bool, err error) {
	list, err := server.Attempts(ctx, id)
	if err != nil {
		return a, false, err
	}
	if a, ok = l.choose(list); ok {
		return a, true, nil
	}
	if l.attempt > 0 || !l.follow {
		return a, false, fmt.Errorf("task %s has no %s: see orange task attempts %s", short(id), l.what(), id)
	}
	x, err := server.Explain(ctx, id)
	if err == nil && x.Kind == string(workflow.Terminal) {
		err = fmt.Errorf("task %s ended %s and had no %s", short(id), x.Status, l.what())
	}
	return a, false, err
}

// choose is the newest attempt that is meant.
func (l logWish) choose(list []wire.Attempt) (best wire.Attempt, ok bool) {
	for _, a := range list {
		if l.attempt > 0 && a.Number != l.attempt || l.role != "" && a.Role != l.role || a.Number < best.Number {
			continue
		}
		best, ok = a, true
	}
	return best, ok
}

// what says which attempt is meant.
func (l logWish) what() string {
	text := "attempt"
	if l.role != "" {
		text = "attempt of role " + l.role
	}
	if l.attempt > 0 {
		text += fmt.Sprintf(" with number %d", l.attempt)
	}
	return text
}

// showLog prints the log of an attempt, and what is added to it if it is followed.
func (s session) showLog(ctx context.Context, id string, a wire.Attempt, l logWish) error {
	if !l.raw {
		log, err := s.Client.Log(ctx, id, a.Number, "")
		var no *client.Error
		switch {
		case errors.As(err, &no) && no.Status == http.StatusNotFound: // a server of an earlier version
		case err != nil:
			return err
		case log.Form == wire.FormTranscript:
			return s.showConversation(ctx, id, a, l, log)
		}
	}
	file := logTail{path: a.Log, lines: l.lines}
	var lines []string
	out := s.logWriter(a, l)
	if wantsJSON(s.cmd) && !l.follow {
		lines = []string{}
		out = logWriterTo(a, l, false, func(line string, _ bool) error { lines = append(lines, line); return nil })
	}
	if _, whole := out.(*terminalPrinter); whole {
		file.lines = 0 // lines of the file are not those of the terminal
	}
	if !l.follow {
		if err := file.readAll(a, out); err != nil || lines == nil {
			return err
		}
		return printJSON(s.Stdout, map[string]any{"attempt": a, "lines": lines})
	}
	f := follower{log: &file, out: out, poll: logPoll, look: attemptPoll, over: !a.Alive}
	spoke := false
	f.ended = func(ctx context.Context) (bool, error) {
		ended, err := attemptEnded(ctx, s.watcher(), id, a.Number)
		if err == nil && !ended && !l.raw {
			spoke = s.speaks(ctx, id, a.Number)
		}
		return ended || spoke, err
	}
	if err := f.run(ctx); err != nil || !spoke {
		return err
	}
	log, err := s.Client.Log(ctx, id, a.Number, "")
	if err != nil {
		return err
	}
	return s.showConversation(ctx, id, a, l, log)
}

// speaks says whether an agent that is followed has begun to keep a conversation.
func (s session) speaks(ctx context.Context, id string, number int) bool {
	server := s.watcher()
	defer server.Close()
	log, err := server.Log(ctx, id, number, "")
	return err == nil && log.Form == wire.FormTranscript
}

// showConversation prints what was said in an attempt, and what is said until it ends if it
// is followed.
func (s session) showConversation(ctx context.Context, id string, a wire.Attempt, l logWish, log wire.Log) error {
	p := transcript.Printer{Now: s.Now()}
	lines := p.Lines(log.Turns)
	switch {
	case l.lines > 0 && len(lines) > l.lines:
		lines = lines[len(lines)-l.lines:]
	case log.Cut:
		lines = append([]string{"(the beginning is left out: see --raw)"}, lines...)
	}
	asJSON := wantsJSON(s.cmd)
	if asJSON && !l.follow {
		return printJSON(s.Stdout, map[string]any{"attempt": a, "turns": log.Turns, "lines": lines, "cut": log.Cut, "skipped": log.Skipped})
	}
	for {
		if err := s.printConversation(log.Turns, lines, asJSON); err != nil {
			return err
		}
		if !l.follow || !log.Alive && len(log.Turns) == 0 {
			return nil
		}
		select {
		case <-ctx.Done():
			return ctx.Err()
		case <-time.After(conversationPoll):
		}
		var err error
		if log, err = s.goesOn(ctx, id, a.Number, log); err != nil {
			return err
		}
		lines = p.Lines(log.Turns)
	}
}

// goesOn reads what was said since. Agents go on without a server: while there is none,
// nobody knows.
func (s session) goesOn(ctx context.Context, id string, number int, last wire.Log) (wire.Log, error) {
	server := s.watcher()
	defer server.Close()
	log, err := server.Log(ctx, id, number, last.Next)
	var no *client.Error
	switch {
	case errors.As(err, &no) && no.Status != http.StatusServiceUnavailable:
		return log, err
	case err != nil:
		last.Turns = nil
		last.Alive = true
		return last, ctx.Err()
	}
	return log, nil
}

func (s session) printConversation(turns []transcript.Turn, lines []string, asJSON bool) error {
	if asJSON {
		for _, t := range turns {
			if err := printJSON(s.Stdout, map[string]any{"turn": t}); err != nil {
				return err
			}
		}
		return nil
	}
	for _, line := range lines {
		if _, err := fmt.Fprintln(s.Stdout, line); err != nil {
			return err
		}
	}
	return nil
}

// watcher is a client that starts no server: whoever only watches does not undo a stop.
func (s session) watcher() *client.Client { return client.Of(s.options()) }

// attemptEnded asks whether an attempt is over. Agents go on without a server: while
// there is none, nobody knows.
func attemptEnded(ctx context.Context, server *client.Client, id string, number int) (bool, error) {
	defer server.Close()
	list, err := server.Attempts(ctx, id)
	var no *client.Error
	switch {
	case errors.As(err, &no) && no.Status != http.StatusServiceUnavailable:
		return false, err
	case err != nil:
		return false, ctx.Err()
	}
	a, ok := logWish{attempt: number}.choose(list)
	return !ok || !a.Alive, nil
}

// logWriter prints lines as they come: as text, or each as a JSON object.
func (s session) logWriter(a wire.Attempt, l logWish) logWriter {
	if wantsJSON(s.cmd) {
		return logWriterTo(a, l, false, func(line string, _ bool) error { return printJSON(s.Stdout, map[string]string{"line": line}) })
	}
	return logWriterTo(a, l, true, func(line string, whole bool) error {
		if whole {
			line += "\n"
		}
		_, err := io.WriteString(s.Stdout, line)
		return err
	})
}

// logWriterTo makes lines of what an attempt printed: by a terminal if it had one.
func logWriterTo(a wire.Attempt, l logWish, parts bool, emit func(line string, whole bool) error) logWriter {
	if a.Window != "" && !l.raw {
		return &terminalPrinter{term: screen.NewTerminal(screen.TerminalWidth, screen.TerminalHeight), emit: emit, parts: parts, last: l.lines}
	}
	return &logPrinter{raw: l.raw, parts: parts, emit: emit}
}
