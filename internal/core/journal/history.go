package journal

import (
	"bytes"
	"encoding/json"
	"fmt"
	"strings"
	"time"

	"orange/internal/core/task"
)

// Names of events that are not types of entries of their own.
const (
	agentStopped  Type = "agent.stopped"
	taskCancelled Type = "task.cancelled"
)

// The crash counter and the cancelled state as readers of history.jsonl know them.
const (
	crashCount = "crash_count"
	cancelled  = "cancelled"
	complete   = "complete"
)

// TimeLayout is how times are written where people read them: UTC, in milliseconds.
const TimeLayout = "2006-01-02T15:04:05.000Z"

// Timestamp writes a time as TASK.md and history.jsonl show it.
func Timestamp(t time.Time) string { return t.UTC().Format(TimeLayout) }

// An Event is one line of history.jsonl: an entry, or one aspect of it, for people
// and their scripts.
type Event struct {
	Type   Type
	At     time.Time
	Seq    int // of the entry it shows; several events may share it
	Fields []EventField
}

// An EventField is a value of an event beyond its type, time and number.
type EventField struct {
	Name  string
	Value any
}

// History shows an entry as the events of history.jsonl, in the order of the lines.
func History(e Entry) []Event {
	h := historian{e: &e}
	switch e.Type {
	case TaskCreated:
		h.created()
	case TaskUpdated:
		h.add(TaskUpdated, EventField{"changes", changes(&e)}, h.actor(), h.note(), h.via())
	case AgentSpawned:
		h.add(AgentSpawned, EventField{"workspace", nullable(e.Place)}, EventField{"tmux_session", nullable(session(&e))},
			EventField{"role", e.Role}, EventField{"attempt", e.Attempt}, some("harness", e.Chosen), some("reason", receiptNote(&e)))
	case AgentCrashed:
		h.crashed()
	case AutoAdvanced:
		h.add(AutoAdvanced, EventField{"from", e.From}, EventField{"to", e.To}, EventField{"reason", e.Reason}, h.rejected())
		h.moved()
	case StatusChanged:
		h.stopped()
		h.moved()
	default:
		h.add(e.Type, h.details()...)
	}
	return h.events
}

type historian struct {
	e      *Entry
	events []Event
}

// add appends an event with those of the fields that say something.
func (h *historian) add(typ Type, fields ...EventField) {
	ev := Event{Type: typ, At: h.e.At, Seq: h.e.Seq}
	for _, f := range fields {
		if f.Name != "" {
			ev.Fields = append(ev.Fields, f)
		}
	}
	h.events = append(h.events, ev)
}

func (h *historian) created() {
	fields := []EventField{{"task_id", string(h.e.Task)}}
	if n := h.e.New; n != nil {
		fields = append(fields, EventField{"project", n.Project}, EventField{"branch", n.Branch}, EventField{"summary", n.Summary})
	}
	fields = append(fields, EventField{"status", h.e.To}, some("reason", h.e.Reason), h.actor())
	if n := h.e.New; n != nil { // what TASK.md does not show
		fields = append(fields, some("tracker", n.TrackerRef), some("parent", string(n.Parent)), some("delivery", string(n.Delivery)), some("base", n.Base))
	}
	h.add(TaskCreated, append(fields, h.via())...)
}

func (h *historian) crashed() {
	fields := []EventField{{"status", h.e.From}}
	for _, c := range h.e.Counters {
		if c.Name == crashCount {
			fields = append(fields, EventField{crashCount, c.Value})
		}
	}
	h.add(AgentCrashed, append(fields, EventField{"reason", h.e.Reason}, some("role", h.e.Role), some("attention", h.e.Attention))...)
}

// moved is the status.changed of a transition, and what follows from where it leads.
func (h *historian) moved() {
	h.add(StatusChanged, EventField{"from", h.e.From}, EventField{"to", h.e.To}, h.actor(), h.note(), h.via())
	if h.e.To == cancelled {
		h.add(taskCancelled, some("reason", firstOf(h.e.Note, h.e.Reason)))
	}
}

// stopped says, as earlier readers expect it, that a state's work was completed with
// something to show for it. It is an extra line: the agent itself may live on.
func (h *historian) stopped() {
	if h.e.Verb == complete && len(h.e.Opened) > 0 {
		h.add(agentStopped, EventField{"outcome", "passed"})
	}
}

// details lists what any other entry says.
func (h *historian) details() []EventField {
	e := h.e
	reason := e.Reason
	if e.Type == EffectAsked && e.Actor == task.Human && len(e.Effects) > 0 { // its reason is only that a person asked
		reason = e.wanted()
	}
	fields := []EventField{h.actor(), some("from", e.From), some("to", e.To), some("reason", reason), h.note(), some("attention", e.Attention)}
	if len(e.Ended) > 0 {
		gone := e.Ended[0]
		fields = append(fields, EventField{"role", gone.Role}, EventField{"attempt", gone.Number}, EventField{"code", gone.Code})
	}
	if len(e.Fields) > 0 {
		fields = append(fields, EventField{"changes", changes(e)})
	}
	if e.Receipt != nil {
		fields = append(fields, EventField{"effect", e.Receipt.Effect}, some("error", e.Receipt.Error), EventField{"tries", e.Tries}, some("salvage", e.Receipt.Salvage))
	}
	if !e.Again.IsZero() {
		fields = append(fields, EventField{"again", Timestamp(e.Again)})
	}
	if e.Asked != nil {
		fields = append(fields, EventField{"asked", e.Asked.To})
	}
	return append(fields, h.rejected(), h.via())
}

// rejected is what of a worker's wishes was not done.
func (h *historian) rejected() EventField { return some("rejected", strings.Join(h.e.Rejected, "; ")) }

func (h *historian) actor() EventField { return some("actor", string(h.e.Actor)) }

func (h *historian) note() EventField { return some("note", h.e.Note) }

// via says where an action of a person came from.
func (h *historian) via() EventField {
	if h.e.Via == nil {
		return EventField{}
	}
	return EventField{"via", h.e.Via}
}

// some is a field that is left out if it is empty.
func some(name, value string) EventField {
	if value == "" {
		return EventField{}
	}
	return EventField{name, value}
}

func nullable(s string) any {
	if s == "" {
		return nil
	}
	return s
}

func session(e *Entry) string {
	if e.Receipt == nil {
		return ""
	}
	return e.Receipt.Session
}

// changes maps fields to what became of them. A summary may be long: it is only said
// that it changed.
func changes(e *Entry) map[string]any {
	out := make(map[string]any, len(e.Fields))
	for _, f := range e.Fields {
		if f.Name == "summary" {
			out[f.Name] = true
			continue
		}
		out[f.Name] = map[string]string{"from": f.From, "to": f.To}
	}
	return out
}

func firstOf(texts ...string) string {
	for _, s := range texts {
		if s != "" {
			return s
		}
	}
	return ""
}

// MarshalJSON writes type, timestamp and seq, then the fields in order.
func (ev Event) MarshalJSON() ([]byte, error) {
	line, err := ev.Line()
	return bytes.TrimSuffix(line, []byte("\n")), err
}

// Line is the event as a line of history.jsonl, with its line ending.
func (ev Event) Line() ([]byte, error) {
	var b bytes.Buffer
	head := []EventField{{"type", ev.Type}, {"timestamp", Timestamp(ev.At)}, {"seq", ev.Seq}}
	for i, f := range append(head, ev.Fields...) {
		b.WriteByte("{,"[min(i, 1)])
		if err := writeValue(&b, f.Name); err != nil {
			return nil, fmt.Errorf("write event %s: %w", ev.Type, err)
		}
		b.WriteByte(':')
		if err := writeValue(&b, f.Value); err != nil {
			return nil, fmt.Errorf("write %s of event %s: %w", f.Name, ev.Type, err)
		}
	}
	b.WriteString("}\n")
	return b.Bytes(), nil
}

// writeValue writes JSON on one line, leaving <, > and & readable.
func writeValue(b *bytes.Buffer, v any) error {
	enc := json.NewEncoder(b)
	enc.SetEscapeHTML(false)
	if err := enc.Encode(v); err != nil {
		return err
	}
	b.Truncate(b.Len() - 1)
	return nil
}
