// Package scriptedmodel is a language model that plays from a script. It serves the protocols
// of agent CLIs (Anthropic Messages, OpenAI Responses, OpenAI Chat Completions, Gemini) on
// loopback, so that tests can drive the real CLIs through real tool calls without a key, a
// network or randomness. It is for tests: it knows nothing about tasks, and all it understands
// of a conversation is which of its own answers are already in it.
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
// A prompt chooses a script by the marker [[script:NAME]] in it, or else by containing the When
// of a script. A prompt that chooses none continues the script that was chosen before, and so
// does one that chooses the same script again. When a script is over, the model answers with a
// short text.
type Script struct {
	Name  string `json:"name"`           // lower case letters, digits and dashes
	When  string `json:"when,omitempty"` // text in the prompts that choose this script; empty for choice by marker only
	Turns []Turn `json:"turns"`
}

// Turn is one answer of the model: exactly one of Shell, Text and Status.
type Turn struct {
	Shell  string `json:"shell,omitempty"`  // a command for the agent's own shell tool
	Text   string `json:"text,omitempty"`   // a message, which ends the agent's turn; {nonce} stands for the last nonce=... of the prompts
	Status int    `json:"status,omitempty"` // an HTTP error, 400 or above

	Message      string `json:"message,omitempty"`       // the text of the error; optional
	Times        int    `json:"times,omitempty"`         // how often the error is sent before the script continues; 0 for always
	ResetSeconds int    `json:"reset_seconds,omitempty"` // turns a 429 into a used-up limit that resets after this time
	DelayMillis  int    `json:"delay_ms,omitempty"`      // how long to wait first
	Usage        *Usage `json:"usage,omitempty"`         // the usage that the answer reports; optional
}

// Usage is the usage that an answer reports, in tokens. No token is counted twice: Input
// excludes what was read from or written to the cache. Protocols with other definitions get
// converted numbers.
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

// ordinaryUsage returns the default usage of an answer.
func ordinaryUsage() Usage { return Usage{Input: 100, Output: 20, CacheRead: 40} }

// scriptName is narrow because a name becomes part of call ids.
const scriptName = `[a-z0-9]+(?:-[a-z0-9]+)*`

var (
	validName = regexp.MustCompile(`^` + scriptName + `$`)
	marker    = regexp.MustCompile(`\[\[script:(` + scriptName + `)\]\]`)
)

// checkScripts returns an error if a list of scripts is not valid.
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
		return fmt.Errorf("status %d is not an error: use 400 to 599", t.Status)
	case t.Status != http.StatusTooManyRequests && t.ResetSeconds != 0:
		return fmt.Errorf("reset_seconds belongs to status 429")
	case t.Times < 0 || t.ResetSeconds < 0 || t.DelayMillis < 0:
		return fmt.Errorf("times, reset_seconds and delay_ms are not negative")
	}
	return nil
}
