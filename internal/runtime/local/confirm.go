package local

import (
	"cmp"
	"context"
	"fmt"
	"slices"
	"strings"

	"orange/internal/core/board"
	"orange/internal/core/engine"
	"orange/internal/core/signal"
	"orange/internal/core/task"
	"orange/internal/core/workflow"
)

// Codes shows codes to people, by notification.
type Codes interface {
	CanShow(project string) error                                            // why no code can be shown for a project, nil if one can
	Head(ctx context.Context, p task.Project, branch string) (string, error) // the commit a branch is at, "" if there is no such branch
	Show(ctx context.Context, c Code) error
	Shares(ctx context.Context, a, b task.Project) bool // two folders belong to one repository
}

// A Code is what a person is shown so that they can confirm an action.
type Code struct {
	Project string
	Task    *task.Task // nil if it is about the project itself
	Head    string     // commit that is to be merged, "" if it is not known
	Action  string     // in words
	Do      string     // command that gives the code back, without the code
	Code    string
}

// pendingCode is a code that is to be sent once the task's lock is given back.
type pendingCode struct {
	subject codeSubject
	code    Code
}

// errNoCodes is why nothing can be confirmed where nobody can be notified.
const errNoCodes = "this server sends no notifications, so no code can be shown: merge with git, or run orange with a notification channel"

// confirmMerge asks a person for a code before their signal merges, if the project wants
// that. The decision it returns is a refusal, nil if the signal may be decided about. The
// caller holds the task's lock and sends the code after giving it back.
func (r *Runtime) confirmMerge(ctx context.Context, def *workflow.Definition, t *task.Task, sig *signal.Signal) (*engine.Decision, *pendingCode) {
	given := sig.Confirm
	sig.Confirm, sig.Confirmed = "", "" // nothing but this looks at the one and sets the other
	if !r.needsCode(def, t, *sig) {
		return nil, nil
	}
	subject := codeSubject{project: t.Project, task: t.ID, action: actionOf(sig)}
	head, why := r.headOf(ctx, t)
	code := ""
	if subject.head = head; why == "" {
		why, code = r.checkOrIssueCode(subject, given)
	}
	if why == "" && code == "" {
		sig.Confirmed = head
		if sig.Kind == signal.Resume && slices.ContainsFunc(t.Pending, func(e task.Effect) bool { return e.Do == workflow.MergeBranch && e.Head != head }) {
			refused := refusedCode(t, "the merge that waits was not confirmed for the commit that branch "+t.Branch+" is at: ask for it again with orange task merge "+string(t.ID))
			return &refused, nil
		}
		return nil, nil
	}
	refused := refusedCode(t, why)
	if code == "" {
		return &refused, nil
	}
	return &refused, &pendingCode{subject, Code{
		Project: t.Project, Task: t, Head: subject.head, Action: subject.action, Do: "orange " + commandOf(sig, t), Code: code,
	}}
}

// headOf is the commit that a merge of the task would merge, and why that cannot be told.
func (r *Runtime) headOf(ctx context.Context, t *task.Task) (head, why string) {
	p, ok := r.pool.findProject(t.Project)
	if r.Codes == nil || !ok {
		return "", errNoCodes
	}
	head, err := r.Codes.Head(ctx, p, t.Branch)
	if err != nil {
		return "", "no code can be asked for, because the commit of branch " + t.Branch + " cannot be found: " + err.Error()
	}
	return head, ""
}

// checkOrIssueCode takes a code back, or makes one. Without either result the action is confirmed.
func (r *Runtime) checkOrIssueCode(s codeSubject, given string) (why, code string) {
	if given != "" {
		return r.codes.redeemCode(r.now(), s, given), ""
	}
	if r.Codes == nil {
		return errNoCodes, ""
	}
	if err := r.Codes.CanShow(s.project); err != nil {
		return err.Error(), ""
	}
	code, why = r.codes.issueCode(r.now(), s)
	if code != "" {
		why = "project " + s.project + " asks for a code before a person's " + s.action + ": it was sent by notification; give it back within five minutes, on the command line with --code"
	}
	return why, code
}

// sendCode shows a code. If nobody could be shown it, it is void and the answer says why.
func (r *Runtime) sendCode(ctx context.Context, p *pendingCode) (why string) {
	err := r.Codes.Show(ctx, p.code)
	if err == nil {
		return ""
	}
	r.codes.forgetCode(p.subject)
	return "the code could not be sent: " + err.Error()
}

// refusedCode is the refusal of an action that is not confirmed.
func refusedCode(t *task.Task, why string) engine.Decision {
	return engine.Decision{Verdict: engine.Refuse, Refused: why, Reasons: []engine.Reason{{From: t.Status, Rule: engine.RuleConfirm, Text: why}}}
}

// needsCode says whether deciding about a person's signal merges at once in a project
// that wants such a merge confirmed. What the engine refuses needs no code.
func (r *Runtime) needsCode(def *workflow.Definition, t *task.Task, sig signal.Signal) bool {
	p, ok := r.pool.findProject(t.Project)
	if !ok && sig.New != nil {
		p, ok = r.pool.findProject(sig.New.Project)
	}
	if !ok || p.Confirm.Merge != task.ConfirmCode || !fromPerson(&sig) {
		return false
	}
	merges := func(e task.Effect) bool { return e.Do == workflow.MergeBranch }
	if sig.Kind == signal.Resume && slices.ContainsFunc(t.Pending, merges) {
		return true // it was given up, or held: resuming merges what the branch is by now
	}
	sig.At = r.now()
	r.pool.mu.Lock()
	sig.Free, sig.Busy = r.pool.freeWorkspaces(p.Name), r.pool.atOne.busyGroups(p.Name, t.ID)
	r.pool.mu.Unlock()
	for _, e := range engine.Decide(def, *t, sig).Entries {
		if slices.ContainsFunc(e.Effects, merges) {
			return true
		}
	}
	return false
}

// fromPerson says whether a person asks, or a client of theirs that speaks as a tracker.
// How a card looks is confirmed where it is changed.
func fromPerson(sig *signal.Signal) bool {
	claimed := sig.Actor == task.Tracker && (sig.Via == nil || sig.Via.Kind != signal.ViaTracker)
	return sig.CardSnapshot == nil && (sig.Actor == task.Human || sig.Actor == "" || claimed)
}

// actionOf names what is asked for, as a code is bound to it.
func actionOf(sig *signal.Signal) string {
	if sig.To != "" {
		return "move to " + sig.To
	}
	return cmp.Or(sig.Verb, string(sig.Kind))
}

// commandOf is the command that asks for the same, with a place for the code behind it.
func commandOf(sig *signal.Signal, t *task.Task) string {
	id := string(t.ID)
	switch {
	case sig.Kind == signal.Resume:
		return "resume " + id
	case t.Asked != nil && sig.To == t.Asked.To:
		return "task approve " + id
	case sig.To != "":
		return "task update " + id + " --status " + sig.To
	case sig.Kind == signal.Ready:
		return "task spawn " + id
	}
	return strings.TrimSpace("task " + sig.Verb + " " + id)
}

// ConfirmProject asks a person for a code before a change of a project that would let
// merges pass without one.
func (r *Runtime) ConfirmProject(ctx context.Context, project, action, do, given string) error {
	return r.requireCode(ctx, codeSubject{project: project, action: action}, do, given)
}

// CanConfirm says why no code could be shown for a project, nil if one could.
func (r *Runtime) CanConfirm(project string) error {
	if r.Codes == nil {
		return task.Mistakef("%s", errNoCodes)
	}
	return r.Codes.CanShow(project)
}

// ConfirmCard asks a person for a code before they make a card look so that a merge
// follows. Workflow is the one of the card's task if it has none yet, "" for the project's.
func (r *Runtime) ConfirmCard(ctx context.Context, card board.Card, workflowName, given string) error {
	p, ok := r.pool.findProject(card.Project)
	if !ok || p.Confirm.Merge != task.ConfirmCode {
		return nil
	}
	s := codeSubject{project: p.Name, action: fmt.Sprintf("change of card %d", card.Number)}
	do := fmt.Sprintf("orange board tag or move %d", card.Number)
	if card.Number == 0 {
		s.action, do = "new card "+card.Title, "orange board add"
	}
	marks, err := r.marksMerge(ctx, p, card, workflowName, &s)
	if err != nil || !marks {
		return err
	}
	return r.requireCode(ctx, s, do, given)
}

// marksMerge says whether a card lets a task of it merge. The heads of those tasks become
// part of what a code is for.
func (r *Runtime) marksMerge(ctx context.Context, p task.Project, card board.Card, workflowName string, s *codeSubject) (bool, error) {
	face := card.Snapshot()
	var ids []task.ID
	if r.Relations != nil && card.Number > 0 {
		var err error
		if ids, err = r.Relations.OnCard(board.Ref(card.Project, card.Number)); err != nil {
			return false, err
		}
	}
	if len(ids) == 0 {
		def, err := r.findWorkflow(workflowName, p)
		return err == nil && def.MarksMerge(&face), err
	}
	marks := false
	for _, id := range ids {
		t, ok, err := r.loadRecord(id)
		if err != nil || !ok {
			return false, err
		}
		def, err := r.pinnedDefinition(&t)
		if err != nil {
			return false, err
		}
		marks = marks || def.MarksMerge(&face)
		head, why := r.headOf(ctx, &t)
		if why != "" {
			return false, task.Mistakef("%s", why)
		}
		s.head = strings.TrimSpace(s.head + " " + head)
	}
	return marks, nil
}

// requireCode takes a code back, or sends one and says so.
func (r *Runtime) requireCode(ctx context.Context, s codeSubject, do, given string) error {
	why, code := r.checkOrIssueCode(s, given)
	if code != "" {
		if wrong := r.sendCode(ctx, &pendingCode{s, Code{Project: s.project, Head: s.head, Action: s.action, Do: do, Code: code}}); wrong != "" {
			why = wrong
		}
	}
	if why == "" {
		return nil
	}
	return task.Mistakef("%s", why)
}
