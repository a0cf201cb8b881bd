package agents_test

import (
	"encoding/json"
	"testing"

	"orange/internal/host/agents"
)

// TestFormatOfACard pins card.json: attempts outlive the server that wrote it.
func TestFormatOfACard(t *testing.T) {
	for name, text := range map[string]string{
		"a new attempt": `{"role":"worker","since":"2026-11-16T20:00:00Z","harness":"claude"}`,
		"every field": `{"role":"worker","since":"2026-11-16T20:00:00Z","harness":"claude","model":"m","window":"worker","session":"s","heard":true,"resumed":true,"transcript":"/t","final":"done",` +
			`"usage":{"input_tokens":1,"output_tokens":2,"cached_tokens":3,"cost_micro_usd":4},"code":137,"mass":"tmux","told":["1/1/1"],"sent":["1/1/1"],` +
			`"pasted":"2026-11-16T20:00:01Z","prompted":"2026-11-16T20:00:02Z","rested":"2026-11-16T20:00:03Z",` +
			`"shown":{"name":"waiting_input","detail":"it asks","since":"2026-11-16T20:00:04Z","until":"2026-11-16T21:00:00Z"},"before":{"name":"idle","left":"question"},` +
			`"unhooked":true,"hooked":true,"turn":true,"last":"bye"}`,
	} {
		t.Run(name, func(t *testing.T) {
			var card agents.Card
			if err := json.Unmarshal([]byte(text), &card); err != nil {
				t.Fatal(err)
			}
			if got, err := json.Marshal(card); err != nil || string(got) != text {
				t.Errorf("read and written again:\n%s, %v\nwant\n%s", got, err, text)
			}
		})
	}
}
