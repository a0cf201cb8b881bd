package cli

import (
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"slices"
	"strings"

	"orange/internal/core/journal"
	"orange/internal/core/signal"
	"orange/internal/core/task"
	"orange/internal/core/workflow"
)

// auditJournal is what an audit finds in an export: everything but the entries.
type auditJournal struct {
	store     string
	chain     journal.Chain
	links     []journal.Link // of the rows that were followed
	broken    error          // the first row that is not what was written
	restores  []journal.Restore
	projects  []task.Project
	workflows map[string]journal.ExportLine // by the hash of their texts
	merges    []auditMerge
	work      map[task.ID]task.Work // the last commits of each task
}

// auditMerge is an entry that records a merge, or that work was found merged.
type auditMerge struct {
	task       task.ID
	seq        int
	row        int64
	landed     string // commit by which it was merged, "" if nobody recorded it
	base, head string // the task's commits, "" if nobody knows them
}

// commit is the one that is known of a merge.
func (m *auditMerge) commit() string {
	if m.landed != "" {
		return m.landed
	}
	return m.head
}

// eachExportLine reads an export line by line.
func eachExportLine(in io.Reader, yield func(l *journal.ExportLine) error) error {
	dec := json.NewDecoder(in)
	for n := 1; ; n++ {
		var l journal.ExportLine
		err := dec.Decode(&l)
		switch {
		case errors.Is(err, io.EOF) && n > 1:
			return nil
		case err != nil:
			return fmt.Errorf("line %d of the export does not parse: %w", n, err)
		case (n == 1) != (l.Kind == journal.ExportBegin) || l.Version > journal.ExportVersion:
			return fmt.Errorf("line %d: this is not an export that this version understands", n)
		}
		if err := yield(&l); err != nil {
			return err
		}
	}
}

// readAuditJournal follows the chain of an export and finds the merges in it.
func readAuditJournal(in io.Reader) (*auditJournal, error) {
	j := &auditJournal{workflows: map[string]journal.ExportLine{}, work: map[task.ID]task.Work{}}
	err := eachExportLine(in, func(l *journal.ExportLine) error {
		switch l.Kind {
		case journal.ExportBegin:
			j.store = l.Store
		case journal.ExportProject:
			if l.Project != nil {
				j.projects = append(j.projects, *l.Project)
			}
		case journal.ExportWorkflow:
			j.workflows[workflow.HashOf(l.Text)] = *l
		case journal.ExportEntry:
			return j.entry(l)
		}
		return nil
	})
	return j, err
}

func (j *auditJournal) entry(l *journal.ExportLine) error {
	if j.broken == nil {
		if j.broken = l.Follow(&j.chain); j.broken == nil {
			j.links = append(j.links, j.chain.Head)
			if r, ok := journal.RestoreOf(l.Row, l.Segment); ok {
				j.restores = append(j.restores, r)
			}
		}
	}
	if !mayRecordMerge(l.Entry) {
		return nil
	}
	e, err := journal.Decode(l.Entry)
	if err != nil {
		return fmt.Errorf("row %d of the export does not parse: %w", l.Row, err)
	}
	j.note(&e, l.Row)
	return nil
}

// mayRecordMerge is quick and never wrong about an entry that does.
func mayRecordMerge(entry []byte) bool {
	return slices.ContainsFunc([]string{`"commit":"`, signal.PRMerged, `"name":"merged"`, `"name":"commits"`}, func(text string) bool {
		return bytes.Contains(entry, []byte(text))
	})
}

// note keeps what an entry says about the commits of its task. A merge that is made here is first
// found merged, and its receipt names the commit.
func (j *auditJournal) note(e *journal.Entry, row int64) {
	found := false
	if e.Heard != nil {
		for _, ev := range e.Heard.Evidence {
			if !ev.Holds || ev.Head == "" || ev.Head == ev.Base {
				continue
			}
			if ev.Name == workflow.Commits || ev.Name == workflow.Merged {
				j.work[e.Task] = task.Work{Base: ev.Base, Head: ev.Head}
			}
			found = found || ev.Name == workflow.Merged && e.To != ""
		}
	}
	landed, merged := journal.MergeOf(e)
	if !found && !merged {
		return
	}
	w := j.work[e.Task]
	m := auditMerge{task: e.Task, seq: e.Seq, row: row, landed: landed, base: w.Base, head: w.Head}
	if n := len(j.merges); merged && e.Receipt != nil {
		for i := n - 1; i >= 0; i-- {
			if last := &j.merges[i]; last.task == e.Task && last.landed == "" && last.head == w.Head {
				*last = m
				return
			}
		}
	}
	j.merges = append(j.merges, m)
}

// How a commit belongs to a merge.
const (
	auditMerged = "merge"  // it is the commit by which the work was merged
	auditHead   = "head"   // it is the last commit of the task
	auditBranch = "branch" // it is another commit of the task
)

// find finds the first merge that a commit belongs to, nil if there is none. The commit may be
// abbreviated; contains are the commits that contain it, as far as that is known.
func (j *auditJournal) find(commit string, contains map[string]bool) (m *auditMerge, how string, err error) {
	if m, err = j.named(commit, func(m *auditMerge) string { return m.landed }); m != nil || err != nil {
		return m, auditMerged, err
	}
	if m, err = j.named(commit, func(m *auditMerge) string { return m.head }); m != nil || err != nil {
		return m, auditHead, err
	}
	for i := range j.merges {
		if m := &j.merges[i]; m.base != "" && contains[m.head] && !contains[m.base] {
			return m, auditBranch, nil
		}
	}
	return nil, "", nil
}

// named finds the first merge of which a commit begins with a text.
func (j *auditJournal) named(commit string, of func(*auditMerge) string) (found *auditMerge, err error) {
	for i := range j.merges {
		m := &j.merges[i]
		switch {
		case !strings.HasPrefix(of(m), commit):
		case found == nil:
			found = m
		case of(found) != of(m):
			return nil, fmt.Errorf("%s is the beginning of several commits that were merged: give more of it", commit)
		}
	}
	return found, nil
}

// taskEntries collects the journal of a task.
func taskEntries(in io.Reader, id task.ID) ([]journal.Entry, error) {
	var out []journal.Entry
	own := []byte(`"` + string(id) + `"`)
	err := eachExportLine(in, func(l *journal.ExportLine) error {
		if l.Kind != journal.ExportEntry || !bytes.Contains(l.Entry, own) {
			return nil
		}
		e, err := journal.Decode(l.Entry)
		if err == nil && e.Task == id {
			out = append(out, e)
		}
		return err
	})
	return out, err
}

// definition is the workflow that a task is pinned to.
func (j *auditJournal) definition(hash string) (*workflow.Definition, error) {
	l, ok := j.workflows[hash]
	if !ok {
		return nil, fmt.Errorf("the export does not have the workflow that the task is pinned to, with SHA-256 %.40s: its text was changed or left out", hash)
	}
	return workflow.Parse(l.File, l.Text)
}

// link is the link of a row that was followed.
func (j *auditJournal) link(row int64) (journal.Link, bool) {
	if row < 1 || row > int64(len(j.links)) {
		return journal.Link{}, false
	}
	return j.links[row-1], true
}
