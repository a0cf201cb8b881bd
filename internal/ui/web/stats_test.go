package web_test

import (
	"testing"

	"orange/internal/core/stats"
	"orange/internal/core/task"
	"orange/internal/ui/apitest"
	"orange/internal/wire"
)

func TestStatsPage(t *testing.T) {
	s := newTaskBackend(t)
	v := s.open(false).visitor(t)
	res, body := v.get("/stats")
	if res.StatusCode != 200 {
		t.Fatalf("status %d: %s", res.StatusCode, body)
	}
	says(t, body, []string{"There are no such tasks yet"}, []string{"<svg class=\"chart\""})
	s.api.Statistics = apitest.Statistics{Stats: wire.Stats{
		Groups: []stats.Group{
			{Name: "claude", Tasks: 2, Attempts: 2, CostMeasured: 2, TokensMeasured: 2, Usage: task.Usage{InputTokens: 1200, CostMicroUSD: 1_500_000}, Outcomes: map[stats.Outcome]int{stats.Landed: 2}},
			{Name: `<img src=x>"`, Tasks: 1, Attempts: 1, TokensMeasured: 1, Outcomes: map[stats.Outcome]int{stats.Stuck: 1}},
		},
		Total: stats.Group{Name: "all", Tasks: 3, Attempts: 3, CostMeasured: 2, TokensMeasured: 3, Usage: task.Usage{CostMicroUSD: 1_500_000}},
	}}
	for name, tt := range map[string]struct {
		path        string
		status      int
		want, never []string
	}{
		"charts and tables": {"/stats?by=harness&since=7d", 200, []string{
			`<svg class="chart" role="img"`, `<link rel="stylesheet" href="/static/chart.css">`, "2 landed", "1 stuck", "$1.50", "at least $1.50", "not measured",
			`<th scope="row">claude`, `<option value="7d" selected>`, "<summary>Cost, in dollars, as a table</summary>",
		}, []string{"<img src=x", " style=", "<script>"}},
		"by workflow":                    {"/stats?by=workflow", 200, []string{"<option selected>workflow"}, []string{"A task counts in the group"}},
		"by something that is not there": {"/stats?by=colour", 400, []string{"is not known: use harness, model"}, nil},
	} {
		t.Run(name, func(t *testing.T) {
			res, body := v.get(tt.path)
			if res.StatusCode != tt.status {
				t.Fatalf("status %d: %s", res.StatusCode, body)
			}
			says(t, body, tt.want, tt.never)
			harmless(t, "the page", body)
		})
	}
}
