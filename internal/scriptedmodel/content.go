package scriptedmodel

import (
	"bytes"
	"encoding/json"
	"fmt"
)

// content is the content of a message: a text, or a list of blocks.
type content []block

// block is one part of a message. Only texts have a Text.
type block struct {
	Type string `json:"type"`
	Text string `json:"text"`
}

// UnmarshalJSON accepts a text, a list of blocks and null.
func (c *content) UnmarshalJSON(data []byte) error {
	*c = nil
	var text string
	if json.Unmarshal(data, &text) == nil {
		if text != "" {
			*c = content{{Type: "text", Text: text}}
		}
		return nil
	}
	var blocks []block
	if err := json.Unmarshal(data, &blocks); err != nil {
		return err
	}
	*c = blocks
	return nil
}

// textParts returns the texts of a message.
func (c content) textParts() []string {
	var out []string
	for _, b := range c {
		if b.Text != "" {
			out = append(out, b.Text)
		}
	}
	return out
}

// countType returns how many blocks are of a type.
func (c content) countType(kind string) int {
	n := 0
	for _, b := range c {
		if b.Type == kind {
			n++
		}
	}
	return n
}

// addPrompt adds a prompt to a conversation, unless it is empty.
func (a *modelRequest) addPrompt(texts []string) {
	if text := promptOf(texts); text != "" {
		a.said = append(a.said, newPrompt(text))
	}
}

// addAnswers adds answers that the model gave earlier: tool calls, or else a text.
func (a *modelRequest) addAnswers(calls int, texts []string) {
	if calls == 0 && !isFiller(promptOf(texts)) {
		calls = 1
	}
	for range calls {
		a.said = append(a.said, newAnswer())
	}
}

// decodeRequest decodes a request. It ignores fields that are not needed.
func decodeRequest(body []byte, into any) error {
	if len(bytes.TrimSpace(body)) == 0 {
		return fmt.Errorf("the request is empty")
	}
	if err := json.Unmarshal(body, into); err != nil {
		return fmt.Errorf("the request is not what the protocol asks for: %w", err)
	}
	return nil
}
