package main

import (
	"fmt"
	"io"
	"os"
	"path/filepath"
	"strings"
	"time"

	"orange/internal/adapter/harness"
	"orange/internal/core/agent"
)

const (
	finalRounds   = 21
	finalShort    = 1 << 20
	finalLong     = 1 << 30
	finalRealEnd  = 32 << 20 // of the long one: nothing reads further back
	maxFinalRatio = 2.0
)

// measureFinals measures the cost of finding an attempt's last message in a long session and in a short one.
func measureFinals(r *report, dir string) error {
	for _, c := range sampleConversations() {
		short, long := filepath.Join(dir, "short.jsonl"), filepath.Join(dir, "long.jsonl")
		if err := c.writeFile(short, finalShort); err != nil {
			return err
		}
		if err := c.writeFile(long, finalLong); err != nil {
			return err
		}
		took, err := alternateRounds(finalRounds, c.timeRead(long), c.timeRead(short))
		if err != nil {
			return err
		}
		times := medianRatio(took[0], took[1])
		r.addFigure(figure{
			Name: "last message of an attempt, 1 GB, " + c.name, Measured: fmt.Sprintf("%.2f of 1 MB", times),
			Target: fmt.Sprintf("under %.0f", maxFinalRatio), Met: times <= maxFinalRatio,
			Note: fmt.Sprintf("median of %d rounds; %s, and of 1 MB %s", finalRounds, formatMillis(took[0].median()), formatMillis(took[1].median())),
		})
	}
	return nil
}

// conversation is a session in the format of Claude Code.
type conversation struct {
	name     string
	headless bool
	turn     func(i int) string // one tool call
	end      string
}

const finalWords = "All done. <!-- WORK_RESULT:passed -->"

func sampleConversations() []conversation {
	at := time.Now().UTC().Format(time.RFC3339)
	said := func(id, part string) string {
		return fmt.Sprintf(`{"type":"assistant","timestamp":%q,"sessionId":"s1","session_id":"s1","message":{"id":%q,"role":"assistant","content":[%s],"usage":{"input_tokens":12,"output_tokens":345}}}`+"\n", at, id, part)
	}
	toolResult := fmt.Sprintf(`{"type":"user","timestamp":%q,"message":{"role":"user","content":[{"type":"tool_result","content":%q}]}}`+"\n", at, strings.Repeat("what a tool put out, ", 100))
	turn := func(i int) string {
		id := fmt.Sprintf("m%d", i)
		return said(id, `{"type":"text","text":"I look at it."}`) + said(id, `{"type":"tool_use","name":"Bash","input":{"command":"make test"}}`) + toolResult
	}
	last := said("last", fmt.Sprintf(`{"type":"text","text":%q}`, finalWords))
	result := fmt.Sprintf(`{"type":"result","is_error":false,"result":%q,"total_cost_usd":1.5,"usage":{"input_tokens":12}}`+"\n", finalWords)
	return []conversation{
		{"transcript", false, turn, last},
		{"output", true, turn, last + result},
	}
}

// writeFile writes a conversation of the given size. The middle of a long one is a hole.
func (c conversation) writeFile(path string, size int64) error {
	f, err := os.Create(path)
	if err != nil {
		return err
	}
	for i, at := 0, int64(0); err == nil && at < size; i++ {
		_, err = f.WriteString(c.turn(i))
		if hole := size - finalRealEnd - at; err == nil && i == 1000 && hole > 0 {
			if _, err = f.Seek(hole, io.SeekCurrent); err == nil {
				_, err = f.WriteString("\n")
			}
		}
		if err == nil {
			at, err = f.Seek(0, io.SeekCurrent)
		}
	}
	if err == nil {
		_, err = f.WriteString(c.end)
	}
	if closed := f.Close(); err == nil {
		err = closed
	}
	return err
}

// timeRead finds the last message.
func (c conversation) timeRead(path string) func() (time.Duration, error) {
	o := agent.Output{Headless: c.headless}
	if c.headless {
		o.Log = path
	} else {
		o.Transcript = path
	}
	return timedCall(func() error {
		if n := (harness.Registry{}).ReadOutput("claude", o); n.Final != finalWords {
			return fmt.Errorf("the last message of %s is %q", path, n.Final)
		}
		return nil
	})
}
