package workflow

import (
	"path"
	"slices"
	"strings"
	"unicode"

	"github.com/goccy/go-yaml/ast"
)

// A step workflow is a list of agents in sequence, with the codes that each may report and
// where they lead. It is another notation for a Definition: parsing one gives the states and
// edges that it stands for.

// maxSteps limits the steps of a file; a workflow has a handful.
const maxSteps = 64

// haltCodes end a step without a next one, unless the file gives one.
var haltCodes = [...]string{"BLOCKED", "NEEDS_CLARIFICATION", "TESTS_FAILED", "BUILD_FAILED", "NEEDS_RESEARCH"}

// The kinds of codes that lead to no step.
const (
	endsComplete = "complete"
	endsHalt     = "halt"
)

// stepFile is a step workflow as it is in its file.
type stepFile struct {
	name     string
	describe string
	max      int // steps of a task before a person must act; 0 if the file does not set it
	steps    []step
	pos      Pos
}

// A step is the work of one agent.
type step struct {
	role     string // the agent's name
	state    string // its state in the definition
	input    string
	output   string
	model    string
	prompt   string // "" for the default prompt
	describe string
	codes    []transition
	pos      Pos

	inputPos, modelPos, outputPos, promptPos Pos
}

// A transition is where a code leads.
type transition struct {
	code     string
	next     string // as in the file: an agent, or the number of a step; "" for none
	number   bool   // next is written as a number
	auto     bool   // the next step begins by itself
	kind     string // complete or halt if there is no next step; "" for the default
	describe string
	pos      Pos
	to       int // the step it leads to; negative for none
}

// Steps returns the states that are steps, in file order, or nil if the workflow is not written
// in steps.
func (d *Definition) Steps() []string { return slices.Clone(d.steps) }

// readSteps reads a step workflow into d. It returns false if the file is not one.
func (d *Definition) readSteps(root value) bool {
	keys := root.mappingKeys()
	has := func(key string) bool { return slices.Contains(keys, key) }
	_, mapping := root.node.(ast.MapNode)
	switch {
	case has("states") || has("edges"):
		return false
	case has("workflows") && !has("steps"):
		refuseTemplates(root)
		return true
	case !has("steps") && root.r.json && mapping:
		root.r.failAt(root.pos, "\"steps\" is missing: write {\"steps\": [{\"agent\": ..., \"on_status\": {...}}]}")
		return true
	case !has("steps"):
		return false
	}
	f := readStepFile(root)
	if root.r.err == nil {
		f.linkSteps(root.r)
	}
	if root.r.err == nil {
		f.compileInto(d, root.r)
	}
	return true
}

// mappingKeys returns the keys of a mapping, whatever else is wrong with it.
func (v value) mappingKeys() []string {
	var out []string
	if _, ok := v.node.(ast.MapNode); ok {
		for _, p := range (value{r: &reader{}, node: v.node}).readPairs("") {
			out = append(out, p.key)
		}
	}
	return out
}

func readStepFile(root value) *stepFile {
	f := &stepFile{pos: root.pos}
	var id, title string
	namePos := root.pos
	for _, p := range root.readPairs("the workflow") {
		switch p.key {
		case "id":
			id, namePos = p.val.readWords("id"), p.val.pos
		case "name":
			title = p.val.readWords("name")
		case "description":
			f.describe = strings.TrimSpace(p.val.readWords("description"))
		case "max_steps":
			f.max = p.val.readInteger("max_steps")
			if root.r.err == nil && (f.max < 1 || f.max > 1000) {
				root.r.failAt(p.val.pos, "max_steps: %d: give a number from 1 to 1000", f.max)
			}
		case "steps":
			f.readSteps(p.val)
		case "version", "$schema":
		default:
			unknownKey(root.r, p, "a step workflow", "id", "name", "description", "version", "max_steps", "steps")
		}
	}
	if f.describe == "" && id != "" {
		f.describe = strings.TrimSpace(title)
	}
	base := path.Base(strings.ReplaceAll(root.r.file, `\`, "/"))
	called := strings.TrimSpace(firstOf(id, title, strings.TrimSuffix(base, path.Ext(base))))
	if f.name = nameFrom(called); f.name == "" {
		root.r.failAt(namePos, "name %q has nothing that a name may have: add id: with letters, digits and dashes", called)
	}
	return f
}

func firstOf(texts ...string) string {
	for _, s := range texts {
		if strings.TrimSpace(s) != "" {
			return s
		}
	}
	return ""
}

func (f *stepFile) readSteps(v value) {
	list, ok := v.node.(*ast.SequenceNode)
	switch {
	case !ok:
		v.r.failAt(v.pos, "steps: expected a list, found %s: write [{\"agent\": ...}]", v.describeKind())
		return
	case len(list.Values) == 0:
		v.r.failAt(v.pos, "the workflow has no steps: add at least one, with an agent and on_status")
	case len(list.Values) > maxSteps:
		v.r.failAt(v.pos, "the workflow has %d steps and the limit is %d: split it", len(list.Values), maxSteps)
	}
	for i, item := range v.readList() {
		f.steps = append(f.steps, readStep(item, i))
	}
}

func readStep(v value, number int) step {
	s := step{pos: v.pos}
	what := stepName(number, "")
	var agent string
	var codes *value
	for _, p := range v.readPairs(what) {
		key := what + ": " + p.key
		switch p.key {
		case "agent":
			agent, s.pos = strings.TrimSpace(p.val.readWords(key)), p.val.pos
		case "input":
			s.input, s.inputPos = noNull(p.val.readWords(key)), p.val.pos
		case "required_output":
			s.output, s.outputPos = noNull(p.val.readWords(key)), p.val.pos
		case "model":
			s.model, s.modelPos = noNull(p.val.readWords(key)), p.val.pos
		case "prompt":
			s.prompt, s.promptPos = p.val.readWords(key), p.val.pos
		case "description":
			s.describe = strings.TrimSpace(p.val.readWords(key))
		case "on_status":
			codes = &p.val
		default:
			unknownKey(v.r, p, "a step", "agent", "input", "required_output", "model", "prompt", "description", "on_status")
		}
	}
	switch s.role = agent; {
	case agent == "":
		v.r.failAt(s.pos, "%s has no agent: add \"agent\": with its name in letters, digits and dashes", what)
	case !validName(agent):
		v.r.failAt(s.pos, "%s: agent %q is not a name: use letters, digits, dash and underscore, beginning with a letter, at most 64", what, agent)
	}
	s.checkValues(v.r, stepName(number, s.role))
	if codes == nil {
		v.r.failAt(v.pos, "%s has no on_status: add the codes it may end with", stepName(number, s.role))
		return s
	}
	s.readCodes(*codes, stepName(number, s.role))
	return s
}

// checkValues rejects values that cannot be used for their purpose.
func (s *step) checkValues(r *reader, what string) {
	if why := badPath(s.input); why != "" {
		r.failAt(s.inputPos, "%s: input %q %s", what, s.input, why)
	}
	if why := badPath(s.output); why != "" {
		r.failAt(s.outputPos, "%s: required_output %q %s", what, s.output, why)
	}
	if strings.HasSuffix(s.output, "/") || strings.ContainsFunc(s.output, unicode.IsControl) {
		r.failAt(s.outputPos, "%s: required_output %q is not the name of a file: write one such as summary.md", what, s.output)
	}
	if strings.HasPrefix(s.model, "-") || strings.ContainsFunc(s.model, unicode.IsControl) {
		r.failAt(s.modelPos, "%s: model %q cannot be one: it begins with a dash or has control characters", what, s.model)
	}
	for _, name := range PromptVariables(s.input) {
		if !slices.Contains(inputVariables[:], name) {
			r.failAt(s.inputPos, "%s: input: variable {%s} is not known: use {%s}%s", what, name, strings.Join(inputVariables[:], "}, {"), suggestSimilar(name, inputVariables[:]))
		}
	}
}

// inputVariables are the variables that an input may use.
var inputVariables = [...]string{"enhancement_name", "enhancement_dir", "previous_step"}

func (s *step) readCodes(v value, what string) {
	pairs := v.readPairs(what + ": on_status")
	if len(pairs) == 0 {
		v.r.failAt(v.pos, "%s: on_status is empty: add the codes it may end with", what)
	}
	for _, p := range pairs {
		t := transition{code: strings.ToUpper(strings.TrimSpace(p.key)), auto: true, pos: p.pos, to: -1}
		switch {
		case t.code == "":
			v.r.failAt(p.pos, "%s: on_status has a code without a name: give it one such as READY_FOR_TESTING", what)
		case strings.ContainsRune(t.code, ':'):
			v.r.failAt(p.pos, "%s: code %q has a colon, which begins the detail an agent adds: leave it out", what, p.key)
		case !isStatusCode(t.code):
			v.r.failAt(p.pos, "%s: code %q cannot be reported by an agent: use letters, digits, dash, underscore and dot, beginning with a letter, at most %d", what, p.key, maxStatusCode)
		case slices.ContainsFunc(s.codes, func(have transition) bool { return have.code == t.code }):
			v.r.failAt(p.pos, "%s: code %s is given twice, because case does not matter in codes: keep one", what, t.code)
		}
		t.readKeys(p.val, what+": "+t.code)
		s.codes = append(s.codes, t)
	}
}

// maxStatusCode is the length limit of a code, in characters.
const maxStatusCode = 80

// isStatusCode reports whether a code in capitals can be recognized in an agent's message.
func isStatusCode(code string) bool {
	for i, c := range []byte(code) {
		letter := c >= 'A' && c <= 'Z'
		if !letter && (i == 0 || (c < '0' || c > '9') && c != '_' && c != '-' && c != '.') {
			return false
		}
	}
	return len(code) <= maxStatusCode
}

func (t *transition) readKeys(v value, what string) {
	for _, p := range v.readPairs(what) {
		key := what + ": " + p.key
		switch p.key {
		case "next_step":
			t.readNext(p.val, key)
		case "auto_chain", "auto_start":
			t.auto = p.val.readBoolean(key) && t.auto
		case "kind":
			t.kind = p.val.oneOf(key, endsComplete, endsHalt)
		case "description":
			t.describe = strings.TrimSpace(p.val.readWords(key))
		default:
			unknownKey(v.r, p, "a code of on_status", "next_step", "auto_chain", "auto_start", "kind", "description")
		}
	}
	if t.next != "" && t.kind != "" {
		v.r.failAt(v.pos, "%s: it has a next_step and is of kind %s, which ends here: keep one", what, t.kind)
	}
}

func (t *transition) readNext(v value, what string) {
	_, t.number = v.node.(*ast.IntegerNode)
	if t.number {
		t.next = v.readText(what)
		return
	}
	t.next = noNull(strings.TrimSpace(v.readWords(what)))
}

// readWords reads text. A missing value counts as no text; a number or a boolean is an error.
func (v value) readWords(what string) string {
	switch v.node.(type) {
	case *ast.NullNode:
		return ""
	case *ast.StringNode, *ast.LiteralNode:
		return v.readText(what)
	}
	v.r.failAt(v.pos, "%s: expected text, found %s: write it in quotes", what, v.describeKind())
	return ""
}

// noNull treats the word null as no value, as people write it.
func noNull(s string) string {
	if strings.TrimSpace(s) == "null" {
		return ""
	}
	return s
}

// nameFrom derives a valid name from a text, or "" if nothing of it can be used. If the name
// would begin with a digit, it gets the prefix "workflow".
func nameFrom(text string) string {
	if validName(text) {
		return text
	}
	var b strings.Builder
	for _, r := range strings.ToLower(text) {
		if r < unicode.MaxASCII && (r >= 'a' && r <= 'z' || r >= '0' && r <= '9' || r == '_') {
			b.WriteRune(r)
		} else if !strings.HasSuffix(b.String(), "-") {
			b.WriteByte('-')
		}
	}
	name := strings.Trim(b.String(), "-_")
	if name != "" && !validName(name[:1]) {
		name = "workflow-" + name
	}
	return strings.TrimRight(name[:min(len(name), maxMadeName)], "-_")
}

// maxMadeName leaves room after a name for a number that makes it unique.
const maxMadeName = 48
