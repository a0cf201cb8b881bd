package mcp

import (
	"context"
	"errors"
	"fmt"
	"strings"
	"unicode/utf8"

	sdk "github.com/modelcontextprotocol/go-sdk/mcp"

	"orange/internal/core/engine"
	"orange/internal/core/signal"
	"orange/internal/core/task"
	"orange/internal/core/workflow"
	"orange/internal/view/humanize"
	"orange/internal/view/narrate"
	"orange/internal/wire"
)

// verbSpawn starts a task that waits to be started. All other verbs belong to the workflow.
const verbSpawn = "spawn"

// createIn describes the task to create.
type createIn struct {
	Summary       string `json:"summary" jsonschema:"what is to be done, in one line; if it is empty, the first line of context"`
	Branch        string `json:"branch,omitempty" jsonschema:"for the work; the server names one if it is left out"`
	Project       string `json:"project,omitempty" jsonschema:"it belongs to; the caller's own if it is left out"`
	Context       string `json:"context,omitempty" jsonschema:"what is wanted, as Markdown; its agents carry it out if it comes from a person or from the parent task"`
	Workflow      string `json:"workflow,omitempty" jsonschema:"it follows; the project's if it is left out"`
	Status        string `json:"status,omitempty" jsonschema:"state it begins in; the workflow's first if it is left out"`
	Harness       string `json:"harness,omitempty" jsonschema:"agent that works on it: claude, codex, opencode, gemini or pi"`
	Effort        string `json:"effort,omitempty" jsonschema:"of that agent"`
	ReviewHarness string `json:"review_harness,omitempty" jsonschema:"agent that reviews it, likewise"`
	ReviewEffort  string `json:"review_effort,omitempty" jsonschema:"of the reviewer"`
	Parent        string `json:"parent,omitempty" jsonschema:"id of the task whose work this is a part of"`
	Hold          bool   `json:"hold,omitempty" jsonschema:"create it and do not start it"`
}

// updateIn describes what to do with a task.
type updateIn struct {
	oneIn
	To      string `json:"to,omitempty" jsonschema:"state to go to; explain lists those that are open"`
	Verb    string `json:"verb,omitempty" jsonschema:"instead of a state, what is asked for: complete, stuck, request-changes, cancel, reopen, merge (a merge commit only if one is needed), push, create-pr, spawn, or another of the workflow's"`
	Note    string `json:"note,omitempty" jsonschema:"why, in the caller's words; for request-changes, what is to change"`
	Summary string `json:"summary,omitempty" jsonschema:"new summary"`
	Branch  string `json:"branch,omitempty" jsonschema:"new branch"`
	Code    string `json:"code,omitempty" jsonschema:"code that a person was shown by notification, if a merge was refused for want of it; ask the person for it"`
}

// answerIn is an answer to an agent's question.
type answerIn struct {
	oneIn
	Text string `json:"text" jsonschema:"the answer"`
}

// approveIn approves a move.
type approveIn struct {
	oneIn
	To   string `json:"to,omitempty" jsonschema:"state that was shown as asked for; if another is asked for by now nothing is granted"`
	Note string `json:"note,omitempty" jsonschema:"why, in the person's words"`
	Code string `json:"code,omitempty" jsonschema:"code that a person was shown by notification, if a merge was refused for want of it; ask the person for it"`
}

// changedOut is a task after a request.
type changedOut struct {
	ID      string `json:"id" jsonschema:"of the task"`
	Project string `json:"project" jsonschema:"name of its project"`
	Branch  string `json:"branch" jsonschema:"that the work is on"`
	Status  string `json:"status" jsonschema:"after the request"`
	From    string `json:"from,omitempty" jsonschema:"status before it, if it moved"`
	Asked   string `json:"asked,omitempty" jsonschema:"state that was asked for and that a person must agree to"`
	Queued  bool   `json:"queued,omitempty" jsonschema:"it waits for a free workspace"`
	Told    string `json:"told,omitempty" jsonschema:"role of the agent that an answer goes to, if nothing moved"`
	Warning string `json:"warning,omitempty" jsonschema:"what went wrong beside it, though it was done"`

	words string // the result of the request
}

func (t *tools) addChanging(s *sdk.Server) {
	addTool(s, &sdk.Tool{
		Name: "create", Annotations: toolHints("Create a task", false, false, false),
		Description: "Create a task in a project, and start an agent for it as soon as a workspace is free, unless hold is set.",
	}, callTime, t.createTask)
	addTool(s, &sdk.Tool{
		Name: "update", Annotations: toolHints("Move or change a task", false, true, false),
		Description: "Ask for another status of a task (to, or verb), or change its summary or branch. The workflow decides: what it does not allow is refused with the reason. cancel ends a task without a result.",
	}, callTime, t.updateTask)
	addTool(s, &sdk.Tool{
		Name: "answer", Annotations: toolHints("Answer an agent", false, false, false),
		Description: "Answer what an agent asked, and let its task go on. For people.",
	}, callTime, t.answerAgent)
	addTool(s, &sdk.Tool{
		Name: "approve", Annotations: toolHints("Grant what an agent asked for", false, true, false),
		Description: "Grant the move that an agent asked for and that only a person may grant. Give to, the state that the person was shown: what is asked for may have changed. Refused for agents.",
	}, callTime, t.approveMove)
}

func (t *tools) createTask(ctx context.Context, c Caller, in createIn) (changedOut, string, error) {
	if strings.TrimSpace(in.Summary+in.Context) == "" {
		return changedOut{}, "", errors.New("the summary is empty: say what is to be done")
	}
	if len(in.Context) > maxContext {
		return changedOut{}, "", errors.New("the context is longer than 1 MB: put it into a file of the repository and name that")
	}
	wish := signal.NewTask{New: signal.New{
		Project: in.Project, Branch: in.Branch, Summary: in.Summary, Status: in.Status, Harness: in.Harness, Effort: in.Effort,
		ReviewHarness: in.ReviewHarness, ReviewEffort: in.ReviewEffort, Spawn: !in.Hold,
	}, Workflow: in.Workflow, Context: in.Context}
	wish.Actor, wish.Attempt = c.actorAndAttempt()
	var err error
	if wish.Project == "" {
		if wish.Project, err = c.findProject(ctx); err != nil {
			return changedOut{}, "", err
		}
	}
	if in.Parent != "" {
		p, err := c.API.ReadTask(ctx, in.Parent)
		if err != nil {
			return changedOut{}, "", err
		}
		wish.Parent = p.Task.ID
	}
	a, err := c.API.CreateTask(ctx, wish)
	if err != nil {
		return changedOut{}, "", err
	}
	out := changeOf(a)
	return out, fmt.Sprintf("Created task %s (%s/%s), %s.%s", out.ID, out.Project, out.Branch, out.Status, describeExtras(out)), nil
}

// findProject returns the project of the caller's task, else that of the folder the caller works in.
func (c Caller) findProject(ctx context.Context) (string, error) {
	if c.Task != "" {
		v, err := c.API.ReadTask(ctx, c.Task)
		return v.Task.Project, err
	}
	if c.Folder != "" {
		at, err := c.API.FindPlace(ctx, c.Folder)
		if err != nil || at.Project != "" {
			return at.Project, err
		}
	}
	return "", errors.New("it is not known for which project: give the name of one, and see orange project list")
}

// actorAndAttempt returns the actor and the attempt for a signal. The server decides whether to
// believe them.
func (c Caller) actorAndAttempt() (task.Actor, int) {
	if c.Role == "" {
		return task.Human, 0
	}
	return task.Actor(c.Role), c.Attempt
}

func (t *tools) updateTask(ctx context.Context, c Caller, in updateIn) (changedOut, string, error) {
	if in.To != "" && in.Verb != "" {
		return changedOut{}, "", errors.New("give to or verb, not both")
	}
	var fields []signal.Field
	if in.Branch != "" {
		fields = append(fields, signal.Field{Name: "branch", To: in.Branch})
	}
	if in.Summary != "" {
		fields = append(fields, signal.Field{Name: "summary", To: in.Summary})
	}
	if in.To == "" && in.Verb == "" && len(fields) == 0 {
		return changedOut{}, "", errors.New("nothing to change: give to, verb, summary or branch")
	}
	id, err := c.taskOf(ctx, in.Task)
	if err != nil {
		return changedOut{}, "", err
	}
	var out changedOut
	said := ""
	if len(fields) > 0 {
		if out, err = c.sendSignal(ctx, id, signal.Signal{Kind: signal.Update, Fields: fields, Note: in.Note}); err != nil {
			return out, "", err
		}
		said = "The record is updated"
	}
	if in.To != "" || in.Verb != "" {
		sig := signal.Signal{Kind: signal.Request, To: in.To, Verb: in.Verb, Note: in.Note, Confirm: in.Code}
		if in.Verb == verbSpawn {
			sig, err = c.spawnSignal(ctx, id)
		}
		if err == nil {
			out, err = c.sendSignal(ctx, id, sig)
		}
		switch {
		case err != nil && said != "":
			return out, "", fmt.Errorf("%s, but %w", strings.ToLower(said), err)
		case err != nil:
			return out, "", err
		}
	}
	if said != "" {
		said += ". "
	}
	return out, said + movedText(out), nil
}

// spawnSignal returns the signal that starts a task that was created and waits.
func (c Caller) spawnSignal(ctx context.Context, id string) (signal.Signal, error) {
	x, err := c.API.ExplainTask(ctx, id)
	if err == nil && x.Kind != string(workflow.Queued) {
		err = fmt.Errorf("task %s is not pending: it is %s", humanize.ShortID(string(x.Task)), x.Status)
	}
	return signal.Signal{Kind: signal.Ready}, err
}

func (t *tools) answerAgent(ctx context.Context, c Caller, in answerIn) (changedOut, string, error) {
	if strings.TrimSpace(in.Text) == "" {
		return changedOut{}, "", errors.New("the answer is empty: give some words")
	}
	id, err := c.taskOf(ctx, in.Task)
	if err != nil {
		return changedOut{}, "", err
	}
	out, err := c.sendSignal(ctx, id, signal.Signal{Kind: signal.Request, Verb: engine.VerbAnswer, Note: strings.TrimSpace(in.Text)})
	return out, movedText(out), err
}

func (t *tools) approveMove(ctx context.Context, c Caller, in approveIn) (changedOut, string, error) {
	id, err := c.taskOf(ctx, in.Task)
	if err != nil {
		return changedOut{}, "", err
	}
	v, err := c.API.ReadTask(ctx, id)
	if err != nil {
		return changedOut{}, "", err
	}
	if v.Task.Asked == nil {
		return changedOut{}, "", fmt.Errorf("nothing of task %s waits for approval: see inbox", humanize.ShortID(string(v.Task.ID)))
	}
	if in.To != "" && in.To != v.Task.Asked.To {
		return changedOut{}, "", fmt.Errorf("task %s asks for %s by now, not for %s: look at it again", humanize.ShortID(string(v.Task.ID)), cutLine(v.Task.Asked.To, maxLine), cutLine(in.To, maxLine))
	}
	out, err := c.sendSignal(ctx, string(v.Task.ID), signal.Signal{Kind: signal.Request, To: v.Task.Asked.To, Note: in.Note, Confirm: in.Code})
	return out, movedText(out), err
}

// sendSignal sends a signal on behalf of the caller.
func (c Caller) sendSignal(ctx context.Context, id string, sig signal.Signal) (changedOut, error) {
	switch {
	case len(sig.Note) > maxWords:
		return changedOut{}, errors.New("the words are longer than 64 KB: put them into a file of the repository and name that")
	case !utf8.ValidString(sig.Note):
		return changedOut{}, errors.New("the words are not text: give UTF-8")
	}
	sig.Actor, sig.Attempt = c.actorAndAttempt()
	a, err := c.API.SendSignal(ctx, id, sig)
	if err != nil {
		return changedOut{}, err
	}
	return changeOf(a), nil
}

// changeOf returns the task in an answer.
func changeOf(a wire.Answer) changedOut {
	k := &a.Task
	out := changedOut{
		ID: string(k.ID), Project: k.Project, Branch: cutLine(k.Branch, maxLine), Status: cutLine(k.Status, maxLine),
		Queued: k.Queued, Told: cutLine(narrate.FindAnswered(a.Decision.Entries), maxLine), Warning: cutLine(a.Warning, maxLine),
		words: cutLine(narrate.DescribeOutcome(a.Outcome(""), narrate.Voice{Name: humanize.ShortID(string(k.ID)), Stop: "."}), maxLine),
	}
	for i := range a.Decision.Entries {
		if e := &a.Decision.Entries[i]; e.To != "" && out.From == "" {
			out.From = e.From
		}
	}
	if k.Asked != nil {
		out.Asked = cutLine(k.Asked.To, maxLine)
	}
	return out
}

// movedText describes the result of a request.
func movedText(o changedOut) string {
	if o.Warning != "" {
		return o.words + " Warning: " + o.Warning
	}
	return o.words
}

// describeExtras describes what else a caller should know after a request.
func describeExtras(o changedOut) string {
	out := ""
	if o.Queued {
		out += " It waits for a free workspace."
	}
	if o.Warning != "" {
		out += " Warning: " + o.Warning
	}
	return out
}
