package scriptedmodel

import (
	"fmt"
	"strings"
	"time"
)

// playTurn answers with the next turn of the conversation. The caller holds the lock, because
// playTurn counts how often an error was sent.
func (m *Model) playTurn(a modelRequest, out *reply, record *Request) {
	at := findPlace(m.scripts, a.said)
	if at.script == nil {
		record.Kind, out.text = Unscripted, "No script was chosen."
		return
	}
	record.Script = at.script.Name
	number, turn, ok := m.turnAt(at)
	if !ok {
		record.Kind, out.text = Over, "The script is over."
		return
	}
	record.Kind, record.Turn = Played, number
	out.delay = time.Duration(turn.DelayMillis) * time.Millisecond
	if turn.Usage != nil {
		out.usage = *turn.Usage
	}
	switch {
	case turn.Status != 0:
		out.fault, out.usage = turn.newFault(out.at), Usage{}
	case turn.Text != "":
		out.text = strings.ReplaceAll(turn.Text, "{nonce}", a.latestNonce())
	default:
		m.playShell(a, at, turn, out, record)
	}
}

func (m *Model) playShell(a modelRequest, at turnPlace, turn Turn, out *reply, record *Request) {
	t, offered := findShellTool(a.tools)
	if !offered {
		record.Kind, record.Turn, out.text = Side, -1, sideText(a)
		return
	}
	c := shellCall(fmt.Sprintf("call_%s_%d", at.script.Name, at.done), t, turn.Shell)
	out.call = &c
}

// turnAt returns the turn after a number of answers. Errors leave no answer in a conversation,
// so turnAt skips those that were sent often enough.
func (m *Model) turnAt(at turnPlace) (int, Turn, bool) {
	before := at.done
	for i, turn := range at.script.Turns {
		switch {
		case turn.Status != 0 && (before > 0 || m.useFault(at.script.Name, i, turn.Times)):
		case before == 0:
			return i, turn, true
		default:
			before--
		}
	}
	return 0, Turn{}, false
}

// useFault counts an error as sent. It returns false if the error was sent often enough.
func (m *Model) useFault(script string, turn, times int) bool {
	where := faultPlace{script: script, turn: turn}
	if times > 0 && m.faults[where] >= times {
		return true
	}
	m.faults[where]++
	return false
}

func (t Turn) newFault(now time.Time) *fault {
	f := &fault{status: t.Status, message: t.Message, resetIn: time.Duration(t.ResetSeconds) * time.Second}
	if f.message == "" {
		f.message = "the script says so"
	}
	if f.resetIn > 0 {
		f.reset = now.Add(f.resetIn)
	}
	return f
}
