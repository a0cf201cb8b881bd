package tui

import (
	"slices"
	"strings"

	tea "charm.land/bubbletea/v2"

	"orange/internal/core/engine"
	"orange/internal/core/explain"
	"orange/internal/core/workflow"
	"orange/internal/view/overview"
)

// hint is a key and a word for what it does.
type hint struct{ key, word string }

// action is what a key does. The footer, the help and the key handling use the same table.
type action struct {
	hint
	keys  []string // as the terminal names them
	group string   // of the help
	help  string
	pages []page // where it is available, nil for the list and the inbox
	task  bool   // it needs a task
	reads bool   // it changes nothing
	fixed bool   // the footer always shows it
	// offer reports whether the footer shows it for a task, which is nil if there is none; nil means never.
	offer func(*model, *overview.Row) bool
	run   func(*model, *overview.Row) tea.Cmd
	// bulk returns what it does with several selected tasks; nil if it is for one task.
	bulk func([]overview.Row) bulkKind
}

// Groups of the help, in order.
const (
	groupTask  = "The task"
	groupList  = "The list"
	groupInbox = "The inbox"
	groupBoard = "The board"
	groupPane  = "The detail pane"
	groupOther = "Everywhere"
)

func (a *action) isOnPage(p page) bool {
	if a.pages == nil {
		return p == pageList || p == pageInbox
	}
	return slices.Contains(a.pages, p)
}

// runKey runs the action of a key on this page.
func (m *model) runKey(key string) tea.Cmd {
	for _, a := range allActions() {
		if !a.isOnPage(m.page) || !slices.Contains(a.keys, key) {
			continue
		}
		if cmd, done := m.runKeyOnMarks(&a); done {
			return cmd
		}
		r := m.selectedRow()
		if a.task && r == nil && a.keys[0] == "enter" && m.page == pageList && m.chosenGroup != "" {
			return m.setFolded(false)
		}
		if items := m.inbox.listedItems(m); a.task && r == nil && m.page == pageInbox && m.inbox.at < len(items) && (a.keys[0] == "enter" || key == "P") {
			switch it := items[m.inbox.at]; it.Kind { // of no task
			case explain.ItemPaused:
				return m.togglePauseAll()
			case explain.ItemGit:
				m.showNote("look at it, then run %s", it.Do)
				return nil
			case explain.ItemPool:
				m.showNote("add a workspace with %s", it.Do)
				return nil
			case explain.ItemHeld:
				resume, _ := holdLandingCommand(false)(m, it.Project) // the project is one of the list
				return resume
			}
		}
		if a.task && r == nil {
			m.showNote("no task is selected: press c to create one")
			return nil
		}
		return a.run(m, r)
	}
	return nil
}

// footerHints returns what the footer shows now, most helpful first, and what it always shows.
func (m *model) footerHints() (some, fixed []hint) {
	if m.dialog != nil {
		return m.dialog.keyHints(), nil
	}
	if m.input != nil {
		return m.inputHints(), nil
	}
	if m.page == pageList && len(m.marks) > 0 {
		return []hint{{"Enter", "what to do with them"}, {"Space", "select"}, {"*", "all"}, {"m", "merge"}, {"P", "pause"}, {"x", "cancel"}, {"Esc", "take back"}}, nil
	}
	r := m.selectedRow()
	for _, a := range allActions() {
		if !a.isOnPage(m.page) || a.offer == nil || a.task && (r == nil || !a.offer(m, r)) {
			continue
		}
		h := a.hint
		switch {
		case a.keys[0] == "enter" && m.page != pageBoard:
			h.word = m.enterWord(r)
			some = slices.DeleteFunc(some, func(other hint) bool { return other.word == h.word })
		case a.keys[0] == "e" && r != nil && r.Wants == explain.ItemPermission:
			h.word = "allow or deny"
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
	case waitsForCard(r):
		return "tag the card"
	case r.Life == overview.Alive:
		return "attach"
	case r.Kind == workflow.Queued:
		return "start"
	case r.Kind == workflow.CheckDo:
		return "check again"
	case r.Wants == explain.ItemStopped:
		return "start agent"
	}
	return "respawn"
}

func alwaysOffered(*model, *overview.Row) bool { return true }

func hasBacklog(m *model, _ *overview.Row) bool {
	_, backlog := explain.CountInbox(m.inbox.allItems(m))
	return backlog > 0
}

func canEnter(m *model, r *overview.Row) bool {
	return m.page == pageInbox || waitsForCard(r) || r.Life != overview.None || r.Kind == workflow.Queued || r.Kind == workflow.Agent
}

// mayRequest returns a function that reports whether a person may request a verb of a task.
func mayRequest(verb string) func(*model, *overview.Row) bool {
	return func(_ *model, r *overview.Row) bool { return r.May(verb) }
}

// needsAnswer reports whether an answer helps a task most, here or at its agent's terminal.
func needsAnswer(_ *model, r *overview.Row) bool {
	return r.Verb == engine.VerbAnswer || r.Verb == explain.VerbAttach
}

func waitsFor(kinds ...explain.ItemKind) func(*model, *overview.Row) bool {
	return func(_ *model, r *overview.Row) bool { return r.WaitsFor(kinds...) }
}

// newAction returns an action with the common fields set.
func newAction(names, shown, word, group, help string) action {
	return action{keys: strings.Fields(names), hint: hint{shown, word}, group: group, help: help}
}

func (a action) alwaysShown() action { a.fixed = true; return a }

func (a action) readOnly() action { a.reads = true; return a }

// inBulk makes an action one that is also done with several tasks.
func (a action) inBulk(kind func([]overview.Row) bulkKind) action { a.bulk = kind; return a }

func (a action) onPages(pages ...page) action { a.pages = pages; return a }

func (a action) forTask(run func(*model, *overview.Row) tea.Cmd, offer func(*model, *overview.Row) bool) action {
	a.task, a.run, a.offer = true, run, offer
	return a
}

func (a action) withRun(run func(*model) tea.Cmd, offer func(*model, *overview.Row) bool) action {
	a.run, a.offer = func(m *model, _ *overview.Row) tea.Cmd { return run(m) }, offer
	return a
}

// allActions returns all keys, those of a task first, most helpful first.
func allActions() []action {
	return slices.Concat(taskActions(), listActions(), boardActions(), paneActions(), readingActions())
}

func taskActions() []action {
	review := func(_ *model, r *overview.Row) bool { return r.Kind == workflow.HumanDo }
	over := func(_ *model, r *overview.Row) bool { return r.Kind == workflow.Terminal }
	held := func(_ *model, r *overview.Row) bool { return isHeld(r) }
	always := func(name string) func([]overview.Row) bulkKind {
		return func([]overview.Row) bulkKind { return bulkNamed(name) }
	}
	pauseOrResume := func(rows []overview.Row) bulkKind {
		if slices.ContainsFunc(rows, func(r overview.Row) bool { return !isHeld(&r) }) {
			return bulkNamed("pause")
		}
		return bulkNamed("resume")
	}
	return []action{
		newAction("e", "e", "answer", groupTask, "answer what its agent asks: with one of its options, with words, or allow and deny").forTask((*model).answerAgent, needsAnswer),
		newAction("a", "a", "approve", groupTask, "approve the move that its agent asks for").forTask((*model).approveMove, waitsFor(explain.ItemConfirm)),
		newAction("P", "P", "resume", groupTask, "pause it, or let it go on").forTask((*model).togglePause, held).inBulk(pauseOrResume),
		newAction("enter w", "Enter", "", groupTask, "or w: start it, go to its agent's terminal (Ctrl-Q comes back), or start the agent again").forTask((*model).enterTask, canEnter),
		newAction("m", "m", "merge", groupTask, "merge its branch, after a question").forTask((*model).mergeTask, review).inBulk(always("merge")),
		newAction("r", "r", "request changes", groupTask, "send it back, with words").forTask((*model).requestChanges, mayRequest("request-changes")),
		newAction("t", "t", "tell", groupTask, "send a message to its living agent").forTask((*model).sendMessage, nil),
		newAction("E", "E", "edit", groupTask, "change its title and its requirements").forTask((*model).openEditForm, nil),
		newAction("F", "F", "replace", groupTask, "end its agent, such as one that hangs, and start another").forTask((*model).replaceAgent, nil),
		newAction("X", "X", "stop agent", groupTask, "stop its agent, and keep the task").forTask((*model).stopAgent, nil),
		newAction("C", "C", "check", groupTask, "run its checks again, or one of them").forTask((*model).runChecks, func(_ *model, r *overview.Row) bool { return r.MayCheck() }),
		newAction("v", "v", "view", groupTask, "read TASK.md").forTask((*model).openText, alwaysOffered).readOnly(),
		newAction("p", "p", "PR", groupTask, "create a pull request, after a question, or copy the address of the one that it has").forTask((*model).openPullRequest, func(m *model, r *overview.Row) bool { return r.PR != nil || review(m, r) }),
		newAction("u", "u", "move", groupTask, "next steps: move it to another state").forTask((*model).chooseMove, nil),
		newAction("x", "x", "cancel", groupTask, "cancel it: it ends without a result").forTask((*model).cancelTask, mayRequest("cancel")).inBulk(always("cancel")),
		newAction("d", "d", "delete", groupTask, "remove a closed task from the lists").forTask((*model).deleteTask, over),
		newAction("y", "y", "copy id", groupTask, "copy its id").forTask((*model).copyID, nil).readOnly(),
	}
}

func listActions() []action {
	scopes := []overview.Scope{overview.Active, overview.Done, overview.All}
	var kinds []overview.Grouping
	for _, g := range groupings {
		kinds = append(kinds, g.by)
	}
	sift := func(change func(*overview.Choice)) func(*model) tea.Cmd {
		return func(m *model) tea.Cmd { return m.applyFilter(change) }
	}
	return []action{
		newAction("c", "c", "create", groupOther, "create a task").withRun((*model).openCreateForm, alwaysOffered),
		newAction("i", "i", "inbox", groupOther, "what waits for you; again: back to the list").withRun((*model).toggleInbox, alwaysOffered).alwaysShown(),
		newAction("space", "Space", "select", groupList, "select it for an action on several tasks, or take it out").forTask((*model).toggleMark, nil).onPages(pageList).readOnly(),
		newAction("*", "*", "select all", groupList, "select all tasks of the list, or none").withRun((*model).toggleAllMarks, nil).onPages(pageList),
		newAction("b", "b", "board", groupList, "the board of the project").withRun((*model).toggleBoard, alwaysOffered).onPages(pageList),
		newAction("f", "f", "open/closed", groupList, "open tasks, closed ones, or all").withRun(sift(func(c *overview.Choice) { c.Scope = nextValue(scopes, c.Scope) }), alwaysOffered).onPages(pageList),
		newAction("f", "f", "kind", groupInbox, "one kind of items after the other, then all").withRun((*model).showNextKind, alwaysOffered).onPages(pageInbox),
		newAction("g", "g", "group", groupInbox, "items of one kind together, or by age").withRun((*model).toggleGroups, nil).onPages(pageInbox),
		newAction("b", "b", "backlog", groupInbox, "show the tasks that were not started, or put them away").withRun((*model).toggleBacklog, hasBacklog).onPages(pageInbox),
		newAction("/", "/", "search", groupList, "only tasks with these words, or that match a filter, see below").withRun((*model).startFinding, alwaysOffered).onPages(pageList),
		newAction("s", "s", "sort", groupList, "sort by creation, activity, status, project, cost or waiting").withRun(sift(func(c *overview.Choice) { c.Sort = nextValue(overview.AllOrders(), c.Sort) }), nil).onPages(pageList),
		newAction("S", "S", "reverse", groupList, "the other way round").withRun(sift(func(c *overview.Choice) { c.Reverse = !c.Reverse }), nil).onPages(pageList),
		newAction("g", "g", "group", groupList, "groups by who must act, by state, by project, or none").withRun(sift(func(c *overview.Choice) { c.Group = nextValue(kinds, c.Group) }), nil).onPages(pageList),
		newAction("left h", "←/h", "fold", groupList, "fold the group").withRun(func(m *model) tea.Cmd { return m.setFolded(true) }, nil).onPages(pageList),
		newAction("right l", "→/l", "unfold", groupList, "unfold it, as Enter does").withRun(func(m *model) tea.Cmd { return m.setFolded(false) }, nil).onPages(pageList),
		{keys: []string{"A"}, hint: hint{"A", "projects"}, group: groupList, help: "one project, or all", pages: []page{pageList}, run: (*model).toggleProject},
		newAction("j down", "j/↓", "", groupList, "down; with the detail pane in front, scroll").withRun(func(m *model) tea.Cmd { return m.moveVertical(1) }, nil),
		newAction("k up", "k/↑", "", groupList, "up").withRun(func(m *model) tea.Cmd { return m.moveVertical(-1) }, nil),
		newAction("pgdown ctrl+d ctrl+f", "PgDn", "", groupList, "a page down").withRun(func(m *model) tea.Cmd { return m.moveVertical(m.pageHeight()) }, nil),
		newAction("pgup ctrl+u ctrl+b", "PgUp", "", groupList, "a page up").withRun(func(m *model) tea.Cmd { return m.moveVertical(-m.pageHeight()) }, nil),
		newAction("home", "Home", "", groupList, "to the beginning").withRun(func(m *model) tea.Cmd { return m.moveVertical(-1 << 30) }, nil),
		newAction("end G", "End", "", groupList, "to the end").withRun(func(m *model) tea.Cmd { return m.moveVertical(1 << 30) }, nil),
		newAction("R", "R", "refresh PRs", groupOther, "read the pull requests now").withRun((*model).refreshPullRequests, nil),
		newAction("ctrl+p", "Ctrl+P", "pause all", groupOther, "pause everything, or let it go on").withRun((*model).togglePauseAll, nil),
		newAction(":", ":", "command", groupOther, "a command, see below").withRun((*model).startCommand, alwaysOffered).onPages(pageList, pageInbox, pageBoard).alwaysShown(),
		newAction("?", "?", "help", groupOther, "this page").withRun((*model).showHelp, alwaysOffered).onPages(pageList, pageInbox, pageText, pageBoard).alwaysShown(),
		newAction("esc", "Esc", "back", groupOther, "back").withRun((*model).goBack, nil).onPages(pageList, pageInbox, pageBoard),
		newAction("q", "q", "quit", groupOther, "leave").withRun((*model).leaveOrQuit, alwaysOffered).onPages(pageList, pageInbox, pageBoard).alwaysShown(),
	}
}

func boardActions() []action {
	on := func(names, shown, word, help string, run func(*model) tea.Cmd, offer func(*model, *overview.Row) bool) action {
		return newAction(names, shown, word, groupBoard, help).withRun(run, offer).onPages(pageBoard)
	}
	move := func(columns, cards int) func(*model) tea.Cmd {
		return func(m *model) tea.Cmd { return m.moveOnBoard(columns, cards) }
	}
	scroll := func(by int) func(*model) tea.Cmd {
		return func(m *model) tea.Cmd { m.board.scroll = max(0, m.board.scroll+by); return nil }
	}
	return []action{
		on("t", "t", "tag", "set or remove a tag of the card", (*model).chooseTags, alwaysOffered),
		on("u", "u", "move", "move the card to another column", withCard(chooseColumn), alwaysOffered),
		on("e", "e", "comment", "comment on the card", withCard(commentOnCard), alwaysOffered),
		on("enter w", "Enter", "task", "go to the task of the card", withCard(openTaskOfCard), alwaysOffered),
		on("c", "c", "new card", "add a card, with or without a task", (*model).openCardForm, alwaysOffered),
		on("i", "i", "inbox", "what waits for you", (*model).toggleInbox, nil),
		on("A", "A", "project", "the board of the next project", (*model).nextBoard, alwaysOffered),
		on("r", "r", "reload", "read the board again", (*model).readBoard, nil),
		on("left h", "←/h", "", "the column to the left", move(-1, 0), nil),
		on("right l", "→/l", "", "the column to the right", move(1, 0), nil),
		on("j down", "j/↓", "", "the next card", move(0, 1), nil),
		on("k up", "k/↑", "", "the card before", move(0, -1), nil),
		on("home g", "Home", "", "the first card of the column", move(0, -1<<30), nil),
		on("end G", "End", "", "the last card", move(0, 1<<30), nil),
		on("pgdown space", "PgDn", "", "scroll the text of the card", scroll(5), nil),
		on("pgup", "PgUp", "", "scroll it back", scroll(-5), nil),
		on("b", "b", "list", "back to the list", (*model).goBack, alwaysOffered),
	}
}

func paneActions() []action {
	out := []action{
		newAction("tab", "Tab", "", groupPane, "give the keys to the pane, and back to the list").withRun((*model).toggleFocus, nil).onPages(pageList),
		newAction("]", "]", "next tab", groupPane, "the next tab").withRun(func(m *model) tea.Cmd { return m.showTab(m.detail.tab + 1) }, nil).onPages(pageList),
		newAction("[", "[", "last tab", groupPane, "the tab before").withRun(func(m *model) tea.Cmd { return m.showTab(m.detail.tab - 1) }, nil).onPages(pageList),
		newAction(".", ".", "next log", groupPane, "the log of the next attempt, also of one that has ended").withRun(func(m *model) tea.Cmd { return m.showAttempt(1) }, nil).onPages(pageList),
		newAction(",", ",", "last log", groupPane, "the log of the attempt before").withRun(func(m *model) tea.Cmd { return m.showAttempt(-1) }, nil).onPages(pageList),
		newAction("z", "z", "hide", groupPane, "put the pane away, or bring it back").withRun((*model).toggleHidden, nil).onPages(pageList),
		newAction("+ >", "+", "", groupPane, "a longer list").withRun(func(m *model) tea.Cmd { return m.resizeList(5) }, nil).onPages(pageList),
		newAction("- <", "-", "", groupPane, "a shorter list").withRun(func(m *model) tea.Cmd { return m.resizeList(-5) }, nil).onPages(pageList),
	}
	for t := range tabs {
		name := string(rune('1' + t))
		out = append(out, newAction(name, name, t.String(), groupPane, t.String()).withRun(func(m *model) tea.Cmd { return m.showTab(t) }, nil).onPages(pageList))
	}
	return out
}

func readingActions() []action {
	scroll := func(by int) func(*model) tea.Cmd {
		return func(m *model) tea.Cmd { m.scrollPage(by); return nil }
	}
	both := []page{pageText, pageHelp}
	return []action{
		newAction("j down", "j/k", "scroll", "", "").withRun(scroll(1), alwaysOffered).onPages(both...),
		newAction("k up", "", "", "", "").withRun(scroll(-1), nil).onPages(both...),
		newAction("pgdown ctrl+d space", "", "", "", "").withRun(func(m *model) tea.Cmd { m.scrollPage(m.pageHeight()); return nil }, nil).onPages(both...),
		newAction("pgup ctrl+u", "", "", "", "").withRun(func(m *model) tea.Cmd { m.scrollPage(-m.pageHeight()); return nil }, nil).onPages(both...),
		newAction("home g", "", "", "", "").withRun(scroll(-1<<30), nil).onPages(both...),
		newAction("end G", "", "", "", "").withRun(scroll(1<<30), nil).onPages(both...),
		newAction("r", "r", "reload", "", "").withRun(func(m *model) tea.Cmd { return m.reading.loadBody(m) }, alwaysOffered).onPages(pageText),
		newAction("esc v q", "Esc", "back", "", "").withRun((*model).goBack, alwaysOffered).onPages(pageText),
		newAction("esc ? q", "Esc", "back", "", "").withRun((*model).goBack, alwaysOffered).onPages(pageHelp),
	}
}
