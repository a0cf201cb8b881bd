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

// maxScript bounds a script, in bytes.
const maxScript = 1 << 20

// scriptReader walks a script and remembers the first thing that is wrong.
type scriptReader struct {
	file string
	err  error
}

func (r *scriptReader) fail(node ast.Node, format string, args ...any) {
	line, column := 1, 1
	if tk := startOf(node); tk != nil && tk.Position != nil {
		line, column = tk.Position.Line, tk.Position.Column
	}
	r.failAt(line, column, format, args...)
}

func (r *scriptReader) failAt(line, column int, format string, args ...any) {
	if r.err == nil {
		r.err = fmt.Errorf("%s:%d:%d: %s", r.file, line, column, clean(fmt.Sprintf(format, args...), 300))
	}
}

// startOf is where a node begins: a block mapping begins with its first key.
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

// parseScript reads a script: roles, each with its steps.
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
	for _, pair := range r.pairs(tree.Docs[0].Body, "a script") {
		name := r.text(pair.Key, "a role")
		if !roleKey(name) {
			r.fail(pair.Key, "role %q: write a name such as worker, or worker#2 for its second attempt", name)
		}
		if _, twice := roles[name]; twice {
			r.fail(pair.Key, "role %q is given twice: keep one", name)
		}
		roles[name] = r.steps(pair.Value, name)
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
		r.failAt(at.Line, at.Column, "%s: mend the YAML here", syntax.GetMessage())
		return
	}
	r.failAt(1, 1, "%v: mend the YAML", err)
}

// roleKey checks a role with or without the number of an attempt.
func roleKey(key string) bool {
	role, number, numbered := strings.Cut(key, "#")
	n, err := strconv.Atoi(number)
	return plainID(role) && (!numbered || err == nil && n > 0 && strconv.Itoa(n) == number)
}

func (r *scriptReader) steps(node ast.Node, role string) []step {
	list, ok := node.(*ast.SequenceNode)
	if !ok {
		r.fail(node, "role %s: expected a list of steps", role)
		return nil
	}
	steps := make([]step, 0, len(list.Values))
	for _, n := range list.Values {
		steps = append(steps, r.step(n))
	}
	return steps
}

// kind is a step there is: what reads its value, nil if it takes none, and what it does.
type kind struct {
	read func(*scriptReader, ast.Node, *step)
	act  func(context.Context, *player, step) (exit int, over bool)
}

func kinds() map[string]kind {
	return map[string]kind{
		"section": {(*scriptReader).section, playSection},
		"run":     {(*scriptReader).words, playRun},
		"print":   {(*scriptReader).words, playPrint},
		"say":     {(*scriptReader).words, playSay},
		"sleep":   {(*scriptReader).duration, playSleep},
		"commit":  {(*scriptReader).commit, playCommit},
		"wait":    {nil, playWait},
		"ask":     {(*scriptReader).words, playAsk},
		"limit":   {(*scriptReader).duration, playLimit},
		"exit":    {(*scriptReader).code, playExit},
		"die":     {(*scriptReader).signal, playDie},
		"daemon":  {(*scriptReader).words, playDaemon},
		"idle":    {nil, playIdle},
		"usage":   {(*scriptReader).usage, playUsage},
	}
}

func (r *scriptReader) unknownStep(node ast.Node, name string) {
	r.fail(node, "step %q is not known: use %s", name, strings.Join(slices.Sorted(maps.Keys(kinds())), ", "))
}

// step reads one step: a word, or a word with a value and options beside it.
func (r *scriptReader) step(node ast.Node) step {
	if word, ok := node.(*ast.StringNode); ok {
		k, known := kinds()[word.Value]
		switch {
		case !known:
			r.unknownStep(node, word.Value)
		case k.read != nil:
			r.fail(node, "step %s needs a value: write %s: ...", word.Value, word.Value)
		}
		return step{name: word.Value, act: k.act}
	}
	pairs := r.pairs(node, "a step")
	if len(pairs) == 0 {
		r.fail(node, "a step is empty: name what to do")
		return step{}
	}
	name := r.text(pairs[0].Key, "a step")
	k, known := kinds()[name]
	if !known {
		r.unknownStep(pairs[0].Key, name)
		return step{}
	}
	s := step{name: name, act: k.act}
	if k.read != nil {
		k.read(r, pairs[0].Value, &s)
	} else if _, none := pairs[0].Value.(*ast.NullNode); !none {
		r.fail(pairs[0].Value, "step %s takes no value: leave it out", name)
	}
	r.options(pairs[1:], &s)
	return s
}

// options reads what stands beside a step.
func (r *scriptReader) options(pairs []*ast.MappingValueNode, s *step) {
	for _, pair := range pairs {
		key := r.text(pair.Key, "an option")
		switch {
		case key == "must" && s.name == "run":
			s.must = r.boolean(pair.Value, key)
		case key == "stay" && s.name == "limit":
			s.stay = r.boolean(pair.Value, key)
		default:
			r.fail(pair.Key, "step %s has no option %q: begin a new step with a dash, or leave it out", s.name, key)
		}
	}
}

// pairs reads a mapping in the order of the file.
func (r *scriptReader) pairs(node ast.Node, what string) []*ast.MappingValueNode {
	switch n := node.(type) {
	case *ast.MappingNode:
		return n.Values
	case *ast.MappingValueNode:
		return []*ast.MappingValueNode{n}
	}
	r.fail(node, "%s: expected key: value pairs", what)
	return nil
}

func (r *scriptReader) text(node ast.Node, what string) string {
	switch n := node.(type) {
	case *ast.StringNode:
		return n.Value
	case *ast.LiteralNode:
		return n.Value.Value
	case *ast.IntegerNode, *ast.BoolNode, *ast.FloatNode:
		return n.GetToken().Value
	}
	r.fail(node, "%s: expected text", what)
	return ""
}

func (r *scriptReader) boolean(node ast.Node, what string) bool {
	s := r.text(node, what)
	if s != "true" && s != "false" {
		r.fail(node, "%s: write true or false", what)
	}
	return s == "true"
}

func (r *scriptReader) number(node ast.Node, what string) float64 {
	n, err := strconv.ParseFloat(r.text(node, what), 64)
	if err != nil || !(n >= 0) {
		r.fail(node, "%s: write a number", what)
	}
	return n
}

func (r *scriptReader) words(node ast.Node, s *step) { s.text = r.text(node, s.name) }

func (r *scriptReader) duration(node ast.Node, s *step) {
	d, err := time.ParseDuration(r.text(node, s.name))
	if err != nil || d < 0 {
		r.fail(node, "%s: write a time such as 200ms or 2s", s.name)
	}
	s.span = d
}

func (r *scriptReader) code(node ast.Node, s *step) {
	n, err := strconv.Atoi(r.text(node, s.name))
	if err != nil || n < 0 || n > 255 {
		r.fail(node, "exit: write a number from 0 to 255")
	}
	s.code = n
}

func (r *scriptReader) signal(node ast.Node, s *step) {
	s.text = strings.TrimPrefix(r.text(node, s.name), "SIG")
	if _, ok := signals()[s.text]; !ok {
		r.fail(node, "die: signal %q is not known: use %s", s.text, strings.Join(slices.Sorted(maps.Keys(signals())), ", "))
	}
}

func (r *scriptReader) section(node ast.Node, s *step) {
	r.fields(node, s, map[string]func(ast.Node){
		"name": func(n ast.Node) { s.section = r.text(n, "name") },
		"text": func(n ast.Node) { s.text = r.text(n, "text") },
	}, "name", "text")
	if strings.TrimSpace(s.section) != s.section || strings.ContainsAny(s.section, "\r\n#") {
		r.fail(node, "section: the name is one line without #")
	}
}

func (r *scriptReader) commit(node ast.Node, s *step) {
	r.fields(node, s, map[string]func(ast.Node){
		"file":    func(n ast.Node) { s.file = r.text(n, "file") },
		"text":    func(n ast.Node) { s.text = r.text(n, "text") },
		"message": func(n ast.Node) { s.message = r.text(n, "message") },
	}, "file", "text", "message")
}

func (r *scriptReader) usage(node ast.Node, s *step) {
	r.fields(node, s, map[string]func(ast.Node){
		"input":  func(n ast.Node) { s.usage.Input = count(r.number(n, "input")) },
		"output": func(n ast.Node) { s.usage.Output = count(r.number(n, "output")) },
		"cache":  func(n ast.Node) { s.usage.Cache = count(r.number(n, "cache")) },
		"cost":   func(n ast.Node) { s.usage.Cost = r.number(n, "cost") },
	})
}

// fields reads the keys of a step's value; those that are needed must be there.
func (r *scriptReader) fields(node ast.Node, s *step, read map[string]func(ast.Node), needed ...string) {
	given := map[string]bool{}
	for _, pair := range r.pairs(node, s.name) {
		key := r.text(pair.Key, s.name)
		if read[key] == nil {
			r.fail(pair.Key, "%s has no key %q: use %s", s.name, key, strings.Join(slices.Sorted(maps.Keys(read)), ", "))
			return
		}
		read[key](pair.Value)
		given[key] = true
	}
	for _, key := range needed {
		if !given[key] {
			r.fail(node, "%s needs %s: add it", s.name, key)
		}
	}
}
