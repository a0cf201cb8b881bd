package web

import (
	"net/http"
	"slices"
	"strings"
	"time"

	"orange/internal/core/task"
	"orange/internal/ui/client"
	"orange/internal/view/humanize"
	"orange/internal/view/overview"
)

func (s *Site) fleetRoutes(mux *http.ServeMux) {
	mux.HandleFunc("GET /fleet", s.serveFleet)
}

type fleetData struct {
	page
	Agents   []agent
	Pools    []pool
	Sum      overview.Summary
	Tokens   int64
	Cost     string // of the attempts that are running
	AllSpent string // of all tasks that are not over
}

// agent is a running attempt.
type agent struct {
	ID, Title, Where, Status string
	Number                   int
	Role, Harness            string
	Mood, Detail             string
	Class                    string
	Since, Age               string
	Active, Quiet            string // when it last wrote output, and how long ago
	Tokens                   int64
	Cost                     string
	Due, DueIn, DueWhat      string // the next timer of its task
}

// pool is a project's workspaces, with the project's cost today.
type pool struct {
	Name, Path   string
	Used, Total  int
	Queued       int
	Agents       int
	Attempts     int // today
	MaxAttempts  int
	Spent, Limit string
	Percent      int
}

func (s *Site) serveFleet(w http.ResponseWriter, r *http.Request) {
	state, err := s.o.API.ReadState(r.Context(), client.StateQuery{})
	if err != nil {
		s.writeError(w, r, err)
		return
	}
	d := fleetData{page: s.pageOf(r, &state), Sum: overview.SumRows(state.Tasks)}
	d.Topic = "all"
	var live, all int64
	for i := range state.Tasks {
		row := &state.Tasks[i]
		all += row.Spent.CostMicroUSD
		for _, a := range row.Attempts {
			d.Agents = append(d.Agents, agentOf(row, a, d.Now))
			live += a.Usage.CostMicroUSD
			d.Tokens += totalTokens(a)
		}
	}
	d.Cost, d.AllSpent = formatMoney(live), formatMoney(all)
	slices.SortStableFunc(d.Agents, func(a, b agent) int { return strings.Compare(a.Since, b.Since) })
	for _, p := range state.Projects {
		d.Pools = append(d.Pools, poolOf(&state, p))
	}
	s.renderPage(w, r, http.StatusOK, "fleet", d)
}

func totalTokens(a overview.Attempt) int64 { return int64(a.Usage.InputTokens + a.Usage.OutputTokens) }

func agentOf(row *overview.Row, a overview.Attempt, now time.Time) agent {
	out := agent{
		ID: string(row.ID), Title: titleText(row), Where: row.Project + "/" + row.Branch, Status: row.Status,
		Number: a.Number, Role: a.Role, Harness: row.Harness, Mood: strings.ReplaceAll(a.Condition, "_", " "), Detail: a.Detail,
		Since: isoTime(a.Since), Age: humanize.FormatAge(now, a.Since), Active: isoTime(a.Active), Quiet: humanize.FormatAge(now, a.Active), Tokens: totalTokens(a), Cost: formatMoney(a.Usage.CostMicroUSD),
	}
	switch {
	case a.Ending:
		out.Mood, out.Class = "ending", "none"
	case a.Overdue:
		out.Class = "dead"
	case task.NeedsPerson(a.Condition):
		out.Class = "wants"
	default:
		out.Class = "alive"
	}
	if out.Mood == "" {
		out.Mood = "at work"
	}
	if t := row.Deadline; t != nil && !t.At.IsZero() {
		out.Due, out.DueIn, out.DueWhat = isoTime(t.At), humanize.DescribeUntil(now, t.At), t.What
	}
	return out
}

func poolOf(state *overview.State, p overview.Project) pool {
	out := pool{Name: p.Name, Path: p.Path, Used: state.UsedWorkspaces(p.Name), Total: p.Pool, Attempts: p.DayAttempts, MaxAttempts: p.Day.DayAttempts}
	for i := range state.Tasks {
		if r := &state.Tasks[i]; r.Project == p.Name {
			if r.Queued {
				out.Queued++
			}
			out.Agents += len(r.Attempts)
		}
	}
	if p.Day.DayMicros > 0 {
		out.Spent, out.Limit = formatMoney(p.DayMicros), formatMoney(p.Day.DayMicros)
		out.Percent = int(min(100, p.DayMicros*100/p.Day.DayMicros))
	}
	return out
}

// isoTime formats a time for scripts. It returns "" for the zero time.
func isoTime(at time.Time) string {
	if at.IsZero() {
		return ""
	}
	return at.UTC().Format(time.RFC3339)
}
