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
)

// outcome is what a living attempt says about its work.
func (x *decider) outcome() Verdict {
	role := string(x.sig.Actor)
	if a, ok := x.t.AttemptByNumber(x.sig.Attempt); ok {
		role = a.Role
	}
	if x.heardBefore(x.sig.Attempt) {
		return Stay
	}
	if v, ok := x.said(x.entry(journal.AutoAdvanced), role, x.sig.Attempt); ok {
		return v
	}
	if x.sig.Verb == VerbReport {
		return x.refuseReport()
	}
	return x.unheard()
}

// heardBefore says that this very message moved the task to where it is.
func (x *decider) heardBefore(attempt int) bool {
	old := x.t.Said
	return old != nil && old.Attempt == attempt && old.Visit < x.t.Visit && old.Message != "" && old.Message == fingerprint(x.sig.Final)
}

// unheard is the end of a turn of a living agent that said how it went, only not so that
// it counts. It is told why; at the bound of no answers the task goes where those lead.
func (x *decider) unheard() Verdict {
	s, _ := x.def.State(x.t.Status)
	a, live := x.t.AttemptByNumber(x.sig.Attempt)
	c := x.def.SilenceCounter()
	if len(x.undone) > 0 && live && !a.Ending && s.Kind == workflow.Agent && a.Role == s.Role && x.t.Held == "" && x.untold(a.Number) == nil {
		return x.finish(s, a, nil)
	}
	if c == nil || x.sig.Report == nil || !live || a.Ending || s.Kind != workflow.Agent || a.Role != s.Role || string(x.sig.Actor) != a.Role || x.t.Held != "" {
		return Stay
	}
	if p := x.untold(a.Number); p != nil && (p.Prompt == workflow.MessageFinish || len(x.undone) > 0) { // it is told already, and may answer then
		return Stay
	}
	why := "its word does not count"
	if r := nearest(x.reasons); r != nil {
		why += ": " + r.Text
	}
	e := x.entry(journal.AgentSilent)
	e.Role, e.From, e.Reason = a.Role, x.t.Status, x.whatWasSeen(why)
	return x.askAgain(s, c, a, e)
}

// report is what the attempt said. A signal with a bare word is one that says just that.
func (x *decider) report() *signal.Report {
	if x.sig.Report != nil || x.sig.Kind != signal.Outcome || x.sig.Word == "" {
		return x.sig.Report
	}
	code, detail, _ := strings.Cut(x.sig.Word, ":")
	r := &signal.Report{Code: strings.TrimSpace(code), Detail: strings.TrimSpace(detail), Source: signal.FromVerb}
	switch {
	case x.sig.Verb != VerbReport:
	case strings.HasPrefix(strings.ToUpper(r.Code), "FAIL"):
		r.Outcome = signal.Failed
	default:
		r.Outcome = signal.Passed
	}
	return r
}

// said takes the edge that answers to what an attempt said, if one does. Its word is
// looked up in upper case. An edge that answers and does not open leaves the word
// without effect: decided is false, and the reasons say why.
func (x *decider) said(begun journal.Entry, role string, attempt int) (v Verdict, decided bool) {
	r := x.report()
	if r == nil || r.Code == "" || x.heardBefore(attempt) {
		return "", false
	}
	begun.Said = x.saying(r, role, attempt)
	kind, value := x.lookedUp(r)
	found, first := false, len(x.reasons)
	for _, i := range x.def.EdgesFrom(x.t.Status) {
		e := &x.def.Edges[i]
		if !e.Answers(kind, value) {
			continue
		}
		found = true
		if !x.mayReport(e, role) || !x.resumes(e, r, role) || !x.trusts(e, r) || !x.guard(e) || !x.gates(e) {
			continue
		}
		return x.follow(begun, e, r), true
	}
	if found && kind == workflow.OnOutcome {
		return "", false
	}
	text := x.unanswered(kind, value)
	if found {
		text = nearest(x.reasons[first:]).Text
	}
	x.reasons = append(x.reasons, Reason{From: x.t.Status, Rule: RuleEdge, Text: text})
	if x.sig.Verb == VerbReport { // its agent lives, and can say it once more
		return "", false
	}
	return x.unexpected(begun, role, r, text)
}

// lookedUp is what edges are asked for. A worker's own word for its result counts where
// an edge names it; elsewhere it is a success or a failure. Who failed asks nobody.
func (x *decider) lookedUp(r *signal.Report) (workflow.TriggerKind, string) {
	code := strings.ToUpper(clip(r.Code))
	if r.Protocol == signal.WorkerResult && (code == success || code == failure) {
		code = "" // whether it is one, success alone says
	}
	if r.Consult != nil && r.Outcome != signal.Failed {
		return workflow.OnConsult, clip(r.Consult.Role)
	}
	switch {
	case r.Protocol != signal.WorkerResult, code != "" && x.named(code):
		return workflow.OnOutcome, code
	case r.Outcome == signal.Failed:
		return workflow.OnOutcome, failure
	}
	return workflow.OnOutcome, success
}

// What edges call a worker's result that has no word of its own.
const (
	success = "SUCCESS"
	failure = "FAILURE"
)

func (x *decider) named(code string) bool {
	return slices.ContainsFunc(x.def.EdgesFrom(x.t.Status), func(i int) bool { return x.def.Edges[i].Answers(workflow.OnOutcome, code) })
}

// mayReport weighs whose word it is.
func (x *decider) mayReport(e *workflow.Edge, role string) bool {
	s, _ := x.def.State(x.t.Status)
	switch {
	case len(e.By) == 0 && s.Role == "" && x.sig.Actor != "":
		return x.note(e, RuleActor, false, fmt.Sprintf("%s has no role, and the edge does not say in by: whose word it answers to", x.t.Status))
	case len(e.By) == 0 && s.Role != role && x.sig.Actor != "":
		return x.note(e, RuleActor, false, fmt.Sprintf("%s is the %s's, not the %s's", x.t.Status, s.Role, role))
	case x.sig.Kind == signal.Exit:
		return len(e.By) == 0 || x.permits(e, task.Actor(role))
	}
	return (len(e.By) == 0 || x.permits(e, x.sig.Actor)) && x.speaks(e)
}

// resumes makes sure that who asks for advice goes on with it.
func (x *decider) resumes(e *workflow.Edge, r *signal.Report, role string) bool {
	if r.Consult == nil || r.Consult.Resume.Role == "" || r.Consult.Resume.Role == role {
		return true
	}
	return x.note(e, RuleActor, false, fmt.Sprintf("resume_as names the %s, and the %s asks", clip(r.Consult.Resume.Role), role))
}

// goesOnIn is where a task goes on after the state that the edge leads to: where it is, or, for who asks for advice, in the
// state of its role with the mode it asks for.
func (x *decider) goesOnIn(e *workflow.Edge) string {
	r := x.report()
	here, ok := x.def.State(x.t.Status)
	if !ok || r == nil || r.Consult == nil || x.sig.Rules < 2 || !e.Answers(workflow.OnConsult, r.Consult.Role) {
		return x.t.Status
	}
	for i := range x.def.States {
		if s := &x.def.States[i]; s.Kind == workflow.Agent && s.Role == here.Role && s.Mode != "" && strings.EqualFold(s.Mode, r.Consult.Resume.Mode) && !s.Returns {
			return s.Name
		}
	}
	return x.t.Status
}

// trusts asks for proof of where a report comes from before anything is merged because of
// it: an agent that repeats what others wrote repeats their reports too.
func (x *decider) trusts(e *workflow.Edge, r *signal.Report) bool {
	if r.Unproven && x.def.LeadsToMerge(e) {
		return x.note(e, RuleGate, false, "the mark is missing: a merge can follow, so the report needs the nonce that the prompt gave")
	}
	guess := r.Source == signal.FromHeuristic || r.Source == signal.FromLegacy
	asks := slices.ContainsFunc(x.def.EdgeGates(e), func(g int) bool { return x.def.Gates[g].Evidence == workflow.Merged })
	if guess && (asks || x.def.MergesAtOnce(e)) {
		return x.note(e, RuleGate, false, "words that usually mean it are not enough for a merge: say it in the form that was asked for")
	}
	return true
}

// unexpected is a word that no edge of the state names, or a question that may not be
// asked. Why says which.
func (x *decider) unexpected(begun journal.Entry, role string, r *signal.Report, why string) (Verdict, bool) {
	for _, i := range x.def.EdgesFrom(x.t.Status) {
		e := &x.def.Edges[i]
		if !e.Answers(workflow.OnUnexpected, "") || !x.mayReport(e, role) || !x.guard(e) {
			continue
		}
		begun.Reason = fmt.Sprintf("UNEXPECTED: %s says %s, and %s", role, clip(r.Code), why)
		begun.Said.Diagnosis = clip(begun.Reason)
		return x.follow(begun, e, r), true
	}
	return "", false
}

// follow takes an edge because of what an attempt said.
func (x *decider) follow(begun journal.Entry, e *workflow.Edge, r *signal.Report) Verdict {
	if begun.Reason == "" {
		begun.Reason = begun.Said.Role + " says " + x.wordsOf(r)
	}
	if r.Handoff != nil && r.Handoff.From == begun.Said.Role && len(r.Handoff.Check()) == 0 {
		begun.Handoff = r.Handoff
	}
	if e.Hold {
		return x.hold(begun, e)
	}
	switch {
	case r.Consult != nil && e.Answers(workflow.OnConsult, r.Consult.Role):
		begun.Question = consultation(r.Consult, begun.Said.Role)
	case x.t.Question != "":
		begun.Advice = advice(r, begun.Said.Role)
	}
	v := Advance
	if s, _ := x.def.State(e.To); s.Kind == workflow.Halt {
		v = Halt
		if x.sig.Verb == VerbReport && r.Outcome == signal.Passed && x.sig.Rules >= 1 { // what a code comes to, its edge says
			begun.Said.Outcome = string(signal.Halted)
		}
	}
	return x.takeWith(begun, e, v)
}

// wordsOf is a report in one line: its code and what was said with it, or last before it.
func (x *decider) wordsOf(r *signal.Report) string {
	detail := r.Detail
	if detail == "" && r.Outcome == signal.Failed {
		detail = lastSentence(x.sig.Final)
	}
	text := clip(r.Code)
	if detail != "" {
		text += ": " + clip(detail)
	}
	return text
}

// lastSentence is the last line of a message that is no comment in it.
func lastSentence(text string) string {
	lines := strings.Split(text, "\n")
	for _, line := range slices.Backward(lines) {
		if line = strings.TrimSpace(line); line != "" && !strings.HasPrefix(line, "<!--") {
			return line
		}
	}
	return ""
}

// saying is what the record keeps of a report.
func (x *decider) saying(r *signal.Report, role string, attempt int) *task.Said {
	return &task.Said{
		Role: role, State: x.t.Status, Attempt: attempt, Visit: x.t.Visit, Outcome: string(r.Outcome), Code: clip(r.Code),
		Detail: clip(r.Detail), Source: string(r.Source), Diagnosis: clip(r.Diagnosis), At: x.sig.At,
		Message: fingerprint(x.sig.Final),
	}
}

// fingerprint tells one message from another, "" for none.
func fingerprint(text string) string {
	if text == "" {
		return ""
	}
	sum := sha256.Sum256([]byte(text))
	return hex.EncodeToString(sum[:8])
}

// hold keeps the task where it is: the work is not good, and a person looks. The agent
// is not replaced by itself.
func (x *decider) hold(e journal.Entry, edge *workflow.Edge) Verdict {
	e.Type, e.From, e.Edge, e.Line = journal.WorkFailed, x.t.Status, edge.Number(), edge.Pos.Line
	e.Held, e.Role = e.Reason, e.Said.Role
	for _, c := range x.counters(edge) {
		if slices.ContainsFunc(edge.Count, func(op workflow.CountOp) bool { return op.Counter == c.Name }) {
			e.Counters = append(e.Counters, c)
		}
	}
	p := x.plan(&e)
	p.leave(edge)
	p.all(edge.Do, task.ByEdge)
	x.note(edge, RuleEdge, true, "held")
	return x.last(e, Stay)
}

// silent is the end of an agent that did not say how it went. The first time it is
// asked to say it, in the same conversation; then the work is tried again; at the bound
// the no-answer-limit edge is taken.
func (x *decider) silent(s *workflow.State, c *workflow.Counter, a task.Attempt, why string) Verdict {
	e := x.entry(journal.AgentSilent)
	e.Ended, e.Role, e.From, e.Reason = []journal.Ended{{Number: a.Number, Role: a.Role, Code: x.sig.Code}}, a.Role, x.t.Status, why
	return x.askAgain(s, c, a, e)
}

// askAgain counts an end, or the end of a turn, without an answer, and asks for one.
func (x *decider) askAgain(s *workflow.State, c *workflow.Counter, a task.Attempt, e journal.Entry) Verdict {
	e.Said = &task.Said{Role: a.Role, State: x.t.Status, Attempt: a.Number, Visit: x.t.Visit, At: x.sig.At}
	if x.sig.Report != nil {
		e.Said = x.saying(x.sig.Report, a.Role, a.Number)
	}
	e.Said.Diagnosis = clip(e.Reason)
	n := x.t.Counter(c.Name) + 1
	e.Counters = []task.Counter{{Name: c.Name, Value: n, Total: x.total(c.Name) + 1}}
	p := x.plan(&e)
	if n == 1 {
		p.remark(x.silenceRemark(a.Role, e.Reason))
	}
	if n >= c.Max {
		return x.silenceLimit(e, n, c.Max)
	}
	switch {
	case len(e.Ended) == 0:
		p.said = e.Reason
		p.add(workflow.Effect{Name: workflow.NotifyName(s.Role), Role: s.Role, Message: workflow.MessageState}, task.ByState)
	case n == 1:
		p.said = e.Reason
		p.add(workflow.Effect{Name: workflow.SpawnName(s.Role), Role: s.Role, Message: workflow.MessageState}, task.ByState)
	default:
		e.Respawn = x.sig.At.Add(respawnDelay(n - 1))
	}
	return x.last(e, Stay)
}

func (x *decider) silenceLimit(e journal.Entry, n, limit int) Verdict {
	return x.atLimit(e, workflow.OnSilence, Stay, fmt.Sprintf("no answer %d of %d in %s", n, limit, x.t.Status))
}

// silenceRemark is what people on the board are told when an agent did not say how it went.
func (x *decider) silenceRemark(role, why string) string {
	r, _ := x.def.Role(role)
	if r.Protocol == "" {
		return fmt.Sprintf("The %s ended, and nothing says that its part is done. The status was NOT updated.\n\nWhat was seen: %s", role, why)
	}
	text := fmt.Sprintf("The %s completed, but %s. The status was NOT updated.\n", role, x.notHeard())
	if r.Protocol == string(signal.WorkResult) {
		text += "It should have ended with exactly one of these lines:\n\n    <!-- WORK_RESULT:passed -->\n    <!-- WORK_RESULT:failed -->\n"
	}
	return text + "\nWhat was seen: " + why
}

// notHeard says why what an agent said moves nothing.
func (x *decider) notHeard() string {
	switch r := x.report(); {
	case r == nil || x.sig.Rules < 2:
	case r.Outcome == signal.Ambiguous:
		return "the results in its output contradict each other"
	case r.Code != "":
		return "its result " + clip(r.Code) + " does not count"
	case r.Diagnosis != "":
		return "no structured result marker that counts was detected in its output"
	}
	return "no structured result marker was detected in its output"
}

// consultation is what a role is consulted about, in words.
func consultation(c *signal.Consult, by string) string {
	var b strings.Builder
	fmt.Fprintf(&b, "The %s asks (%s): %s\n", by, clip(c.Mode), clip(c.Context.Reason))
	if c.Context.Question != "" {
		fmt.Fprintf(&b, "Question: %s\n", clip(c.Context.Question))
	}
	list := func(title string, items []string) {
		if len(items) > 0 {
			fmt.Fprintf(&b, "%s: %s\n", title, clip(strings.Join(items, ", ")))
		}
	}
	list("Files", c.Context.Files)
	if d := c.Context.Conflict; d != nil {
		list("Files in conflict", d.Files)
		fmt.Fprintf(&b, "On the default branch: %s\nOn this branch: %s\n", clip(d.Develop), clip(d.Feature))
	}
	fmt.Fprintf(&b, "With your advice the %s goes on (%s).", clip(c.Resume.Role), clip(c.Resume.Mode))
	return b.String()
}

// advice is what a role that was consulted answered.
func advice(r *signal.Report, by string) string {
	text := "The " + by + " answers: " + clip(r.Detail)
	if r.Actions != nil && r.Actions.Comment != "" {
		text += "\n" + cut(r.Actions.Comment, 4096)
	}
	return text
}
