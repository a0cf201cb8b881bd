package tui

import (
	"context"
	"fmt"
	"strings"

	tea "charm.land/bubbletea/v2"

	"orange/internal/core/engine"
	"orange/internal/core/signal"
	"orange/internal/core/task"
	"orange/internal/core/workflow"
	"orange/internal/ui/tui/render"
	"orange/internal/view/humanize"
	"orange/internal/view/overview"
)

// bulkKind is something that can be done with several tasks.
type bulkKind struct {
	name    string // of the command
	title   string
	noun    string                     // for a request in progress
	confirm bool                       // it asks first, and lists what will happen
	unfit   func(*overview.Row) string // why it cannot be done with a task, "" if it can
	effect  func(*overview.Row) string // what will happen, if it asks
	signal  signal.Signal
}

// bulkKinds lists what can be done with several tasks.
func bulkKinds() []bulkKind {
	open := func(r *overview.Row) string {
		if r.Kind == workflow.Terminal {
			return "it is closed"
		}
		return ""
	}
	return []bulkKind{
		{name: "start", title: "Start", noun: "the start of", signal: signal.Signal{Kind: signal.Ready}, unfit: func(r *overview.Row) string {
			if r.Kind != workflow.Queued {
				return "it was started before"
			}
			return ""
		}},
		{name: "pause", title: "Pause", noun: "the pause of", signal: signal.Signal{Kind: signal.Pause}, unfit: func(r *overview.Row) string {
			if r.Paused {
				return "it is paused already"
			}
			return open(r)
		}},
		{name: "resume", title: "Resume", noun: "the resumption of", signal: signal.Signal{Kind: signal.Resume}, unfit: func(r *overview.Row) string {
			if !isHeld(r) {
				return "it is not paused, and nothing of it was given up"
			}
			return ""
		}},
		{name: "merge", title: "Merge", noun: "the merge of", confirm: true, signal: signal.Signal{Kind: signal.Request, Verb: engine.VerbMerge}, unfit: nothingToMerge, effect: describeMerge},
		{name: "cancel", title: "Cancel", noun: "the end of", confirm: true, signal: signal.Signal{Kind: signal.Request, Verb: "cancel"}, unfit: open, effect: func(r *overview.Row) string {
			text := "its branch stays"
			if r.Life == overview.Alive {
				text += ", its agent ends"
			}
			if r.Workspace != "" {
				text += ", its workspace is given back"
			}
			return text
		}},
	}
}

// bulkNamed returns the kind with a name of the table.
func bulkNamed(name string) bulkKind {
	for _, k := range bulkKinds() {
		if k.name == name {
			return k
		}
	}
	panic("no action on several tasks is called " + name)
}

// describeMerge says what a merge of a task does.
func describeMerge(r *overview.Row) string {
	var text []string
	if r.Work != nil {
		text = append(text, fmt.Sprintf("+%d -%d lines", r.Work.Added, r.Work.Deleted))
	}
	if r.Kind != workflow.HumanDo {
		text = append(text, "nobody has decided that it is good")
	}
	return strings.Join(append(text, "its branch is merged"), ", ")
}

// nothingToMerge says why a task cannot be merged, or "".
func nothingToMerge(r *overview.Row) string {
	if r.Kind == workflow.Terminal || r.Kind == workflow.Queued || r.Kind != workflow.HumanDo && hasNothing(r) {
		return "there is nothing to merge"
	}
	return ""
}

// bulk is an action on several tasks: a question, then its results.
type bulk struct {
	kind    bulkKind
	rows    []overview.Row
	results map[task.ID]bulkResult
	waiting int  // requests without a result
	running bool // the person has confirmed it
	top     int  // first line that is shown
}

type bulkResult struct {
	text string
	bad  bool
}

// startBulk does something with the selected tasks, or with the one under the cursor. It asks first if it must.
func (m *model) startBulk(kind bulkKind) tea.Cmd {
	b := &bulk{kind: kind, rows: m.targetRows(), results: map[task.ID]bulkResult{}}
	if len(b.rows) == 0 {
		m.showNote("no task is selected: press c to create one")
		return nil
	}
	for i := range b.rows {
		if why := kind.unfit(&b.rows[i]); why != "" {
			b.results[b.rows[i].ID] = bulkResult{why, true}
		}
	}
	m.dialog = b
	if kind.confirm && len(b.results) < len(b.rows) {
		return nil
	}
	return b.sendAll(m)
}

// requestsAtOnce is how many requests of one action run at the same time.
const requestsAtOnce = 4

// sendAll sends the requests. The dialog stays open until there are all results.
func (b *bulk) sendAll(m *model) tea.Cmd {
	b.running, b.top = true, 0
	free := make(chan struct{}, requestsAtOnce)
	var cmds []tea.Cmd
	for i := range b.rows {
		r := &b.rows[i]
		if _, known := b.results[r.ID]; known {
			continue
		}
		do := signalRequest(m.API, r, b.kind.signal)
		cmd := m.sendRequestFrom(b, r.ID, b.kind.noun+" "+r.Branch, func(ctx context.Context) (string, error) {
			free <- struct{}{}
			defer func() { <-free }()
			return do(ctx)
		})
		if cmd == nil {
			b.results[r.ID] = bulkResult{m.note.text, true}
			continue
		}
		b.waiting++
		cmds = append(cmds, cmd)
	}
	if b.waiting == 0 {
		b.finish(m)
	}
	return tea.Batch(cmds...)
}

// finishTask records the result of one request.
func (b *bulk) finishTask(m *model, msg doneMsg) {
	b.waiting--
	result := bulkResult{text: plainLine(msg.text)}
	if msg.err != nil {
		result = bulkResult{oneLine(msg.err), true}
	}
	b.results[msg.id] = result
	if b.waiting == 0 {
		b.finish(m)
	}
}

// finish tells the results. What was refused stays selected, with the reason.
func (b *bulk) finish(m *model) {
	refused := 0
	for i := range b.rows {
		id := b.rows[i].ID
		_, marked := m.marks[id]
		switch result := b.results[id]; {
		case result.bad:
			refused++
			if marked || len(b.rows) > 1 {
				m.marks[id] = mark{why: result.text}
			}
		default:
			delete(m.marks, id)
		}
	}
	done := fmt.Sprintf("%s: done for %s", b.kind.name, humanize.Plural(len(b.rows)-refused, "task"))
	only := b.results[b.rows[0].ID]
	switch {
	case len(b.rows) == 1 && refused == 1:
		m.showError("%s: %s", b.rows[0].Branch, only.text)
	case len(b.rows) == 1:
		m.showNote("%s", only.text)
	case refused == 0:
		m.showNote("%s", done)
	default:
		m.showError("%s, refused for %d, which stay selected", done, refused)
	}
	if m.dialog == b && (refused == 0 || len(b.rows) == 1) {
		m.dialog = nil
	}
}

func (b *bulk) handleKey(m *model, k tea.KeyPressMsg) tea.Cmd {
	switch key := k.String(); {
	case key == "j" || key == "down":
		b.top++
	case key == "k" || key == "up":
		b.top = max(0, b.top-1)
	case !b.running && (key == "y" || key == "Y"):
		return b.sendAll(m)
	case !b.running && (key == "n" || key == "N" || key == "esc" || key == "q" || key == "enter"):
		m.dialog = nil
		m.showNote("nothing was changed")
	case b.running && (key == "enter" || key == "esc" || key == "q"):
		m.dialog = nil
	}
	return nil
}

func (b *bulk) pasteText(string)   {}
func (b *bulk) showRefusal(string) {}

func (b *bulk) boxTitle() string {
	title := b.kind.title + " " + humanize.Plural(len(b.rows), "task")
	if !b.running {
		title += "?"
	}
	return title
}

func (b *bulk) keyHints() []hint {
	if b.running {
		return []hint{{"j/k", "scroll"}, {"Enter", "close"}}
	}
	return []hint{{"y", "yes, " + strings.ToLower(b.kind.title) + " them"}, {"n", "no"}, {"j/k", "scroll"}}
}

func (b *bulk) renderBody(m *model, width, height int) ([]string, int, int) {
	var out, rest []string
	for i := range b.rows {
		lines := b.renderTask(m, &b.rows[i], width)
		if b.results[b.rows[i].ID].bad {
			out = append(out, lines...) // what was refused comes first
		} else {
			rest = append(rest, lines...)
		}
	}
	out = append(out, rest...)
	b.top = max(0, min(b.top, len(out)-height))
	return visibleLines(out, b.top, height, ""), -1, 0
}

// renderTask renders what will happen to a task, or what happened.
func (b *bulk) renderTask(m *model, r *overview.Row, width int) []string {
	result, known := b.results[r.ID]
	icon, style, text := "…", m.theme.Faint, "is under way"
	switch {
	case known && result.bad:
		icon, style, text = "✗", m.theme.Bad, result.text
	case known:
		icon, style, text = "✓", m.theme.Good, result.text
	case !b.running:
		icon, style, text = "•", m.theme.Text, b.kind.effect(r)
	}
	return m.hangingLines(style, icon+" "+r.Project+"/"+r.Branch+" ("+r.Status+"): ", text, width)
}

// hangingLines returns a text behind a name, wrapped below its beginning.
func (m *model) hangingLines(style render.Style, name, text string, width int) []string {
	lines := m.styledLines(style, name+text, max(1, width-2))
	for i := range lines {
		if i > 0 {
			lines[i] = "  " + lines[i]
		}
	}
	return lines
}
