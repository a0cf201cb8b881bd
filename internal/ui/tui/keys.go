package tui

import (
	"slices"
	"strings"

	tea "charm.land/bubbletea/v2"

	"orange/internal/core/engine"
	"orange/internal/core/overview"
	"orange/internal/core/workflow"
)

// hint is a key and a word for what it does.
type hint struct{ key, word string }

// action is something that a key does. The footer, the help and the keys themselves are
// read off the same table.
type action struct {
	hint
	keys  []string // as the terminal names them
	group string   // of the help
	help  string
	pages []page // where it is, nil for the list and the inbox
	task  bool   // it needs one
	fixed bool   // the footer always has room for it
	// offer says whether the footer shows it for a task, which is nil if there is none;
	// nil: never.
	offer func(*model, *overview.Row) bool
	run   func(*model, *overview.Row) tea.Cmd
}

// Groups of the help, in order.
const (
	groupTask  = "The task"
	groupList  = "The list"
	groupInbox = "The inbox"
	groupPane  = "The detail pane"
	groupOther = "Else"
)

func (a *action) on(p page) bool {
	if a.pages == nil {
		return p == pageList || p == pageInbox
	}
	return slices.Contains(a.pages, p)
}

// act does what a key means on this page.
func (m *model) act(key string) tea.Cmd {
	for _, a := range actions() {
		if !a.on(m.page) || !slices.Contains(a.keys, key) {
			continue
		}
		r := m.selected()
		if items := m.inbox.items(m); a.task && r == nil && m.page == pageInbox && m.inbox.at < len(items) && (a.keys[0] == "enter" || key == "P") {
			switch it := items[m.inbox.at]; it.Kind { // of no task
			case engine.ItemPaused:
				return m.pauseAll()
			case engine.ItemGit:
				m.say("look at it, then run %s", it.Do)
				return nil
			}
		}
		if a.task && r == nil {
			m.say("no task is selected: press c to create one")
			return nil
		}
		return a.run(m, r)
	}
	return nil
}

// hints are what the footer offers now, the most helpful first, and what it offers
// always.
func (m *model) hints() (some, fixed []hint) {
	if m.dialog != nil {
		return m.dialog.hints(), nil
	}
	if m.finding != nil {
		return []hint{{"Enter", "keep"}, {"Esc", "show all"}, {"↑/↓", "move"}}, nil
	}
	r := m.selected()
	for _, a := range actions() {
		if !a.on(m.page) || a.offer == nil || a.task && (r == nil || !a.offer(m, r)) {
			continue
		}
		h := a.hint
		switch {
		case a.keys[0] == "enter":
			h.word = m.enterWord(r)
			some = slices.DeleteFunc(some, func(other hint) bool { return other.word == h.word })
		case a.keys[0] == "i" && m.page == pageInbox:
			h.word = "list"
		}
		if a.fixed {
			fixed = append(fixed, h)
		} else {
			some = append(some, h)
		}
	}
	return some, fixed
}

func (m *model) enterWord(r *overview.Row) string {
	if m.page == pageInbox && r != nil {
		if help, ok := helpOf(r); ok {
			return help.word
		}
	}
	switch {
	case r == nil:
		return ""
	case r.Life == overview.Alive:
		return "attach"
	case r.Kind == workflow.Queued:
		return "start"
	}
	return "respawn"
}

func always(*model, *overview.Row) bool { return true }

func hasBacklog(m *model, _ *overview.Row) bool {
	_, backlog := engine.CountInbox(m.inbox.all(m))
	return backlog > 0
}

func enters(m *model, r *overview.Row) bool {
	return m.page == pageInbox || r.Life != overview.None || r.Kind == workflow.Queued || r.Kind == workflow.Agent
}

// may says whether a person may ask a task for a verb.
func may(verb string) func(*model, *overview.Row) bool {
	return func(_ *model, r *overview.Row) bool { return r.May(verb) }
}

// answers says whether an answer helps a task most, here or at its agent's terminal.
func answers(_ *model, r *overview.Row) bool {
	return r.Verb == engine.VerbAnswer || r.Verb == engine.VerbAttach
}

func wants(kinds ...engine.ItemKind) func(*model, *overview.Row) bool {
	return func(_ *model, r *overview.Row) bool { return r.Waits(kinds...) }
}

// key makes an action without the parts that differ.
func key(names, shown, word, group, help string) action {
	return action{keys: strings.Fields(names), hint: hint{shown, word}, group: group, help: help}
}

func (a action) always() action { a.fixed = true; return a }

func (a action) at(pages ...page) action { a.pages = pages; return a }

func (a action) of(run func(*model, *overview.Row) tea.Cmd, offer func(*model, *overview.Row) bool) action {
	a.task, a.run, a.offer = true, run, offer
	return a
}

func (a action) does(run func(*model) tea.Cmd, offer func(*model, *overview.Row) bool) action {
	a.run, a.offer = func(m *model, _ *overview.Row) tea.Cmd { return run(m) }, offer
	return a
}

// actions are all keys, those of a task first: what helps it most is offered first.
func actions() []action {
	return slices.Concat(taskActions(), listActions(), paneActions(), readingActions())
}

func taskActions() []action {
	review := func(_ *model, r *overview.Row) bool { return r.Kind == workflow.HumanDo }
	over := func(_ *model, r *overview.Row) bool { return r.Kind == workflow.Terminal }
	held := func(_ *model, r *overview.Row) bool { return r.Paused || r.Wants == engine.ItemAttention }
	return []action{
		key("e", "e", "answer", groupTask, "answer what its agent asks").of((*model).answer, answers),
		key("a", "a", "approve", groupTask, "grant the move that its agent asks for").of((*model).approve, wants(engine.ItemConfirm)),
		key("P", "P", "resume", groupTask, "pause it, or let it go on").of((*model).pause, held),
		key("enter w", "Enter", "", groupTask, "or w: start it, go to its agent's terminal, or start the agent again").of((*model).enter, enters),
		key("m", "m", "merge", groupTask, "merge its branch").of((*model).merge, review),
		key("r", "r", "request changes", groupTask, "send it back, with words").of((*model).changes, may("request-changes")),
		key("v", "v", "view", groupTask, "read TASK.md").of((*model).view, always),
		key("p", "p", "PR", groupTask, "open a pull request, or name and copy its address").of((*model).pull, func(m *model, r *overview.Row) bool { return r.PR != nil || review(m, r) }),
		key("u", "u", "move", groupTask, "move it to another state").of((*model).move, nil),
		key("x", "x", "cancel", groupTask, "end it without a result").of((*model).cancel, may("cancel")),
		key("d", "d", "delete", groupTask, "take it out of the lists, once it is over").of((*model).remove, over),
		key("y", "y", "copy id", groupTask, "copy its id").of((*model).copyID, nil),
	}
}

func listActions() []action {
	scopes := []overview.Scope{overview.Active, overview.Done, overview.All}
	groupings := []overview.Grouping{overview.NoGroups, overview.StatusGroup, overview.ProjectRows}
	sift := func(change func(*overview.Choice)) func(*model) tea.Cmd {
		return func(m *model) tea.Cmd { return m.sift(change) }
	}
	return []action{
		key("c", "c", "create", groupOther, "create a task").does((*model).create, always),
		key("i", "i", "inbox", groupOther, "what waits for you; again: back to the list").does((*model).turnInbox, always).always(),
		key("f", "f", "filter", groupList, "active tasks, those that are over, or all").does(sift(func(c *overview.Choice) { c.Scope = next(scopes, c.Scope) }), always).at(pageList),
		key("f", "f", "kind", groupInbox, "one kind of items after the other, then all").does((*model).turnKind, always).at(pageInbox),
		key("g", "g", "group", groupInbox, "items of one kind together, or by age").does((*model).turnGroups, nil).at(pageInbox),
		key("b", "b", "backlog", groupInbox, "show the tasks that were not started, or put them away").does((*model).turnBacklog, hasBacklog).at(pageInbox),
		key("/", "/", "search", groupList, "only tasks with these words").does((*model).startFinding, always).at(pageList),
		key("s", "s", "sort", groupList, "sort by creation, activity, status, project, cost or waiting").does(sift(func(c *overview.Choice) { c.Sort = next(overview.Orders(), c.Sort) }), nil).at(pageList),
		key("S", "S", "reverse", groupList, "the other way round").does(sift(func(c *overview.Choice) { c.Reverse = !c.Reverse }), nil).at(pageList),
		key("g", "g", "group", groupList, "groups by status, by project, or none").does(sift(func(c *overview.Choice) { c.Group = next(groupings, c.Group) }), nil).at(pageList),
		{keys: []string{"A"}, hint: hint{"A", "projects"}, group: groupList, help: "one project, or all", pages: []page{pageList}, run: (*model).turnProject},
		key("j down", "j/↓", "", groupList, "down; with the detail pane in front, scroll").does(func(m *model) tea.Cmd { return m.vertical(1) }, nil),
		key("k up", "k/↑", "", groupList, "up").does(func(m *model) tea.Cmd { return m.vertical(-1) }, nil),
		key("pgdown ctrl+d ctrl+f space", "PgDn", "", groupList, "a page down").does(func(m *model) tea.Cmd { return m.vertical(m.pageful()) }, nil),
		key("pgup ctrl+u ctrl+b", "PgUp", "", groupList, "a page up").does(func(m *model) tea.Cmd { return m.vertical(-m.pageful()) }, nil),
		key("home", "Home", "", groupList, "to the beginning").does(func(m *model) tea.Cmd { return m.vertical(-1 << 30) }, nil),
		key("end G", "End", "", groupList, "to the end").does(func(m *model) tea.Cmd { return m.vertical(1 << 30) }, nil),
		key("R", "R", "refresh PRs", groupOther, "look at the pull requests now").does((*model).refresh, nil),
		key("ctrl+p", "Ctrl+P", "pause all", groupOther, "pause everything, or let it go on").does((*model).pauseAll, nil),
		key("?", "?", "help", groupOther, "this page").does((*model).turnHelp, always).at(pageList, pageInbox, pageText).always(),
		key("esc", "Esc", "back", groupOther, "back").does((*model).back, nil).at(pageList, pageInbox),
		key("q", "q", "quit", groupOther, "leave").does((*model).leave, always).always(),
	}
}

func paneActions() []action {
	out := []action{
		key("tab", "Tab", "", groupPane, "give the keys to the pane, and back to the list").does((*model).turnFocus, nil).at(pageList),
		key("]", "]", "next tab", groupPane, "the next tab").does(func(m *model) tea.Cmd { return m.show(m.detail.tab + 1) }, nil).at(pageList),
		key("[", "[", "last tab", groupPane, "the tab before").does(func(m *model) tea.Cmd { return m.show(m.detail.tab - 1) }, nil).at(pageList),
		key("z", "z", "hide", groupPane, "put the pane away, or bring it back").does((*model).turnHidden, nil).at(pageList),
		key("+ >", "+", "", groupPane, "a longer list").does(func(m *model) tea.Cmd { return m.resize(5) }, nil).at(pageList),
		key("- <", "-", "", groupPane, "a shorter list").does(func(m *model) tea.Cmd { return m.resize(-5) }, nil).at(pageList),
	}
	for t := range tabs {
		name := string(rune('1' + t))
		out = append(out, key(name, name, t.String(), groupPane, t.String()).does(func(m *model) tea.Cmd { return m.show(t) }, nil).at(pageList))
	}
	return out
}

func readingActions() []action {
	scroll := func(by int) func(*model) tea.Cmd {
		return func(m *model) tea.Cmd { m.scrollPage(by); return nil }
	}
	both := []page{pageText, pageHelp}
	return []action{
		key("j down", "j/k", "scroll", "", "").does(scroll(1), always).at(both...),
		key("k up", "", "", "", "").does(scroll(-1), nil).at(both...),
		key("pgdown ctrl+d space", "", "", "", "").does(func(m *model) tea.Cmd { m.scrollPage(m.pageful()); return nil }, nil).at(both...),
		key("pgup ctrl+u", "", "", "", "").does(func(m *model) tea.Cmd { m.scrollPage(-m.pageful()); return nil }, nil).at(both...),
		key("home g", "", "", "", "").does(scroll(-1<<30), nil).at(both...),
		key("end G", "", "", "", "").does(scroll(1<<30), nil).at(both...),
		key("r", "r", "reload", "", "").does(func(m *model) tea.Cmd { return m.reading.load(m) }, always).at(pageText),
		key("esc v q", "Esc", "back", "", "").does((*model).back, always).at(pageText),
		key("esc ? q", "Esc", "back", "", "").does((*model).back, always).at(pageHelp),
	}
}
