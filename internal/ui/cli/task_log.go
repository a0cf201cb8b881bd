package cli

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"net/http"
	"strings"
	"time"

	"github.com/spf13/cobra"

	"orange/internal/core/transcript"
	"orange/internal/core/workflow"
	"orange/internal/outputlog"
	"orange/internal/ui/client"
	"orange/internal/view/ansi"
	"orange/internal/wire"
)

// How often to read a log that is followed, and to check whether its attempt has ended.
const (
	logPoll          = 200 * time.Millisecond
	conversationPoll = time.Second
	attemptPoll      = 2 * time.Second
)

// A logRequest says which output to show, and how.
type logRequest struct {
	attempt, lines int
	role           string
	follow, raw    bool
}

func newTaskLog(deps Deps) *cobra.Command {
	var l logRequest
	cmd := &cobra.Command{
		Use: "log [id]", Aliases: []string{"logs"}, Short: "Show what a task's agent said and did, by default the newest one", Args: requireArguments(0, 1),
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
			return err
		}
		return s.showLog(ctx, id, a, l)
	})
	return cmd
}

// attemptFor returns the attempt whose output to show. With --follow it waits until there is one.
func (s session) attemptFor(ctx context.Context, id string, l logRequest) (wire.Attempt, error) {
	a, ok, err := l.findAttempt(ctx, s.Client, id)
	for !ok && err == nil {
		select {
		case <-ctx.Done():
			return a, ctx.Err()
		case <-time.After(attemptPoll):
		}
		server := s.newWatchClient()
		a, ok, err = l.findAttempt(ctx, server, id)
		server.Close()
	}
	return a, err
}

// findAttempt returns the attempt that l selects. If there is none, it returns an error
// unless the command waits for one.
func (l logRequest) findAttempt(ctx context.Context, server *client.Client, id string) (a wire.Attempt, ok bool, err error) {
	list, err := server.ListAttempts(ctx, id)
	if err != nil {
		return a, false, err
	}
	if a, ok = l.newestMatch(list); ok {
		return a, true, nil
	}
	if l.attempt > 0 || !l.follow {
		return a, false, fmt.Errorf("task %s has no %s: see orange task attempts %s", shortID(id), l.describeWanted(), id)
	}
	x, err := server.ExplainTask(ctx, id)
	if err == nil && x.Kind == string(workflow.Terminal) {
		err = fmt.Errorf("task %s ended %s and had no %s", shortID(id), x.Status, l.describeWanted())
	}
	return a, false, err
}

// newestMatch returns the newest attempt that l selects.
func (l logRequest) newestMatch(list []wire.Attempt) (best wire.Attempt, ok bool) {
	for _, a := range list {
		if l.attempt > 0 && a.Number != l.attempt || l.role != "" && a.Role != l.role || a.Number < best.Number {
			continue
		}
		best, ok = a, true
	}
	return best, ok
}

// describeWanted describes the attempt that l selects.
func (l logRequest) describeWanted() string {
	text := "attempt"
	if l.role != "" {
		text = "attempt of role " + l.role
	}
	if l.attempt > 0 {
		text += fmt.Sprintf(" with number %d", l.attempt)
	}
	return text
}

// showLog prints the log of an attempt and, with --follow, what is added to it.
func (s session) showLog(ctx context.Context, id string, a wire.Attempt, l logRequest) error {
	if !l.raw {
		log, err := s.Client.ReadLog(ctx, id, a.Number, "")
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
	out := s.newLogWriter(a, l)
	if wantsJSON(s.cmd) && !l.follow {
		lines = []string{}
		out = newLogWriterTo(a, l, false, func(line string, _ bool) error { lines = append(lines, line); return nil })
	}
	if _, whole := out.(*terminalPrinter); whole {
		file.lines = 0 // lines of the file are not lines of the terminal
	}
	if !l.follow {
		if err := file.readAll(a, out); err != nil || lines == nil {
			return err
		}
		return printJSON(s.Stdout, map[string]any{"attempt": a, "lines": lines})
	}
	f := logFollower{log: &file, out: out, poll: logPoll, find: attemptPoll, over: !a.Alive}
	printed := false
	f.ended = func(ctx context.Context) (bool, error) {
		ended, err := attemptEnded(ctx, s.newWatchClient(), id, a.Number)
		if err == nil && !ended && !l.raw {
			printed = s.hasConversation(ctx, id, a.Number)
		}
		return ended || printed, err
	}
	if err := f.run(ctx); err != nil || !printed {
		return err
	}
	log, err := s.Client.ReadLog(ctx, id, a.Number, "")
	if err != nil {
		return err
	}
	return s.showConversation(ctx, id, a, l, log)
}

// hasConversation reports whether a running agent has started to record a conversation.
func (s session) hasConversation(ctx context.Context, id string, number int) bool {
	server := s.newWatchClient()
	defer server.Close()
	log, err := server.ReadLog(ctx, id, number, "")
	return err == nil && log.Form == wire.FormTranscript
}

// showConversation prints the conversation of an attempt and, with --follow, what is added to
// it until the attempt ends.
func (s session) showConversation(ctx context.Context, id string, a wire.Attempt, l logRequest, log wire.Log) error {
	p := transcript.Printer{Now: s.Now()}
	lines := p.FormatTurns(log.Turns)
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
		lines = p.FormatTurns(log.Turns)
	}
}

// goesOn reads what was added to the conversation after last. Agents keep running without a
// server, so while no server runs it returns that nothing is new and the agent is alive.
func (s session) goesOn(ctx context.Context, id string, number int, last wire.Log) (wire.Log, error) {
	server := s.newWatchClient()
	defer server.Close()
	log, err := server.ReadLog(ctx, id, number, last.Next)
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

// newWatchClient returns a client that starts no server, because watching must not undo orange stop.
func (s session) newWatchClient() *client.Client { return client.FromOptions(s.clientOptions()) }

// attemptEnded reports whether an attempt has ended. Agents keep running without a server, so
// while no server runs it returns false.
func attemptEnded(ctx context.Context, server *client.Client, id string, number int) (bool, error) {
	defer server.Close()
	list, err := server.ListAttempts(ctx, id)
	var no *client.Error
	switch {
	case errors.As(err, &no) && no.Status != http.StatusServiceUnavailable:
		return false, err
	case err != nil:
		return false, ctx.Err()
	}
	a, ok := logRequest{attempt: number}.newestMatch(list)
	return !ok || !a.Alive, nil
}

// newLogWriter returns a writer that prints lines as they come, as text or each as a JSON object.
func (s session) newLogWriter(a wire.Attempt, l logRequest) logWriter {
	if wantsJSON(s.cmd) {
		return newLogWriterTo(a, l, false, func(line string, _ bool) error { return printJSON(s.Stdout, map[string]string{"line": line}) })
	}
	return newLogWriterTo(a, l, true, func(line string, whole bool) error {
		if whole {
			line += "\n"
		}
		_, err := io.WriteString(s.Stdout, line)
		return err
	})
}

// newLogWriterTo returns a writer that splits the output of an attempt into lines. It
// emulates a terminal if the attempt had one.
func newLogWriterTo(a wire.Attempt, l logRequest, parts bool, emit func(line string, whole bool) error) logWriter {
	if a.Window != "" && !l.raw {
		return &terminalPrinter{term: ansi.NewTerminal(ansi.TerminalWidth, ansi.TerminalHeight), emit: emit, parts: parts, last: l.lines}
	}
	return &logPrinter{raw: l.raw, parts: parts, emit: emit}
}

// A logTail reads an output that may grow, starting some lines before its end.
type logTail struct {
	path  string
	lines int // 0 reads from the beginning
	found bool
	at    int64
}

// readNew writes what is new to out and returns its size. It reads an output that shrank from
// the beginning. An output that does not exist yet is not an error.
func (t *logTail) readNew(out io.Writer) (int64, error) {
	log, err := outputlog.Open(t.path)
	if errors.Is(err, fs.ErrNotExist) {
		return 0, nil
	}
	if err != nil {
		return 0, fmt.Errorf("read the output: %w", err)
	}
	defer log.Close()
	if !t.found && t.lines > 0 {
		if t.at, err = log.LastLines(t.lines); err != nil {
			return 0, fmt.Errorf("read the output: %w", err)
		}
	}
	t.found = true
	if log.Size() < t.at {
		t.at = 0
	}
	from := t.at
	t.at, err = log.WriteFrom(out, from)
	return t.at - from, err
}

// readAll writes the whole output to out.
func (t *logTail) readAll(a wire.Attempt, out logWriter) error {
	if _, err := t.readNew(out); err != nil {
		return err
	}
	if !t.found && !a.Alive {
		return fmt.Errorf("attempt %d left no output: %s is not there", a.Number, a.Log)
	}
	return out.finishOutput()
}

// A logFollower shows the output of an attempt until the attempt ends.
type logFollower struct {
	log        *logTail
	out        logWriter
	ended      func(context.Context) (bool, error)
	poll, find time.Duration
	over       bool
}

func (f *logFollower) run(ctx context.Context) error {
	poll, find := time.NewTicker(f.poll), time.NewTicker(f.find)
	defer poll.Stop()
	defer find.Stop()
	for last := false; ; {
		n, err := f.log.readNew(f.out)
		if err == nil && n == 0 {
			err = f.out.showPartial()
		}
		if err != nil || n == 0 && last {
			return errors.Join(err, f.out.finishOutput())
		}
		last = f.over // read once more after the end, to get the last output
		select {
		case <-ctx.Done():
			return errors.Join(ctx.Err(), f.out.finishOutput())
		case <-poll.C:
		case <-find.C:
			if f.over {
				continue
			}
			if f.over, err = f.ended(ctx); err != nil {
				return errors.Join(err, f.out.finishOutput())
			}
		}
	}
}

// maxPart is how many bytes of an unfinished line to keep before showing it.
const maxPart = 64 << 10

// A logWriter receives output in pieces and shows it.
type logWriter interface {
	io.Writer
	showPartial() error  // called when no output came for a moment
	finishOutput() error // called after the last output
}

// A logPrinter receives output in pieces and emits it in lines. It makes them safe for a
// terminal unless raw is set.
type logPrinter struct {
	emit  func(line string, whole bool) error
	raw   bool
	parts bool // the beginning of a line may be shown before its end arrives
	rest  []byte
}

// Write implements io.Writer.
func (p *logPrinter) Write(b []byte) (int, error) {
	p.rest = append(p.rest, b...)
	for {
		line, after, ok := bytes.Cut(p.rest, []byte("\n"))
		if !ok {
			break
		}
		if err := p.emitLine(line, true); err != nil {
			return 0, err
		}
		p.rest = after
	}
	p.rest = bytes.Clone(p.rest)
	if len(p.rest) > maxPart {
		if err := p.finishOutput(); err != nil {
			return 0, err
		}
	}
	return len(b), nil
}

// showPartial shows an unfinished line, such as a question.
func (p *logPrinter) showPartial() error {
	if p.parts {
		return p.finishOutput()
	}
	return nil
}

// finishOutput shows the rest of the output.
func (p *logPrinter) finishOutput() error {
	if len(p.rest) == 0 {
		return nil
	}
	err := p.emitLine(p.rest, false)
	p.rest = nil
	return err
}

func (p *logPrinter) emitLine(line []byte, whole bool) error {
	text := string(line)
	if !p.raw {
		text = ansi.OutputText(text)
	}
	return p.emit(text, whole)
}

// maxRepeat is how many of the last lines are compared again at the end.
const maxRepeat = 4 * ansi.TerminalHeight

// A terminalPrinter receives what was written to a terminal and emits what the terminal
// showed: each line once it is above the cursor, and at the end the lines that have changed since.
type terminalPrinter struct {
	term  *ansi.Terminal
	emit  func(line string, whole bool) error
	parts bool // the beginning of a line may be shown before its end arrives
	last  int  // how many lines to show at first; 0 for all

	begun bool
	next  int      // the number of the next line to emit
	shown []string // the last lines that were emitted
	part  string   // the beginning of the next line, which was already emitted
}

// Write implements io.Writer.
func (p *terminalPrinter) Write(b []byte) (int, error) { return p.term.Write(b) }

// showPartial emits the lines that are unlikely to change, and the beginning of an unfinished
// line, such as a question.
func (p *terminalPrinter) showPartial() error {
	if err := p.emitLines(p.term.SettledLines()); err != nil || !p.parts {
		return err
	}
	now := p.term.CurrentLine()
	if more, ok := strings.CutPrefix(now, p.part); ok && more != "" && p.next == p.term.DroppedLines()+p.term.SettledLines() {
		p.part = now
		return p.emit(more, false)
	}
	return nil
}

// finishOutput emits the remaining lines, starting with the first emitted line that has changed.
func (p *terminalPrinter) finishOutput() error {
	lines := p.term.Lines()
	first := p.next - p.term.DroppedLines() - len(p.shown) // index of the first line to compare
	for i, line := range p.shown {
		if at := first + i; at >= 0 && at < len(lines) && lines[at] != line {
			p.next -= len(p.shown) - i
			p.shown = p.shown[:i]
			break
		}
	}
	return p.emitLines(len(lines))
}

// emitLines emits the terminal's lines before index to that were not emitted yet.
func (p *terminalPrinter) emitLines(to int) error {
	lines, dropped := p.term.Lines(), p.term.DroppedLines()
	to = min(to, len(lines))
	if !p.begun && to > 0 {
		p.begun = true
		if p.last > 0 {
			p.next = dropped + max(to-p.last, 0)
		}
	}
	if n := dropped - p.next; n > 0 && to > 0 { // "at least", because the output itself may have been cut before them too
		if p.part != "" {
			if err := p.emit("", true); err != nil {
				return err
			}
		}
		p.next, p.part, p.shown = dropped, "", nil
		if err := p.emit(fmt.Sprintf("(at least %d lines are left out here: see --raw)", n), true); err != nil {
			return err
		}
	}
	for ; p.next < dropped+to; p.next++ {
		line := lines[p.next-dropped]
		more, ok := strings.CutPrefix(line, p.part)
		if !ok { // the line has changed
			if err := p.emit("", true); err != nil {
				return err
			}
			more = line
		}
		p.part = ""
		if err := p.emit(more, true); err != nil {
			return err
		}
		p.shown = append(p.shown, line)
	}
	if n := len(p.shown) - maxRepeat; n > 0 {
		p.shown = append([]string(nil), p.shown[n:]...)
	}
	return nil
}
