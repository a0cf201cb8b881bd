package local

import (
	"encoding/json"
	"fmt"
	"strconv"
	"sync"

	"orange/internal/core/journal"
	"orange/internal/core/task"
)

// Settings of the runtime.
const (
	pausedKey = "paused"
	shownKey  = "taskdir.row" // the task folders show every row up to this one
)

// saveEvery is the number of rows after which the cursor is saved. A cursor that is behind only means that a few
// folders are checked again.
const saveEvery = 256

// shownCursor knows up to which row of the journal the folders of tasks show everything.
type shownCursor struct {
	mu    sync.Mutex
	last  int64             // highest row committed
	saved int64             // row that is saved in the store
	open  map[task.ID]int64 // first row of a task that its folder does not show yet
}

func (c *shownCursor) load(notes Notes) error {
	c.open = make(map[task.ID]int64)
	text, err := notes.Setting(shownKey)
	if err != nil || text == "" {
		return err
	}
	c.saved, err = strconv.ParseInt(text, 10, 64)
	c.last = c.saved
	return err
}

// beginBatch records the rows of a batch as committed and not shown.
func (c *shownCursor) beginBatch(first int64, batch []*pendingCommit) {
	c.mu.Lock()
	defer c.mu.Unlock()
	for _, b := range batch {
		if _, ok := c.open[b.Task.ID]; !ok {
			c.open[b.Task.ID] = first
		}
		first += int64(len(b.Entries))
	}
	c.last = first - 1
}

// markUnshown records that a task's folder does not show the entries from a row on.
func (c *shownCursor) markUnshown(id task.ID, row int64) {
	c.mu.Lock()
	defer c.mu.Unlock()
	c.open[id] = row
	c.last = max(c.last, row)
}

// markShown records that a task's folder is up to date, and reports whether it is time to save the cursor.
func (c *shownCursor) markShown(id task.ID) bool {
	c.mu.Lock()
	defer c.mu.Unlock()
	delete(c.open, id)
	return c.shownRow()-c.saved >= saveEvery
}

// isBehind reports whether a task's folder does not show its last entries.
func (c *shownCursor) isBehind(id task.ID) bool {
	c.mu.Lock()
	defer c.mu.Unlock()
	_, open := c.open[id]
	return open
}

// shownRow returns the last row before the first that is not shown. The caller holds mu.
func (c *shownCursor) shownRow() int64 {
	row := c.last
	for _, first := range c.open {
		row = min(row, first-1)
	}
	return row
}

func (c *shownCursor) saveRow(notes Notes) error {
	c.mu.Lock()
	row := c.shownRow()
	c.saved = row
	c.mu.Unlock()
	return notes.SetSetting(shownKey, strconv.FormatInt(row, 10))
}

// showInFolder brings the task's folder up to date. If that fails, it logs the error and returns it to the caller; the
// entries are committed anyway, and the next change of the task shows them. The caller holds the task's lock.
func (r *Runtime) showInFolder(t task.Task, entries []journal.Entry) (warning string) {
	if r.Files == nil {
		r.shown.markShown(t.ID)
		return ""
	}
	r.Fault("show.before")
	err := r.showFrom(t, entries)
	r.Fault("show.after")
	if err != nil {
		r.Log.Error("show a task in its folder", "component", "local", "task", t.ID, "error", err)
		return err.Error()
	}
	if r.shown.markShown(t.ID) && !r.Still {
		if err := r.shown.saveRow(r.Store); err != nil {
			r.Log.Error("save the projection's cursor", "component", "local", "error", err)
		}
	}
	return ""
}

func (r *Runtime) showFrom(t task.Task, entries []journal.Entry) error {
	if t.Deleted {
		return r.Files.RemoveFolder(t.Project, t.ID)
	}
	return r.Files.ShowRecord(t, entries, func(after int) ([]journal.Entry, error) { return r.Store.Journal(t.ID, after) })
}

// showAgain brings folders up to date with what a killed server committed.
func (r *Runtime) showAgain() error {
	if r.Files == nil {
		return nil
	}
	after := r.shown.saved
	seen := make(map[task.ID]bool)
	for {
		rows, err := r.Store.Rows(after, "", 1000)
		if err != nil {
			return fmt.Errorf("read what is not shown yet: %w", err)
		}
		for _, row := range rows {
			var e struct {
				Task task.ID `json:"task"`
			}
			if json.Unmarshal(row.Entry, &e) == nil && !seen[e.Task] {
				seen[e.Task] = true
				r.shown.markUnshown(e.Task, row.ID)
				r.showTask(e.Task)
			}
			after = row.ID
		}
		if len(rows) == 0 {
			break
		}
	}
	r.shown.mu.Lock()
	r.shown.last = max(r.shown.last, after)
	r.shown.mu.Unlock()
	return r.shown.saveRow(r.Store)
}

func (r *Runtime) showTask(id task.ID) {
	defer r.locks.Lock(id)()
	if t, ok, err := r.loadRecord(id); err == nil && ok {
		r.showInFolder(t, nil)
	}
}
