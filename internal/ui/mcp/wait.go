package mcp

import (
	"cmp"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"slices"
	"strconv"
	"strings"
	"time"

	"github.com/google/jsonschema-go/jsonschema"
	sdk "github.com/modelcontextprotocol/go-sdk/mcp"

	"orange/internal/core/task"
	"orange/internal/core/workflow"
	"orange/internal/ui/client"
	"orange/internal/view/overview"
)

// How long wait waits, in seconds.
const (
	usualWait   = 60
	longestWait = 600
)

// What wait waits for.
const (
	forChange = "change" // an entry in the task's journal
	forState  = "state"
	forPerson = "person" // the task waits for a person
	forEnd    = "closed"
)

// waitIn says what to wait for.
type waitIn struct {
	oneIn
	For     string `json:"for,omitempty" jsonschema:"change: anything is recorded about the task (the default); state: it reaches the state in to; person: it waits for a person; closed: it ends"`
	To      string `json:"to,omitempty" jsonschema:"with for state: the state of its workflow to wait for"`
	Since   int    `json:"since,omitempty" jsonschema:"with for change: the value of seq that the caller knows, so that no change is missed; defaults to the present"`
	Timeout int    `json:"timeout,omitempty" jsonschema:"maximum number of seconds to wait; the default is 60"`
}

// waitOut is a task when a wait ended.
type waitOut struct {
	ID     string `json:"id" jsonschema:"of the task"`
	Ended  string `json:"ended" jsonschema:"why the wait ended: reached, closed (the task ended in another state, or was deleted) or timeout"`
	Status string `json:"status" jsonschema:"current state in its workflow"`
	Kind   string `json:"kind,omitempty" jsonschema:"kind of that state"`
	Owner  string `json:"owner,omitempty" jsonschema:"who must act: a person, the engine, a role or nobody"`
	Wants  string `json:"wants,omitempty" jsonschema:"what a person has to do"`
	Life   string `json:"life,omitempty" jsonschema:"state of its agents: alive, dead or none"`
	Seq    int    `json:"seq" jsonschema:"number of the last entry in its journal; pass it as since"`
}

// The reasons why a wait ends.
const (
	endReached = "reached"
	endClosed  = "closed"
	endTimeout = "timeout"
)

func (t *tools) addWait(s *sdk.Server) {
	addTool(s, &sdk.Tool{
		Name: "wait", Annotations: readOnlyHints("Wait for a task"),
		InputSchema: schemaOf[waitIn](func(p map[string]*jsonschema.Schema) {
			p["for"].Enum = []any{forChange, forState, forPerson, forEnd}
			least, none, most := 1.0, 0.0, float64(longestWait)
			p["timeout"].Minimum, p["timeout"].Maximum, p["timeout"].Default = &least, &most, json.RawMessage(strconv.Itoa(usualWait))
			p["since"].Minimum = &none
		}),
		Description: "Wait until a task changes, reaches a state, needs a person or ends, for at most timeout seconds. Other calls go on meanwhile; cancelling the call ends it.",
	}, longestWait*time.Second+callTime, t.waitForTask)
}

func (t *tools) waitForTask(ctx context.Context, c Caller, in waitIn) (waitOut, string, error) {
	want := cmp.Or(in.For, forChange)
	switch {
	case want == forState && in.To == "":
		return waitOut{}, "", errors.New("name the state to wait for: pass to")
	case want != forState && in.To != "":
		return waitOut{}, "", errors.New("to belongs to for state: pass for state, or leave it out")
	case want != forChange && in.Since > 0:
		return waitOut{}, "", errors.New("since belongs to for change: leave it out")
	}
	id, err := c.taskOf(ctx, in.Task)
	if err != nil {
		return waitOut{}, "", err
	}
	v, err := c.API.ReadTask(ctx, id)
	if err != nil {
		return waitOut{}, "", err
	}
	if err := c.requireState(ctx, &v.Task, in.To); err != nil {
		return waitOut{}, "", err
	}
	release, err := heldFrom(ctx).beginWaiting()
	if err != nil {
		return waitOut{}, "", err
	}
	defer release()
	w := waiter{api: c.API, want: want, to: in.To, since: cmp.Or(in.Since, v.Task.Seq), out: waitOut{ID: string(v.Task.ID), Status: cutLine(v.Task.Status, maxLine), Seq: v.Task.Seq}}
	if err := w.waitUntil(ctx, time.Duration(cmp.Or(in.Timeout, usualWait))*time.Second); err != nil {
		return waitOut{}, "", err
	}
	return w.out, waitText(w.out), nil
}

// requireState refuses a state that the workflow of a task does not have, because the task can never reach it.
func (c Caller) requireState(ctx context.Context, k *task.Task, state string) error {
	def := c.definitionOf(ctx, k)
	if def == nil || state == "" {
		return nil
	}
	if _, ok := def.StateNamed(state); ok {
		return nil
	}
	names := make([]string, len(def.States))
	for i := range def.States {
		names[i] = def.States[i].Name
	}
	return fmt.Errorf("state %q is not known: workflow %s has %s", cutLine(state, 60), cutLine(def.Name, 60), cutLine(strings.Join(names, ", "), maxLine))
}

// definitionOf returns the workflow of a task, or nil if it cannot be read.
func (c Caller) definitionOf(ctx context.Context, k *task.Task) *workflow.Definition {
	text, err := c.API.ReadWorkflow(ctx, k.WorkflowHash)
	if err != nil {
		return nil
	}
	def, err := workflow.Parse(text.File, text.Text)
	if err != nil {
		return nil
	}
	return def
}

// waiter follows one task until what it waits for happens.
type waiter struct {
	api   API
	want  string
	to    string
	since int
	out   waitOut
}

// errOver ends the stream that a waiter follows.
var errOver = errors.New("the wait is over")

// waitUntil returns when the wait is over. If ctx ends first it returns the error of ctx.
func (w *waiter) waitUntil(ctx context.Context, most time.Duration) error {
	within, cancel := context.WithTimeout(ctx, most)
	defer cancel()
	query := client.StateQuery{Task: w.out.ID, All: true}
	state, err := w.api.ReadState(within, query)
	if err == nil && !w.judgeRows(state.Tasks, nil) {
		err = w.api.FollowState(within, client.FollowOptions{StateQuery: query, After: state.Row, Change: func(c overview.Change) error {
			if w.judgeRows(c.Tasks, c.Gone) {
				return errOver
			}
			return nil
		}, Lost: func(error) {}}) // a server that starts again is no reason to give up
	}
	switch {
	case ctx.Err() != nil:
		return ctx.Err()
	case w.out.Ended != "":
		return nil
	case within.Err() != nil:
		w.out.Ended = endTimeout
		return nil
	}
	return err
}

// judgeRows notes the present of the task and reports whether the wait is over.
func (w *waiter) judgeRows(rows []overview.Row, gone []task.ID) bool {
	for i := range rows {
		if r := &rows[i]; string(r.ID) == w.out.ID && w.judgeRow(r) {
			return true
		}
	}
	if slices.Contains(gone, task.ID(w.out.ID)) {
		w.out.Ended, w.out.Kind, w.out.Owner, w.out.Wants, w.out.Life = endClosed, "", "", "", ""
		return true
	}
	return false
}

func (w *waiter) judgeRow(r *overview.Row) bool {
	o := &w.out
	o.Status, o.Kind, o.Owner, o.Wants, o.Life, o.Seq = r.Status, string(r.Kind), r.Owner, string(r.Wants), string(r.Life), r.Seq
	closed := r.Kind == workflow.Terminal
	reached := map[string]bool{
		forChange: r.Seq > w.since, forState: r.Status == w.to, forPerson: r.Wants.WaitsForPerson(), forEnd: closed,
	}[w.want]
	switch {
	case reached:
		o.Ended = endReached
	case closed && w.want != forChange:
		o.Ended = endClosed
	}
	return o.Ended != ""
}

func waitText(o waitOut) string {
	var b textBuilder
	b.putLine(map[string]string{endReached: "It happened.", endClosed: "The task is closed: it will not happen.", endTimeout: "It has not happened yet: wait again."}[o.Ended])
	b.putField("Task", o.ID)
	b.putField("Status", o.Status)
	b.putField("Who must act", o.Owner)
	b.putField("Wants a person", o.Wants)
	b.putField("Last entry", strconv.Itoa(o.Seq))
	return b.String()
}
