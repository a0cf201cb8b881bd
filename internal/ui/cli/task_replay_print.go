package cli

import (
	"bytes"
	"encoding/json"
	"fmt"
	"io"
	"maps"
	"slices"
	"strings"
	"time"

	"orange/internal/core/engine"
	"orange/internal/core/journal"
)

// differences lists the values that are not the same, by name.
func differences(have, want map[string]json.RawMessage) []difference {
	names := slices.Sorted(maps.Keys(have))
	for name := range want {
		if _, ok := have[name]; !ok {
			names = append(names, name)
		}
	}
	slices.Sort(names)
	var out []difference
	for _, name := range names {
		if !bytes.Equal(have[name], want[name]) {
			out = append(out, difference{name, have[name], want[name]})
		}
	}
	return out
}

// print says that all is the same, or what the first difference is.
func (r replayed) print(w io.Writer) error {
	p := timeline{now: r.now}
	first, n := r.Diverges()
	switch {
	case r.Same:
		p.line("%s, %s: same record, same decisions", count(r.Entries, "entry", "entries"), count(len(r.Decisions), "decision", "decisions"))
	case !r.Record.Same:
		d := r.Record.Differs[0]
		p.line("%s: the record is not what they fold to", count(r.Entries, "entry", "entries"))
		p.line("  %s is stored as %s and folds to %s", d.Name, orNothing(d.Stored), orNothing(d.Folded))
	}
	if first != nil {
		p.line("%d of %s would be another now; the first:", n, count(len(r.Decisions), "decision", "decisions"))
		p.divergence(first)
	}
	_, err := io.WriteString(w, p.String())
	return err
}

func count(n int, one, many string) string {
	if n == 1 {
		return "1 " + one
	}
	return fmt.Sprintf("%d %s", n, many)
}

func orNothing(v json.RawMessage) string {
	if v == nil {
		return "nothing"
	}
	return string(v)
}

// replayAgainst makes every decision once more by another workflow.
func (s session) replayAgainst(p past, name string) error {
	def, err := loadWorkflow(s.Deps, name)
	if err != nil {
		return err
	}
	r, err := engine.Again(def, p.entries)
	if err != nil {
		return err
	}
	first, _ := r.Diverges()
	out := struct {
		Task string `json:"task"`
		Same bool   `json:"same"`
		engine.Replayed
	}{string(p.Task.ID), first == nil, r}
	err = s.show(out, func(w io.Writer) error {
		t := timeline{now: s.Now()}
		t.against(&r, def.File)
		_, err := io.WriteString(w, t.String())
		return err
	})
	if err != nil {
		return err
	}
	return replayResult(first == nil, "task %s goes another way under %s", p.Task.ID, def.File)
}

// timeline writes decisions down, one below the other.
type timeline struct {
	strings.Builder
	now time.Time
}

func (t *timeline) line(format string, args ...any) {
	text := fmt.Sprintf(format, args...)
	indent := text[:len(text)-len(strings.TrimLeft(text, " "))]
	t.WriteString(indent + cleanLine(text) + "\n")
}

// timelineBefore is how many moves are shown before the first divergence.
const timelineBefore = 3

func (t *timeline) against(r *engine.Replayed, file string) {
	first, n := r.Diverges()
	if first == nil {
		t.line("%s: all would be the same under %s", count(len(r.Decisions), "decision", "decisions"), file)
		return
	}
	var moves []*engine.Retaken
	for i := range r.Decisions {
		if d := &r.Decisions[i]; d.Seq < first.Seq && d.From != d.To {
			moves = append(moves, d)
		}
	}
	t.line("Under %s the task would have gone another way at entry %d", file, first.Seq)
	for _, d := range moves[max(0, len(moves)-timelineBefore):] {
		t.line("  #%-4d %s  %s: %s  (the same)", d.Seq, clock(t.now, d.At), heard(d), move(d.From, d.To))
	}
	t.divergence(first)
	if n > 1 {
		t.line("%s after it would be others too", count(n-1, "decision", "decisions"))
	}
}

// heard is the signal of a decision in words.
func heard(d *engine.Retaken) string {
	if d.Actor == "" {
		return string(d.Signal)
	}
	return fmt.Sprintf("%s by %s", d.Signal, d.Actor)
}

func move(from, to string) string {
	switch from {
	case to:
		return "stays " + to
	case "":
		return "begins as " + to
	}
	return from + " -> " + to
}

// divergence shows what was decided, what would be decided now, and why.
func (t *timeline) divergence(d *engine.Retaken) {
	t.line("  #%-4d %s  %s", d.Seq, clock(t.now, d.At), heard(d))
	then, now := decided(d.Want), decided(d.Got)
	if d.Refused != "" {
		now = []string{"refuse: " + d.Refused}
	} else if len(now) == 0 {
		now = []string{string(d.Verdict) + ": nothing is written down"}
	}
	if slices.Equal(then, now) { // the words are the same: the values are not
		then, now = raw(d.Want), raw(d.Got)
	}
	t.lines("then", then)
	t.lines("now", now)
	for _, r := range d.Reasons {
		t.line("               %s (line %d)", r, r.Line)
	}
}

func (t *timeline) lines(when string, list []string) {
	for i, text := range list {
		if i > 0 {
			when = ""
		}
		t.line("        %-5s  %s", when, text)
	}
}

// decided says what entries change, a line each.
func decided(entries []journal.Entry) []string {
	var out []string
	for i := range entries {
		e := &entries[i]
		parts := []string{string(e.Type)}
		if e.To != "" {
			parts[0] += " " + e.From + " -> " + e.To
		}
		if e.Line > 0 {
			parts[0] += fmt.Sprintf(" (line %d)", e.Line)
		}
		for _, text := range []string{e.Reason, e.Attention} {
			if text != "" {
				parts = append(parts, text)
			}
		}
		for _, c := range e.Counters {
			parts = append(parts, fmt.Sprintf("%s = %d", c.Name, c.Value))
		}
		for _, f := range e.Effects {
			parts = append(parts, "do "+strings.TrimSpace(f.Do+" "+f.Role))
		}
		out = append(out, strings.Join(parts, "; "))
	}
	return out
}

func raw(entries []journal.Entry) []string {
	var out []string
	for i := range entries {
		text, err := json.Marshal(&entries[i])
		if err != nil {
			text = []byte(err.Error())
		}
		out = append(out, string(text))
	}
	return out
}
