package simulate_test

import (
	"strings"
	"testing"

	"orange/internal/core/simulate"
)

// behavior returns a profile in which every agent and person of a workflow behaves alike.
func behavior(t *testing.T, name string, change func(*simulate.StateBehavior)) simulate.Summary {
	t.Helper()
	def := loadDefinition(t, name)
	p := simulate.DefaultProfile(def)
	p.Human.RequestChanges, p.Human.Cancel, p.Effects.Fail = 0, 0, 0
	for state, h := range p.States {
		h.Crash, h.NoAnswer, h.Question, h.GiveUp, h.Fail, h.Limit = 0, 0, 0, 0, 0, 0
		h.Duration.P95 = h.Duration.Median
		change(&h)
		p.States[state] = h
	}
	r, err := simulate.Run(def, simulate.RunOptions{Seed: 5, Profile: p}, 0, 300)
	if err != nil {
		t.Fatal(err)
	}
	return r.Summary(def)
}

func figure(t *testing.T, s simulate.Summary, name string) simulate.Figure {
	t.Helper()
	for _, f := range s.Figures {
		if f.Name == name {
			return f
		}
	}
	t.Fatalf("no figure %q: %+v", name, s.Figures)
	return simulate.Figure{}
}

func TestAgentsThatSayHowItWentAreSimulated(t *testing.T) {
	ends := map[string]string{"linear-sdlc": "Accepted", "cmat-feature": "complete"}
	attempts := map[string]float64{"linear-sdlc": 3, "cmat-feature": 5}
	for name, end := range ends {
		for _, exit := range []float64{0, 1} { // at a terminal, and by their end
			s := behavior(t, name, func(h *simulate.StateBehavior) { h.Exit = exit })
			if s.Ends[0].State != end || s.Ends[0].Share != 1 || s.Stuck != 0 || figure(t, s, simulate.Attempts).Mean != attempts[name] || figure(t, s, simulate.Waits).Mean != 0 {
				t.Errorf("%s, exit %v: all goes well, and %s", name, exit, encodeJSON(t, s))
			}
			s = behavior(t, name, func(h *simulate.StateBehavior) { h.Exit, h.Fail = exit, 0.3 })
			if s.Ends[0].State != end || s.Ends[0].Share != 1 || figure(t, s, simulate.Crashed).Mean != 0 || figure(t, s, "total of no_answer").Mean != 0 || figure(t, s, simulate.Waits).Mean < 0.5 {
				t.Errorf("%s, exit %v: a third fails, and %s", name, exit, encodeJSON(t, s))
			}
			s = behavior(t, name, func(h *simulate.StateBehavior) { h.Exit, h.NoAnswer = exit, 0.3 })
			if s.Ends[0].Share != 1 || figure(t, s, simulate.Crashed).Mean != 0 || figure(t, s, "total of no_answer").Mean < 0.5 {
				t.Errorf("%s, exit %v: a third says nothing, and %s", name, exit, encodeJSON(t, s))
			}
			s = behavior(t, name, func(h *simulate.StateBehavior) { h.Exit, h.Crash = exit, 0.3 })
			if figure(t, s, simulate.Crashed).Mean < 0.5 || figure(t, s, "total of no_answer").Mean != 0 {
				t.Errorf("%s, exit %v: a third crashes, and %s", name, exit, encodeJSON(t, s))
			}
		}
	}
}

func TestACardIsNotSimulated(t *testing.T) {
	_, err := simulate.Run(loadDefinition(t, "joan-board"), simulate.RunOptions{}, 0, 1)
	if err == nil || !strings.Contains(err.Error(), "cannot be guessed: use orange workflow verify") || strings.Contains(err.Error(), "\n") {
		t.Error(err)
	}
}
