package verify

import (
	"slices"

	"orange/internal/core/engine"
	"orange/internal/core/task"
	"orange/internal/core/workflow"
)

// model is a definition with the lookup tables of the search.
type model struct {
	full         bool     // also what the reduced search leaves out: see Options.Full
	alone        bool     // the task is after no other
	open         bool     // what the task shares with others answers freely
	groups       []string // serial groups
	def          *workflow.Definition
	sections     []section
	without      map[Protection]bool
	pendingLimit int
	tallies      [][]task.AttemptTally
	nothing      [][]choice // the only choice if no section matters

	stateNumber  map[string]byte
	roleNumber   map[string]byte
	effectNumber map[string]byte
	asks         [][]bool // by state number: which sections gates of its edges require
	manual       []bool   // by state number: a dead agent waits for a person
	commits      []bool   // by edge: a gate requires committed work
	asked        [][]asking
	exits        [][]*workflow.Edge // by state number: the edges that the end of its agent may take
	personResets bool               // a person resets counters to 0
	family       bool               // something depends on the children of a task
	words        [][]word           // by state number: what its agent can report
	cardStates   [][]cardState      // by state number: the cards that an edge waits for
	foreignRoles [][]string         // by state number and section: a role that may not use the verdict in it; "" for none
	verdicts     bool               // a gate requires a verdict
	harnesses    []string           // of all roles; falling back to another harness is like a mass death, so it is not tried separately
	quotient     quotient
	checks       checkModel
}

// asking is a state that can be requested, and the edges that may accept.
type asking struct {
	to    string
	edges []*workflow.Edge
}

func newModel(def *workflow.Definition, o SearchOptions) *model {
	m := &model{
		def: def, pendingLimit: o.PendingLimit, nothing: [][]choice{nil}, without: map[Protection]bool{}, stateNumber: map[string]byte{}, roleNumber: map[string]byte{},
		effectNumber: map[string]byte{},
	}
	for n := range 16 {
		m.tallies = append(m.tallies, []task.AttemptTally{{Count: n}})
	}
	for _, p := range o.Without {
		m.without[p] = true
	}
	for i := range def.States {
		m.stateNumber[def.States[i].Name] = byte(i + 1)
	}
	for i := range def.Roles {
		m.roleNumber[def.Roles[i].Name] = byte(i + 1)
	}
	if !def.DeclaresRole(workflow.CheckRole) {
		m.roleNumber[workflow.CheckRole] = byte(len(def.Roles) + 1)
	}
	m.alone, m.open, m.full, m.checks = o.alone || o.open, o.open, o.Full, newCheckModel(def, o.Full || o.exactChecks)
	if m.groups = serialGroups(def); o.open && len(m.checks.checks) == 0 {
		m.checks.checks = task.Checks{{Name: "tests", Run: "true"}}
	}
	for i, e := range workflow.EffectVocabulary() {
		m.effectNumber[e.Name] = byte(i + 1)
	}
	for i := range def.Gates {
		m.addGate(&def.Gates[i])
	}
	m.asks, m.manual = make([][]bool, len(def.States)+1), make([]bool, len(def.States)+1)
	for i := range def.States {
		m.asks[i+1] = m.askedIn(def.States[i].Name)
		m.manual[i+1] = def.States[i].Respawn == workflow.RespawnManual
	}
	for i := range def.Roles {
		for _, c := range engine.HarnessChoices(&task.Task{}, &def.Roles[i]) {
			m.harnesses = append(m.harnesses, c.Harness)
		}
	}
	m.findForeignRoles()
	m.quotient = newQuotient(m, o)
	for i := range def.Edges {
		m.commits = append(m.commits, slices.ContainsFunc(def.EdgeGates(&def.Edges[i]), func(g int) bool { return def.Gates[g].HandsOver() }))
	}
	m.personResets = slices.ContainsFunc(def.Counters, func(c workflow.Counter) bool { return c.ByPerson })
	m.family = slices.ContainsFunc(def.States, func(s workflow.State) bool { return def.AsksForChildren(s.Name) })
	m.words, m.cardStates = make([][]word, 1), make([][]cardState, 1)
	m.asked, m.exits = make([][]asking, len(def.States)+1), make([][]*workflow.Edge, len(def.States)+1)
	for i := range def.States {
		name := def.States[i].Name
		m.words = append(m.words, m.wordsIn(name))
		m.cardStates = append(m.cardStates, m.cardStatesIn(name))
		m.exits[i+1] = m.edgesOf(name, workflow.OnExit, "", "")
		for _, to := range m.requestTargets(name) {
			m.asked[i+1] = append(m.asked[i+1], asking{to, m.edgesOf(name, workflow.OnRequest, "", to)})
		}
	}
	return m
}

func (m *model) addGate(g *workflow.Gate) {
	if g.Section == "" {
		return
	}
	at := slices.IndexFunc(m.sections, func(s section) bool { return s.name == g.Section })
	if at < 0 {
		at = len(m.sections)
		m.sections = append(m.sections, section{name: g.Section})
	}
	s := &m.sections[at]
	s.unused = s.unused || g.Fresh == workflow.FreshUnused
	meaning := "valid"
	if g.Verdict != "" {
		meaning, s.verdict = g.Verdict, true
	}
	if !slices.Contains(s.meaning, meaning) {
		s.meaning = append(s.meaning, meaning)
	}
}

// findForeignRoles finds, for each section with verdicts, a role that may not use it in a state.
func (m *model) findForeignRoles() {
	m.foreignRoles = make([][]string, len(m.def.States)+1)
	for i := range m.foreignRoles {
		m.foreignRoles[i] = make([]string, len(m.sections))
	}
	for at := range m.sections {
		if !m.sections[at].verdict {
			continue
		}
		m.verdicts = true
		for i := range m.def.States {
			for k := range m.def.Roles {
				if role := m.def.Roles[k].Name; !m.def.MayJudge(m.def.States[i].Name, m.sections[at].name, role) {
					m.foreignRoles[i+1][at] = role
					break
				}
			}
		}
	}
}

func (m *model) askedIn(state string) []bool {
	out := make([]bool, len(m.sections))
	for _, i := range m.def.EdgesFrom(state) {
		for _, g := range m.def.EdgeGates(&m.def.Edges[i]) {
			for at := range m.sections {
				out[at] = out[at] || m.sections[at].name == m.def.Gates[g].Section
			}
		}
	}
	return out
}

// attemptTally returns the tally of a canonical world with n attempts. It is shared: callers
// must copy it before they change a record.
func (m *model) attemptTally(n int) []task.AttemptTally {
	if n < len(m.tallies) {
		return m.tallies[n]
	}
	return []task.AttemptTally{{Count: n}}
}

// usedAt returns the index at which the search records that an edge was taken from a state.
func (m *model) usedAt(edge int, from string) int {
	return edge*(len(m.def.States)+1) + int(m.stateNumber[from])
}

// ownRole returns the role whose agent the state needs, or "" if it needs none.
func (m *model) ownRole(state string) string {
	if s, ok := m.def.StateNamed(state); ok && s.Kind == workflow.Agent {
		return s.Role
	}
	return ""
}

// passesPerson reports whether a task leaves the state only when a person answers, decides or
// resumes.
func (m *model) passesPerson(state string) bool {
	s, ok := m.def.StateNamed(state)
	if !ok {
		return false
	}
	return s.Kind == workflow.Waiting || s.Kind == workflow.HumanDo || s.Kind == workflow.Halt
}
