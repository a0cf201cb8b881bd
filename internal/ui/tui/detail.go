package tui

import (
	"context"
	"errors"
	"fmt"
	"strings"
	"time"
	"unicode/utf8"

	tea "charm.land/bubbletea/v2"

	"orange/internal/core/diff"
	"orange/internal/core/engine"
	"orange/internal/core/journal"
	"orange/internal/core/overview"
	"orange/internal/core/screen"
	"orange/internal/core/task"
	"orange/internal/core/workflow"
	"orange/internal/ui/paint"
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
	tabs
)

func (t tab) String() string {
	return [tabs]string{"timeline", "TASK.md", "explain", "screen", "graph", "diff"}[t]
}

// Pace of the detail pane, and bounds of what it shows.
const (
	settle     = 100 * time.Millisecond // how long a cursor rests before its task is read
	reread     = 250 * time.Millisecond // the least time between two reads of one task
	maxEntries = 400
	maxBody    = 64 << 10
)

// detail is what is known of the task under the cursor.
type detail struct {
	task    task.ID
	tab     tab
	era     int  // of the task and the tab; what was asked before does not count
	waiting bool // a read is due soon
	loading bool
	again   bool // something changed while it was read
	stop    context.CancelFunc

	data   loaded
	screen *wire.Screen

	lines  []string // as they were painted
	size   int      // the width they were painted for
	minute time.Time
	scroll int
	end    bool // the end is in sight, and stays there
	seek   bool // the state of the task is to come in sight
}

// loaded is what was read for one tab.
type loaded struct {
	ready   bool
	entries []journal.Entry
	body    string
	explain engine.Explanation
	def     *workflow.Definition
	status  string
	diff    wire.Diff
	err     error
}

type (
	quietMsg  struct{ era int }
	loadedMsg struct {
		era  int
		data loaded
	}
	screenMsg struct {
		era    int
		screen wire.Screen
	}
	watchedMsg struct {
		era int
		err error
	}
)

// follow makes the detail pane follow the cursor. touched says that its task changed.
func (m *model) follow(touched bool) tea.Cmd {
	d := &m.detail
	switch {
	case m.page != pageList || m.layout.detail.height == 0:
		if d.task != "" && m.page == pageList {
			m.turn("", d.tab)
		}
		return nil
	case m.chosen != d.task:
		m.turn(m.chosen, d.tab)
		return m.readSoon(settle)
	case !touched || d.task == "" || d.tab == tabScreen && d.data.err == nil: // a screen tells of itself
		return nil
	case d.loading:
		d.again = true
		return nil
	}
	return m.readSoon(reread)
}

// turn makes the pane show another task, or another tab.
func (m *model) turn(id task.ID, t tab) {
	d := &m.detail
	d.stop()
	*d = detail{task: id, tab: t, era: d.era + 1, stop: func() {}, end: t == tabTimeline}
}

// show turns to a tab of the task under the cursor.
func (m *model) show(t tab) tea.Cmd {
	if m.tooLow() {
		m.say(lowText)
	}
	m.hidden = false
	m.turn(m.chosen, (t+tabs)%tabs)
	m.arrange()
	return m.read()
}

// readSoon reads once nothing has moved for a while.
func (m *model) readSoon(after time.Duration) tea.Cmd {
	d := &m.detail
	if d.task == "" || d.waiting {
		return nil
	}
	d.waiting = true
	return m.tick(after, quietMsg{d.era})
}

func (m *model) hearDetail(msg tea.Msg) tea.Cmd {
	d := &m.detail
	switch msg := msg.(type) {
	case quietMsg:
		if msg.era == d.era {
			d.waiting = false
			return m.read()
		}
	case loadedMsg:
		if msg.era != d.era {
			break
		}
		d.seek = d.seek || msg.data.status != d.data.status
		d.loading, d.data, d.lines = false, msg.data, nil
		if d.again {
			d.again = false
			return m.readSoon(reread)
		}
	case screenMsg:
		if msg.era == d.era {
			d.screen, d.lines = &msg.screen, nil
		}
	case watchedMsg:
		if msg.era == d.era && msg.err != nil {
			d.data, d.lines = loaded{ready: true, err: msg.err}, nil
		}
	}
	return nil
}

// read asks for what the tab shows.
func (m *model) read() tea.Cmd {
	d := &m.detail
	r := m.row(d.task)
	if r == nil || m.layout.detail.height == 0 {
		return nil
	}
	if d.tab == tabScreen {
		return m.watch()
	}
	d.loading = true
	ctx, api, era, t, id, hash, status := m.ctx, m.API, d.era, d.tab, string(d.task), r.WorkflowHash, r.Status
	return func() tea.Msg { return loadedMsg{era, load(ctx, api, t, id, hash, status)} }
}

// watch follows the agent's terminal until the pane shows something else.
func (m *model) watch() tea.Cmd {
	d := &m.detail
	d.stop()
	d.data = loaded{}
	ctx, cancel := context.WithCancel(m.ctx)
	d.stop = cancel
	api, send, era, id := m.API, m.send, d.era, string(d.task)
	return func() tea.Msg {
		err := api.WatchScreen(ctx, id, "", func(s wire.Screen) error {
			send(screenMsg{era, s})
			return ctx.Err()
		})
		if ctx.Err() != nil {
			err = nil
		}
		return watchedMsg{era, err}
	}
}

// load reads what one tab shows of a task.
func load(ctx context.Context, api Reader, t tab, id, hash, status string) loaded {
	out := loaded{ready: true, status: status}
	switch t {
	case tabTimeline:
		out.entries, out.err = api.Journal(ctx, id, 0)
		out.entries = out.entries[max(0, len(out.entries)-maxEntries):]
	case tabText:
		var v wire.TaskShown
		v, out.err = api.Task(ctx, id)
		out.body = body(v)
	case tabExplain:
		out.explain, out.err = api.Explain(ctx, id)
	case tabGraph:
		var w wire.WorkflowText
		if w, out.err = api.Workflow(ctx, hash); out.err == nil {
			out.def, out.err = workflow.Parse(w.File, w.Text)
		}
		if out.err == nil {
			out.entries, out.err = api.Journal(ctx, id, 0)
		}
	case tabDiff:
		out.diff, out.err = api.Diff(ctx, id)
	}
	return out
}

// body is the text of a task, as much of it as a person reads here.
func body(v wire.TaskShown) string {
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

// detailLines are the lines of the pane. They are painted when they or the room changed.
func (m *model) detailLines(width, height int) []string {
	d := &m.detail
	minute := m.now.Truncate(time.Minute)
	if d.tab == tabScreen && d.screen != nil && d.data.err == nil {
		return m.screenLines(width, height)
	}
	if d.lines == nil || d.size != width || !d.minute.Equal(minute) {
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
		return m.say1(m.theme.Bad, oneLine(d.data.err), width)
	}
	var out []string
	switch d.tab {
	case tabTimeline:
		out = m.theme.Timeline(d.data.entries, m.now, width)
	case tabText:
		out = m.theme.Markdown(d.data.body, width)
	case tabExplain:
		out = m.theme.Explain(d.data.explain, m.now, width)
	case tabGraph:
		out = m.theme.Graph(d.data.def, d.data.status, d.data.entries, width)
	case tabDiff:
		out = m.diffLines(d.data.diff, width)
	}
	if len(out) == 0 {
		return []string{m.theme.Faint.Render("nothing yet")}
	}
	return out
}

func (m *model) diffLines(x wire.Diff, width int) []string {
	if len(x.Files) == 0 {
		return []string{m.theme.Faint.Render("no changes yet")}
	}
	out := m.theme.Diff(boundDiff(x.Files), width)
	if x.Cut {
		out = append(out, m.theme.Faint.Render("there is more than is shown"))
	}
	return out
}

// boundDiff is as many files as a person reads here.
func boundDiff(files []diff.File) []diff.File { return files[:min(len(files), 200)] }

// screenLines are what the agent's terminal shows, or why it shows nothing.
func (m *model) screenLines(width, height int) []string {
	s := m.detail.screen
	head := ""
	switch {
	case s.Note != "":
		return m.say1(m.theme.Faint, screen.OneLine(s.Note), width)
	case s.Attempt == 0:
		return m.say1(m.theme.Faint, "no agent is at work", width)
	case s.Alive:
		head = fmt.Sprintf("%s, attempt %d (%s)", s.Role, s.Attempt, s.Harness)
	default:
		head = fmt.Sprintf("%s, attempt %d (%s), has ended", s.Role, s.Attempt, s.Harness)
	}
	out := m.say1(m.theme.Faint, screen.OneLine(head), width)
	return append(out, m.theme.Screen(s.Lines, width, max(1, height-1))...)
}

// seekState brings the state of the task in sight, once it is known where it is.
func (m *model) seekState(lines []string, height int) {
	d := &m.detail
	if d.tab != tabGraph || !d.seek || !d.data.ready || height < 1 {
		return
	}
	d.seek = false
	if at := paint.Here(lines); at >= 0 && (at < d.scroll || at >= d.scroll+height) {
		d.scroll = at - height/3
	}
}

// scrollDetail moves what the pane shows by so many lines.
func (m *model) scrollDetail(by int) {
	d := &m.detail
	height := m.contentHeight()
	last := max(0, len(m.detailLines(m.layout.detail.width, height))-height)
	at := d.scroll
	if d.end {
		at = last
	}
	d.scroll = max(0, min(at+by, last))
	d.end = d.tab == tabTimeline && d.scroll == last
}

// contentHeight is how many lines the pane has below what it says of every task.
func (m *model) contentHeight() int {
	return max(0, m.layout.detail.height-len(m.facts(m.selected(), m.layout.detail.width)))
}

// reasonHeight is from which height of the pane on it says why a task waits.
const reasonHeight = 14

// facts are what the pane says of a task whatever the tab is.
func (m *model) facts(r *overview.Row, width int) []string {
	if r == nil || m.layout.detail.height < 3 {
		return nil
	}
	out := m.say1(m.theme.Strong, r.Summary, width)
	if r.Summary == "" {
		out = nil
	}
	if m.layout.detail.height >= 6 {
		switch {
		case r.Text != "" && len(r.Reasons) > 0 && m.layout.detail.height >= reasonHeight && m.detail.tab != tabExplain:
			out = append(out, m.reasonLines(r.Reasons, r.Text, width, m.layout.detail.height/3)...)
		case r.Text != "":
			out = append(out, m.say1(wantStyle(m, r.Wants), r.Text, width)...)
		case r.Why != "":
			out = append(out, m.say1(m.theme.Faint, r.Why, width)...)
		}
	}
	if m.layout.detail.height >= 14 {
		out = append(out, m.say1(m.theme.Faint, m.particulars(r), width)...)
		out = append(out, "")
	}
	return out
}

// particulars are the facts of a task that have no column.
func (m *model) particulars(r *overview.Row) string {
	words := []string{string(r.ID), r.Workflow, r.Harness}
	for _, a := range r.Attempts {
		text := fmt.Sprintf("%s %d", a.Role, a.Number)
		if a.Mood != "" {
			text += " " + a.Mood
		}
		words = append(words, text)
	}
	if r.Deadline != nil {
		words = append(words, "deadline "+when(m.now, r.Deadline.At))
	}
	if r.Tracker != "" {
		words = append(words, r.Tracker)
	}
	return strings.Join(words, " · ")
}

// oneLine is an error as it may be shown.
func oneLine(err error) string {
	text := err.Error()
	if errors.Is(err, context.Canceled) {
		text = "broken off"
	}
	return plainLine(text)
}
