package tui

import (
	"context"
	"fmt"

	tea "charm.land/bubbletea/v2"

	"orange/internal/wire"
)

// cardForm is the form for a new card.
type cardForm struct {
	entries
	project string
}

// Values of the form.
const (
	cardTitle = iota
	cardDescription
	cardColumn
	cardTask
)

// openCardForm opens the form for a new card, with its earlier content if it was left.
func (m *model) openCardForm() tea.Cmd {
	if f := m.leftCards[m.board.project]; f != nil {
		m.dialog = f
		return nil
	}
	columns := m.board.data.Columns
	first := ""
	if len(columns) > 0 {
		first = columns[0]
	}
	m.dialog = &cardForm{project: m.board.project, entries: entries{list: []entry{
		{name: "Title", hint: "what is to be done"},
		{name: "Description", hint: "more about it, in as many lines as it needs", text: newField("", true)},
		{name: "Column", choices: columns, text: newField(first, false)},
		{name: "Task", toggle: true, on: true, yes: "create a task that works on it", no: "only put the card on the board"},
	}}}
	return nil
}

func (f *cardForm) handleKey(m *model, k tea.KeyPressMsg) tea.Cmd {
	return f.handleFormKey(m, k, f.keepDraft, f.submitCard)
}

// keepDraft closes the form, and keeps what was typed.
func (f *cardForm) keepDraft(m *model) {
	m.dialog, f.why = nil, ""
	delete(m.leftCards, f.project)
	if f.value(cardTitle) == "" && f.value(cardDescription) == "" {
		m.showNote("no card was added")
		return
	}
	m.leftCards[f.project] = f
	m.showNote("no card was added; " + keptText)
}

// submitCard requests the card. The server checks it.
func (f *cardForm) submitCard(m *model) tea.Cmd {
	n := wire.NewCard{Title: f.value(cardTitle), Description: f.value(cardDescription), Column: f.value(cardColumn), NoTask: !f.list[cardTask].on}
	if n.Title == "" {
		f.why, f.at = "give a title", cardTitle
		return nil
	}
	api, project := m.API, f.project
	cmd := m.sendRequestFrom(f, cardID(project, 0), "the new card", func(ctx context.Context) (string, error) {
		added, err := api.AddCard(ctx, project, n)
		if err != nil {
			return "", err
		}
		text := fmt.Sprintf("added card %d", added.Card.Number)
		switch {
		case added.Warning != "":
			text += "; " + added.Warning
		case added.Task != "":
			text += " and created a task for it"
		}
		return text, nil
	})
	f.sending, f.why = cmd != nil, ""
	if cmd == nil {
		f.why = m.note.text
	}
	return cmd
}

func (f *cardForm) boxTitle() string { return "A new card of " + f.project }

func (f *cardForm) keyHints() []hint { return f.editHints("add") }
