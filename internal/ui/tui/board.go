package tui

import (
	"context"
	"fmt"
	"slices"
	"strings"

	tea "charm.land/bubbletea/v2"

	"orange/internal/core/board"
	"orange/internal/core/explain"
	"orange/internal/core/task"
	"orange/internal/core/workflow"
	"orange/internal/ui/client"
	"orange/internal/view/overview"
	"orange/internal/wire"
)

// boardView is the page of a project's board.
type boardView struct {
	project    string
	generation int // of the project; older responses are ignored
	ready      bool
	err        error
	data       wire.Board
	waiting    bool // a read is due soon

	columns []boardColumn
	column  int // under the cursor
	number  int // of the card under the cursor, 0 for none
	left    int // first column that is shown

	card    cardDetails
	scroll  int // first line of the card that is shown
	tagging int // number of the card whose tags are offered as soon as it is read, 0 for none
}

// boardColumn is a column with its cards.
type boardColumn struct {
	name  string
	cards []board.Card
	top   int // first card that is shown
}

// cardDetails is what was read of one card.
type cardDetails struct {
	number int
	data   wire.CardDetails
	people []string // tags that only people set, in the workflow of its task
	err    error
}

type (
	boardMsg struct {
		generation int
		data       wire.Board
		err        error
	}
	cardMsg struct {
		generation int
		card       cardDetails
	}
	boardDueMsg struct{ generation int }
)

// openBoard shows the board of a project, with the cursor on a card if number is not 0.
func (m *model) openBoard(project string, number int) tea.Cmd {
	b := &m.board
	if b.project != project {
		*b = boardView{project: project, generation: b.generation + 1}
	}
	if number != 0 {
		b.number = number
	}
	return tea.Batch(m.showPage(pageBoard), m.readBoard())
}

// toggleBoard shows the board of the project in sight.
func (m *model) toggleBoard() tea.Cmd {
	project, err := m.projectNamed("")
	if err != nil {
		c := &chooser{head: "The board of which project?"}
		for _, name := range projectNames(m) {
			c.addChoice(name, func(m *model) tea.Cmd { return m.openBoard(name, 0) })
		}
		if len(c.do) == 0 {
			m.showNote("no projects yet: go to a repository and say orange project add")
			return nil
		}
		m.dialog = c
		return nil
	}
	return m.openBoard(project, 0)
}

// nextBoard shows the board of the next project.
func (m *model) nextBoard() tea.Cmd {
	names := projectNames(m)
	if len(names) < 2 {
		m.showNote("there is no other project")
		return nil
	}
	return m.openBoard(nextValue(names, m.board.project), 0)
}

// openCard shows the card of a task, and offers its tags.
func (m *model) openCard(r *overview.Row) tea.Cmd {
	project, number, ok := board.ParsePath(r.Action.Card)
	if !ok {
		m.showNote("the card is in another tracker: %s", r.Do)
		return nil
	}
	cmd := m.openBoard(project, number)
	m.board.tagging = number
	return cmd
}

// readBoard reads the board and the card under the cursor.
func (m *model) readBoard() tea.Cmd {
	ctx, api, generation, project := m.ctx, m.API, m.board.generation, m.board.project
	return tea.Batch(func() tea.Msg {
		data, err := api.ReadBoard(ctx, project)
		return boardMsg{generation, data, err}
	}, m.readCard())
}

// followBoard reads the board again soon after a change that may be about it: of a task that works on one of its cards,
// or of no task.
func (m *model) followBoard(c *overview.Change) tea.Cmd {
	ours := board.Ref(m.board.project, 0)
	ours = ours[:len(ours)-1] // without the number
	about := len(c.Tasks) == 0 || slices.ContainsFunc(c.Tasks, func(r overview.Row) bool { return strings.HasPrefix(r.Tracker, ours) })
	if m.page != pageBoard || m.board.waiting || !about {
		return nil
	}
	m.board.waiting = true
	return m.tick(rereadDelay, boardDueMsg{m.board.generation})
}

// readCard reads the card under the cursor.
func (m *model) readCard() tea.Cmd {
	b := &m.board
	if b.number == 0 {
		return nil
	}
	hash := ""
	if r := m.rowOfCard(b.project, b.number); r != nil {
		hash = r.WorkflowHash
	}
	ctx, api, generation, project, number := m.ctx, m.API, b.generation, b.project, b.number
	return func() tea.Msg { return cardMsg{generation, loadCard(ctx, api, project, number, hash)} }
}

// loadCard reads a card and, if its task has a workflow, which of its tags only people set.
func loadCard(ctx context.Context, api API, project string, number int, hash string) cardDetails {
	out := cardDetails{number: number}
	if out.data, out.err = api.ReadCard(ctx, project, number); out.err != nil || hash == "" {
		return out
	}
	text, err := api.ReadWorkflow(ctx, hash)
	if err != nil {
		return out // without a workflow all tags are alike
	}
	def, err := workflow.Parse(text.File, text.Text)
	if err != nil || def.Board == nil {
		return out
	}
	for i := range def.Board.Tags {
		if name := def.Board.Tags[i].Name; def.SetByPeople(name) {
			out.people = append(out.people, name)
		}
	}
	return out
}

func (m *model) applyBoard(msg tea.Msg) tea.Cmd {
	b := &m.board
	switch msg := msg.(type) {
	case boardDueMsg:
		b.waiting = false
		if msg.generation == b.generation && m.page == pageBoard {
			return m.readBoard()
		}
	case boardMsg:
		if msg.generation != b.generation {
			return nil
		}
		b.ready, b.err = true, msg.err
		if msg.err == nil {
			b.data = msg.data
			b.arrangeCards()
			if b.card.number != b.number {
				return m.readCard()
			}
		}
	case cardMsg:
		if msg.generation != b.generation || msg.card.number != b.number {
			return nil
		}
		if b.card.number != msg.card.number {
			b.scroll = 0
		}
		b.card = msg.card
		if b.tagging == b.number && m.page == pageBoard && m.dialog == nil && b.card.err == nil {
			b.tagging = 0
			return m.chooseTags()
		}
	}
	return nil
}

// arrangeCards puts the cards into their columns, and keeps the cursor on its card.
func (b *boardView) arrangeCards() {
	tops := map[string]int{}
	for _, c := range b.columns {
		tops[c.name] = c.top
	}
	b.columns = nil
	find := func(name string) *boardColumn {
		at := slices.IndexFunc(b.columns, func(c boardColumn) bool { return c.name == name })
		if at < 0 {
			at = len(b.columns)
			b.columns = append(b.columns, boardColumn{name: name, top: tops[name]})
		}
		return &b.columns[at]
	}
	for _, name := range b.data.Columns {
		find(name)
	}
	for _, card := range b.data.Cards {
		c := find(card.Column)
		c.cards = append(c.cards, card)
	}
	if at := b.columnOf(b.number); at >= 0 {
		b.column = at
		return
	}
	b.moveToColumn(b.column)
	if b.number == 0 { // an empty column: go to the first one that has cards
		b.moveToColumn(max(0, slices.IndexFunc(b.columns, func(c boardColumn) bool { return len(c.cards) > 0 })))
	}
}

// columnOf returns the column of a card, or -1.
func (b *boardView) columnOf(number int) int {
	return slices.IndexFunc(b.columns, func(c boardColumn) bool { return c.indexOf(number) >= 0 })
}

func (c *boardColumn) indexOf(number int) int {
	return slices.IndexFunc(c.cards, func(card board.Card) bool { return card.Number == number })
}

// moveToColumn moves the cursor to a column, at the same height if possible.
func (b *boardView) moveToColumn(to int) {
	height := 0
	if b.column < len(b.columns) {
		height = max(0, b.columns[b.column].indexOf(b.number))
	}
	b.column, b.number = max(0, min(to, len(b.columns)-1)), 0
	if b.column < len(b.columns) {
		if cards := b.columns[b.column].cards; len(cards) > 0 {
			b.number = cards[min(height, len(cards)-1)].Number
		}
	}
}

// moveOnBoard moves the cursor by columns and cards.
func (m *model) moveOnBoard(columns, cards int) tea.Cmd {
	b := &m.board
	if columns != 0 {
		b.moveToColumn(b.column + columns)
	}
	if b.column < len(b.columns) && cards != 0 {
		if list := b.columns[b.column].cards; len(list) > 0 {
			at := max(0, min(b.columns[b.column].indexOf(b.number)+cards, len(list)-1))
			b.number = list[at].Number
		}
	}
	return m.readCard()
}

// selectedCard returns the card under the cursor, or nil.
func (b *boardView) selectedCard() *board.Card {
	if b.column >= len(b.columns) {
		return nil
	}
	c := &b.columns[b.column]
	if at := c.indexOf(b.number); at >= 0 {
		return &c.cards[at]
	}
	return nil
}

// selectedRow returns the task of the card under the cursor, or nil.
func (b *boardView) selectedRow(m *model) *overview.Row {
	r := m.rowOfCard(b.project, b.number)
	if r == nil {
		return nil
	}
	own := *r // the state is changed in place
	return &own
}

// rowOfCard returns the task that works on a card, or nil: the one that is open, or else the newest.
func (m *model) rowOfCard(project string, number int) *overview.Row {
	var found *overview.Row
	ref := board.Ref(project, number)
	for i := range m.state.Tasks {
		if r := &m.state.Tasks[i]; r.Tracker == ref && (found == nil || r.Kind != workflow.Terminal || found.Kind == workflow.Terminal) {
			found = r
		}
	}
	return found
}

// withCard runs an action on the card under the cursor.
func withCard(do func(*model, *board.Card) tea.Cmd) func(*model) tea.Cmd {
	return func(m *model) tea.Cmd {
		card := m.board.selectedCard()
		if card == nil {
			m.showNote("no card is selected: press c to add one")
			return nil
		}
		return do(m, card)
	}
}

// openTaskOfCard goes to the task of a card.
func openTaskOfCard(m *model, card *board.Card) tea.Cmd {
	r := m.rowOfCard(card.Project, card.Number)
	if r == nil {
		m.showNote("card %d has no task", card.Number)
		return nil
	}
	m.page = pageList
	m.revealTask(r.ID)
	return m.showPage(pageList)
}

// revealTask moves the cursor of the list to a task, and shows more tasks if it is not listed.
func (m *model) revealTask(id task.ID) {
	if m.moveToTask(id) {
		return
	}
	m.choice.Filter, m.choice.Project, m.choice.Scope = overview.Filter{}, "", overview.All
	clear(m.folded)
	m.chooseLines()
	m.measureColumns()
	m.moveToTask(id)
}

// chooseTags offers the tags of the card under the cursor: first what lets its task continue, then those that only people
// set, then the others.
func (m *model) chooseTags() tea.Cmd {
	card := m.board.selectedCard()
	if card == nil {
		m.showNote("no card is selected: press c to add one")
		return nil
	}
	c := &chooser{head: fmt.Sprintf("Tags of card %d", card.Number)}
	used := map[string]bool{}
	add := func(tags, untags []string, why string) {
		change := board.Change{AddTags: tags, RemoveTags: untags}
		text := "[ ] " + strings.Join(tags, " and ")
		if len(tags) == 0 {
			text = "[x] " + strings.Join(untags, " and ")
		}
		if why != "" {
			text += "  " + why
		}
		c.addChoice(text, func(m *model) tea.Cmd { return m.changeCard(card, change) })
		for _, tag := range append(tags, untags...) {
			used[tag] = true
		}
	}
	if r := m.rowOfCard(card.Project, card.Number); r != nil && r.Action.Verb == explain.VerbTagCard {
		add(r.Action.Tags, r.Action.Untags, "lets its task continue")
	}
	for _, from := range []struct {
		tags []string
		why  string
	}{{m.board.card.people, "set by people"}, {m.board.data.Tags, ""}, {card.Tags, ""}} {
		for _, tag := range from.tags {
			switch {
			case used[tag]:
			case slices.Contains(card.Tags, tag):
				add(nil, []string{tag}, from.why)
			default:
				add([]string{tag}, nil, from.why)
			}
		}
	}
	if len(c.do) == 0 {
		m.showNote("the board of %s has no tags", m.board.project)
		return nil
	}
	m.dialog = c
	return nil
}

// chooseColumn offers the columns that a card can be moved to.
func chooseColumn(m *model, card *board.Card) tea.Cmd {
	c := &chooser{head: fmt.Sprintf("Move card %d from %s to", card.Number, plainLine(card.Column))}
	for _, column := range m.board.data.Columns {
		if column != card.Column {
			c.addChoice(column, func(m *model) tea.Cmd { return m.changeCard(card, board.Change{Column: column}) })
		}
	}
	if len(c.do) == 0 {
		m.showNote("the board has no other column")
		return nil
	}
	m.dialog = c
	return nil
}

// cardID identifies requests about a card.
func cardID(project string, number int) task.ID { return task.ID(board.Ref(project, number)) }

// changeCard changes a card on behalf of a person.
func (m *model) changeCard(card *board.Card, change board.Change) tea.Cmd {
	return m.sendRequest(cardID(card.Project, card.Number), fmt.Sprintf("the change of card %d", card.Number), m.cardRequest(card, change, ""))
}

// cardRequest returns a request that changes a card and describes the result.
func (m *model) cardRequest(card *board.Card, change board.Change, code string) func(context.Context) (string, error) {
	api, project, number := m.API, card.Project, card.Number
	return func(ctx context.Context) (string, error) {
		done, err := api.ChangeCard(ctx, project, number, change, code)
		switch {
		case client.NeedsCode(err):
			return "", &codeWanted{id: cardID(project, number), about: fmt.Sprintf("card %d", number), why: err, again: func(code string) func(context.Context) (string, error) {
				return m.cardRequest(card, change, code)
			}}
		case err != nil:
			return "", err
		}
		return describeCardChange(&done, change), nil
	}
}

func describeCardChange(done *wire.ChangedCard, change board.Change) string {
	text := fmt.Sprintf("card %d is in %s", done.Card.Number, done.Card.Column)
	switch {
	case len(change.AddTags)+len(change.RemoveTags) > 0 && len(done.Card.Tags) == 0:
		text = fmt.Sprintf("card %d has no tags", done.Card.Number)
	case len(change.AddTags)+len(change.RemoveTags) > 0:
		text = fmt.Sprintf("card %d has %s", done.Card.Number, strings.Join(done.Card.Tags, ", "))
	case change.Comment != "":
		return fmt.Sprintf("card %d has your comment", done.Card.Number)
	}
	if !done.Changed {
		text += ", as before"
	}
	return text
}

// commentOnCard asks for a comment.
func commentOnCard(m *model, card *board.Card) tea.Cmd {
	m.openTextPrompt(draft{"comment", cardID(card.Project, card.Number)}, fmt.Sprintf("Your comment on card %d: %s", card.Number, plainLine(card.Title)), func(m *model, p *prompt, text string) tea.Cmd {
		return m.sendRequestFrom(p, p.draft.task, fmt.Sprintf("the comment on card %d", card.Number), m.cardRequest(card, board.Change{Comment: text}, ""))
	})
	return nil
}
