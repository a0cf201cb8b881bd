package harness

import (
	"slices"
	"time"

	"orange/internal/core/agent"
	"orange/internal/core/task"
)

// codexEvent is one line of codex exec --json.
type codexEvent struct {
	Type    string `json:"type"`
	Thread  string `json:"thread_id"`
	Message string `json:"message"`
	Item    struct {
		Type string `json:"type"`
		Text string `json:"text"`
	} `json:"item"`
	Error struct {
		Message string `json:"message"`
	} `json:"error"`
	Usage *codexUsage `json:"usage"`
}

type codexUsage struct {
	Input  count `json:"input_tokens"` // including cached ones
	Cached count `json:"cached_input_tokens"`
	Output count `json:"output_tokens"`
}

func (u codexUsage) toTaskUsage() task.Usage {
	return task.Usage{InputTokens: max(0, u.Input.toInt()-u.Cached.toInt()), OutputTokens: u.Output.toInt(), CachedTokens: u.Cached.toInt()}
}

// codexLine is one line of a rollout file.
type codexLine struct {
	Type    string    `json:"type"`
	At      time.Time `json:"timestamp"`
	Payload struct {
		Type    string `json:"type"`
		ID      string `json:"id"`
		Session string `json:"session_id"`
		Last    string `json:"last_agent_message"`
		Base    struct {
			Provenance struct {
				Model string `json:"model"`
			} `json:"provenance"`
		} `json:"base_instructions"` // of session_meta
		Error struct {
			Message string `json:"message"`
			Info    string `json:"codex_error_info"`
		} `json:"error"`
		Info struct {
			Total *codexUsage `json:"total_token_usage"`
			Last  codexUsage  `json:"last_token_usage"` // of one call
		} `json:"info"`
		Role    string      `json:"role"`
		Content messageText `json:"content"`
	} `json:"payload"`
}

// ReadOutput implements Harness. The usage that Codex prints is that of the whole session; only
// its transcript records when it was spent.
func (codex) ReadOutput(o Output) agent.Notice {
	seen := codexTranscript(o)
	if !o.Headless {
		return seen
	}
	n := codexStream(o)
	if seen.Usage != nil {
		n.Usage = seen.Usage
	}
	return fillNotice(n, seen)
}

func codexStream(o Output) agent.Notice {
	var n agent.Notice
	var sum task.Usage
	for _, e := range readRecords(o.Log, codexStreamLook) {
		switch e.Type {
		case "thread.started":
			if plainID(e.Thread) {
				n.Session = e.Thread
			}
		case "item.completed":
			if e.Item.Type == "agent_message" && e.Item.Text != "" {
				n.Final = e.Item.Text
			}
		case "turn.completed":
			if e.Usage != nil {
				sum = sum.Plus(e.Usage.toTaskUsage())
			}
			clearFailure(&n)
		case "error":
			addFailure(&n, e.Message, o.Now)
		case "turn.failed":
			addFailure(&n, e.Error.Message, o.Now)
		}
	}
	n.Usage, n.Final = someUsage(sum), cleanProse(n.Final)
	return n
}

// codexStreamLook finds the message before the end of the turn.
func codexStreamLook(end []codexEvent) found {
	over, said := false, false
	for _, e := range end {
		over = over || e.Type == "turn.completed"
		said = said || e.Type == "item.completed" && e.Item.Type == "agent_message" && e.Item.Text != ""
	}
	switch {
	case over && said:
		return all
	case said:
		return lastWord
	}
	return nothing
}

// codexTranscript reads a rollout file. Its totals are those of the session.
func codexTranscript(o Output) agent.Notice {
	var n agent.Notice
	head, end := readEnds(o.Transcript, o.codexTranscriptLook)
	for _, l := range slices.Concat(head, end) {
		p := l.Payload
		switch {
		case l.Type == "session_meta" && plainID(p.ID):
			n.Session, n.Model = p.ID, modelName(p.Base.Provenance.Model)
		case l.At.Before(o.Since):
		case p.Type == "task_started":
			clearFailure(&n)
		case p.Type == "task_complete" && p.Error.Message != "":
			if !addFailure(&n, p.Error.Message, o.Now) && p.Error.Info == "usage_limit_exceeded" {
				addLimit(&n, "usage limit reached: "+p.Error.Message, o.Now)
			}
		case p.Type == "task_complete" && p.Last != "":
			n.Final = p.Last
		case l.Type == "response_item" && p.Type == "message" && p.Role == "assistant" && p.Content != "":
			n.Final = string(p.Content)
		}
	}
	n.Final = cleanProse(n.Final)
	n.Usage = someUsage(o.codexSpent(head, end))
	return n
}

// codexSpent subtracts what was spent before this attempt. If the attempt began in the part of
// the file that was not read, only the end counts.
func (o Output) codexSpent(head, end []codexLine) task.Usage {
	var before, total task.Usage
	gap := len(head) > 0 && o.isBeforeAttempt(head[0].At)
	for i, l := range slices.Concat(head, end) {
		info := l.Payload.Info
		if l.Payload.Type != "token_count" || info.Total == nil {
			continue
		}
		total = info.Total.toTaskUsage()
		if o.isBeforeAttempt(l.At) {
			before = total
		} else if gap && i >= len(head) {
			before = total.Minus(info.Last.toTaskUsage())
		}
		gap = gap && i < len(head)
	}
	return total.Minus(before)
}

func (o Output) codexTranscriptLook(end []codexLine) found {
	seen := nothing
	for _, l := range end {
		p := l.Payload
		switch {
		case o.isBeforeAttempt(l.At) && p.Type == "token_count" && p.Info.Total != nil:
			return all
		case l.At.Before(o.Since):
		case p.Type == "task_complete" && p.Last != "", l.Type == "response_item" && p.Type == "message" && p.Role == "assistant" && p.Content != "":
			seen = lastWord
		}
	}
	return seen
}
