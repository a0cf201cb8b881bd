package web

import (
	"cmp"
	"html/template"
	"net/http"
	"strconv"
	"strings"
	"time"

	"orange/internal/core/stats"
	"orange/internal/view/ansi"
	"orange/internal/view/chart"
	"orange/internal/wire"
)

func (s *Site) statsRoutes(mux *http.ServeMux) {
	mux.HandleFunc("GET /stats", s.serveStats)
}

// statsData is the data of the page with statistics.
type statsData struct {
	page
	By        stats.By
	Groupings []stats.By
	Project   string
	Projects  []string
	Since     string // one of statsSpans
	Spans     []statsSpan
	Tasks     int
	Charts    []statsChart
}

// statsChart is a chart and the same figures as a table, or only the table.
type statsChart struct {
	ID      string
	Drawing template.HTML
	Title   string
	Head    []string
	Rows    [][]string
}

// statsSpan is a time since which tasks are shown.
type statsSpan struct {
	Value, Name string
	days        int
}

// statsSpans lists the choices of a time, the default first.
var statsSpans = [...]statsSpan{{Value: "", Name: "ever"}, {"1d", "the last day", 1}, {"7d", "the last 7 days", 7}, {"30d", "the last 30 days", 30}}

func (s *Site) serveStats(w http.ResponseWriter, r *http.Request) {
	q := r.URL.Query()
	data := statsData{
		page: s.newPage(r), By: stats.By(cmp.Or(q.Get("by"), string(stats.ByHarness))), Groupings: stats.Groupings(),
		Project: q.Get("project"), Spans: statsSpans[:],
	}
	want := wire.StatsQuery{By: data.By, Project: data.Project}
	for _, span := range statsSpans {
		if span.days > 0 && span.Value == q.Get("since") {
			data.Since, want.Since = span.Value, data.Now.Add(-time.Duration(span.days)*24*time.Hour)
		}
	}
	got, err := s.o.API.ReadStats(r.Context(), want)
	if err != nil {
		s.writeError(w, r, err)
		return
	}
	projects, err := s.o.API.ListProjects(r.Context())
	if err != nil {
		s.writeError(w, r, err)
		return
	}
	for _, p := range projects {
		data.Projects = append(data.Projects, ansi.OneLine(p.Name))
	}
	data.Tasks = got.Total.Tasks
	data.addCharts(&got)
	s.renderPage(w, r, http.StatusOK, "stats", data)
}

// maxShownGroups bounds the groups of a page.
const maxShownGroups = 50

func (d *statsData) addCharts(got *wire.Stats) {
	shown := got.Groups[:min(len(got.Groups), maxShownGroups)]
	for i := range shown {
		shown[i].Name = ansi.OneLine(strings.TrimSpace(shown[i].Name + " " + shown[i].Hint))
	}
	groups := append(shown[:len(shown):len(shown)], got.Total) // the tables have the sum, too
	by := string(got.By)
	outcomes := statsChart{ID: "outcomes", Title: "Outcomes, in tasks", Head: []string{by, "tasks"}, Drawing: drawBars(chart.OutcomeBars(shown))}
	for _, o := range stats.Outcomes() {
		outcomes.Head = append(outcomes.Head, chart.OutcomeName(o))
	}
	outcomes.Head = append(outcomes.Head, "review rounds per task")
	costs := statsChart{ID: "costs", Title: "Cost, in dollars", Head: []string{by, "attempts", "cost", "attempts with a known cost", "tokens", "attempts with known tokens"}, Drawing: drawBars(chart.CostBars(shown))}
	times := statsChart{ID: "times", Title: "Median time of a task", Head: []string{by, "agents at work", "waiting for people", "from beginning to end"}, Drawing: drawBars(chart.TimeBars(shown))}
	for i := range groups {
		g := &groups[i]
		row := []string{g.Name, strconv.Itoa(g.Tasks)}
		for _, o := range stats.Outcomes() {
			row = append(row, strconv.Itoa(g.Outcomes[o]))
		}
		outcomes.Rows = append(outcomes.Rows, append(row, chart.DescribeRounds(g)))
		costs.Rows = append(costs.Rows, []string{
			g.Name, strconv.Itoa(g.Attempts), chart.DescribeCost(g), strconv.Itoa(g.CostMeasured), chart.DescribeTokens(g), strconv.Itoa(g.TokensMeasured),
		})
		times.Rows = append(times.Rows, []string{
			g.Name, chart.FormatDuration(g.Working.Median), chart.FormatDuration(g.Waiting.Median), chart.FormatDuration(g.Total.Median),
		})
	}
	d.Charts = []statsChart{outcomes, costs, times}
	d.addChecks(got.Checks)
}

// addChecks adds a table of the runs of checks, if there were any.
func (d *statsData) addChecks(list []stats.CheckGroup) {
	if len(list) == 0 {
		return
	}
	checks := statsChart{ID: "checks", Title: "Checks, in runs", Head: []string{"check", "tasks", "runs", "failed", "without a result", "median time of a run", "time of all runs"}}
	for _, g := range list[:min(len(list), maxShownGroups)] {
		checks.Rows = append(checks.Rows, []string{
			ansi.OneLine(g.Name), strconv.Itoa(g.Tasks), strconv.Itoa(g.Runs), strconv.Itoa(g.Failed), strconv.Itoa(g.NoResult),
			chart.FormatDuration(g.Time.Median), chart.FormatDuration(g.Time.Sum),
		})
	}
	d.Charts = append(d.Charts, checks)
}

func drawBars(c *chart.Bars) template.HTML { return template.HTML(c.InlineSVG()) } //nolint:gosec // made and escaped by us
