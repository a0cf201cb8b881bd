package agents

import (
	"strings"

	"orange/internal/core/agent"
	"orange/internal/core/signal"
)

// maxFinal bounds the part of an agent's last message that a signal carries, in bytes. The end of the message is kept.
const maxFinal = 16 << 10

// findReport finds the report of an attempt in its last message, and returns it with the end of the message. It returns
// nil for a role without a protocol and for an empty message.
func (a *Agents) findReport(k Key, role, harness, final string) (*signal.Report, string) {
	if strings.TrimSpace(final) == "" {
		return nil, ""
	}
	report, err := a.Prompts.FindReport(k.Task, agent.LastMessage{
		Role: role, Nonce: a.AttemptNonce(k), OwnStream: a.Harnesses.SeparatesMessages(harness), Text: final,
	})
	if err != nil {
		a.Log.Error("read the last message of an attempt", "component", "agents", "task", k.Task, "attempt", k.Number, "error", err)
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
