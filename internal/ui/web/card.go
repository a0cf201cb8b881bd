package web

import (
	"cmp"
	"context"
	"fmt"
	"net/http"
	"slices"
	"strconv"
	"strings"
	"time"

	"orange/internal/core/explain"
	"orange/internal/core/task"
	"orange/internal/core/workflow"
	"orange/internal/ui/client"
	"orange/internal/view/humanize"
	"orange/internal/view/narrate"
	"orange/internal/view/overview"
)

// card is a task on the board, as text ready to show.
type card struct {
	ID      string
	Short   string
	Class   string
	Order   int64  // sorts the cards of a column
	Moves   string // states the card can be dragged to
	Notes   string // those of Moves that open a form first
	Project string
	Branch  string
	Status  string
	Kind    workflow.Kind
	Title   string

	Life      string // what its agents do, or why nothing happens
	LifeClass string
	Since     string // of the life, ISO
	Age       string
	Output    string // the last line that its agent wrote

	Act     string // the word of the button, "" if a person need not act
	ActIcon string
	ActHref string // "" if the button starts the task
	CSRF    string // of the form that starts the task
	Why     string

	PR, PRURL      string
	Checks         string // of the pull request
	Commits        string
	Added, Deleted int
	Check          string // of the checks that Orange runs
	CheckClass     string
	Cost           string
	Waits          string // what it waits for: another task, or its place in the landing queue
	Unblocks       int    // how many tasks wait for this one
	Can            bool   // a person can move the task
}

// A cardMaker makes the cards of a board.
type cardMaker struct {
	site   *Site
	now    time.Time
	past   bool   // cards of the past offer no actions
	csrf   string // of the session
	filter *filter
	all    []overview.Row // every task, shown or not
	counts map[task.ID]int
}

func (s *Site) newCardMaker(f *filter, all []overview.Row, now time.Time, csrf string) *cardMaker {
	return &cardMaker{site: s, now: now, csrf: csrf, filter: f, past: f.AtRow > 0, all: all, counts: overview.CountSuccessors(all)}
}

// makeCard returns the card of a row.
func (m *cardMaker) makeCard(ctx context.Context, r *overview.Row) card {
	c := card{
		ID: string(r.ID), Short: humanize.ShortID(string(r.ID)), Order: m.filter.orderOf(r), Title: titleText(r), Project: r.Project, Branch: r.Branch, Status: r.Status, Kind: r.Kind, Why: r.Why,
		Unblocks: m.counts[r.ID],
	}
	c.describeLife(r, m.now)
	c.describeWork(r)
	switch {
	case r.Landing != nil:
		c.Waits = narrate.DescribePlace(overview.PlaceOf(m.all, r))
	case r.Queued:
		c.Waits = narrate.DescribeAfter(r.After)
	}
	if r.Wants != "" && !m.past {
		look := lookOf(r.Wants)
		c.Act, c.ActIcon, c.Why = look.Action, look.Icon, r.Text
		switch r.Wants {
		case explain.ItemStart:
			c.CSRF = m.csrf
		case explain.ItemReview:
			c.ActHref = "/tasks/" + c.ID
		default:
			c.ActHref = "/inbox?item=" + c.ID
		}
	}
	if r.Wants.WaitsForPerson() {
		c.Class += " wants"
	}
	if !m.past {
		c.Can = len(r.Moves) > 0
		c.Moves, c.Notes = moveTargets(r.Moves, m.site.endPredicate(ctx, r.WorkflowHash))
	}
	return c
}

// describeLife says in one line what the agents of a task do, or why nothing happens, and since when.
func (c *card) describeLife(r *overview.Row, now time.Time) {
	since := r.Since
	c.Class = string(r.Life)
	switch {
	case r.Life == overview.Dead:
		c.Life, c.LifeClass = "the agent died", "dead"
	case r.Life == overview.Alive:
		c.Life, c.LifeClass = "at work", "alive"
		for i := range r.Attempts {
			a := &r.Attempts[i]
			if a.Ending {
				continue
			}
			since, c.Output = a.Since, a.Output
			c.Life = strings.TrimSpace(a.Role + " " + task.Condition{Name: a.Condition}.Words())
			if a.Idle() || a.Blocked() {
				c.LifeClass, c.Output = "", ""
			}
			break
		}
	case r.Paused:
		c.Life = "paused"
	case r.Queued:
		c.Life = "queued"
	case r.Wants == explain.ItemStart:
		c.Life = "not started"
	case r.Wants.WaitsForPerson():
		c.Life, c.LifeClass = "waits for you", "wants"
	case r.Kind != workflow.Terminal && r.Owner != "nobody":
		c.Life = "waits for " + r.Owner
	}
	c.Since, c.Age = isoTime(since), humanize.FormatAge(now, since)
}

// describeWork says how large the work is, what it cost, and what checked it.
func (c *card) describeWork(r *overview.Row) {
	if w := r.Work; w != nil && (w.Commits > 0 || w.Added > 0 || w.Deleted > 0) {
		c.Commits, c.Added, c.Deleted = humanize.Plural(w.Commits, "commit"), w.Added, w.Deleted
	}
	if r.Spent.CostMicroUSD > 0 {
		c.Cost = formatMoney(r.Spent.CostMicroUSD)
	}
	c.Check, c.CheckClass = checksText(r)
	if p := r.PR; p != nil {
		c.PR, c.PRURL = "PR", safeURL(p.URL)
		if p.Number > 0 {
			c.PR = "#" + strconv.Itoa(p.Number)
		}
		if p.State != "OPEN" {
			c.PR += " " + strings.ToLower(p.State)
		}
		c.Checks = p.Checks
	}
}

// HasDiff reports whether the size of the work is known.
func (c card) HasDiff() bool { return c.Commits != "" }

// moveTargets returns the target states of moves, separated by blanks for an attribute, and those of
// them that open a form first: sending work back needs a note, and ending a task must not happen by
// accident. States with a blank in their name are left to the form.
func moveTargets(moves []explain.Move, ends func(explain.Move) bool) (all, notes string) {
	var every, some []string
	for _, m := range moves {
		if strings.ContainsAny(m.To, " \t\n") {
			continue
		}
		every = append(every, m.To)
		if m.As == "request-changes" || ends(m) {
			some = append(some, m.To)
		}
	}
	return strings.Join(every, " "), strings.Join(some, " ")
}

// endPredicate returns a function that reports whether a move of a workflow ends a task. The function
// loads the workflow when it first needs it, and reports true if it cannot tell.
func (s *Site) endPredicate(ctx context.Context, hash string) func(explain.Move) bool {
	var def *workflow.Definition
	asked := false
	return func(m explain.Move) bool {
		if m.As == "cancel" {
			return true
		}
		if !asked {
			def, asked = s.loadDefinition(ctx, hash), true
		}
		if def == nil {
			return true
		}
		st, ok := def.StateNamed(m.To)
		return !ok || st.Kind == workflow.Terminal
	}
}

// safeURL returns u if it is an http or https address, and "" otherwise.
func safeURL(u string) string {
	if strings.HasPrefix(u, "https://") || strings.HasPrefix(u, "http://") {
		return u
	}
	return ""
}

func titleText(r *overview.Row) string {
	return cmp.Or(r.Summary, r.Branch, string(r.ID))
}

// checksText returns how the checks of a task stand, in a few words without a time that passes, and the class of their
// badge.
func checksText(r *overview.Row) (text, class string) {
	c := r.NotableCheck()
	switch {
	case c != nil && c.Failed():
		return c.Name + " " + c.State, "bad"
	case c != nil:
		return c.Name + " " + c.State, ""
	case r.ChecksPassed():
		return humanize.Plural(len(r.Checks), "check") + " passed", "good"
	}
	return "", ""
}

// openMoves is the answer about the moves of a task whose gates were evaluated now.
type openMoves struct {
	Open   []string          `json:"open"`
	Closed map[string]string `json:"closed"` // the reason, by target state
}

// serveMoves says which moves of a task are open. The rows of the board say only which moves a person may request: the
// gates of a move are evaluated when a card is lifted.
func (s *Site) serveMoves(w http.ResponseWriter, r *http.Request) {
	x, err := s.o.API.ExplainTask(r.Context(), r.PathValue("id"))
	if err != nil {
		s.writeError(w, r, err)
		return
	}
	out := openMoves{Open: []string{}, Closed: map[string]string{}}
	for _, e := range x.Edges {
		if !slices.Contains(strings.Split(e.By, ", "), string(task.Human)) { // an edge of the engine is no move of a person
			continue
		}
		if e.Open {
			out.Open = append(out.Open, e.To)
			delete(out.Closed, e.To)
		} else if !slices.Contains(out.Open, e.To) {
			out.Closed[e.To] = fmt.Sprintf("cannot move to %s: %s", e.To, e.Closed)
		}
	}
	s.writeJSON(w, http.StatusOK, out)
}

// rowOf returns the row of one task, and a page about it.
func (s *Site) rowOf(r *http.Request, id string) (overview.Row, page, error) {
	p := s.newPage(r)
	v, err := s.o.API.ReadTask(r.Context(), id)
	if err != nil {
		return overview.Row{}, p, err
	}
	return s.rowFromRecord(r.Context(), &v.Task, p.Now), p, nil
}

// rowFromRecord returns the row of a task from its record alone. If the next move depends on child
// tasks, it asks the server, which knows them.
func (s *Site) rowFromRecord(ctx context.Context, t *task.Task, now time.Time) overview.Row {
	def := s.loadDefinition(ctx, t.WorkflowHash)
	out := overview.NewRow(def, t, overview.Facts{}, now)
	if def == nil || !def.AsksForChildren(t.Status) {
		return out
	}
	if state, err := s.o.API.ReadState(ctx, client.StateQuery{Project: t.Project}); err == nil {
		for i := range state.Tasks {
			if state.Tasks[i].ID == t.ID {
				return state.Tasks[i]
			}
		}
	}
	return out
}
