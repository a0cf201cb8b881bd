package narrate

import (
	"testing"

	"orange/internal/core/explain"
)

func TestDescribeMove(t *testing.T) {
	for want, move := range map[string]explain.Move{
		"Move to working":           {To: "working"},
		"Merge (done)":              {To: "done", As: "merge"},
		"Mark as stuck (stuck)":     {To: "stuck", As: "stuck"},
		"Cancel the task (ended)":   {To: "ended", As: "cancel"},
		"Request changes (working)": {To: "working", As: "request-changes"},
		"Reopen (working)":          {To: "working", As: "reopen"},
		"Move to working (answer)":  {To: "working", As: "answer"},
	} {
		if got := DescribeMove(move); got != want {
			t.Errorf("%v is %q, want %q", move, got, want)
		}
	}
}
