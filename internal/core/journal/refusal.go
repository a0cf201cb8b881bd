package journal

import (
	"strings"
	"time"

	"orange/internal/core/signal"
	"orange/internal/core/task"
	"orange/internal/view/humanize"
)

// A Refusal is a refused request about a task. It changed nothing: it is kept beside the journal, for people, and
// nothing is folded from it.
type Refusal struct {
	Task    task.ID     `json:"task"`
	At      time.Time   `json:"at"`
	Actor   task.Actor  `json:"actor,omitempty"`
	Attempt int         `json:"attempt,omitempty"`
	Kind    signal.Kind `json:"kind"`
	Asked   string      `json:"asked,omitempty"` // the requested state, verb or fields
	Why     string      `json:"why"`
	Via     *signal.Via `json:"via,omitempty"` // where it came from, if a person or a tracker sent it
}

// MaxRefusals is how many refusals of a task are kept; the newest are.
const MaxRefusals = 200

// Limits of a refusal's texts, in bytes. The requester chose some of them.
const (
	maxActor = 64
	maxAsked = 200
	maxWhy   = 1000
)

// NewRefusal returns the refusal of a signal about a task, with its texts truncated.
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
