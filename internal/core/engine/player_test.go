package engine_test

import (
	"slices"

	"pgregory.net/rapid"

	"orange/internal/core/board"
	"orange/internal/core/engine"
	"orange/internal/core/handoff"
	"orange/internal/core/signal"
	"orange/internal/core/task"
	"orange/internal/core/workflow"
)

// nextSignal is anything at all, or something that is likely to happen next: then a task
// gets further than chance would bring it.
func (p *player) nextSignal() signal.Signal {
	if p.task.Seq == 0 || rapid.IntRange(0, 2).Draw(p.rt, "anything") == 0 {
		return p.anySignal()
	}
	s, _ := p.def.StateNamed(p.task.Status)
	a, lives := p.task.LiveAttempt(s.Role)
	timers := engine.Timers(p.def, &p.task)
	if len(p.task.After) > 0 && rapid.IntRange(0, 4).Draw(p.rt, "news") == 0 {
		return signal.Signal{Kind: signal.Tracker, Actor: task.Engine, Word: signal.PredecessorMoved}
	}
	switch e, owed := engine.NextEffect(&p.task); {
	case owed:
		return signal.Signal{Kind: signal.Effect, Actor: task.Engine, Result: &signal.Receipt{Effect: e.ID, OK: true}}
	case p.task.Paused || p.task.Attention != "":
		return signal.Signal{Kind: signal.Resume, Actor: task.Human}
	case s.Kind == workflow.Agent && lives:
		kind, actor := signal.Exit, task.Engine
		switch rapid.IntRange(0, 2).Draw(p.rt, "living") {
		case 0:
			kind, actor = signal.Outcome, task.Actor(a.Role)
		case 1:
			if engine.WaitsForAnswer(p.def, p.task) {
				return signal.Signal{Kind: signal.Request, Actor: task.Human, Verb: engine.VerbAnswer, Note: "a word"}
			}
			return signal.Signal{Kind: signal.Notice, Actor: actor, Attempt: a.Number, Condition: &task.Condition{Name: task.Idle}, Final: p.lastMessage()}
		}
		return signal.Signal{Kind: kind, Actor: actor, Attempt: a.Number, Role: a.Role, Report: p.report(), Final: p.lastMessage()}
	case p.def.WatchesBoard(s.Name):
		return signal.Signal{Kind: signal.Tracker, Actor: task.Engine, Word: signal.CardChanged, CardSnapshot: p.face()}
	case len(timers) > 0:
		tm := rapid.SampledFrom(timers).Draw(p.rt, "due")
		if tm.At.After(p.now) {
			p.now = tm.At
		}
		return signal.Signal{Kind: signal.Timer, Actor: task.Engine, Timer: tm.Name, Visit: tm.Visit}
	case s.Kind == workflow.Queued:
		return signal.Signal{Kind: signal.Ready, Actor: task.Engine}
	}
	return signal.Signal{Kind: signal.Request, Actor: task.Human, Verb: rapid.SampledFrom([]string{"complete", "resume", "respawn", "request-changes", "reopen"}).Draw(p.rt, "way on")}
}

// surroundings are what is true beside the record when a signal is decided.
func (p *player) surroundings(sig *signal.Signal) {
	sig.Evidence = nil
	for _, name := range append(p.facts(), workflow.ClaimsFact) {
		if holds := rapid.IntRange(0, 2).Draw(p.rt, name); holds > 0 {
			sig.Evidence = append(sig.Evidence, signal.Evidence{Name: name, Holds: holds == 1, Detail: "found"})
		}
	}
	sig.Rules = rapid.IntRange(p.task.Rules, engine.Rules).Draw(p.rt, "rules")
	sig.Busy = rapid.SampledFrom([][]string{nil, nil, nil, {"dev"}}).Draw(p.rt, "busy")
	sig.Commit = rapid.SampledFrom([]string{"", "c1", "c2"}).Draw(p.rt, "commit")
	p.predecessors(sig)
	states := rapid.SliceOfN(rapid.SampledFrom(append(stateNames(p.def), "gone")), 0, 2).Draw(p.rt, "children")
	sig.Children = nil
	for _, s := range states {
		sig.Children = append(sig.Children, signal.Child{ID: "c", Status: s})
	}
}

// predecessors says what became of the tasks that the task is after.
func (p *player) predecessors(sig *signal.Signal) {
	sig.Predecessors = nil
	after := p.task.After
	if p.task.Seq == 0 && sig.New != nil {
		after = sig.New.After
	}
	for _, id := range after {
		sig.Predecessors = append(sig.Predecessors, task.Predecessor{ID: id, Branch: "other", State: rapid.SampledFrom(task.PredecessorStates()).Draw(p.rt, "predecessor")})
	}
}

// facts lists what gates ask for besides sections.
func (p *player) facts() []string {
	out := workflow.EvidenceVocabulary()
	for i := range p.def.Gates {
		if name := p.def.Gates[i].FactName(); name != "" && !slices.Contains(out, name) {
			out = append(out, name)
		}
	}
	return out
}

// words lets agents say something, most often who lives, and cards look like something.
func (p *player) words(sig *signal.Signal) {
	if sig.Kind == signal.Exit || sig.Kind == signal.Outcome {
		if n := len(p.task.Attempts); n > 0 && rapid.IntRange(0, 3).Draw(p.rt, "lives") > 0 {
			a := p.task.Attempts[rapid.IntRange(0, n-1).Draw(p.rt, "who")]
			sig.Attempt, sig.Role = a.Number, a.Role
			if sig.Kind == signal.Outcome {
				sig.Actor = task.Actor(a.Role)
			}
		}
		sig.Code = rapid.IntRange(0, 1).Draw(p.rt, "code")
		sig.Final = p.lastMessage()
		if rapid.IntRange(0, 4).Draw(p.rt, "reports") > 0 {
			sig.Report = p.report()
		}
	}
	if sig.Kind == signal.Tracker && rapid.Bool().Draw(p.rt, "card") {
		sig.Word, sig.CardSnapshot = signal.CardChanged, p.face()
	}
}

// lastMessage is what a turn ends with.
func (p *player) lastMessage() string {
	return rapid.SampledFrom([]string{"", "I am done.\n<!-- x -->", asks}).Draw(p.rt, "final")
}

// report is something that an agent says, most often something that the state knows.
func (p *player) report() *signal.Report {
	codes := []string{"", "", "junk", "success", "failure"}
	for _, i := range p.def.EdgesFrom(p.task.Status) {
		for _, tr := range p.def.Edges[i].On {
			if tr.Kind == workflow.OnOutcome {
				codes = append(codes, tr.Value, tr.Value)
			}
		}
	}
	r := &signal.Report{
		Outcome: rapid.SampledFrom([]signal.Result{signal.Passed, signal.Failed, signal.Unknown, signal.Ambiguous}).Draw(p.rt, "outcome"),
		Code:    rapid.SampledFrom(codes).Draw(p.rt, "said"), Detail: rapid.SampledFrom([]string{"", "a detail"}).Draw(p.rt, "detail"),
		Source:    rapid.SampledFrom([]signal.Source{signal.FromMarker, signal.FromJSON, signal.FromHeuristic, signal.FromLegacy}).Draw(p.rt, "source"),
		Diagnosis: rapid.SampledFrom([]string{"", "line 1"}).Draw(p.rt, "diagnosis"),
	}
	if p.def.Board != nil && rapid.Bool().Draw(p.rt, "worker") {
		p.result(r)
	}
	return r
}

// result adds what only a worker's result has.
func (p *player) result(r *signal.Report) {
	f := p.face()
	r.Actions = &signal.Actions{
		AddTags: f.Tags, RemoveTags: p.tags("removed"), Column: f.Column,
		Comment:     rapid.SampledFrom([]string{"", "a comment", forged}).Draw(p.rt, "comment"),
		Description: rapid.SampledFrom([]string{"", "described"}).Draw(p.rt, "description"),
		NeedsHuman:  rapid.SampledFrom([]string{"", "", "help"}).Draw(p.rt, "human"),
	}
	if rapid.Bool().Draw(p.rt, "git") {
		r.Actions.Git = &signal.GitActions{Made: true, Commit: "c1", PR: &signal.PRMade{Number: 1, URL: rapid.SampledFrom([]string{"https://x/1", "https://x/2", "x"}).Draw(p.rt, "pr")}}
	}
	if rapid.Bool().Draw(p.rt, "hands over") {
		r.Handoff = &handoff.Handoff{From: rapid.SampledFrom([]string{"ba", "dev"}).Draw(p.rt, "from"), To: "ops", Decisions: []string{"a"}, Metadata: map[string]any{"n": 1.5}}
	}
	if rapid.IntRange(0, 2).Draw(p.rt, "consults") == 0 {
		r.Consult = &signal.Consult{
			Role: rapid.SampledFrom([]string{"architect", "ba", "reviewer", "dev", "junk"}).Draw(p.rt, "consulted"), Mode: "m",
			Resume: signal.ConsultResume{Role: rapid.SampledFrom([]string{"", "dev", "ops", "reviewer"}).Draw(p.rt, "resumes")},
		}
	}
}

// face is how a card can look: as an edge waits for, or anyhow.
func (p *player) face() *board.Snapshot {
	faces := []*board.Snapshot{{Column: "elsewhere"}, {}}
	for _, i := range p.def.EdgesFrom(p.task.Status) {
		for _, tr := range p.def.Edges[i].On {
			if tr.Kind == workflow.OnBoard {
				f := tr.Board.ExampleCard()
				faces = append(faces, &f, &f)
			}
		}
	}
	f := *rapid.SampledFrom(faces).Draw(p.rt, "face")
	f.Described = rapid.SampledFrom([]string{"", "d"}).Draw(p.rt, "described")
	f.Tags = append(slices.Clone(f.Tags), p.tags("tags")...)
	return &f
}

func (p *player) tags(label string) []string {
	names := []string{"unknown"}
	if b := p.def.Board; b != nil {
		for i := range b.Tags {
			names = append(names, b.Tags[i].Name)
		}
	}
	return rapid.SliceOfN(rapid.SampledFrom(names), 0, 2).Draw(p.rt, label)
}
