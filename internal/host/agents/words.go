package agents

import (
	"strings"

	"orange/internal/core/agent"
	"orange/internal/core/signal"
)

// maxFinal bounds what a signal carries of an agent's last message, in bytes. The end of
// it is what matters.
const maxFinal = 16 << 10

// lastWords looks for what an attempt said about its work in its last message. There is
// no report for a role without a protocol, nor where nothing was said.
func (a *Agents) lastWords(k Key, role, harness, final string) (*signal.Report, string) {
	if strings.TrimSpace(final) == "" {
		return nil, ""
	}
	report, err := a.Prompts.FindReport(k.Task, agent.LastMessage{
		Role: role, Nonce: a.AttemptNonce(k), OwnStream: a.Harnesses.SeparatesMessages(harness), Text: final,
	})
	if err != nil {
		a.Log.Error("read what an attempt said", "component", "agents", "task", k.Task, "attempt", k.Number, "error", err)
	}
	if report == nil {
		return nil, ""
	}
	return report, tailText(final)
}

func tailText(s string) string {
	if len(s) <= maxFinal {
		return s
	}
	return strings.ToValidUTF8(s[len(s)-maxFinal:], "")
}
