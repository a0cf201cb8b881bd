package web

import (
	"cmp"
	"context"
	"fmt"
	"net/http"
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
	Title   string
	Where   string
	Life    string // the colour in words, for screen readers
	Act     string // who must act
	Why     string
	PR      string
	PRURL   string
	Checks  string
	Facts   string // size of the branch, and the cost
	Since   string // ISO
	Age     string
	Can     bool // a person can move the task
	Tracker string

	Unblocks int // how many tasks wait for this one
}

// cardOf returns the card of a row. A card of the past offers no moves.
func (s *Site) cardOf(ctx context.Context, r *overview.Row, now time.Time, past bool) card {
	c := card{
		ID: string(r.ID), Short: humanize.ShortID(string(r.ID)), Order: r.Created.UnixMilli(), Title: titleText(r), Where: r.Project + "/" + r.Branch, Why: r.Why,
		Since: r.Since.UTC().Format(time.RFC3339), Age: humanize.FormatAge(now, r.Since), Facts: factsOf(r), Tracker: r.Tracker,
	}
	c.Class, c.Life = lifeOf(r)
	switch {
	case r.Wants == explain.ItemStart:
		c.Act, c.Why = "not started", r.Text
	case r.Wants != "":
		c.Class += " wants"
		c.Act, c.Why = r.Wants.Info().Badge, r.Text
	case r.Landing != nil:
		c.Act, c.Why = "landing", r.Landing.Text
	case r.Queued:
		c.Act = cmp.Or(narrate.DescribeAfter(r.After), "queued")
	case r.Paused:
		c.Act = "paused"
	case r.Owner != "nobody" && !strings.HasPrefix(c.Life, r.Owner+" "):
		c.Act = r.Owner
	}
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
	if !past {
		c.Can = len(r.Moves) > 0
		c.Moves, c.Notes = moveTargets(r.Moves, s.endPredicate(ctx, r.WorkflowHash))
	}
	return c
}

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

// lifeOf returns the condition of a task's agents, as a CSS class and in words.
func lifeOf(r *overview.Row) (class, words string) {
	switch r.Life {
	case overview.Dead:
		return "dead", "the agent died"
	case overview.Alive:
		for _, a := range r.Attempts {
			if !a.Ending {
				return "alive", strings.TrimSpace(a.Role + " " + strings.ReplaceAll(cmp.Or(a.Condition, "at work"), "_", " "))
			}
		}
		return "alive", "at work"
	}
	return "none", ""
}

// factsOf returns the size of a task's branch and what the task cost, as text.
func factsOf(r *overview.Row) string {
	var out []string
	if w := r.Work; w != nil && (w.Commits > 0 || w.Added > 0 || w.Deleted > 0) {
		out = append(out, humanize.Plural(w.Commits, "commit"), fmt.Sprintf("+%d −%d", w.Added, w.Deleted))
	}
	if text := checksText(r); text != "" {
		out = append(out, text)
	}
	if r.Spent.CostMicroUSD > 0 {
		out = append(out, formatMoney(r.Spent.CostMicroUSD))
	}
	return strings.Join(out, " · ")
}

// checksText returns how the checks of a task stand, in a few words without a time that passes.
func checksText(r *overview.Row) string {
	c := r.NotableCheck()
	switch {
	case c != nil:
		return c.Name + " " + c.State
	case r.ChecksPassed():
		return humanize.Plural(len(r.Checks), "check") + " passed"
	}
	return ""
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
