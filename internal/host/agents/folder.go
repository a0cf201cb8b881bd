package agents

import (
	"encoding/json"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"strconv"
	"time"

	"orange/internal/atomicfile"
	"orange/internal/core/task"
)

// Folder returns the folder of an attempt, which holds its prompt, its output and its card.
func (a *Agents) Folder(k Key) string {
	return filepath.Join(a.Root, string(k.Task), strconv.Itoa(k.Number))
}

// OutputFile returns the path of an attempt's output.
func (a *Agents) OutputFile(k Key) string { return filepath.Join(a.Folder(k), "output.log") }

// A Card is what is known about an attempt besides its processes. It is a file in the
// attempt's folder, because it must outlive the server.
type Card struct {
	Role       string      `json:"role"`
	Since      time.Time   `json:"since"`
	Harness    string      `json:"harness"`
	Check      string      `json:"check,omitempty"` // the check that it runs, "" for an agent
	Model      string      `json:"model,omitempty"` // that the agent reports, else the one it was started with
	PromptHash string      `json:"prompt_hash,omitempty"`
	Window     string      `json:"window,omitempty"` // in the task's terminal session; "" without a terminal
	Session    string      `json:"session,omitempty"`
	Reported   bool        `json:"heard,omitempty"`   // the harness reported this conversation
	Resumed    bool        `json:"resumed,omitempty"` // the attempt continued an earlier conversation
	Transcript string      `json:"transcript,omitempty"`
	Final      string      `json:"final,omitempty"`
	Usage      *task.Usage `json:"usage,omitempty"`
	Code       *int        `json:"code,omitempty"`    // of the exit
	Mass       string      `json:"mass,omitempty"`    // of the exit: what ended the attempt together with others
	Told       []string    `json:"told,omitempty"`    // effects whose messages were pasted
	Sent       []string    `json:"sent,omitempty"`    // those of them that were alone in the input line when Enter was pressed
	Pasted     time.Time   `json:"pasted,omitzero"`   // when a message was last pasted
	Prompted   time.Time   `json:"prompted,omitzero"` // when the agent last acknowledged a prompt
	TurnEnded  time.Time   `json:"rested,omitzero"`   // when its turn ended; zero if the last hook reported something else

	Shown  *task.Condition `json:"shown,omitempty"`  // condition submitted because of the screen, while a message is pending
	Before *task.Condition `json:"before,omitempty"` // the condition before that

	Unhooked bool    `json:"unhooked,omitempty"` // the harness calls no hooks
	Hooked   bool    `json:"hooked,omitempty"`   // a hook was called
	Turn     bool    `json:"turn,omitempty"`     // a hook reported that a turn began
	Last     *string `json:"last,omitempty"`     // the last lines that it showed; nil until they were read
}

func (a *Agents) cardFile(k Key) string { return filepath.Join(a.Folder(k), "card.json") }

// LoadCard reads the card of an attempt. It returns the zero Card if there is none.
func (a *Agents) LoadCard(k Key) (Card, error) {
	var c Card
	text, err := os.ReadFile(a.cardFile(k))
	if errors.Is(err, fs.ErrNotExist) {
		return c, nil
	}
	if err == nil {
		err = json.Unmarshal(text, &c)
	}
	if err != nil {
		return c, fmt.Errorf("read the card of attempt %d: %w", k.Number, err)
	}
	return c, nil
}

// ConversationStart returns when the conversation of an attempt began: with the attempt itself, or with the earlier
// attempt whose conversation it continued.
func (a *Agents) ConversationStart(id task.ID, attempt int) (time.Time, bool) {
	card, err := a.LoadCard(Key{id, attempt})
	if err != nil || card.Since.IsZero() {
		return time.Time{}, false
	}
	for n := attempt - 1; card.Resumed && n > 0; n-- {
		before, err := a.LoadCard(Key{id, n})
		if err == nil && before.Role == card.Role {
			card = before
		}
	}
	return card.Since, true
}

// updateCard changes an attempt's card.
func (a *Agents) updateCard(k Key, change func(*Card)) error {
	a.cards.Lock()
	defer a.cards.Unlock()
	c, err := a.LoadCard(k)
	if err != nil {
		c = Card{} // replace a damaged card: nothing depends on it alone
	}
	change(&c)
	text, err := json.Marshal(c)
	if err == nil {
		err = atomicfile.Write(a.cardFile(k), text, 0o600)
	}
	if err != nil {
		return fmt.Errorf("write the card of attempt %d: %w", k.Number, err)
	}
	return nil
}
