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

// How often a log that is followed is read, and its attempt looked at.
const (
	logPoll          = 200 * time.Millisecond
	conversationPoll = time.Second
	attemptPoll      = 2 * time.Second
)

// logRequest is which output is wanted, and how.
type logRequest struct {
	attempt, lines int
	role           string
	follow, raw    bool
}

func newTaskLog(deps Deps) *cobra.Command {
	var l logRequest
	cmd := &cobra.Command{
		Use: "log [id]", Short: "Show what a task's agent said and did, by default the newest one", Args: requireArguments(0, 1),
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
			return ignoreInterrupt(ctx, l.follow, err)
		}
		return ignoreInterrupt(ctx, l.follow, s.showLog(ctx, id, a, l))
	})
	return cmd
}

// ignoreInterrupt makes the interruption of something that is followed no error: there is no
// other end to it.
func ignoreInterrupt(ctx context.Context, follow bool, err error) error {
	if follow && ctx.Err() != nil {
		return nil
	}
	return err
}

// attemptFor finds the attempt whose output is wanted, and waits for one to follow.
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

// findAttempt looks for the attempt that is meant. It is an error if there is none and none is
// to be waited for.
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

// newestMatch is the newest attempt that is meant.
func (l logRequest) newestMatch(list []wire.Attempt) (best wire.Attempt, ok bool) {
	for _, a := range list {
		if l.attempt > 0 && a.Number != l.attempt || l.role != "" && a.Role != l.role || a.Number < best.Number {
			continue
		}
		best, ok = a, true
	}
	return best, ok
}

// describeWanted says which attempt is meant.
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

// showLog prints the log of an attempt, and what is added to it if it is followed.
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
		file.lines = 0 // lines of the file are not those of the terminal
	}
	if !l.follow {
		if err := file.readAll(a, out); err != nil || lines == nil {
			return err
		}
		return printJSON(s.Stdout, map[string]any{"attempt": a, "lines": lines})
	}
	f := logFollower{log: &file, out: out, poll: logPoll, look: attemptPoll, over: !a.Alive}
	spoke := false
	f.ended = func(ctx context.Context) (bool, error) {
		ended, err := attemptEnded(ctx, s.newWatchClient(), id, a.Number)
		if err == nil && !ended && !l.raw {
			spoke = s.hasConversation(ctx, id, a.Number)
		}
		return ended || spoke, err
	}
	if err := f.run(ctx); err != nil || !spoke {
		return err
	}
	log, err := s.Client.ReadLog(ctx, id, a.Number, "")
	if err != nil {
		return err
	}
	return s.showConversation(ctx, id, a, l, log)
}

// hasConversation says whether an agent that is followed has begun to keep a conversation.
func (s session) hasConversation(ctx context.Context, id string, number int) bool {
	server := s.newWatchClient()
	defer server.Close()
	log, err := server.ReadLog(ctx, id, number, "")
	return err == nil && log.Form == wire.FormTranscript
}

// showConversation prints what was said in an attempt, and what is said until it ends if it
// is followed.
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

// goesOn reads what was said since. Agents go on without a server: while there is none,
// nobody knows.
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

// newWatchClient is a client that starts no server: whoever only watches does not undo a stop.
func (s session) newWatchClient() *client.Client { return client.FromOptions(s.clientOptions()) }

// attemptEnded asks whether an attempt is over. Agents go on without a server: while
// there is none, nobody knows.
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

// newLogWriter prints lines as they come: as text, or each as a JSON object.
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

// newLogWriterTo makes lines of what an attempt printed: by a terminal if it had one.
func newLogWriterTo(a wire.Attempt, l logRequest, parts bool, emit func(line string, whole bool) error) logWriter {
	if a.Window != "" && !l.raw {
		return &terminalPrinter{term: ansi.NewTerminal(ansi.TerminalWidth, ansi.TerminalHeight), emit: emit, parts: parts, last: l.lines}
	}
	return &logPrinter{raw: l.raw, parts: parts, emit: emit}
}

// logTail reads an output that may grow, from some lines before its end on.
type logTail struct {
	path  string
	lines int // 0: from the beginning
	found bool
	at    int64
}

// readNew hands what is new to out and says how much it was. An output that shrank is read
// from its beginning, and one that is not there yet is no error.
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

// readAll hands all of the output to out.
func (t *logTail) readAll(a wire.Attempt, out logWriter) error {
	if _, err := t.readNew(out); err != nil {
		return err
	}
	if !t.found && !a.Alive {
		return fmt.Errorf("attempt %d left no output: %s is not there", a.Number, a.Log)
	}
	return out.finishOutput()
}

// logFollower shows the output of an attempt until that is over.
type logFollower struct {
	log        *logTail
	out        logWriter
	ended      func(context.Context) (bool, error)
	poll, look time.Duration
	over       bool
}

func (f *logFollower) run(ctx context.Context) error {
	poll, look := time.NewTicker(f.poll), time.NewTicker(f.look)
	defer poll.Stop()
	defer look.Stop()
	for last := false; ; {
		n, err := f.log.readNew(f.out)
		if err == nil && n == 0 {
			err = f.out.showPartial()
		}
		if err != nil || n == 0 && last {
			return errors.Join(err, f.out.finishOutput())
		}
		last = f.over // what was written at the very end is still read
		select {
		case <-ctx.Done():
			return errors.Join(ctx.Err(), f.out.finishOutput())
		case <-poll.C:
		case <-look.C:
			if f.over {
				continue
			}
			if f.over, err = f.ended(ctx); err != nil {
				return errors.Join(err, f.out.finishOutput())
			}
		}
	}
}

// maxPart is how much of a line without an end is kept before it is shown.
const maxPart = 64 << 10

// A logWriter takes output in pieces and shows it.
type logWriter interface {
	io.Writer
	showPartial() error  // nothing was written for a moment
	finishOutput() error // nothing more is written
}

// logPrinter takes output in pieces and gives it out in lines, cleaned unless they are
// wanted raw.
type logPrinter struct {
	emit  func(line string, whole bool) error
	raw   bool
	parts bool // the beginning of a line may be shown before its end is there
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

// showPartial is a moment in which nothing was written: a line without an end, such as a
// question, is shown as it stands.
func (p *logPrinter) showPartial() error {
	if p.parts {
		return p.finishOutput()
	}
	return nil
}

// finishOutput shows what is left.
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

// terminalPrinter takes what was written to a terminal and gives out what that looked like:
// lines once they are above the cursor, and at the end what has changed since.
type terminalPrinter struct {
	term  *ansi.Terminal
	emit  func(line string, whole bool) error
	parts bool // the beginning of a line may be shown before its end is there
	last  int  // so many lines at the beginning; 0 for all

	begun bool
	next  int      // number of the line that comes next
	shown []string // the last lines that were given out
	part  string   // the beginning of the next line, which was given out
}

// Write implements io.Writer.
func (p *terminalPrinter) Write(b []byte) (int, error) { return p.term.Write(b) }

// showPartial gives out the lines that are not likely to change, and the beginning of a line that
// stands still, such as a question.
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

// finishOutput gives out the rest.
func (p *terminalPrinter) finishOutput() error {
	lines := p.term.Lines()
	first := p.next - p.term.DroppedLines() - len(p.shown) // of the lines that are compared
	for i, line := range p.shown {
		if at := first + i; at >= 0 && at < len(lines) && lines[at] != line {
			p.next -= len(p.shown) - i
			p.shown = p.shown[:i]
			break
		}
	}
	return p.emitLines(len(lines))
}

// emitLines gives out the lines up to a number of those that the terminal has.
func (p *terminalPrinter) emitLines(to int) error {
	lines, dropped := p.term.Lines(), p.term.DroppedLines()
	to = min(to, len(lines))
	if !p.begun && to > 0 {
		p.begun = true
		if p.last > 0 {
			p.next = dropped + max(to-p.last, 0)
		}
	}
	if n := dropped - p.next; n > 0 && to > 0 { // the output itself may have been cut before them too
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
		if !ok { // the line is another now
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
