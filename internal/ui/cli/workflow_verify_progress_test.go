package cli

import (
	"bytes"
	"testing"
	"time"

	"orange/internal/core/verify"
)

func TestASearchThatTakesLongerSaysHowFarItIs(t *testing.T) {
	for name, tt := range map[string]struct {
		terminal bool
		want     string
	}{
		"a terminal": {true, "\r\033[K10 states, 1 steps deep, 0 states/s\r\033[K30 states, 3 steps deep, 30 states/s\r\033[K600 states, 9 steps deep, 200 states/s\r\033[K900 states, 9 steps deep, 225 states/s\r\033[K"},
		"a file":     {false, "orange: 600 states, 9 steps deep, 200 states/s\n"},
	} {
		t.Run(name, func(t *testing.T) {
			var out bytes.Buffer
			now := time.Unix(0, 0)
			p := newSearchProgress(&out, tt.terminal, func() time.Time { return now })
			for _, step := range []struct {
				after time.Duration
				at    verify.Progress
			}{
				{0, verify.Progress{States: 10, Depth: 1}}, {time.Millisecond, verify.Progress{States: 20, Depth: 2}},
				{time.Second - time.Millisecond, verify.Progress{States: 30, Depth: 3}}, {2 * time.Second, verify.Progress{States: 600, Depth: 9}},
				{time.Second, verify.Progress{States: 900, Depth: 9}},
			} {
				now = now.Add(step.after)
				p.showProgress(step.at)
			}
			p.clearLine()
			if out.String() != tt.want {
				t.Errorf("%q, want %q", out.String(), tt.want)
			}
		})
	}
}
