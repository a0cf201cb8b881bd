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
	"orange/internal/view/narrate"
	"orange/internal/wire"
)

// creating is the id for requests of a task that does not exist yet.
const creating task.ID = "+"

// form is the form for a new task.
type form struct {
	entries
	begins   map[string][]string // states in which a task may begin, by workflow
	notes    []string            // what the answer says about the new task
	proposed string              // the branch that was proposed last
}

// Values of the form.
const (
	formSummary = iota
	formRequirements
	formBranch
	formProject
	formHarness
	formWorkflow
	formStatus
	formStart
	formBase
	formModel
	formAfter
	formStack
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
	f.offerTasks(m)
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
	if r := m.selectedRow(); project == "" && r != nil && m.Register == nil {
		project = r.Project
	}
	hint := "see orange project add"
	switch {
	case m.Register != nil && project == "":
		hint = "the repository of this folder"
	case project == "" && len(projects) > 0:
		project = projects[0]
	}
	return &form{entries: entries{list: []entry{
		{name: "Title", hint: "what is to be done"},
		{name: "Requirements", hint: "more about it, in as many lines as it needs", text: newField("", true)},
		{name: "Branch", hint: "named after the title, unless you write a name"},
		{name: "Project", choices: projects, text: newField(project, false), hint: hint},
		{name: "Harness", hint: "the project's", choices: append([]string{""}, agent.HarnessNames()...)},
		{name: "Workflow", hint: "the project's", choices: []string{""}},
		{name: "Status", hint: "the workflow's first"},
		{name: "Start now", toggle: true, on: true, yes: "as soon as a workspace is free", no: "later, with Enter in the list"},
		{name: "Base", hint: "the branch it starts from and lands on: the project's"},
		{name: "Model", hint: "the project's, or the agent's own"},
		{name: "After", hint: "tasks that must land first, as in login, cart"},
		{name: "Stack", toggle: true, yes: "begin at the branch of the task that it is after", no: "begin at the base, once that task has landed"},
	}}}
}

// proposeBranch names the branch after the title, unless the person wrote another name.
func (f *form) proposeBranch() {
	e := &f.list[formBranch]
	if e.text.value() != f.proposed {
		e.note = ""
		return
	}
	e.note = "from the title"
	if next := task.BranchFromWords(f.value(formSummary), 1); next != f.proposed {
		f.proposed, e.text = next, newField(next, false)
	}
}

// chosenBranch returns the branch that a person wrote, or "" for the proposed one, which the server changes if it is taken.
func (f *form) chosenBranch() string {
	if name := f.value(formBranch); name != f.proposed {
		return name
	}
	return ""
}

// offerTasks offers the open tasks of the project as those that must land first, the newest first.
func (f *form) offerTasks(m *model) {
	names := []string{""}
	for i := range slices.Backward(m.state.Tasks) {
		if r := &m.state.Tasks[i]; r.Project == f.value(formProject) && r.Kind != workflow.Terminal {
			names = append(names, r.Branch)
		}
	}
	f.list[formAfter].choices = names
}

// pasteText implements dialog.
func (f *form) pasteText(text string) {
	f.entries.pasteText(text)
	f.proposeBranch()
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
	f.list[formWorkflow].choices = names
	f.begins = msg.begins
	f.offerStates(m)
}

// offerStates offers the initial states of the workflow. If they are unknown it offers none, and a person types.
func (f *form) offerStates(m *model) {
	f.list[formStatus].choices = nil
	name := cmp.Or(f.value(formWorkflow), m.usualWorkflow(f.value(formProject)))
	if states := f.begins[name]; len(states) > 0 {
		f.list[formStatus].choices = append([]string{""}, states...)
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

// keepDraft keeps the form with its content for later.
func (f *form) keepDraft(m *model) {
	m.dialog = nil
	for _, at := range []int{formSummary, formRequirements, formBranch, formBase, formHarness, formModel, formAfter, formWorkflow, formStatus} {
		if f.value(at) != "" {
			f.why, m.left = "", f
			m.showNote("no task was created; " + keptText)
			return
		}
	}
	m.showNote("no task was created")
}

func (f *form) handleKey(m *model, k tea.KeyPressMsg) tea.Cmd {
	if cmd := f.handleFormKey(m, k, f.keepDraft, f.submitTask); cmd != nil {
		return cmd
	}
	f.proposeBranch()
	f.offerStates(m)
	f.offerTasks(m)
	return nil
}

func (f *form) boxTitle() string { return "A new task" }

func (f *form) keyHints() []hint { return f.editHints("create") }

// submitTask requests the task. The server checks it.
func (f *form) submitTask(m *model) tea.Cmd {
	w := signal.NewTask{Workflow: f.value(formWorkflow), Actor: task.Human}
	w.Project, w.Branch, w.Summary = f.value(formProject), f.chosenBranch(), f.value(formSummary)
	w.Requirements = f.value(formRequirements)
	w.BaseBranch, w.Model, w.After = f.value(formBase), f.value(formModel), task.SplitIDs(f.value(formAfter))
	w.Harness, w.Status, w.Spawn, w.Stack = f.value(formHarness), f.value(formStatus), f.list[formStart].on, f.list[formStack].on
	switch {
	case w.Project == "" && m.Register == nil:
		f.why, f.at = "give a project, or add one with orange project add", formProject
		return nil
	case w.Branch == "" && w.Summary == "" && w.Requirements == "":
		f.why, f.at = "give a title, requirements or a branch", formSummary
		return nil
	case w.Stack && len(w.After) != 1:
		f.why, f.at = "a task is stacked on one other task: name it here, or take Stack back", formAfter
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
	api, register := m.API, m.Register
	cmd := m.sendRequestFrom(f, creating, "the creation of a task", func(ctx context.Context) (string, error) {
		if w.Project == "" {
			name, err := register(ctx)
			if err != nil {
				return "", err
			}
			w.Project = name
		}
		a, err := api.CreateTask(ctx, w)
		if err != nil {
			return "", err
		}
		f.notes = a.Notes
		text := fmt.Sprintf("created %s/%s", a.Task.Project, a.Task.Branch)
		if waits := narrate.DescribeQueue(&a.Task); waits != "" {
			text += ": " + waits
		}
		return strings.TrimSuffix(text+"; "+a.Warning, "; "), nil
	})
	f.sending, f.why = cmd != nil, ""
	if cmd == nil {
		f.why = m.note.text
	}
	return cmd
}

// noteCreated shows what a person should know about the new task and has not been told yet.
func (f *form) noteCreated(m *model) {
	var lines []string
	for _, l := range f.notes {
		if l = plainLine(l); !m.noted[l] {
			m.noted[l] = true
			lines = append(lines, l)
		}
	}
	if len(lines) > 0 && m.dialog == nil {
		m.dialog = &notice{"About this task", lines}
	}
}
