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
	CanShow(project string) error                                            // returns why no code can be shown for a project, or nil
	Head(ctx context.Context, p task.Project, branch string) (string, error) // returns the commit of a branch, "" if there is no such branch
	Show(ctx context.Context, c Code) error
	Shares(ctx context.Context, a, b task.Project) bool // reports whether two folders belong to one repository
}

// A Code is shown to a person to confirm an action.
type Code struct {
	Project string
	Task    *task.Task // nil if it is about the project itself
	Head    string     // commit to be merged, "" if unknown
	Action  string     // in words
	Do      string     // command that takes the code, without the code
	Code    string
}

// pendingCode is a code to send after the task's lock is released.
type pendingCode struct {
	subject codeSubject
	code    Code
}

// errNoCodes means that no code can be shown, because no notification is configured.
const errNoCodes = "this server sends no notifications, so no code can be shown: merge with git, or run orange with a notification channel"

// confirmMerge requires a code before a person's signal merges, if the project wants that. The decision it returns is a
// refusal, or nil if the signal may be decided. The caller holds the task's lock and sends the code after releasing it.
func (r *Runtime) confirmMerge(ctx context.Context, def *workflow.Definition, t *task.Task, sig *signal.Signal) (*engine.Decision, *pendingCode) {
	given := sig.Confirm
	sig.Confirm, sig.Confirmed = "", "" // only this function reads the one and sets the other
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

// headOf returns the commit that a merge of the task would merge, or why it is unknown.
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

// checkOrIssueCode redeems a code, or makes one. If it returns neither a code nor a reason, the action is confirmed.
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

// sendCode shows a code. If it cannot be shown to anybody, it is void and the answer has the reason.
func (r *Runtime) sendCode(ctx context.Context, p *pendingCode) (why string) {
	err := r.Codes.Show(ctx, p.code)
	if err == nil {
		return ""
	}
	r.codes.forgetCode(p.subject)
	return "the code could not be sent: " + err.Error()
}

// refusedCode returns the refusal of an action that is not confirmed.
func refusedCode(t *task.Task, why string) engine.Decision {
	return engine.Decision{Verdict: engine.Refuse, Refused: why, Reasons: []engine.Reason{{From: t.Status, Rule: engine.RuleConfirm, Text: why}}}
}

// needsCode reports whether a person's signal would merge immediately in a project that wants such a merge confirmed. A
// signal that the engine refuses needs no code.
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
		return true // a merge was given up or held, and resuming merges the present branch
	}
	sig.At = r.now()
	r.pool.mu.Lock()
	sig.Free, sig.Busy = r.pool.freeWorkspaces(p.Name), r.pool.atOne.busyGroups(p.Name, t.ID)
	r.pool.mu.Unlock()
	for _, e := range engine.Decide(def, t, sig).Entries {
		if slices.ContainsFunc(e.Effects, merges) {
			return true
		}
	}
	return false
}

// fromPerson reports whether a signal comes from a person, or from a person's client that acts as a tracker. A change
// of a card is confirmed where it is made.
func fromPerson(sig *signal.Signal) bool {
	claimed := sig.Actor == task.Tracker && (sig.Via == nil || sig.Via.Kind != signal.ViaTracker)
	return sig.CardSnapshot == nil && (sig.Actor == task.Human || sig.Actor == "" || claimed)
}

// actionOf names the requested action, to which a code is bound.
func actionOf(sig *signal.Signal) string {
	if sig.To != "" {
		return "move to " + sig.To
	}
	return cmp.Or(sig.Verb, string(sig.Kind))
}

// commandOf returns the command that requests the same action, to which the code can be appended.
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

// ConfirmProject requires a code before a change of a project that would allow merges without one.
func (r *Runtime) ConfirmProject(ctx context.Context, project, action, do, given string) error {
	return r.requireCode(ctx, codeSubject{project: project, action: action}, do, given)
}

// CanConfirm returns why no code can be shown for a project, or nil.
func (r *Runtime) CanConfirm(project string) error {
	if r.Codes == nil {
		return task.Mistakef("%s", errNoCodes)
	}
	return r.Codes.CanShow(project)
}

// ConfirmCard requires a code before a person changes a card so that a merge follows. Workflow is that of the card's
// task if it has none yet, or "" for the project's.
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

// marksMerge reports whether a card lets one of its tasks merge. The code is bound to the heads of those tasks.
func (r *Runtime) marksMerge(ctx context.Context, p task.Project, card board.Card, workflowName string, s *codeSubject) (bool, error) {
	snapshot := card.Snapshot()
	var ids []task.ID
	if r.Relations != nil && card.Number > 0 {
		var err error
		if ids, err = r.Relations.OnCard(board.Ref(card.Project, card.Number)); err != nil {
			return false, err
		}
	}
	if len(ids) == 0 {
		def, err := r.findWorkflow(workflowName, p)
		return err == nil && def.MarksMerge(&snapshot), err
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
		marks = marks || def.MarksMerge(&snapshot)
		head, why := r.headOf(ctx, &t)
		if why != "" {
			return false, task.Mistakef("%s", why)
		}
		s.head = strings.TrimSpace(s.head + " " + head)
	}
	return marks, nil
}

// requireCode redeems a code, or sends one and returns an error that says so.
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
