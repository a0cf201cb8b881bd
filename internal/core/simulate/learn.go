package simulate

import (
	"fmt"
	"slices"
	"time"

	"orange/internal/core/journal"
	"orange/internal/core/task"
	"orange/internal/core/workflow"
)

// MinSamples is how many samples a figure needs to be learned.
const MinSamples = 5

// Learned is a profile learned from journals.
type Learned struct {
	Profile Profile
	Tasks   int      // whose journals could be read
	Notes   []string // what was learned and what was not, one line each
}

// LearnProfile replaces figures of a profile with those from the journals of earlier tasks of
// the workflow. A figure with fewer than MinSamples samples stays unchanged, and so do tokens,
// cost and usage limits, which journals do not contain.
func LearnProfile(def *workflow.Definition, base Profile, journals [][]journal.Entry) Learned {
	def = def.ForTask(nil)
	l := journalLearner{def: def, states: map[string]*stateSamples{}}
	out := Learned{Profile: base.clone()}
	for name := range base.States {
		l.states[name] = &stateSamples{}
	}
	for _, entries := range journals {
		if l.readJournal(entries) {
			out.Tasks++
		}
	}
	for i := range def.States {
		name := def.States[i].Name
		if seen, ok := l.states[name]; ok && def.States[i].Kind == workflow.Agent {
			h := out.Profile.States[name]
			out.Notes = append(out.Notes, seen.applyToBehavior(name, &h)...)
			out.Profile.States[name] = h
		}
	}
	out.Notes = append(out.Notes, l.checks.applyToChecks(&out.Profile)...)
	out.Notes = append(out.Notes, l.applyToPerson(&out.Profile.Human)...)
	out.Notes = append(out.Notes, "tokens, cost and usage limits are not in the journals: the given values stay")
	return out
}

// journalLearner collects samples.
type journalLearner struct {
	def     *workflow.Definition
	states  map[string]*stateSamples
	checks  checkSamples
	delays  []time.Duration
	asked   int // decisions of people in human states
	changes int
	cancels int
	answers int // of people, in any state that waits for them

	// The task whose journal is being read.
	t       task.Task
	from    time.Time // when the present turn began
	attempt int       // its attempt; 0 for none
}

// stateSamples are the samples of one state.
type stateSamples struct {
	durations                           []time.Duration // of turns that were completed
	turns, crashes, silent, asked, gave int
	verdicts, fails                     int
	told, exits                         int
}

// readJournal follows one task through its journal.
func (l *journalLearner) readJournal(entries []journal.Entry) bool {
	l.t, l.attempt = task.Task{}, 0
	for i := range entries {
		e := &entries[i]
		l.observeBeforeFold(e)
		l.checks.countCheck(e)
		if journal.Apply(&l.t, e) != nil {
			return false
		}
		l.observeAfterFold(e)
	}
	return len(entries) > 0
}

// observeAfterFold records when the agent of the state begins a turn.
func (l *journalLearner) observeAfterFold(e *journal.Entry) {
	if s, ok := l.def.StateNamed(l.t.Status); ok && l.attempt == 0 && s.Kind == workflow.Agent && len(l.t.Pending) == 0 {
		if a, live := l.t.LiveAttempt(s.Role); live && a.Running {
			l.attempt, l.from = a.Number, e.At
		}
	}
}

// observeBeforeFold examines an entry before it is folded.
func (l *journalLearner) observeBeforeFold(e *journal.Entry) {
	s, ok := l.def.StateNamed(l.t.Status)
	if !ok || l.t.Seq == 0 {
		return
	}
	switch s.Kind {
	case workflow.Agent:
		l.turnEnds(s, e)
	case workflow.Waiting, workflow.HumanDo, workflow.Halt:
		if e.To != "" && (e.Actor == task.Human || e.Actor == task.Tracker) {
			l.countAnswer(s, e)
		}
	}
}

func (l *journalLearner) turnEnds(s *workflow.State, e *journal.Entry) {
	ended := slices.ContainsFunc(e.Ended, func(gone journal.Ended) bool { return gone.Number == l.attempt })
	if l.attempt == 0 || !ended && e.To == "" {
		return
	}
	seen, ok := l.states[s.Name]
	own := e.Actor == task.Actor(s.Role) || ended
	took := e.At.Sub(l.from)
	l.attempt = 0
	if !ok || !own {
		return // a person or a timer moved the task
	}
	seen.turns++
	if e.To == "" || e.Type == journal.AgentCrashed {
		if len(e.Ended) > 0 && e.Ended[0].Code == 0 {
			seen.silent++
		} else {
			seen.crashes++
		}
		return
	}
	seen.durations = append(seen.durations, took)
	to, _ := l.def.StateNamed(e.To)
	switch verdict := l.openingVerdict(e); {
	case to != nil && to.Kind == workflow.Waiting:
		seen.asked++
		return
	case to != nil && to.Kind == workflow.Halt && verdict == "":
		seen.gave++
		return
	case verdict != "":
		seen.verdicts++
		if verdict == "FAIL" {
			seen.fails++
		}
	}
	seen.told++
	if ended {
		seen.exits++
	}
}

// openingVerdict returns the verdict that opened the edge that an entry took.
func (l *journalLearner) openingVerdict(e *journal.Entry) string {
	found := ""
	for _, i := range l.def.EdgesFrom(e.From) {
		edge := &l.def.Edges[i]
		for _, g := range l.def.EdgeGates(edge) {
			v := l.def.Gates[g].Verdict
			if edge.To != e.To || v == "" {
				continue
			}
			if edge.Pos.Line == e.Line && l.t.WorkflowHash == l.def.Hash {
				return v
			}
			if found == "" {
				found = v
			}
		}
	}
	return found
}

func (l *journalLearner) countAnswer(s *workflow.State, e *journal.Entry) {
	l.delays = append(l.delays, e.At.Sub(l.t.Since))
	l.answers++
	to, _ := l.def.StateNamed(e.To)
	cancelled := e.Verb == "cancel" || to != nil && to.Kind == workflow.Terminal && l.edgeVerb(e) == "cancel"
	if cancelled {
		l.cancels++
	}
	if s.Kind == workflow.HumanDo && !cancelled {
		l.asked++
		if to != nil && to.Kind == workflow.Agent {
			l.changes++
		}
	}
}

func (l *journalLearner) edgeVerb(e *journal.Entry) string {
	for _, i := range l.def.EdgesFrom(e.From) {
		if edge := &l.def.Edges[i]; edge.To == e.To {
			return edge.As
		}
	}
	return ""
}

// applyToBehavior sets the habits of a state to the samples.
func (s *stateSamples) applyToBehavior(state string, h *StateBehavior) []string {
	var notes learningNotes
	notes.learnPace(state+": duration", s.durations, &h.Duration)
	notes.learnRate(state+": crash", s.crashes, s.turns, &h.Crash)
	notes.learnRate(state+": no_answer", s.silent, s.turns, &h.NoAnswer)
	notes.learnRate(state+": question", s.asked, s.turns, &h.Question)
	notes.learnRate(state+": give_up", s.gave, s.turns, &h.GiveUp)
	if s.verdicts > 0 {
		notes.learnRate(state+": fail", s.fails, s.verdicts, &h.Fail)
	}
	notes.learnRate(state+": exit", s.exits, s.told, &h.Exit)
	return notes
}

func (l *journalLearner) applyToPerson(p *Person) []string {
	var notes learningNotes
	notes.learnPace("human: delay", l.delays, &p.Delay)
	notes.learnRate("human: request_changes", l.changes, l.asked, &p.RequestChanges)
	notes.learnRate("human: cancel", l.cancels, l.answers, &p.Cancel)
	return notes
}

// learningNotes are lines about what was learned.
type learningNotes []string

func (n *learningNotes) learnRate(what string, hits, of int, into *float64) {
	if of < MinSamples {
		*n = append(*n, fmt.Sprintf("%s: %d samples are too few, %d are needed: %.3g stays", what, of, MinSamples, *into))
		return
	}
	*into = float64(hits) / float64(of)
	*n = append(*n, fmt.Sprintf("%s: %.3g, from %d samples", what, *into, of))
}

func (n *learningNotes) learnPace(what string, samples []time.Duration, into *Pace) {
	if len(samples) < MinSamples {
		*n = append(*n, fmt.Sprintf("%s: %d samples are too few, %d are needed: median %s stays", what, len(samples), MinSamples, time.Duration(into.Median)))
		return
	}
	sorted := make([]int64, len(samples))
	for i, d := range samples {
		sorted[i] = int64(max(d, time.Second))
	}
	slices.Sort(sorted)
	*into = Pace{Median: Span(quantileOf(sorted, 0.5)), P95: Span(quantileOf(sorted, 0.95))}
	*n = append(*n, fmt.Sprintf("%s: median %s, p95 %s, from %d samples", what,
		time.Duration(into.Median).Round(time.Second), time.Duration(into.P95).Round(time.Second), len(samples)))
}
