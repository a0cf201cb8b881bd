package harness

import (
	"strings"

	"orange/internal/view/ansi"
)

// Readiness says how far an agent is that was started without a prompt.
type Readiness string

// How far an agent can be.
const (
	Ready    Readiness = "ready"  // it shows its input line
	NoLogin  Readiness = "login"  // it wants a login or a key
	AtDialog Readiness = "dialog" // it stops at a question
	Unclear  Readiness = "unclear"
)

// loginWords are how agents say that they have no account to work with.
var loginWords = lazyPattern(`(?i)not logged in|log ?in method|please run /login|run /login|use /login|\bsign in\b|how would you like to authenticate|` +
	`(?:missing|invalid|no|enter (?:your )?(?:gemini )?) ?api key|missing environment variable|no models available|no api keys?`)

// ReadyOn says how far an agent is by what its screen shows.
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
