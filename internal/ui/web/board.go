package web

import (
	"cmp"
	"net/http"
	"net/url"
	"slices"
	"strconv"
	"time"

	"orange/internal/core/workflow"
	"orange/internal/ui/client"
	"orange/internal/view/overview"
	"orange/internal/wire"
)

func (s *Site) boardRoutes(mux *http.ServeMux) {
	mux.HandleFunc("GET /{$}", s.serveBoard)
	mux.HandleFunc("GET /moves/{id}", s.serveMoves)
}

// boardData is the data of the board page.
type boardData struct {
	page
	filter
	Columns  []column
	Projects []string
	Sum      overview.Summary
	Shown    int
	At       time.Time // the moment shown
	Last     int64     // the last row of the journal
	Ticks    ticks     // of the scrubber
	Prev     string    // links of the scrubber, "" if there is none
	Next     string
	Here     string // address of this page
	Closed   string // address of the board with closed tasks
}

// filter selects the tasks that the board shows.
type filter struct {
	Project string
	Search  string
	Scope   overview.Scope
	Group   overview.Grouping // "": by who must act
	Wanted  bool
	AtRow   int64
	Full    string // the column that is shown in full
}

// Limits of the values that a filter reads from an address.
const (
	maxSearch = 200
	maxCards  = 100 // per column, unless the column is shown in full
)

// filterOf reads a filter from a query. It ignores values that it does not know.
func filterOf(q url.Values) filter {
	f := filter{Project: emptyIfLonger(q.Get("project"), maxSearch), Search: emptyIfLonger(q.Get("q"), maxSearch), Wanted: q.Get("wanted") == "1", Full: emptyIfLonger(q.Get("full"), maxSearch)}
	switch scope := overview.Scope(q.Get("scope")); scope {
	case overview.Active, overview.Done, overview.All:
		f.Scope = scope
	default:
		f.Scope = overview.Current
	}
	switch group := overview.Grouping(q.Get("group")); group {
	case overview.ProjectRows, overview.StatusGroup:
		f.Group = group
	}
	if n, err := strconv.ParseInt(q.Get("at"), 10, 64); err == nil && n > 0 {
		f.AtRow = n
	}
	return f
}

func emptyIfLonger(s string, n int) string {
	if len(s) > n {
		return ""
	}
	return s
}

// queryValues returns the query of the filter, without its moment.
func (f *filter) queryValues() url.Values {
	q := url.Values{}
	set := func(name, value string) {
		if value != "" {
			q.Set(name, value)
		}
	}
	set("project", f.Project)
	set("q", f.Search)
	set("full", f.Full)
	set("group", string(f.Group))
	if f.Scope != overview.Current {
		set("scope", string(f.Scope))
	}
	if f.Wanted {
		set("wanted", "1")
	}
	return q
}

// addressAt returns the address of the board at a row of the journal, or of the present if row is 0.
func (f *filter) addressAt(row int64) string {
	q := f.queryValues()
	if row > 0 {
		q.Set("at", strconv.FormatInt(row, 10))
	}
	if len(q) == 0 {
		return "/"
	}
	return "/?" + q.Encode()
}

func (f *filter) rowChoice() overview.Choice {
	return overview.Choice{Scope: f.Scope, Project: f.Project, Search: f.Search, Wanted: f.Wanted}
}

// stateQuery returns the query for the state that the filter needs. The state has the tasks of all projects, because
// the inbox counts them.
func (f *filter) stateQuery() client.StateQuery {
	return client.StateQuery{All: f.Scope == overview.Done || f.Scope == overview.All, Recent: f.Scope == overview.Current, At: f.AtRow}
}

func (s *Site) serveBoard(w http.ResponseWriter, r *http.Request) {
	f := filterOf(r.URL.Query())
	seen := f.stateQuery()
	state, err := s.o.API.ReadState(r.Context(), seen)
	if err != nil {
		s.writeError(w, r, err)
		return
	}
	d := boardData{page: s.pageOf(r, &state), filter: f, At: state.At, Last: state.Row}
	if d.Past = f.AtRow > 0; d.Past {
		now := s.newPage(r)
		d.Last, d.Paused, d.Wants = max(now.Row, state.Row), now.Paused, now.Wants
	} else {
		d.Topic, d.Query = "board", f.queryValues().Encode()
		s.recent.storeState(&state, seen)
	}
	d.linkMoments()
	if moves, err := s.o.API.ReadMoves(r.Context()); err == nil { // the slider works without
		d.Ticks = ticks{d.Last, moves.Rows}
	}
	closed := f
	closed.Scope = overview.Done
	d.Closed = closed.addressAt(f.AtRow)
	for _, p := range state.Projects {
		d.Projects = append(d.Projects, p.Name)
	}
	s.fillColumns(r, &d, state.Tasks)
	s.renderPage(w, r, http.StatusOK, "board", d)
}

// linkMoments sets the links to the moments before and after the one shown.
func (d *boardData) linkMoments() {
	d.Here = d.filter.addressAt(d.AtRow)
	shown := d.Row
	if shown > 1 {
		d.Prev = d.filter.addressAt(shown - 1)
	}
	if d.Past && shown < d.Last {
		d.Next = d.filter.addressAt(shown + 1)
	}
}

// fillColumns sorts the rows that the filter selects into columns.
func (s *Site) fillColumns(r *http.Request, d *boardData, tasks []overview.Row) {
	now := d.Now
	if d.Past {
		now = d.At
	}
	rows := overview.ChooseRows(tasks, d.rowChoice())[0].Rows
	slices.SortStableFunc(rows, func(a, b overview.Row) int { return cmp.Compare(d.orderOf(&a), d.orderOf(&b)) })
	d.Sum, d.Shown = overview.SumRows(rows), len(rows)
	switch d.Group {
	case overview.ProjectRows:
		d.Columns = projectColumns(rows)
	case overview.StatusGroup:
		d.Columns = s.columnsOf(r.Context(), rows, d.Past)
	default:
		d.Columns = whoColumns()
	}
	places := map[string]int{}
	for i := range d.Columns {
		places[d.Columns[i].Name] = i
	}
	makes := s.newCardMaker(&d.filter, tasks, now, d.CSRF)
	for i := range rows {
		c := &d.Columns[places[d.columnOf(&rows[i])]]
		c.Count++
		if len(c.Cards) >= maxCards && d.Full != c.Name {
			c.More++
			continue
		}
		c.Cards = append(c.Cards, makes.makeCard(r.Context(), &rows[i]))
	}
}

// columnOf returns the name of the column of a row.
func (f *filter) columnOf(r *overview.Row) string {
	switch f.Group {
	case overview.ProjectRows:
		return r.Project
	case overview.StatusGroup:
		return r.Status
	}
	return turnNames[r.WhoseTurn()]
}

// orderOf returns the number by which the cards of a column are sorted. Where people must act, the card that waits
// longest is the first; tasks that were created and not started are the last of those that wait. Closed tasks are the
// last of all, the latest first.
func (f *filter) orderOf(r *overview.Row) int64 {
	const afterAll = int64(1) << 50
	switch {
	case f.Group == overview.NoGroups && r.Wants.WaitsForPerson() && !r.Asked.IsZero():
		return r.Asked.UnixMilli()
	case f.Group == overview.NoGroups && r.Wants != "":
		return r.Created.UnixMilli() + afterAll
	case r.Kind == workflow.Terminal:
		return 3*afterAll - r.Since.UnixMilli()
	}
	return r.Created.UnixMilli()
}

func whoColumns() []column {
	var out []column
	for _, turn := range overview.AllTurns() {
		out = append(out, column{Name: turnNames[turn], Title: string(turn), Kind: turnNames[turn]})
	}
	return out
}

func projectColumns(rows []overview.Row) []column {
	var out []column
	for i := range rows {
		name := rows[i].Project
		if !slices.ContainsFunc(out, func(c column) bool { return c.Name == name }) {
			out = append(out, column{Name: name, Title: name})
		}
	}
	return out
}

// FullLink returns the address of the board with a column shown in full.
func (d boardData) FullLink(name string) string {
	f := d.filter
	f.Full = name
	return f.addressAt(f.AtRow)
}

// RecentDays returns for how many days a task that closed stays on the board.
func (d boardData) RecentDays() int { return wire.RecentDays }

// ProjectChosen returns the project of the filter.
func (d boardData) ProjectChosen() string { return d.Project }

// NowLink returns the address of the board in the present.
func (d boardData) NowLink() string { return d.filter.addressAt(0) }
