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
	Summary       string   `json:"summary" jsonschema:"what to do, in one line; defaults to the first line of context"`
	Branch        string   `json:"branch,omitempty" jsonschema:"branch for the work; the server chooses one if it is omitted"`
	Base          string   `json:"base,omitempty" jsonschema:"branch that the work starts from and lands on, chosen by a person; defaults to the project's"`
	Project       string   `json:"project,omitempty" jsonschema:"project of the task; defaults to the caller's own"`
	Context       string   `json:"context,omitempty" jsonschema:"requirements, as Markdown; agents carry them out if they come from a person or from the parent task"`
	Workflow      string   `json:"workflow,omitempty" jsonschema:"workflow that the task follows; defaults to the project's"`
	Status        string   `json:"status,omitempty" jsonschema:"state in which it begins; defaults to the workflow's first state"`
	Harness       string   `json:"harness,omitempty" jsonschema:"harness of the worker: claude, codex, opencode, gemini or pi"`
	Model         string   `json:"model,omitempty" jsonschema:"model of the worker, as its harness spells it"`
	Effort        string   `json:"effort,omitempty" jsonschema:"of that agent"`
	ReviewHarness string   `json:"review_harness,omitempty" jsonschema:"harness of the reviewer"`
	ReviewEffort  string   `json:"review_effort,omitempty" jsonschema:"of the reviewer"`
	Parent        string   `json:"parent,omitempty" jsonschema:"id of the parent task"`
	After         []string `json:"after,omitempty" jsonschema:"tasks that must land before this one starts, by id or branch"`
	Stack         bool     `json:"stack,omitempty" jsonschema:"begin at the branch of the one task in after, as soon as that one has handed over work. For people"`
	Hold          bool     `json:"hold,omitempty" jsonschema:"create the task without starting it"`
}

// updateIn describes what to do with a task.
type updateIn struct {
	oneIn
	To      string `json:"to,omitempty" jsonschema:"target state; explain lists the open ones"`
	Verb    string `json:"verb,omitempty" jsonschema:"verb, instead of a state: complete, stuck, request-changes, cancel, reopen, merge (a merge commit only if one is needed), push, create-pr, spawn, check (run the checks again; for people), send (the note is a message to the living agent), stop (ends the living agent and keeps the task; for people), respawn, or another of the workflow's"`
	Check   string `json:"check,omitempty" jsonschema:"with the verb check: the check to run; defaults to the first, and in a check state to all of the state"`
	Note    string `json:"note,omitempty" jsonschema:"reason, in the caller's words; for request-changes, what to change; for send, the message"`
	Role    string `json:"role,omitempty" jsonschema:"for send and stop: role of the agent; defaults to the one at work"`
	Force   bool   `json:"force,omitempty" jsonschema:"for respawn: end the agent first if it lives, such as one that hangs"`
	Summary string `json:"summary,omitempty" jsonschema:"new summary"`
	Branch  string `json:"branch,omitempty" jsonschema:"new branch"`
	Code    string `json:"code,omitempty" jsonschema:"confirmation code from a person's notification, if a merge was refused without it; ask the person for it"`

	After    []string `json:"after,omitempty" jsonschema:"tasks that must land before this one starts or is merged, by id or branch. For people"`
	NotAfter []string `json:"not_after,omitempty" jsonschema:"tasks that it no longer waits for. For people"`

	Requirements string `json:"requirements,omitempty" jsonschema:"new requirements, as Markdown, in place of all of the old ones; the living agent is told. For people"`
}

// answerIn is an answer to an agent's question.
type answerIn struct {
	oneIn
	Text string `json:"text" jsonschema:"the answer"`
}

// approveIn approves a move.
type approveIn struct {
	oneIn
	To   string `json:"to,omitempty" jsonschema:"the requested state that the person was shown; the approval is refused if the agent requests another state now"`
	Note string `json:"note,omitempty" jsonschema:"reason, in the person's words"`
	Code string `json:"code,omitempty" jsonschema:"confirmation code from a person's notification, if a merge was refused without it; ask the person for it"`
}

// changedOut is a task after a request.
type changedOut struct {
	ID           string `json:"id" jsonschema:"of the task"`
	Project      string `json:"project" jsonschema:"name of the task's project"`
	Branch       string `json:"branch" jsonschema:"branch of the work"`
	Status       string `json:"status" jsonschema:"after the request"`
	From         string `json:"from,omitempty" jsonschema:"previous status, if the task moved"`
	Asked        string `json:"asked,omitempty" jsonschema:"requested state that a person has to approve"`
	Queued       bool   `json:"queued,omitempty" jsonschema:"true if the task waits for a free workspace, or for other tasks to land"`
	Waits        string `json:"waits,omitempty" jsonschema:"what it waits for in its queue"`
	AnsweredRole string `json:"told,omitempty" jsonschema:"role of the agent that gets the answer, if the task did not move"`
	Warning      string `json:"warning,omitempty" jsonschema:"problems that did not prevent the change"`

	Notes []string `json:"notes,omitempty" jsonschema:"what a person should know about a task that was just created"`

	words  string // the result of the request
	paused bool
}

func (t *tools) addChanging(s *sdk.Server) {
	addTool(s, &sdk.Tool{
		Name: "create", Annotations: toolHints("Create a task", false, false, false),
		Description: "Create a task in a project. An agent starts as soon as a workspace is free, unless hold is set.",
	}, callTime, t.createTask)
	addTool(s, &sdk.Tool{
		Name: "update", Annotations: toolHints("Move or change a task", false, true, false),
		Description: "Request another status of a task (to, or verb), change its summary, requirements or branch, or send a message to its agent or stop it. The workflow decides: a request that it does not allow is refused with the reason. cancel ends a task without a result.",
	}, callTime, t.updateTask)
	addTool(s, &sdk.Tool{
		Name: "answer", Annotations: toolHints("Answer an agent", false, false, false),
		Description: "Answer an agent's question so that its task continues. For people.",
	}, callTime, t.answerAgent)
	addTool(s, &sdk.Tool{
		Name: "approve", Annotations: toolHints("Approve an agent's request", false, true, false),
		Description: "Approve a move that an agent requested and only a person may approve. Pass in to the state that the person was shown, because the request may have changed. Refused for agents.",
	}, callTime, t.approveMove)
}

func (t *tools) createTask(ctx context.Context, c Caller, in createIn) (changedOut, string, error) {
	if strings.TrimSpace(in.Summary+in.Context) == "" {
		return changedOut{}, "", errors.New("the summary is empty: say what to do")
	}
	if len(in.Context) > maxContext {
		return changedOut{}, "", errors.New("the context is longer than 1 MB: put it into a file of the repository and name the file")
	}
	request := signal.NewTask{New: signal.New{
		Project: in.Project, Branch: in.Branch, BaseBranch: in.Base, Model: in.Model, Summary: in.Summary, Status: in.Status, Harness: in.Harness, Effort: in.Effort,
		ReviewHarness: in.ReviewHarness, ReviewEffort: in.ReviewEffort, Spawn: !in.Hold, Stack: in.Stack, After: task.SplitIDs(strings.Join(in.After, ",")),
	}, Workflow: in.Workflow, Context: in.Context}
	request.Actor, request.Attempt = c.actorAndAttempt()
	var err error
	if request.Project == "" {
		if request.Project, err = c.findProject(ctx); err != nil {
			return changedOut{}, "", err
		}
	}
	if in.Parent != "" {
		p, err := c.API.ReadTask(ctx, in.Parent)
		if err != nil {
			return changedOut{}, "", err
		}
		request.Parent = p.Task.ID
	}
	a, err := c.API.CreateTask(ctx, request)
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
	return "", errors.New("the request names no project: pass the name of one, see orange project list")
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
	changes, err := in.recordChanges()
	if err != nil {
		return changedOut{}, "", err
	}
	id, err := c.taskOf(ctx, in.Task)
	if err != nil {
		return changedOut{}, "", err
	}
	if err := c.confirmRequest(ctx, id, &in); err != nil {
		return changedOut{}, "", err
	}
	var out changedOut
	said := ""
	for _, sig := range changes {
		if out, err = c.sendSignal(ctx, id, sig); err != nil {
			return out, "", err
		}
		said = "The record is updated"
	}
	if in.To != "" || in.Verb != "" {
		sig := signal.Signal{Kind: signal.Request, To: in.To, Verb: in.Verb, Arg: in.Check, Role: in.Role, Note: in.Note, Confirm: in.Code}
		switch {
		case in.Verb == verbSpawn:
			sig, err = c.spawnSignal(ctx, id)
		case in.Force:
			sig.Arg = engine.Force
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

// recordChanges returns the signals that change the record of a task, without the one that moves it.
func (in *updateIn) recordChanges() (out []signal.Signal, err error) {
	switch {
	case in.To != "" && in.Verb != "":
		return nil, errors.New("to and verb exclude each other: pass one of them")
	case in.To == "" && in.Verb == "" && in.Summary == "" && in.Branch == "" && in.Requirements == "" && len(in.After)+len(in.NotAfter) == 0:
		return nil, errors.New("nothing to change: pass to, verb, summary, requirements, branch, after or not_after")
	case in.Check != "" && in.Verb != engine.VerbCheck:
		return nil, errors.New("check is only for the verb check: pass verb check, or leave it out")
	case in.Role != "" && in.Verb != engine.VerbSend && in.Verb != engine.VerbStop:
		return nil, errors.New("role belongs to the verbs send and stop: leave it out")
	case in.Force && in.Verb != engine.Respawn:
		return nil, errors.New("force belongs to the verb respawn: leave it out")
	}
	var fields, summary []signal.Field
	if in.Branch != "" {
		fields = append(fields, signal.Field{Name: "branch", To: in.Branch})
	}
	for _, name := range in.After {
		fields = append(fields, signal.Field{Name: engine.FieldAddAfter, To: name})
	}
	for _, name := range in.NotAfter {
		fields = append(fields, signal.Field{Name: engine.FieldDropAfter, To: name})
	}
	if in.Summary != "" {
		summary = append(summary, signal.Field{Name: "summary", To: in.Summary})
	}
	if in.Requirements != "" {
		out = append(out, signal.Signal{Kind: signal.Request, Verb: engine.VerbEdit, Fields: summary, Note: in.Requirements})
	} else {
		fields = append(fields, summary...)
	}
	if len(fields) > 0 {
		out = append(out, signal.Signal{Kind: signal.Update, Fields: fields, Note: in.Note})
	}
	return out, nil
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
		return changedOut{}, "", errors.New("the answer is empty: write some text")
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
		return changedOut{}, "", fmt.Errorf("task %s does not wait for approval: see inbox", humanize.ShortID(string(v.Task.ID)))
	}
	if in.To != "" && in.To != v.Task.Asked.To {
		return changedOut{}, "", fmt.Errorf("task %s now requests %s, not %s: look at it again", humanize.ShortID(string(v.Task.ID)), cutLine(v.Task.Asked.To, maxLine), cutLine(in.To, maxLine))
	}
	if err := c.confirmApproval(ctx, &v.Task); err != nil {
		return changedOut{}, "", err
	}
	out, err := c.sendSignal(ctx, string(v.Task.ID), signal.Signal{Kind: signal.Request, To: v.Task.Asked.To, Note: in.Note, Confirm: in.Code})
	return out, movedText(out), err
}

// sendSignal sends a signal on behalf of the caller.
func (c Caller) sendSignal(ctx context.Context, id string, sig signal.Signal) (changedOut, error) {
	switch {
	case len(sig.Note) > maxWords:
		return changedOut{}, errors.New("the text is longer than 64 KB: put it into a file of the repository and name the file")
	case !utf8.ValidString(sig.Note):
		return changedOut{}, errors.New("the text is not valid UTF-8: encode it as UTF-8")
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
		Queued: k.Queued, Waits: cutLine(narrate.DescribeQueue(k), maxLine), AnsweredRole: cutLine(narrate.FindAnswered(a.Decision.Entries), maxLine), Warning: cutLine(a.Warning, maxLine),
		paused: k.Paused, words: cutLine(narrate.DescribeOutcome(a.Outcome(""), narrate.Voice{Name: humanize.ShortID(string(k.ID)), Stop: "."}), maxLine),
	}
	for _, l := range a.Notes {
		out.Notes = append(out.Notes, cutLine(l, maxLine))
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
	if waits, ok := strings.CutPrefix(o.Waits, "it "); ok {
		out += " It " + waits + "."
	}
	if o.Warning != "" {
		out += " Warning: " + o.Warning
	}
	for _, l := range o.Notes {
		out += "\nNote: " + l
	}
	return out
}
