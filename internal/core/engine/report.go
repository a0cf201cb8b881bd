package engine

import (
	"crypto/sha256"
	"encoding/hex"
	"fmt"
	"slices"
	"strings"

	"orange/internal/core/journal"
	"orange/internal/core/signal"
	"orange/internal/core/task"
	"orange/internal/core/workflow"
	"orange/internal/view/humanize"
)

// decideOnOutcome handles a report by a living attempt.
func (d *decider) decideOnOutcome() Verdict {
	role := string(d.sig.Actor)
	if a, ok := d.t.AttemptByNumber(d.sig.Attempt); ok {
		role = a.Role
	}
	if d.isRepeatedReport(d.sig.Attempt) {
		return Stay
	}
	if v, ok := d.takeReportedEdge(d.newEntry(journal.AutoAdvanced), role, d.sig.Attempt); ok {
		return v
	}
	if d.sig.Verb == VerbReport {
		return d.refuseReport()
	}
	return d.answerUncounted()
}

// isRepeatedReport reports whether this same message moved the task to its present state.
func (d *decider) isRepeatedReport(attempt int) bool {
	old := d.t.LastReport
	return old != nil && old.Attempt == attempt && old.Visit < d.t.Visit && old.Message != "" && old.Message == messageFingerprint(d.sig.Final)
}

// answerUncounted handles the end of a turn of a living agent whose report does not count. The agent is told why; at
// the limit of no answers the task takes the edge for that limit.
func (d *decider) answerUncounted() Verdict {
	s, _ := d.def.StateNamed(d.t.Status)
	a, live := d.t.AttemptByNumber(d.sig.Attempt)
	c := d.def.SilenceCounter()
	if len(d.undone) > 0 && live && !a.Ending && s.Kind == workflow.Agent && a.Role == s.Role && d.t.WorkFailed == "" && d.undeliveredMessage(a.Number) == nil {
		return d.askToFinish(s, a, nil)
	}
	if c == nil || d.sig.Report == nil || !live || a.Ending || s.Kind != workflow.Agent || a.Role != s.Role || string(d.sig.Actor) != a.Role || d.t.WorkFailed != "" {
		return Stay
	}
	if p := d.undeliveredMessage(a.Number); p != nil && (p.Prompt == workflow.MessageFinish || len(d.undone) > 0) { // a message to it is pending, and it may report after that
		return Stay
	}
	why := "its word does not count"
	if r := nearestReason(d.reasons); r != nil {
		why += ": " + r.Text
	}
	e := d.newEntry(journal.AgentSilent)
	e.Role, e.From, e.Reason = a.Role, d.t.Status, d.whatWasSeen(why)
	return d.askAgain(s, c, a, e)
}

// attemptReport returns the report of the attempt. A signal with only a word becomes a report with that word.
func (d *decider) attemptReport() *signal.Report {
	if d.sig.Report != nil || d.sig.Kind != signal.Outcome || d.sig.Word == "" {
		return d.sig.Report
	}
	code, detail, _ := strings.Cut(d.sig.Word, ":")
	r := &signal.Report{Code: strings.TrimSpace(code), Detail: strings.TrimSpace(detail), Source: signal.FromVerb}
	switch {
	case d.sig.Verb != VerbReport:
	case strings.HasPrefix(strings.ToUpper(r.Code), "FAIL"):
		r.Outcome = signal.Failed
	default:
		r.Outcome = signal.Passed
	}
	return r
}

// takeReportedEdge takes the edge for an attempt's report, if there is one. It compares the code in upper case. If the
// edge does not open, the report has no effect: decided is false, and the reasons say why.
func (d *decider) takeReportedEdge(begun journal.Entry, role string, attempt int) (v Verdict, decided bool) {
	r := d.attemptReport()
	if r == nil || r.Code == "" || d.isRepeatedReport(attempt) {
		return "", false
	}
	begun.LastReport = d.newLastReport(r, role, attempt)
	kind, value := d.reportTrigger(r)
	found, first := false, len(d.reasons)
	for _, i := range d.def.EdgesFrom(d.t.Status) {
		e := &d.def.Edges[i]
		if !e.AnswersTo(kind, value) {
			continue
		}
		found = true
		if !d.mayReport(e, role) || !d.checkConsultResume(e, r, role) || !d.checkReportProof(e, r) || !d.checkGuard(e) || !d.checkGates(e) {
			continue
		}
		return d.followReport(begun, e, r), true
	}
	if found && kind == workflow.OnOutcome {
		return "", false
	}
	text := d.describeUnanswered(kind, value)
	if found {
		text = nearestReason(d.reasons[first:]).Text
	}
	d.reasons = append(d.reasons, Reason{From: d.t.Status, Rule: RuleEdge, Text: text})
	if d.sig.Verb == VerbReport { // its agent lives, and can report again
		return "", false
	}
	return d.takeUnexpectedEdge(begun, role, r, text)
}

// reportTrigger returns the trigger that a report fires. A worker's own code counts where an edge names it; elsewhere the
// report is a success or a failure. A failed report consults nobody.
func (d *decider) reportTrigger(r *signal.Report) (workflow.TriggerKind, string) {
	code := strings.ToUpper(clipWords(r.Code))
	if r.Protocol == signal.WorkerResult && (code == success || code == failure) {
		code = "" // only Success says which
	}
	if r.Consult != nil && r.Outcome != signal.Failed {
		return workflow.OnConsult, clipWords(r.Consult.Role)
	}
	switch {
	case r.Protocol != signal.WorkerResult, code != "" && d.namesOutcome(code):
		return workflow.OnOutcome, code
	case r.Outcome == signal.Failed:
		return workflow.OnOutcome, failure
	}
	return workflow.OnOutcome, success
}

// Trigger words for a worker's result without a code.
const (
	success = "SUCCESS"
	failure = "FAILURE"
)

func (d *decider) namesOutcome(code string) bool {
	return slices.ContainsFunc(d.def.EdgesFrom(d.t.Status), func(i int) bool { return d.def.Edges[i].AnswersTo(workflow.OnOutcome, code) })
}

// mayReport checks that the role may report for the edge.
func (d *decider) mayReport(e *workflow.Edge, role string) bool {
	s, _ := d.def.StateNamed(d.t.Status)
	switch {
	case len(e.By) == 0 && s.Role == "" && d.sig.Actor != "":
		return d.addReason(e, RuleActor, false, fmt.Sprintf("%s has no role, and the edge does not say in by: whose word it answers to", d.t.Status))
	case len(e.By) == 0 && s.Role != role && d.sig.Actor != "":
		return d.addReason(e, RuleActor, false, fmt.Sprintf("%s is the %s's, not the %s's", d.t.Status, s.Role, role))
	case d.sig.Kind == signal.Exit:
		return len(e.By) == 0 || d.checkActor(e, task.Actor(role))
	}
	return (len(e.By) == 0 || d.checkActor(e, d.sig.Actor)) && d.checkRequester(e)
}

// checkConsultResume checks that the requester of advice can continue with it.
func (d *decider) checkConsultResume(e *workflow.Edge, r *signal.Report, role string) bool {
	if r.Consult == nil || r.Consult.Resume.Role == "" || r.Consult.Resume.Role == role {
		return true
	}
	return d.addReason(e, RuleActor, false, fmt.Sprintf("resume_as names the %s, and the %s asks", clipWords(r.Consult.Resume.Role), role))
}

// continuesIn returns the state in which a task continues after the state that the edge leads to: its present state, or,
// for a role that requests advice, the state of that role with the requested mode.
func (d *decider) continuesIn(e *workflow.Edge) string {
	r := d.attemptReport()
	here, ok := d.def.StateNamed(d.t.Status)
	if !ok || r == nil || r.Consult == nil || d.sig.Rules < 2 || !e.AnswersTo(workflow.OnConsult, r.Consult.Role) {
		return d.t.Status
	}
	for i := range d.def.States {
		if s := &d.def.States[i]; s.Kind == workflow.Agent && s.Role == here.Role && s.Mode != "" && strings.EqualFold(s.Mode, r.Consult.Resume.Mode) && !s.Returns {
			return s.Name
		}
	}
	return d.t.Status
}

// checkReportProof requires proof of a report's origin before it leads to a merge: an agent that repeats what others
// wrote also repeats their reports.
func (d *decider) checkReportProof(e *workflow.Edge, r *signal.Report) bool {
	if r.Unproven && d.def.LeadsToMerge(e) {
		return d.addReason(e, RuleGate, false, "the mark is missing: a merge can follow, so the report needs the nonce that the prompt gave")
	}
	guess := r.Source == signal.FromHeuristic || r.Source == signal.FromLegacy
	asks := slices.ContainsFunc(d.def.EdgeGates(e), func(g int) bool { return d.def.Gates[g].Evidence == workflow.Merged })
	if guess && (asks || d.def.MergesAtOnce(e)) {
		return d.addReason(e, RuleGate, false, "words that usually mean it are not enough for a merge: say it in the form that was asked for")
	}
	return true
}

// takeUnexpectedEdge handles a code that no edge of the state names, or a question that may not be asked. why says
// which.
func (d *decider) takeUnexpectedEdge(begun journal.Entry, role string, r *signal.Report, why string) (Verdict, bool) {
	for _, i := range d.def.EdgesFrom(d.t.Status) {
		e := &d.def.Edges[i]
		if !e.AnswersTo(workflow.OnUnexpected, "") || !d.mayReport(e, role) || !d.checkGuard(e) {
			continue
		}
		begun.Reason = fmt.Sprintf("UNEXPECTED: %s says %s, and %s", role, clipWords(r.Code), why)
		begun.LastReport.Diagnosis = clipWords(begun.Reason)
		return d.followReport(begun, e, r), true
	}
	return "", false
}

// followReport takes an edge because of an attempt's report.
func (d *decider) followReport(begun journal.Entry, e *workflow.Edge, r *signal.Report) Verdict {
	if begun.Reason == "" {
		begun.Reason = begun.LastReport.Role + " says " + d.reportLine(r)
	}
	if r.Handoff != nil && r.Handoff.From == begun.LastReport.Role && len(r.Handoff.Check()) == 0 {
		begun.Handoff = r.Handoff
	}
	if e.Hold {
		return d.holdFailedWork(begun, e)
	}
	switch {
	case r.Consult != nil && e.AnswersTo(workflow.OnConsult, r.Consult.Role):
		begun.Question = describeConsult(r.Consult, begun.LastReport.Role)
	case d.t.Question != "":
		begun.Advice = describeAdvice(r, begun.LastReport.Role)
	}
	v := Advance
	if s, _ := d.def.StateNamed(e.To); s.Kind == workflow.Halt {
		v = Halt
		if d.sig.Verb == VerbReport && r.Outcome == signal.Passed && d.sig.Rules >= 1 { // for a code, the edge decides the outcome
			begun.LastReport.Outcome = string(signal.Halted)
		}
	}
	return d.takeEdgeWith(begun, e, v)
}

// reportLine returns a report in one line: its code and the text with it, or the last text before it.
func (d *decider) reportLine(r *signal.Report) string {
	detail := r.Detail
	if detail == "" && r.Outcome == signal.Failed {
		detail = lastSentence(d.sig.Final)
	}
	text := clipWords(r.Code)
	if detail != "" {
		text += ": " + clipWords(detail)
	}
	return text
}

// lastSentence returns the last line of a message that is not a comment.
func lastSentence(text string) string {
	lines := strings.Split(text, "\n")
	for _, line := range slices.Backward(lines) {
		if line = strings.TrimSpace(line); line != "" && !strings.HasPrefix(line, "<!--") {
			return line
		}
	}
	return ""
}

// newLastReport returns what the record keeps of a report.
func (d *decider) newLastReport(r *signal.Report, role string, attempt int) *task.LastReport {
	return &task.LastReport{
		Role: role, State: d.t.Status, Attempt: attempt, Visit: d.t.Visit, Outcome: string(r.Outcome), Code: clipWords(r.Code),
		Detail: clipWords(r.Detail), Source: string(r.Source), Diagnosis: clipWords(r.Diagnosis), At: d.sig.At,
		Message: messageFingerprint(d.sig.Final),
	}
}

// messageFingerprint returns a fingerprint of a message, or "" for no message.
func messageFingerprint(text string) string {
	if text == "" {
		return ""
	}
	sum := sha256.Sum256([]byte(text))
	return hex.EncodeToString(sum[:8])
}

// holdFailedWork keeps the task in its state because the work failed and a person must decide. The agent is not
// replaced automatically.
func (d *decider) holdFailedWork(e journal.Entry, edge *workflow.Edge) Verdict {
	e.Type, e.From, e.Edge, e.Line = journal.WorkFailed, d.t.Status, edge.Number(), edge.Pos.Line
	e.WorkFailed, e.Role = e.Reason, e.LastReport.Role
	for _, c := range d.changedCounters(edge) {
		if slices.ContainsFunc(edge.Count, func(op workflow.CountOp) bool { return op.Counter == c.Name }) {
			e.Counters = append(e.Counters, c)
		}
	}
	p := d.newPlan(&e)
	p.endOldAgent(edge)
	p.addEffects(edge.Do, task.ByEdge)
	d.addReason(edge, RuleEdge, true, "held")
	return d.finishWith(e, Stay)
}

// countSilence handles the end of an agent that did not report. The first time the agent is asked to report, in the
// same conversation; then the work is tried again; at the limit the no-answer-limit edge is taken.
func (d *decider) countSilence(s *workflow.State, c *workflow.Counter, a task.Attempt, why string) Verdict {
	e := d.newEntry(journal.AgentSilent)
	e.Ended, e.Role, e.From, e.Reason = []journal.Ended{{Number: a.Number, Role: a.Role, Code: d.sig.Code}}, a.Role, d.t.Status, why
	return d.askAgain(s, c, a, e)
}

// askAgain counts the end of an agent or of a turn without an answer, and asks for one.
func (d *decider) askAgain(s *workflow.State, c *workflow.Counter, a task.Attempt, e journal.Entry) Verdict {
	e.LastReport = &task.LastReport{Role: a.Role, State: d.t.Status, Attempt: a.Number, Visit: d.t.Visit, At: d.sig.At}
	if d.sig.Report != nil {
		e.LastReport = d.newLastReport(d.sig.Report, a.Role, a.Number)
	}
	e.LastReport.Diagnosis = clipWords(e.Reason)
	n := d.t.CounterValue(c.Name) + 1
	e.Counters = []task.Counter{{Name: c.Name, Value: n, Total: d.counterTotal(c.Name) + 1}}
	p := d.newPlan(&e)
	if n == 1 {
		p.commentAsOrange(d.silenceRemark(a.Role, e.Reason))
	}
	if n >= c.Max {
		return d.silenceLimit(e, n, c.Max)
	}
	switch {
	case len(e.Ended) == 0:
		p.said = e.Reason
		p.addEffect(workflow.Effect{Name: workflow.NotifyName(s.Role), Role: s.Role, Message: workflow.MessageState}, task.ByState)
	case n == 1:
		p.said = e.Reason
		p.addEffect(workflow.Effect{Name: workflow.SpawnName(s.Role), Role: s.Role, Message: workflow.MessageState}, task.ByState)
	default:
		e.RespawnAt = d.sig.At.Add(respawnDelay(n - 1))
	}
	return d.finishWith(e, Stay)
}

func (d *decider) silenceLimit(e journal.Entry, n, limit int) Verdict {
	return d.atLimit(e, workflow.OnSilence, Stay, fmt.Sprintf("no answer %d of %d in %s", n, limit, d.t.Status))
}

// silenceRemark returns the comment for the board when an agent did not report.
func (d *decider) silenceRemark(role, why string) string {
	r, _ := d.def.RoleNamed(role)
	if r.Protocol == "" {
		return fmt.Sprintf("The %s ended, and nothing says that its part is done. The status was NOT updated.\n\nWhat was seen: %s", role, why)
	}
	text := fmt.Sprintf("The %s completed, but %s. The status was NOT updated.\n", role, d.uncountedReason())
	if r.Protocol == string(signal.WorkResult) {
		text += "It should have ended with exactly one of these lines:\n\n    <!-- WORK_RESULT:passed -->\n    <!-- WORK_RESULT:failed -->\n"
	}
	return text + "\nWhat was seen: " + why
}

// uncountedReason returns why an agent's report moves nothing.
func (d *decider) uncountedReason() string {
	switch r := d.attemptReport(); {
	case r == nil || d.sig.Rules < 2:
	case r.Outcome == signal.Ambiguous:
		return "the results in its output contradict each other"
	case r.Code != "":
		return "its result " + clipWords(r.Code) + " does not count"
	case r.Diagnosis != "":
		return "no structured result marker that counts was detected in its output"
	}
	return "no structured result marker was detected in its output"
}

// describeConsult describes what a role is consulted about.
func describeConsult(c *signal.Consult, by string) string {
	var b strings.Builder
	fmt.Fprintf(&b, "The %s asks (%s): %s\n", by, clipWords(c.Mode), clipWords(c.Context.Reason))
	if c.Context.Question != "" {
		fmt.Fprintf(&b, "Question: %s\n", clipWords(c.Context.Question))
	}
	list := func(title string, items []string) {
		if len(items) > 0 {
			fmt.Fprintf(&b, "%s: %s\n", title, clipWords(strings.Join(items, ", ")))
		}
	}
	list("Files", c.Context.Files)
	if d := c.Context.Conflict; d != nil {
		list("Files in conflict", d.Files)
		fmt.Fprintf(&b, "On the default branch: %s\nOn this branch: %s\n", clipWords(d.Develop), clipWords(d.Feature))
	}
	fmt.Fprintf(&b, "With your advice the %s goes on (%s).", clipWords(c.Resume.Role), clipWords(c.Resume.Mode))
	return b.String()
}

// describeAdvice describes the answer of a role that was consulted.
func describeAdvice(r *signal.Report, by string) string {
	text := "The " + by + " answers: " + clipWords(r.Detail)
	if r.Actions != nil && r.Actions.Comment != "" {
		text += "\n" + humanize.Prefix(r.Actions.Comment, 4096)
	}
	return text
}
