package notifier

import (
	"crypto/sha256"
	"encoding/hex"
	"fmt"
	"slices"
	"strings"
	"time"

	"orange/internal/core/explain"
	"orange/internal/core/task"
)

// notice is what is stored about a task: the last announced item, and the channels that have not sent it yet.
type notice struct {
	key     string
	pending []string // names of channels
}

func (n notice) String() string {
	return strings.Join(append([]string{n.key}, n.pending...), " ")
}

func parseNotice(text string) notice {
	fields := strings.Fields(text)
	if len(fields) == 0 {
		return notice{}
	}
	return notice{key: fields[0], pending: fields[1:]}
}

// keyOf identifies an item: while the key stays the same, nobody is notified again. For some kinds the time is not part
// of it, because it changes with every entry.
func keyOf(t *task.Task, it *explain.Item) string {
	since := it.Since.UnixNano()
	if it.Kind.Info().Timeless {
		since = 0
	}
	sum := sha256.Sum256(fmt.Appendf(nil, "%s\n%d\n%d\n%s", it.Kind, t.Visit, since, it.Text))
	return fmt.Sprintf("%s-%d-%s", it.Kind, t.Visit, hex.EncodeToString(sum[:8]))
}

// messageID returns the id of a message, the same each time it is sent.
func messageID(orders []*announcement) string {
	sum := sha256.New()
	for _, o := range orders {
		fmt.Fprintf(sum, "%s %s\n", o.item.Task, o.key)
	}
	return hex.EncodeToString(sum.Sum(nil)[:12])
}

// checkDueTasks checks every task that is due.
func (h *Notifier) checkDueTasks() {
	now, fresh := time.Now(), int64(0)
	for id, l := range h.checks {
		if !l.at.IsZero() && !now.Before(l.at) {
			if err := h.checkTask(id, l, now); err != nil {
				h.Log.Error("check what waits", "component", "notifier", "task", id, "error", err)
				l.at = now.Add(retryInterval)
			}
		}
	}
	for _, l := range h.checks {
		if !l.at.IsZero() {
			fresh++
		}
	}
	h.fresh.Store(fresh)
}

// checkTask compares the waiting item with the announced one.
func (h *Notifier) checkTask(id task.ID, l *taskCheck, now time.Time) error {
	t, ok, err := h.Tasks.Task(id)
	if err != nil {
		return err
	}
	text, err := h.Notes.Notice(id)
	if err != nil {
		return err
	}
	known := parseNotice(text)
	var it explain.Item
	if ok {
		it, ok = h.inboxItem(&t)
	}
	if !ok {
		return h.forgetItem(id, known)
	}
	key := keyOf(&t, &it)
	switch {
	case key == known.key:
		l.key = ""
		h.handToChannels(id, l, it, known)
	case key != l.key: // it must stay the same for a while
		h.withdrawItem(id)
		l.key, l.due = key, now.Add(settleTime(it.Kind))
		l.at = l.due
	case now.Before(l.due): // something else of the task changed
		l.at = l.due
	default:
		known = notice{key: key}
		for _, w := range h.queues {
			if w.Wants(it) {
				known.pending = append(known.pending, w.Name)
			}
		}
		// Store this before anything is sent, so that the next server knows what is pending if this one is killed.
		if err := h.Notes.SetNotice(id, known.String()); err != nil {
			return err
		}
		l.key = ""
		h.handToChannels(id, l, it, known)
	}
	return nil
}

// settleTime returns how long an item of a kind must have waited before anybody is notified.
func settleTime(kind explain.ItemKind) time.Duration {
	if kind == explain.ItemIdle {
		return idleDelay
	}
	return settleDelay
}

// forgetItem forgets an item that no longer waits for anybody.
func (h *Notifier) forgetItem(id task.ID, known notice) error {
	h.withdrawItem(id)
	if known.key != "" {
		if err := h.Notes.SetNotice(id, ""); err != nil {
			return err
		}
	}
	delete(h.checks, id)
	return nil
}

// withdrawItem removes items that channels have not sent yet.
func (h *Notifier) withdrawItem(id task.ID) {
	for _, w := range h.queues {
		w.dropTask(id)
	}
}

// handToChannels gives an item to the channels that have not sent it.
func (h *Notifier) handToChannels(id task.ID, l *taskCheck, it explain.Item, n notice) {
	pending := false
	for _, w := range h.queues {
		if slices.Contains(n.pending, w.Name) {
			w.addPending(&announcement{key: n.key, item: it, since: time.Now()})
			pending = true
		}
	}
	l.at = time.Time{}
	if !pending {
		delete(h.checks, id)
	}
}

// deliveryEnd reports that a channel is done with an item: it sent it, or gave up.
type deliveryEnd struct {
	task    task.ID
	key     string
	channel string
	kept    chan<- struct{} // closed when that is stored
}

// recordDelivery stores that a channel is done with an item.
func (h *Notifier) recordDelivery(e deliveryEnd) {
	defer close(e.kept)
	text, err := h.Notes.Notice(e.task)
	if err != nil {
		h.Log.Error("store what was announced", "component", "notifier", "task", e.task, "error", err)
		return // the item stays pending, and the next server sends it again
	}
	known := parseNotice(text)
	if known.key != e.key {
		return // another item waits by now
	}
	known.pending = slices.DeleteFunc(known.pending, func(name string) bool { return name == e.channel || !h.hasChannel(name) })
	if err := h.Notes.SetNotice(e.task, known.String()); err != nil {
		h.Log.Error("store what was announced", "component", "notifier", "task", e.task, "error", err)
		return
	}
	if l := h.checks[e.task]; l != nil && l.at.IsZero() && len(known.pending) == 0 {
		delete(h.checks, e.task)
	}
}

func (h *Notifier) hasChannel(name string) bool {
	return slices.ContainsFunc(h.queues, func(w *channelQueue) bool { return w.Name == name })
}
