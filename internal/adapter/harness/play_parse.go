package harness

import (
	"context"
	"errors"
	"fmt"
	"maps"
	"slices"
	"strconv"
	"strings"
	"time"

	"github.com/goccy/go-yaml/ast"
	"github.com/goccy/go-yaml/parser"
	"github.com/goccy/go-yaml/token"
)

// maxScript limits the size of a script, in bytes.
const maxScript = 1 << 20

// scriptReader parses a script and records the first error.
type scriptReader struct {
	file string
	err  error
}

func (r *scriptReader) failNode(node ast.Node, format string, args ...any) {
	line, column := 1, 1
	if tk := startOf(node); tk != nil && tk.Position != nil {
		line, column = tk.Position.Line, tk.Position.Column
	}
	r.failAt(line, column, format, args...)
}

func (r *scriptReader) failAt(line, column int, format string, args ...any) {
	if r.err == nil {
		r.err = fmt.Errorf("%s:%d:%d: %s", r.file, line, column, cleanLine(fmt.Sprintf(format, args...), 300))
	}
}

// startOf returns where a node begins: a block mapping begins with its first key.
func startOf(node ast.Node) *token.Token {
	switch n := node.(type) {
	case nil:
		return nil
	case *ast.MappingNode:
		if !n.IsFlowStyle && len(n.Values) > 0 {
			return n.Values[0].Key.GetToken()
		}
	case *ast.MappingValueNode:
		return n.Key.GetToken()
	}
	return node.GetToken()
}

// parseScript parses a script: roles, each with its steps.
func parseScript(file, text string) (map[string][]step, error) {
	r := &scriptReader{file: file}
	if len(text) > maxScript || strings.ContainsRune(text, 0) {
		return nil, fmt.Errorf("%s:1:1: this is not a script: write YAML of at most %d bytes", file, maxScript)
	}
	tree, err := parser.ParseBytes([]byte(text), 0)
	if err != nil {
		r.failYAML(err)
		return nil, r.err
	}
	if len(tree.Docs) != 1 || tree.Docs[0].Body == nil {
		return nil, fmt.Errorf("%s:1:1: the script is empty: map roles to lists of steps", file)
	}
	roles := map[string][]step{}
	for _, pair := range r.readPairs(tree.Docs[0].Body, "a script") {
		name := r.readText(pair.Key, "a role")
		if !roleKey(name) {
			r.failNode(pair.Key, "role %q: write a name such as worker, or worker#2 for its second attempt", name)
		}
		if _, twice := roles[name]; twice {
			r.failNode(pair.Key, "role %q is given twice: keep one", name)
		}
		roles[name] = r.readSteps(pair.Value, name)
	}
	return roles, r.err
}

func (r *scriptReader) failYAML(err error) {
	var syntax interface {
		GetToken() *token.Token
		GetMessage() string
	}
	if errors.As(err, &syntax) && syntax.GetToken() != nil && syntax.GetToken().Position != nil {
		at := syntax.GetToken().Position
		r.failAt(at.Line, at.Column, "%s: fix the YAML here", syntax.GetMessage())
		return
	}
	r.failAt(1, 1, "%v: fix the YAML", err)
}

// roleKey reports whether key is a role, with or without the number of an attempt.
func roleKey(key string) bool {
	role, number, numbered := strings.Cut(key, "#")
	n, err := strconv.Atoi(number)
	return plainID(role) && (!numbered || err == nil && n > 0 && strconv.Itoa(n) == number)
}

func (r *scriptReader) readSteps(node ast.Node, role string) []step {
	list, ok := node.(*ast.SequenceNode)
	if !ok {
		r.failNode(node, "role %s: expected a list of steps", role)
		return nil
	}
	steps := make([]step, 0, len(list.Values))
	for _, n := range list.Values {
		steps = append(steps, r.readStep(n))
	}
	return steps
}

// stepKind describes a kind of step: the function that reads its value, nil if it takes none,
// and the function that plays it.
type stepKind struct {
	read func(*scriptReader, ast.Node, *step)
	act  func(context.Context, *player, step) (exit int, over bool)
}

func stepKinds() map[string]stepKind {
	return map[string]stepKind{
		"section": {(*scriptReader).readSection, playSection},
		"run":     {(*scriptReader).readWords, playRun},
		"print":   {(*scriptReader).readWords, playPrint},
		"say":     {(*scriptReader).readWords, playSay},
		"sleep":   {(*scriptReader).readDuration, playSleep},
		"commit":  {(*scriptReader).readCommit, playCommit},
		"wait":    {nil, playWait},
		"ask":     {(*scriptReader).readWords, playAsk},
		"limit":   {(*scriptReader).readDuration, playLimit},
		"exit":    {(*scriptReader).readExitCode, playExit},
		"die":     {(*scriptReader).readSignal, playDie},
		"daemon":  {(*scriptReader).readWords, playDaemon},
		"idle":    {nil, playIdle},
		"usage":   {(*scriptReader).readUsage, playUsage},
	}
}

func (r *scriptReader) unknownStep(node ast.Node, name string) {
	r.failNode(node, "step %q is not known: use %s", name, strings.Join(slices.Sorted(maps.Keys(stepKinds())), ", "))
}

// readStep reads one step: a word, or a word with a value and options beside it.
func (r *scriptReader) readStep(node ast.Node) step {
	if word, ok := node.(*ast.StringNode); ok {
		k, known := stepKinds()[word.Value]
		switch {
		case !known:
			r.unknownStep(node, word.Value)
		case k.read != nil:
			r.failNode(node, "step %s needs a value: write %s: ...", word.Value, word.Value)
		}
		return step{name: word.Value, act: k.act}
	}
	pairs := r.readPairs(node, "a step")
	if len(pairs) == 0 {
		r.failNode(node, "a step is empty: name what to do")
		return step{}
	}
	name := r.readText(pairs[0].Key, "a step")
	k, known := stepKinds()[name]
	if !known {
		r.unknownStep(pairs[0].Key, name)
		return step{}
	}
	s := step{name: name, act: k.act}
	if k.read != nil {
		k.read(r, pairs[0].Value, &s)
	} else if _, none := pairs[0].Value.(*ast.NullNode); !none {
		r.failNode(pairs[0].Value, "step %s takes no value: leave it out", name)
	}
	r.readOptions(pairs[1:], &s)
	return s
}

// readOptions reads the options beside a step.
func (r *scriptReader) readOptions(pairs []*ast.MappingValueNode, s *step) {
	for _, pair := range pairs {
		key := r.readText(pair.Key, "an option")
		switch {
		case key == "must" && s.name == "run":
			s.must = r.readBool(pair.Value, key)
		case key == "stay" && s.name == "limit":
			s.stay = r.readBool(pair.Value, key)
		default:
			r.failNode(pair.Key, "step %s has no option %q: begin a new step with a dash, or leave it out", s.name, key)
		}
	}
}

// readPairs reads a mapping in the order of the file.
func (r *scriptReader) readPairs(node ast.Node, what string) []*ast.MappingValueNode {
	switch n := node.(type) {
	case *ast.MappingNode:
		return n.Values
	case *ast.MappingValueNode:
		return []*ast.MappingValueNode{n}
	}
	r.failNode(node, "%s: expected key: value pairs", what)
	return nil
}

func (r *scriptReader) readText(node ast.Node, what string) string {
	switch n := node.(type) {
	case *ast.StringNode:
		return n.Value
	case *ast.LiteralNode:
		return n.Value.Value
	case *ast.IntegerNode, *ast.BoolNode, *ast.FloatNode:
		return n.GetToken().Value
	}
	r.failNode(node, "%s: expected text", what)
	return ""
}

func (r *scriptReader) readBool(node ast.Node, what string) bool {
	s := r.readText(node, what)
	if s != "true" && s != "false" {
		r.failNode(node, "%s: write true or false", what)
	}
	return s == "true"
}

func (r *scriptReader) readNumber(node ast.Node, what string) float64 {
	n, err := strconv.ParseFloat(r.readText(node, what), 64)
	if err != nil || !(n >= 0) {
		r.failNode(node, "%s: write a number", what)
	}
	return n
}

func (r *scriptReader) readWords(node ast.Node, s *step) { s.text = r.readText(node, s.name) }

func (r *scriptReader) readDuration(node ast.Node, s *step) {
	d, err := time.ParseDuration(r.readText(node, s.name))
	if err != nil || d < 0 {
		r.failNode(node, "%s: write a time such as 200ms or 2s", s.name)
	}
	s.span = d
}

func (r *scriptReader) readExitCode(node ast.Node, s *step) {
	n, err := strconv.Atoi(r.readText(node, s.name))
	if err != nil || n < 0 || n > 255 {
		r.failNode(node, "exit: write a number from 0 to 255")
	}
	s.code = n
}

func (r *scriptReader) readSignal(node ast.Node, s *step) {
	s.text = strings.TrimPrefix(r.readText(node, s.name), "SIG")
	if _, ok := deathSignals()[s.text]; !ok {
		r.failNode(node, "die: signal %q is not known: use %s", s.text, strings.Join(slices.Sorted(maps.Keys(deathSignals())), ", "))
	}
}

func (r *scriptReader) readSection(node ast.Node, s *step) {
	r.readFields(node, s, map[string]func(ast.Node){
		"name": func(n ast.Node) { s.section = r.readText(n, "name") },
		"text": func(n ast.Node) { s.text = r.readText(n, "text") },
	}, "name", "text")
	if strings.TrimSpace(s.section) != s.section || strings.ContainsAny(s.section, "\r\n#") {
		r.failNode(node, "section: the name is one line without #")
	}
}

func (r *scriptReader) readCommit(node ast.Node, s *step) {
	r.readFields(node, s, map[string]func(ast.Node){
		"file":    func(n ast.Node) { s.file = r.readText(n, "file") },
		"text":    func(n ast.Node) { s.text = r.readText(n, "text") },
		"message": func(n ast.Node) { s.message = r.readText(n, "message") },
	}, "file", "text", "message")
}

func (r *scriptReader) readUsage(node ast.Node, s *step) {
	r.readFields(node, s, map[string]func(ast.Node){
		"input":  func(n ast.Node) { s.usage.Input = count(r.readNumber(n, "input")) },
		"output": func(n ast.Node) { s.usage.Output = count(r.readNumber(n, "output")) },
		"cache":  func(n ast.Node) { s.usage.Cache = count(r.readNumber(n, "cache")) },
		"cost":   func(n ast.Node) { s.usage.Cost, s.usage.Known = r.readNumber(n, "cost"), true },
	})
}

// readFields reads the keys of a step's value. The keys in needed must exist.
func (r *scriptReader) readFields(node ast.Node, s *step, read map[string]func(ast.Node), needed ...string) {
	given := map[string]bool{}
	for _, pair := range r.readPairs(node, s.name) {
		key := r.readText(pair.Key, s.name)
		if read[key] == nil {
			r.failNode(pair.Key, "%s has no key %q: use %s", s.name, key, strings.Join(slices.Sorted(maps.Keys(read)), ", "))
			return
		}
		read[key](pair.Value)
		given[key] = true
	}
	for _, key := range needed {
		if !given[key] {
			r.failNode(node, "%s needs %s: add it", s.name, key)
		}
	}
}
