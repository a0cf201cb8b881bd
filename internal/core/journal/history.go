package journal

import (
	"bytes"
	"encoding/json"
	"fmt"
	"strings"
	"time"

	"orange/internal/core/task"
	"orange/internal/core/taskfile"
)

// Names of events that are not types of entries.
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

// TimeLayout is the format of times that people read: UTC, in milliseconds.
const TimeLayout = "2006-01-02T15:04:05.000Z"

// Timestamp formats a time as TASK.md and history.jsonl show it.
func Timestamp(t time.Time) string { return t.UTC().Format(TimeLayout) }

// An Event is one line of history.jsonl: an entry, or one aspect of it, for people and their scripts.
type Event struct {
	Type   Type
	At     time.Time
	Seq    int // of the entry that it shows; several events may share it
	Fields []EventField
}

// An EventField is a value of an event beyond its type, time and number.
type EventField struct {
	Name  string
	Value any
}

// HistoryEvents returns an entry as events of history.jsonl, in the order of the lines.
func HistoryEvents(e Entry) []Event {
	h := eventBuilder{e: &e}
	switch e.Type {
	case TaskCreated:
		h.addCreated()
	case TaskUpdated:
		h.addEvent(TaskUpdated, EventField{"changes", fieldChanges(&e)}, h.actorField(), h.noteField(), h.viaField())
	case AgentSpawned:
		h.addEvent(AgentSpawned, EventField{"workspace", textOrNil(e.StartedIn)}, EventField{"tmux_session", textOrNil(receiptSession(&e))},
			EventField{"role", e.Role}, EventField{"attempt", e.Attempt}, optionalField("harness", e.ChosenHarness), optionalField("reason", e.ReceiptNote()))
	case AgentCrashed:
		h.addCrashed()
	case AutoAdvanced:
		h.addEvent(AutoAdvanced, EventField{"from", e.From}, EventField{"to", e.To}, EventField{"reason", e.Reason}, h.rejectedField())
		h.addMoved()
	case StatusChanged:
		h.addStopped()
		h.addMoved()
	default:
		h.addEvent(e.Type, h.detailFields()...)
	}
	return h.events
}

type eventBuilder struct {
	e      *Entry
	events []Event
}

// addEvent appends an event with the fields that are not empty.
func (h *eventBuilder) addEvent(typ Type, fields ...EventField) {
	ev := Event{Type: typ, At: h.e.At, Seq: h.e.Seq}
	for _, f := range fields {
		if f.Name != "" {
			ev.Fields = append(ev.Fields, f)
		}
	}
	h.events = append(h.events, ev)
}

func (h *eventBuilder) addCreated() {
	fields := []EventField{{"task_id", string(h.e.Task)}}
	if n := h.e.New; n != nil {
		fields = append(fields, EventField{"project", n.Project}, EventField{"branch", n.Branch}, EventField{"summary", n.Summary})
	}
	fields = append(fields, EventField{"status", h.e.To}, optionalField("reason", h.e.Reason), h.actorField())
	if n := h.e.New; n != nil { // what TASK.md does not show
		fields = append(fields, optionalField("tracker", n.TrackerRef), optionalField("parent", string(n.Parent)), optionalField("delivery", string(n.Delivery)), optionalField("base", n.Base))
	}
	h.addEvent(TaskCreated, append(fields, h.viaField())...)
}

func (h *eventBuilder) addCrashed() {
	fields := []EventField{{"status", h.e.From}}
	for _, c := range h.e.Counters {
		if c.Name == crashCount {
			fields = append(fields, EventField{crashCount, c.Value})
		}
	}
	h.addEvent(AgentCrashed, append(fields, EventField{"reason", h.e.Reason}, optionalField("role", h.e.Role), optionalField("attention", h.e.Attention))...)
}

// addMoved adds the status.changed of a transition, and what follows from its target.
func (h *eventBuilder) addMoved() {
	h.addEvent(StatusChanged, EventField{"from", h.e.From}, EventField{"to", h.e.To}, h.actorField(), h.noteField(), h.viaField())
	if h.e.To == cancelled {
		h.addEvent(taskCancelled, optionalField("reason", firstOf(h.e.Note, h.e.Reason)))
	}
}

// addStopped adds the event that earlier readers expect when a state's work was completed with a result. It is an extra
// line: the agent itself may live on.
func (h *eventBuilder) addStopped() {
	if h.e.Verb == complete && len(h.e.Opened) > 0 {
		h.addEvent(agentStopped, EventField{"outcome", "passed"})
	}
}

// detailFields returns the fields of any other entry.
func (h *eventBuilder) detailFields() []EventField {
	e := h.e
	reason := e.Reason
	if e.Type == EffectAsked && e.Actor == task.Human && len(e.Effects) > 0 { // its reason is only that a person requested it
		reason = e.DescribeEffects()
	}
	fields := []EventField{h.actorField(), optionalField("from", e.From), optionalField("to", e.To), optionalField("reason", reason), h.noteField(), optionalField("attention", e.Attention)}
	if len(e.Ended) > 0 {
		gone := e.Ended[0]
		fields = append(fields, EventField{"role", gone.Role}, EventField{"attempt", gone.Number}, EventField{"code", gone.Code})
	}
	if len(e.Fields) > 0 {
		fields = append(fields, EventField{"changes", fieldChanges(e)})
	}
	if e.Receipt != nil {
		fields = append(fields, EventField{"effect", e.Receipt.Effect}, optionalField("error", e.Receipt.Error), EventField{"tries", e.Tries}, optionalField("salvage", e.Receipt.Salvage), optionalField("aside", strings.Join(e.Receipt.Aside, ", ")))
	}
	if !e.RetryAt.IsZero() {
		fields = append(fields, EventField{"again", Timestamp(e.RetryAt)})
	}
	if e.Asked != nil {
		fields = append(fields, EventField{"asked", e.Asked.To})
	}
	return append(fields, h.rejectedField(), h.viaField())
}

// rejectedField returns the actions of a worker that were not done.
func (h *eventBuilder) rejectedField() EventField {
	return optionalField("rejected", strings.Join(h.e.Rejected, "; "))
}

func (h *eventBuilder) actorField() EventField { return optionalField("actor", string(h.e.Actor)) }

func (h *eventBuilder) noteField() EventField { return optionalField("note", h.e.Note) }

// viaField returns where a person's action came from.
func (h *eventBuilder) viaField() EventField {
	if h.e.Via == nil {
		return EventField{}
	}
	return EventField{"via", h.e.Via}
}

// optionalField returns a field that is left out if it is empty.
func optionalField(name, value string) EventField {
	if value == "" {
		return EventField{}
	}
	return EventField{name, value}
}

func textOrNil(s string) any {
	if s == "" {
		return nil
	}
	return s
}

func receiptSession(e *Entry) string {
	if e.Receipt == nil {
		return ""
	}
	return e.Receipt.Session
}

// fieldChanges maps fields to their changes. A summary may be long, so only the fact of its change is shown.
func fieldChanges(e *Entry) map[string]any {
	out := make(map[string]any, len(e.Fields))
	for _, f := range e.Fields {
		if f.Name == "summary" {
			out[f.Name] = true
			continue
		}
		out[f.Name] = map[string]string{"from": f.From, "to": f.To}
	}
	for i := range e.Effects {
		if e.Effects[i].Arg == taskfile.RequirementsSection {
			out["requirements"] = true // the note is the new text
		}
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
	line, err := ev.HistoryLine()
	return bytes.TrimSuffix(line, []byte("\n")), err
}

// HistoryLine returns the event as a line of history.jsonl, with its line ending.
func (ev Event) HistoryLine() ([]byte, error) {
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

// writeValue writes JSON on one line, without escaping <, > and &.
func writeValue(b *bytes.Buffer, v any) error {
	enc := json.NewEncoder(b)
	enc.SetEscapeHTML(false)
	if err := enc.Encode(v); err != nil {
		return err
	}
	b.Truncate(b.Len() - 1)
	return nil
}

// ReceiptNote is what is to be known about an effect though it was done.
func (e *Entry) ReceiptNote() string {
	if e.Receipt == nil {
		return ""
	}
	return e.Receipt.Note
}

// DescribeEffects says which effects an entry asks for. The words are part of history.jsonl.
func (e *Entry) DescribeEffects() string {
	if len(e.Effects) == 0 {
		return "what was given up is tried again"
	}
	names := make([]string, len(e.Effects))
	for i, f := range e.Effects {
		names[i] = f.Do
	}
	return "asks for " + strings.Join(names, ", ")
}
