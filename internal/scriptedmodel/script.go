// Package scriptedmodel is a language model that plays from a script. It serves the
// protocols that agent CLIs speak (Anthropic Messages, OpenAI Responses, OpenAI Chat
// Completions, Gemini) on loopback, so that the real CLIs can be driven through real tool
// calls without a key, a network or chance. It is for tests: it knows nothing about tasks,
// and it understands of a conversation only which of its own answers are already in it.
package scriptedmodel

import (
	"fmt"
	"net/http"
	"regexp"
	"slices"
	"strings"
)

// Script is what the model says in one conversation, turn by turn.
//
// A prompt chooses a script: by the marker [[script:NAME]] in it, else by containing the
// When of a script. A prompt that chooses none goes on with the script that was chosen
// before; one that chooses the same again goes on too. A script that is over answers with
// a short text.
type Script struct {
	Name  string `json:"name"`           // lower case letters, digits and dashes
	When  string `json:"when,omitempty"` // part of the prompts that choose this script; empty means by marker only
	Turns []Turn `json:"turns"`
}

// Turn is one answer of the model: exactly one of Shell, Text and Status.
type Turn struct {
	Shell  string `json:"shell,omitempty"`  // a command for the agent's own shell tool
	Text   string `json:"text,omitempty"`   // a message, which ends the agent's turn; {nonce} is the last nonce=... of the prompts
	Status int    `json:"status,omitempty"` // an HTTP error, from 400 on

	Message      string `json:"message,omitempty"`       // what the error says; there is a default
	Times        int    `json:"times,omitempty"`         // how often the error is answered before the script goes on; 0 means always
	ResetSeconds int    `json:"reset_seconds,omitempty"` // makes a 429 a used-up limit that opens again so much later
	DelayMillis  int    `json:"delay_ms,omitempty"`      // how long to think first
	Usage        *Usage `json:"usage,omitempty"`         // what the answer is said to cost; there is a default
}

// Usage is what an answer is said to cost, in tokens. No token is counted twice: Input
// leaves out what was read from or written to the cache. Protocols that mean it
// differently are told so.
type Usage struct {
	Input      int `json:"input"`
	Output     int `json:"output"`
	CacheRead  int `json:"cache_read,omitempty"`
	CacheWrite int `json:"cache_write,omitempty"`
}

// Add returns the sum of two usages.
func (u Usage) Add(v Usage) Usage {
	return Usage{Input: u.Input + v.Input, Output: u.Output + v.Output, CacheRead: u.CacheRead + v.CacheRead, CacheWrite: u.CacheWrite + v.CacheWrite}
}

// ordinaryUsage returns what an answer costs whose turn does not say.
func ordinaryUsage() Usage { return Usage{Input: 100, Output: 20, CacheRead: 40} }

// scriptName is deliberately narrow: a name becomes part of call ids.
const scriptName = `[a-z0-9]+(?:-[a-z0-9]+)*`

var (
	validName = regexp.MustCompile(`^` + scriptName + `$`)
	marker    = regexp.MustCompile(`\[\[script:(` + scriptName + `)\]\]`)
)

// checkScripts finds what is wrong with a list of scripts.
func checkScripts(scripts []Script) error {
	var seen []string
	for _, s := range scripts {
		if !validName.MatchString(s.Name) {
			return fmt.Errorf("script name %q is not valid: use lower case letters, digits and single dashes", s.Name)
		}
		if slices.Contains(seen, s.Name) {
			return fmt.Errorf("there are two scripts called %q: rename one", s.Name)
		}
		seen = append(seen, s.Name)
		for i, turn := range s.Turns {
			if err := turn.checkTurn(); err != nil {
				return fmt.Errorf("script %q, turn %d: %w", s.Name, i, err)
			}
		}
	}
	return nil
}

func (t Turn) checkTurn() error {
	kinds := 0
	for _, is := range [...]bool{t.Shell != "", strings.TrimSpace(t.Text) != "", t.Status != 0} {
		if is {
			kinds++
		}
	}
	switch {
	case kinds != 1:
		return fmt.Errorf("a turn is a shell command, a text or a status: give exactly one")
	case t.Status != 0 && (t.Status < 400 || t.Status > 599):
		return fmt.Errorf("status %d is no error: use 400 to 599", t.Status)
	case t.Status != http.StatusTooManyRequests && t.ResetSeconds != 0:
		return fmt.Errorf("reset_seconds belongs to status 429")
	case t.Times < 0 || t.ResetSeconds < 0 || t.DelayMillis < 0:
		return fmt.Errorf("times, reset_seconds and delay_ms are not negative")
	}
	return nil
}
