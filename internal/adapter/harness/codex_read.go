package harness

import "time"

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
	Input  count `json:"input_tokens"` // the cached ones included
	Cached count `json:"cached_input_tokens"`
	Output count `json:"output_tokens"`
}

func (u codexUsage) usage() Usage {
	return Usage{InputTokens: max(0, u.Input.int()-u.Cached.int()), OutputTokens: u.Output.int(), CacheTokens: u.Cached.int()}
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
		Error   struct {
			Message string `json:"message"`
			Info    string `json:"codex_error_info"`
		} `json:"error"`
		Info struct {
			Total *codexUsage `json:"total_token_usage"`
		} `json:"info"`
		Role    string      `json:"role"`
		Content messageText `json:"content"`
	} `json:"payload"`
}

// Read implements Harness. What Codex prints about usage is that of the whole session;
// only its transcript says when it was spent.
func (codex) Read(o Output) Notice {
	seen := codexTranscript(o)
	if !o.Headless {
		return seen
	}
	n := codexStream(o)
	if seen.Usage != nil {
		n.Usage = seen.Usage
	}
	return n.fill(seen)
}

func codexStream(o Output) Notice {
	var n Notice
	var sum Usage
	for e := range records[codexEvent](o.Log) {
		switch e.Type {
		case "thread.started":
			if plainID(e.Thread) {
				n.Session = e.Thread
			}
		case "item.completed":
			if e.Item.Type == "agent_message" && e.Item.Text != "" {
				n.Final = prose(e.Item.Text)
			}
		case "turn.completed":
			if e.Usage != nil {
				sum.plus(e.Usage.usage())
			}
			n.lift()
		case "error":
			n.mark(e.Message, o.Now)
		case "turn.failed":
			n.mark(e.Error.Message, o.Now)
		}
	}
	n.Usage = sum.some()
	return n
}

// codexTranscript reads a rollout file. Its totals are those of the session: what was
// spent before this attempt is taken off.
func codexTranscript(o Output) Notice {
	var n Notice
	var before, total Usage
	for l := range records[codexLine](o.Transcript) {
		p := l.Payload
		switch {
		case l.Type == "session_meta" && plainID(p.ID):
			n.Session = p.ID
		case p.Type == "token_count" && p.Info.Total != nil:
			total = p.Info.Total.usage()
			if l.At.Before(o.Since) {
				before = total
			}
		case l.At.Before(o.Since):
		case p.Type == "task_started":
			n.lift()
		case p.Type == "task_complete" && p.Error.Message != "":
			if !n.mark(p.Error.Message, o.Now) && p.Error.Info == "usage_limit_exceeded" {
				n.mark("usage limit reached: "+p.Error.Message, o.Now)
			}
		case p.Type == "task_complete" && p.Last != "":
			n.Final = prose(p.Last)
		case l.Type == "response_item" && p.Type == "message" && p.Role == "assistant" && p.Content != "":
			n.Final = prose(string(p.Content))
		}
	}
	n.Usage = Usage{
		InputTokens:  max(0, total.InputTokens-before.InputTokens),
		OutputTokens: max(0, total.OutputTokens-before.OutputTokens),
		CacheTokens:  max(0, total.CacheTokens-before.CacheTokens),
	}.some()
	return n
}
