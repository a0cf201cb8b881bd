package harness

import (
	"strings"

	"orange/internal/view/ansi"
)

// Readiness is how far an agent is that was started without a prompt.
type Readiness string

// Values of Readiness.
const (
	Ready    Readiness = "ready"  // it shows its input line
	NoLogin  Readiness = "login"  // it wants a login or a key
	AtDialog Readiness = "dialog" // it waits at a question
	Unclear  Readiness = "unclear"
)

// loginWords matches how agents report that they have no account.
var loginWords = lazyPattern(`(?i)not logged in|log ?in method|please run /login|run /login|use /login|\bsign in\b|how would you like to authenticate|` +
	`(?:missing|invalid|no|enter (?:your )?(?:gemini )?) ?api key|missing environment variable|no models available|no api keys?`)

// ReadyOn returns how far an agent is according to its screen.
func ReadyOn(h Harness, v ansi.View) Readiness {
	in := h.ReadInput(v)
	switch {
	case loginWords().MatchString(strings.Join(paneEnd(v.Text), "\n")):
		return NoLogin
	case in.Kind == ansi.Dialog:
		return AtDialog
	case in.Kind == ansi.Prompt:
		return Ready
	}
	return Unclear
}
