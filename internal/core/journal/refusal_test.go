package journal_test

import (
	"strings"
	"testing"
	"time"
	"unicode/utf8"

	"orange/internal/core/journal"
	"orange/internal/core/signal"
	"orange/internal/core/task"
)

func TestARefusalSaysWhatWasAsked(t *testing.T) {
	long := strings.Repeat("ü", 5000)
	tests := []struct {
		name  string
		sig   signal.Signal
		asked string
	}{
		{"a state", signal.Signal{Kind: signal.Request, To: "done", Verb: "complete"}, "done"},
		{"a verb", signal.Signal{Kind: signal.Request, Verb: "complete"}, "complete"},
		{"fields, by name only", signal.Signal{Kind: signal.Update, Fields: []signal.Field{{Name: "summary", To: long}, {Name: "branch"}}}, "summary, branch"},
		{"a word", signal.Signal{Kind: signal.Tracker, Word: "pr:merged"}, "pr:merged"},
		{"nothing", signal.Signal{Kind: signal.Delete}, ""},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			if got := journal.NewRefusal("a", &tt.sig, "no"); got.Asked != tt.asked || got.Kind != tt.sig.Kind || got.Task != "a" || got.Why != "no" {
				t.Errorf("%+v", got)
			}
		})
	}
}

func TestARefusalIsBounded(t *testing.T) {
	long := strings.Repeat("ü", 5000)
	many := make([]signal.Field, 5000)
	for i := range many {
		many[i].Name = "x"
	}
	for _, sig := range []signal.Signal{{To: long}, {Verb: long}, {Fields: []signal.Field{{Name: long}}}, {Fields: many}} {
		sig.Kind, sig.Actor, sig.At = signal.Request, task.Actor(long), time.Unix(1, 0)
		got := journal.NewRefusal("a", &sig, long)
		if n := len(got.Actor) + len(got.Asked) + len(got.Why); n > 1500 || got.Why == "" || !utf8.ValidString(string(got.Actor)+got.Asked+got.Why) {
			t.Errorf("%d bytes: %+v", n, got)
		}
	}
}
