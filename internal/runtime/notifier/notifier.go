// Package notifier notifies people that something waits for them. It follows the journal and announces each item of the
// inbox once, after it has waited for a moment. The adapters know how to send a notification, and the engine knows what
// waits.
package notifier

import (
	"cmp"
	"context"
	"encoding/json"
	"fmt"
	"log/slog"
	"slices"
	"strconv"
	"sync"
	"sync/atomic"
	"time"

	"orange/internal/core/explain"
	"orange/internal/core/journal"
	"orange/internal/core/task"
	"orange/internal/core/workflow"
	"orange/internal/view/narrate"
)

const (
	settleDelay   = 2 * time.Second        // how long an item must have waited
	idleDelay     = 30 * time.Second       // the same for an agent whose turn ended, because people who are present answer at its terminal
	readInterval  = 500 * time.Millisecond // least time between two reads of the journal
	retryInterval = 10 * time.Second       // after a failed check
	saveInterval  = 5 * time.Second        // least time between two saves of the cursor
	batchSize     = 500                    // rows in one read
	exitTimeout   = 2 * time.Second        // for deliveries in progress when the server stops
)

// rowKey is the setting that holds the cursor: the last row of the journal whose announcements are complete.
const rowKey = "herald.row"

// Journal reads the journal of all tasks.
type Journal interface {
	// FollowJournal returns the rows after one, and a channel that is closed when there are more.
	FollowJournal(after int64, id task.ID, limit int) ([]journal.Row, <-chan struct{}, error)
}

// Tasks reads the records of tasks.
type Tasks interface {
	LastRow() (int64, error)
	Task(id task.ID) (task.Task, bool, error)
	EachTask(f task.Filter, yield func(fold []byte) error) error
	UnsettledTasks() ([]task.Task, error)
}

// Notes stores what was announced.
type Notes interface {
	Notice(id task.ID) (string, error)
	SetNotice(id task.ID, key string) error
	Setting(key string) (string, error)
	SetSetting(key, value string) error
}

// NotifierOptions are what a Notifier needs.
type NotifierOptions struct {
	Journal    Journal
	Tasks      Tasks
	Notes      Notes
	Definition func(*task.Task) (*workflow.Definition, error)
	Channels   []Channel
	Report     func(DeliveryResult) // called with each result, by one goroutine at a time for each channel; may be nil
	Log        *slog.Logger
}

// Notifier announces items. Run must be called once.
type Notifier struct {
	NotifierOptions
	queues []*channelQueue
	done   chan deliveryEnd

	// Only the goroutine of Run uses these:
	after  int64
	checks map[task.ID]*taskCheck
	saved  int64
	next   time.Time // when the cursor may be saved again

	fresh atomic.Int64 // items that have not waited long enough
}

// taskCheck is a task that may have something to announce, or is being announced.
type taskCheck struct {
	row int64     // first row of the journal that is not handled
	at  time.Time // when to check it; zero while channels send it
	key string    // the item at the last check
	due time.Time // when that has waited long enough
}

// New returns a Notifier.
func New(o NotifierOptions) *Notifier {
	h := &Notifier{NotifierOptions: o, done: make(chan deliveryEnd), checks: map[task.ID]*taskCheck{}}
	for _, w := range o.Channels {
		h.queues = append(h.queues, newChannelQueue(w, o.Report, o.Log))
	}
	return h
}

// Run announces items until ctx ends. The next server sends what is pending then.
func (h *Notifier) Run(ctx context.Context) {
	if len(h.queues) == 0 {
		h.forgetCursor()
		return
	}
	if !h.startWithRetry(ctx) {
		return
	}
	var sending sync.WaitGroup
	for _, w := range h.queues {
		sending.Go(func() { w.run(ctx, h.done) })
	}
	h.followJournal(ctx)
	go func() {
		sending.Wait()
		close(h.done)
	}()
	for e := range h.done { // so that the last deliveries are not repeated
		h.recordDelivery(e)
	}
	h.saveCursor(time.Now(), true)
}

// Busy reports whether something is to be announced now or soon.
func (h *Notifier) Busy() bool {
	return h.fresh.Load() > 0 || slices.ContainsFunc(h.queues, (*channelQueue).hasPending)
}

// forgetCursor removes the cursor, so that a channel that is configured later only receives new items.
func (h *Notifier) forgetCursor() {
	text, err := h.Notes.Setting(rowKey)
	if err == nil && text != "" {
		err = h.Notes.SetSetting(rowKey, "")
	}
	if err != nil {
		h.Log.Error("forget what was announced", "component", "notifier", "error", err)
	}
}

// startWithRetry reads the cursor. It retries until it succeeds, and returns false if ctx ends first.
func (h *Notifier) startWithRetry(ctx context.Context) bool {
	for {
		err := h.loadCursor(ctx)
		if err == nil || ctx.Err() != nil {
			return err == nil
		}
		h.Log.Error("begin to announce", "component", "notifier", "error", err)
		if !waitFor(ctx, retryInterval) {
			return false
		}
	}
}

func (h *Notifier) loadCursor(ctx context.Context) error {
	text, err := h.Notes.Setting(rowKey)
	if err != nil {
		return err
	}
	last, err := h.Tasks.LastRow()
	if err != nil {
		return err
	}
	row, err := strconv.ParseInt(text, 10, 64)
	if err == nil && row >= 0 && row <= last {
		h.after, h.saved = row, row
		return nil
	}
	if err := h.passOver(ctx); err != nil {
		return err
	}
	h.after, h.saved = last, last
	return h.Notes.SetSetting(rowKey, strconv.FormatInt(last, 10))
}

// passOver marks everything that waits already as announced.
func (h *Notifier) passOver(ctx context.Context) error {
	keys := map[task.ID]string{}
	note := func(t *task.Task) {
		if it, ok := h.inboxItem(t); ok {
			keys[t.ID] = keyOf(t, &it)
		}
	}
	err := h.Tasks.EachTask(task.Filter{}, func(fold []byte) error {
		var t task.Task
		if err := json.Unmarshal(fold, &t); err != nil {
			return fmt.Errorf("read a task: %w", err)
		}
		note(&t)
		return nil
	})
	if err != nil {
		return err
	}
	late, err := h.Tasks.UnsettledTasks() // a task that is over may need somebody too
	if err != nil {
		return err
	}
	for i := range late {
		note(&late[i])
	}
	for id, key := range keys {
		if err := cmp.Or(ctx.Err(), h.Notes.SetNotice(id, notice{key: key}.String())); err != nil {
			return err
		}
	}
	return nil
}

// followJournal reads the journal and checks changed tasks until ctx ends.
func (h *Notifier) followJournal(ctx context.Context) {
	for ctx.Err() == nil {
		more := h.readRows()
		h.checkDueTasks()
		h.saveCursor(time.Now(), false)
		if !h.waitForWork(ctx, more) {
			return
		}
	}
}

// readRows marks the tasks that changed. The channel is closed when there is more to read.
func (h *Notifier) readRows() <-chan struct{} {
	for {
		rows, more, err := h.Journal.FollowJournal(h.after, "", batchSize)
		if err != nil {
			h.Log.Error("follow the journal", "component", "notifier", "error", err)
			later := make(chan struct{})
			time.AfterFunc(retryInterval, func() { close(later) })
			return later
		}
		for i := range rows {
			h.markTask(&rows[i])
		}
		if len(rows) < batchSize {
			return more
		}
	}
}

func (h *Notifier) markTask(row *journal.Row) {
	h.after = row.ID
	var of struct {
		Task task.ID `json:"task"`
	}
	if json.Unmarshal(row.Entry, &of) != nil || of.Task == "" {
		return // orange doctor reports a journal that does not parse
	}
	l := h.checks[of.Task]
	if l == nil {
		l = &taskCheck{row: row.ID}
		h.checks[of.Task] = l
	}
	if l.key == "" || time.Until(l.at) > settleDelay { // otherwise it is checked when it has settled
		l.at = time.Now()
	}
}

// waitForWork waits until there is something to do. It returns false if ctx ends first.
func (h *Notifier) waitForWork(ctx context.Context, more <-chan struct{}) bool {
	var due <-chan time.Time
	if at, ok := h.nextCheckAt(); ok {
		timer := time.NewTimer(time.Until(at))
		defer timer.Stop()
		due = timer.C
	}
	for {
		select {
		case <-ctx.Done():
			return false
		case <-due:
			return true
		case e := <-h.done:
			h.recordDelivery(e)
		case <-more:
			return h.waitBriefly(ctx)
		}
	}
}

// waitBriefly waits a moment, so that many entries are read in few reads.
func (h *Notifier) waitBriefly(ctx context.Context) bool {
	timer := time.NewTimer(readInterval)
	defer timer.Stop()
	for {
		select {
		case <-ctx.Done():
			return false
		case e := <-h.done:
			h.recordDelivery(e)
		case <-timer.C:
			return true
		}
	}
}

// nextCheckAt returns when the next check is due.
func (h *Notifier) nextCheckAt() (at time.Time, ok bool) {
	for _, l := range h.checks {
		if !l.at.IsZero() && (!ok || l.at.Before(at)) {
			at, ok = l.at, true
		}
	}
	return at, ok
}

// saveCursor saves the cursor: everything up to it is handled.
func (h *Notifier) saveCursor(now time.Time, last bool) {
	row := h.after
	for _, l := range h.checks {
		row = min(row, l.row-1)
	}
	if row == h.saved || !last && now.Before(h.next) {
		return
	}
	h.next = now.Add(saveInterval)
	if err := h.Notes.SetSetting(rowKey, strconv.FormatInt(row, 10)); err != nil {
		h.Log.Error("store what was announced", "component", "notifier", "error", err)
		return
	}
	h.saved = row
}

// waitFor waits for d, or until ctx ends.
func waitFor(ctx context.Context, d time.Duration) bool {
	timer := time.NewTimer(d)
	defer timer.Stop()
	select {
	case <-ctx.Done():
		return false
	case <-timer.C:
		return true
	}
}

// inboxItem returns what waits for a person, as the inbox shows it.
func (h *Notifier) inboxItem(t *task.Task) (explain.Item, bool) {
	if t.Deleted {
		return explain.Item{}, false
	}
	def, err := h.Definition(t)
	if err != nil {
		return explain.Item{Task: t.ID, Project: t.Project, Branch: t.Branch, Summary: t.Summary, Status: t.Status, Kind: explain.ItemAttention, Text: err.Error(), Action: explain.Action{Verb: explain.VerbDoctor}, Do: "orange doctor", Since: t.Since}, true
	}
	it, ok := explain.InboxItem(def, *t)
	narrate.AddCommand(&it)
	return it, ok
}
