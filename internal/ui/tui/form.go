package tui

import (
	"cmp"
	"context"
	"fmt"
	"slices"
	"strings"

	tea "charm.land/bubbletea/v2"

	"orange/internal/core/agent"
	"orange/internal/core/signal"
	"orange/internal/core/task"
	"orange/internal/core/workflow"
	"orange/internal/view/ansi"
	"orange/internal/wire"
)

// creating is the id for requests of a task that does not exist yet.
const creating task.ID = "+"

// entry is one line of the form.
type entry struct {
	name    string
	hint    string   // shown while it is empty
	choices []string // selected with ← and →; a text may have other values
	text    field
	toggle  bool // it is yes or no
	on      bool
}

// form is the form for a new task.
type form struct {
	entries []entry
	at      int
	why     string
	sending bool
	begins  map[string][]string // states in which a task may begin, by workflow
}

// Lines of the form.
const (
	formSummary = iota
	formBranch
	formProject
	formHarness
	formWorkflow
	formStatus
	formStart
	formBase
	formModel
)

type workflowsMsg struct {
	list   []wire.WorkflowInfo
	begins map[string][]string // see beginnings
	err    error
}

// openCreateForm opens the form, with its earlier content if it was left.
func (m *model) openCreateForm() tea.Cmd {
	f := m.left
	if f == nil {
		f = m.newForm()
	}
	m.left, m.dialog = nil, f
	ctx, api := m.ctx, m.API
	return func() tea.Msg {
		list, err := api.ListWorkflows(ctx)
		return workflowsMsg{list, loadInitialStates(ctx, api, list), err}
	}
}

// mostWorkflows is how many workflows are read for a form.
const mostWorkflows = 20

// loadInitialStates returns the states in which tasks of these workflows may begin, by the name of the workflow. It
// skips workflows that cannot be read.
func loadInitialStates(ctx context.Context, api Reader, list []wire.WorkflowInfo) map[string][]string {
	out, read := map[string][]string{}, 0
	for _, info := range list {
		if info.Origin == "pinned" {
			continue
		}
		if read++; read > mostWorkflows {
			break
		}
		w, err := api.ReadWorkflow(ctx, info.Hash)
		if err != nil {
			continue
		}
		def, err := workflow.Parse(w.File, w.Text)
		if err != nil {
			continue
		}
		name := ansi.OneLine(info.Name)
		for _, i := range def.EdgesFrom(workflow.New) {
			if to := def.Edges[i].To; !slices.Contains(out[name], to) {
				out[name] = append(out[name], to)
			}
		}
	}
	return out
}

func (m *model) newForm() *form {
	var projects []string
	for _, p := range m.state.Projects {
		projects = append(projects, ansi.OneLine(p.Name))
	}
	project := m.choice.Project
	if r := m.selectedRow(); project == "" && r != nil {
		project = r.Project
	}
	if project == "" && len(projects) > 0 {
		project = projects[0]
	}
	return &form{at: formSummary, entries: []entry{
		{name: "Summary", hint: "what is to be done"},
		{name: "Branch", hint: "may stay empty: the server names it"},
		{name: "Project", choices: projects, text: newField(project, false), hint: "see orange project add"},
		{name: "Harness", hint: "the project's", choices: append([]string{""}, agent.HarnessNames()...)},
		{name: "Workflow", hint: "the project's", choices: []string{""}},
		{name: "Status", hint: "the workflow's first"},
		{name: "Start now", toggle: true, on: true},
		{name: "Base", hint: "the branch it starts from and lands on: the project's"},
		{name: "Model", hint: "the project's, or the agent's own"},
	}}
}

// offerWorkflows adds the names of workflows, and of their initial states, to the form, if it is still open.
func (m *model) offerWorkflows(msg workflowsMsg) {
	f, ok := m.dialog.(*form)
	if !ok || msg.err != nil {
		return
	}
	names := []string{""}
	for _, w := range msg.list {
		if name := ansi.OneLine(w.Name); w.Origin != "pinned" && !slices.Contains(names, name) {
			names = append(names, name)
		}
	}
	f.entries[formWorkflow].choices = names
	f.begins = msg.begins
	f.offerStates(m)
}

// offerStates offers the initial states of the workflow. If they are unknown it offers none, and a person types.
func (f *form) offerStates(m *model) {
	f.entries[formStatus].choices = nil
	name := cmp.Or(f.entryValue(formWorkflow), m.usualWorkflow(f.entryValue(formProject)))
	if states := f.begins[name]; len(states) > 0 {
		f.entries[formStatus].choices = append([]string{""}, states...)
	}
}

// usualWorkflow returns the workflow of a project's newest task, or "".
func (m *model) usualWorkflow(project string) string {
	for i := range slices.Backward(m.state.Tasks) {
		if r := &m.state.Tasks[i]; r.Project == project {
			return r.Workflow
		}
	}
	return ""
}

// putAside keeps the form with its content for later. A request that was sent cannot be cancelled.
func (f *form) putAside(m *model) {
	if f.sending {
		m.showNote(underWay)
		return
	}
	m.dialog = nil
	for _, at := range []int{formSummary, formBranch, formBase, formHarness, formModel, formWorkflow, formStatus} {
		if f.entryValue(at) != "" {
			f.why, m.left = "", f
			m.showNote("no task was created; " + keptText)
			return
		}
	}
	m.showNote("no task was created")
}

func (f *form) handleKey(m *model, k tea.KeyPressMsg) tea.Cmd {
	e := &f.entries[f.at]
	switch key := k.String(); {
	case key == "esc":
		f.putAside(m)
	case f.sending:
	case key == "tab", key == "down":
		f.at = (f.at + 1) % len(f.entries)
	case key == "shift+tab", key == "up":
		f.at = (f.at + len(f.entries) - 1) % len(f.entries)
	case key == "enter", key == "ctrl+s":
		return f.submitTask(m)
	case e.toggle && (key == "space" || key == "left" || key == "right" || key == "y" || key == "n"):
		e.on = key == "y" || key != "n" && !e.on
	case e.toggle:
	case len(e.choices) > 0 && (key == "left" || key == "right"):
		f.cycleChoice(e, key == "right")
	default:
		e.text.editKey(k)
	}
	f.offerStates(m)
	return nil
}

// cycleChoice selects the next choice of a line, or the previous one.
func (f *form) cycleChoice(e *entry, on bool) {
	at, n := slices.Index(e.choices, e.text.value()), len(e.choices)
	switch {
	case on:
		at = (at + 1) % n
	default:
		at = (max(at, 0) + n - 1) % n
	}
	e.text = newField(e.choices[at], false)
}

func (f *form) pasteText(text string) {
	if e := &f.entries[f.at]; !e.toggle && !f.sending {
		e.text.insertText(text)
	}
}

func (f *form) showRefusal(why string) { f.why, f.sending = why, false }

func (f *form) boxTitle() string { return "A new task" }

func (f *form) keyHints() []hint {
	return []hint{{"Enter", "create"}, {"Tab", "next"}, {"Shift+Tab", "back"}, {"←/→", "choose"}, {"Esc", "leave"}}
}

func (f *form) entryValue(at int) string { return strings.TrimSpace(f.entries[at].text.value()) }

// submitTask requests the task. The server checks it.
func (f *form) submitTask(m *model) tea.Cmd {
	w := signal.NewTask{Workflow: f.entryValue(formWorkflow), Actor: task.Human}
	w.Project, w.Branch, w.Summary = f.entryValue(formProject), f.entryValue(formBranch), f.entryValue(formSummary)
	w.BaseBranch, w.Model = f.entryValue(formBase), f.entryValue(formModel)
	w.Harness, w.Status, w.Spawn = f.entryValue(formHarness), f.entryValue(formStatus), f.entries[formStart].on
	switch {
	case w.Project == "":
		f.why, f.at = "give a project, or add one with orange project add", formProject
		return nil
	case w.Branch == "" && w.Summary == "":
		f.why, f.at = "give a summary or a branch", formSummary
		return nil
	}
	if m.Harness != nil {
		settled, err := m.Harness(w.Harness)
		if err != nil {
			f.why, f.at = oneLine(err), formHarness
			return nil
		}
		w.Harness = settled
	}
	api := m.API
	cmd := m.sendRequestFrom(f, creating, "the creation of a task", func(ctx context.Context) (string, error) {
		a, err := api.CreateTask(ctx, w)
		if err != nil {
			return "", err
		}
		text := fmt.Sprintf("created %s/%s", a.Task.Project, a.Task.Branch)
		if a.Task.Queued {
			text += ": it waits for a free workspace"
		}
		return strings.TrimSuffix(text+"; "+a.Warning, "; "), nil
	})
	f.sending, f.why = cmd != nil, ""
	if cmd == nil {
		f.why = m.note.text
	}
	return cmd
}

func (f *form) renderBody(m *model, width, height int) (out []string, x, y int) {
	const names = 11
	x = -1
	room := max(1, width-names-2)
	top := max(0, f.at-max(1, height-3)+1)
	for i := top; i < len(f.entries) && len(out) < max(1, height-2); i++ {
		e := &f.entries[i]
		name := m.theme.Faint
		if i == f.at {
			name = m.theme.Accent
		}
		text, at := f.renderEntry(m, e, room, i == f.at)
		if i == f.at && !e.toggle {
			x, y = names+at, len(out)
		}
		out = append(out, name.Render(fitWidth(e.name, names))+text)
	}
	switch {
	case f.why != "":
		out = append(out, "")
		out = append(out, m.styledLines(m.theme.Bad, f.why, width)...)
	case f.sending:
		out = append(out, "", m.theme.Faint.Render("asking ..."))
	default:
		out = append(out, "", "")
	}
	return out, x, y
}

// renderEntry renders the value of a line, and returns the position of its cursor.
func (f *form) renderEntry(m *model, e *entry, room int, here bool) (string, int) {
	switch {
	case e.toggle && e.on:
		return m.theme.Text.Render(fitWidth("[x] as soon as a workspace is free", room)), 0
	case e.toggle:
		return m.theme.Text.Render(fitWidth("[ ] later, with Enter in the list", room)), 0
	case len(e.text.text) == 0:
		hint := cmp.Or(e.hint, "-")
		if here && len(e.choices) > 1 {
			hint += "  ←/→"
		}
		return m.theme.Faint.Render(fitWidth(hint, room)), 0
	}
	lines, x, y := e.text.renderWindow(room, 1)
	text := fitWidth(lines[min(y, len(lines)-1)], room)
	if here {
		return m.theme.Strong.Render(text), x
	}
	return m.theme.Text.Render(text), x
}
