package workflow

import (
	"fmt"
	"maps"
	"slices"
	"strings"

	"github.com/expr-lang/expr"
	"github.com/expr-lang/expr/ast"
	"github.com/expr-lang/expr/parser"
	"github.com/expr-lang/expr/vm"
)

// A Guard is an expression over the record, such as review_round < 2. It may use counters,
// return_to and children, and its types are checked when the file is parsed.
type Guard struct {
	Source string
	Names  []string // the names that it uses, in order of first use
	Pos    Pos

	program *vm.Program
	most    int // the greatest number that it compares with
}

// Env is what a guard may use: every counter by name, return_to and children.
type Env map[string]any

// returnTo and children are the names in an Env that are not counters.
const (
	returnTo = "return_to"
	children = "children" // how many tasks have this one as their parent
)

// NewEnv returns an environment in which every counter of d is 0.
func (d *Definition) NewEnv() Env {
	env := make(Env, len(d.Counters)+2)
	for i := range d.Counters {
		env[d.Counters[i].Name] = 0
	}
	env[returnTo] = ""
	env[children] = 0
	return env
}

// maxGuard is the size limit of a guard, in bytes: it is a condition, not a program.
const maxGuard = 500

func compileGuard(source string, env Env, pos Pos) (*Guard, error) {
	if len(source) > maxGuard {
		return nil, fmt.Errorf("guard of %d bytes: the limit is %d", len(source), maxGuard)
	}
	tree, err := parser.Parse(source)
	if err != nil {
		return nil, fmt.Errorf("guard %q: %s", source, firstLine(err))
	}
	names := &nameCollector{}
	ast.Walk(&tree.Node, names)
	if names.disallowed != "" {
		return nil, fmt.Errorf("guard %q: %s has no place in a guard", source, names.disallowed)
	}
	for _, name := range names.found {
		if _, ok := env[name]; !ok {
			return nil, fmt.Errorf("guard %q: %s is not known%s", source, name, suggestSimilar(name, slices.Sorted(maps.Keys(env))))
		}
	}
	program, err := expr.Compile(source, expr.Env(map[string]any(env)), expr.AsBool(), expr.DisableAllBuiltins(), expr.Optimize(true))
	if err != nil {
		return nil, fmt.Errorf("guard %q: %s", source, firstLine(err))
	}
	return &Guard{Source: source, Names: names.found, Pos: pos, program: program, most: names.most}, nil
}

// Holds evaluates the guard. A compiled guard cannot fail on an environment of its own
// definition, except by arithmetic such as a division by 0; such a guard does not hold, and why
// is the reason.
func (g *Guard) Holds(env Env) (ok bool, why error) {
	out, err := expr.Run(g.program, map[string]any(env))
	if err != nil {
		return false, fmt.Errorf("guard %q: %s", g.Source, firstLine(err))
	}
	return out == true, nil
}

// guardOperators are the operators whose cost does not grow with their operands, so that a
// guard can be tried with every value.
var guardOperators = [...]string{"==", "!=", "<", "<=", ">", ">=", "and", "&&", "or", "||", "not", "!", "in", "+", "-", "*", "/", "%"}

// nameCollector collects the names in a guard, and the first construct that is not allowed.
type nameCollector struct {
	found      []string
	disallowed string
	most       int
}

// Visit implements ast.Visitor.
func (c *nameCollector) Visit(node *ast.Node) {
	switch n := (*node).(type) {
	case *ast.IdentifierNode:
		if !slices.Contains(c.found, n.Value) {
			c.found = append(c.found, n.Value)
		}
		if strings.HasPrefix(n.Value, "$") {
			c.disallowed = n.Value
		}
	case *ast.UnaryNode:
		c.checkOperator(n.Operator)
	case *ast.BinaryNode:
		c.checkOperator(n.Operator)
	case *ast.IntegerNode:
		c.most = max(c.most, n.Value)
	case *ast.BoolNode, *ast.StringNode, *ast.ArrayNode:
	default:
		c.disallowed = strings.TrimSuffix(strings.TrimPrefix(fmt.Sprintf("%T", n), "*ast."), "Node")
	}
}

func (c *nameCollector) checkOperator(op string) {
	if !slices.Contains(guardOperators[:], op) {
		c.disallowed = "operator " + op
	}
}

func firstLine(err error) string {
	line, _, _ := strings.Cut(err.Error(), "\n")
	return line
}
