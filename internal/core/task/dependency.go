package task

import (
	"cmp"
	"slices"
	"strings"
)

// A Predecessor is a task that another one is after, and what became of it.
type Predecessor struct {
	ID     ID               `json:"id"`
	Branch string           `json:"branch,omitempty"` // "" if the task is not known
	State  PredecessorState `json:"state"`

	Stack bool   `json:"stack,omitempty"` // the task is stacked on it: its branch begins at the other one's
	Head  string `json:"head,omitempty"`  // of one that the task is stacked on: the commit at which the branch begins, "" if there is no work yet
}

// StartsAt returns the commit at which a stacked task may begin although its predecessor has not landed, "" if it may not.
func (p *Predecessor) StartsAt() string {
	if !p.Stack || p.State != PredecessorOpen {
		return ""
	}
	return p.Head
}

// PredecessorState says what became of a predecessor.
type PredecessorState string

// The values of PredecessorState.
const (
	PredecessorOpen    PredecessorState = "open"    // it may still land
	PredecessorLanded  PredecessorState = "landed"  // its work is done, and where its workflow merges, in the default branch
	PredecessorDropped PredecessorState = "dropped" // it was cancelled, or is over without a merge
)

// PredecessorStates lists the values.
func PredecessorStates() []PredecessorState {
	return []PredecessorState{PredecessorOpen, PredecessorLanded, PredecessorDropped}
}

// A Reference names a task where another one is shown.
type Reference struct {
	ID     ID     `json:"id"`
	Branch string `json:"branch"`
	Status string `json:"status"`
}

// MaxPredecessors bounds how many tasks one task is after.
const MaxPredecessors = 64

// UnmetOf returns the predecessors that have not landed.
func UnmetOf(list []Predecessor) []Predecessor {
	var out []Predecessor
	for _, p := range list {
		if p.State != PredecessorLanded {
			out = append(out, p)
		}
	}
	return out
}

// UnmetToStart returns the predecessors that keep a task from starting.
func UnmetToStart(list []Predecessor) []Predecessor {
	return slices.DeleteFunc(UnmetOf(list), func(p Predecessor) bool { return p.StartsAt() != "" })
}

// DroppedOf returns the predecessors that will not land unless a person reopens them.
func DroppedOf(list []Predecessor) []Predecessor {
	var out []Predecessor
	for _, p := range list {
		if p.State == PredecessorDropped {
			out = append(out, p)
		}
	}
	return out
}

// JoinIDs returns ids as the value of a field.
func JoinIDs(ids []ID) string {
	words := make([]string, len(ids))
	for i, id := range ids {
		words[i] = string(id)
	}
	return strings.Join(words, ",")
}

// SplitIDs is the reverse of JoinIDs. It leaves out spaces and empty parts, and keeps the first of equal ids.
func SplitIDs(text string) []ID {
	var out []ID
	for word := range strings.SplitSeq(text, ",") {
		if id := ID(strings.TrimSpace(word)); id != "" && !slices.Contains(out, id) {
			out = append(out, id)
		}
	}
	return out
}

// Dependencies lists, by task, the tasks that it is after.
type Dependencies map[ID][]ID

// FindCycle returns the cycle that would exist if task id were after the given ones, beginning and ending with id, or nil
// if there would be none. It is one of the shortest.
func (d Dependencies) FindCycle(id ID, after []ID) []ID {
	reached := map[ID]ID{} // by task: the one that is after it on the way from id
	queue := []ID{id}
	for len(queue) > 0 {
		at := queue[0]
		queue = queue[1:]
		next := d[at]
		if at == id {
			next = after
		}
		for _, to := range next {
			if to == id {
				return cycleThrough(reached, id, at)
			}
			if _, known := reached[to]; !known {
				reached[to] = at
				queue = append(queue, to)
			}
		}
	}
	return nil
}

// cycleThrough returns the way from id to last, by the map that the search left, and back to id.
func cycleThrough(reached map[ID]ID, id, last ID) []ID {
	way := []ID{id}
	for at := last; at != id; at = reached[at] {
		way = append(way, at)
	}
	way = append(way, id)
	slices.Reverse(way)
	return way
}

// CountUnblocked returns how many tasks wait for a task, directly or through others.
func (d Dependencies) CountUnblocked(id ID) int {
	found := map[ID]bool{id: true}
	for grown := true; grown; {
		grown = false
		for later, list := range d {
			if !found[later] && slices.ContainsFunc(list, func(p ID) bool { return found[p] }) {
				found[later], grown = true, true
			}
		}
	}
	return len(found) - 1
}

// A Queued is a task in the queue of its project.
type Queued struct {
	ID       ID
	Priority int // of its issue, from 1, the most urgent; 0 for none
}

// SortQueue sorts the queue of a project, given oldest first: by priority, then by how many tasks a task unblocks, then by
// age.
func SortQueue(list []Queued, d Dependencies) {
	unblocks := map[ID]int{}
	for _, q := range list {
		if len(d) > 0 {
			unblocks[q.ID] = d.CountUnblocked(q.ID)
		}
	}
	slices.SortStableFunc(list, func(a, b Queued) int {
		return cmp.Or(cmp.Compare(a.rank(), b.rank()), cmp.Compare(unblocks[b.ID], unblocks[a.ID]))
	})
}

// rank orders priorities: none comes last.
func (q Queued) rank() int {
	if q.Priority <= 0 {
		return int(^uint(0) >> 1)
	}
	return q.Priority
}
