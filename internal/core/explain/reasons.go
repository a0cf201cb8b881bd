package explain

import (
	"fmt"
	"slices"
	"strings"
	"unicode/utf8"

	"orange/internal/core/engine"
	"orange/internal/core/journal"
	"orange/internal/core/task"
	"orange/internal/core/taskfile"
	"orange/internal/core/workflow"
	"orange/internal/view/humanize"
)

// A WaitReason says why a task waits for a person, in the original words. Text is Markdown, and is
// untrusted: agents and trackers may have written it.
type WaitReason struct {
	Kind WaitReasonKind `json:"kind"`
	By   string         `json:"by,omitempty"` // the actor or role that wrote it, "" if nobody did
	Text string         `json:"text"`
}

// WaitReasonKind says where the text of a WaitReason comes from.
type WaitReasonKind string

// The kinds of reasons.
const (
	BecauseOfQuestions WaitReasonKind = "questions" // the section Questions of TASK.md
	BecauseOfMessage   WaitReasonKind = "message"   // the agent's last message
	BecauseOfNote      WaitReasonKind = "note"      // the note of the request that brought the task here, or that waits for approval
	BecauseOfVerdict   WaitReasonKind = "verdict"   // the section with the verdict that brought the task here
	BecauseOfReport    WaitReasonKind = "report"    // the last agent's report about its work
	BecauseOfCrash     WaitReasonKind = "crash"     // the last agent's last output, and how it ended
	BecauseOfStart     WaitReasonKind = "start"     // the same, for an agent that could not start
)

// WaitReasonKinds lists the kinds.
func WaitReasonKinds() []WaitReasonKind {
	return []WaitReasonKind{BecauseOfQuestions, BecauseOfMessage, BecauseOfNote, BecauseOfVerdict, BecauseOfReport, BecauseOfCrash, BecauseOfStart}
}

// Title returns the kind as a heading.
func (k WaitReasonKind) Title() string {
	switch k {
	case BecauseOfQuestions:
		return "Questions"
	case BecauseOfMessage:
		return "Last message"
	case BecauseOfNote:
		return "Note"
	case BecauseOfVerdict:
		return "Verdict"
	case BecauseOfReport:
		return "Report"
	case BecauseOfStart:
		return "Last start"
	}
	return "Last crash"
}

// Limits of a reason: its whole text and the part that a line quotes, in bytes, and the number of
// lines of an agent's last output.
const (
	maxReasonText = 4000
	maxReasonLine = 300
	maxLastLines  = 8
)

// QuestionsSection is the section in which an agent writes its questions.
const QuestionsSection = "Questions"

// Records is the input of WaitReasons. All fields are optional.
type Records struct {
	Entries  []journal.Entry
	Sections []taskfile.Section
	Output   func(attempt int) string // returns the last output of an attempt
	Message  func(attempt int) string // returns the last message of an attempt
}

// WaitReasons returns why t waits for a person, the most important reason first. It returns none for a
// task that does not wait for a person, or whose item needs no reasons.
func WaitReasons(def *workflow.Definition, t task.Task, from Records) []WaitReason {
	def = def.ForTask(t.Checks)
	it, ok := InboxItem(def, t)
	if !ok || it.Kind.Info().Complete {
		return nil
	}
	s, _ := def.StateNamed(t.Status)
	w := &waitReasons{def: def, t: &t, state: s, from: from}
	w.findEntries()
	if it.Kind == ItemIdle {
		w.addMessage()
	}
	if it.Kind == ItemQuestion {
		w.addSection(BecauseOfQuestions, "", QuestionsSection)
	}
	if t.Asked != nil {
		w.addReason(BecauseOfNote, string(t.Asked.By), t.Asked.Note)
	}
	if s.Kind != workflow.Agent && w.move != nil {
		w.addReason(BecauseOfNote, string(w.move.Actor), w.move.Note)
		w.addVerdict()
	}
	w.addReport()
	w.lastCrash()
	if it.Kind == ItemQuestion || it.Kind == ItemStuck {
		w.addMessage()
	}
	return w.out
}

// waitReasons collects the reasons of one task.
type waitReasons struct {
	def   *workflow.Definition
	t     *task.Task
	state *workflow.State
	from  Records
	move  *journal.Entry  // the move to the current state, nil if it is not known
	crash *journal.Entry  // the last crash of this visit, or the one that led to the move
	ended []journal.Ended // the agents whose end led to the move
	out   []WaitReason
}

func (w *waitReasons) addReason(kind WaitReasonKind, by, text string) {
	text = humanize.Abridge(strings.TrimRight(strings.TrimLeft(text, "\r\n"), " \t\r\n"), maxReasonText) // keep leading blanks: it may begin with indented code
	if text == "" || slices.ContainsFunc(w.out, func(r WaitReason) bool { return r.Text == text }) {
		return
	}
	w.out = append(w.out, WaitReason{Kind: kind, By: by, Text: text})
}

// findEntries finds the move that brought the task here, and the crash that belongs to it.
func (w *waitReasons) findEntries() {
	list := w.from.Entries
	for i := len(list) - 1; i >= 0 && w.move == nil; i-- {
		e := &list[i]
		switch {
		case e.Seq > w.t.Seq: // newer than the record
		case e.To != "":
			w.move, w.ended = e, e.Ended
			if len(w.ended) == 0 && i > 0 && !e.BeginsDecision() { // at a limit, the end has its own entry
				w.ended = list[i-1].Ended
			}
			if w.crash == nil && i > 0 && list[i-1].Type == journal.AgentCrashed && !e.BeginsDecision() {
				w.crash = &list[i-1] // the crash that reached the limit, in the same decision
			}
		case e.Type == journal.AgentCrashed && w.crash == nil && w.stillDead(e):
			w.crash = e
		case e.Type == journal.AgentNotBegun && w.crash == nil && w.t.Unstarted != nil && w.t.Crashed == "":
			w.crash = e
		}
	}
}

// stillDead reports whether a crash of this visit still matters: the agent was not replaced, and it
// did not simply exit in a state where a person acts.
func (w *waitReasons) stillDead(e *journal.Entry) bool {
	left := slices.ContainsFunc(e.Ended, func(a journal.Ended) bool { return a.Code == 0 })
	return w.t.Crashed == e.Role && (w.state.Kind == workflow.Agent || !left)
}

// addMessage adds the last message of the agent that the task waits on.
func (w *waitReasons) addMessage() {
	if w.from.Message == nil {
		return
	}
	if number, role := w.findAuthor(); number > 0 {
		w.addReason(BecauseOfMessage, role, boundEnd(strings.TrimSpace(w.from.Message(number)), maxReasonText))
	}
}

// failedTurn reports whether an attempt's last turn produced no message because its provider refused
// it.
func failedTurn(t *task.Task, number int) bool {
	a, ok := t.AttemptByNumber(number)
	return ok && a.Condition.Name == task.TurnFailed
}

// findAuthor returns the agent whose last message matters: the one that waits for a message, else the
// one of the state whose turn ended, else the one whose end or request brought the task here.
func (w *waitReasons) findAuthor() (number int, role string) {
	now := engine.NewSituation(w.def, w.t, nil)
	if u := now.WaitsForAnswer(); u != nil && !failedTurn(w.t, u.Attempt) {
		return u.Attempt, u.Role
	}
	for _, a := range w.t.Attempts {
		switch {
		case a.Ending || a.Role != w.state.Role && !now.StandsIn(w.state.Role, a.Role):
		case a.Condition.Name == task.Idle:
			return a.Number, a.Role
		default:
			return 0, "" // it is working
		}
	}
	if w.move == nil {
		return 0, ""
	}
	for _, gone := range w.ended {
		return gone.Number, gone.Role
	}
	if _, ok := w.def.RoleNamed(string(w.move.Actor)); ok {
		return w.move.Attempt, string(w.move.Actor)
	}
	return 0, ""
}

func (w *waitReasons) addSection(kind WaitReasonKind, by, name string) {
	if s, ok := taskfile.FindSection(w.from.Sections, name); ok {
		w.addReason(kind, by, s.Text)
	}
}

// addVerdict adds the review that brought the task here.
func (w *waitReasons) addVerdict() {
	for i := range w.def.Edges {
		e := &w.def.Edges[i]
		if e.Number() != w.move.Edge || e.To != w.move.To {
			continue
		}
		for _, g := range w.def.EdgeGates(e) {
			if gate := &w.def.Gates[g]; gate.Verdict != "" {
				w.addSection(BecauseOfVerdict, w.reviewerRole(), gate.Section)
			}
		}
	}
}

// reviewerRole returns the role of the state that the task came from.
func (w *waitReasons) reviewerRole() string {
	if s, ok := w.def.StateNamed(w.move.From); ok {
		return s.Role
	}
	return ""
}

// addReport adds the last agent's report, if it is why the task waits.
func (w *waitReasons) addReport() {
	said := w.t.LastReport
	if said == nil || said.Visit != w.t.Visit && said.Visit != w.t.Visit-1 {
		return
	}
	if w.state.Kind == workflow.Halt || w.t.WorkFailed != "" || said.Diagnosis != "" && said.Visit == w.t.Visit {
		w.addReason(BecauseOfReport, said.Role, strings.TrimSpace(said.Detail+"\n\n"+said.Diagnosis))
	}
}

// lastCrash adds the agent's last output, and how the agent ended.
func (w *waitReasons) lastCrash() {
	if w.crash == nil {
		return
	}
	text, lines := w.crash.Reason, ""
	for _, gone := range w.crash.Ended {
		if w.state.Kind != workflow.Agent && w.crash.From == w.t.Status {
			text = fmt.Sprintf("the %s ended (code %d)", gone.Role, gone.Code) // the entry itself only says that nothing moves
		}
		if name := signalName(gone.Code); name != "" {
			text = strings.Replace(text, fmt.Sprintf("(code %d)", gone.Code), fmt.Sprintf("(code %d, %s)", gone.Code, name), 1)
		}
		lines = w.lastLines(gone.Number)
	}
	kind := BecauseOfCrash
	if w.crash.Type == journal.AgentNotBegun {
		kind = BecauseOfStart
	}
	if lines != "" {
		text = lines + "\n\n" + text
	}
	w.addReason(kind, w.crash.Role, text)
}

// lastLines returns the agent's last output, from the record of its exit or else from its log.
func (w *waitReasons) lastLines(attempt int) string {
	switch {
	case w.crash.Snapshot != nil && w.crash.Snapshot.Last != "":
		return lastLines(w.crash.Snapshot.Last)
	case w.from.Output != nil:
		return lastLines(w.from.Output(attempt))
	}
	return ""
}

// signalName returns the name of the signal that an exit code stands for, or "" if it stands for none.
func signalName(code int) string {
	const fromSignal, signals = 128, 64
	names := map[int]string{1: "SIGHUP", 2: "SIGINT", 3: "SIGQUIT", 6: "SIGABRT", 7: "SIGBUS", 9: "SIGKILL", 11: "SIGSEGV", 13: "SIGPIPE", 15: "SIGTERM"}
	n := code - fromSignal
	switch {
	case n < 1 || n > signals:
		return ""
	case names[n] == "":
		return fmt.Sprintf("signal %d", n)
	}
	return names[n]
}

// lastLines returns the last lines of output as an indented code block of Markdown, which nothing in
// the lines can end.
func lastLines(output string) string {
	var lines []string
	for line := range strings.Lines(output) {
		if line = strings.TrimRight(line, " \t\r\n"); line != "" {
			lines = append(lines, "    "+humanize.Abridge(line, maxReasonLine))
		}
	}
	return strings.Join(lines[max(0, len(lines)-maxLastLines):], "\n")
}

// boundEnd returns the end of a text, at most n bytes, cut between characters and marked with "..." if
// it is shortened. It keeps the end because that is where a question is.
func boundEnd(text string, n int) string {
	if len(text) <= n {
		return text
	}
	text = text[len(text)-n+len("..."):]
	for len(text) > 0 && !utf8.RuneStart(text[0]) {
		text = text[1:]
	}
	return "..." + strings.TrimLeft(text, " \n")
}

// SetReasons sets the reasons of an item, and adds the first of them to its text.
func (it *Item) SetReasons(reasons []WaitReason) {
	it.Reasons = reasons
	if len(reasons) == 0 {
		return
	}
	first := reasons[0]
	words := humanize.Abridge(strings.Join(strings.Fields(first.Text), " "), maxReasonLine)
	switch {
	case first.Kind == BecauseOfQuestions:
		it.Text = words
	case first.Kind == BecauseOfMessage && it.Kind == ItemIdle:
		it.Text += ": " + boundEnd(strings.Join(strings.Fields(first.Text), " "), maxReasonLine)
	case first.Kind == BecauseOfNote, first.Kind == BecauseOfVerdict && it.Kind == ItemStuck:
		it.Text += ": " + words
	}
}
