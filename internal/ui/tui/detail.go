package tui

import (
	"context"
	"errors"
	"fmt"
	"strings"
	"time"
	"unicode/utf8"

	tea "charm.land/bubbletea/v2"

	"orange/internal/core/explain"
	"orange/internal/core/journal"
	"orange/internal/core/task"
	"orange/internal/core/workflow"
	"orange/internal/ui/tui/render"
	"orange/internal/view/ansi"
	"orange/internal/view/diff"
	"orange/internal/view/narrate"
	"orange/internal/view/overview"
	"orange/internal/wire"
)

// tab is one view of a task.
type tab int

const (
	tabTimeline tab = iota
	tabText
	tabExplain
	tabScreen
	tabGraph
	tabDiff
	tabChecks
	tabLog
	tabs
)

func (t tab) String() string {
	return [tabs]string{"timeline", "TASK.md", "explain", "screen", "graph", "diff", "checks", "log"}[t]
}

// growsAtEnd reports whether the newest part of a tab is its end.
func (t tab) growsAtEnd() bool { return t == tabTimeline || t == tabLog }

// Delays of the detail pane, and limits of what it shows.
const (
	settleDelay = 100 * time.Millisecond // how long the cursor must rest before its task is read
	rereadDelay = 250 * time.Millisecond // the minimum time between two reads of one task
	maxEntries  = 400
	maxBody     = 64 << 10
)

// detail is what is known of the task under the cursor.
type detail struct {
	task       task.ID
	tab        tab
	attempt    int  // whose log is shown, 0 for the newest
	generation int  // of the task and the tab; older responses are ignored
	waiting    bool // a read is due soon
	loading    bool
	again      bool // something changed while it was read
	stop       context.CancelFunc

	data   loaded
	screen *wire.Screen

	lines  []string // as rendered
	size   int      // the width they were rendered for
	minute time.Time
	scroll int
	end    bool // the end is visible, and stays so
	seek   bool // scroll to the present state of the task
}

// loaded is what was read for one tab.
type loaded struct {
	ready   bool
	entries []journal.Entry
	body    string
	explain explain.Explanation
	def     *workflow.Definition
	status  string
	diff    wire.Diff
	record  task.Task
	log     attemptLog
	err     error
}

type (
	settledMsg struct{ generation int }
	loadedMsg  struct {
		generation int
		data       loaded
	}
	screenMsg struct {
		generation int
		screen     wire.Screen
	}
	watchedMsg struct {
		generation int
		err        error
	}
)

// followCursor makes the detail pane follow the cursor. touched means that its task changed.
func (m *model) followCursor(touched bool) tea.Cmd {
	d := &m.detail
	switch {
	case m.page != pageList || m.layout.detail.height == 0:
		if d.task != "" && m.page == pageList {
			m.resetDetail("", d.tab)
		}
		return nil
	case m.chosen != d.task:
		m.resetDetail(m.chosen, d.tab)
		return m.readSoon(settleDelay)
	case !touched || d.task == "" || d.tab == tabScreen && d.data.err == nil: // a screen is updated by its stream
		return nil
	case d.loading:
		d.again = true
		return nil
	}
	return m.readSoon(rereadDelay)
}

// resetDetail makes the pane show another task, or another tab.
func (m *model) resetDetail(id task.ID, t tab) {
	d := &m.detail
	d.stop()
	*d = detail{task: id, tab: t, generation: d.generation + 1, stop: func() {}, end: t.growsAtEnd()}
}

// showTab turns to a tab of the task under the cursor.
func (m *model) showTab(t tab) tea.Cmd {
	if m.tooLow() {
		m.showNote(lowText)
	}
	m.hidden = false
	m.resetDetail(m.chosen, (t+tabs)%tabs)
	m.keepCursorVisible()
	return m.readTab()
}

// readSoon reads after nothing has moved for a while.
func (m *model) readSoon(after time.Duration) tea.Cmd {
	d := &m.detail
	if d.task == "" || d.waiting {
		return nil
	}
	d.waiting = true
	return m.tick(after, settledMsg{d.generation})
}

func (m *model) applyDetail(msg tea.Msg) tea.Cmd {
	d := &m.detail
	switch msg := msg.(type) {
	case settledMsg:
		if msg.generation == d.generation {
			d.waiting = false
			return m.readTab()
		}
	case loadedMsg:
		if msg.generation != d.generation {
			break
		}
		d.seek = d.seek || msg.data.status != d.data.status
		d.loading, d.data, d.lines = false, msg.data, nil
		if d.again {
			d.again = false
			return m.readSoon(rereadDelay)
		}
	case screenMsg:
		if msg.generation == d.generation {
			d.screen, d.lines = &msg.screen, nil
		}
	case watchedMsg:
		if msg.generation == d.generation && msg.err != nil {
			d.data, d.lines = loaded{ready: true, err: msg.err}, nil
		}
	}
	return nil
}

// readTab reads what the tab shows.
func (m *model) readTab() tea.Cmd {
	d := &m.detail
	r := m.findRow(d.task)
	if r == nil || m.layout.detail.height == 0 {
		return nil
	}
	if d.tab == tabScreen {
		return m.watchTerminal()
	}
	d.loading = true
	ctx, api, generation, t, id, hash, status := m.ctx, m.API, d.generation, d.tab, string(d.task), r.WorkflowHash, r.Status
	if t == tabLog {
		attempt := d.attempt
		return func() tea.Msg { return loadedMsg{generation, loadLog(ctx, api, id, attempt)} }
	}
	return func() tea.Msg { return loadedMsg{generation, loadTab(ctx, api, t, id, hash, status)} }
}

// watchTerminal follows the agent's terminal until the pane shows something else.
func (m *model) watchTerminal() tea.Cmd {
	d := &m.detail
	d.stop()
	d.data = loaded{}
	ctx, cancel := context.WithCancel(m.ctx)
	d.stop = cancel
	api, send, generation, id := m.API, m.send, d.generation, string(d.task)
	return func() tea.Msg {
		err := api.WatchScreen(ctx, id, "", func(s wire.Screen) error {
			send(screenMsg{generation, s})
			return ctx.Err()
		})
		if ctx.Err() != nil {
			err = nil
		}
		return watchedMsg{generation, err}
	}
}

// loadTab reads what one tab shows of a task.
func loadTab(ctx context.Context, api Reader, t tab, id, hash, status string) loaded {
	out := loaded{ready: true, status: status}
	switch t {
	case tabTimeline:
		out.entries, out.err = api.ReadJournal(ctx, id, 0)
		out.entries = out.entries[max(0, len(out.entries)-maxEntries):]
	case tabText:
		var v wire.TaskDetails
		v, out.err = api.ReadTask(ctx, id)
		out.body = taskBody(v)
	case tabExplain:
		out.explain, out.err = api.ExplainTask(ctx, id)
	case tabGraph:
		var w wire.WorkflowText
		if w, out.err = api.ReadWorkflow(ctx, hash); out.err == nil {
			out.def, out.err = workflow.Parse(w.File, w.Text)
		}
		if out.err == nil {
			out.entries, out.err = api.ReadJournal(ctx, id, 0)
		}
		if len(out.entries) > 0 && out.entries[0].New != nil {
			out.def = out.def.ForTask(out.entries[0].New.Checks)
		}
	case tabDiff:
		out.diff, out.err = api.ReadDiff(ctx, id)
	case tabChecks:
		var v wire.TaskDetails
		v, out.err = api.ReadTask(ctx, id)
		out.record = v.Task
	}
	return out
}

// taskBody returns the text of a task, truncated.
func taskBody(v wire.TaskDetails) string {
	text := v.Body
	if v.Problem != "" {
		text = v.Problem
	}
	if len(text) <= maxBody {
		return text
	}
	whole := len(text)
	text = text[:maxBody]
	for len(text) > 0 && !utf8.RuneStart(text[len(text)-1]) {
		text = text[:len(text)-1]
	}
	text = strings.ToValidUTF8(text, "")
	return text + fmt.Sprintf("\n\n(%d bytes more: see orange task show %s)\n", whole-len(text), v.Task.ID)
}

// detailLines returns the lines of the pane. It renders them again only when they or the size changed.
func (m *model) detailLines(width, height int) []string {
	d := &m.detail
	minute := m.now.Truncate(time.Minute)
	if d.tab == tabScreen && d.screen != nil && d.data.err == nil {
		return m.screenLines(width, height)
	}
	if d.lines == nil || d.size != width || !d.minute.Equal(minute) || d.tab == tabChecks { // a running check counts seconds
		d.lines, d.size, d.minute = m.paintDetail(width), width, minute
	}
	return d.lines
}

func (m *model) paintDetail(width int) []string {
	d := &m.detail
	switch {
	case d.task == "":
		return []string{}
	case !d.data.ready:
		return []string{m.theme.Faint.Render("...")}
	case d.data.err != nil:
		return m.styledLine(m.theme.Bad, oneLine(d.data.err), width)
	}
	var out []string
	switch d.tab {
	case tabTimeline:
		out = m.theme.RenderTimeline(d.data.entries, m.now, width)
	case tabText:
		out = m.theme.RenderMarkdown(d.data.body, width)
	case tabExplain:
		out = m.theme.RenderExplanation(d.data.explain, m.now, width)
	case tabGraph:
		out = m.theme.RenderGraph(d.data.def, d.data.status, d.data.entries, width)
	case tabDiff:
		out = m.diffLines(d.data.diff, width)
	case tabChecks:
		out = m.checkLines(&d.data.record, width)
	case tabLog:
		out = m.logLines(&d.data.log, width)
	}
	if len(out) == 0 {
		return []string{m.theme.Faint.Render("nothing yet")}
	}
	return out
}

func (m *model) diffLines(x wire.Diff, width int) []string {
	var out []string
	if notice := x.Notice(); notice != "" {
		out = m.styledLine(m.theme.Faint, ansi.OneLine(notice), width)
	}
	if len(x.Files) == 0 {
		return append(out, m.theme.Faint.Render("no changes yet"))
	}
	out = append(out, m.theme.RenderDiff(boundDiff(x.Files), width)...)
	if x.Cut {
		out = append(out, m.theme.Faint.Render("there is more than is shown"))
	}
	return out
}

// boundDiff limits the number of files.
func boundDiff(files []diff.File) []diff.File { return files[:min(len(files), 200)] }

// screenLines returns what the agent's terminal shows, or why it shows nothing.
func (m *model) screenLines(width, height int) []string {
	s := m.detail.screen
	head := ""
	switch {
	case s.Note != "":
		return m.styledLine(m.theme.Faint, ansi.OneLine(s.Note), width)
	case s.Attempt == 0:
		return m.styledLine(m.theme.Faint, "no agent is at work", width)
	default:
		head = fmt.Sprintf("%s, attempt %d", s.Role, s.Attempt)
	}
	if s.Harness != "" { // a check has none
		head += " (" + s.Harness + ")"
	}
	if !s.Alive {
		head += ", has ended"
	}
	out := m.styledLine(m.theme.Faint, ansi.OneLine(head), width)
	return append(out, m.theme.RenderScreen(s.Lines, width, max(1, height-1))...)
}

// seekState scrolls to the state of the task, once its line is known.
func (m *model) seekState(lines []string, height int) {
	d := &m.detail
	if d.tab != tabGraph || !d.seek || !d.data.ready || height < 1 {
		return
	}
	d.seek = false
	if at := render.CurrentStateLine(lines); at >= 0 && (at < d.scroll || at >= d.scroll+height) {
		d.scroll = at - height/3
	}
}

// scrollDetail scrolls the pane by so many lines.
func (m *model) scrollDetail(by int) {
	d := &m.detail
	height := m.contentHeight()
	last := max(0, len(m.detailLines(m.layout.detail.width, height))-height)
	at := d.scroll
	if d.end {
		at = last
	}
	d.scroll = max(0, min(at+by, last))
	d.end = d.tab.growsAtEnd() && d.scroll == last
}

// contentHeight returns how many lines the pane has below the facts of the task.
func (m *model) contentHeight() int {
	return max(0, m.layout.detail.height-len(m.taskFacts(m.selectedRow(), m.layout.detail.width)))
}

// reasonHeight is the minimum height of the pane to show why a task waits.
const reasonHeight = 14

// taskFacts returns the facts that the pane shows above every tab.
func (m *model) taskFacts(r *overview.Row, width int) []string {
	if r == nil || m.layout.detail.height < 3 {
		return nil
	}
	out := m.styledLine(m.theme.Strong, r.Summary, width)
	if r.Summary == "" {
		out = nil
	}
	if m.layout.detail.height >= 6 {
		switch {
		case r.Text != "" && len(r.Reasons) > 0 && m.layout.detail.height >= reasonHeight && m.detail.tab != tabExplain:
			out = append(out, m.reasonLines(r.Reasons, r.Text, width, m.layout.detail.height/3)...)
		case r.Text != "":
			out = append(out, m.styledLine(wantStyle(m, r.Wants), r.Text, width)...)
		case r.Why != "":
			out = append(out, m.styledLine(m.theme.Faint, r.Why, width)...)
		}
		if m.detail.tab != tabChecks {
			out = append(out, m.checkSummary(r, width)...)
		}
	}
	if m.layout.detail.height >= 14 {
		out = append(out, m.styledLine(m.theme.Faint, m.taskParticulars(r), width)...)
		out = append(out, "")
	}
	return out
}

// taskParticulars returns the facts of a task that have no column.
func (m *model) taskParticulars(r *overview.Row) string {
	words := []string{string(r.ID), r.Workflow, r.Harness}
	for _, a := range r.Attempts {
		text := fmt.Sprintf("%s %d", a.Role, a.Number)
		if a.Condition != "" {
			text += " " + task.Condition{Name: a.Condition}.Words()
		}
		words = append(words, text)
	}
	if r.Deadline != nil {
		words = append(words, "deadline "+formatWhen(m.now, r.Deadline.At))
	}
	if r.Tracker != "" {
		words = append(words, r.Tracker)
	}
	if l := r.Landing; l != nil {
		words = append(words, narrate.DescribePlace(overview.PlaceOf(m.state.Tasks, r))+": "+l.Text)
	}
	if text := narrate.ListPredecessors(r.After); text != "" {
		words = append(words, "after "+text)
	}
	if text := narrate.ListReferences(overview.SuccessorsOf(m.state.Tasks, r.ID)); text != "" {
		words = append(words, "unblocks "+text)
	}
	return strings.Join(words, " · ")
}

// oneLine returns an error as a line that is safe to show.
func oneLine(err error) string {
	text := err.Error()
	if errors.Is(err, context.Canceled) {
		text = "broken off"
	}
	return plainLine(text)
}
