package harness

import (
	"strings"
	"time"

	"orange/internal/core/agent"
	"orange/internal/core/task"
)

// geminiRecord is one line of gemini -o stream-json.
type geminiRecord struct {
	Type    string `json:"type"`
	Session string `json:"session_id"`
	Model   string `json:"model"` // of init
	Role    string `json:"role"`
	Content string `json:"content"`
	Delta   bool   `json:"delta"`
	Status  string `json:"status"`
	Error   struct {
		Message string `json:"message"`
	} `json:"error"`
	Stats struct {
		Input  count `json:"input"` // without cached ones
		Output count `json:"output_tokens"`
		Cached count `json:"cached"`
	} `json:"stats"`
}

// geminiLine is one line of a chat file. Gemini writes a message again when it grows. Its text
// alone cannot be used as a last message: Gemini removes comments, and report marks are
// comments.
type geminiLine struct {
	Session string      `json:"sessionId"`
	ID      string      `json:"id"`
	At      time.Time   `json:"timestamp"`
	Type    string      `json:"type"`
	Model   string      `json:"model"`
	Content messageText `json:"content"`
	Tokens  struct {
		Input   count `json:"input"`
		Output  count `json:"output"`
		Cached  count `json:"cached"`
		Thought count `json:"thoughts"`
	} `json:"tokens"`
}

// ReadOutput implements Harness.
func (gemini) ReadOutput(o Output) agent.Notice {
	if !o.Headless {
		return geminiTranscript(o)
	}
	return fillNotice(geminiStream(o), geminiTranscript(o))
}

// geminiStream reads pieces of messages: everything that an agent says between two tool calls
// is one message.
func geminiStream(o Output) agent.Notice {
	var n agent.Notice
	var said strings.Builder
	whole := true
	for _, r := range readRecords(o.Log, geminiStreamLook) {
		switch r.Type {
		case "init":
			if plainID(r.Session) {
				n.Session = r.Session
			}
			n.Model = modelName(r.Model)
		case "message":
			if r.Role != "assistant" {
				whole = true
				continue
			}
			if whole {
				said.Reset()
			}
			said.WriteString(r.Content)
			whole = !r.Delta
		case "tool_use", "tool_result":
			whole = true
		case "error":
			addFailure(&n, r.Error.Message, o.Now)
		case "result":
			n.Usage = someUsage(task.Usage{InputTokens: r.Stats.Input.toInt(), OutputTokens: r.Stats.Output.toInt(), CachedTokens: r.Stats.Cached.toInt()})
			if r.Status == "success" {
				clearFailure(&n)
			} else {
				addFailure(&n, r.Error.Message, o.Now)
			}
		}
	}
	n.Final = cleanProse(said.String())
	return n
}

// geminiStreamLook finds what came before the last message, which has many pieces.
func geminiStreamLook(end []geminiRecord) found {
	over, said := false, false
	for i := len(end) - 1; i >= 0; i-- {
		r := &end[i]
		switch {
		case r.Type == "result":
			over = over || r.Status == "success"
		case r.Type == "message" && r.Role == "assistant":
			said = true
		case said && over:
			return all
		case said:
			return lastWord
		}
	}
	return nothing
}

func geminiTranscript(o Output) agent.Notice {
	var n agent.Notice
	spent := map[string]task.Usage{}
	for _, l := range readRecords(o.Transcript, o.geminiTranscriptLook) {
		if n.Session == "" && plainID(l.Session) {
			n.Session = l.Session
		}
		if l.Type != "gemini" || l.At.Before(o.Since) {
			continue
		}
		n.Model = modelName(l.Model)
		spent[l.ID] = task.Usage{
			InputTokens:  max(0, l.Tokens.Input.toInt()-l.Tokens.Cached.toInt()),
			OutputTokens: l.Tokens.Output.toInt() + l.Tokens.Thought.toInt(), CachedTokens: l.Tokens.Cached.toInt(),
		}
	}
	var sum task.Usage
	for _, u := range spent {
		sum = sum.Plus(u)
	}
	n.Usage = someUsage(sum)
	return n
}

// geminiTranscriptLook looks only for usage figures.
func (o Output) geminiTranscriptLook(end []geminiLine) found {
	for _, l := range end {
		if o.isBeforeAttempt(l.At) {
			return all
		}
	}
	return lastWord
}
