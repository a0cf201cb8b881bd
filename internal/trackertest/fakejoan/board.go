package fakejoan

import (
	"slices"
	"strings"
	"testing"
	"time"

	"orange/internal/core/board"
	"orange/internal/core/tracker"
	"orange/internal/trackertest"
)

// statuses are Joan's names for the states of a task; each column stands for one.
var statuses = []string{"todo", "in_progress", "in_progress", "done", "done", "cancelled"}

// account is the client's account at Joan.
const account = "orange-bot"

type boardColumn struct{ id, name, status string }

type tag struct{ id, name string }

type task struct {
	id, title, description, author string
	column                         *boardColumn
	tags                           []*tag
	priority                       int // 0 none, 1 low, 2 medium, 3 high
	comments                       []comment
	created, updated               time.Time
}

type comment struct {
	id, author, text string
	at               time.Time
}

// perStatus is how many tasks of one status Joan can list.
const perStatus = 100

func (f *Fake) findTask(id string) *task {
	i := slices.IndexFunc(f.tasks, func(x *task) bool { return x.id == id })
	if i < 0 {
		return nil
	}
	return f.tasks[i]
}

func (f *Fake) columnNamed(name string) *boardColumn {
	for _, c := range f.columns {
		if c.name == name {
			return c
		}
	}
	return f.columns[0]
}

func (f *Fake) tagsNamed(names []string) []*tag {
	var out []*tag
	for _, t := range f.tags {
		if slices.Contains(names, t.name) {
			out = append(out, t)
		}
	}
	return out
}

// AddIssue implements trackertest.World. Tasks of Joan have neither parents nor blockers.
func (f *Fake) AddIssue(t testing.TB, d tracker.Issue) string {
	t.Helper()
	f.mu.Lock()
	defer f.mu.Unlock()
	at := f.nextTime()
	n := &task{id: f.newID("task"), title: d.Card.Title, description: d.Card.Description, author: d.Card.Author, column: f.columnNamed(d.Card.Column),
		tags: f.tagsNamed(d.Card.Tags), priority: map[tracker.Priority]int{tracker.Urgent: 3, tracker.High: 3, tracker.Medium: 2, tracker.Low: 1}[d.Priority], created: at, updated: at}
	same := 0
	for _, o := range f.tasks {
		if o.column.status == n.column.status {
			same++
		}
	}
	if same >= perStatus {
		t.Skipf("Joan shows at most %d tasks of a status, and no further page", perStatus)
	}
	f.tasks = append(f.tasks, n)
	return n.id
}

func (f *Fake) changeTask(t testing.TB, key string, do func(x *task)) {
	t.Helper()
	f.mu.Lock()
	defer f.mu.Unlock()
	x := f.findTask(key)
	if x == nil {
		t.Errorf("no task %s", key)
		return
	}
	do(x)
	x.updated = f.nextTime()
}

// MoveIssue implements trackertest.World.
func (f *Fake) MoveIssue(t testing.TB, key, column string) {
	t.Helper()
	f.changeTask(t, key, func(x *task) { x.column = f.columnNamed(column) })
}

// TagIssue implements trackertest.World.
func (f *Fake) TagIssue(t testing.TB, key string, add, remove []string) {
	t.Helper()
	f.changeTask(t, key, func(x *task) {
		x.tags = slices.DeleteFunc(x.tags, func(g *tag) bool { return slices.Contains(remove, g.name) })
		for _, g := range f.tagsNamed(add) {
			if !slices.Contains(x.tags, g) {
				x.tags = append(x.tags, g)
			}
		}
	})
}

// CommentIssue implements trackertest.World.
func (f *Fake) CommentIssue(t testing.TB, key, author, text string) {
	t.Helper()
	f.changeTask(t, key, func(x *task) {
		x.comments = append(x.comments, comment{id: f.newID("comment"), author: author, text: text, at: f.nextTime()})
	})
}

// DescribeIssue implements trackertest.World.
func (f *Fake) DescribeIssue(t testing.TB, key, text string) {
	t.Helper()
	f.changeTask(t, key, func(x *task) { x.description = text })
}

// ReadIssue implements trackertest.World.
func (f *Fake) ReadIssue(t testing.TB, key string) tracker.Issue {
	t.Helper()
	f.mu.Lock()
	defer f.mu.Unlock()
	x := f.findTask(key)
	if x == nil {
		t.Fatalf("no task %s", key)
	}
	is := tracker.Issue{Key: x.id, Priority: map[int]tracker.Priority{3: tracker.High, 2: tracker.Medium, 1: tracker.Low}[x.priority], Card: board.Card{
		Title: x.title, Author: x.author, Description: x.description, Column: x.column.name, Tags: []string{}, CreatedAt: x.created, UpdatedAt: x.updated,
	}}
	for _, g := range x.tags {
		is.Card.Tags = append(is.Card.Tags, g.name)
	}
	for _, c := range x.comments {
		is.Comments = append(is.Comments, tracker.Comment{ID: c.id, Author: c.author, At: c.at, Text: c.text})
	}
	return is
}

// RenameColumn implements trackertest.World.
func (f *Fake) RenameColumn(t testing.TB, from, to string) {
	t.Helper()
	f.mu.Lock()
	defer f.mu.Unlock()
	f.columnNamed(from).name = to
}

// DeleteTag implements trackertest.World. Joan takes a deleted tag off every task.
func (f *Fake) DeleteTag(t testing.TB, name string) {
	t.Helper()
	f.mu.Lock()
	defer f.mu.Unlock()
	gone := func(g *tag) bool { return g.name == name }
	f.tags = slices.DeleteFunc(f.tags, gone)
	for _, x := range f.tasks {
		x.tags = slices.DeleteFunc(x.tags, gone)
	}
}

// InjectFault implements trackertest.World.
func (f *Fake) InjectFault(fault trackertest.Fault) {
	f.mu.Lock()
	defer f.mu.Unlock()
	f.fault = fault
}

// CountWrites implements trackertest.World.
func (f *Fake) CountWrites() int {
	f.mu.Lock()
	defer f.mu.Unlock()
	return f.writes
}

// countUse counts a use of a tool and says how it is to fail, "" if it is not.
func (f *Fake) countUse(write bool) string {
	f.mu.Lock()
	defer f.mu.Unlock()
	if write {
		f.writes++
	}
	if f.fault.Times <= 0 || f.fault.Writes && !write {
		return ""
	}
	f.fault.Times--
	return f.fault.Kind
}

func (f *Fake) recordProblem(text string) {
	f.mu.Lock()
	defer f.mu.Unlock()
	f.problems = append(f.problems, strings.TrimSpace(text))
}
