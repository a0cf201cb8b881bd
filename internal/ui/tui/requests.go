package tui

import (
	"context"
	"errors"
	"fmt"
	"os/exec"
	"strings"
	"sync"

	tea "charm.land/bubbletea/v2"

	"orange/internal/core/engine"
	"orange/internal/core/explain"
	"orange/internal/core/question"
	"orange/internal/core/signal"
	"orange/internal/core/task"
	"orange/internal/core/workflow"
	"orange/internal/ui/client"
	"orange/internal/view/ansi"
	"orange/internal/view/narrate"
	"orange/internal/view/overview"
	"orange/internal/wire"
)

// everything stands for all tasks in a request that is about none.
const everything task.ID = "*"

// doneMsg is the result of a request.
type doneMsg struct {
	id     task.ID
	dialog dialog // the dialog that sent it, nil for a key
	text   string
	err    error
}

// attachMsg is the command that attaches to an agent's terminal.
type attachMsg struct {
	id  task.ID
	to  wire.AttachCommand
	err error
}

// plainLine returns untrusted text as one line of predictable width.
func plainLine(text string) string { return ansi.SteadyText(ansi.OneLine(text)) }

func (m *model) showNote(format string, args ...any) {
	m.note = note{text: plainLine(fmt.Sprintf(format, args...))}
}

func (m *model) showError(format string, args ...any) {
	m.note = note{text: plainLine(fmt.Sprintf(format, args...)), bad: true}
}

// sendRequest runs a request in the background. There is at most one request per task at a time.
func (m *model) sendRequest(id task.ID, what string, do func(context.Context) (string, error)) tea.Cmd {
	return m.sendRequestFrom(nil, id, what, do)
}

// sendRequestFrom is like sendRequest for a dialog, which gets the result.
func (m *model) sendRequestFrom(from dialog, id task.ID, what string, do func(context.Context) (string, error)) tea.Cmd {
	if now := m.busy[id]; now != "" {
		m.showError("%s is still under way: wait for its answer", now)
		return nil
	}
	m.busy[id] = what
	m.acted[id] = true
	ctx := m.ctx
	run := sync.OnceValue(func() doneMsg {
		text, err := do(ctx)
		return doneMsg{id: id, dialog: from, text: text, err: err}
	})
	m.under[id] = run
	return func() tea.Msg { return run() }
}

// awaitRequests waits until running requests have their results, or until ctx ends, so that a request is not lost when
// a person quits right after a key. It returns the results that the person would not see otherwise, or "".
func (m *model) awaitRequests(ctx context.Context) string {
	answers := make(chan error, len(m.under))
	for _, run := range m.under {
		m.last.Go(func() { answers <- run().err })
	}
	var said []string
	for range m.under {
		select {
		case err := <-answers:
			if err != nil {
				said = append(said, oneLine(err))
			}
		case <-ctx.Done():
			return strings.Join(append(said, "a request had no answer yet: check with orange task list whether it was carried out"), "; ")
		}
	}
	return strings.Join(said, "; ")
}

// finishRequest handles the result of a request. A dialog stays open if its request was refused.
func (m *model) finishRequest(msg doneMsg) tea.Cmd {
	delete(m.busy, msg.id)
	delete(m.under, msg.id)
	if b, ok := msg.dialog.(*bulk); ok {
		b.finishTask(m, msg)
		return nil
	}
	open := msg.dialog != nil && m.dialog == msg.dialog
	var code *codeWanted
	asking, _ := m.dialog.(*prompt)
	switch {
	case errors.As(msg.err, &code) && (open || m.dialog == nil) && (asking == nil || asking.draft.kind != codePrompt):
		m.promptForCode(code)
	case msg.err != nil && open:
		m.dialog.showRefusal(oneLine(msg.err))
	case msg.err != nil:
		m.showError("%s", oneLine(msg.err))
	default:
		if open {
			m.dialog = nil
		}
		m.showNote("%s", msg.text)
		switch f := msg.dialog.(type) {
		case *form:
			f.noteCreated(m)
		case *editForm:
			delete(m.edits, f.row.ID)
		case *cardForm:
			delete(m.leftCards, f.project)
		}
		if m.page == pageBoard {
			return m.readBoard()
		}
	}
	return nil
}

// sendSignal sends a signal on behalf of a person.
func (m *model) sendSignal(r *overview.Row, what string, sig signal.Signal) tea.Cmd {
	return m.sendRequest(r.ID, what, signalRequest(m.API, r, sig))
}

// signalRequest returns a request that sends a signal and describes its result.
func signalRequest(api Commands, r *overview.Row, sig signal.Signal) func(context.Context) (string, error) {
	id, name := string(r.ID), r.Branch
	sig.Actor = task.Human
	return func(ctx context.Context) (string, error) {
		a, err := api.SendSignal(ctx, id, sig)
		switch {
		case client.NeedsCode(err):
			row := *r
			return "", &codeWanted{id: r.ID, about: name, why: err, again: func(code string) func(context.Context) (string, error) {
				sig.Confirm = code
				return signalRequest(api, &row, sig)
			}}
		case err != nil:
			return "", err
		}
		return describeOutcome(name, sig, a), nil
	}
}

// codeWanted means that the request must be repeated with a code from a notification.
type codeWanted struct {
	id    task.ID // of the request
	about string
	again func(code string) func(context.Context) (string, error)
	why   error
}

func (c *codeWanted) Error() string { return c.why.Error() }
func (c *codeWanted) Unwrap() error { return c.why }

// promptForCode asks a person for a code, and repeats the request with it.
func (m *model) promptForCode(c *codeWanted) {
	p := m.openTextPrompt(draft{codePrompt, c.id}, "Code for "+c.about, func(m *model, p *prompt, text string) tea.Cmd {
		return m.sendRequestFrom(p, c.id, "the request about "+c.about, c.again(text))
	})
	p.text, p.why = newField("", true), oneLine(c.why)
}

// codePrompt is the kind of the prompt for a code.
const codePrompt = "code"

// describeOutcome describes what an answer changed.
func describeOutcome(name string, sig signal.Signal, a wire.Answer) string {
	text := narrate.DescribeOutcome(a.Outcome(sig.Kind), narrate.Voice{Name: name, Live: true})
	if a.Warning != "" {
		text += "; " + a.Warning
	}
	return text
}

// help is what Enter does in the inbox.
type help struct {
	word string
	do   func(*model, *overview.Row) tea.Cmd
}

// helpOf returns what helps with the item of a task. By default it opens or starts the agent.
func helpOf(r *overview.Row) (help, bool) {
	switch r.Wants {
	case explain.ItemBoard:
		return help{"tag the card", (*model).openCard}, true
	case explain.ItemPermission:
		return help{"allow or deny", (*model).answerAgent}, true
	case explain.ItemStopped:
		return help{"start agent", (*model).restartAgent}, true
	}
	switch r.Verb {
	case engine.VerbAnswer:
		return help{"answer", (*model).answerAgent}, true
	case explain.VerbApprove:
		return help{"approve", (*model).approveMove}, true
	case engine.RequestChanges:
		return help{"request changes", (*model).requestChanges}, true
	case explain.VerbResume:
		return help{"try again", (*model).togglePause}, true
	case engine.Respawn:
		if r.Kind == workflow.CheckDo {
			return help{"check again", (*model).runChecks}, true
		}
		return help{"respawn", (*model).restartAgent}, true
	case engine.VerbMerge:
		if r.Wants != explain.ItemReview { // a person reviews work before merging it
			return help{"merge", (*model).mergeTask}, true
		}
	case explain.VerbAttach, explain.VerbSpawn:
		return help{}, false
	}
	return help{"view", (*model).openText}, true
}

// enterTask starts a task, opens its agent's terminal, or restarts the agent. In the inbox it does what helps.
func (m *model) enterTask(r *overview.Row) tea.Cmd {
	if m.page == pageInbox {
		if help, ok := helpOf(r); ok {
			return help.do(m, r)
		}
	}
	switch {
	case waitsForCard(r):
		return m.openCard(r)
	case r.Life == overview.Alive:
		return m.openTerminal(r)
	case r.Kind == workflow.Queued:
		return m.startTask(r)
	case r.Life == overview.Dead, r.Kind == workflow.Agent:
		return m.restartAgent(r)
	case r.MayCheck() && r.Kind == workflow.CheckDo:
		return m.runChecks(r)
	}
	m.showError("%s has no agent to go to: it is %s", r.Branch, r.Status)
	return nil
}

// waitsForCard reports whether a task waits for a change of its card.
func waitsForCard(r *overview.Row) bool { return r.Wants == explain.ItemBoard }

// isHeld reports whether resuming a task helps: a person paused it, or something of it was given up.
func isHeld(r *overview.Row) bool { return r.Paused || r.Wants == explain.ItemAttention }

func (m *model) startTask(r *overview.Row) tea.Cmd {
	return m.sendSignal(r, "the start of "+r.Branch, signal.Signal{Kind: signal.Ready})
}

func (m *model) restartAgent(r *overview.Row) tea.Cmd {
	return m.sendSignal(r, "the start of "+r.Branch, signal.Signal{Kind: signal.Request, Verb: engine.Respawn})
}

// openTerminal requests the command for an agent's terminal.
func (m *model) openTerminal(r *overview.Row) tea.Cmd {
	if now := m.busy[r.ID]; now != "" {
		m.showError("%s is still under way: wait for its answer", now)
		return nil
	}
	m.busy[r.ID] = "the way to its terminal"
	ctx, api, id := m.ctx, m.API, r.ID
	return func() tea.Msg {
		to, err := api.AttachCommand(ctx, string(id), "")
		if err == nil && len(to.Argv) == 0 {
			err = errors.New("the server names no command that shows it: see orange log")
		}
		return attachMsg{id, to, err}
	}
}

// attachTerminal hands the terminal to an agent, until the person returns or for good.
func (m *model) attachTerminal(msg attachMsg) tea.Cmd {
	delete(m.busy, msg.id)
	switch {
	case msg.err != nil:
		m.showError("%s", oneLine(msg.err))
		return nil
	case m.Once:
		m.then = msg.to.Argv
		return tea.Quit
	}
	cmd := exec.CommandContext(m.end, msg.to.Argv[0], msg.to.Argv[1:]...)
	cmd.Env = OutsideTmux(m.Environ)
	return tea.ExecProcess(cmd, func(err error) tea.Msg {
		if err != nil {
			return doneMsg{err: fmt.Errorf("the terminal could not be shown: %w", err)}
		}
		return doneMsg{text: "back from the agent's terminal"}
	})
}

func (m *model) mergeTask(r *overview.Row) tea.Cmd {
	if nothingToMerge(r) != "" {
		m.showError("%s is %s: there is nothing to merge", r.Branch, r.Status)
		return nil
	}
	m.askConfirmation(r.Status+": "+describeMerge(r)+".", "Merge "+r.Project+"/"+r.Branch+"?", func(m *model) tea.Cmd {
		return m.sendSignal(r, "the merge of "+r.Branch, signal.Signal{Kind: signal.Request, Verb: engine.VerbMerge})
	})
	return nil
}

// hasNothing reports whether a branch was measured and has no changes of its own.
func hasNothing(r *overview.Row) bool {
	return r.PR == nil && r.Work != nil && r.Work.Commits == 0 && r.Work.Added == 0 && r.Work.Deleted == 0
}

func (m *model) cancelTask(r *overview.Row) tea.Cmd {
	m.askConfirmation("Its agents end and its workspace is given back. Its branch stays.", "Cancel "+r.Project+"/"+r.Branch+"?", func(m *model) tea.Cmd {
		return m.sendSignal(r, "the end of "+r.Branch, signal.Signal{Kind: signal.Request, Verb: "cancel"})
	})
	return nil
}

func (m *model) deleteTask(r *overview.Row) tea.Cmd {
	if r.Kind != workflow.Terminal && r.Kind != "" {
		m.showError("%s is %s: cancel it first, with x", r.Branch, r.Status)
		return nil
	}
	m.askConfirmation("It is taken out of every list.", "Delete "+r.Project+"/"+r.Branch+"?", func(m *model) tea.Cmd {
		return m.sendSignal(r, "the removal of "+r.Branch, signal.Signal{Kind: signal.Delete})
	})
	return nil
}

// approveMove grants the move that an agent requested.
func (m *model) approveMove(r *overview.Row) tea.Cmd {
	api, id := m.API, string(r.ID)
	return m.sendRequest(r.ID, "the approval of "+r.Branch, func(ctx context.Context) (string, error) {
		v, err := api.ReadTask(ctx, id)
		if err != nil {
			return "", err
		}
		if v.Task.Asked == nil {
			return "", errors.New("nothing of it waits for approval: press m to merge it, or r to request changes")
		}
		return signalRequest(api, r, signal.Signal{Kind: signal.Request, To: v.Task.Asked.To})(ctx)
	})
}

func (m *model) togglePause(r *overview.Row) tea.Cmd {
	if isHeld(r) {
		return m.sendSignal(r, "the resumption of "+r.Branch, signal.Signal{Kind: signal.Resume})
	}
	return m.sendSignal(r, "the pause of "+r.Branch, signal.Signal{Kind: signal.Pause})
}

// togglePauseAll pauses or resumes all tasks.
func (m *model) togglePauseAll() tea.Cmd {
	api := m.API
	if m.state.Paused {
		return m.sendRequest(everything, "the resumption of everything", func(ctx context.Context) (string, error) {
			return "everything goes on", api.ResumeAll(ctx)
		})
	}
	m.askConfirmation("Nothing new starts until it is resumed.", "Pause everything?", func(m *model) tea.Cmd {
		return m.sendRequest(everything, "the pause of everything", func(ctx context.Context) (string, error) {
			return "everything is paused", api.PauseAll(ctx)
		})
	})
	return nil
}

// openPullRequest asks whether to create a pull request, or shows the existing one.
func (m *model) openPullRequest(r *overview.Row) tea.Cmd {
	if r.PR == nil {
		m.askConfirmation("Its branch is pushed, and everybody who can see the repository can see the pull request.", "Create a pull request for "+r.Project+"/"+r.Branch+"?", func(m *model) tea.Cmd {
			return m.sendSignal(r, "the pull request of "+r.Branch, signal.Signal{Kind: signal.Request, Verb: engine.VerbCreatePR})
		})
		return nil
	}
	m.showNote("%s (copied)", r.PR.URL)
	return tea.SetClipboard(r.PR.URL)
}

// refreshPullRequests polls the pull requests.
func (m *model) refreshPullRequests() tea.Cmd {
	api := m.API
	m.showNote("the pull requests are looked at ...")
	return m.sendRequest(everything, "the check of pull requests", func(ctx context.Context) (string, error) {
		news, err := api.SyncForges(ctx)
		if len(news) == 0 {
			return "the pull requests are as they were", err
		}
		return strings.Join(news, "; "), err
	})
}

func (m *model) copyID(r *overview.Row) tea.Cmd {
	m.showNote("%s is copied", r.ID)
	return tea.SetClipboard(string(r.ID))
}

// requestChanges asks what is to change, and sends the work back.
func (m *model) requestChanges(r *overview.Row) tea.Cmd {
	if !mayRequest("request-changes")(m, r) && r.Kind != "" {
		m.showError("%s is %s: there is nothing to send back", r.Branch, r.Status)
		return nil
	}
	p := m.openPrompt("changes", "What is to change in "+r.Branch+"?", r, func(text string) signal.Signal {
		return signal.Signal{Kind: signal.Request, Verb: engine.RequestChanges, Note: text}
	})
	if r.Verb == engine.RequestChanges && p.text.value() == "" {
		p.text = newField(r.Note, true)
	}
	return nil
}

// answerAgent asks for the answer that an agent waits for: in TASK.md, or at its terminal.
func (m *model) answerAgent(r *overview.Row) tea.Cmd {
	if r.Verb == explain.VerbAttach {
		return m.askAtTerminal(r)
	}
	if !r.Answers && r.Kind != "" {
		m.showError("%s is %s: it waits for no answer", r.Branch, r.Status)
		return nil
	}
	p := m.openPrompt("answer", "Your answer to "+r.Branch, r, func(text string) signal.Signal {
		return signal.Signal{Kind: signal.Request, Verb: engine.VerbAnswer, Note: text}
	})
	if len(r.Reasons) > 0 {
		p.asked = r.Reasons[0].Text
		p.options = question.ListOptions(p.asked)
	}
	return nil
}

// chooseMove offers the states that a person may request.
func (m *model) chooseMove(r *overview.Row) tea.Cmd {
	if len(r.Moves) == 0 {
		m.showError("%s can be moved nowhere from %s", r.Branch, r.Status)
		return nil
	}
	c := &chooser{head: "Next steps of " + r.Branch + " (" + r.Status + ")"}
	for _, mv := range r.Moves {
		sig := signal.Signal{Kind: signal.Request, To: mv.To}
		c.addChoice(narrate.DescribeMove(mv), func(m *model) tea.Cmd { return m.sendSignal(r, "the move of "+r.Branch, sig) })
	}
	m.dialog = c
	return nil
}
