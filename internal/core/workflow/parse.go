package workflow

import (
	"crypto/sha256"
	"encoding/hex"
	"errors"
	"strings"

	"orange/internal/core/task"
)

// Parse parses a workflow file. It rejects what it cannot understand: broken YAML, unknown keys
// and words, and names that are used and not declared. Check reports what is valid but wrong.
// The error lists every unknown name.
func Parse(file, text string) (*Definition, error) {
	r := &reader{file: file}
	main, fragments := splitFragments(text)
	root, ok := r.openRoot(main)
	if ok && len(text) > MaxSize {
		r.failAt(beginning, "the file and its fragments have %d bytes and the limit is %d: shorten them", len(text), MaxSize)
	}
	if r.err != nil {
		return nil, r.err
	}
	d := &Definition{File: file, Text: text, Hash: HashOf(text)}
	if !d.readSteps(root) {
		d.readRoot(r, root, fragments)
	}
	if r.err != nil {
		return nil, r.err
	}
	d.buildIndex()
	if errs := d.resolveNames(); len(errs) > 0 {
		return nil, errors.Join(errs...)
	}
	return d, nil
}

// WithEdits returns a copy of d with changes that are in no file, to try hypothetical
// workflows. change must leave every name that is used declared.
func (d *Definition) WithEdits(change func(*Definition)) (*Definition, error) {
	c, err := Parse(d.File, d.Text)
	if err != nil {
		return nil, err
	}
	change(c)
	c.visitGates = nil
	c.buildIndex()
	return c, errors.Join(c.resolveNames()...)
}

// HashOf returns the hash of a workflow text, for pinning.
func HashOf(text string) string {
	sum := sha256.Sum256([]byte(text))
	return hex.EncodeToString(sum[:])
}

func (d *Definition) readRoot(r *reader, root value, fragments []fragment) {
	var include []inclusion
	var edges []value // read last: guards name counters, which may be declared after them
	for _, p := range root.readPairs("the workflow") {
		switch p.key {
		case "name":
			d.Name = p.val.readName("name")
		case "version":
			d.Version = p.val.readInteger("version")
		case "describe":
			d.Describe = strings.TrimSpace(p.val.readText("describe"))
		case "roles":
			d.readRoles(p.val)
		case "counters":
			d.readCounters(p.val)
		case "gates":
			d.readGates(p.val)
		case "states":
			d.readStates(p.val)
		case "edges":
			edges = p.val.readList()
		case "prompts":
			d.readPrompts(p.val)
		case "vars":
			d.readVars(p.val)
		case "checks":
			d.readChecks(p.val)
		case "include":
			include = p.val.includedFiles()
		case "board":
			d.readBoard(p.val)
		case "tracker":
			for _, q := range p.val.readPairs("tracker") {
				d.Projections = append(d.Projections, Projection{State: q.key, Status: q.val.readText("tracker status"), Pos: q.pos})
			}
		default:
			unknownKey(r, p, "a workflow", "name", "version", "describe", "roles", "counters", "gates", "states", "edges", "prompts", "board", "vars", "checks", "include", "tracker")
		}
	}
	d.readFragments(r, include, fragments)
	for _, v := range edges {
		d.Edges = append(d.Edges, readEdge(v, d))
	}
	switch {
	case d.Name == "":
		r.failAt(root.pos, "the workflow has no name: add name:")
	case d.Version != 1:
		r.failAt(root.pos, "version is %d: this format is version: 1", d.Version)
	case len(d.States) == 0:
		r.failAt(root.pos, "the workflow has no states: add states:")
	}
}

func (d *Definition) readStates(v value) {
	for _, p := range v.readPairs("states") {
		s := State{Name: declaredName(v.r, p), Respawn: RespawnAuto, OnIdle: IdleNudge, Pos: p.pos}
		if s.Name == New {
			v.r.failAt(p.pos, "state %q: the name stands for a task that does not exist yet: choose another", New)
		}
		for _, q := range p.val.readPairs("state " + p.key) {
			readStateKey(&s, q)
		}
		if s.Kind == "" {
			v.r.failAt(p.pos, "state %s has no kind: add kind: %s", p.key, orList(kindWords))
		}
		switch {
		case s.Kind == CheckDo && s.Role != "":
			v.r.failAt(p.pos, "state %s is of kind check, where no agent works: drop role:", p.key)
		case s.Kind == CheckDo:
			s.Role = CheckRole
		case len(s.Checks) > 0:
			v.r.failAt(p.pos, "state %s has checks: and is of kind %s: write kind: check", p.key, s.Kind)
		}
		d.States = append(d.States, s)
	}
}

func readStateKey(s *State, q pair) {
	what := "state " + s.Name + ": " + q.key
	switch q.key {
	case "kind":
		s.Kind = Kind(q.val.oneOf(what, kindWords...))
	case "role":
		s.Role = q.val.readName(what)
	case "deadline":
		for _, d := range q.val.readPairs(what) {
			switch d.key {
			case "wall":
				s.Wall = d.val.readDuration(what + ".wall")
			case "idle":
				s.Idle = d.val.readDuration(what + ".idle")
			default:
				unknownKey(q.val.r, d, "a deadline", "wall", "idle")
			}
		}
	case "respawn":
		s.Respawn = Respawn(q.val.oneOf(what, respawnWords[:]...))
	case "on_idle":
		s.OnIdle = OnIdle(q.val.oneOf(what, onIdleWords[:]...))
	case "prompt":
		s.Prompt = q.val.readName(what)
	case "respawn_prompt":
		s.RespawnPrompt = q.val.readName(what)
	case "model":
		s.Model = q.val.readText(what)
	case "mode":
		s.Mode = q.val.readText(what)
	case "cooldown":
		s.Cooldown = q.val.readDuration(what)
	case "returns":
		s.Returns = q.val.readBoolean(what)
	case "reopen":
		s.Reopen = q.val.readName(what)
	case "on_enter":
		s.OnEnter = readEffects(q.val, what)
	case "checks":
		s.Checks = q.val.readTexts(what)
	default:
		unknownKey(q.val.r, q, "a state", "kind", "role", "deadline", "respawn", "on_idle", "prompt", "respawn_prompt", "model", "mode", "cooldown", "returns", "reopen", "on_enter", "checks")
	}
}

func readEdge(v value, d *Definition) Edge {
	e := Edge{Pos: v.pos}
	for _, q := range v.readPairs("an edge") {
		what := "edge: " + q.key
		switch q.key {
		case "from":
			e.From = q.val.readTexts(what)
		case "to":
			e.To = q.val.readText(what)
		case "on":
			e.On = readTriggers(q.val)
		case "by":
			e.By = toActors(q.val.readTexts(what))
		case "as":
			e.As = q.val.readName(what)
		case "when":
			e.When = readGuard(q.val, d)
		case "gate":
			e.Gates = q.val.readTexts(what)
		case "count":
			e.Count = readCounts(q.val)
		case "do":
			e.Do = readEffects(q.val, what)
		case "confirm":
			e.Confirm = toActors(q.val.readTexts(what))
		case "hold":
			e.Hold = q.val.readBoolean(what)
		case "override":
			e.Override = q.val.readBoolean(what)
		case "describe":
			e.Describe = q.val.readText(what)
		default:
			unknownKey(v.r, q, "an edge", "from", "to", "on", "by", "as", "when", "gate", "count", "do", "confirm", "hold", "override", "describe")
		}
	}
	if len(e.From) == 0 || e.To == "" {
		v.r.failAt(v.pos, "an edge needs from: and to:")
	}
	if len(e.On) == 0 {
		e.On = []Trigger{{Kind: OnRequest}}
	}
	return e
}

func toActors(names []string) []task.Actor {
	out := make([]task.Actor, len(names))
	for i, n := range names {
		out[i] = task.Actor(n)
	}
	return out
}

func readTriggers(v value) []Trigger {
	var out []Trigger
	for _, item := range v.readList() {
		if item.describeKind() != "a mapping" {
			word := item.oneOf("on", triggerWords[:]...)
			out = append(out, Trigger{Kind: TriggerKind(word)})
			continue
		}
		for _, p := range item.readPairs("on") {
			switch p.key {
			case "outcome":
				out = append(out, Trigger{Kind: OnOutcome, Value: strings.ToUpper(p.val.readText("on outcome"))})
			case "consult":
				out = append(out, Trigger{Kind: OnConsult, Value: p.val.readName("on consult")})
			case "board":
				out = append(out, readCardTrigger(p.val))
			case "timer":
				after := p.val.readDuration("on timer")
				out = append(out, Trigger{Kind: OnTimer, Value: after.String(), After: after})
			case "tracker":
				out = append(out, Trigger{Kind: OnTracker, Value: p.val.readText("on tracker")})
			case "check":
				out = append(out, Trigger{Kind: OnCheck, Value: p.val.oneOf("on check", checkWords[:]...)})
			case "landing":
				out = append(out, landingTrigger(p.val.oneOf("on landing", landingWords[:]...)))
			case "tag", "pr":
				out = append(out, Trigger{Kind: OnTracker, Value: p.key + ":" + p.val.readText("on "+p.key)})
			default:
				unknownKey(v.r, p, "on", "outcome", "consult", "board", "timer", "tracker", "tag", "pr", "check", "landing")
			}
		}
	}
	return out
}

func readGuard(v value, d *Definition) *Guard {
	source := v.readText("when")
	if v.r.err != nil {
		return nil
	}
	g, err := compileGuard(source, d.NewEnv(), v.pos)
	if err != nil {
		v.r.failAt(v.pos, "%s: compare the declared counters, return_to and children, as in review_round < 2", err)
	}
	return g
}

func readCounts(v value) []CountOp {
	var out []CountOp
	for _, p := range v.readPairs("count") {
		op := CountOp{Counter: p.key}
		text := p.val.readText("count " + p.key)
		op.Add = strings.HasPrefix(text, "+") || strings.HasPrefix(text, "-")
		op.Value = p.val.readInteger("count " + p.key)
		if v.r.err == nil && op.Value < 0 {
			v.r.failAt(p.val.pos, "count %s: %s: a counter rises (+1) or is set (0)", p.key, text)
		}
		out = append(out, op)
	}
	return out
}

func readEffects(v value, what string) []Effect {
	var out []Effect
	for _, item := range v.readList() {
		if item.describeKind() != "a mapping" {
			out = append(out, newEffect(item, item.readText(what), ""))
			continue
		}
		for _, p := range item.readPairs(what) {
			if p.key == Notify {
				out = append(out, newNotify(p.val, what+" "+p.key))
				continue
			}
			out = append(out, newEffect(item, p.key, p.val.readText(what+" "+p.key)))
		}
	}
	return out
}

// newNotify reads {role: R, prompt: P}.
func newNotify(v value, what string) Effect {
	e := Effect{Name: Notify}
	for _, p := range v.readPairs(what) {
		switch p.key {
		case "role":
			e.Role = p.val.readName(what + " role")
		case "prompt":
			e.Message = p.val.readName(what + " prompt")
		default:
			unknownKey(v.r, p, what, "role", "prompt")
		}
	}
	if v.r.err == nil && (e.Role == "" || e.Message == "") {
		v.r.failAt(v.pos, "%s needs a role and a prompt: write {notify: {role: NAME, prompt: NAME}}", what)
	}
	return e
}

func newEffect(v value, name, arg string) Effect {
	info, ok := EffectNamed(name)
	switch {
	case v.r.err != nil:
	case !ok || info.Own:
		var words []string
		for i := range effectVocabulary {
			if !effectVocabulary[i].Own {
				words = append(words, effectVocabulary[i].Name)
			}
		}
		v.r.failAt(v.pos, "effect %q is not known: use %s%s", name, orList(words), suggestSimilar(name, words))
	case info.TakesArg == "" && arg != "":
		v.r.failAt(v.pos, "effect %s takes nothing: write - %s", name, name)
	case name == Notify:
		v.r.failAt(v.pos, "effect notify needs a role and a prompt: write {notify: {role: NAME, prompt: NAME}}")
	case info.TakesArg != "" && arg == "":
		v.r.failAt(v.pos, "effect %s needs a %s: write {%s: NAME}", name, info.TakesArg, name)
	}
	e := Effect{Name: name, Role: info.Role}
	switch info.TakesArg {
	case "role":
		e.Role = arg
	case "message":
		e.Message = arg
	default:
		e.Word = arg
	}
	return e
}

func declaredName(r *reader, p pair) string {
	if r.err == nil && !validName(p.key) {
		r.failAt(p.pos, "%q is not a name: use letters, digits, dash and underscore, beginning with a letter", p.key)
	}
	return p.key
}

func unknownKey(r *reader, p pair, what string, known ...string) {
	r.failAt(p.pos, "%s has no key %q: use %s%s", what, p.key, orList(known), suggestSimilar(p.key, known))
}
