package cli

import (
	"context"
	"fmt"
	"time"

	"orange/internal/core/engine"
	"orange/internal/core/overview"
	"orange/internal/core/task"
	"orange/internal/ui/client"
)

// inboxTail prints the items of a state that were not there before.
type inboxTail struct {
	session
	known map[itemKey]bool
	flags inboxFlags
	bell  bool
	lost  bool
}

// itemKey tells items apart.
type itemKey struct {
	task  task.ID
	kind  engine.ItemKind
	text  string
	since time.Time
}

func keyOfItem(it *engine.Item) itemKey {
	k := itemKey{it.Task, it.Kind, it.Text, it.Since}
	switch it.Kind {
	case engine.ItemAttention, engine.ItemFailed, engine.ItemCrashed, engine.ItemPaused, engine.ItemGit: // as young as the last entry
		k.since = time.Time{}
	}
	return k
}

// followInbox prints what waits, then what comes, until a person has seen enough.
func (s session) followInbox(ctx context.Context, f inboxFlags) error {
	seen := client.Seen{Project: f.project}
	state, err := s.State(ctx, seen)
	if err != nil {
		return err
	}
	tail := &inboxTail{session: s, known: map[itemKey]bool{}, flags: f}
	if err := tail.show(&state); err != nil {
		return err
	}
	tail.bell = f.bell // what waited already makes no noise
	err = s.Follow(ctx, client.Live{
		Seen: seen, After: state.Row,
		Change: func(c overview.Change) error {
			state.Apply(c)
			return tail.show(&state)
		},
		Opened: tail.opened, Lost: tail.broke,
	})
	if ctx.Err() != nil {
		return nil // Ctrl-C is how it ends
	}
	return err
}

// show prints the items that are new, and forgets those that are gone.
func (t *inboxTail) show(state *overview.State) error {
	items := t.flags.choose(state.Inbox())
	now, rings := make(map[itemKey]bool, len(items)), false
	for i := range items {
		key := keyOfItem(&items[i])
		now[key] = true
		if t.known[key] {
			continue
		}
		if err := t.print(&items[i]); err != nil {
			return err
		}
		rings = rings || items[i].Kind.WaitsForPerson()
	}
	t.known = now
	if rings && t.bell {
		_, err := fmt.Fprint(t.Stderr, "\a") // not into what a program reads
		return err
	}
	return nil
}

func (t *inboxTail) print(it *engine.Item) error {
	if wantsJSON(t.cmd) {
		return printJSON(t.Stdout, it)
	}
	line := fmt.Sprintf("%-10s  %-8s  %s  %s", it.Kind, orDash(short(string(it.Task))), branchOf(it), cleanLine(it.Text))
	if it.Do != "" {
		line += "  (" + cleanLine(it.Do) + ")"
	}
	_, err := fmt.Fprintln(t.Stdout, line)
	return err
}

// opened and broke tell a person when nothing can come, once.
func (t *inboxTail) opened() error {
	if t.lost {
		fmt.Fprintln(t.Stderr, "orange: the server is back")
	}
	t.lost = false
	return nil
}

func (t *inboxTail) broke(err error) {
	if !t.lost {
		fmt.Fprintln(t.Stderr, "orange: the server does not answer: waiting for it ("+cleanLine(err.Error())+")")
	}
	t.lost = true
}
