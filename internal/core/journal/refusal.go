package journal

import (
	"strings"
	"time"

	"orange/internal/core/signal"
	"orange/internal/core/task"
	"orange/internal/view/humanize"
)

// A Refusal is something that was asked of a task and refused. It changed nothing:
// it is kept beside the journal, for people, and nothing is folded from it.
type Refusal struct {
	Task    task.ID     `json:"task"`
	At      time.Time   `json:"at"`
	Actor   task.Actor  `json:"actor,omitempty"`
	Attempt int         `json:"attempt,omitempty"`
	Kind    signal.Kind `json:"kind"`
	Asked   string      `json:"asked,omitempty"` // the state, the verb or the fields
	Why     string      `json:"why"`
	Via     *signal.Via `json:"via,omitempty"` // where it came from, if a person or a tracker asked
}

// MaxRefusals is how many refusals of a task are kept, the newest.
const MaxRefusals = 200

// Bounds of a refusal's words, in bytes. Whoever is refused chose some of them.
const (
	maxActor = 64
	maxAsked = 200
	maxWhy   = 1000
)

// NewRefusal is the refusal of a signal about a task, with bounded words.
func NewRefusal(id task.ID, sig *signal.Signal, why string) Refusal {
	return Refusal{
		Task: id, At: sig.At, Actor: task.Actor(humanize.Cut(string(sig.Actor), maxActor)), Attempt: sig.Attempt,
		Kind: sig.Kind, Asked: humanize.Cut(describeRequest(sig), maxAsked), Why: humanize.Cut(why, maxWhy),
		Via: sig.Via,
	}
}

func describeRequest(sig *signal.Signal) string {
	switch {
	case sig.To != "":
		return sig.To
	case sig.Verb != "":
		return sig.Verb
	case sig.Word != "":
		return sig.Word
	}
	var names []string
	size := 0
	for _, f := range sig.Fields {
		if size += len(f.Name); size > maxAsked {
			break
		}
		names = append(names, f.Name)
	}
	return strings.Join(names, ", ")
}
