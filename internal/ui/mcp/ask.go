package mcp

import (
	"cmp"
	"context"
	"crypto/sha256"
	"encoding/hex"
	"errors"
	"fmt"
	"strings"

	sdk "github.com/modelcontextprotocol/go-sdk/mcp"

	"orange/internal/core/board"
	"orange/internal/core/engine"
	"orange/internal/core/task"
	"orange/internal/core/workflow"
	"orange/internal/ui/client"
	"orange/internal/view/humanize"
)

// A request that ends a task or approves work is put to the person in front of the client, if the client can do that
// (elicitation). The question says what will happen. The answer counts only for the question as it was shown: the client
// returns its fingerprint, and the question is made again before anything is done.

// confirmID is the name of the question in a call.
const confirmID = "confirm"

// question is an error that asks the person before a call goes on.
type question struct{ text string }

func (*question) Error() string { return "a person must confirm this" }

// result returns the result that makes the client ask.
func (q *question) result() *sdk.CallToolResult {
	return &sdk.CallToolResult{
		InputRequests: sdk.InputRequestMap{confirmID: &sdk.ElicitParams{Mode: "form", Message: q.text, RequestedSchema: map[string]any{"type": "object", "properties": map[string]any{}}}},
		RequestState:  q.fingerprint(),
	}
}

func (q *question) fingerprint() string {
	sum := sha256.Sum256([]byte(q.text))
	return hex.EncodeToString(sum[:])
}

type requestKey struct{}

// canAsk reports whether the person can be asked. An attempt never asks: the server decides what it may do.
func (c Caller) canAsk(ctx context.Context) bool {
	req, ok := ctx.Value(requestKey{}).(*sdk.CallToolRequest)
	if !ok || c.Role != "" || req.Session == nil {
		return false
	}
	p := req.Session.InitializeParams()
	if p == nil || p.Capabilities == nil || p.Capabilities.Elicitation == nil {
		return false
	}
	can := p.Capabilities.Elicitation
	return can.Form != nil || can.URL == nil // a client that names neither has forms
}

// askPerson returns nil if the person agreed, or cannot be asked. Else its error is the question, or why nothing is done.
func (c Caller) askPerson(ctx context.Context, text string) error {
	if !c.canAsk(ctx) {
		return nil
	}
	q := &question{text: text}
	params := ctx.Value(requestKey{}).(*sdk.CallToolRequest).Params
	answer, given := params.InputResponses[confirmID].(*sdk.ElicitResult)
	switch {
	case !given:
		return q
	case answer.Action == "decline":
		return errors.New("the person declined: nothing was done")
	case answer.Action != "accept":
		return errors.New("the person did not answer: nothing was done")
	case params.RequestState != q.fingerprint():
		return errors.New("the task changed while the person was asked, so nothing was done: look at it and call again")
	}
	return nil
}

// confirmRequest asks the person before a task is merged or ended.
func (c Caller) confirmRequest(ctx context.Context, id string, in *updateIn) error {
	if !c.canAsk(ctx) || in.To == "" && in.Verb == "" {
		return nil
	}
	v, err := c.API.ReadTask(ctx, id)
	if err != nil {
		return err
	}
	does := ""
	switch in.Verb {
	case engine.VerbMerge:
		does = "Merge"
	case workflow.VerbCancel:
		does = "Cancel"
	default:
		does = endingOf(c.definitionOf(ctx, &v.Task), &v.Task, in)
	}
	if does == "" {
		return nil
	}
	text, err := c.describeForPerson(ctx, &v.Task)
	if err != nil {
		return err
	}
	return c.askPerson(ctx, does+" "+text)
}

// endingOf returns what a request does to a task if it merges or ends it, else "".
func endingOf(def *workflow.Definition, k *task.Task, in *updateIn) string {
	if def == nil {
		return ""
	}
	for _, i := range def.EdgesFrom(k.Status) {
		e := &def.Edges[i]
		if in.Verb != "" && e.As != in.Verb || in.To != "" && e.To != in.To {
			continue
		}
		if def.LeadsToMerge(e) {
			return "Merge"
		}
		if s, ok := def.StateNamed(e.To); ok && s.Kind == workflow.Terminal {
			return "Close (as " + cutLine(e.To, 60) + ")"
		}
	}
	return ""
}

// describeForPerson describes a task and its work for a question.
func (c Caller) describeForPerson(ctx context.Context, k *task.Task) (string, error) {
	state, err := c.API.ReadState(ctx, client.StateQuery{Task: string(k.ID), All: true})
	if err != nil {
		return "", err
	}
	var b textBuilder
	b.putLine(fmt.Sprintf("task %s (%s/%s)?", humanize.ShortID(string(k.ID)), cutLine(k.Project, 100), cutLine(k.Branch, 200)))
	b.putField("Status", cutLine(k.Status, 100))
	for i := range state.Tasks {
		if w := state.Tasks[i].Work; w != nil {
			b.putField("Changes", fmt.Sprintf("%s, %d lines added, %d deleted, %s", humanize.Plural(w.Files, "file"), w.Added, w.Deleted, humanize.Plural(w.Commits, "commit")))
		}
	}
	b.putField("Base branch", cutLine(k.BaseBranch, 200))
	b.putField("Summary, in the words of others", cutLine(k.Summary, maxLine))
	return strings.TrimRight(b.String(), "\n"), nil
}

// confirmApproval asks the person before a requested move is approved.
func (c Caller) confirmApproval(ctx context.Context, k *task.Task) error {
	if !c.canAsk(ctx) {
		return nil
	}
	text, err := c.describeForPerson(ctx, k)
	if err != nil {
		return err
	}
	return c.askPerson(ctx, fmt.Sprintf("Approve that the %s moves to %s: %s", cutLine(cmp.Or(string(k.Asked.By), "agent"), 60), cutLine(k.Asked.To, 60), text))
}

// confirmCard asks the person before the tags or the column of a card change that a task works on, because that may
// approve the work.
func (c Caller) confirmCard(ctx context.Context, project string, number int, change board.Change) error {
	if !c.canAsk(ctx) {
		return nil
	}
	tasks, err := c.cardTasks(ctx, project)
	if err != nil {
		return err
	}
	r, works := tasks[number]
	if !works {
		return nil
	}
	v, err := c.API.ReadCard(ctx, project, number)
	if err != nil {
		return err
	}
	var b textBuilder
	b.putLine(fmt.Sprintf("Change card %s/%d, on which task %s works (%s)?", cutLine(project, 100), number, humanize.ShortID(string(r.ID)), cutLine(r.Status, 100)))
	b.putField("Set tags", strings.Join(cleanWords(change.AddTags), ", "))
	b.putField("Remove tags", strings.Join(cleanWords(change.RemoveTags), ", "))
	b.putField("Move to", cutLine(change.Column, 200))
	b.putField("Column now", cutLine(v.Card.Column, 200))
	b.putField("Tags now", strings.Join(cleanWords(v.Card.Tags), ", "))
	b.putField("Title, in the words of others", cutLine(v.Card.Title, maxLine))
	return c.askPerson(ctx, strings.TrimRight(b.String(), "\n"))
}
