package signal

import (
	"errors"
	"fmt"
	"strconv"
	"strings"

	"github.com/goccy/go-yaml/ast"
	"github.com/goccy/go-yaml/parser"
	"github.com/goccy/go-yaml/token"

	"orange/internal/lazy"
	"orange/internal/view/humanize"
)

// maxBlockDepth limits how deep a block may nest; the keys that count do not nest.
const maxBlockDepth = 16

// block is the content of a completion block.
type block struct{ agent, task, code, detail, nonce string }

// readBlock reads the YAML between two --- lines.
func readBlock(p *part) (block, error) {
	fields, err := readMapping(quotePlain(string(p.text), p.indent), p.line)
	if err != nil {
		return block{}, err
	}
	for _, name := range blockKeys {
		if fields[name] == "" {
			return block{}, fmt.Errorf("%s is missing", name)
		}
	}
	code, detail, _ := strings.Cut(fields["status"], ":")
	code = strings.ToUpper(strings.TrimSpace(code))
	if !isCode(code) {
		return block{}, fmt.Errorf("status %s is no code", quoteOddWord(fields["status"]))
	}
	return block{fields["agent"], fields["task_id"], code, strings.TrimSpace(detail), fields["nonce"]}, nil
}

// readMapping reads the scalars of a YAML mapping that begins after a line. It leaves out
// values of other kinds.
func readMapping(text string, line int) (map[string]string, error) {
	if strings.ContainsRune(text, 0) || strings.ToValidUTF8(text, "") != text {
		return nil, errors.New("it is not text")
	}
	if nestingDepth(text) > maxBlockDepth {
		return nil, fmt.Errorf("it nests deeper than %d levels", maxBlockDepth)
	}
	file, err := parser.ParseBytes([]byte(text), 0)
	if err != nil {
		return nil, fmt.Errorf("it is not YAML: %s", yamlProblem(err, line))
	}
	if len(file.Docs) != 1 || file.Docs[0].Body == nil {
		return nil, errors.New("it is not a mapping")
	}
	body := file.Docs[0].Body
	if len(ast.Filter(ast.AnchorType, body))+len(ast.Filter(ast.AliasType, body))+len(ast.Filter(ast.MergeKeyType, body)) > 0 {
		return nil, errors.New("anchors and aliases are not supported")
	}
	var pairs []*ast.MappingValueNode
	switch n := body.(type) {
	case *ast.MappingNode:
		pairs = n.Values
	case *ast.MappingValueNode:
		pairs = []*ast.MappingValueNode{n}
	default:
		return nil, errors.New("it is not a mapping")
	}
	fields := make(map[string]string, len(pairs))
	for _, p := range pairs {
		if key, ok := scalarText(p.Key); ok {
			fields[key], _ = scalarText(p.Value)
		}
	}
	return fields, nil
}

// otherPlace matches the end of a parser message about two positions.
var otherPlace = lazy.NewRegexp(`at \[(\d+):\d+\]$`)

// yamlProblem returns the parser's message about a YAML text that begins after a line, with
// line numbers of the whole text.
func yamlProblem(err error, line int) string {
	var syntax interface {
		GetToken() *token.Token
		GetMessage() string
	}
	if !errors.As(err, &syntax) || syntax.GetToken() == nil || syntax.GetToken().Position == nil {
		first, _, _ := strings.Cut(strings.TrimSpace(err.Error()), "\n")
		return humanize.Cut(first, maxQuoted)
	}
	what, _, _ := strings.Cut(strings.TrimSpace(syntax.GetMessage()), "\n")
	if m := otherPlace.FindStringSubmatchIndex(what); m != nil {
		if n, err := strconv.Atoi(what[m[2]:m[3]]); err == nil {
			what = what[:m[0]] + fmt.Sprintf("at line %d", line+n)
		}
	}
	return fmt.Sprintf("line %d: %s", line+syntax.GetToken().Position.Line, humanize.Cut(what, maxQuoted))
}

// scalarText returns a single value as it is written.
func scalarText(node ast.Node) (string, bool) {
	switch n := node.(type) {
	case *ast.StringNode:
		return strings.TrimSpace(n.Value), true
	case *ast.LiteralNode:
		return strings.TrimSpace(n.Value.Value), true
	case *ast.IntegerNode, *ast.BoolNode, *ast.FloatNode:
		return n.GetToken().Value, true
	}
	return "", false
}

// quotePlain quotes plain values that YAML would interpret differently, as in "status: BLOCKED:
// no key", and removes the indentation.
func quotePlain(text string, indent int) string {
	var out strings.Builder
	for line := range strings.Lines(text) {
		line = strings.TrimRight(line, " \t\r\n")
		blank := min(indent, len(line)-len(strings.TrimLeft(line, " \t")))
		out.WriteString(quoteLine(line[blank:]))
		out.WriteByte('\n')
	}
	return out.String()
}

func quoteLine(line string) string {
	key, value, ok := strings.Cut(line, ":")
	value = strings.TrimSpace(value)
	if !ok || value == "" || key == "" || strings.ContainsAny(key[:1], " \t-#\"'[{") {
		return line
	}
	key = strings.TrimRight(key, " ")
	if strings.ContainsAny(value[:1], "\"'|>[{&*!#") {
		return line
	}
	if key == "status" && !strings.Contains(value, ":") {
		value, _, _ = strings.Cut(value, " #")
	} else if key != "status" && !strings.Contains(value, ": ") && !strings.HasSuffix(value, ":") && !strings.ContainsAny(value[:1], "@%`,?-") {
		return line
	}
	return key + ": '" + strings.ReplaceAll(strings.TrimSpace(value), "'", "''") + "'"
}

// nestingDepth estimates how deep a text nests, before a parser recurses into it. It counts
// opening brackets within quotes, but not closing ones.
func nestingDepth(text string) int {
	deepest, flow := 0, 0
	for line := range strings.Lines(text) {
		deepest = max(deepest, (len(line)-len(strings.TrimLeft(line, " -?")))/2)
		quoted := false
		for _, c := range []byte(line) {
			switch {
			case c == '[' || c == '{':
				flow++
				deepest = max(deepest, flow)
			case c == '"' || c == '\'':
				quoted = !quoted
			case (c == ']' || c == '}') && flow > 0 && !quoted:
				flow--
			}
		}
	}
	return deepest
}
