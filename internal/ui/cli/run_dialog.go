package cli

import (
	"context"
	"errors"
	"fmt"
	"io"
	"os/exec"
	"strings"

	"orange/internal/config"
	"orange/internal/core/engine"
	"orange/internal/core/explain"
	"orange/internal/core/signal"
)

// A runDialog is what a person at the terminal is asked about a task.
type runDialog struct {
	about   itemKey            // what the person is asked, or was asked last
	handle  func(string) error // what to do with the line that is typed; nil if nothing is asked
	open    bool               // the cursor is behind a prompt
	typed   chan typedLine
	reading bool // somebody reads the next line
}

// A typedLine is a line that a person typed.
type typedLine struct {
	text string
	err  error
}

// askPerson asks the person what the task needs, once for each thing that it needs.
func (r *runner) askPerson(ctx context.Context) error {
	row := &r.row
	about := itemKey{task: row.ID, kind: row.Wants, text: row.Text, since: row.Asked}
	if about == r.dialog.about {
		return nil
	}
	r.closeDialog()
	r.dialog.about = about
	if row.Wants == explain.ItemReview {
		return r.askReview(ctx)
	}
	if err := r.showWants(); err != nil {
		return err
	}
	role := row.AtTerminal()
	switch {
	case role != "":
		r.ask("Enter opens its terminal (or run "+commandsFor(&r.task).Attach+"): ", func(string) error {
			r.openTerminal(ctx, role)
			r.dialog.about = itemKey{} // ask again if the agent still needs it
			state, err := r.ReadState(ctx, r.stateQuery())
			if err != nil {
				return err
			}
			return r.handleState(ctx, state)
		})
	case row.Wants == explain.ItemConfirm:
		r.ask("y approves, Enter leaves it: ", func(text string) error { return r.approve(ctx, text) })
	case row.Answers:
		r.ask("Answer (Enter leaves it): ", func(text string) error { return r.answer(ctx, text) })
	default:
		_ = r.printLine("  it waits for: " + row.Do)
	}
	return nil
}

// ask shows a prompt and waits for a line without stopping anything else.
func (r *runner) ask(prompt string, handle func(string) error) {
	r.clearLine()
	fmt.Fprint(r.Stdout, prompt)
	r.dialog.open, r.dialog.handle = true, handle
	if r.dialog.typed == nil {
		r.dialog.typed = make(chan typedLine, 1)
	}
	if r.dialog.reading {
		return
	}
	r.dialog.reading = true
	typed := r.dialog.typed
	go func() { // nothing can end a read of a terminal: at the end of the program it is left behind
		text, err := readLine(r.Stdin)
		typed <- typedLine{strings.TrimSpace(text), err}
	}()
}

// closeDialog withdraws what is asked.
func (r *runner) closeDialog() {
	if r.dialog.handle != nil {
		r.clearLine()
	}
	r.dialog.handle = nil
}

// handleTyped handles a line that the person typed.
func (r *runner) handleTyped(ctx context.Context, line typedLine) error {
	handle := r.dialog.handle
	r.dialog.reading, r.dialog.open, r.dialog.handle = false, false, nil
	switch {
	case line.err != nil && !errors.Is(line.err, io.EOF):
		return fmt.Errorf("read the answer: %w", line.err)
	case line.err != nil && line.text == "": // Ctrl-D
		r.interactive = false
		return r.needPerson()
	case handle == nil:
		if line.text != "" {
			return r.printLine("This was not sent: nothing is asked now.")
		}
		return nil
	}
	if err := handle(line.text); err != nil {
		return err
	}
	if r.dialog.handle != nil {
		return nil
	}
	return r.judgeRow(ctx)
}

// report prints an error of something that the person asked for, and asks again.
func (r *runner) report(what string, err error) error {
	fmt.Fprintln(r.Stderr, "orange: "+what+": "+cleanLine(err.Error()))
	r.dialog.about = itemKey{}
	return nil
}

func (r *runner) answer(ctx context.Context, text string) error {
	if text == "" {
		return r.printLine("Left: answer it later with " + r.row.Do)
	}
	if _, err := r.sendSignal(ctx, r.id, signal.Signal{Kind: signal.Request, Verb: engine.VerbAnswer, Note: text}); err != nil {
		return r.report("answer", err)
	}
	return nil
}

func (r *runner) approve(ctx context.Context, text string) error {
	if word := strings.ToLower(text); word != "y" && word != "yes" {
		return r.printLine("Left: approve it later with " + r.row.Do)
	}
	v, err := r.ReadTask(ctx, r.id)
	if err == nil && v.Task.Asked != nil {
		_, err = r.sendSignal(ctx, r.id, signal.Signal{Kind: signal.Request, To: v.Task.Asked.To})
	}
	if err != nil {
		return r.report("approve", err)
	}
	return nil
}

// askReview shows what was changed and offers to merge it or to send it back.
func (r *runner) askReview(ctx context.Context) error {
	changes, commands := r.nextSteps(ctx)
	if err := r.printNextSteps(changes, commands); err != nil {
		return err
	}
	var ways []string
	merges, returns := r.row.Verb == engine.VerbMerge, r.row.May(engine.RequestChanges)
	if merges {
		ways = append(ways, "m merges it")
	}
	if returns {
		ways = append(ways, "c requests changes")
	}
	leave := "Enter leaves it for later: "
	if r.until != runUntilReview {
		leave = "Enter waits: "
	}
	fmt.Fprintln(r.Stdout)
	prompt := strings.Join(append(ways, leave), ", ")
	var decide func(string) error
	decide = func(text string) error {
		switch word := strings.ToLower(text); {
		case merges && (word == "m" || word == "merge"):
			return r.merge(ctx)
		case returns && (word == "c" || word == "changes"):
			r.ask("What is to change (Enter: nothing): ", func(text string) error { return r.requestChanges(ctx, text) })
			return nil
		case text != "":
			r.ask("That is not known: "+prompt, decide)
		case r.until == runUntilReview:
			return errRunOver
		}
		return nil
	}
	r.ask(prompt, decide)
	return nil
}

func (r *runner) merge(ctx context.Context) error {
	if err := r.requestAction(ctx, r.id, newMergeAction(), false); err != nil {
		return r.report("merge", err)
	}
	if r.until == runUntilReview {
		return errRunOver
	}
	return nil
}

func (r *runner) requestChanges(ctx context.Context, text string) error {
	if text == "" {
		r.dialog.about = itemKey{}
		return nil
	}
	if _, err := r.sendSignal(ctx, r.id, signal.Signal{Kind: signal.Request, Verb: engine.RequestChanges, Note: text}); err != nil {
		return r.report("request changes", err)
	}
	return nil
}

// openTerminal shows the terminal of an agent until the person leaves it.
func (r *runner) openTerminal(ctx context.Context, role string) {
	r.clearLine()
	to, err := r.AttachCommand(ctx, r.id, role)
	if err == nil && len(to.Argv) == 0 {
		err = errors.New("the server names no command for it")
	}
	if err == nil {
		cmd := exec.CommandContext(ctx, to.Argv[0], to.Argv[1:]...)
		cmd.Stdin, cmd.Stdout, cmd.Stderr = r.Stdin, r.Stdout, r.Stderr
		cmd.Env = outsideTmux(config.Environ())
		err = cmd.Run()
	}
	if err != nil {
		fmt.Fprintln(r.Stderr, "orange: open the agent's terminal: "+cleanLine(err.Error()))
	}
}
