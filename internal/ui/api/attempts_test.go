package api_test

import (
	"encoding/json"
	"testing"

	"github.com/google/go-cmp/cmp"

	"orange/internal/core/signal"
	"orange/internal/core/task"
	"orange/internal/wire"
)

// attemptsBook has attempts whose cards say too much, too little and nothing.
type attemptsBook struct{ *guests }

func (attemptsBook) ListAttempts(task.Task) ([]wire.Attempt, error) {
	return []wire.Attempt{{Number: 1, Role: "worker", Usage: &task.Usage{InputTokens: 1}}, {Number: 2, Role: "reviewer", Usage: &task.Usage{InputTokens: 99}}}, nil
}

// TestAttemptsAreCountedAsTheRecordIs makes sure that what attempts are said to have
// consumed adds up to what their task has.
func TestAttemptsAreCountedAsTheRecordIs(t *testing.T) {
	r := open(t)
	must(t, r.stop())
	r.server.Attempts = attemptsBook{}
	r.listen(r.server.Home + "/t")
	made := r.ask("POST", "/v1/tasks", `{"project":"p","branch":"a","summary":"s","spawn":true}`)
	id := task.ID(made.body["task"].(map[string]any)["id"].(string))
	for _, u := range []task.Usage{{InputTokens: 10, OutputTokens: 7, CostMicroUSD: 500}, {InputTokens: 30, OutputTokens: 5}, {InputTokens: 20, CachedTokens: 3, CostMicroUSD: 900}} {
		a, err := r.runtime.Submit(t.Context(), id, signal.Signal{Kind: signal.Notice, Actor: task.Engine, Attempt: 1, Usage: &u})
		if err != nil || a.Decision.Refused != "" {
			t.Fatal(err, a.Decision.Refused)
		}
	}
	var got struct {
		Attempts []wire.Attempt   `json:"attempts"`
		Today    *wire.DailySpend `json:"today"`
	}
	must(t, json.Unmarshal([]byte(r.ask("GET", "/v1/tasks/"+string(id)+"/attempts", "").text), &got))
	record, _, err := r.store.Task(id)
	must(t, err)
	want := task.Usage{InputTokens: 30, OutputTokens: 7, CachedTokens: 3, CostMicroUSD: 900}
	if record.Spent.Usage != want || got.Today != nil {
		t.Errorf("the record has %+v, the day %+v", record.Spent.Usage, got.Today)
	}
	if diff := cmp.Diff([]wire.Attempt{{Number: 1, Role: "worker", State: record.Status, Usage: &want}, {Number: 2, Role: "reviewer"}}, got.Attempts); diff != "" {
		t.Error(diff)
	}
}
