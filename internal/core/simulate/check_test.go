package simulate_test

import (
	"strings"
	"testing"
	"time"

	"orange/internal/core/journal"
	"orange/internal/core/simulate"
	"orange/internal/core/task"
)

// calm is a profile of solo in which nothing goes wrong but what a test adds.
const calm = `"states": {"working": {"crash": 0, "no_answer": 0, "question": 0, "give_up": 0, "limit": 0, "exit": 0, "duration": {"median": "10m", "p95": "10m"}}},
  "human": {"delay": {"median": "1h", "p95": "1h"}, "request_changes": 0, "cancel": 0}, "effects": {"duration": "0s", "fail": 0}`

func TestChecksArePlayed(t *testing.T) {
	def := loadDefinition(t, "solo")
	for name, tt := range map[string]struct {
		checks   string
		rounds   float64 // of failed checks
		checking float64 // seconds in the check state
		waits    float64
		stuck    float64
	}{
		"none":         {"", 0, 0, 1, 0},
		"all pass":     {`"fail": 0, "timed_out": 0, "invalid": 0, "crash": 0`, 0, 120, 1, 0},
		"all fail":     {`"fail": 1, "timed_out": 0, "invalid": 0, "crash": 0`, 3, 480, 1, 1},
		"all time out": {`"fail": 0, "timed_out": 1, "invalid": 0, "crash": 0`, 3, 4 * 1200, 1, 1},
	} {
		t.Run(name, func(t *testing.T) {
			profile := "{" + calm + "}"
			if tt.checks != "" {
				profile = "{" + calm + `, "checks": {"duration": {"median": "2m", "p95": "2m"}, ` + tt.checks + "}}"
			}
			if tt.stuck > 0 { // a person gives it up
				profile = strings.Replace(profile, `"cancel": 0`, `"cancel": 1`, 1)
			}
			s := playRuns(t, def, profile, 50)
			in := map[string]float64{}
			for _, st := range s.States {
				in[st.State] = st.Mean
			}
			rounds := s.FindFigure("total of check_round")
			if s.Stuck != tt.stuck || rounds.P50 != tt.rounds || in["checking"] != tt.checking || s.FindFigure(simulate.Waits).P50 != tt.waits {
				t.Errorf("stuck %g, rounds %+v, checking %g, waits %+v", s.Stuck, rounds, in["checking"], s.FindFigure(simulate.Waits))
			}
		})
	}
	// A run without a valid result is repeated once, then a person runs it again; in the end it passes.
	s := playRuns(t, def, "{"+calm+`, "checks": {"duration": {"median": "2m", "p95": "2m"}, "fail": 0, "timed_out": 0, "invalid": 0.3, "crash": 0.3}}`, 300)
	if w := s.FindFigure(simulate.Waits); s.Unfinished != 0 || s.Stuck != 0 || w.Mean < 1.3 || w.Mean > 1.9 {
		t.Errorf("unfinished %g, stuck %g, waits %+v", s.Unfinished, s.Stuck, w)
	}
	if _, err := simulate.DefaultProfile(def).WithFile(def, []byte(`{"checks": {"fail": 0.9, "crash": 0.2}}`)); err == nil || !strings.Contains(err.Error(), "checks: fail, timed_out, invalid and crash add up to") {
		t.Error(err)
	}
}

func TestChecksAreLearned(t *testing.T) {
	def := loadDefinition(t, "solo")
	base := simulate.DefaultProfile(def)
	if l := simulate.LearnProfile(def, base, nil); l.Profile.Checks != nil {
		t.Errorf("%+v of no journal", l.Profile.Checks)
	}
	var journals [][]journal.Entry
	for i, outcome := range []string{"passed", "failed", "passed", "timed-out", "not-found", "broken-off"} {
		journals = append(journals, []journal.Entry{{Seq: 1, Task: "t", Type: journal.CheckEnded, Results: journal.Results{Check: &task.CheckResult{Name: "tests", Outcome: outcome, Duration: time.Duration(i+1) * time.Minute}}}})
	}
	l := simulate.LearnProfile(def, base, journals)
	if c := l.Profile.Checks; c == nil || c.Fail != 0.2 || c.TimedOut != 0.2 || c.Crash != 0.2 || c.Invalid != 0 || c.Duration != simulate.DefaultChecks().Duration {
		t.Errorf("%+v\n%s", c, strings.Join(l.Notes, "\n"))
	}
}
