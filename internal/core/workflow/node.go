package workflow

import (
	"errors"
	"fmt"
	"orange/internal/view/humanize"
	"strconv"
	"strings"
	"time"

	"github.com/goccy/go-yaml/ast"
	"github.com/goccy/go-yaml/parser"
	"github.com/goccy/go-yaml/token"
)

// MaxSize is the size limit of a workflow file, in bytes.
const MaxSize = 256 << 10

// maxDepth limits how deep a file may nest; a workflow needs six levels.
const maxDepth = 32

// Pos is a position in a workflow file, counted from 1.
type Pos struct {
	Line   int `json:"line"`
	Column int `json:"column"`

	File string `json:"-"` // of a fragment; "" for the workflow itself
}

// beginning is the position of an error about the whole file.
var beginning = Pos{Line: 1, Column: 1}

// An Error describes what is wrong, where, and what to do about it.
type Error struct {
	File string
	Pos  Pos
	What string
}

func (e *Error) Error() string {
	return fmt.Sprintf("%s:%d:%d: %s", e.File, e.Pos.Line, e.Pos.Column, e.What)
}

// reader walks a YAML tree and records the first error, so that the code that reads a
// definition need not check errors.
type reader struct {
	file string
	part string // the fragment that is read; "" for the workflow itself
	json bool   // the text should be JSON
	err  *Error
}

// value is a node of the file.
type value struct {
	r    *reader
	node ast.Node
	pos  Pos
}

// pair is one key of a mapping with its value.
type pair struct {
	key string
	pos Pos
	val value
}

func (r *reader) failAt(pos Pos, format string, args ...any) {
	if r.err == nil {
		r.err = &Error{File: r.file, Pos: pos, What: humanize.OneLine(fmt.Sprintf(format, args...))}
	}
}

// openRoot parses the text and returns its root mapping.
func (r *reader) openRoot(text string) (value, bool) {
	r.json = inJSON(r.file, text)
	switch {
	case len(text) > MaxSize:
		r.failAt(beginning, "the file has %d bytes and the limit is %d: move long prompts out or shorten them", len(text), MaxSize)
	case strings.ContainsRune(text, 0) || !isText(text):
		r.failAt(beginning, "this is not a text file: give a workflow in YAML, UTF-8")
	case textDepth(text) > maxDepth:
		r.failAt(beginning, "the file nests deeper than %d levels: a workflow needs six", maxDepth)
	}
	if r.err != nil {
		return value{}, false
	}
	file, err := parser.ParseBytes([]byte(text), 0)
	if err != nil {
		if r.json {
			r.failJSON(text)
		}
		r.failYAML(err)
		return value{}, false
	}
	if len(file.Docs) != 1 {
		r.failAt(beginning, "expected one YAML document with a workflow in it, found %d: see orange schema workflow", len(file.Docs))
		return value{}, false
	}
	if file.Docs[0].Body == nil {
		r.failAt(beginning, "the file is empty: see orange schema workflow, or begin with orange workflow show orange")
		return value{}, false
	}
	return r.valueAt(file.Docs[0].Body), true
}

func (r *reader) failYAML(err error) {
	language := "YAML"
	if r.json {
		language = "JSON"
	}
	var syntax interface {
		GetToken() *token.Token
		GetMessage() string
	}
	if errors.As(err, &syntax) && syntax.GetToken() != nil && syntax.GetToken().Position != nil {
		p := syntax.GetToken().Position
		r.failAt(Pos{Line: p.Line, Column: p.Column}, "%s: fix the %s here", syntax.GetMessage(), language)
		return
	}
	r.failAt(beginning, "%s: fix the %s", firstLine(err), language)
}

func (r *reader) valueAt(node ast.Node) value {
	pos := beginning
	if tk := firstToken(node); tk != nil && tk.Position != nil {
		pos = Pos{Line: tk.Position.Line, Column: tk.Position.Column}
	}
	pos.File = r.part
	return value{r: r, node: node, pos: pos}
}

// firstToken returns where a node begins. A block mapping has no token of its own and begins
// with its first key.
func firstToken(node ast.Node) *token.Token {
	switch n := node.(type) {
	case *ast.MappingNode:
		if !n.IsFlowStyle && len(n.Values) > 0 {
			return n.Values[0].Key.GetToken()
		}
	case *ast.MappingValueNode:
		return n.Key.GetToken()
	}
	return node.GetToken()
}

// readPairs reads a mapping in file order.
func (v value) readPairs(what string) []pair {
	var nodes []*ast.MappingValueNode
	switch n := v.node.(type) {
	case *ast.MappingNode:
		nodes = n.Values
	case *ast.MappingValueNode:
		nodes = []*ast.MappingValueNode{n}
	case *ast.AnchorNode, *ast.AliasNode:
		v.r.failAt(v.pos, "%s: anchors and aliases are not supported: write the values out", what)
		return nil
	default:
		v.r.failAt(v.pos, "%s: expected a mapping, found %s: write key: value pairs", what, v.describeKind())
		return nil
	}
	out := make([]pair, 0, len(nodes))
	seen := make(map[string]bool, len(nodes))
	for _, n := range nodes {
		key := v.r.valueAt(n.Key)
		name := key.readText("a key of " + what)
		if n.Key.IsMergeKey() {
			v.r.failAt(key.pos, "merge keys are not supported: write the values out")
		}
		if seen[name] {
			v.r.failAt(key.pos, "%s: %q is given twice: keep one", what, name)
		}
		seen[name] = true
		out = append(out, pair{key: name, pos: key.pos, val: v.r.valueAt(n.Value)})
	}
	return out
}

// readList reads a sequence; a single value is a list of one.
func (v value) readList() []value {
	seq, ok := v.node.(*ast.SequenceNode)
	if !ok {
		return []value{v}
	}
	out := make([]value, len(seq.Values))
	for i, n := range seq.Values {
		out[i] = v.r.valueAt(n)
	}
	return out
}

// readText reads a scalar as it is written.
func (v value) readText(what string) string {
	switch n := v.node.(type) {
	case *ast.StringNode:
		return n.Value
	case *ast.LiteralNode:
		return n.Value.Value
	case *ast.IntegerNode, *ast.BoolNode, *ast.FloatNode:
		return n.GetToken().Value
	case *ast.AnchorNode, *ast.AliasNode:
		v.r.failAt(v.pos, "%s: anchors and aliases are not supported: write the value out", what)
	default:
		v.r.failAt(v.pos, "%s: expected text, found %s: write one value", what, v.describeKind())
	}
	return ""
}

// readTexts reads a list of scalars.
func (v value) readTexts(what string) []string {
	items := v.readList()
	out := make([]string, len(items))
	for i, item := range items {
		out[i] = item.readText(what)
	}
	return out
}

// readName reads an identifier that the file declares or uses.
func (v value) readName(what string) string {
	s := v.readText(what)
	if v.r.err == nil && !validName(s) {
		v.r.failAt(v.pos, "%s: %q is not a name: use letters, digits, dash and underscore, beginning with a letter", what, s)
	}
	return s
}

func (v value) readInteger(what string) int {
	s := v.readText(what)
	n, err := strconv.Atoi(s)
	if err != nil && v.r.err == nil {
		v.r.failAt(v.pos, "%s: expected a whole number, found %q: write one such as 2", what, s)
	}
	return n
}

func (v value) readBoolean(what string) bool {
	s := v.readText(what)
	if s != "true" && s != "false" && v.r.err == nil {
		v.r.failAt(v.pos, "%s: %q is neither: write true or false", what, s)
	}
	return s == "true"
}

func (v value) readDuration(what string) time.Duration {
	s := v.readText(what)
	d, err := parseTime(s)
	if (err != nil || d <= 0) && v.r.err == nil {
		v.r.failAt(v.pos, "%s: %q is not a time: write one such as 30m, 4h or 2d", what, s)
	}
	return d
}

// parseTime parses a time such as 90s, 1h30m or 2d12h. A day has 24 hours.
func parseTime(s string) (time.Duration, error) {
	days, rest, ok := strings.Cut(s, "d")
	if !ok {
		return time.ParseDuration(s)
	}
	n, err := strconv.ParseFloat(days, 64)
	if err != nil || n < 0 || n > maxDays || strings.Trim(days, "0123456789.") != "" {
		return 0, errors.New("the days are not a number")
	}
	out := time.Duration(n * float64(24*time.Hour))
	if rest == "" {
		return out, nil
	}
	more, err := time.ParseDuration(rest)
	if more < 0 {
		return 0, errors.New("a part of it is negative")
	}
	return out + more, err
}

// maxDays limits a time to ten years.
const maxDays = 3650

// oneOf reads a word of a fixed list.
func (v value) oneOf(what string, words ...string) string {
	s := v.readText(what)
	for _, w := range words {
		if w == s {
			return s
		}
	}
	v.r.failAt(v.pos, "%s: %q is not known: use %s%s", what, s, orList(words), suggestSimilar(s, words))
	return s
}

func (v value) describeKind() string {
	switch v.node.(type) {
	case *ast.MappingNode, *ast.MappingValueNode:
		return "a mapping"
	case *ast.SequenceNode:
		return "a list"
	case *ast.NullNode:
		return "nothing"
	}
	return "a " + strings.ToLower(v.node.Type().String())
}

func validName(s string) bool {
	for i, c := range []byte(s) {
		letter := c >= 'a' && c <= 'z' || c >= 'A' && c <= 'Z'
		if !letter && (i == 0 || (c < '0' || c > '9') && c != '-' && c != '_') {
			return false
		}
	}
	return s != "" && len(s) <= 64
}

func isText(s string) bool { return strings.ToValidUTF8(s, "") == s }

// nestingDepth estimates how deep a text nests, before a parser recurses into it.
func nestingDepth(text string) int {
	deepest, flow := 0, 0
	for line := range strings.Lines(text) {
		indent := len(line) - len(strings.TrimLeft(line, " -?"))
		flow += strings.Count(line, "[") + strings.Count(line, "{")
		deepest = max(deepest, flow, indent/2)
		flow = max(0, flow-strings.Count(line, "]")-strings.Count(line, "}"))
	}
	return deepest
}

func orList(words []string) string {
	if len(words) == 1 {
		return words[0]
	}
	return strings.Join(words[:len(words)-1], ", ") + " or " + words[len(words)-1]
}
