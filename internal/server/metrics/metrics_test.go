package metrics_test

import (
	"context"
	"errors"
	"log/slog"
	"net/http"
	"net/http/httptest"
	"strings"
	"testing"
	"time"

	"github.com/prometheus/common/expfmt"
	"github.com/prometheus/common/model"

	"orange/internal/core/stats"
	"orange/internal/core/task"
	"orange/internal/core/workflow"
	"orange/internal/server/metrics"
)

func someTasks() []stats.TaskFigures {
	return []stats.TaskFigures{
		{ID: "0123456789abcdefghijk", Project: "secret-project", Workflow: "orange", Kind: workflow.Terminal, Outcome: stats.Landed, Rounds: 2,
			Time: stats.Times{Working: time.Minute, Waiting: 2 * time.Minute, Total: 10 * time.Minute},
			Attempts: []stats.AttemptFigures{
				{Harness: "claude", Usage: task.Usage{InputTokens: 7, CostMicroUSD: 1_500_000}, Measured: true},
				{Harness: "codex", Usage: task.Usage{InputTokens: 5}, Measured: true, Live: true},
				{Harness: "codex", Usage: task.Usage{InputTokens: 5}, Measured: true},
			}},
		{ID: "1123456789abcdefghijk", Workflow: "a \"quoted\"\nname\\", Kind: workflow.Halt, Outcome: stats.Stuck},
	}
}

// The text is what the parser of Prometheus reads.
func TestTheTextIsThatOfPrometheus(t *testing.T) {
	text := metrics.FormatMetrics(someTasks(), "1.2.3")
	parser := expfmt.NewTextParser(model.UTF8Validation)
	got, err := parser.TextToMetricFamilies(strings.NewReader(text))
	if err != nil {
		t.Fatalf("%v\n%s", err, text)
	}
	value := func(name string, labels ...string) float64 {
		t.Helper()
		for _, m := range got[name].GetMetric() {
			have := map[string]string{}
			for _, l := range m.GetLabel() {
				have[l.GetName()] = l.GetValue()
			}
			fits := len(have)*2 == len(labels)
			for i := 0; i+1 < len(labels); i += 2 {
				fits = fits && have[labels[i]] == labels[i+1]
			}
			if fits {
				return m.GetGauge().GetValue() + m.GetCounter().GetValue()
			}
		}
		t.Errorf("no %s with %q in\n%s", name, labels, text)
		return -1
	}
	for _, c := range []struct {
		want   float64
		name   string
		labels []string
	}{
		{1, "orange_tasks", []string{"workflow", "orange", "outcome", "landed"}},
		{0, "orange_tasks", []string{"workflow", "orange", "outcome", "stuck"}},
		{1, "orange_open_tasks", []string{"workflow", "a \"quoted\"\nname\\", "kind", "halt"}},
		{60, "orange_working_seconds_total", []string{"workflow", "orange"}},
		{120, "orange_waiting_seconds_total", []string{"workflow", "orange"}},
		{2, "orange_attempts_total", []string{"harness", "codex", "workflow", "orange"}},
		{1, "orange_live_attempts", []string{"harness", "codex"}},
		{1.5, "orange_cost_dollars_total", []string{"harness", "claude"}},
		{1, "orange_attempts_without_cost_total", []string{"harness", "codex"}},
		{10, "orange_tokens_total", []string{"harness", "codex", "kind", "input"}},
	} {
		if got := value(c.name, c.labels...); got != c.want {
			t.Errorf("%s%q is %v, want %v", c.name, c.labels, got, c.want)
		}
	}
	h := got["orange_task_duration_seconds"].GetMetric()
	if len(h) != 1 || h[0].GetHistogram().GetSampleCount() != 1 || h[0].GetHistogram().GetSampleSum() != 600 {
		t.Errorf("the histogram is %v", h)
	}
	for _, private := range []string{"secret-project", "0123456789abcdefghijk"} {
		if strings.Contains(text, private) {
			t.Errorf("%q is in the metrics", private)
		}
	}
}

func TestNothingIsServedBesideMetrics(t *testing.T) {
	log := slog.New(slog.DiscardHandler)
	figures := func(context.Context) ([]stats.TaskFigures, error) { return someTasks(), nil }
	broken := func(context.Context) ([]stats.TaskFigures, error) { return nil, errors.New("broken") }
	for name, c := range map[string]struct {
		figures      metrics.Figures
		method, path string
		want         int
	}{
		"metrics":       {figures, "GET", "/metrics", 200},
		"something":     {figures, "GET", "/", 404},
		"a change":      {figures, "POST", "/metrics", 405},
		"a bad journal": {broken, "GET", "/metrics", 500},
	} {
		t.Run(name, func(t *testing.T) {
			w := httptest.NewRecorder()
			metrics.Handler(c.figures, "1.2.3", log).ServeHTTP(w, httptest.NewRequest(c.method, c.path, nil))
			if w.Code != c.want {
				t.Errorf("%d, want %d", w.Code, c.want)
			}
		})
	}
}

func TestServeEndsWithItsContext(t *testing.T) {
	ctx, cancel := context.WithCancel(t.Context())
	defer cancel()
	log := slog.New(slog.DiscardHandler)
	h := metrics.Handler(func(context.Context) ([]stats.TaskFigures, error) { return nil, nil }, "1.2.3", log)
	first := httptest.NewServer(http.NotFoundHandler())
	defer first.Close()
	if _, err := metrics.Serve(ctx, first.Listener.Addr().String(), h, log); err == nil || !strings.Contains(err.Error(), "choose another address with --metrics") {
		t.Errorf("an address that is in use: %v", err)
	}
	ended, err := metrics.Serve(ctx, "127.0.0.1:0", h, log)
	if err != nil {
		t.Fatal(err)
	}
	cancel()
	ended()
}
