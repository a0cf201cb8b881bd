package shim

import (
	"encoding/json"
	"testing"

	"orange/internal/core/agent"
)

// TestFormatsOfRecords pins the files of an attempt. A server of another version reads them, and gives orders to shims of
// another version.
func TestFormatsOfRecords(t *testing.T) {
	tests := []struct {
		name, text string
		into       any
	}{
		{"the end of an agent", `{"code":0,"at":"2026-11-16T20:00:00.25Z","boot_id":"b"}`, new(agent.Exit)},
		{"the end of an agent that was killed with others",
			`{"code":137,"signal":"SIGKILL","reason":"tmux ended together with 1 other agent","at":"2026-11-16T20:00:00Z","boot_id":"b","blow":{"by":"SIGHUP","at":"2026-11-16T19:59:59Z"},"mass":"tmux"}`, new(agent.Exit)},
		{"a lost attendant that nobody saw end", `{"code":-1,"reason":"the attendant was lost","at":"2026-11-16T20:00:00Z","boot_id":"b","blow":{"by":"lost"}}`, new(agent.Exit)},
		{"a claim", `{"boot_id":"b","attendant":{"pid":7,"start":70},"at":"2026-11-16T20:00:00Z"}`, new(Started)},
		{"a start", `{"boot_id":"b","attendant":{"pid":7,"start":70},"child":{"pid":8,"start":80},"pgid":8,"key":"f/T/1","tmux":"/t","grace":5000000000,"at":"2026-11-16T20:00:00Z","terminal":{"pid":6,"start":60},"blow":{"by":"SIGTERM","at":"2026-11-16T20:00:00Z"}}`, new(Started)},
		{"an attempt that was ended before it began", `{"boot_id":"b","attendant":{"pid":0,"start":0},"at":"2026-11-16T20:00:00Z","ended":true}`, new(Started)},
		{"orders", `{"Argv":["c2g=","/w=="],"Env":["QT0x"],"Wake":["b3Jhbmdl","c2VydmU="],"WakeEnv":["Qj0y"],"Dir":"L3c=","Socket":"L3M=","Headless":true,"Grace":5000000000}`, new(Orders)},
		{"orders for a terminal", `{"Argv":["c2g="],"Env":null,"Wake":null,"WakeEnv":null,"Dir":"","Socket":"","Headless":false,"Grace":0}`, new(Orders)},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			if err := json.Unmarshal([]byte(tt.text), tt.into); err != nil {
				t.Fatal(err)
			}
			got, err := json.Marshal(tt.into)
			if err != nil || string(got) != tt.text {
				t.Errorf("read and written again:\n%s, %v\nwant\n%s", got, err, tt.text)
			}
		})
	}
}
