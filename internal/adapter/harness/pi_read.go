package harness

import (
	"time"

	"orange/internal/core/agent"
	"orange/internal/core/task"
)

// piRecord is one line of pi --mode json, and of its session file.
type piRecord struct {
	Type    string `json:"type"`
	ID      string `json:"id"` // of the session, in its first line
	Message struct {
		Role    string      `json:"role"`
		Model   string      `json:"model"`
		Content messageText `json:"content"`
		Failure string      `json:"errorMessage"`
		At      count       `json:"timestamp"` // milliseconds
		Usage   struct {
			Input  count `json:"input"`
			Output count `json:"output"`
			Read   count `json:"cacheRead"`
			Write  count `json:"cacheWrite"`
			Cost   struct {
				Total float64 `json:"total"`
			} `json:"cost"`
		} `json:"usage"`
	} `json:"message"`
}

// ReadOutput implements Harness. It prefers the session file, which has the same content as the
// output in far fewer lines.
func (pi) ReadOutput(o Output) agent.Notice {
	n := piRead(o.Transcript, "message", o)
	if o.Headless && n.Final == "" && n.Usage == nil && n.Condition.Name == "" {
		n = fillNotice(piRead(o.Log, "message_end", o), n)
	}
	return n
}

func piRead(path, kind string, o Output) agent.Notice {
	var n agent.Notice
	var sum task.Usage
	look := func(end []piRecord) found { return o.piLook(end, kind) }
	for _, r := range readRecords(path, look) {
		m := r.Message
		switch {
		case r.Type == "session" && plainID(r.ID):
			n.Session = r.ID
		case r.Type != kind || m.Role != "assistant" || r.startTime().Before(o.Since):
		case m.Failure != "":
			addFailure(&n, m.Failure, o.Now)
		default:
			clearFailure(&n)
			n.Model = modelName(m.Model)
			if m.Content != "" {
				n.Final = string(m.Content)
			}
			u := m.Usage
			sum = sum.Plus(task.Usage{InputTokens: u.Input.toInt(), OutputTokens: u.Output.toInt(), CachedTokens: u.Read.toInt() + u.Write.toInt(), CostMicroUSD: dollarsToMicros(u.Cost.Total), CostReported: u.Cost.Total > 0})
		}
	}
	n.Usage, n.Final = someUsage(sum), cleanProse(n.Final)
	return n
}

// startTime returns when the message began.
func (r *piRecord) startTime() time.Time { return time.UnixMilli(r.Message.At.toInt()) }

func (o Output) piLook(end []piRecord, kind string) found {
	seen := nothing
	for i := range end {
		r := &end[i]
		switch {
		case r.Type != kind:
		case r.Message.At > 0 && o.isBeforeAttempt(r.startTime()):
			return all
		case r.Message.Role == "assistant" && r.Message.Failure == "" && r.Message.Content != "":
			seen = lastWord
		}
	}
	return seen
}
