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

// Folder is where an attempt keeps its prompt, its output and what is known of it.
func (a *Agents) Folder(k Key) string {
	return filepath.Join(a.Root, string(k.Task), strconv.Itoa(k.Number))
}

// OutputFile is the file that an attempt's output goes to.
func (a *Agents) OutputFile(k Key) string { return filepath.Join(a.Folder(k), "output.log") }

// A Card is what is known about an attempt besides its processes. It is a file in the
// attempt's folder, because it must outlive the server.
type Card struct {
	Role       string      `json:"role"`
	Since      time.Time   `json:"since"`
	Harness    string      `json:"harness"`
	Model      string      `json:"model,omitempty"`
	Window     string      `json:"window,omitempty"` // in the task's terminal session; "" without a terminal
	Session    string      `json:"session,omitempty"`
	Heard      bool        `json:"heard,omitempty"`   // the harness said that this conversation exists
	Resumed    bool        `json:"resumed,omitempty"` // it went on with an earlier conversation
	Transcript string      `json:"transcript,omitempty"`
	Final      string      `json:"final,omitempty"`
	Usage      *task.Usage `json:"usage,omitempty"`
	Code       *int        `json:"code,omitempty"`    // of the exit
	Mass       string      `json:"mass,omitempty"`    // of the exit: it broke nothing off by itself
	Told       []string    `json:"told,omitempty"`    // effects whose words were typed in
	Sent       []string    `json:"sent,omitempty"`    // those of them that stood alone in the input line when Enter was pressed
	Pasted     time.Time   `json:"pasted,omitzero"`   // when words were last typed in
	Prompted   time.Time   `json:"prompted,omitzero"` // when the agent last took a prompt in
	Rested     time.Time   `json:"rested,omitzero"`   // when its turn ended; zero while the last hook says something else

	Shown  *task.Condition `json:"shown,omitempty"`  // that the screen was the reason for, because a message is owed
	Before *task.Condition `json:"before,omitempty"` // how it was doing before that

	Unhooked bool    `json:"unhooked,omitempty"` // it calls no hook
	Hooked   bool    `json:"hooked,omitempty"`   // a hook came
	Turn     bool    `json:"turn,omitempty"`     // a hook said that a turn began
	Last     *string `json:"last,omitempty"`     // the last lines that it showed; nil while nobody has read them
}

func (a *Agents) cardFile(k Key) string { return filepath.Join(a.Folder(k), "card.json") }

// LoadCard reads what is known about an attempt.
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
		return c, fmt.Errorf("read what is known of attempt %d: %w", k.Number, err)
	}
	return c, nil
}

// ConversationStart is when the conversation of an attempt began: with the attempt itself, or with the
// one that it went on from.
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
		c = Card{} // a damaged card is written anew: it is not the truth about anything
	}
	change(&c)
	text, err := json.Marshal(c)
	if err == nil {
		err = atomicfile.Write(a.cardFile(k), text, 0o600)
	}
	if err != nil {
		return fmt.Errorf("write down what is known of attempt %d: %w", k.Number, err)
	}
	return nil
}
