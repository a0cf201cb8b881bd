package web

import (
	"cmp"
	"context"
	"fmt"
	"html/template"
	"net/http"
	"net/url"
	"slices"
	"strconv"
	"strings"
	"time"

	"orange/internal/core/als"
	"orange/internal/core/board"
	"orange/internal/core/task"
	"orange/internal/core/workflow"
	"orange/internal/core/workflow/builtin"
	"orange/internal/ui/client"
	"orange/internal/view/ansi"
	"orange/internal/view/humanize"
	"orange/internal/view/markdown"
	"orange/internal/view/overview"
	"orange/internal/wire"
)

// kanbanRoutes registers the pages of the kanban boards, one for each project, and of their cards. All changes of a card
// share one address: the field do names the change.
func (s *Site) kanbanRoutes(mux *http.ServeMux) {
	mux.HandleFunc("GET /kanban", s.serveKanban)
	mux.HandleFunc("GET /kanban/{project}", s.serveKanban)
	mux.HandleFunc("POST /kanban/{project}", s.formHandler(s.addKanbanCard))
	mux.HandleFunc("GET /kanban/{project}/{number}", s.serveKanbanCard)
	mux.HandleFunc("POST /kanban/{project}/{number}", s.formHandler(s.changeKanbanCard))
}

// kanbanData is the data of the page of a board.
type kanbanData struct {
	page
	Project  string
	Projects []navItem
	Columns  []kanbanColumn
	Full     string // the column that is shown in full
	Here     string // address of this page
}

// ProjectChosen returns the project of the board.
func (d kanbanData) ProjectChosen() string { return d.Project }

// kanbanColumn is a column of a kanban board.
type kanbanColumn struct {
	Name  string
	Count int // all cards, shown or not
	More  int // cards that are not shown
	Cards []kanbanCard
}

// kanbanCard is a card of a kanban board, as text ready to show.
type kanbanCard struct {
	Number  int
	Href    string
	Title   string
	Column  string
	Tags    []string
	Claim   string // who works on it
	Task    *kanbanTask
	Offers  []tagOffer // tags that a person may set and that move its task on
	Updated time.Time
}

// kanbanTask is the task that works on a card.
type kanbanTask struct {
	ID        task.ID
	Status    string
	Kind      workflow.Kind
	Class     string // of its card
	Life      string // what its agents do
	LifeClass string
	Act       string // what a person has to do, "" if nothing
	ActIcon   string
	Why       string // the reason of Act
}

// tagOffer is tags that are set together.
type tagOffer struct{ Tags []string }

// Value returns the value of the field do.
func (o tagOffer) Value() string { return "tag:" + strings.Join(o.Tags, ",") }

// Name returns the words of the button.
func (o tagOffer) Name() string { return strings.Join(o.Tags, ", ") }

// kanbanHref returns the address of a board, or of a card if number is not 0.
func kanbanHref(project string, number int) string {
	out := "/kanban/" + url.PathEscape(project)
	if number > 0 {
		out += "/" + strconv.Itoa(number)
	}
	return out
}

// cardHref returns the address and the name of the card that a reference of a task means, "" if it is none of a kanban board.
func cardHref(ref string) (href, name string) {
	project, number, ok := board.ParseRef(ref)
	if !ok {
		return "", ""
	}
	return kanbanHref(project, number), ansi.OneLine(fmt.Sprintf("%s/%d", project, number))
}

func (s *Site) serveKanban(w http.ResponseWriter, r *http.Request) {
	state, err := s.o.API.ReadState(r.Context(), client.StateQuery{All: true})
	if err != nil {
		s.writeError(w, r, err)
		return
	}
	d := kanbanData{page: s.pageOf(r, &state), Project: r.PathValue("project"), Full: emptyIfLonger(r.URL.Query().Get("full"), maxSearch)}
	d.Project = cmp.Or(d.Project, usualKanban(&state))
	for _, p := range state.Projects {
		d.Projects = append(d.Projects, navItem{Path: kanbanHref(p.Name, 0), Name: p.Name, Here: p.Name == d.Project})
	}
	if d.Project != "" {
		b, err := s.o.API.ReadBoard(r.Context(), d.Project)
		if err != nil {
			s.writeError(w, r, err)
			return
		}
		d.Topic, d.Here = "kanban:"+d.Project, kanbanHref(d.Project, 0)
		d.Columns = s.kanbanColumns(r.Context(), &b, cardTasks(&state, d.Project), d.Full)
	}
	s.renderPage(w, r, http.StatusOK, "kanban", d)
}

// usualKanban returns the project whose board is shown first: one with a task that works on a card, else the first.
func usualKanban(state *overview.State) string {
	for i := range state.Tasks {
		if project, _, ok := board.ParseRef(state.Tasks[i].Tracker); ok {
			return project
		}
	}
	if len(state.Projects) > 0 {
		return state.Projects[0].Name
	}
	return ""
}

// cardTasks returns the tasks that work on cards of a project, by number: the open one, else the newest.
func cardTasks(state *overview.State, project string) map[int]*overview.Row {
	out := map[int]*overview.Row{}
	for i := range state.Tasks {
		r := &state.Tasks[i]
		of, number, ok := board.ParseRef(r.Tracker)
		if !ok || of != project {
			continue
		}
		if have := out[number]; have == nil || have.Kind == workflow.Terminal || r.Kind != workflow.Terminal {
			out[number] = r
		}
	}
	return out
}

// kanbanColumns sorts the cards of a board into its columns.
func (s *Site) kanbanColumns(ctx context.Context, b *wire.Board, tasks map[int]*overview.Row, full string) []kanbanColumn {
	out := make([]kanbanColumn, 0, len(b.Columns)+1)
	places := map[string]int{}
	for _, name := range b.Columns {
		places[name] = len(out)
		out = append(out, kanbanColumn{Name: name})
	}
	for i := range b.Cards {
		c := &b.Cards[i]
		at, known := places[c.Column]
		if !known { // the board lost the column; the card is still there
			at, places[c.Column] = len(out), len(out)
			out = append(out, kanbanColumn{Name: c.Column})
		}
		col := &out[at]
		if col.Count++; len(col.Cards) == maxCards && full != col.Name {
			col.More++
			continue
		}
		col.Cards = append(col.Cards, s.kanbanCardOf(ctx, c, tasks[c.Number]))
	}
	return out
}

func (s *Site) kanbanCardOf(ctx context.Context, c *board.Card, r *overview.Row) kanbanCard {
	out := kanbanCard{Number: c.Number, Href: kanbanHref(c.Project, c.Number), Title: ansi.OneLine(c.Title), Column: c.Column, Tags: c.Tags, Updated: c.UpdatedAt}
	if c.Claim != nil && c.Claim.HoldsAt(s.o.Now()) {
		out.Claim = ansi.OneLine(c.Claim.Owner)
	}
	if r == nil {
		return out
	}
	var agents card
	agents.describeLife(r, s.o.Now())
	out.Task = &kanbanTask{ID: r.ID, Status: r.Status, Kind: r.Kind, Class: agents.Class, Life: agents.Life, LifeClass: agents.LifeClass}
	if r.Wants.WaitsForPerson() {
		look := lookOf(r.Wants)
		out.Task.Class += " wants"
		out.Task.Act, out.Task.ActIcon, out.Task.Why = look.Action, look.Icon, r.Text
	}
	if def := s.loadDefinition(ctx, r.WorkflowHash); def != nil && r.Kind != workflow.Terminal {
		out.Offers = tagOffers(def, r.Status, c)
	}
	return out
}

// tagOffers returns the tags that only people set and that open an edge out of the state of the card's task.
func tagOffers(def *workflow.Definition, status string, c *board.Card) []tagOffer {
	var out []tagOffer
	now := c.Snapshot()
	for _, i := range def.EdgesFrom(status) {
		for _, on := range def.Edges[i].On {
			if on.Board == nil {
				continue
			}
			tags, ok := on.Board.MissingTags(&now)
			foreign := func(tag string) bool { return !def.SetByPeople(tag) }
			known := func(o tagOffer) bool { return slices.Equal(o.Tags, tags) }
			if ok && len(tags) > 0 && !slices.ContainsFunc(tags, foreign) && !slices.ContainsFunc(out, known) {
				out = append(out, tagOffer{tags})
			}
		}
	}
	return out
}

// kanbanCardData is the data of the page of a card.
type kanbanCardData struct {
	page
	Project  string
	Board    string // address of its board
	Card     kanbanCard
	Columns  []string
	Created  string
	Text     template.HTML // the description
	Comments []kanbanComment
	People   []string // tags that only people set, neither on the card nor offered
	Others   []string // other tags that are not on the card
}

// kanbanComment is a comment on a card. Of a structured one, Kind is what it is about, and Text is its summary.
type kanbanComment struct {
	Author string
	At     time.Time
	Kind   string
	Text   template.HTML
	Whole  string // a structured comment as it was written, "" for others
}

func kanbanCommentOf(m board.Comment) kanbanComment {
	out, text := kanbanComment{Author: ansi.OneLine(m.Author), At: m.At}, m.Text
	if c, err := als.Parse(text); err == nil && c.Text(als.Summary) != "" {
		out.Kind, out.Whole = ansi.OneLine(strings.Trim(c.Text(als.Intent)+": "+c.Text(als.Action), ": ")), ansi.SafeText(text)
		text = c.Text(als.Summary)
	}
	out.Text = template.HTML(markdown.RenderHTML(text)) //nolint:gosec // HTML in it is text
	return out
}

// mostComments limits how many comments a page shows.
const mostComments = 200

func (s *Site) serveKanbanCard(w http.ResponseWriter, r *http.Request) {
	project, number, err := cardOfPath(r)
	if err != nil {
		s.writeError(w, r, err)
		return
	}
	v, err := s.o.API.ReadCard(r.Context(), project, number)
	if err != nil {
		s.writeError(w, r, err)
		return
	}
	b, err := s.o.API.ReadBoard(r.Context(), project)
	if err != nil {
		s.writeError(w, r, err)
		return
	}
	state, err := s.o.API.ReadState(r.Context(), client.StateQuery{All: true})
	if err != nil {
		s.writeError(w, r, err)
		return
	}
	row := cardTasks(&state, project)[number]
	d := kanbanCardData{
		page: s.pageOf(r, &state), Project: project, Board: kanbanHref(project, 0), Card: s.kanbanCardOf(r.Context(), &v.Card, row), Columns: b.Columns,
		Created: strings.TrimSuffix(humanize.FormatTime(s.o.Now(), v.Card.CreatedAt)+" by "+ansi.OneLine(v.Card.Author), " by "),
		Text:    template.HTML(markdown.RenderHTML(v.Card.Description)), //nolint:gosec // HTML in it is text
	}
	d.Topic = "kanban:" + project
	for _, m := range v.Comments[max(0, len(v.Comments)-mostComments):] {
		d.Comments = append(d.Comments, kanbanCommentOf(m))
	}
	def := s.kanbanDefinition(r.Context(), &state, project, row)
	for _, tag := range b.Tags {
		offered := func(o tagOffer) bool { return slices.Contains(o.Tags, tag) }
		switch {
		case slices.Contains(v.Card.Tags, tag), slices.ContainsFunc(d.Card.Offers, offered):
		case def.SetByPeople(tag):
			d.People = append(d.People, tag)
		default:
			d.Others = append(d.Others, tag)
		}
	}
	s.renderPage(w, r, http.StatusOK, "kanban_card", d)
}

// kanbanDefinition returns the workflow that says who sets the tags of a card: that of its task, else of another task on
// the board, else the one that boards come from.
func (s *Site) kanbanDefinition(ctx context.Context, state *overview.State, project string, row *overview.Row) *workflow.Definition {
	if row == nil {
		for _, other := range cardTasks(state, project) {
			row = other
		}
	}
	if row != nil {
		if def := s.loadDefinition(ctx, row.WorkflowHash); def != nil {
			return def
		}
	}
	const usual = "joan-board"
	text, _ := builtin.Text(usual)
	def, err := workflow.Parse(builtin.File(usual), text)
	if err != nil {
		return &workflow.Definition{}
	}
	return def
}

// cardOfPath returns the card that the path of a request names.
func cardOfPath(r *http.Request) (project string, number int, err error) {
	number, ok := board.ParseNumber(r.PathValue("number"))
	if !ok {
		err = newRefusal(http.StatusNotFound, "this card does not exist: go to the board")
	}
	return r.PathValue("project"), number, err
}

// addKanbanCard puts a card on a board.
func (s *Site) addKanbanCard(w http.ResponseWriter, r *http.Request) error {
	note, err := noteOf(r)
	if err != nil {
		return err
	}
	f := r.PostForm
	added, err := s.o.API.AddCard(r.Context(), r.PathValue("project"), wire.NewCard{
		Title: f.Get("title"), Column: f.Get("column"), Description: note, NoTask: f.Get("start") == "", Code: strings.TrimSpace(f.Get(fieldCode)),
	})
	if err != nil {
		return err
	}
	said := fmt.Sprintf("Added card %d.", added.Card.Number)
	switch {
	case added.Warning != "":
		said += " " + added.Warning
	case added.Task != "":
		said += " Its task is created."
	}
	s.finishForm(w, r, kanbanHref(added.Card.Project, 0), said)
	return nil
}

// changeKanbanCard changes the card of a form on behalf of the person.
func (s *Site) changeKanbanCard(w http.ResponseWriter, r *http.Request) error {
	project, number, err := cardOfPath(r)
	if err != nil {
		return err
	}
	change, err := cardChange(r)
	if err != nil {
		return err
	}
	done, err := s.o.API.ChangeCard(r.Context(), project, number, change, strings.TrimSpace(r.PostForm.Get(fieldCode)))
	if err != nil {
		return err
	}
	s.finishForm(w, r, r.PostForm.Get("back"), describeCardChange(&done, &change))
	return nil
}

// cardChange returns the change that a form describes.
func cardChange(r *http.Request) (out board.Change, err error) {
	do, of, _ := strings.Cut(r.PostForm.Get("do"), ":")
	switch do {
	case "tag":
		out.AddTags = strings.Split(of, ",")
	case "untag":
		out.RemoveTags = strings.Split(of, ",")
	case "move":
		out.Column = cmp.Or(of, r.PostForm.Get("column"))
	case "comment":
		out.Comment, err = noteOf(r)
	}
	if err == nil && of == "" && out.Column == "" && out.Comment == "" {
		err = newRefusal(http.StatusBadRequest, "the request changes nothing: choose a tag or a column, or write a comment")
	}
	return out, err
}

// describeCardChange says what became of a card.
func describeCardChange(done *wire.ChangedCard, c *board.Change) string {
	said := ""
	switch {
	case len(c.AddTags) > 0:
		said = "has the tag " + strings.Join(c.AddTags, ", ")
	case len(c.RemoveTags) > 0:
		said = "no longer has the tag " + strings.Join(c.RemoveTags, ", ")
	case c.Column != "":
		said = "is in " + done.Card.Column
	default:
		said = "has a new comment"
	}
	if !done.Changed {
		said += ", as before"
	}
	return fmt.Sprintf("Card %d %s.", done.Card.Number, said)
}

// concernsKanban reports whether a change affects the board of a project: the board itself, or a task of the project.
func (v *viewer) concernsKanban(project string, c *overview.Change) bool {
	mark := v.mark
	for _, p := range c.Projects {
		if p.Name == project {
			v.mark = p.Board
		}
	}
	of := func(r overview.Row) bool { return r.Project == project && r.Tracker != "" }
	return mark != v.mark || len(c.Gone) > 0 || slices.ContainsFunc(c.Tasks, of)
}
