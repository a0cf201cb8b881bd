package harness

import (
	"strings"
	"time"
)

// claudeRecord is one line of what Claude Code prints headless, and of its transcript.
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
	Cost    float64      `json:"total_cost_usd"`
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

func (u claudeUsage) usage() Usage {
	return Usage{InputTokens: u.Input.int(), OutputTokens: u.Output.int(), CacheTokens: u.Made.int() + u.Read.int()}
}

// synthetic is the model of messages that Claude Code writes itself.
const synthetic = "<synthetic>"

// Read implements Harness.
func (claude) Read(o Output) Notice {
	if !o.Headless {
		return claudeTranscript(o)
	}
	n := claudeStream(o)
	if n.Final == "" || n.Usage == nil {
		n = n.fill(claudeTranscript(o))
	}
	return n
}

// claudeStream reads what is printed with --output-format stream-json.
func claudeStream(o Output) Notice {
	var n Notice
	for r := range records[claudeRecord](o.Log) {
		if n.Session == "" && plainID(r.Session) {
			n.Session = r.Session
		}
		switch {
		case r.Type == "rate_limit_event" && r.Limit.Status == "rejected":
			n.mark("usage limit reached: "+strings.ReplaceAll(r.Limit.Type, "_", " ")+resets(r.Limit.ResetsAt), o.Now)
		case r.Type == "assistant" && r.Parent == nil && r.Error != "":
			if r.Error == "rate_limit" && n.Until.IsZero() {
				n.mark("rate limit: "+string(r.Message.Content), o.Now)
			}
		case r.Type == "assistant" && r.Parent == nil && r.Message.Content != "":
			n.Final = prose(string(r.Message.Content))
		case r.Type == "result":
			n.claudeResult(r, o.Now)
		}
	}
	return n
}

func (n *Notice) claudeResult(r claudeRecord, now time.Time) {
	if r.Usage != nil {
		u := r.Usage.usage()
		u.CostMicroUSD = micros(r.Cost)
		n.Usage = u.some()
	}
	switch {
	case !r.IsError:
		n.Final = prose(r.Result)
		n.lift()
	case n.Until.IsZero() && r.Status == 429:
		n.mark("429: "+r.Result, now)
	case n.Until.IsZero():
		n.mark(r.Result, now)
	}
}

// resets writes the end of a limit so that it is found again.
func resets(at count) string {
	if at.int() == 0 {
		return ""
	}
	return " resets at " + time.Unix(int64(at), 0).UTC().Format(time.RFC3339)
}

// claudeTranscript reads the record of a session. It holds one line per part of a
// message, each with the usage of the whole.
func claudeTranscript(o Output) Notice {
	var n Notice
	spent := map[string]Usage{}
	for r := range records[claudeRecord](o.Transcript) {
		if n.Session == "" && plainID(r.SessionID) {
			n.Session = r.SessionID
		}
		if r.Type == "user" && !r.Sidechain {
			n.lift()
		}
		if r.Type != "assistant" || r.At.Before(o.Since) {
			continue
		}
		spent[r.Message.ID] = r.Message.Usage.usage()
		switch {
		case r.Sidechain:
		case r.Error == "rate_limit":
			n.mark("rate limit: "+string(r.Message.Content), o.Now)
		case r.Error == "" && r.Message.Content != "" && r.Message.Model != synthetic:
			n.Final = prose(string(r.Message.Content))
			n.lift()
		}
	}
	var sum Usage
	for _, u := range spent {
		sum.plus(u)
	}
	n.Usage = sum.some()
	return n
}
