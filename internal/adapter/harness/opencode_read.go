package harness

import (
	"orange/internal/core/agent"

	"orange/internal/core/task"
)

// opencodeRecord is one line of opencode run --format json.
type opencodeRecord struct {
	Type    string `json:"type"`
	Session string `json:"sessionID"`
	Part    struct {
		Message string  `json:"messageID"`
		Text    string  `json:"text"`
		Cost    float64 `json:"cost"`
		Tokens  struct {
			Input     count `json:"input"`
			Output    count `json:"output"`
			Reasoning count `json:"reasoning"`
			Cache     struct {
				Read  count `json:"read"`
				Write count `json:"write"`
			} `json:"cache"`
		} `json:"tokens"`
	} `json:"part"`
	Error struct {
		Name string `json:"name"`
		Data struct {
			Message string `json:"message"`
		} `json:"data"`
	} `json:"error"`
}

// ReadOutput implements Harness. opencode keeps its sessions in a database, so at a terminal
// only the plugin has this information.
func (opencode) ReadOutput(o Output) agent.Notice {
	var n agent.Notice
	if !o.Headless {
		return n
	}
	var sum task.Usage
	said := "" // id of the message that Final belongs to
	for _, r := range readRecords(o.Log, opencodeFound) {
		if n.Session == "" && plainID(r.Session) {
			n.Session = r.Session
		}
		p := r.Part
		switch r.Type {
		case "text":
			if p.Message == said && n.Final != "" {
				n.Final += "\n" + p.Text
			} else {
				n.Final, said = p.Text, p.Message
			}
		case "step_finish":
			sum = sum.Plus(task.Usage{
				InputTokens: p.Tokens.Input.toInt(), OutputTokens: p.Tokens.Output.toInt() + p.Tokens.Reasoning.toInt(),
				CachedTokens: p.Tokens.Cache.Read.toInt() + p.Tokens.Cache.Write.toInt(), CostMicroUSD: dollarsToMicros(p.Cost), CostReported: p.Cost > 0,
			})
			clearFailure(&n)
		case "error":
			addFailure(&n, r.Error.Name+": "+r.Error.Data.Message, o.Now)
		}
	}
	n.Usage, n.Final = someUsage(sum), cleanProse(n.Final)
	return n
}

// opencodeFound looks for what came before the last message, which may have several parts.
func opencodeFound(end []opencodeRecord) found {
	id, said := "", false
	for i := len(end) - 1; i >= 0; i-- {
		r := &end[i]
		switch {
		case said && r.Part.Message != "" && r.Part.Message != id:
			return lastWord
		case r.Type == "text" && r.Part.Text != "" && !said:
			id, said = r.Part.Message, true
		}
	}
	return nothing
}
