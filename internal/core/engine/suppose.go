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

// A Supposition describes a task and something that happens to it, by what matters to
// a decision. Exactly one of To, Exit, Outcome and Face says what happens. What is not
// mentioned is as it should be: sections are fresh, evidence is there, agents live.
type Supposition struct {
	From     string
	To       string
	Exit     bool
	ExitRole string // "" for the state's own
	Outcome  string
	Face     *board.Face // how the task's card looks

	Actor    task.Actor // "" for anyone who may
	Sections []taskfile.Section
	Counters []task.Counter // those that are not 0
	ReturnTo string
	Stale    []string  // sections that were used before
	Foreign  []string  // sections whose verdict may be that of a role that may not use them
	Code     int       // of an exit
	Left     task.Left // at an exit: what the last message was, "" for none
	Without  []string  // evidence that is not there
	Dead     []string  // roles of which no agent lives
	At       time.Time
}

// Suppose builds the record and the signal of a supposition, for Decide.
func Suppose(def *workflow.Definition, s Supposition) (task.Task, signal.Signal, error) {
	if s.At.IsZero() {
		s.At = time.Unix(0, 0).UTC()
	}
	s.Stale, s.Foreign = slices.Clone(s.Stale), slices.Clone(s.Foreign)
	p := supposing{def: def, s: &s}
	p.names()
	if p.err != nil {
		return task.Task{}, signal.Signal{}, p.err
	}
	sig := p.signal()
	if s.From == workflow.New {
		return task.Task{}, sig, p.err
	}
	t := p.task()
	sig.Attempt = p.attempt(&t)
	return t, sig, p.err
}

// The identity of a supposed task.
const (
	supposedID      = task.ID("SupposedSupposedSuppo")
	supposedProject = "supposed"
)

// supposing is one run of Suppose.
type supposing struct {
	def *workflow.Definition
	s   *Supposition
	err error
}

func (p *supposing) need(ok bool, what, name string, known []string) {
	if !ok && p.err == nil {
		p.err = fmt.Errorf("%s %q is not known: use %s", what, name, strings.Join(known, ", "))
	}
}

// names makes sure that everything the supposition names is known.
func (p *supposing) names() {
	states := append(p.states(), workflow.New)
	p.need(slices.Contains(states, p.s.From), "state", p.s.From, states)
	p.need(p.s.To == "" || slices.Contains(p.states(), p.s.To), "state", p.s.To, p.states())
	p.need(p.s.ReturnTo == "" || slices.Contains(p.states(), p.s.ReturnTo), "state", p.s.ReturnTo, p.states())
	p.need(p.s.Actor == "" || p.def.KnowsActor(p.s.Actor), "actor", string(p.s.Actor),
		append([]string{string(task.Human), string(task.Engine), string(task.Tracker)}, p.roles()...))
	for _, role := range append(slices.Clone(p.s.Dead), p.s.ExitRole) {
		p.need(role == "" || slices.Contains(p.roles(), role), "role", role, p.roles())
	}
	for _, c := range p.s.Counters {
		_, ok := p.def.Counter(c.Name)
		p.need(ok, "counter", c.Name, p.counters())
	}
	p.sectionNames(p.s.Stale, p.sections())
	p.sectionNames(p.s.Foreign, p.def.VerdictSections(p.s.From))
	for _, name := range p.s.Without {
		p.need(slices.Contains(p.facts(), name) || name == RequiredOutput && p.asksForFile() || name == ReportNonce && p.s.Outcome != "" || name == Knows, "evidence", name, p.facts())
	}
	p.one()
}

// sectionNames makes sure that sections are known, and spells them as gates do.
func (p *supposing) sectionNames(names, known []string) {
	for i, name := range names {
		at := slices.IndexFunc(known, func(have string) bool { return strings.EqualFold(have, name) })
		if at < 0 && len(known) == 0 && p.err == nil {
			p.err = fmt.Errorf("no gate asks for a verdict in %s: leave section %q out", p.s.From, name)
		}
		p.need(at >= 0, "section", name, known)
		if at >= 0 {
			names[i] = known[at]
		}
	}
}

// one makes sure that one thing happens, and that it can happen there.
func (p *supposing) one() {
	happening := 0
	for _, yes := range []bool{p.s.To != "", p.s.Exit, p.s.Outcome != "", p.s.Face != nil} {
		if yes {
			happening++
		}
	}
	switch {
	case p.err != nil:
	case happening != 1:
		p.err = fmt.Errorf("%d things happen: suppose one of a state to go to, an exit, an outcome and a card", happening)
	case p.s.From == workflow.New && p.s.To == "":
		p.err = fmt.Errorf("a task that does not exist yet can only be created: name the state it is to begin in")
	case p.s.Code != 0 && !p.s.Exit:
		p.err = fmt.Errorf("only the end of an agent has a code: suppose an exit")
	case p.s.Left != "" && !p.s.Exit:
		p.err = fmt.Errorf("only the end of an agent leaves a message: suppose an exit")
	case p.s.Left != "" && p.s.Left != task.LeftWords && p.s.Left != task.LeftQuestion:
		p.err = fmt.Errorf("message %q is not known: use %s, %s", p.s.Left, task.LeftWords, task.LeftQuestion)
	case p.s.Exit && p.exiting() == "":
		p.err = fmt.Errorf("workflow %s has no role whose agent could end: suppose something else", p.def.Name)
	}
}

// signal is what happens.
func (p *supposing) signal() signal.Signal {
	sig := signal.Signal{
		Kind: signal.Request, At: p.s.At, Actor: p.s.Actor, To: p.s.To,
		Artifacts: signal.Artifacts{Sections: p.s.Sections}, Free: []string{supposedProject + "--2"},
		Rules: Rules, Told: !slices.Contains(p.s.Without, Knows),
	}
	for _, name := range p.facts() {
		file := strings.HasPrefix(name, workflow.FileFact)
		gone := slices.Contains(p.s.Without, name) || file && slices.Contains(p.s.Without, RequiredOutput)
		e := signal.Evidence{Name: name, Holds: !gone, Detail: "supposed to be there"}
		if gone {
			e.Detail = "supposed not to be there"
		}
		sig.Evidence = append(sig.Evidence, e)
	}
	switch {
	case p.s.Exit:
		sig.Kind, sig.Role, sig.Code, sig.Left = signal.Exit, p.exiting(), p.s.Code, p.s.Left
	case p.s.Face != nil:
		sig.Kind, sig.Word, sig.Face = signal.Tracker, signal.CardChanged, p.s.Face
	case p.s.Outcome != "":
		sig.Kind, sig.Word, sig.Actor = signal.Outcome, outcomeWord(p.s.Outcome), p.speaker()
		if slices.Contains(p.s.Without, ReportNonce) {
			code, detail, _ := strings.Cut(sig.Word, ":")
			sig.Report = &signal.Report{Code: code, Detail: strings.TrimSpace(detail), Source: signal.FromMarker, Unproven: true}
		}
	case p.s.From == workflow.New:
		sig.Kind, sig.To = signal.Create, ""
		sig.New = &signal.New{ID: supposedID, Project: supposedProject, Branch: "supposed", Summary: "supposed", Status: p.s.To}
	}
	sig.BrokeOff = sig.Code != 0 && len(p.def.VerdictSections(p.s.From)) > 0
	for _, name := range p.s.Foreign {
		if sec, ok := taskfile.Find(p.s.Sections, name); ok {
			sig.Samples = append(sig.Samples, task.Sample{Section: name, Sum: sec.Digest, Foreign: p.stranger(name)})
		}
	}
	return sig
}

// stranger is a role that may not use the verdict in a section.
func (p *supposing) stranger(section string) string {
	for _, role := range p.roles() {
		if !p.def.MayJudge(p.s.From, section, role) {
			return role
		}
	}
	return "other agent"
}

// ReportNonce stands in Without for the nonce of the report that an outcome is.
const ReportNonce = "nonce"

// Knows stands in Without for the knowledge of a living agent that its turn has come: it is
// told then.
const Knows = "told"

// RequiredOutput stands in Without for every file that a gate asks for.
const RequiredOutput = "output"

// facts lists what gates may ask for besides sections: what every workflow may, and the
// files of this one.
func (p *supposing) facts() []string {
	out := workflow.EvidenceVocabulary()
	for i := range p.def.Gates {
		if name := p.def.Gates[i].Fact(); name != "" && !slices.Contains(out, name) {
			out = append(out, name)
		}
	}
	return out
}

func (p *supposing) asksForFile() bool {
	return slices.ContainsFunc(p.facts(), func(name string) bool { return strings.HasPrefix(name, workflow.FileFact) })
}

// outcomeWord is what an agent says, its code as codes are compared.
func outcomeWord(said string) string {
	code, detail, has := strings.Cut(said, ":")
	code = strings.ToUpper(strings.TrimSpace(code))
	if !has {
		return code
	}
	return code + ": " + strings.TrimSpace(detail)
}

// speaker is whose word an outcome is: that of the actor, or of the state's own agent
// if it lives.
func (p *supposing) speaker() task.Actor {
	st, ok := p.def.State(p.s.From)
	if p.s.Actor != "" || !ok || slices.Contains(p.s.Dead, st.Role) {
		return p.s.Actor
	}
	return task.Actor(st.Role)
}

// exiting is the role whose agent ends: the one named, the state's own, or the one
// that lives through every state.
func (p *supposing) exiting() string {
	st, ok := p.def.State(p.s.From)
	switch {
	case p.s.ExitRole != "":
		return p.s.ExitRole
	case ok && st.Role != "":
		return st.Role
	}
	for i := range p.def.Roles {
		if p.def.Roles[i].Session == workflow.Persistent {
			return p.def.Roles[i].Name
		}
	}
	if len(p.def.Roles) > 0 {
		return p.def.Roles[0].Name
	}
	return ""
}

// task is the record, as if it had been folded from a journal.
func (p *supposing) task() task.Task {
	st, _ := p.def.State(p.s.From)
	t := task.Task{
		ID: supposedID, Project: supposedProject, Branch: "supposed", Summary: "supposed",
		Workflow: p.def.Name, WorkflowHash: p.def.Hash, Status: st.Name, ReturnTo: p.s.ReturnTo,
		CreatedAt: p.s.At, UpdatedAt: p.s.At, Since: p.s.At, Seq: 1, Visit: 1,
	}
	if st.Kind != workflow.Queued && st.Kind != workflow.Terminal {
		t.Workspace = supposedProject + "--1"
	}
	for i := range p.def.Counters {
		c := task.Counter{Name: p.def.Counters[i].Name}
		for _, given := range p.s.Counters {
			if given.Name == c.Name {
				c.Value, c.Total = given.Value, max(given.Value, given.Total)
			}
		}
		t.Counters = append(t.Counters, c)
	}
	for _, name := range p.s.Stale {
		if sec, ok := taskfile.Find(p.s.Sections, name); ok {
			used := task.Digest{Section: name, Sum: sec.Digest}
			t.Opened, t.Seen = append(t.Opened, used), append(t.Seen, used)
		}
	}
	p.agents(&t, st)
	return t
}

// agents lets those live who would: the persistent roles once work has begun, the
// state's own role, and whoever is supposed to end now.
func (p *supposing) agents(t *task.Task, st *workflow.State) {
	begun := st.Kind != workflow.Queued && st.Kind != workflow.Terminal
	for i := range p.def.Roles {
		r := &p.def.Roles[i]
		lives := begun && (r.Session == workflow.Persistent || r.Name == st.Role) && !slices.Contains(p.s.Dead, r.Name)
		if !lives && (!p.s.Exit || r.Name != p.exiting()) {
			continue
		}
		t.Attempts = append(t.Attempts, task.Attempt{
			Number: len(t.Attempts) + 1, Role: r.Name, State: st.Name, Visit: 1, Since: p.s.At, Running: true,
		})
		t.Ran = append(t.Ran, task.Tally{Role: r.Name, Count: 1})
	}
}

// attempt is the number of whoever acts: the agent that ends, or the role that asks.
func (p *supposing) attempt(t *task.Task) int {
	role := string(p.s.Actor)
	switch {
	case p.s.Exit:
		role = p.exiting()
	case p.s.Outcome != "":
		role = string(p.speaker())
	}
	a, _ := t.Live(role)
	return a.Number
}

func (p *supposing) states() []string {
	out := make([]string, len(p.def.States))
	for i := range p.def.States {
		out[i] = p.def.States[i].Name
	}
	return out
}

func (p *supposing) roles() []string {
	out := make([]string, len(p.def.Roles))
	for i := range p.def.Roles {
		out[i] = p.def.Roles[i].Name
	}
	return out
}

func (p *supposing) counters() []string {
	out := make([]string, len(p.def.Counters))
	for i := range p.def.Counters {
		out[i] = p.def.Counters[i].Name
	}
	return out
}

// sections lists those that some gate asks for.
func (p *supposing) sections() []string {
	var out []string
	for i := range p.def.Gates {
		if name := p.def.Gates[i].Section; name != "" && !slices.Contains(out, name) {
			out = append(out, name)
		}
	}
	return out
}
