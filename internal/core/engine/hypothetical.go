package engine

import (
	"fmt"
	"slices"
	"strings"
	"time"

	"orange/internal/core/board"
	"orange/internal/core/signal"
	"orange/internal/core/task"
	"orange/internal/core/taskfile"
	"orange/internal/core/workflow"
)

// An Assumptions describes a task and one signal to it, by what matters to a decision. Exactly one of To, Exit, Outcome
// and CardSnapshot defines the signal. Everything else has its normal value: sections are fresh, evidence exists,
// agents live.
type Assumptions struct {
	From         string
	To           string
	Exit         bool
	ExitRole     string // "" for the state's own role
	Outcome      string
	CardSnapshot *board.Snapshot // the snapshot of the task's card

	Actor    task.Actor // "" for anyone who may
	Sections []taskfile.Section
	Counters []task.Counter // those that are not 0
	ReturnTo string
	Stale    []string  // sections that were used before
	Foreign  []string  // sections whose verdict may come from a role that may not use them
	Code     int       // exit code, for an exit
	Left     task.Left // for an exit: the kind of the last message, "" for none
	Without  []string  // evidence that is missing
	Dead     []string  // roles without a living agent
	At       time.Time
}

// Hypothetical builds the record and the signal for s, for Decide.
func Hypothetical(def *workflow.Definition, s Assumptions) (task.Task, signal.Signal, error) {
	if s.At.IsZero() {
		s.At = time.Unix(0, 0).UTC()
	}
	def = def.ForTask(nil)
	s.Stale, s.Foreign = slices.Clone(s.Stale), slices.Clone(s.Foreign)
	p := hypotheticalBuilder{def: def, s: &s}
	p.checkNames()
	if p.err != nil {
		return task.Task{}, signal.Signal{}, p.err
	}
	sig := p.buildSignal()
	if s.From == workflow.New {
		return task.Task{}, sig, p.err
	}
	t := p.buildTask()
	sig.Attempt = p.actingAttempt(&t)
	return t, sig, p.err
}

// The identity of a hypothetical task.
const (
	supposedID      = task.ID("SupposedSupposedSuppo")
	supposedProject = "supposed"
)

// hypotheticalBuilder is one run of Hypothetical.
type hypotheticalBuilder struct {
	def *workflow.Definition
	s   *Assumptions
	err error
}

func (b *hypotheticalBuilder) requireKnown(ok bool, what, name string, known []string) {
	if !ok && b.err == nil {
		b.err = fmt.Errorf("%s %q is not known: use %s", what, name, strings.Join(known, ", "))
	}
}

// checkNames checks that the workflow knows everything that the assumptions name.
func (b *hypotheticalBuilder) checkNames() {
	states := append(b.stateNames(), workflow.New)
	b.requireKnown(slices.Contains(states, b.s.From), "state", b.s.From, states)
	b.requireKnown(b.s.To == "" || slices.Contains(b.stateNames(), b.s.To), "state", b.s.To, b.stateNames())
	b.requireKnown(b.s.ReturnTo == "" || slices.Contains(b.stateNames(), b.s.ReturnTo), "state", b.s.ReturnTo, b.stateNames())
	b.requireKnown(b.s.Actor == "" || b.def.KnowsActor(b.s.Actor), "actor", string(b.s.Actor),
		append([]string{string(task.Human), string(task.Engine), string(task.Tracker)}, b.roleNames()...))
	for _, role := range append(slices.Clone(b.s.Dead), b.s.ExitRole) {
		b.requireKnown(role == "" || slices.Contains(b.roleNames(), role), "role", role, b.roleNames())
	}
	for _, c := range b.s.Counters {
		_, ok := b.def.CounterNamed(c.Name)
		b.requireKnown(ok, "counter", c.Name, b.counterNames())
	}
	b.sectionNames(b.s.Stale, b.gateSections())
	b.sectionNames(b.s.Foreign, b.def.VerdictSections(b.s.From))
	for _, name := range b.s.Without {
		b.requireKnown(slices.Contains(b.evidenceNames(), name) || name == RequiredOutput && b.asksForFile() || name == ReportNonce && b.s.Outcome != "" || name == Knows, "evidence", name, b.evidenceNames())
	}
	b.checkSingleEvent()
}

// sectionNames checks that sections are known, and spells them as gates do.
func (b *hypotheticalBuilder) sectionNames(names, known []string) {
	for i, name := range names {
		at := slices.IndexFunc(known, func(have string) bool { return strings.EqualFold(have, name) })
		if at < 0 && len(known) == 0 && b.err == nil {
			b.err = fmt.Errorf("no gate asks for a verdict in %s: leave section %q out", b.s.From, name)
		}
		b.requireKnown(at >= 0, "section", name, known)
		if at >= 0 {
			names[i] = known[at]
		}
	}
}

// checkSingleEvent checks that there is exactly one signal, and that it is possible in the state.
func (b *hypotheticalBuilder) checkSingleEvent() {
	happening := 0
	for _, yes := range []bool{b.s.To != "", b.s.Exit, b.s.Outcome != "", b.s.CardSnapshot != nil} {
		if yes {
			happening++
		}
	}
	switch {
	case b.err != nil:
	case happening != 1:
		b.err = fmt.Errorf("%d things happen: suppose one of a state to go to, an exit, an outcome and a card", happening)
	case b.s.From == workflow.New && b.s.To == "":
		b.err = fmt.Errorf("a task that does not exist yet can only be created: name the state it is to begin in")
	case b.s.Code != 0 && !b.s.Exit:
		b.err = fmt.Errorf("only the end of an agent has a code: suppose an exit")
	case b.s.Left != "" && !b.s.Exit:
		b.err = fmt.Errorf("only the end of an agent leaves a message: suppose an exit")
	case b.s.Left != "" && b.s.Left != task.LeftWords && b.s.Left != task.LeftQuestion:
		b.err = fmt.Errorf("message %q is not known: use %s, %s", b.s.Left, task.LeftWords, task.LeftQuestion)
	case b.s.Exit && b.exitingRole() == "":
		b.err = fmt.Errorf("workflow %s has no role whose agent could end: suppose something else", b.def.Name)
	}
}

// buildSignal returns the signal.
func (b *hypotheticalBuilder) buildSignal() signal.Signal {
	sig := signal.Signal{
		Kind: signal.Request, At: b.s.At, Actor: b.s.Actor, To: b.s.To,
		Artifacts: signal.Artifacts{Sections: b.s.Sections}, Free: []string{supposedProject + "--2"},
		Rules: Rules, Told: !slices.Contains(b.s.Without, Knows),
	}
	for _, name := range b.evidenceNames() {
		file := strings.HasPrefix(name, workflow.FileFact)
		gone := slices.Contains(b.s.Without, name) || file && slices.Contains(b.s.Without, RequiredOutput)
		e := signal.Evidence{Name: name, Holds: !gone, Detail: "supposed to be there"}
		if gone {
			e.Detail = "supposed not to be there"
		}
		sig.Evidence = append(sig.Evidence, e)
	}
	switch {
	case b.s.Exit:
		sig.Kind, sig.Role, sig.Code, sig.Left = signal.Exit, b.exitingRole(), b.s.Code, b.s.Left
	case b.s.CardSnapshot != nil:
		sig.Kind, sig.Word, sig.CardSnapshot = signal.Tracker, signal.CardChanged, b.s.CardSnapshot
	case b.s.Outcome != "":
		sig.Kind, sig.Word, sig.Actor = signal.Outcome, outcomeWord(b.s.Outcome), b.reportingActor()
		if slices.Contains(b.s.Without, ReportNonce) {
			code, detail, _ := strings.Cut(sig.Word, ":")
			sig.Report = &signal.Report{Code: code, Detail: strings.TrimSpace(detail), Source: signal.FromMarker, Unproven: true}
		}
	case b.s.From == workflow.New:
		sig.Kind, sig.To = signal.Create, ""
		sig.New = &signal.New{ID: supposedID, Project: supposedProject, Branch: "supposed", Summary: "supposed", Status: b.s.To}
	}
	sig.BrokeOff = sig.Code != 0 && len(b.def.VerdictSections(b.s.From)) > 0
	for _, name := range b.s.Foreign {
		if sec, ok := taskfile.FindSection(b.s.Sections, name); ok {
			sig.Samples = append(sig.Samples, task.Sample{Section: name, Sum: sec.Digest, Foreign: b.foreignRole(name)})
		}
	}
	return sig
}

// foreignRole returns a role that may not use the verdict in a section.
func (b *hypotheticalBuilder) foreignRole(section string) string {
	for _, role := range b.roleNames() {
		if !b.def.MayJudge(b.s.From, section, role) {
			return role
		}
	}
	return "other agent"
}

// ReportNonce in Without means that the report of an outcome has no nonce.
const ReportNonce = "nonce"

// Knows in Without means that a living agent does not know that its turn has come, and is told.
const Knows = "told"

// RequiredOutput in Without stands for every file that a gate requires.
const RequiredOutput = "output"

// evidenceNames lists what gates may require besides sections: what every workflow may, and the files of this one.
func (b *hypotheticalBuilder) evidenceNames() []string {
	out := workflow.EvidenceVocabulary()
	for i := range b.def.Gates {
		if name := b.def.Gates[i].FactName(); name != "" && !slices.Contains(out, name) {
			out = append(out, name)
		}
	}
	return out
}

func (b *hypotheticalBuilder) asksForFile() bool {
	return slices.ContainsFunc(b.evidenceNames(), func(name string) bool { return strings.HasPrefix(name, workflow.FileFact) })
}

// outcomeWord returns an agent's outcome, with its code in the case in which codes are compared.
func outcomeWord(said string) string {
	code, detail, has := strings.Cut(said, ":")
	code = strings.ToUpper(strings.TrimSpace(code))
	if !has {
		return code
	}
	return code + ": " + strings.TrimSpace(detail)
}

// reportingActor returns who reports an outcome: the actor, or the state's own agent if it lives.
func (b *hypotheticalBuilder) reportingActor() task.Actor {
	st, ok := b.def.StateNamed(b.s.From)
	if b.s.Actor != "" || !ok || slices.Contains(b.s.Dead, st.Role) {
		return b.s.Actor
	}
	return task.Actor(st.Role)
}

// exitingRole returns the role whose agent ends: the named one, the state's own, or the one that lives through every
// state.
func (b *hypotheticalBuilder) exitingRole() string {
	st, ok := b.def.StateNamed(b.s.From)
	switch {
	case b.s.ExitRole != "":
		return b.s.ExitRole
	case ok && st.Role != "":
		return st.Role
	}
	for i := range b.def.Roles {
		if b.def.Roles[i].Session == workflow.Persistent {
			return b.def.Roles[i].Name
		}
	}
	if len(b.def.Roles) > 0 {
		return b.def.Roles[0].Name
	}
	return ""
}

// buildTask returns the record, as if it were folded from a journal.
func (b *hypotheticalBuilder) buildTask() task.Task {
	st, _ := b.def.StateNamed(b.s.From)
	t := task.Task{
		ID: supposedID, Project: supposedProject, Branch: "supposed", Summary: "supposed",
		Status: st.Name, CreatedAt: b.s.At, UpdatedAt: b.s.At, Seq: 1,
		Setup:        task.Setup{Workflow: b.def.Name, WorkflowHash: b.def.Hash},
		CurrentVisit: task.CurrentVisit{ReturnTo: b.s.ReturnTo, Since: b.s.At, Visit: 1},
	}
	if st.Kind != workflow.Queued && st.Kind != workflow.Terminal {
		t.Workspace = supposedProject + "--1"
	}
	for i := range b.def.Counters {
		c := task.Counter{Name: b.def.Counters[i].Name}
		for _, given := range b.s.Counters {
			if given.Name == c.Name {
				c.Value, c.Total = given.Value, max(given.Value, given.Total)
			}
		}
		t.Counters = append(t.Counters, c)
	}
	for _, name := range b.s.Stale {
		if sec, ok := taskfile.FindSection(b.s.Sections, name); ok {
			used := task.Digest{Section: name, Sum: sec.Digest}
			t.Opened, t.Seen = append(t.Opened, used), append(t.Seen, used)
		}
	}
	b.addLiveAgents(&t, st)
	return t
}

// addLiveAgents adds the attempts that would live: the persistent roles once work has begun, the state's own role, and
// the agent that ends now.
func (b *hypotheticalBuilder) addLiveAgents(t *task.Task, st *workflow.State) {
	begun := st.Kind != workflow.Queued && st.Kind != workflow.Terminal
	for i := range b.def.Roles {
		r := &b.def.Roles[i]
		lives := begun && (r.Session == workflow.Persistent || r.Name == st.Role) && !slices.Contains(b.s.Dead, r.Name)
		if !lives && (!b.s.Exit || r.Name != b.exitingRole()) {
			continue
		}
		t.Attempts = append(t.Attempts, task.Attempt{
			Number: len(t.Attempts) + 1, Role: r.Name, State: st.Name, Visit: 1, Since: b.s.At, Running: true,
		})
		t.AttemptCounts = append(t.AttemptCounts, task.AttemptTally{Role: r.Name, Count: 1})
	}
}

// actingAttempt returns the number of the acting attempt: the agent that ends, or the role that requests.
func (b *hypotheticalBuilder) actingAttempt(t *task.Task) int {
	role := string(b.s.Actor)
	switch {
	case b.s.Exit:
		role = b.exitingRole()
	case b.s.Outcome != "":
		role = string(b.reportingActor())
	}
	a, _ := t.LiveAttempt(role)
	return a.Number
}

func (b *hypotheticalBuilder) stateNames() []string {
	out := make([]string, len(b.def.States))
	for i := range b.def.States {
		out[i] = b.def.States[i].Name
	}
	return out
}

func (b *hypotheticalBuilder) roleNames() []string {
	out := make([]string, len(b.def.Roles))
	for i := range b.def.Roles {
		out[i] = b.def.Roles[i].Name
	}
	return out
}

func (b *hypotheticalBuilder) counterNames() []string {
	out := make([]string, len(b.def.Counters))
	for i := range b.def.Counters {
		out[i] = b.def.Counters[i].Name
	}
	return out
}

// gateSections lists the sections that gates require.
func (b *hypotheticalBuilder) gateSections() []string {
	var out []string
	for i := range b.def.Gates {
		if name := b.def.Gates[i].Section; name != "" && !slices.Contains(out, name) {
			out = append(out, name)
		}
	}
	return out
}
