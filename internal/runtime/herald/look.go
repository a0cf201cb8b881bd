package herald

import (
	"crypto/sha256"
	"encoding/hex"
	"fmt"
	"slices"
	"strings"
	"time"

	"orange/internal/core/engine"
	"orange/internal/core/task"
)

// notice is what is kept of a task: what was last announced, and to whom it is owed.
type notice struct {
	key  string
	owed []string // names of ways
}

func (n notice) String() string {
	return strings.Join(append([]string{n.key}, n.owed...), " ")
}

func parseNotice(text string) notice {
	fields := strings.Fields(text)
	if len(fields) == 0 {
		return notice{}
	}
	return notice{key: fields[0], owed: fields[1:]}
}

// keyOf names an item: as long as it is the same, nobody is told again. Whether the
// moment belongs to it depends on the kind, because some are as young as the last entry.
func keyOf(t *task.Task, it *engine.Item) string {
	since := it.Since.UnixNano()
	switch it.Kind {
	case engine.ItemAttention, engine.ItemFailed, engine.ItemCrashed:
		since = 0
	}
	sum := sha256.Sum256(fmt.Appendf(nil, "%s\n%d\n%d\n%s", it.Kind, t.Visit, since, it.Text))
	return fmt.Sprintf("%s-%d-%s", it.Kind, t.Visit, hex.EncodeToString(sum[:8]))
}

// messageID is the same however often a message is sent.
func messageID(orders []*order) string {
	sum := sha256.New()
	for _, o := range orders {
		fmt.Fprintf(sum, "%s %s\n", o.item.Task, o.key)
	}
	return hex.EncodeToString(sum.Sum(nil)[:12])
}

// lookAround looks at every task for which it is time.
func (h *Herald) lookAround() {
	now, fresh := time.Now(), int64(0)
	for id, l := range h.looks {
		if !l.at.IsZero() && !now.Before(l.at) {
			if err := h.look(id, l, now); err != nil {
				h.Log.Error("look at what waits", "component", "herald", "task", id, "error", err)
				l.at = now.Add(relook)
			}
		}
	}
	for _, l := range h.looks {
		if !l.at.IsZero() {
			fresh++
		}
	}
	h.fresh.Store(fresh)
}

// look compares what waits with what was announced.
func (h *Herald) look(id task.ID, l *look, now time.Time) error {
	t, ok, err := h.Tasks.Task(id)
	if err != nil {
		return err
	}
	text, err := h.Notes.Notice(id)
	if err != nil {
		return err
	}
	known := parseNotice(text)
	var it engine.Item
	if ok {
		it, ok = h.item(&t)
	}
	if !ok {
		return h.over(id, known)
	}
	key := keyOf(&t, &it)
	switch {
	case key == known.key:
		l.key = ""
		h.hand(id, l, it, known)
	case key != l.key: // it has to be the same for a while
		h.withdraw(id)
		l.key, l.due = key, now.Add(settleTime(it.Kind))
		l.at = l.due
	case now.Before(l.due): // something else of the task changed
		l.at = l.due
	default:
		known = notice{key: key}
		for _, w := range h.ways {
			if w.Wants(it) {
				known.owed = append(known.owed, w.Name)
			}
		}
		// Before anybody is told: who is killed now still knows who is to be told.
		if err := h.Notes.SetNotice(id, known.String()); err != nil {
			return err
		}
		l.key = ""
		h.hand(id, l, it, known)
	}
	return nil
}

// settleTime is how long an item of a kind must have waited before anybody is told.
func settleTime(kind engine.ItemKind) time.Duration {
	if kind == engine.ItemIdle {
		return linger
	}
	return settle
}

// over forgets an item that nobody has to care about any more.
func (h *Herald) over(id task.ID, known notice) error {
	h.withdraw(id)
	if known.key != "" {
		if err := h.Notes.SetNotice(id, ""); err != nil {
			return err
		}
	}
	delete(h.looks, id)
	return nil
}

// withdraw takes back what ways have not told yet.
func (h *Herald) withdraw(id task.ID) {
	for _, w := range h.ways {
		w.drop(id)
	}
}

// hand gives an item to the ways that owe it.
func (h *Herald) hand(id task.ID, l *look, it engine.Item, n notice) {
	owed := false
	for _, w := range h.ways {
		if slices.Contains(n.owed, w.Name) {
			w.add(&order{key: n.key, item: it, since: time.Now()})
			owed = true
		}
	}
	l.at = time.Time{}
	if !owed {
		delete(h.looks, id)
	}
}

// end says that a way is done with an order: it told it, or gave up.
type end struct {
	task task.ID
	key  string
	way  string
	kept chan<- struct{} // closed when that is kept
}

// finish keeps that a way owes nothing more.
func (h *Herald) finish(e end) {
	defer close(e.kept)
	text, err := h.Notes.Notice(e.task)
	if err != nil {
		h.Log.Error("keep what was announced", "component", "herald", "task", e.task, "error", err)
		return // it stays owed, and is told again by the next server
	}
	known := parseNotice(text)
	if known.key != e.key {
		return // something else waits by now
	}
	known.owed = slices.DeleteFunc(known.owed, func(name string) bool { return name == e.way || !h.has(name) })
	if err := h.Notes.SetNotice(e.task, known.String()); err != nil {
		h.Log.Error("keep what was announced", "component", "herald", "task", e.task, "error", err)
		return
	}
	if l := h.looks[e.task]; l != nil && l.at.IsZero() && len(known.owed) == 0 {
		delete(h.looks, e.task)
	}
}

func (h *Herald) has(name string) bool {
	return slices.ContainsFunc(h.ways, func(w *line) bool { return w.Name == name })
}
