package web

import (
	"fmt"
	"net/http"
	"path"
	"slices"
	"strconv"
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
	AtWork   int    // agents that are neither idle nor blocked
	Tokens   string // of the attempts that are running
	Cost     string // likewise
	Today    string // cost of open tasks today
	AllSpent string // of all tasks that are not over
}

// agent is a running attempt.
type agent struct {
	ID, Title, Where, Status string
	Number                   int
	Role                     string
	Harness, HarnessFull     string // the name, and as it is configured
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
	Wants        int // tasks that wait for a person
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
	var live, all, today, tokens int64
	for i := range state.Tasks {
		row := &state.Tasks[i]
		all += row.Spent.CostMicroUSD
		today += row.Today
		for _, a := range row.Attempts {
			d.Agents = append(d.Agents, agentOf(row, a, d.Now))
			live += a.Usage.CostMicroUSD
			tokens += totalTokens(a)
		}
	}
	d.AtWork = max(0, d.Sum.Agents-d.Sum.Idle-d.Sum.Blocked)
	slices.SortStableFunc(d.Agents, func(a, b agent) int { return strings.Compare(a.Since, b.Since) })
	for _, p := range state.Projects {
		d.Pools = append(d.Pools, poolOf(&state, p))
	}
	d.Cost, d.AllSpent, d.Today, d.Tokens = formatMoney(live), formatMoney(all), formatMoney(today), formatCount(tokens)
	s.renderPage(w, r, http.StatusOK, "fleet", d)
}

func totalTokens(a overview.Attempt) int64 { return int64(a.Usage.InputTokens + a.Usage.OutputTokens) }

func agentOf(row *overview.Row, a overview.Attempt, now time.Time) agent {
	out := agent{
		ID: string(row.ID), Title: titleText(row), Where: row.Project + "/" + row.Branch, Status: row.Status,
		Number: a.Number, Role: a.Role, Harness: harnessName(row.Harness), HarnessFull: row.Harness, Mood: task.Condition{Name: a.Condition}.Words(), Detail: a.Detail,
		Since: isoTime(a.Since), Age: humanize.FormatAge(now, a.Since), Active: isoTime(a.Active), Quiet: humanize.FormatAge(now, a.Active), Tokens: totalTokens(a), Cost: formatMoney(a.Usage.CostMicroUSD),
	}
	switch {
	case a.Ending:
		out.Mood, out.Class = "ending", "none"
	case a.Overdue:
		out.Class = "dead"
	case task.NeedsPerson(a.Condition):
		out.Class = "wants"
	case a.Idle() || a.Blocked():
		out.Class = "none"
	default:
		out.Class = "alive"
	}
	if t := row.Deadline; t != nil && !t.At.IsZero() {
		out.Due, out.DueIn, out.DueWhat = isoTime(t.At), timeUntil(now, t.At), t.What
	}
	return out
}

func poolOf(state *overview.State, p overview.Project) pool {
	out := pool{Name: p.Name, Path: p.Path, Used: state.UsedWorkspaces(p.Name), Total: p.Pool, Attempts: p.DayAttempts, MaxAttempts: p.Day.DayAttempts}
	var today int64
	for i := range state.Tasks {
		if r := &state.Tasks[i]; r.Project == p.Name {
			today += r.Today
			if r.Wants.WaitsForPerson() {
				out.Wants++
			}
			if r.Queued {
				out.Queued++
			}
			out.Agents += len(r.Attempts)
		}
	}
	out.Spent = formatMoney(today)
	if p.Day.DayMicros > 0 { // with a budget the closed tasks count, too
		out.Spent, out.Limit = formatMoney(p.DayMicros), formatMoney(p.Day.DayMicros)
		out.Percent = int(min(100, p.DayMicros*100/p.Day.DayMicros))
	}
	return out
}

// formatCount formats a large number in few characters.
func formatCount(n int64) string {
	switch {
	case n >= 10_000_000:
		return fmt.Sprintf("%dM", n/1_000_000)
	case n >= 1_000_000:
		return fmt.Sprintf("%.1fM", float64(n)/1e6)
	case n >= 10_000:
		return fmt.Sprintf("%dk", n/1000)
	}
	return strconv.FormatInt(n, 10)
}

// harnessName returns the name of a harness without the path of its program or its file.
func harnessName(harness string) string {
	kind, file, found := strings.Cut(harness, ":")
	if !found {
		return path.Base(harness)
	}
	return strings.TrimSuffix(path.Base(file), path.Ext(file)) + " (" + kind + ")"
}

// isoTime formats a time for scripts. It returns "" for the zero time.
func isoTime(at time.Time) string {
	if at.IsZero() {
		return ""
	}
	return at.UTC().Format(time.RFC3339)
}
