package taskfile

import (
	"errors"
	"fmt"
	"math"
	"strings"

	"github.com/goccy/go-yaml/ast"
	"github.com/goccy/go-yaml/parser"
	"github.com/goccy/go-yaml/token"
)

// These limits exist because the YAML parser takes quadratic time on nested and on very long
// input.
const (
	maxMeta     = 64 << 10
	maxBrackets = 500
	maxDashes   = 20
)

// metaLine is the line of the file on which the YAML of the frontmatter starts.
const metaLine = 2

// entry is one key of the frontmatter.
type entry struct {
	key   string
	value any    // string, int, bool or nil
	raw   string // source of the value
	span  span
}

// parseMeta parses the YAML between the delimiters.
func parseMeta(meta string) ([]entry, error) {
	if err := checkLimits(meta); err != nil {
		return nil, err
	}
	mapping, err := parseMapping(meta)
	if err != nil || mapping == nil {
		return nil, err
	}
	text := newLines(meta)
	var entries []entry
	seen := map[string]bool{}
	for i, node := range mapping.Values {
		key, err := keyOf(node)
		if err != nil {
			return nil, err
		}
		if seen[key] {
			return nil, yamlError(node.Key.GetToken(), fmt.Sprintf("key %q is there twice; keep one", key))
		}
		seen[key] = true
		e := entry{key: key}
		if mapping.IsFlowStyle {
			e.raw = node.Value.String()
		} else {
			e.span = locateEntry(text, keyLine(node), nextKeyLine(mapping.Values, i, text.lineCount()))
			e.raw = strings.TrimSpace(meta[e.span.start:e.span.end])
		}
		e.value = scalarValue(node.Value, e.raw)
		entries = append(entries, e)
	}
	return entries, nil
}

func checkLimits(meta string) error {
	if len(meta) > maxMeta {
		return fmt.Errorf("the frontmatter has %d bytes and %d are allowed; move text to the body", len(meta), maxMeta)
	}
	if strings.Count(meta, "[")+strings.Count(meta, "{") > maxBrackets {
		return fmt.Errorf("the frontmatter has more than %d brackets; write plain key: value lines", maxBrackets)
	}
	for line := range strings.Lines(meta) {
		markers := line[:len(line)-len(strings.TrimLeft(line, "-?: \t"))]
		if strings.Count(markers, "-")+strings.Count(markers, "?") > maxDashes {
			return fmt.Errorf("the frontmatter has a list nested deeper than %d; write plain key: value lines", maxDashes)
		}
	}
	return nil
}

// parseMapping returns nil for frontmatter without any key.
func parseMapping(meta string) (mapping *ast.MappingNode, err error) {
	defer func() {
		if recover() != nil {
			mapping, err = nil, errors.New("the frontmatter is not readable as YAML; write plain key: value lines")
		}
	}()
	file, err := parser.ParseBytes([]byte(strings.ReplaceAll(meta, "\r\n", "\n")), 0)
	if err != nil {
		return nil, describeYAMLError(err)
	}
	if len(file.Docs) != 1 {
		return nil, errors.New("the frontmatter holds several YAML documents; keep one")
	}
	body := file.Docs[0].Body
	if body == nil {
		return nil, nil
	}
	mapping, ok := body.(*ast.MappingNode)
	if !ok {
		return nil, yamlError(body.GetToken(), "it is not a mapping; write key: value lines")
	}
	var refs referenceFinder
	ast.Walk(&refs, mapping)
	if refs.found != nil {
		return nil, yamlError(refs.found, "anchors, aliases and merge keys are not allowed; write the value out")
	}
	return mapping, nil
}

type referenceFinder struct{ found *token.Token }

// Visit implements ast.Visitor.
func (f *referenceFinder) Visit(node ast.Node) ast.Visitor {
	switch node.(type) {
	case *ast.AnchorNode, *ast.AliasNode, *ast.MergeKeyNode:
		f.found = node.GetToken()
		return nil
	}
	return f
}

func keyOf(node *ast.MappingValueNode) (string, error) {
	switch key := node.Key.(type) {
	case *ast.StringNode:
		return key.Value, nil
	case *ast.IntegerNode, *ast.FloatNode, *ast.BoolNode, *ast.NullNode, *ast.InfinityNode, *ast.NanNode:
		return key.GetToken().Value, nil
	}
	return "", yamlError(node.Key.GetToken(), "a key must be a plain word; write key: value lines")
}

// scalarValue normalizes a value; raw is its source.
func scalarValue(node ast.Node, raw string) any {
	switch n := node.(type) {
	case *ast.StringNode:
		return n.Value
	case *ast.LiteralNode:
		return n.Value.Value
	case *ast.BoolNode:
		return n.Value
	case *ast.NullNode:
		return nil
	case *ast.IntegerNode:
		switch i := n.Value.(type) {
		case int64:
			if i >= math.MinInt && i <= math.MaxInt {
				return int(i)
			}
		case uint64:
			if i <= math.MaxInt {
				return int(i)
			}
		}
	}
	return raw
}

func keyLine(node *ast.MappingValueNode) int {
	return node.Key.GetToken().Position.Line - 1
}

func nextKeyLine(nodes []*ast.MappingValueNode, i, end int) int {
	if i+1 < len(nodes) {
		return keyLine(nodes[i+1])
	}
	return end
}

func describeYAMLError(err error) error {
	var syntax interface {
		GetMessage() string
		GetToken() *token.Token
	}
	if !errors.As(err, &syntax) {
		return fmt.Errorf("the frontmatter is not readable as YAML; write plain key: value lines: %w", err)
	}
	message := strings.Join(strings.Fields(syntax.GetMessage()), " ")
	if strings.Contains(message, "already defined") {
		message = fmt.Sprintf("key %q is there twice; keep one", syntax.GetToken().Value)
	} else {
		message += "; write plain key: value lines"
	}
	return yamlError(syntax.GetToken(), message)
}

func yamlError(at *token.Token, message string) error {
	if at == nil || at.Position == nil {
		return fmt.Errorf("frontmatter: %s", message)
	}
	return fmt.Errorf("frontmatter, line %d:%d: %s", at.Position.Line+metaLine-1, at.Position.Column, message)
}
