package workflow

import (
	"fmt"
	"strings"

	"github.com/expr-lang/expr"
	"github.com/expr-lang/expr/ast"
	"github.com/expr-lang/expr/parser"
	"github.com/expr-lang/expr/vm"
)

// A Guard is an expression over the record, such as review_round < 2. It may ask
// for counters and for return_to, and it is typed when the file is read.
type Guard struct {
	Source string
	Names  []string // what it asks for, in order of first use
	Pos    Pos

	program *vm.Program
}

// Env is what a guard may ask for: every counter by name, and return_to.
type Env map[string]any

// returnTo is the one name in an Env that is not a counter.
const returnTo = "return_to"

// NewEnv makes an environment in which every counter of d is 0.
func (d *Definition) NewEnv() Env {
	env := make(Env, len(d.Counters)+1)
	for i := range d.Counters {
		env[d.Counters[i].Name] = 0
	}
	env[returnTo] = ""
	return env
}

func compileGuard(source string, env Env, pos Pos) (*Guard, error) {
	program, err := expr.Compile(source, expr.Env(map[string]any(env)), expr.AsBool(), expr.DisableAllBuiltins(), expr.Optimize(true))
	if err != nil {
		return nil, fmt.Errorf("guard %q: %s", source, firstLine(err))
	}
	tree, err := parser.Parse(source)
	if err != nil {
		return nil, fmt.Errorf("guard %q: %s", source, firstLine(err))
	}
	names := &nameCollector{}
	ast.Walk(&tree.Node, names)
	return &Guard{Source: source, Names: names.found, Pos: pos, program: program}, nil
}

// Holds evaluates the guard. Nothing in a compiled guard can fail on an
// environment of its own definition, except arithmetic such as a division by 0;
// such a guard does not hold, and why says so.
func (g *Guard) Holds(env Env) (ok bool, why error) {
	out, err := expr.Run(g.program, map[string]any(env))
	if err != nil {
		return false, fmt.Errorf("guard %q: %s", g.Source, firstLine(err))
	}
	return out == true, nil
}

type nameCollector struct{ found []string }

// Visit implements ast.Visitor.
func (c *nameCollector) Visit(node *ast.Node) {
	id, ok := (*node).(*ast.IdentifierNode)
	if !ok {
		return
	}
	for _, name := range c.found {
		if name == id.Value {
			return
		}
	}
	c.found = append(c.found, id.Value)
}

func firstLine(err error) string {
	line, _, _ := strings.Cut(err.Error(), "\n")
	return line
}
