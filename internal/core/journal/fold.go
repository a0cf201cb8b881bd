package journal

import (
	"cmp"
	"fmt"
	"slices"
	"time"

	"orange/internal/core/handoff"
	"orange/internal/core/signal"
	"orange/internal/core/task"
)

// Fold applies entries, in order, to their task.
func Fold(t task.Task, entries []Entry) (task.Task, error) {
	t = t.Clone()
	for i := range entries {
		if err := Apply(&t, &entries[i]); err != nil {
			return task.Task{}, err
		}
	}
	return t, nil
}

// Apply folds one entry into t, in place. It returns an error, and leaves t unchanged, if the entry does not follow t.
func Apply(t *task.Task, e *Entry) error {
	if e.Seq != t.Seq+1 || t.Seq > 0 && e.Task != t.ID {
		return fmt.Errorf("entry %d of task %s does not follow entry %d of task %s", e.Seq, e.Task, t.Seq, t.ID)
	}
	t.Seq = e.Seq
	t.UpdatedAt = e.At
	if e.New != nil {
		beginTask(t, e)
	}
	if e.To != "" {
		applyMove(t, e)
	}
	applyFields(t, e)
	applyPredecessors(t, e)
	setCounters(t, e.Counters)
	t.Opened = mergeDigests(t.Opened, e.Opened)
	applySamples(t, e)
	applyAttempts(t, e)
	if e.Receipt != nil {
		applyReceipt(t, e)
	}
	applyStop(t, e)
	for _, id := range e.Dropped {
		t.Pending = slices.DeleteFunc(t.Pending, func(p task.Effect) bool { return p.ID == id })
	}
	t.Pending = append(t.Pending, e.Effects...)
	applyLanding(t, e)
	applyWords(t, e)
	applyCheck(t, e)
	applyFlags(t, e)
	if t.WorkFailed == "" {
		t.Stopped = nil
	}
	return nil
}

// applyStop folds that a person stopped an agent, and the messages that it did not receive. A message to it that was given up
// needs no attention any more. The next agent of its role gets the messages; a move makes those about the state it leaves obsolete.
func applyStop(t *task.Task, e *Entry) {
	if e.Type == AgentStopped {
		if slices.ContainsFunc(t.Pending, func(p task.Effect) bool { return p.GivenUp && slices.Contains(e.Dropped, p.ID) }) {
			t.Attention, t.GaveUp = "", nil
		}
		if e.WorkFailed != "" && len(e.Ending) > 0 {
			t.Stopped, t.RespawnAt = &task.Stopped{Attempt: e.Ending[0], Role: e.Role, At: e.At}, time.Time{}
		}
	}
	t.Undelivered = slices.DeleteFunc(t.Undelivered, func(m task.Undelivered) bool {
		return m.Turn && e.To != "" || slices.ContainsFunc(e.Started, func(a task.Attempt) bool { return a.Role == m.Role })
	})
	t.Undelivered = append(t.Undelivered, e.Undelivered...)
	if len(t.Undelivered) == 0 {
		t.Undelivered = nil
	}
}

// applyCheck folds the check that runs or waits, and the result of one. A move ends the run.
func applyCheck(t *task.Task, e *Entry) {
	if e.To != "" || e.Type == CheckEnded || e.Type == CheckHeld || e.Type == LandingEnded || e.Type == LandingLeft || e.CheckRun != nil {
		t.CheckRun = e.CheckRun
	}
	if e.Type == CheckAsked {
		t.WorkFailed = ""
	}
	if r := e.Check; r != nil {
		t.CheckResults = slices.DeleteFunc(t.CheckResults, func(old task.CheckResult) bool { return old.Name == r.Name && old.OnCandidate() == r.OnCandidate() })
		t.CheckResults = append(t.CheckResults, *r)
	}
}

// applyLanding folds the candidate of a landing, or how the landing ended. A request for a merge begins another one.
func applyLanding(t *task.Task, e *Entry) {
	asked := false
	for i := range t.Pending {
		p := &t.Pending[i]
		if p.Do == task.MergeDo && p.Since.IsZero() {
			p.Since, asked = e.At, true
		}
		if p.Do == task.MergeDo && e.Type == LandingEnded {
			p.GivenUp, p.Error = true, e.Reason
		}
	}
	switch {
	case e.Landing != nil:
		t.Landing = e.Landing
	case t.Landing.InProgress() && t.MergeEffect() == nil, e.Type == LandingMoved, asked:
		t.Landing = nil
	}
}

func beginTask(t *task.Task, e *Entry) {
	n := e.New
	*t = task.Task{
		ID: e.Task, Project: n.Project, Branch: n.Branch, Summary: n.Summary, CreatedAt: e.At, UpdatedAt: e.At, Seq: e.Seq,
		Setup: task.Setup{
			Workflow: e.Workflow, WorkflowHash: e.WorkflowHash,
			Harness: n.Harness, ReviewHarness: n.ReviewHarness, Effort: n.Effort, ReviewEffort: n.ReviewEffort,
			Delivery: n.Delivery, Base: n.Base, BaseBranch: n.BaseBranch, Model: n.Model, ReviewModel: n.ReviewModel, AgentFlags: n.AgentFlags, Permissions: n.Permissions, ForkOf: n.ForkOf, Parent: n.Parent, Roles: n.Roles, Vars: n.Vars, Checks: n.Checks, Unchanged: n.Unchanged, After: n.After, StackOn: n.StackOn,
		},
		Resources: task.Resources{TrackerRef: n.TrackerRef, PRURL: n.PRURL, PRState: n.PRState, Workspace: n.Workspace},
	}
	if !n.CreatedAt.IsZero() {
		t.CreatedAt = n.CreatedAt
	}
}

func applyMove(t *task.Task, e *Entry) {
	t.Status = e.To
	t.Visit++
	t.Since = e.At
	t.ReturnTo, t.EntryCommit = e.ReturnTo, e.EntryCommit
	t.Seen, t.Samples = slices.Clone(e.Seen), nil
	t.Queued = false
	t.Crashed, t.StateReason = "", e.Reason
	t.WorkFailed = ""
	t.Unanswered, t.Answered, t.Unstarted = nil, nil, nil
	if e.Actor == task.Human || movedInTracker(t, e) { // a person's decision ends every cooldown
		t.Failed = nil
	}
	t.Attention, t.GaveUp = "", nil
	t.Asked = nil
	if e.Unpause {
		t.Paused, t.PauseReason, t.PauseCause = false, "", ""
	}
	t.RespawnAt = time.Time{}
	for i := range t.Attempts { // the last visit counts no more
		a := &t.Attempts[i]
		a.Credit, a.Nudged = 0, time.Time{}
		a.Done = slices.Contains(e.DoneAttempts, a.Number)
	}
	tryAgain(t)
}

// movedInTracker reports whether a person moved the task's issue. A forge's request names a verb.
func movedInTracker(t *task.Task, e *Entry) bool {
	return e.Actor == task.Tracker && e.Cause == string(signal.Request) && e.Verb == "" && max(t.Rules, e.Rules) >= 2
}

// tryAgain retries effects that were given up, or wait for another try.
func tryAgain(t *task.Task) {
	for i := range t.Pending {
		t.Pending[i].GivenUp = false
		t.Pending[i].Tries = 0
		t.Pending[i].NotBefore = time.Time{}
	}
}

func applyFields(t *task.Task, e *Entry) {
	if e.BindWorkspace != "" {
		t.Workspace = e.BindWorkspace
	}
	if e.UnbindWorkspace {
		t.Workspace, t.TmuxSession = "", ""
	}
	if e.Attention != "" {
		t.Attention, t.GaveUp = e.Attention, gaveUpBy(t, e)
	}
	if e.Type == TaskTampered {
		return
	}
	for _, f := range e.Fields {
		if p := fieldOf(t, f.Name); p != nil {
			*p = f.To
		}
		if f.Name == FieldAfter {
			t.After = task.SplitIDs(f.To)
		}
	}
}

// FieldAfter is the field that holds the tasks that a task is after, as task.JoinIDs writes them.
const FieldAfter = "after"

// applyPredecessors folds what became of the tasks that the task is after.
func applyPredecessors(t *task.Task, e *Entry) {
	if e.Predecessors != nil {
		t.Predecessors = slices.Clone(e.Predecessors)
	}
	if len(t.Predecessors) > 0 {
		t.Predecessors = slices.DeleteFunc(t.Predecessors, func(p task.Predecessor) bool { return !slices.Contains(t.After, p.ID) })
	}
	if len(t.Predecessors) == 0 {
		t.Predecessors = nil
	}
	if e.BindWorkspace == "" || t.Base != "" {
		return
	}
	for i := range t.Predecessors { // the branch of a stacked task begins with its first workspace
		if at := t.Predecessors[i].StartsAt(); at != "" {
			t.Base = at
		}
	}
}

// gaveUpBy returns the effect that an entry gives up, or nil.
func gaveUpBy(t *task.Task, e *Entry) *task.GaveUp {
	if e.GaveUp != nil || e.Type != EffectGaveUp || e.Receipt == nil {
		return e.GaveUp
	}
	at := slices.IndexFunc(t.Pending, func(p task.Effect) bool { return p.ID == e.Receipt.Effect })
	if at < 0 {
		return nil
	}
	return &task.GaveUp{Do: t.Pending[at].Do}
}

// fieldOf returns the field of the record that an update may set.
func fieldOf(t *task.Task, name string) *string {
	switch name {
	case "branch":
		return &t.Branch
	case "summary":
		return &t.Summary
	case "harness":
		return &t.Harness
	case "review_harness":
		return &t.ReviewHarness
	case "effort":
		return &t.Effort
	case "review_effort":
		return &t.ReviewEffort
	case "model":
		return &t.Model
	case "review_model":
		return &t.ReviewModel
	case "base_branch":
		return &t.BaseBranch
	case "pr_url":
		return &t.PRURL
	case "pr_state":
		return &t.PRState
	case "pr_ready":
		return &t.PRReady
	case "tracker":
		return &t.TrackerRef
	}
	return nil
}

// FieldValue returns the value of a field that an update may set.
func FieldValue(t *task.Task, name string) (string, bool) {
	if name == FieldAfter {
		return task.JoinIDs(t.After), true
	}
	p := fieldOf(t, name)
	if p == nil {
		return "", false
	}
	return *p, true
}

func setCounters(t *task.Task, changed []task.Counter) {
	for _, c := range changed {
		at := slices.IndexFunc(t.Counters, func(have task.Counter) bool { return have.Name == c.Name })
		if at < 0 {
			t.Counters = append(t.Counters, c)
			continue
		}
		t.Counters[at] = c
	}
}

func mergeDigests(have, changed []task.Digest) []task.Digest {
	for _, c := range changed {
		at := slices.IndexFunc(have, func(d task.Digest) bool { return d.Section == c.Section })
		if at < 0 {
			have = append(have, c)
			continue
		}
		have[at] = c
	}
	return have
}

// applySamples folds the samples of sections with verdicts, and that an agent was asked to state one by command. A move
// begins a new visit, which resets both.
func applySamples(t *task.Task, e *Entry) {
	if e.Type == AgentRestate {
		t.Restated = t.Visit
	}
	if e.To != "" {
		return
	}
	for _, s := range e.Samples {
		t.Samples = slices.DeleteFunc(t.Samples, func(have task.Sample) bool { return have.Section == s.Section })
		t.Samples = append(t.Samples, s)
	}
}

func applyAttempts(t *task.Task, e *Entry) {
	applyNotice(t, e)
	for _, n := range e.Ending {
		if at := attemptIndex(t, n); at >= 0 {
			t.Attempts[at].Ending = true
		}
	}
	for _, n := range e.Overdue {
		if at := attemptIndex(t, n); at >= 0 {
			t.Attempts[at].Overdue = true
		}
	}
	for _, gone := range e.Ended {
		t.Attempts = slices.DeleteFunc(t.Attempts, func(a task.Attempt) bool { return a.Number == gone.Number })
	}
	if e.Type == AgentCrashed {
		t.Crashed, t.StateReason = e.Role, e.Reason
	}
	switch e.Type {
	case AgentCrashed, AgentRespawn, AgentLimited, AgentSilent, AgentUndone, AgentRestate, AgentLost, AgentNotBegun, WorkFailed:
		t.RespawnAt = e.RespawnAt
	}
	applyLost(t, e)
	if l := e.Limit; l != nil {
		t.Limits = slices.DeleteFunc(t.Limits, func(old task.Limit) bool { return old.Choice == l.Choice || !old.Until.After(e.At) })
		t.Limits = append(t.Limits, *l)
	}
	applyUnstarted(t, e)
	if e.To != "" {
		t.RespawnAt = e.RespawnAt
	}
	if e.Unanswered != nil {
		t.Unanswered = e.Unanswered
	}
	for _, a := range e.Started {
		t.Attempts = append(t.Attempts, a)
		if e.CheckRun == nil { // a check costs no agent
			t.Spent = t.Spent.OnDay(e.At)
			t.Spent.DayAttempts++
		}
		countAttempt(t, a.Role)
		t.Crashed, t.WorkFailed, t.Unanswered = "", "", nil
		t.RespawnAt = time.Time{}
	}
	if len(t.Attempts) == 0 {
		t.Attempts = nil
	}
	for _, r := range e.AttemptCounts {
		t.AttemptCounts = slices.DeleteFunc(t.AttemptCounts, func(have task.AttemptTally) bool { return have.Role == r.Role })
		t.AttemptCounts = append(t.AttemptCounts, r)
	}
}

// LostKept is how many of the last mass deaths a record keeps.
const LostKept = 3

// applyLost folds when the task's agent ended together with others. A person who starts an agent or moves the task
// clears the list.
func applyLost(t *task.Task, e *Entry) {
	switch {
	case e.Actor == task.Human && (e.To != "" || len(e.Started) > 0):
		t.Lost = nil
	case e.Type == AgentLost:
		t.Lost = append(t.Lost, e.At)
		t.Lost = t.Lost[max(0, len(t.Lost)-LostKept):]
	}
}

// applyUnstarted folds how often the agent could not start. A start by a person resets the count, and so does any other
// end of the state's agent, which shows that it could start. Where another agent continues, the start has not failed
// yet.
func applyUnstarted(t *task.Task, e *Entry) {
	switch {
	case e.Actor == task.Human && len(e.Started) > 0:
		t.Unstarted = nil
	case e.Type == AgentCrashed, e.Type == AgentLost, e.Type == AgentLimited, e.Type == AgentSilent, e.Type == AgentUndone, e.Type == AgentRestate, e.Type == WorkFailed:
		t.Unstarted = nil
	case e.Type == AgentNotBegun && len(e.Started) == 0:
		u := task.Unstarted{Count: 1, Words: e.Reason}
		if t.Unstarted != nil {
			u.Count += t.Unstarted.Count
		}
		t.Unstarted = &u
	}
}

// applyNotice folds a notice about an attempt: its condition, its consumption, and that it was told to continue.
func applyNotice(t *task.Task, e *Entry) {
	number := e.Attempt
	if len(e.Ended) > 0 {
		number = e.Ended[0].Number
	}
	if at := attemptIndex(t, number); at >= 0 {
		a := &t.Attempts[at]
		if e.Condition != nil {
			a.Credit += waitedTime(t, a, e.At)
			a.Condition = *e.Condition
		}
		if e.Usage != nil {
			more := e.Usage.Minus(a.Usage)
			a.Usage = a.Usage.Plus(more)
			t.Spent = t.Spent.OnDay(e.At)
			t.Spent.Usage = t.Spent.Plus(more)
			t.Spent.DayCostMicroUSD += more.CostMicroUSD
		}
		a.Model = cmp.Or(e.Model, a.Model)
	}
	for _, n := range e.Nudged {
		if at := attemptIndex(t, n); at >= 0 {
			t.Attempts[at].Nudged = e.At
		}
	}
}

// waitedTime returns how long in this visit the attempt has waited for somebody else. Since RulesOfIdle an attempt
// whose turn ended waits too.
func waitedTime(t *task.Task, a *task.Attempt, now time.Time) time.Duration {
	if !a.Condition.IsBlocked() && (a.Condition.Name != task.Idle || t.Rules < RulesOfIdle) {
		return 0
	}
	since := a.Condition.Since
	if since.Before(t.Since) {
		since = t.Since
	}
	return max(0, now.Sub(since))
}

// RulesOfIdle is the version of the rules since which an agent whose turn ended in its own state waits for a person.
const RulesOfIdle = 2

func attemptIndex(t *task.Task, number int) int {
	return slices.IndexFunc(t.Attempts, func(a task.Attempt) bool { return a.Number == number })
}

func countAttempt(t *task.Task, role string) {
	for i := range t.AttemptCounts {
		if t.AttemptCounts[i].Role == role {
			t.AttemptCounts[i].Count++
			return
		}
	}
	t.AttemptCounts = append(t.AttemptCounts, task.AttemptTally{Role: role, Count: 1})
}

func applyReceipt(t *task.Task, e *Entry) {
	at := slices.IndexFunc(t.Pending, func(p task.Effect) bool { return p.ID == e.Receipt.Effect })
	if at < 0 {
		return
	}
	p := &t.Pending[at]
	p.Tries = e.Tries
	p.Error = e.Receipt.Error
	p.NotBefore = e.RetryAt
	switch e.Type {
	case LandingMoved:
		p.Moves++
	case EffectFailed, LandingBuilt:
	case EffectGaveUp, LandingEnded:
		p.GivenUp = true
	default:
		done := *p
		t.Pending = slices.Delete(t.Pending, at, at+1)
		if len(t.Pending) == 0 {
			t.Pending = nil
		}
		effectDone(t, &done, e.Receipt)
		if c := e.Receipt.Candidate; done.Do == task.MergeDo && c != nil {
			t.Landing = &task.Landing{Candidate: *c, Checked: true, Outcome: task.Landed, Since: e.At}
		}
	}
}

func effectDone(t *task.Task, p *task.Effect, r *signal.Receipt) {
	if r.Session != "" {
		t.TmuxSession = r.Session
	}
	if r.Base != "" && t.Work == nil {
		t.Work = &task.Work{Base: r.Base}
	}
	if r.Salvage != "" && !slices.Contains(t.Salvages, r.Salvage) {
		t.Salvages = append(t.Salvages, r.Salvage)
	}
	for _, folder := range r.Aside {
		if !slices.Contains(t.SetAside, folder) {
			t.SetAside = append(t.SetAside, folder)
		}
	}
	if at := attemptIndex(t, p.Attempt); at >= 0 {
		a := &t.Attempts[at]
		a.Running = a.Running || p.Start
		a.Model, a.PromptHash = cmp.Or(a.Model, r.Model), cmp.Or(a.PromptHash, r.PromptHash)
		a.Done = a.Done && p.Prompt == "" // the attempt got a message
	}
}

// applyWords folds the reports of agents, their handoffs, and the snapshot of the card.
func applyWords(t *task.Task, e *Entry) {
	t.Rules = max(t.Rules, e.Rules)
	applyAnswer(t, e)
	if e.LastReport != nil {
		t.LastReport = e.LastReport
	}
	if e.WorkFailed != "" {
		t.WorkFailed = e.WorkFailed
	}
	if e.Type == WorkFailed {
		t.Failed = slices.DeleteFunc(t.Failed, func(m task.Moment) bool { return m.State == t.Status })
		t.Failed = append(t.Failed, task.Moment{State: t.Status, At: e.At})
	}
	if h := e.Handover; h != nil {
		t.Handover = h
		if len(h.Missing) == 0 && !h.Nothing && h.Visit == 0 {
			t.Handover = nil
		}
	}
	if e.Snapshot != nil {
		applyWork(t, e)
	}
	if h := e.Handoff; h != nil {
		t.Handoffs = slices.DeleteFunc(t.Handoffs, func(old handoff.Handoff) bool { return old.From == h.From && old.To == h.To })
		t.Handoffs = append(t.Handoffs, *h)
	}
	if e.To != "" {
		t.Question, t.Advice = e.Question, e.Advice
	}
	if e.CardSnapshot != nil {
		t.CardSnapshot = e.CardSnapshot
	}
}

// VerbAnswer is the verb of a request that answers an agent.
const VerbAnswer = "answer"

// applyAnswer folds who answered an agent.
func applyAnswer(t *task.Task, e *Entry) {
	if t.Rules < RulesOfIdle || e.Verb != VerbAnswer || e.To == "" && e.Type != AgentAnswered {
		return
	}
	t.Answered = &task.Answered{By: e.Actor, At: e.At}
	if e.Via != nil {
		t.Answered.Via = e.Via.String()
	}
}

// Names of the evidence for a task's commits, as workflows use them.
const (
	factCommits = "commits"
	factMerged  = "merged"

	factUnchanged = "unchanged"
)

// applyWork folds which commits are the task's, that they are merged, and which paths they change that need a person.
func applyWork(t *task.Task, e *Entry) {
	for i := range e.Snapshot.Evidence {
		switch ev := &e.Snapshot.Evidence[i]; {
		case ev.Name == factUnchanged:
			t.ProtectedChanges = ev.Changes
		case !ev.Holds || ev.Base == "" || ev.Head == "" || ev.Head == ev.Base:
		case ev.Name == factCommits:
			t.Work = &task.Work{Base: ev.Base, Head: ev.Head}
		case ev.Name == factMerged && e.To != "":
			t.Work = &task.Work{Base: ev.Base, Head: ev.Head, Landed: true}
		}
	}
}

func applyFlags(t *task.Task, e *Entry) {
	switch e.Type {
	case TaskQueued:
		t.Queued = true
	case TaskPaused:
		t.Paused, t.PauseReason, t.PauseCause = true, e.Reason, e.PauseCause
	case TaskResumed:
		t.Paused, t.PauseReason, t.PauseCause = false, "", ""
		t.Attention, t.GaveUp = "", nil
		tryAgain(t)
		for i := range t.Attempts { // a deadline does not count the time of a pause
			t.Attempts[i].Since = e.At
		}
	case TaskDeleted:
		t.Deleted = true
	case EffectAsked:
		t.Attention, t.GaveUp = "", nil
		tryAgain(t)
	case AskedPerson:
		t.Asked = e.Asked
	case ChangesApproved:
		t.ApprovedChanges = e.Approved
	}
}
