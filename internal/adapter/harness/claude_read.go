package harness

import (
	"strings"
	"time"

	"orange/internal/core/agent"
	"orange/internal/core/task"
)

// claudeRecord is one line of Claude Code's headless output, and of its transcript.
type claudeRecord struct {
	Type      string    `json:"type"`
	Session   string    `json:"session_id"`
	SessionID string    `json:"sessionId"` // in a transcript
	Parent    *string   `json:"parent_tool_use_id"`
	Sidechain bool      `json:"isSidechain"`
	At        time.Time `json:"timestamp"`
	Error     string    `json:"error"`
	Message   struct {
		ID      string      `json:"id"`
		Model   string      `json:"model"`
		Content messageText `json:"content"`
		Usage   claudeUsage `json:"usage"`
	} `json:"message"`

	IsError bool         `json:"is_error"`
	Status  count        `json:"api_error_status"`
	Result  string       `json:"result"`
	Cost    *float64     `json:"total_cost_usd"`
	Usage   *claudeUsage `json:"usage"`

	Limit struct {
		Status   string `json:"status"`
		ResetsAt count  `json:"resetsAt"`
		Type     string `json:"rateLimitType"`
	} `json:"rate_limit_info"`
}

type claudeUsage struct {
	Input  count `json:"input_tokens"`
	Output count `json:"output_tokens"`
	Made   count `json:"cache_creation_input_tokens"`
	Read   count `json:"cache_read_input_tokens"`
}

func (u claudeUsage) toTaskUsage() task.Usage {
	return task.Usage{InputTokens: u.Input.toInt(), OutputTokens: u.Output.toInt(), CachedTokens: u.Made.toInt() + u.Read.toInt()}
}

// synthetic is the model name of messages that Claude Code writes itself.
const synthetic = "<synthetic>"

// ReadOutput implements Harness.
func (claude) ReadOutput(o Output) agent.Notice {
	if !o.Headless {
		return claudeTranscript(o)
	}
	n := claudeStream(o)
	if n.Final == "" || n.Usage == nil {
		n = fillNotice(n, claudeTranscript(o))
	}
	return n
}

// claudeStream reads the output of --output-format stream-json.
func claudeStream(o Output) agent.Notice {
	var n agent.Notice
	var words claudeWords
	for _, r := range readRecords(o.Log, claudeStreamLook) {
		if n.Session == "" && plainID(r.Session) {
			n.Session = r.Session
		}
		switch {
		case r.Type == "rate_limit_event" && r.Limit.Status == "rejected":
			addLimit(&n, "usage limit reached: "+strings.ReplaceAll(r.Limit.Type, "_", " ")+formatReset(r.Limit.ResetsAt), o.Now)
		case r.Type == "assistant" && r.Parent == nil && r.Error == "rate_limit" && n.Condition.Until.IsZero():
			addLimit(&n, "rate limit: "+string(r.Message.Content), o.Now)
		case r.isAgentSpeech():
			words.addRecord(r)
			n.Model = modelName(r.Message.Model)
		case r.Type == "result":
			addClaudeResult(&n, r, o.Now)
			if !r.IsError {
				words.addResult(r.Result)
			}
		}
	}
	n.Final = cleanProse(words.text)
	return n
}

// isAgentSpeech reports whether the record is part of the agent's own message to the user: not
// a thought, not a tool call, not text of a subagent, and not text that Claude Code writes
// itself.
func (r *claudeRecord) isAgentSpeech() bool {
	return r.Type == "assistant" && r.Parent == nil && !r.Sidechain && r.Error == "" && r.Message.Content != "" && r.Message.Model != synthetic
}

// claudeWords collects the last message. It comes in parts, one per record.
type claudeWords struct{ id, text string }

func (w *claudeWords) addRecord(r claudeRecord) {
	said := string(r.Message.Content)
	if w.id != "" && w.id == r.Message.ID {
		said = w.text + "\n" + said
	}
	w.id, w.text = r.Message.ID, said
}

// addResult handles the last line of a run, which holds the last part of the message, or
// nothing if that part was not text.
func (w *claudeWords) addResult(result string) {
	if result != "" && !strings.HasSuffix(w.text, result) {
		w.text = result
	}
	w.id = ""
}

// claudeSaid reports whether end contains the last message from its beginning.
func claudeSaid(end []claudeRecord) bool {
	id, there := "", false
	for i := len(end) - 1; i >= 0; i-- {
		r := &end[i]
		switch {
		case there && (r.Type == "user" || r.Type == "assistant" && (id == "" || r.Message.ID != id)):
			return true
		case !there && r.isAgentSpeech():
			id, there = r.Message.ID, true
		}
	}
	return false
}

func claudeStreamLook(end []claudeRecord) found {
	if !claudeSaid(end) {
		return nothing
	}
	for _, r := range end {
		if r.Type == "result" && !r.IsError && r.Usage != nil {
			return all
		}
	}
	return lastWord
}

func addClaudeResult(n *agent.Notice, r claudeRecord, now time.Time) {
	if r.Usage != nil {
		u := r.Usage.toTaskUsage()
		if r.Cost != nil {
			u.CostMicroUSD, u.CostReported = dollarsToMicros(*r.Cost), *r.Cost >= 0 && *r.Cost <= maxDollars
		}
		n.Usage = someUsage(u)
	}
	switch {
	case !r.IsError:
		clearFailure(n)
	case n.Condition.Until.IsZero() && r.Status == 429:
		addLimit(n, "429: "+r.Result, now)
	case n.Condition.Until.IsZero():
		addFailure(n, r.Result, now)
	}
}

// formatReset formats the end of a limit so that limitIn can parse it.
func formatReset(at count) string {
	if at.toInt() == 0 {
		return ""
	}
	return " resets at " + time.Unix(int64(at), 0).UTC().Format(time.RFC3339)
}

// claudeTranscript reads the transcript of a session. It has one line per part of a message,
// each with the usage of the whole message.
func claudeTranscript(o Output) agent.Notice {
	var n agent.Notice
	var words claudeWords
	spent := map[string]task.Usage{}
	for _, r := range readRecords(o.Transcript, o.claudeTranscriptLook) {
		if n.Session == "" && plainID(r.SessionID) {
			n.Session = r.SessionID
		}
		if r.Type == "user" && !r.Sidechain {
			clearFailure(&n)
		}
		if r.Type != "assistant" || r.At.Before(o.Since) {
			continue
		}
		spent[r.Message.ID] = r.Message.Usage.toTaskUsage()
		switch {
		case r.isAgentSpeech():
			words.addRecord(r)
			n.Model = modelName(r.Message.Model)
			clearFailure(&n)
		case r.Error == "rate_limit" && !r.Sidechain:
			addLimit(&n, "rate limit: "+string(r.Message.Content), o.Now)
		}
	}
	var sum task.Usage
	for _, u := range spent {
		sum = sum.Plus(u)
	}
	n.Usage, n.Final = someUsage(sum), cleanProse(words.text)
	return n
}

func (o Output) claudeTranscriptLook(end []claudeRecord) found {
	for _, r := range end {
		if o.isBeforeAttempt(r.At) {
			return all
		}
	}
	if claudeSaid(end) {
		return lastWord
	}
	return nothing
}

// isBeforeAttempt reports whether a time is before the attempt. Such lines belong to another
// attempt.
func (o Output) isBeforeAttempt(at time.Time) bool { return !at.IsZero() && at.Before(o.Since) }
