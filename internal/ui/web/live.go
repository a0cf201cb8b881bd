package web

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"html/template"
	"net/http"
	"slices"
	"strconv"
	"strings"
	"sync"
	"time"

	"orange/internal/core/task"
	"orange/internal/ui/client"
	"orange/internal/view/overview"
)

// liveRoutes registers the event stream that keeps pages up to date.
//
// A page names its topic. The topic "board" sends the cards that changed, as HTML. The topic "all"
// sends an event when anything changes, "task:ID" when that task changes, and "kanban:PROJECT" when the
// kanban board of that project changes; the script then fetches the page again and replaces what
// differs. Every event carries the row of the journal it describes, so that a connection can be
// resumed without a gap. If it cannot be resumed, because the journal is a different one, the page gets
// the event "reload".
func (s *Site) liveRoutes(mux *http.ServeMux) {
	mux.HandleFunc("GET /live", s.serveLive)
}

func (s *Site) serveLive(w http.ResponseWriter, r *http.Request) {
	flusher, ok := w.(http.Flusher)
	if !ok {
		s.writeError(w, r, fmt.Errorf("the connection does not support streaming"))
		return
	}
	after, err := s.rowAfter(r)
	if err != nil {
		s.writeError(w, r, err)
		return
	}
	v := &viewer{s: s, w: w, flush: flusher, topic: r.URL.Query().Get("topic"), filter: filterOf(r.URL.Query()), page: s.pages["board"], csrf: s.csrfOf(r)}
	if v.topic == "board" {
		if v.state, err = s.stateOf(r.Context(), v.stateQuery(), after); err != nil {
			s.writeError(w, r, err)
			return
		}
	}
	w.Header().Set("Content-Type", "text/event-stream")
	w.Header().Set("X-Accel-Buffering", "no")
	w.WriteHeader(http.StatusOK)
	fmt.Fprintf(w, "retry: 500\nid: %d\nevent: hello\ndata: {}\n\n", after)
	flusher.Flush()
	s.streamChanges(r.Context(), v, after)
}

// rowAfter returns the row after which a page needs events: that of the last event it received, else
// the row it was made from, else the current one.
func (s *Site) rowAfter(r *http.Request) (int64, error) {
	for _, text := range []string{r.Header.Get("Last-Event-ID"), r.URL.Query().Get("after")} {
		if text == "" {
			continue
		}
		n, err := strconv.ParseInt(text, 10, 64)
		if err != nil || n < 0 {
			return 0, newRefusal(http.StatusBadRequest, "the row of the journal is not a number: pass one")
		}
		if n > 0 {
			return n, nil
		}
	}
	state, err := s.o.API.ReadState(r.Context(), client.StateQuery{Project: nobody})
	return state.Row, err
}

// stateCache holds the state from which the last board was rendered. The page opens its event stream a
// moment later, and the stream starts from this state.
type stateCache struct {
	mu    sync.Mutex
	state overview.State
	seen  client.StateQuery // what selected it
}

func (m *stateCache) storeState(state *overview.State, seen client.StateQuery) {
	m.mu.Lock()
	defer m.mu.Unlock()
	m.state, m.seen = *state, seen
}

// findState returns the cached state if it is the one that a query selects at row.
func (m *stateCache) findState(seen client.StateQuery, row int64) (overview.State, bool) {
	m.mu.Lock()
	defer m.mu.Unlock()
	out := m.state
	out.Tasks = slices.Clone(out.Tasks)
	return out, row > 0 && m.seen == seen && out.Row == row
}

// stateOf returns a state to which the changes after a row can be applied. The state may be newer than
// the row: applying a change twice has no effect.
func (s *Site) stateOf(ctx context.Context, seen client.StateQuery, after int64) (overview.State, error) {
	if state, ok := s.recent.findState(seen, after); ok {
		return state, nil
	}
	return s.o.API.ReadState(ctx, seen)
}

// pingEvery is the interval of the pings that keep a connection alive.
const pingEvery = 15 * time.Second

// streamChanges sends changes to a viewer until the viewer disconnects or the server stops.
func (s *Site) streamChanges(ctx context.Context, v *viewer, after int64) {
	ctx, stop := context.WithCancel(ctx)
	defer stop()
	changes := make(chan overview.Change)
	ended := make(chan error, 1)
	take := func(c overview.Change) error {
		select {
		case changes <- c:
			return nil
		case <-ctx.Done():
			return ctx.Err()
		}
	}
	seen := v.stateQuery()
	go func() { // if the stream breaks, the page reconnects and shows that it did
		ended <- s.o.API.FollowState(ctx, client.FollowOptions{StateQuery: seen, After: after, Lost: func(error) { stop() }, Change: take})
		close(ended)
	}()
	defer func() { stop(); <-ended }()
	ping := time.NewTicker(pingEvery)
	defer ping.Stop()
	for {
		var err error
		select {
		case why := <-ended:
			if no := (*client.Error)(nil); errors.As(why, &no) && no.Status < 500 {
				v.sendEvent("reload", after, struct{}{}) //nolint:errcheck // the stream ends either way
			}
			return
		case c := <-changes:
			err = v.sendChange(ctx, &c)
		case <-ping.C:
			_, err = fmt.Fprint(v.w, ": ping\n\n")
			v.flush.Flush()
		}
		if err != nil {
			return
		}
	}
}

// viewer is a page that receives changes.
type viewer struct {
	s      *Site
	w      http.ResponseWriter
	flush  http.Flusher
	topic  string
	filter filter
	page   *template.Template // template of the board
	state  overview.State     // all tasks, whether the board shows them or not
	paused *bool
	csrf   string
	mark   int64 // of the kanban board that the page shows
}

// stateQuery returns the query for the state whose changes the page needs.
func (v *viewer) stateQuery() client.StateQuery {
	if v.topic != "board" {
		return client.StateQuery{}
	}
	return v.filter.stateQuery()
}

// A fragment is the HTML of a card, and where the card belongs.
type fragment struct {
	ID     task.ID `json:"id"`
	Column string  `json:"column"`
	HTML   string  `json:"html"`
}

// boardNews is a change of the board.
type boardNews struct {
	Row    int64      `json:"row"`
	Paused bool       `json:"paused"`
	Cards  []fragment `json:"cards,omitempty"`
	Gone   []task.ID  `json:"gone,omitempty"`

	Counts map[string]int `json:"counts"` // number of cards, by column
	Sum    string         `json:"sum"`    // HTML
	Wants  int            `json:"wants"`
}

// sendChange sends a change in the form that the topic of the page needs.
func (v *viewer) sendChange(ctx context.Context, c *overview.Change) error {
	if v.topic == "board" {
		news, err := v.renderBoardNews(ctx, c)
		if err != nil {
			return err
		}
		return v.sendEvent("board", c.Row, news)
	}
	held := v.paused != nil && *v.paused != c.Paused
	v.paused = &c.Paused
	if !held && !v.concernsPage(c) {
		return nil
	}
	return v.sendEvent("touch", c.Row, map[string]any{"row": c.Row, "paused": c.Paused})
}

// concernsPage reports whether a change affects what the page shows.
func (v *viewer) concernsPage(c *overview.Change) bool {
	if project, ok := strings.CutPrefix(v.topic, "kanban:"); ok {
		return v.concernsKanban(project, c)
	}
	id, one := strings.CutPrefix(v.topic, "task:")
	if !one {
		return len(c.Tasks) > 0 || len(c.Gone) > 0
	}
	return slices.Contains(c.Gone, task.ID(id)) || slices.ContainsFunc(c.Tasks, func(r overview.Row) bool { return string(r.ID) == id })
}

// renderBoardNews applies a change to the state and renders the cards that changed.
func (v *viewer) renderBoardNews(ctx context.Context, c *overview.Change) (boardNews, error) {
	v.state.ApplyChange(*c)
	out := boardNews{Row: c.Row, Paused: c.Paused, Gone: c.Gone, Wants: v.state.CountWaiting(""), Counts: map[string]int{}}
	all := overview.ChooseRows(v.state.Tasks, v.filter.rowChoice())[0].Rows
	for i := range all {
		out.Counts[v.filter.columnOf(&all[i])]++
	}
	var text bytes.Buffer
	if err := v.page.ExecuteTemplate(&text, "sum", overview.SumRows(all)); err != nil {
		return out, err
	}
	out.Sum = text.String()
	changed, makes := v.withPredecessors(c.Tasks), v.s.newCardMaker(&v.filter, v.state.Tasks, v.s.o.Now(), v.csrf)
	shown := overview.ChooseRows(changed, v.filter.rowChoice())[0].Rows
	for i := range c.Tasks {
		if !slices.ContainsFunc(shown, func(r overview.Row) bool { return r.ID == c.Tasks[i].ID }) {
			out.Gone = append(out.Gone, c.Tasks[i].ID)
		}
	}
	for i := range shown {
		text.Reset()
		if err := v.page.ExecuteTemplate(&text, "card", makes.makeCard(ctx, &shown[i])); err != nil {
			return out, err
		}
		out.Cards = append(out.Cards, fragment{ID: shown[i].ID, Column: v.filter.columnOf(&shown[i]), HTML: text.String()})
	}
	return out, nil
}

// withPredecessors adds to the rows that changed those of the tasks that they are after, because their cards show what waits for them.
func (v *viewer) withPredecessors(changed []overview.Row) []overview.Row {
	out := slices.Clone(changed)
	for i := range changed {
		for _, p := range changed[i].After {
			at := slices.IndexFunc(v.state.Tasks, func(r overview.Row) bool { return r.ID == p.ID })
			if at >= 0 && !slices.ContainsFunc(out, func(r overview.Row) bool { return r.ID == p.ID }) {
				out = append(out, v.state.Tasks[at])
			}
		}
	}
	return out
}

func (v *viewer) sendEvent(event string, row int64, data any) error {
	body, err := json.Marshal(data)
	if err != nil {
		return err
	}
	if _, err := fmt.Fprintf(v.w, "id: %d\nevent: %s\ndata: %s\n\n", row, event, body); err != nil {
		return err
	}
	v.flush.Flush()
	return nil
}
