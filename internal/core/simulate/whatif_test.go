package simulate_test

import (
	"strings"
	"testing"

	"orange/internal/core/simulate"
	"orange/internal/core/workflow"
)

func TestWhatIfChangesTheBoundOfReviews(t *testing.T) {
	def := loadDefinition(t, "orange")
	changed, places, err := simulate.WhatIf(def, "review_round", 4)
	if err != nil || places != 3 {
		t.Fatal(places, err)
	}
	if got, want := strings.Count(changed.Text, "\n"), strings.Count(def.Text, "\n"); got != want {
		t.Errorf("%d lines instead of %d", got, want)
	}
	if len(changed.Check()) > 0 || changed.Hash == def.Hash {
		t.Errorf("findings %v, hash %s", changed.Check(), changed.Hash)
	}
	always := `{"roles": {
		"worker": {"crash": 0, "no_answer": 0, "question": 0, "give_up": 0, "limit": 0, "duration": {"median": "1m", "p95": "2m"}},
		"reviewer": {"crash": 0, "no_answer": 0, "limit": 0, "fail": 1, "duration": {"median": "1m", "p95": "2m"}}}, "human": {"cancel": 1}}`
	for max, d := range map[float64]*workflow.Definition{2: def, 4: changed} {
		s := playRuns(t, d, always, 50)
		if f := s.FindFigure("total of review_round"); f.P50 != max || f.P95 != max || s.Stuck != 1 {
			t.Errorf("reviews %+v, stuck %g, want %g", f, s.Stuck, max)
		}
	}
}

func TestWhatIfChangesTheText(t *testing.T) {
	tests := []struct {
		name, from, to string
		counter        string
		max            int
		changes        []string // old, new, in pairs
		places         int
		says           string
	}{
		{name: "a counter over several lines", counter: "crashes", max: 5, changes: []string{"    max: 2", "    max: 5"}, places: 1},
		{name: "guards in quotes and the other way round", counter: "rounds", max: 12,
			changes: []string{"rounds: {max: 3}", "rounds: {max: 12}", `"3 > rounds"`, `"12 > rounds"`, "'rounds < 3'", "'rounds < 12'"}, places: 3},
		{name: "a guard with another constant", from: "'rounds < 3'", to: "rounds < 2 or rounds == 3", counter: "rounds", max: 4,
			changes: []string{"rounds: {max: 3}", "rounds: {max: 4}", `"3 > rounds"`, `"4 > rounds"`, "rounds < 2 or rounds == 3", "rounds < 2 or rounds == 4"}, places: 3},
		{name: "nothing to change", counter: "rounds", max: 3},
		{name: "an unknown counter", counter: "reviews", max: 3, says: `counter "reviews" is not declared: workflow odd has rounds, crashes`},
		{name: "a bound that is none", counter: "rounds", max: 0, says: "a bound from 1 to 1000"},
		{name: "a guard over two lines", from: "'rounds < 3'", to: "'rounds\n      < 3'", counter: "rounds", max: 4, says: "is not written on one line"},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			text := simOdd
			if tt.from != "" {
				text = strings.Replace(text, tt.from, tt.to, 1)
			}
			def, err := workflow.Parse("odd.yaml", text)
			if err != nil {
				t.Fatal(err)
			}
			got, places, err := simulate.WhatIf(def, tt.counter, tt.max)
			if tt.says != "" {
				if err == nil || !strings.Contains(err.Error(), tt.says) || strings.Contains(err.Error(), "\n") {
					t.Errorf("got %v, want one line with %q", err, tt.says)
				}
				return
			}
			want := strings.NewReplacer(tt.changes...).Replace(text)
			if err != nil || got.Text != want || places != tt.places {
				t.Errorf("%d places, %v:\n%s", places, err, got.Text)
			}
		})
	}
}
