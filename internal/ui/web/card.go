package web

import (
	"cmp"
	"fmt"
	"net/http"
	"strconv"
	"strings"
	"time"

	"orange/internal/core/engine"
	"orange/internal/core/overview"
	"orange/internal/core/prose"
	"orange/internal/core/workflow"
	"orange/internal/ui/client"
)

// card is a task on the board, in the words that are shown.
type card struct {
	ID      string
	Short   string
	Class   string
	Order   int64  // its place in a column
	Moves   string // states that it may be dragged to
	Notes   string // those of them to which it goes with words
	Title   string
	Where   string
	Life    string // for those who do not see the colour
	Act     string // who must act
	Why     string
	PR      string
	PRURL   string
	Checks  string
	Facts   string // of its branch, and what it cost
	Since   string // ISO
	Age     string
	Can     bool // moves can be asked for
	Tracker string
}

// cardOf puts a row into words. In the past nothing can be asked for.
func cardOf(r *overview.Row, now time.Time, past bool) card {
	c := card{
		ID: string(r.ID), Short: prose.Short(string(r.ID)), Order: r.Created.UnixMilli(), Title: titleText(r), Where: r.Project + "/" + r.Branch, Why: r.Why,
		Since: r.Since.UTC().Format(time.RFC3339), Age: prose.Age(now, r.Since), Facts: factsOf(r), Tracker: r.Tracker,
	}
	c.Class, c.Life = lifeOf(r)
	switch {
	case r.Wants != "":
		c.Class += " wants"
		c.Act, c.Why = wantsText(r.Wants), r.Text
	case r.Queued:
		c.Act = "queued"
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
		c.Moves, c.Notes = targets(r.Moves)
	}
	return c
}

// targets are states as an attribute lists them. A name with a blank in it is left to
// the form.
func targets(moves []engine.Move) (all, notes string) {
	var every, some []string
	for _, m := range moves {
		if strings.ContainsAny(m.To, " \t\n") {
			continue
		}
		every = append(every, m.To)
		if m.As == "request-changes" {
			some = append(some, m.To)
		}
	}
	return strings.Join(every, " "), strings.Join(some, " ")
}

// safeURL is an address that a link may have, "" for any other.
func safeURL(u string) string {
	if strings.HasPrefix(u, "https://") || strings.HasPrefix(u, "http://") {
		return u
	}
	return ""
}

func titleText(r *overview.Row) string {
	return cmp.Or(r.Summary, r.Branch, string(r.ID))
}

// lifeOf says how the agents of a task are, as a class and in words.
func lifeOf(r *overview.Row) (class, words string) {
	switch r.Life {
	case overview.Dead:
		return "dead", "the agent died"
	case overview.Alive:
		for _, a := range r.Attempts {
			if !a.Ending {
				return "alive", strings.TrimSpace(a.Role + " " + strings.ReplaceAll(cmp.Or(a.Mood, "at work"), "_", " "))
			}
		}
		return "alive", "at work"
	}
	return "none", ""
}

// wantsText says in two words what a person is wanted for.
func wantsText(k engine.ItemKind) string {
	switch k {
	case engine.ItemAttention:
		return "You: look, it was given up"
	case engine.ItemConfirm:
		return "You: approve"
	case engine.ItemPermission:
		return "You: permit"
	case engine.ItemInput, engine.ItemQuestion:
		return "You: answer"
	case engine.ItemReview:
		return "You: review"
	case engine.ItemStuck:
		return "You: help"
	case engine.ItemCrashed:
		return "You: respawn"
	case engine.ItemFailed:
		return "You: it failed"
	case engine.ItemNoAnswer:
		return "You: it did not say"
	case engine.ItemBoard:
		return "You: tag the card"
	case engine.ItemStart:
		return "You: start"
	}
	return "You: " + string(k)
}

// factsOf is what a task's branch has and what it cost.
func factsOf(r *overview.Row) string {
	var out []string
	if w := r.Work; w != nil && (w.Commits > 0 || w.Added > 0 || w.Deleted > 0) {
		out = append(out, plural(w.Commits, "commit"), fmt.Sprintf("+%d −%d", w.Added, w.Deleted))
	}
	if r.Spent.Micros > 0 {
		out = append(out, money(r.Spent.Micros))
	}
	return strings.Join(out, " · ")
}

func plural(n int, what string) string {
	if n == 1 {
		return "1 " + what
	}
	return strconv.Itoa(n) + " " + what + "s"
}

// rowOf is how one task looks, and a page that is about it.
func (s *Site) rowOf(r *http.Request, id string) (overview.Row, page, error) {
	state, err := s.o.API.State(r.Context(), client.Seen{All: true})
	if err != nil {
		return overview.Row{}, page{}, err
	}
	p := s.pageOf(r, &state)
	for i := range state.Tasks {
		if strings.HasPrefix(string(state.Tasks[i].ID), id) {
			return state.Tasks[i], p, nil
		}
	}
	return overview.Row{}, p, refuse(http.StatusNotFound, "there is no such task: start at the board")
}

// kindOrder is the place of a kind along the life of a task.
func kindOrder(k workflow.Kind) int {
	for i, one := range []workflow.Kind{workflow.Queued, workflow.Waiting, workflow.Agent, workflow.HumanDo, workflow.Halt, workflow.Terminal} {
		if one == k {
			return i
		}
	}
	return 6
}
