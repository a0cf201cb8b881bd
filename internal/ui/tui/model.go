package tui

import (
	"context"
	"sync"
	"time"

	tea "charm.land/bubbletea/v2"

	"orange/internal/core/task"
	"orange/internal/ui/tui/render"
	"orange/internal/view/overview"
)

// page is the content of the screen.
type page int

const (
	pageList page = iota
	pageInbox
	pageText // TASK.md
	pageHelp
	pageBoard
)

// model is the state of the dashboard. Only Update changes it.
type model struct {
	DashboardOptions
	ctx     context.Context // of requests
	end     context.Context // of the program: ends when it is to quit
	send    func(tea.Msg)   // sends a message from another goroutine
	tick    func(time.Duration, tea.Msg) tea.Cmd
	program *tea.Program // nil in tests
	pace    framePacer

	then []string // the command to run after quitting

	width, height int
	theme         render.Theme
	dark, plain   bool // the terminal is dark; it has no colours

	state  overview.State
	known  bool  // the state was read
	lost   error // why the stream is broken, nil while it is open
	waking bool  // a server is being started

	choice  overview.Choice
	lines   []line
	cols    []column
	longest int // longest name of a task, within limits
	listed  int // how many tasks the list has, those in folded groups included
	cursor  int // in lines
	top     int // first line that is shown
	chosen  task.ID
	home    string     // project of this folder, "" for none
	input   *lineInput // a filter or a command, while it is typed

	chosenGroup string // the folded group under the cursor, "" for none
	folded      map[foldKey]bool
	marks       map[task.ID]mark

	page    page
	focused bool // the detail pane receives the keys
	hidden  bool // the detail pane is hidden
	split   int  // share of the list, in percent
	detail  detail
	inbox   inbox
	board   boardView
	reading reading
	help    int // first line that is shown
	dialog  dialog
	drafts  map[draft]string // text that was not sent
	left    *form            // the form that was left with content
	edits   map[task.ID]*editForm

	leftCards map[string]*cardForm // forms that were left with content, by project

	noted map[string]bool // notes about new tasks that were shown

	busy  map[task.ID]string         // requests in progress
	under map[task.ID]func() doneMsg // their results
	last  sync.WaitGroup             // requests to wait for at the end
	acted map[task.ID]bool           // tasks whose next move is announced
	note  note

	now       time.Time // of the frame
	alarm     time.Time // when the next age changes
	alarms    int
	stale     bool // something happened since the last rendering
	idle      bool // the last message changed nothing
	shown     tea.View
	drawn     time.Time // when it was last rendered
	held      bool      // rendering is delayed
	layout    layout
	announced map[task.ID]bool // what waited for a person when the bell last rang
	started   bool
}

// note is the line with the result of the last request.
type note struct {
	text string
	bad  bool
}

func newModel(ctx context.Context, o DashboardOptions) *model {
	m := &model{
		DashboardOptions: o, ctx: ctx, end: ctx, dark: true, split: evenSplit, home: o.Project,
		choice: overview.Choice{Scope: overview.Active, Project: o.Project, Sort: overview.ByCreation, Group: overview.TurnGroup},
		folded: map[foldKey]bool{}, marks: map[task.ID]mark{}, leftCards: map[string]*cardForm{},
		busy: map[task.ID]string{}, under: map[task.ID]func() doneMsg{}, drafts: map[draft]string{}, edits: map[task.ID]*editForm{}, noted: map[string]bool{}, acted: map[task.ID]bool{}, announced: map[task.ID]bool{},
		send: func(tea.Msg) {}, stale: true, note: note{text: o.Hint},
	}
	m.tick = func(d time.Duration, msg tea.Msg) tea.Cmd { return tea.Tick(d, func(time.Time) tea.Msg { return msg }) }
	m.detail.stop = func() {}
	m.applyTheme()
	return m
}

// applyTheme selects the theme that a person set, or else the one for the terminal.
func (m *model) applyTheme() {
	dark := m.Theme == "dark" || m.Theme != "light" && m.dark
	m.theme = render.NewTheme(dark, !m.plain && !m.NoColor)
	m.detail.lines, m.reading.lines = nil, nil
}

// Init implements tea.Model.
func (m *model) Init() tea.Cmd { return tea.RequestBackgroundColor }

// Update implements tea.Model.
func (m *model) Update(msg tea.Msg) (tea.Model, tea.Cmd) {
	m.pace.speedUp(m.program)
	m.now = m.Now()
	m.idle = false
	cmd := m.handleMessage(msg)
	m.stale = m.stale || !m.idle
	return m, tea.Batch(cmd, m.setAlarm(), m.holdBack())
}

func (m *model) handleMessage(msg tea.Msg) tea.Cmd {
	switch msg := msg.(type) {
	case tea.WindowSizeMsg:
		m.width, m.height = msg.Width, msg.Height
		m.keepCursorVisible()
		return m.followCursor(false)
	case tea.BackgroundColorMsg:
		m.dark = msg.IsDark()
		m.applyTheme()
	case tea.ColorProfileMsg:
		name := msg.Profile.String()
		m.plain = name == "NoTTY" || name == "ASCII" || name == "Ascii"
		m.applyTheme()
	case tea.KeyPressMsg:
		return m.handleKeyPress(msg)
	case tea.PasteMsg:
		m.pasteText(msg.Content)
	case tea.MouseClickMsg:
		return m.handleClick(msg.Mouse())
	case tea.MouseWheelMsg:
		return m.handleWheel(msg.Mouse())
	case stateMsg, changeMsg, linkMsg:
		return m.applyFeed(msg)
	case wokenMsg:
		m.finishWaking(msg)
	case doneMsg:
		return m.finishRequest(msg)
	case editingMsg:
		m.editTask(msg)
	case editedMsg:
		msg.apply()
	case attachMsg:
		return m.attachTerminal(msg)
	case settledMsg, loadedMsg, screenMsg, watchedMsg:
		return m.applyDetail(msg)
	case textMsg:
		m.reading.applyText(m, msg)
	case askedMsg:
		m.showTerminalDialog(msg)
	case boardMsg, cardMsg, boardDueMsg:
		return m.applyBoard(msg)
	case workflowsMsg:
		m.offerWorkflows(msg)
	case drawMsg:
		m.held, m.idle = false, true
	case alarmMsg:
		if m.idle = int(msg) != m.alarms; !m.idle {
			m.alarm = time.Time{}
		}
	default:
		m.idle = true
	}
	return nil
}

// handleKeyPress handles a key.
func (m *model) handleKeyPress(k tea.KeyPressMsg) tea.Cmd {
	if k.String() == "ctrl+c" {
		return tea.Quit
	}
	return tea.Batch(m.wakeServer(k.String()), m.routeKey(k))
}

// routeKey passes a key to the dialog, to the line that is typed, or to the page.
func (m *model) routeKey(k tea.KeyPressMsg) tea.Cmd {
	switch {
	case m.dialog != nil:
		return m.dialog.handleKey(m, k)
	case m.input != nil:
		return m.editInput(k)
	}
	m.note = note{}
	return m.runKey(k.String())
}

func (m *model) pasteText(text string) {
	switch {
	case m.dialog != nil:
		m.dialog.pasteText(text)
	case m.input != nil:
		m.input.insertText(text)
		m.input.why = ""
		m.previewFilter()
	}
}

// applyFeed handles a message of the feed.
func (m *model) applyFeed(msg tea.Msg) tea.Cmd {
	switch msg := msg.(type) {
	case linkMsg:
		m.lost = msg.err
		return nil
	case stateMsg:
		first := !m.known
		m.state, m.known = msg.state, true
		m.chooseLines()
		m.measureColumns()
		if first && m.Create {
			return tea.Batch(m.followCursor(true), m.ringBell(), m.openCreateForm())
		}
		return tea.Batch(m.followCursor(true), m.ringBell())
	case changeMsg:
		touched := false
		for i := range msg.change.Tasks {
			r := &msg.change.Tasks[i]
			touched = touched || r.ID == m.chosen
			m.announceMove(r)
			m.widenColumns(r)
		}
		m.state.ApplyChange(msg.change)
		m.chooseLines()
		return tea.Batch(m.followCursor(touched), m.ringBell(), m.followBoard(&msg.change))
	}
	return nil
}

// announceMove reports the move of a task after a person's request.
func (m *model) announceMove(r *overview.Row) {
	if !m.acted[r.ID] {
		return
	}
	was := m.findRow(r.ID)
	switch {
	case was == nil:
	case was.Status != r.Status:
		m.showNote("%s: %s -> %s", r.Branch, was.Status, r.Status)
		delete(m.acted, r.ID)
	case r.Wants == "attention" && was.Wants != r.Wants:
		m.showError("%s: %s", r.Branch, r.Text)
		delete(m.acted, r.ID)
	}
}

// findRow returns the row of a task, or nil if it is gone.
func (m *model) findRow(id task.ID) *overview.Row {
	for i := range m.state.Tasks {
		if m.state.Tasks[i].ID == id {
			return &m.state.Tasks[i]
		}
	}
	return nil
}

// ringBell rings the bell when another task begins to wait for a person.
func (m *model) ringBell() tea.Cmd {
	if !m.Bell {
		return nil
	}
	now, fresh := map[task.ID]bool{}, false
	for i := range m.state.Tasks {
		if r := &m.state.Tasks[i]; r.Wants.WaitsForPerson() {
			now[r.ID] = true
			fresh = fresh || !m.announced[r.ID]
		}
	}
	first := !m.started
	m.announced, m.started = now, true
	if fresh && !first {
		return tea.Raw("\a")
	}
	return nil
}
