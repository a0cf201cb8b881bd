package cli

import (
	"errors"
	"fmt"
	"io"
	"time"

	"github.com/spf13/cobra"

	"orange/internal/core/task"
)

// RestoreOptions say how a store is restored.
type RestoreOptions struct {
	CrashAt    int    // die at the n-th step, to prove that nothing is lost
	CrashPoint string // count only steps whose name begins like this
}

// Restored is what a restore found and did.
type Restored struct {
	Problem  string            `json:"problem,omitempty"`   // what was wrong with the store, "" if nothing was
	Backup   string            `json:"backup,omitempty"`    // that is in its place now
	BackupAt *time.Time        `json:"backup_at,omitempty"` // when it was made
	Empty    bool              `json:"empty,omitempty"`     // there was no intact one: the store began empty
	Damaged  []string          `json:"damaged,omitempty"`   // backups that are not intact
	Aside    string            `json:"aside,omitempty"`     // where the old store is
	Projects []string          `json:"projects,omitempty"`  // registered again
	Imported []RestoredTask    `json:"imported,omitempty"`  // the store did not know them
	Held     []RestoredTask    `json:"held,omitempty"`      // the store knew them as they were earlier
	Ended    []RestoredAttempt `json:"ended,omitempty"`
	Alive    []RestoredAttempt `json:"alive,omitempty"` // the next server watches them
	Problems []string          `json:"problems,omitempty"`
}

// RestoredTask is a task that was imported or is held.
type RestoredTask struct {
	ID        task.ID `json:"id"`
	Project   string  `json:"project"`
	Branch    string  `json:"branch"`
	Status    string  `json:"status"`              // as the record has it
	Shown     string  `json:"shown,omitempty"`     // the last status in history.jsonl
	Event     string  `json:"event"`               // the newest in history.jsonl
	Workspace string  `json:"workspace,omitempty"` // that it holds
	Over      bool    `json:"over,omitempty"`      // only the ends of its clean-up are lost: it is not held
}

// RestoredAttempt is an agent that was alive.
type RestoredAttempt struct {
	Task   task.ID `json:"task"`
	Number int     `json:"attempt"`
	Role   string  `json:"role,omitempty"`
}

func runRestore(cmd *cobra.Command, deps Deps, o RestoreOptions) error {
	if deps.Config.Role != "" {
		return errors.New("an agent may not restore the store: leave it to a person")
	}
	r, err := deps.Restore(cmd.Context(), o)
	if err != nil && r.Aside != "" {
		return fmt.Errorf("%w; the old store is kept in %s", err, r.Aside)
	}
	if err != nil {
		return err
	}
	return show(cmd, r, func(w io.Writer) error { return printRestored(w, r) })
}

func printRestored(out io.Writer, r Restored) error {
	w := &lineWriter{w: out}
	if r.Problem != "" {
		w.line("Wrong: %s", r.Problem)
	}
	for _, text := range r.Damaged {
		w.line("Passed over: %s", text)
	}
	switch {
	case r.Backup != "":
		w.line("Restored the store from the backup of %s UTC, %s", r.BackupAt.UTC().Format(time.DateTime), r.Backup)
	case r.Empty:
		w.line("No intact backup was found: the store begins empty")
	default:
		w.line("The store is intact and the newest there is: it stays")
	}
	if r.Aside != "" {
		w.line("The old store is kept in %s", r.Aside)
	}
	for _, p := range r.Projects {
		w.line("Registered project %s; set its options again with orange project update", p)
	}
	for _, t := range r.Imported {
		w.line("Imported task %s (%s/%s%s) as %s: its status was %s; newest event: %s", t.ID, t.Project, t.Branch, inWorkspace(t), t.Status, t.Shown, t.Event)
	}
	for _, t := range r.Held {
		if t.Over {
			w.line("Task %s (%s/%s) is %s and stays so; newest event: %s", t.ID, t.Project, t.Branch, t.Status, t.Event)
			continue
		}
		w.line("Held task %s (%s/%s%s): the record says %s, newest event: %s", t.ID, t.Project, t.Branch, inWorkspace(t), t.Status, t.Event)
	}
	for _, a := range r.Ended {
		w.line("Ended attempt %d of task %s (%s), which the store does not know as it is now", a.Number, a.Task, a.Role)
	}
	for _, a := range r.Alive {
		w.line("Attempt %d of task %s (%s) lives: the next server watches it", a.Number, a.Task, a.Role)
	}
	for _, text := range r.Problems {
		w.line("Problem: %s", text)
	}
	if len(r.Imported)+len(r.Held) > 0 {
		w.line("Nothing was started. Look at each task (orange inbox, orange task show ID) and move it to where it belongs; orange resume ID lets a held one go on")
	}
	return w.err
}

func inWorkspace(t RestoredTask) string {
	if t.Workspace == "" {
		return ""
	}
	return ", in " + t.Workspace
}

// lineWriter writes lines until one fails.
type lineWriter struct {
	w   io.Writer
	err error
}

func (l *lineWriter) line(format string, args ...any) {
	if l.err == nil {
		_, l.err = fmt.Fprintln(l.w, cleanLine(fmt.Sprintf(format, args...)))
	}
}
