package local

import (
	"cmp"
	"context"
	"fmt"
	"slices"
	"strings"
	"time"

	"orange/internal/core/engine"
	"orange/internal/core/journal"
	"orange/internal/core/signal"
	"orange/internal/core/task"
	"orange/internal/core/taskfile"
	"orange/internal/core/workflow"
)

// Submit passes a signal to the engine and returns when the decision is durable and shown. It adds the present facts
// that the engine needs: the time, the sections of TASK.md, the evidence, the free workspaces.
func (r *Runtime) Submit(ctx context.Context, id task.ID, sig signal.Signal) (engine.Answer, error) {
	if err := r.admitCaller(); err != nil {
		return engine.Answer{}, err
	}
	defer r.wait.Done()
	if engine.ChangesAfter(&sig) {
		defer r.locks.Lock(afterKey)()
		if err := r.checkUpdate(id, &sig); err != nil {
			return engine.Answer{}, err
		}
	}
	if base, ok := fieldWanted(&sig, "base_branch"); ok {
		if t, ok, err := r.loadRecord(id); err == nil && ok && base != t.BaseBranch {
			if err := cmp.Or(r.ownBranch(t.Project, t.Branch, base), r.requireUsableBranch(t.Project, t.Branch, base, id)); err != nil {
				return engine.Answer{}, err
			}
		}
	}
	if branch, ok := fieldWanted(&sig, "branch"); ok {
		if err := plainBranch(sig.Actor, branch); err != nil {
			return engine.Answer{}, err
		}
		defer r.locks.Lock(branchKey(branch))()
		if t, ok, err := r.loadRecord(id); err == nil && ok {
			if err := r.ownBranch(t.Project, branch, t.BaseBranch); err != nil {
				return engine.Answer{}, err
			}
			if err := r.requireFreeBranch(t.Project, branch, id); err != nil {
				return engine.Answer{}, err
			}
			if branch != t.Branch {
				if err := r.requireUsableBranch(t.Project, branch, t.BaseBranch, id); err != nil {
					return engine.Answer{}, err
				}
			}
		}
	}
	return r.submitAdmitted(ctx, id, sig)
}

// fieldWanted returns the value that an update gives a field: of several, the last.
func fieldWanted(sig *signal.Signal, name string) (value string, ok bool) {
	for _, f := range sig.Fields {
		if sig.Kind == signal.Update && f.Name == name {
			value, ok = f.To, true
		}
	}
	return value, ok
}

// submitAdmitted is Submit for callers that Close already waits for.
func (r *Runtime) submitAdmitted(ctx context.Context, id task.ID, sig signal.Signal) (engine.Answer, error) {
	answer, code, err := r.submitLocked(ctx, id, sig)
	if code != nil {
		if why := r.sendCode(ctx, code); why != "" {
			answer.Decision = refusedCode(&answer.Task, why)
		}
	}
	r.noteRefusal(id, sig, answer.Decision.Refused)
	return answer, err
}

// submitLocked decides under the task's lock. The caller sends a code that a person must give first.
func (r *Runtime) submitLocked(ctx context.Context, id task.ID, sig signal.Signal) (engine.Answer, *pendingCode, error) {
	defer r.locks.Lock(id)()
	t, ok, err := r.loadAndCache(id)
	if err != nil {
		return engine.Answer{}, nil, err
	}
	if !ok {
		return engine.Answer{}, nil, fmt.Errorf("%w: %s", task.ErrNotFound, id)
	}
	def, err := r.pinnedDefinition(&t)
	if err != nil {
		return engine.Answer{}, nil, err
	}
	sig.Artifacts, sig.Workspace, sig.Samples, sig.BrokeOff = signal.Artifacts{}, "", nil, false
	broken := r.syncWorkspace(ctx, def, &t, &sig)
	if r.Files != nil {
		if t, err = r.readTaskFile(ctx, def, t, &sig); err != nil {
			return engine.Answer{}, nil, err
		}
		if err := r.writeVerdict(def, &t, &sig); err != nil {
			return engine.Answer{}, nil, err
		}
		r.addOrigin(def, &t, &sig)
	}
	if fromAttempt(&sig) {
		sig.Workspace = broken
	}
	sig.Evidence = r.gatherEvidence(ctx, def, &t, &sig, broken)
	if sig.Children, err = r.loadChildren(def, &t); err != nil {
		return engine.Answer{}, nil, err
	}
	if sig.Predecessors, err = r.loadPredecessors(&t, &sig); err != nil {
		return engine.Answer{}, nil, err
	}
	if refused, code := r.confirmMerge(ctx, def, &t, &sig); refused != nil {
		return engine.Answer{Task: t, Decision: *refused}, code, nil
	}
	answer, err := r.decideAndCommit(ctx, def, t, sig)
	return answer, nil, err
}

// decideAndCommit runs the engine and commits. The caller holds the task's lock.
func (r *Runtime) decideAndCommit(ctx context.Context, def *workflow.Definition, t task.Task, sig signal.Signal) (engine.Answer, error) {
	sig.At, sig.Rules, sig.Told = r.now(), engine.Rules, false
	sig.Missing, sig.Performing = r.missingHarnesses(def, &t, &sig), r.landings.performing(t.ID)
	project := t.Project
	if t.Seq == 0 && sig.New != nil {
		project = sig.New.Project
	}
	d, hold := r.decideWithPool(def, project, t, sig)
	answer := engine.Answer{Task: t, Decision: d}
	if len(d.Entries) == 0 {
		return answer, nil
	}
	next, err := journal.Fold(t, d.Entries)
	if err != nil {
		return answer, fmt.Errorf("fold the decision about %s: %w", t.ID, err)
	}
	if err := r.commitEntries(ctx, def, next, d.Entries); err != nil {
		hold.undo()
		r.pool.updateSerials(def, &t)
		return answer, err
	}
	if sig.Kind == signal.Effect { // before the lock is given back, so that what waits from now on can be taken back
		r.landings.endMerge(t.ID, sig.Result.Effect)
	}
	if r.pool.updateSerials(def, &next) {
		r.advanceQueue(next.Project)
	}
	answer.Task = next
	answer.Warning = d.Warning
	if shown := r.showInFolder(next, d.Entries); shown != "" {
		answer.Warning = strings.TrimPrefix(answer.Warning+"; "+shown, "; ")
	}
	r.applyCommitted(def, &t, &next, d.Entries)
	return answer, nil
}

// decideWithPool passes the project's free workspaces to the engine and reserves the one that it binds, so that no
// other decision can bind it before the commit.
func (r *Runtime) decideWithPool(def *workflow.Definition, project string, t task.Task, sig signal.Signal) (engine.Decision, workspaceHold) {
	r.pool.mu.Lock()
	defer r.pool.mu.Unlock()
	sig.Free, sig.Busy = r.pool.freeWorkspaces(project), r.pool.atOne.busyGroups(project, t.ID)
	d := engine.Decide(def, &t, sig)
	h := workspaceHold{pool: &r.pool}
	for i := range d.Entries {
		if name := d.Entries[i].BindWorkspace; name != "" {
			r.pool.bindWorkspace(name, d.Entries[i].Task)
			h.name = name
		}
		for _, a := range d.Entries[i].Started {
			r.pool.atOne.joinGroup(def, project, a.Role, d.Entries[i].Task)
		}
	}
	return d, h
}

// commitEntries makes the entries durable, together with those of other tasks that wait at the same time.
func (r *Runtime) commitEntries(ctx context.Context, def *workflow.Definition, next task.Task, entries []journal.Entry) error {
	return r.commitSegment(ctx, def, next, entries, "")
}

// commitSegment commits entries that were not decided here; segment says where they come from.
func (r *Runtime) commitSegment(ctx context.Context, def *workflow.Definition, next task.Task, entries []journal.Entry, segment string) error {
	err := r.writeDurably(ctx, journal.Commit{Task: next, Entries: entries, Due: r.nextDue(def, &next), Over: isOver(def, &next), Segment: segment})
	if err != nil {
		r.records.forget(next.ID)
		return err
	}
	r.records.put(next)
	r.depends.update(&next, isOver(def, &next))
	return nil
}

func isOver(def *workflow.Definition, t *task.Task) bool {
	s, ok := def.StateNamed(t.Status)
	return ok && s.Kind == workflow.Terminal
}

// applyCommitted acts on committed entries: it frees workspaces, sets timers and starts effects.
func (r *Runtime) applyCommitted(def *workflow.Definition, was, t *task.Task, entries []journal.Entry) {
	for i := range entries {
		if entries[i].UnbindWorkspace {
			r.pool.releaseWorkspace(was.Workspace)
			r.advanceQueue(t.Project)
		}
	}
	if t.Queued && slices.ContainsFunc(entries, func(e journal.Entry) bool { // what it waits for may have become free since the decision
		return e.Type == journal.TaskResumed || e.Type == journal.TaskQueued
	}) {
		r.advanceQueue(t.Project)
	}
	r.notifyParent(def, was, t)
	r.notifySuccessors(def, was, t)
	if next := r.updateLanding(t); next != "" {
		r.driveEffects(next)
	}
	if was.Visit != t.Visit {
		r.silence.forgetTask(t.ID)
	}
	r.driveAndSchedule(t)
}

// loadRecord returns the task as the last commit left it.
func (r *Runtime) loadRecord(id task.ID) (task.Task, bool, error) {
	if t, ok := r.records.get(id); ok {
		return t, true, nil
	}
	t, ok, err := r.Store.Task(id)
	if err != nil {
		return task.Task{}, false, fmt.Errorf("read task %s: %w", id, err)
	}
	return t, ok, nil
}

// loadAndCache is loadRecord for a caller that holds the task's lock, so that nothing can be committed between reading
// and caching.
func (r *Runtime) loadAndCache(id task.ID) (task.Task, bool, error) {
	t, ok, err := r.loadRecord(id)
	if ok {
		r.records.put(t)
	}
	return t, ok, err
}

// now returns the present time in the precision of a journal.
func (r *Runtime) now() time.Time { return r.Clock().UTC().Truncate(time.Microsecond) }

// readTaskFile reads TASK.md into the signal. It first records and reverts changes of the frontmatter that were made by
// hand, and returns the record after that.
func (r *Runtime) readTaskFile(ctx context.Context, def *workflow.Definition, t task.Task, sig *signal.Signal) (task.Task, error) {
	if r.shown.isBehind(t.ID) {
		r.showInFolder(t, nil)
	}
	doc, err := r.Files.ReadTaskFile(t.Project, t.ID)
	if err != nil {
		sig.Artifacts.Problem = err.Error()
		return t, nil
	}
	sig.Artifacts.Sections = doc.Sections()
	changed := journal.TamperedFields(doc, t)
	if len(changed) == 0 || r.shown.isBehind(t.ID) { // what Orange could not write is not tampering
		return t, nil
	}
	answer, err := r.decideAndCommit(ctx, def, t, signal.Signal{Kind: signal.Tamper, Actor: task.Engine, Fields: changed})
	return answer.Task, err
}

// writeVerdict writes the verdict that an agent states by command into TASK.md. The decision uses the text that was
// written, even if the file changes meanwhile. A request that will be refused writes nothing.
func (r *Runtime) writeVerdict(def *workflow.Definition, t *task.Task, sig *signal.Signal) error {
	if sig.Kind != signal.Request || sig.To != "" || sig.Verb != engine.VerbVerdict || sig.Artifacts.Problem != "" {
		return nil
	}
	section := engine.VerdictSection(def, t, sig)
	if section == "" {
		return nil
	}
	doc, err := r.Files.WriteVerdict(t.Project, t.ID, section, taskfile.Statement{
		Verdict: sig.Arg, Note: sig.Note, Round: t.Visit, Old: task.SumOf(t.Seen, section),
	})
	if err != nil {
		return fmt.Errorf("write the verdict into TASK.md: %w", err)
	}
	sig.Artifacts.Sections = doc.Sections()
	return nil
}

// addOrigin adds the origin of verdicts. If effects are only recorded, no agent runs, so a person wrote them.
func (r *Runtime) addOrigin(def *workflow.Definition, t *task.Task, sig *signal.Signal) {
	engine.AddOrigin(def, t, sig)
	if r.Activity == nil {
		sig.Samples = nil
	}
}

// syncWorkspace copies what an agent wrote in its worktree into the task's folder, if it is not there already, and puts
// the commit of the worktree into the signal. It returns why the task's workspace is not the task's worktree, or "" if it
// is, or if the decision does not depend on it.
func (r *Runtime) syncWorkspace(ctx context.Context, def *workflow.Definition, t *task.Task, sig *signal.Signal) (broken string) {
	if r.TaskFileSync == nil {
		return ""
	}
	var commit string
	if t.Workspace != "" {
		var wrong error
		commit, wrong = r.TaskFileSync.SyncTaskFile(ctx, t)
		making := func(e task.Effect) bool { return e.Do == workflow.AcquireWorkspace }
		explained := sig.Kind == ""
		if wrong != nil && (explained || sig.WeighsEvidence()) && !isOver(def, t) && !slices.ContainsFunc(t.Pending, making) {
			return wrong.Error()
		}
	}
	if sig.WeighsEvidence() {
		sig.Commit = commit
	}
	return ""
}

// fromAttempt reports whether the signal is about the work of an attempt, so that the decision depends on what is in
// its workspace.
func fromAttempt(sig *signal.Signal) bool {
	switch sig.Kind {
	case signal.Exit, signal.Outcome:
		return true
	case signal.Request:
		return sig.Attempt > 0
	}
	return false
}

// gatherEvidence looks up the facts that the gates of the candidate edges need. It reads nothing from a broken
// workspace.
func (r *Runtime) gatherEvidence(ctx context.Context, def *workflow.Definition, t *task.Task, sig *signal.Signal, broken string) []signal.Evidence {
	if r.EvidenceSource == nil {
		return nil
	}
	var out []signal.Evidence
	p, _ := r.pool.findProject(t.Project)
	p = p.ForTask(t)
	for _, g := range neededGates(def, t, sig) {
		q := Question{Name: g.FactName(), Project: p, Task: t, Attempt: sig.Attempt, Gate: g}
		if sig.Kind == signal.Tracker && sig.Word == signal.PRMerged {
			q.Commit = sig.Arg
		}
		out = append(out, r.probeFact(ctx, q, broken))
	}
	if sig.Kind == signal.Request && sig.To == "" && sig.Verb == engine.VerbMerge { // the commit that is about to be merged, if any
		for _, name := range [...]string{workflow.Commits, workflow.Merged} {
			out = append(out, r.EvidenceSource.Probe(ctx, Question{Name: name, Project: p, Task: t}))
		}
	}
	if len(t.Unchanged) > 0 && measuresPaths(sig, out) {
		out = append(out, r.EvidenceSource.Probe(ctx, Question{Name: workflow.Unchanged, Project: p, Task: t}))
	}
	if sig.Kind == signal.Tracker && sig.Word == signal.PRClosed {
		out = append(out, r.probeFact(ctx, Question{Name: workflow.NothingLost, Project: p, Task: t, Commit: sig.Arg}, broken))
	}
	if rep := sig.Report; rep != nil && rep.Actions != nil && rep.Actions.Git != nil {
		out = append(out, r.EvidenceSource.Probe(ctx, Question{Name: workflow.ClaimsFact, Project: p, Task: t, Git: rep.Actions.Git}))
	}
	return out
}

// measuresPaths reports whether the record needs to know which paths the branch changes: where work is handed over or
// merged, and where a person approves the changes.
func measuresPaths(sig *signal.Signal, evidence []signal.Evidence) bool {
	return sig.Kind == signal.Request && sig.Verb == engine.VerbApproveChanges ||
		slices.ContainsFunc(evidence, func(e signal.Evidence) bool { return e.Name == workflow.Commits || e.Name == workflow.Merged })
}

// probeFact looks up one fact. The repository knows whether a branch has commits or is merged, the forge whether its checks
// passed; everything else is read from the workspace.
func (r *Runtime) probeFact(ctx context.Context, q Question, broken string) signal.Evidence {
	if broken != "" && q.Name != workflow.Merged && q.Name != workflow.Commits && q.Name != workflow.CI {
		return signal.Evidence{Name: q.Name, Detail: broken}
	}
	return r.EvidenceSource.Probe(ctx, q)
}

// answersReport reports whether an edge may respond to the report of an attempt.
func answersReport(sig *signal.Signal, e *workflow.Edge) bool {
	if r := sig.Report; r != nil && r.Protocol == signal.WorkerResult && r.Code != "" {
		return true // the engine chooses between the code and success or failure
	}
	word, _, _ := strings.Cut(sig.Word, ":") // a detail may follow the code
	if word = strings.TrimSpace(word); sig.Report != nil {
		word = sig.Report.Code
	}
	return word != "" && e.AnswersTo(workflow.OnOutcome, strings.ToUpper(word))
}

// neededGates lists the evidence that a decision about the signal may need. It leaves out edges that the signal cannot
// take, because each lookup runs a process.
func neededGates(def *workflow.Definition, t *task.Task, sig *signal.Signal) []*workflow.Gate {
	var out []*workflow.Gate
	for _, i := range def.EdgesFrom(t.Status) {
		e := &def.Edges[i]
		for _, i := range def.EdgeGates(e) {
			g := &def.Gates[i]
			known := slices.ContainsFunc(out, func(have *workflow.Gate) bool { return have.FactName() == g.FactName() })
			if g.FactName() != "" && concernsEdge(def, sig, e) && !known {
				out = append(out, g)
			}
		}
	}
	return out
}

func concernsEdge(def *workflow.Definition, sig *signal.Signal, e *workflow.Edge) bool {
	switch sig.Kind {
	case signal.Request:
		answer := sig.Verb == engine.VerbAnswer && (e.As == engine.Complete || e.As == "resume")
		_, rules := def.AsksForVerdict(e, sig.Arg)
		return sig.To != "" && def.LeadsTo(e, sig.To) || sig.To == "" && (e.As == sig.Verb || answer || sig.Verb == engine.VerbVerdict && rules)
	case signal.Tracker:
		return sig.CardSnapshot != nil && e.MatchesCard(sig.CardSnapshot) || e.AnswersTo(workflow.OnTracker, sig.Word)
	case signal.Outcome, signal.Exit:
		return sig.Kind == signal.Exit && (e.AnswersTo(workflow.OnExit, "") || sig.Check != nil && (e.AnswersTo(workflow.OnCheck, task.CheckPassed) || e.AnswersTo(workflow.OnCheck, task.CheckFailed))) || answersReport(sig, e)
	case signal.Timer:
		return e.AnswersTo(workflow.OnTimer, sig.Timer)
	case signal.Ready: // of a queue, of a card, or of a parent that waits for a workspace
		return e.AnswersTo(workflow.OnReady, "") || e.AnswersTo(workflow.OnTracker, engine.ChildMoved) ||
			slices.ContainsFunc(e.On, func(tr workflow.Trigger) bool { return tr.Kind == workflow.OnBoard })
	case "": // explain needs the evidence of every edge
		return true
	}
	return false
}
