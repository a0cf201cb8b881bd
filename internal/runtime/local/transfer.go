package local

import (
	"bufio"
	"context"
	"encoding/json"
	"fmt"
	"io"
	"slices"

	"orange/internal/core/journal"
	"orange/internal/core/task"
	"orange/internal/core/workflow"
)

// Archive reads everything in a store, in the order of writing.
type Archive interface {
	ID() (string, error) // returns the name of the store in the anchors of its journal
	EachRow(ctx context.Context, yield func(journal.Row) error) error
	EachWorkflow(ctx context.Context, yield func(hash, name, file, text string) error) error
}

type line = journal.ExportLine

// Export writes the installation as JSON lines: projects, workflow texts, journals
// and the bodies of the tasks.
func (r *Runtime) Export(ctx context.Context, from Archive, w io.Writer) error {
	out := bufio.NewWriter(w)
	enc := json.NewEncoder(out)
	enc.SetEscapeHTML(false)
	store, err := from.ID()
	if err != nil {
		return err
	}
	if err := enc.Encode(line{Kind: journal.ExportBegin, Version: journal.ExportVersion, Store: store}); err != nil {
		return err
	}
	for _, p := range r.pool.listProjects() {
		if err := enc.Encode(line{Kind: journal.ExportProject, Project: &p}); err != nil {
			return err
		}
	}
	err = from.EachWorkflow(ctx, func(_, name, file, text string) error {
		return enc.Encode(line{Kind: journal.ExportWorkflow, Name: name, File: file, Text: text})
	})
	if err != nil {
		return fmt.Errorf("export the workflows: %w", err)
	}
	var ids []task.ID
	err = from.EachRow(ctx, func(row journal.Row) error {
		e, err := journal.Decode(row.Entry)
		if err != nil {
			return fmt.Errorf("row %d of the journal does not parse: run orange doctor: %w", row.ID, err)
		}
		if e.New != nil {
			ids = append(ids, e.Task)
		}
		return enc.Encode(line{Kind: journal.ExportEntry, Entry: row.Entry, Row: row.ID, Link: row.Link, Segment: row.Segment})
	})
	if err != nil {
		return fmt.Errorf("export the journal: %w", err)
	}
	for _, id := range ids {
		if err := r.exportBody(enc, id); err != nil {
			return err
		}
	}
	return out.Flush()
}

func (r *Runtime) exportBody(enc *json.Encoder, id task.ID) error {
	t, ok, err := r.loadRecord(id)
	if err != nil || !ok || t.Deleted || r.Files == nil {
		return err
	}
	doc, err := r.Files.ReadTaskFile(t.Project, id)
	if err != nil {
		r.Log.Warn("a body is left out of the export", "component", "local", "task", id, "error", err)
		return nil
	}
	return enc.Encode(line{Kind: journal.ExportBody, Task: id, Text: string(doc.Body())})
}

// ImportSummary is the result of an import.
type ImportSummary struct {
	Tasks, Projects int
	Skipped         []string // what was not imported, and why
}

// Restore imports an export. It changes nothing that exists here: it imports a journal completely or not at all.
func (r *Runtime) Restore(ctx context.Context, in io.Reader) (ImportSummary, error) {
	if err := r.admitCaller(); err != nil {
		return ImportSummary{}, err
	}
	defer r.wait.Done()
	x := &restore{r: r, entries: map[task.ID][]journal.Entry{}, bodies: map[task.ID]string{}}
	dec := json.NewDecoder(in)
	for n := 1; ; n++ {
		var l line
		err := dec.Decode(&l)
		if err == io.EOF {
			break
		}
		if err != nil {
			return x.taken, task.Mistakef("line %d of the export does not parse: %v", n, err)
		}
		if err := x.applyLine(n, l); err != nil {
			return x.taken, err
		}
	}
	for _, id := range x.order {
		if err := x.restoreTask(ctx, id); err != nil {
			return x.taken, err
		}
	}
	return x.taken, nil
}

type restore struct {
	r       *Runtime
	taken   ImportSummary
	order   []task.ID
	entries map[task.ID][]journal.Entry
	bodies  map[task.ID]string
	origin  foreignChain
	begun   bool // the segment of this import has begun
}

// foreignChain follows the chain of the imported journal.
type foreignChain struct {
	journal.Chain
	broken error // why the rows are not a complete chain
}

func (f *foreignChain) followLine(l *line) {
	if f.broken == nil {
		f.broken = l.FollowChain(&f.Chain)
	}
}

// describeOrigin returns where the entries of an import come from.
func (f *foreignChain) describeOrigin() string {
	if f.broken != nil {
		return "import; its chain cannot be followed: " + f.broken.Error()
	}
	return fmt.Sprintf("import of %d rows that end with %s", f.Rows, f.Head)
}

func (x *restore) noteSkipped(format string, args ...any) {
	x.taken.Skipped = append(x.taken.Skipped, fmt.Sprintf(format, args...))
}

func (x *restore) applyLine(n int, l line) error {
	switch {
	case (n == 1) != (l.Kind == journal.ExportBegin):
		return task.Mistakef("line %d: this is not an export that this version understands", n)
	case l.Version > journal.ExportVersion:
		return task.Mistakef("line %d: the export is of version %d, and this version reads up to %d: upgrade orange", n, l.Version, journal.ExportVersion)
	}
	switch l.Kind {
	case journal.ExportBegin:
	case journal.ExportProject:
		if l.Project == nil {
			return task.Mistakef("line %d: it does not say which project", n)
		}
		if err := x.r.AddProject(*l.Project); err != nil {
			x.noteSkipped("project %s: %v", l.Project.Name, err)
			return nil
		}
		x.taken.Projects++
	case journal.ExportWorkflow:
		if err := x.r.Store.SaveWorkflow(workflow.HashOf(l.Text), l.Name, l.File, l.Text); err != nil {
			return &StoreError{err}
		}
	case journal.ExportEntry:
		e, err := journal.Decode(l.Entry)
		if err != nil {
			return task.Mistakef("line %d: an entry cannot be read: %v", n, err)
		}
		if x.entries[e.Task] == nil {
			x.order = append(x.order, e.Task)
		}
		x.entries[e.Task] = append(x.entries[e.Task], e)
		x.origin.followLine(&l)
	case journal.ExportBody:
		x.bodies[l.Task] = l.Text
	default:
		return task.Mistakef("line %d: kind %q is not known", n, l.Kind)
	}
	return nil
}

// restoreTask commits one journal.
func (x *restore) restoreTask(ctx context.Context, id task.ID) error {
	r := x.r
	defer r.locks.Lock(id)()
	if _, known, err := r.loadRecord(id); err != nil || known {
		x.noteSkipped("task %s: it is here already", id)
		return err
	}
	t, err := journal.Fold(task.Task{}, x.entries[id])
	if err != nil || !id.IsValid() {
		x.noteSkipped("task %s: its journal does not fold: %v", id, err)
		return nil
	}
	def, err := r.pinnedDefinition(&t)
	if err != nil {
		x.noteSkipped("task %s: %v", id, err)
		return nil
	}
	if p, ok := r.pool.findProject(t.Project); ok && p.Confirm.Merge == task.ConfirmCode && slices.ContainsFunc(t.Pending, func(e task.Effect) bool { return e.Do == workflow.MergeBranch }) {
		x.noteSkipped("task %s: it owes a merge, and project %s asks for a code before one: finish the merge where it comes from", id, t.Project)
		return nil
	}
	held, why := x.reserveWorkspace(def, &t)
	if why != "" {
		x.noteSkipped("task %s: %s", id, why)
		return nil
	}
	if r.Files != nil && !t.Deleted {
		if err := r.Files.CreateFolder(t.Project, id, []byte(x.bodies[id])); err != nil {
			held.undo()
			return err
		}
	}
	segment := ""
	if !x.begun {
		segment = x.origin.describeOrigin()
	}
	if err := r.commitSegment(ctx, def, t, x.entries[id], segment); err != nil {
		held.undo()
		return err
	}
	x.begun = true
	r.showInFolder(t, x.entries[id])
	r.driveAndSchedule(&t)
	x.taken.Tasks++
	return nil
}

// reserveWorkspace binds the task's workspace before the commit, or returns why it cannot.
func (x *restore) reserveWorkspace(def *workflow.Definition, t *task.Task) (workspaceHold, string) {
	r := x.r
	if !isOver(def, t) && !t.Deleted {
		if err := r.requireFreeBranch(t.Project, t.Branch, t.ID); err != nil {
			return workspaceHold{}, err.Error()
		}
	}
	if t.Workspace == "" {
		return workspaceHold{}, ""
	}
	r.pool.mu.Lock()
	defer r.pool.mu.Unlock()
	if other, taken := r.pool.bound[t.Workspace]; taken {
		return workspaceHold{}, "its workspace " + t.Workspace + " is held by task " + string(other)
	}
	r.pool.bindWorkspace(t.Workspace, t.ID)
	return workspaceHold{pool: &r.pool, name: t.Workspace}, ""
}
