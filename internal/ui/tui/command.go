package tui

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"strings"

	tea "charm.land/bubbletea/v2"

	"orange/internal/core/engine"
	"orange/internal/core/explain"
	"orange/internal/core/signal"
	"orange/internal/core/task"
	"orange/internal/view/overview"
	"orange/internal/wire"
)

// typedCommand is something that a person types after a colon. It has the name that it has on the command line, if it has
// one there.
type typedCommand struct {
	names  []string // the first is the usual one
	args   string   // for the help
	help   string
	values func(*model) []string // what its argument can be, nil if it is not completed
	run    func(m *model, arg string) (tea.Cmd, error)
}

// allCommands lists the commands.
func allCommands() []typedCommand {
	return slices.Concat(taskCommands(), viewCommands())
}

// taskCommands are the commands about tasks.
func taskCommands() []typedCommand {
	out := []typedCommand{
		{names: []string{"new", "create"}, args: "[title]", help: "create a task", run: newTaskCommand},
	}
	for _, kind := range bulkKinds() {
		names := []string{kind.name}
		if kind.name == "start" {
			names = append(names, "spawn")
		}
		out = append(out, typedCommand{names: names, help: strings.ToLower(kind.title) + " the task, or all that are selected", run: func(m *model, arg string) (tea.Cmd, error) {
			if arg != "" {
				return nil, errors.New("it acts on the selected tasks: give no name")
			}
			return m.startBulk(kind), nil
		}})
	}
	return append(out,
		typedCommand{names: []string{"pause all"}, help: "pause everything", run: pauseAllCommand(true)},
		typedCommand{names: []string{"resume all"}, help: "let everything go on", run: pauseAllCommand(false)},
		typedCommand{names: []string{"land pause"}, args: "[project]", help: "let no work of a project land", values: projectNames, run: holdLandingCommand(true)},
		typedCommand{names: []string{"land resume"}, args: "[project]", help: "let its work land again", values: projectNames, run: holdLandingCommand(false)},
		forOneTask("land remove", "take it out of its landing queue", func(m *model, r *overview.Row) tea.Cmd {
			return m.sendSignal(r, "the landing of "+r.Branch, signal.Signal{Kind: signal.Request, Verb: engine.VerbUnland})
		}),
		forOneTask("attach", "go to its agent's terminal; Ctrl-Q comes back", (*model).openTerminal),
		withWords("answer", "answer what its agent asks", (*model).answerAgent),
		withWords("send", "send a message to its living agent", (*model).sendMessage),
		withWords("request-changes", "send it back, with words", (*model).requestChanges),
		forOneTask("approve", "approve the move that its agent asks for", (*model).approveMove),
		forOneTask("respawn", "start its agent again", (*model).replaceAgent),
		forOneTask("stop", "stop its agent, and keep the task", (*model).stopAgent),
		forOneTask("check", "run its checks again, or one of them", (*model).runChecks),
		typedCommand{names: []string{"move"}, args: "[state]", help: "move it to another state", values: moveNames, run: moveCommand},
		forOneTask("edit", "change its title and its requirements", (*model).openEditForm),
		forOneTask("create-pr", "create a pull request", (*model).openPullRequest),
		forOneTask("delete", "remove a closed task from the lists", (*model).deleteTask),
		forOneTask("show", "read TASK.md", (*model).openText),
		forOneTask("explain", "why it is where it is", openTab(tabExplain)),
		forOneTask("diff", "what it changes", openTab(tabDiff)),
		forOneTask("log", "what its agents said and did", openTab(tabLog)),
		forOneTask("history", "its timeline", openTab(tabTimeline)),
	)
}

// viewCommands are the commands about what is shown.
func viewCommands() []typedCommand {
	return []typedCommand{
		{names: []string{"filter"}, args: "[filter]", help: "show only these tasks; without a filter, all", run: filterCommand},
		{names: []string{"group"}, args: strings.Join(groupNames(), "|"), help: "group the tasks", values: func(*model) []string { return groupNames() }, run: groupCommand},
		{names: []string{"sort"}, args: "order", help: "sort the tasks", values: func(*model) []string { return orderNames() }, run: sortCommand},
		{names: []string{"project"}, args: "[project]", help: "show one project; without a name, all", values: projectNames, run: projectCommand},
		{names: []string{"theme"}, args: strings.Join(Themes(), "|"), help: "the colours; theme in config.json keeps them", values: func(*model) []string { return Themes() }, run: themeCommand},
		{names: []string{"board"}, args: "[project]", help: "the board of a project", values: projectNames, run: boardCommand},
		{names: []string{"inbox"}, help: "what waits for you", run: func(m *model, _ string) (tea.Cmd, error) { return m.showPage(pageInbox), nil }},
		{names: []string{"list"}, help: "all tasks", run: func(m *model, _ string) (tea.Cmd, error) { return m.showPage(pageList), nil }},
		{names: []string{"help"}, help: "keys and commands", run: func(m *model, _ string) (tea.Cmd, error) { return m.showHelp(), nil }},
		{names: []string{"q", "quit"}, help: "leave", run: func(*model, string) (tea.Cmd, error) { return tea.Quit, nil }},
	}
}

// runCommand runs a command. It returns an error if there is none with this name, or if its argument is wrong.
func (m *model) runCommand(text string) (tea.Cmd, error) {
	text = strings.Join(strings.Fields(text), " ")
	if text == "" {
		return nil, nil
	}
	var found *typedCommand
	arg, longest := "", 0
	for _, c := range allCommands() {
		for _, name := range c.names {
			rest, ok := strings.CutPrefix(text+" ", name+" ")
			if ok && len(name) > longest {
				found, arg, longest = &c, strings.TrimSpace(rest), len(name)
			}
		}
	}
	if found == nil {
		return nil, fmt.Errorf("there is no command %q: Tab completes, :help lists them", text)
	}
	if arg != "" && found.args == "" && found.run != nil && !acceptsWords(found) {
		return nil, fmt.Errorf("%s takes no argument", found.names[0])
	}
	return found.run(m, arg)
}

// acceptsWords reports whether a command checks its argument itself.
func acceptsWords(c *typedCommand) bool {
	return slices.ContainsFunc(bulkKinds(), func(k bulkKind) bool { return k.name == c.names[0] })
}

// completeCommand returns the lines that a command can be completed to.
func (m *model) completeCommand(text string) []string {
	var out []string
	for _, c := range allCommands() {
		for i, name := range c.names {
			rest, inArgument := strings.CutPrefix(text, name+" ")
			switch {
			case inArgument && name == "filter":
				for _, line := range m.completeFilter(rest) {
					out = append(out, name+" "+line)
				}
			case inArgument && c.values != nil:
				for _, v := range c.values(m) {
					if strings.HasPrefix(strings.ToLower(v), strings.ToLower(rest)) {
						out = append(out, name+" "+v)
					}
				}
			case strings.HasPrefix(name, text) && (i == 0 || text != "" && !strings.HasPrefix(c.names[0], text)):
				if c.args != "" {
					name += " "
				}
				out = append(out, name)
			}
		}
	}
	return out
}

// forOneTask returns a command about the task under the cursor.
func forOneTask(name, help string, run func(*model, *overview.Row) tea.Cmd) typedCommand {
	return typedCommand{names: []string{name}, help: help, run: func(m *model, _ string) (tea.Cmd, error) {
		r, err := m.oneTask()
		if err != nil {
			return nil, err
		}
		return run(m, r), nil
	}}
}

// withWords returns a command that opens a prompt with the words that were typed.
func withWords(name, help string, run func(*model, *overview.Row) tea.Cmd) typedCommand {
	return typedCommand{names: []string{name}, args: "[words]", help: help, run: func(m *model, words string) (tea.Cmd, error) {
		r, err := m.oneTask()
		if err != nil {
			return nil, err
		}
		cmd := run(m, r)
		if p, ok := m.dialog.(*prompt); ok {
			p.text.insertText(words)
		}
		return cmd, nil
	}}
}

// oneTask returns the task that a command is about.
func (m *model) oneTask() (*overview.Row, error) {
	switch rows := m.targetRows(); len(rows) {
	case 0:
		return nil, errors.New("no task is selected")
	case 1:
		return &rows[0], nil
	default:
		return nil, fmt.Errorf("%d tasks are selected, and it acts on one: Esc takes the selection back", len(rows))
	}
}

func openTab(t tab) func(*model, *overview.Row) tea.Cmd {
	return func(m *model, r *overview.Row) tea.Cmd {
		if m.page != pageList {
			m.page = pageList
			m.revealTask(r.ID)
		}
		return m.showTab(t)
	}
}

func newTaskCommand(m *model, title string) (tea.Cmd, error) {
	cmd := m.openCreateForm()
	if f, ok := m.dialog.(*form); ok && title != "" {
		f.list[formSummary].text = newField(title, false)
		f.proposeBranch()
	}
	return cmd, nil
}

func pauseAllCommand(pause bool) func(*model, string) (tea.Cmd, error) {
	return func(m *model, _ string) (tea.Cmd, error) {
		if m.state.Paused == pause {
			return nil, errors.New(map[bool]string{true: "everything is paused already", false: "nothing is paused as a whole"}[pause])
		}
		return m.togglePauseAll(), nil
	}
}

// holdLandingCommand holds the landing queues of a project, or lets them go on.
func holdLandingCommand(hold bool) func(*model, string) (tea.Cmd, error) {
	return func(m *model, project string) (tea.Cmd, error) {
		project, err := m.projectNamed(project)
		if err != nil {
			return nil, err
		}
		api, what, done := m.API, "the resumption of landing", "the landing queues of "+project+" go on"
		if hold {
			what, done = "the pause of landing", "no work of "+project+" lands until :land resume"
		}
		return m.sendRequest(task.ID("land:"+project), what, func(ctx context.Context) (string, error) {
			_, err := api.UpdateProject(ctx, project, wire.ProjectChange{HoldLanding: &hold})
			return done, err
		}), nil
	}
}

// projectNamed returns a project by its name or, without one, the project in sight.
func (m *model) projectNamed(name string) (string, error) {
	names := projectNames(m)
	switch r := m.selectedRow(); {
	case name != "" && !slices.Contains(names, name):
		return "", fmt.Errorf("project %q is not registered", name)
	case name != "":
		return name, nil
	case m.choice.Project != "":
		return m.choice.Project, nil
	case r != nil:
		return r.Project, nil
	case len(names) == 1:
		return names[0], nil
	}
	return "", errors.New("name a project")
}

func projectNames(m *model) []string {
	var out []string
	for i := range m.state.Projects {
		out = append(out, m.state.Projects[i].Name)
	}
	return out
}

func moveNames(m *model) []string {
	var out []string
	if r := m.selectedRow(); r != nil {
		for _, mv := range r.Moves {
			out = append(out, mv.To)
		}
	}
	return out
}

func moveCommand(m *model, state string) (tea.Cmd, error) {
	r, err := m.oneTask()
	switch {
	case err != nil:
		return nil, err
	case state == "":
		return m.chooseMove(r), nil
	case !slices.ContainsFunc(r.Moves, func(mv explain.Move) bool { return mv.To == state }):
		return nil, fmt.Errorf("%s cannot be moved from %s to %q: Tab lists the next steps", r.Branch, r.Status, state)
	}
	return m.sendSignal(r, "the move of "+r.Branch, signal.Signal{Kind: signal.Request, To: state}), nil
}

func filterCommand(m *model, text string) (tea.Cmd, error) {
	f, err := overview.ParseFilter(text)
	if err != nil {
		return nil, err
	}
	return tea.Batch(m.showPage(pageList), m.applyFilter(func(c *overview.Choice) { c.Filter = f })), nil
}

// groupings are the ways of grouping, as a key cycles through them, with their names.
var groupings = []struct {
	name string
	by   overview.Grouping
}{{"who", overview.TurnGroup}, {"state", overview.StatusGroup}, {"project", overview.ProjectRows}, {"none", overview.NoGroups}}

func groupNames() []string {
	var out []string
	for _, g := range groupings {
		out = append(out, g.name)
	}
	return out
}

func groupCommand(m *model, name string) (tea.Cmd, error) {
	for _, g := range groupings {
		if g.name == name {
			return m.applyFilter(func(c *overview.Choice) { c.Group = g.by }), nil
		}
	}
	return nil, fmt.Errorf("group by %s", joinOr(groupNames()))
}

func orderNames() []string {
	var out []string
	for _, o := range overview.AllOrders() {
		out = append(out, string(o))
	}
	return out
}

func sortCommand(m *model, name string) (tea.Cmd, error) {
	if !slices.Contains(orderNames(), name) {
		return nil, fmt.Errorf("sort by %s", joinOr(orderNames()))
	}
	return m.applyFilter(func(c *overview.Choice) { c.Sort = overview.Order(name) }), nil
}

func projectCommand(m *model, name string) (tea.Cmd, error) {
	if name != "" {
		if _, err := m.projectNamed(name); err != nil {
			return nil, err
		}
	}
	return m.applyFilter(func(c *overview.Choice) { c.Project = name }), nil
}

func themeCommand(m *model, name string) (tea.Cmd, error) {
	if !slices.Contains(Themes(), name) {
		return nil, fmt.Errorf("the theme is %s", joinOr(Themes()))
	}
	m.Theme = name
	m.applyTheme()
	if m.NoColor {
		m.showNote("NO_COLOR is set: there are no colours")
	}
	return nil, nil
}

func boardCommand(m *model, project string) (tea.Cmd, error) {
	project, err := m.projectNamed(project)
	if err != nil {
		return nil, err
	}
	return m.openBoard(project, 0), nil
}

// joinOr lists alternatives.
func joinOr(list []string) string {
	last := len(list) - 1
	return strings.Join(list[:last], ", ") + " or " + list[last]
}
