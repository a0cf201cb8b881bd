package scriptedmodel

import (
	"encoding/json"
	"regexp"
	"slices"
	"strings"
)

// modelRequest is a request, independent of the protocol.
type modelRequest struct {
	model  string
	stream bool
	tools  []tool
	schema json.RawMessage // schema of the JSON that the answer must be; nil for text
	said   []utterance
}

// utterance is one element of a conversation: a prompt of the user, or an answer that the model
// gave earlier.
type utterance struct {
	prompt string
	answer bool
}

func newPrompt(text string) utterance { return utterance{prompt: text} }
func newAnswer() utterance            { return utterance{answer: true} }

// lastPrompt returns the newest prompt, without what the CLI itself added.
func (a modelRequest) lastPrompt() string {
	for _, u := range slices.Backward(a.said) {
		if !u.answer {
			return u.prompt
		}
	}
	return ""
}

var nonceGiven = regexp.MustCompile(`nonce=([0-9A-Za-z]+)`)

// latestNonce returns the nonce of the newest prompt that has one.
func (a modelRequest) latestNonce() string {
	for _, u := range slices.Backward(a.said) {
		if all := nonceGiven.FindAllStringSubmatch(u.prompt, -1); len(all) > 0 {
			return all[len(all)-1][1]
		}
	}
	return ""
}

// turnPlace is the position of a conversation: the script that applies and how many of its turns
// were already played in this conversation.
type turnPlace struct {
	script *Script
	done   int
}

// findPlace derives the place from the conversation alone; it is empty if no prompt chose a
// script. Each script has its own count, so that a retry, a side request or another session
// cannot change it.
func findPlace(scripts []Script, said []utterance) turnPlace {
	done := map[*Script]int{}
	var matching *Script
	for _, u := range said {
		if u.answer {
			done[matching]++
		} else if chosen := chooseScript(scripts, u.prompt); chosen != nil {
			matching = chosen
		}
	}
	if matching == nil {
		return turnPlace{}
	}
	return turnPlace{script: matching, done: done[matching]}
}

// chooseScript returns the script that a prompt chooses. The last marker counts, because a CLI
// joins prompts whose answers failed.
func chooseScript(scripts []Script, prompt string) *Script {
	var name string
	for _, m := range marker.FindAllStringSubmatch(prompt, -1) {
		name = m[1]
	}
	for i, s := range scripts {
		if name == s.Name || name == "" && s.When != "" && strings.Contains(prompt, s.When) {
			return &scripts[i]
		}
	}
	return nil
}

// injectedTags returns the tags around text that a CLI adds to prompts by itself.
func injectedTags() []string {
	return []string{"system-reminder", "environment_context", "session_context", "user_instructions", "skills_instructions", "permissions instructions"}
}

// isInjected reports whether a piece of a prompt comes from the CLI and not from the user.
func isInjected(text string) bool {
	text = strings.TrimSpace(text)
	return slices.ContainsFunc(injectedTags(), func(tag string) bool { return strings.HasPrefix(text, "<"+tag+">") })
}

// promptOf joins the pieces of a prompt, without what the CLI added.
func promptOf(pieces []string) string {
	pieces = slices.DeleteFunc(slices.Clone(pieces), isInjected)
	return strings.TrimSpace(strings.Join(pieces, "\n"))
}

// isFiller reports whether the CLI invented an answer: it closes an interrupted turn in this
// way before it continues.
func isFiller(text string) bool {
	return strings.TrimSpace(text) == "" || strings.TrimSpace(text) == "No response requested."
}
