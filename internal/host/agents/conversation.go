package agents

import (
	"cmp"
	"slices"
	"strings"
	"time"

	"orange/internal/core/agent"
	"orange/internal/core/task"
	"orange/internal/core/transcript"
	"orange/internal/view/ansi"
)

// AttemptConversation reads the conversation of an attempt, starting at after, which is the Next of an earlier call;
// "" reads all that fits.
func (a *Agents) AttemptConversation(t *task.Task, number int, after string) (agent.Conversation, error) {
	k := Key{t.ID, number}
	card, err := a.LoadCard(k)
	if err != nil {
		return agent.Conversation{}, err
	}
	left := a.attemptOutput(t, k, card)
	after, told := strings.CutSuffix(after, lastMark)
	out := a.Harnesses.ReadConversation(card.Harness, left, after)
	if told { // the record has caught up
		if n := slices.IndexFunc(out.Turns, func(t transcript.Turn) bool {
			return t.Who == transcript.Agent && joinLines(t.Text) == joinLines(card.Final)
		}); n >= 0 {
			out.Turns, told = slices.Delete(out.Turns, n, n+1), false
		}
	}
	live, _ := t.AttemptByNumber(number)
	ended := left.Over || live.Condition.Name == task.Idle // the turn has ended, and a hook reported its last message
	if !told && ended && !left.Headless && card.Final != "" && (after == "" || len(out.Turns) == 0) {
		whole := out
		if after != "" {
			whole = a.Harnesses.ReadConversation(card.Harness, left, "")
		}
		if lacksMessage(&whole, card.Final) {
			last := whole.Turns[len(whole.Turns)-1]
			out.Turns = append(out.Turns, transcript.Turn{At: last.At, Who: transcript.Agent, Text: ansi.SafeText(card.Final)})
			told = true
		}
	}
	if told {
		out.Next += lastMark
	}
	return out, nil
}

// lastMark marks a Next before which the last message was returned although the agent's record lacks it.
const lastMark = "+last"

// joinLines returns a text without its line breaks, for comparison.
func joinLines(text string) string { return strings.Join(strings.Fields(ansi.SafeText(text)), " ") }

// lacksMessage reports whether the agent's record lacks a message that a hook reported, because the agent writes it
// later or ended before it did. Only the beginning of the message is compared, because the record may have cut it.
func lacksMessage(c *agent.Conversation, final string) bool {
	if len(c.Turns) == 0 || c.Cut {
		return false
	}
	var all strings.Builder
	for _, t := range c.Turns {
		if t.Who != transcript.User {
			all.WriteString(joinLines(t.Text) + " ")
		}
	}
	begin := joinLines(final)
	return !strings.Contains(all.String(), begin[:min(len(begin), 1000)])
}

// LastMessage returns the last message of an attempt, running or over, or "" if there is none yet. For a running
// attempt it is as recent as the agent's own record.
func (a *Agents) LastMessage(t *task.Task, number int) (string, error) {
	k := Key{t.ID, number}
	card, err := a.LoadCard(k)
	if err != nil {
		return "", err
	}
	if live, alive := t.AttemptByNumber(number); card.Final != "" && (!alive || live.Condition.Name == task.Idle) {
		return card.Final, nil // the hook reported it when the turn ended
	}
	left := a.attemptOutput(t, k, card)
	if final := a.Harnesses.ReadOutput(card.Harness, left).Final; final != "" {
		return final, nil
	}
	said := ""
	for _, turn := range a.Harnesses.ReadConversation(card.Harness, left, "").Turns {
		if turn.Who == transcript.Agent && turn.Tool == "" {
			said = turn.Text
		}
	}
	return cmp.Or(said, card.Final), nil
}

// attemptOutput describes the output of an attempt so far.
func (a *Agents) attemptOutput(t *task.Task, k Key, card Card) agent.Output {
	_, alive := t.AttemptByNumber(k.Number)
	return agent.Output{
		Log: a.OutputFile(k), Transcript: card.Transcript, Session: card.Session, Headless: card.Window == "", Since: card.Since,
		Until: a.wentOn(t, k, card), Over: !alive,
	}
}

// wentOn returns when another attempt continued the conversation of this one, or zero if none did.
func (a *Agents) wentOn(t *task.Task, k Key, card Card) time.Time {
	for n := k.Number + 1; card.Transcript != "" && n <= t.AttemptCount(); n++ {
		if next, err := a.LoadCard(Key{k.Task, n}); err == nil && next.Transcript == card.Transcript {
			return next.Since
		}
	}
	return time.Time{}
}
