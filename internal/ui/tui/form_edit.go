package tui

import (
	"strings"

	tea "charm.land/bubbletea/v2"

	"orange/internal/core/engine"
	prompts "orange/internal/core/prompt"
	"orange/internal/core/signal"
	"orange/internal/core/taskfile"
	"orange/internal/core/workflow"
	"orange/internal/view/overview"
	"orange/internal/wire"
)

// editForm changes what a task is about.
type editForm struct {
	entries
	row                   overview.Row
	summary, requirements string // as they were
}

// Values of the form.
const (
	editSummary = iota
	editRequirements
)

// editingMsg is a task whose text is to be edited.
type editingMsg struct {
	row  overview.Row
	task wire.TaskDetails
	err  error
}

// openEditForm reads what a task is about and opens the form that changes it, with its earlier content if it was left.
func (m *model) openEditForm(r *overview.Row) tea.Cmd {
	if r.Kind == workflow.Terminal {
		m.showError("%s is %s: it is closed, and nothing reads what would change", r.Branch, r.Status)
		return nil
	}
	if f := m.edits[r.ID]; f != nil {
		m.dialog = f
		return nil
	}
	ctx, api, row := m.ctx, m.API, *r
	return func() tea.Msg {
		v, err := api.ReadTask(ctx, string(row.ID))
		return editingMsg{row, v, err}
	}
}

func (m *model) editTask(msg editingMsg) {
	doc, err := taskfile.Parse([]byte(msg.task.Body))
	if msg.err != nil {
		err = msg.err
	}
	switch {
	case err != nil:
		m.showError("%s", oneLine(err))
		return
	case m.dialog != nil: // a person went on meanwhile
		return
	}
	f := &editForm{row: msg.row, summary: msg.task.Task.Summary}
	f.requirements, _ = prompts.ReadGiven(doc.Sections())
	f.requirements = strings.TrimSpace(f.requirements)
	f.list = []entry{
		{name: "Title", hint: "what is to be done", text: newField(f.summary, false)},
		{name: "Requirements", hint: "more about it, in as many lines as it needs", text: newField(f.requirements, true)},
	}
	m.dialog = f
}

func (f *editForm) handleKey(m *model, k tea.KeyPressMsg) tea.Cmd {
	return f.handleFormKey(m, k, f.keepDraft, f.submitChanges)
}

// keepDraft closes the form, and keeps it if its text was changed.
func (f *editForm) keepDraft(m *model) {
	m.dialog, f.why = nil, ""
	delete(m.edits, f.row.ID)
	if f.value(editSummary) == f.summary && f.value(editRequirements) == f.requirements {
		m.showNote("nothing was changed")
		return
	}
	m.edits[f.row.ID] = f
	m.showNote(keptText)
}

// submitChanges requests what differs from the task.
func (f *editForm) submitChanges(m *model) tea.Cmd {
	summary, requirements := f.value(editSummary), f.value(editRequirements)
	sig := signal.Signal{Kind: signal.Request, Verb: engine.VerbEdit}
	switch {
	case summary == "":
		f.why, f.at = "the title is empty: say what is to be done", editSummary
		return nil
	case requirements == "" && f.requirements != "":
		f.why, f.at = "the requirements are empty: write at least a line", editRequirements
		return nil
	case summary == f.summary && requirements == f.requirements:
		f.keepDraft(m)
		return nil
	}
	if summary != f.summary {
		sig.Fields = []signal.Field{{Name: "summary", To: summary}}
	}
	if requirements != f.requirements {
		sig.Note = requirements
	}
	cmd := m.sendRequestFrom(f, f.row.ID, "the change of "+f.row.Branch, signalRequest(m.API, &f.row, sig))
	f.sending, f.why = cmd != nil, ""
	if cmd == nil {
		f.why = m.note.text
	}
	return cmd
}

func (f *editForm) boxTitle() string { return "Change " + f.row.Branch }

func (f *editForm) keyHints() []hint { return f.editHints("change") }

// sendMessage asks for a message, and sends it to the living agent of a task.
func (m *model) sendMessage(r *overview.Row) tea.Cmd {
	if r.Life != overview.Alive {
		m.showError("no agent of %s lives: press e to answer a question, r to request changes, or E to change the task", r.Branch)
		return nil
	}
	m.openPrompt("message", "Your message to the agent of "+r.Branch, r, func(text string) signal.Signal {
		return signal.Signal{Kind: signal.Request, Verb: engine.VerbSend, Note: text}
	})
	return nil
}

// stopAgent ends a living agent, and starts no other.
func (m *model) stopAgent(r *overview.Row) tea.Cmd {
	if r.Life != overview.Alive {
		m.showError("no agent of %s lives, so there is nothing to stop", r.Branch)
		return nil
	}
	m.askConfirmation("The task stays in "+r.Status+", and no agent starts until you start one.", "Stop the agent of "+r.Branch+"?", func(m *model) tea.Cmd {
		return m.sendSignal(r, "the end of the agent of "+r.Branch, signal.Signal{Kind: signal.Request, Verb: engine.VerbStop})
	})
	return nil
}

// replaceAgent ends a living agent and starts another in its place.
func (m *model) replaceAgent(r *overview.Row) tea.Cmd {
	if r.Life != overview.Alive {
		return m.restartAgent(r)
	}
	m.askConfirmation("Its worktree stays as it is, and this is no crash.", "End the agent of "+r.Branch+" and start another?", func(m *model) tea.Cmd {
		return m.sendSignal(r, "the start of "+r.Branch, signal.Signal{Kind: signal.Request, Verb: engine.Respawn, Arg: engine.Force})
	})
	return nil
}
