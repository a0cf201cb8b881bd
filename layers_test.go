package orange_test

import (
	"go/ast"
	"go/parser"
	"go/token"
	"io/fs"
	"os"
	"path"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"testing"
)

// arrows says which packages of ours a package may import, besides the standard
// library. A prefix ending in / stands for everything below it. A new arrow is a
// change of the design: add it here and say why in docs/decisions.
var arrows = map[string][]string{
	"internal/core/als":              {},
	"internal/core/agent":            {"internal/core/task", "internal/core/transcript"},
	"internal/core/handoff":          {"internal/core/als"},
	"internal/core/board":            {},
	"internal/core/tracker":          {"internal/core/board"},
	"internal/core/boardcheck":       {"internal/core/board", "internal/core/tracker"},
	"internal/core/task":             {"internal/core/handoff", "internal/core/board"},
	"internal/view/humanize":         {},
	"internal/core/question":         {"internal/view/markdown"},
	"internal/core/taskfile":         {},
	"internal/core/workflow":         {"internal/core/agent", "internal/core/task", "internal/core/board", "internal/view/humanize"},
	"internal/core/workflow/builtin": {},
	"internal/core/signal":           {"internal/core/board", "internal/core/task", "internal/core/taskfile", "internal/core/handoff", "internal/view/humanize"},
	"internal/core/journal":          {"internal/core/board", "internal/core/handoff", "internal/core/task", "internal/core/taskfile", "internal/core/signal", "internal/view/humanize"},
	"internal/core/engine":           {"internal/core/agent", "internal/core/als", "internal/core/board", "internal/core/handoff", "internal/core/journal", "internal/core/question", "internal/core/signal", "internal/core/task", "internal/core/taskfile", "internal/core/workflow", "internal/view/humanize", "internal/view/ansi"},
	"internal/core/explain":          {"internal/core/engine", "internal/core/journal", "internal/core/signal", "internal/core/task", "internal/core/taskfile", "internal/core/workflow", "internal/view/humanize"},
	"internal/core/prompt":           {"internal/core/", "internal/view/humanize", "internal/view/ansi"},
	"internal/core/verify":           {"internal/core/", "internal/view/humanize", "internal/view/ansi"},
	"internal/core/simulate":         {"internal/core/engine", "internal/core/journal", "internal/core/signal", "internal/core/task", "internal/core/taskfile", "internal/core/workflow"},
	"internal/core/stats":            {"internal/core/agent", "internal/core/engine", "internal/core/journal", "internal/core/signal", "internal/core/task", "internal/core/workflow"},
	"internal/core/verifytest":       {"internal/core/workflow"},
	"internal/view/ansi":             {},
	"internal/view/diff":             {"internal/view/ansi", "internal/view/syntax"},
	"internal/view/syntax":           {},
	"internal/view/markdown":         {"internal/view/ansi"},
	"internal/view/narrate":          {"internal/core/", "internal/view/humanize"},
	"internal/view/overview":         {"internal/core/", "internal/view/"},
	"internal/core/transcript":       {"internal/view/humanize", "internal/view/ansi"},
	"internal/config":                {"internal/core/agent", "internal/core/explain"},
	"internal/view/drawing":          {"internal/core/workflow", "internal/view/humanize"},
	"internal/atomicfile":            {},
	"internal/backoff":               {},
	"internal/keyedmutex":            {},
	"internal/lazy":                  {},
	"internal/testneeds":             {},
	"internal/testbrowser":           {"internal/testneeds"},
	"internal/wait":                  {},
	"internal/outputlog":             {},
	"internal/doctor":                {},
	"internal/runtime/local":         {"internal/core/", "internal/view/", "internal/keyedmutex"},
	"internal/runtime/effect":        {"internal/core/", "internal/view/", "internal/runtime/local"},
	"internal/runtime/trackers":      {"internal/core/", "internal/view/", "internal/transport", "internal/keyedmutex"},
	"internal/runtime/notifier":      {"internal/core/", "internal/view/"},
	"internal/transport":             {"internal/backoff"},
	"internal/trackertest":           {"internal/core/", "internal/view/", "internal/runtime/trackers", "internal/wait"},
	"internal/trackertest/":          {"internal/core/", "internal/view/", "internal/runtime/trackers", "internal/adapter/", "internal/trackertest/"},
	"internal/scriptedmodel":         {},
	"internal/runtime/runtimetest":   {"internal/core/", "internal/view/"},
	"internal/selftest":              {"internal/core/", "internal/view/", "internal/config", "internal/ui/client", "internal/wire"},
	"internal/adapter/":              {"internal/core/", "internal/view/", "internal/atomicfile", "internal/outputlog", "internal/keyedmutex"},
	"internal/wire":                  {"internal/core/", "internal/view/", "internal/doctor"},
	"internal/ui/api":                {"internal/core/", "internal/view/", "internal/doctor", "internal/wire"},
	"internal/ui/apitest":            {"internal/core/", "internal/view/", "internal/doctor", "internal/wire", "internal/ui/api"},
	"internal/ui/client":             {"internal/core/", "internal/view/", "internal/doctor", "internal/wire", "internal/backoff"},
	"internal/ui/cli":                {"internal/core/", "internal/doctor", "internal/wire", "internal/config", "internal/selftest", "internal/atomicfile", "internal/outputlog", "internal/ui/client", "internal/ui/editor", "internal/view/chart", "internal/view/"},
	"internal/ui/editor":             {},
	"internal/ui/tui/render":         {"internal/core/", "internal/view/"},
	"internal/view/chart":            {"internal/core/", "internal/view/"},
	"internal/ui/tui":                {"internal/core/", "internal/view/", "internal/wire", "internal/ui/client", "internal/ui/editor", "internal/ui/tui/render"},
	"internal/ui/web":                {"internal/core/", "internal/wire", "internal/ui/client", "internal/view/chart", "internal/view/"},
	"internal/ui/mcp":                {"internal/core/", "internal/view/", "internal/wire", "internal/ui/client"},
	"bench":                          {"internal/"},
	"internal/server":                {"internal/"},
	"internal/host":                  {"internal/core/", "internal/view/", "internal/adapter/", "internal/atomicfile", "internal/outputlog", "internal/host/agents"},
	"internal/host/agents":           {"internal/core/", "internal/view/", "internal/atomicfile", "internal/outputlog", "internal/backoff"},
	"internal/server/anchors":        {"internal/core/", "internal/adapter/git"},
	"internal/server/boards":         {"internal/core/", "internal/adapter/sqlite", "internal/runtime/local", "internal/ui/api", "internal/wire"},
	"internal/server/callers":        {"internal/core/", "internal/adapter/shim", "internal/host/agents"},
	"internal/server/delivery":       {"internal/core/", "internal/view/", "internal/adapter/git", "internal/runtime/local", "internal/server/forges"},
	"internal/server/evidence":       {"internal/core/", "internal/view/", "internal/host", "internal/runtime/local", "internal/adapter/git"},
	"internal/server/forges":         {"internal/core/", "internal/config", "internal/adapter/", "internal/runtime/trackers", "internal/transport"},
	"internal/server/gittrust":       {"internal/core/", "internal/view/", "internal/config", "internal/adapter/git", "internal/adapter/sqlite"},
	"internal/server/health":         {"internal/core/", "internal/view/", "internal/adapter/", "internal/config", "internal/doctor", "internal/host", "internal/host/agents", "internal/server/gittrust", "internal/ui/cli", "internal/wire"},
	"internal/server/hints":          {"internal/core/", "internal/view/", "internal/adapter/git"},
	"internal/server/homestore":      {"internal/adapter/sqlite", "internal/adapter/taskdir", "internal/atomicfile", "internal/host"},
	"internal/server/inbox":          {"internal/core/"},
	"internal/server/library":        {"internal/core/", "internal/view/", "internal/adapter/workflowdir", "internal/ui/cli", "internal/wire"},
	"internal/server/measure":        {"internal/core/", "internal/view/", "internal/outputlog", "internal/adapter/filewatch", "internal/adapter/git"},
	"internal/server/metrics":        {"internal/core/"},
	"internal/server/notifications":  {"internal/core/", "internal/adapter/git", "internal/adapter/notify", "internal/atomicfile", "internal/config", "internal/runtime/local", "internal/runtime/notifier"},
	"internal/server/page":           {"internal/core/", "internal/adapter/shim", "internal/config", "internal/host/agents", "internal/server/callers", "internal/ui/", "internal/wire"},
	"internal/server/projects":       {"internal/core/", "internal/adapter/git", "internal/host", "internal/runtime/local", "internal/server/gittrust", "internal/server/library", "internal/wire"},
	"internal/server/prompts":        {"internal/core/"},
	"internal/server/reach":          {"internal/adapter/", "internal/config", "internal/ui/cli", "internal/ui/client"},
	"internal/server/restore":        {"internal/core/", "internal/adapter/", "internal/host", "internal/host/agents", "internal/runtime/local", "internal/server/anchors", "internal/server/homestore", "internal/ui/cli"},
	"internal/server/statistics":     {"internal/core/", "internal/wire"},
	"internal/server/terminals":      {"internal/core/", "internal/view/", "internal/host", "internal/host/agents", "internal/ui/api", "internal/wire"},
	"internal/server/tracking":       {"internal/core/", "internal/adapter/", "internal/config", "internal/runtime/local", "internal/runtime/trackers", "internal/server/boards", "internal/server/forges", "internal/transport", "internal/ui/api", "internal/wire"},
	"internal/server/workspaces":     {"internal/core/", "internal/view/", "internal/host", "internal/adapter/worktree", "internal/runtime/local", "internal/wire"},
	"cmd/orange":                     {"internal/config", "internal/server", "internal/ui/cli"},
}

// everywhere lists the packages that every package may import: they only say how Go values are
// made.
var everywhere = []string{"internal/lazy"}

// homes says where a third-party module may be imported. Tests may use any.
var homes = map[string][]string{
	"github.com/spf13/cobra":          {"internal/ui/cli"},
	"github.com/spf13/pflag":          {"internal/ui/cli"},
	"github.com/alecthomas/chroma":    {"internal/view/syntax"},
	"github.com/goccy/go-yaml":        {"internal/core/workflow", "internal/core/taskfile", "internal/core/signal", "internal/adapter/harness"},
	"github.com/yuin/goldmark":        {"internal/core/taskfile", "internal/view/markdown"},
	"github.com/expr-lang/expr":       {"internal/core/workflow"},
	"github.com/google/jsonschema-go": {"internal/core/workflow", "internal/core/signal", "internal/core/handoff", "internal/trackertest/fakejoan", "internal/ui/api", "internal/ui/mcp"},
	"modernc.org/sqlite":              {"internal/adapter/sqlite"},
	"golang.org/x/sys":                {"internal/adapter/taskdir", "internal/adapter/shim", "internal/adapter/harness", "internal/adapter/pathwatch", "internal/adapter/git"},
	"github.com/gofrs/flock":          {"internal/adapter/lock"},

	"charm.land/bubbletea":                   {"internal/ui/tui"},
	"charm.land/lipgloss":                    {"internal/ui/tui/render"},
	"github.com/charmbracelet/x":             {"internal/ui/cli", "internal/ui/tui", "internal/ui/tui/render"},
	"github.com/chromedp/chromedp":           {"bench", "internal/testbrowser"},
	"github.com/chromedp/cdproto":            {"internal/testbrowser"},
	"github.com/fsnotify/fsnotify":           {"internal/adapter/filewatch"},
	"github.com/google/go-github":            {"internal/adapter/github"},
	"code.gitea.io/sdk/gitea":                {"internal/adapter/gitea"},
	"github.com/modelcontextprotocol/go-sdk": {"internal/adapter/mcpboard", "internal/trackertest/fakejoan", "internal/ui/mcp"},
	"github.com/vektah/gqlparser":            {"internal/trackertest/fakelinear"},
}

// impure lists what values in, values out cannot need.
var impure = []string{
	"os", "net", "log", "context", "sync", "syscall", "unsafe", "plugin", "runtime", "math/rand", "crypto/rand", "testing", "io/ioutil",
}

// clocks are the functions of package time that read or wait for the present.
var clocks = []string{"Now", "Since", "Until", "Sleep", "After", "AfterFunc", "Tick", "NewTimer", "NewTicker", "Local"}

type source struct {
	dir  string
	name string
	file *ast.File
}

// sources parses every Go file of ours in-process: a test that asks the go command
// would be cached and miss an edit.
func sources(t *testing.T) (out []source, fset *token.FileSet) {
	t.Helper()
	fset = token.NewFileSet()
	for _, root := range []string{"internal", "cmd", "bench"} {
		err := filepath.WalkDir(root, func(p string, d fs.DirEntry, err error) error {
			if err != nil || d.IsDir() && d.Name() == "testdata" {
				return orSkip(err)
			}
			if d.IsDir() || !strings.HasSuffix(p, ".go") || strings.HasSuffix(p, "_test.go") {
				return nil
			}
			f, err := parser.ParseFile(fset, p, nil, parser.ParseComments)
			out = append(out, source{dir: filepath.ToSlash(filepath.Dir(p)), name: p, file: f})
			return err
		})
		if err != nil && !os.IsNotExist(err) {
			t.Fatal(err)
		}
	}
	if len(out) < 20 {
		t.Fatalf("only %d files were found: is the test run from the root?", len(out))
	}
	return out, fset
}

func orSkip(err error) error {
	if err != nil {
		return err
	}
	return filepath.SkipDir
}

func TestPackagesImportOnlyWhatTheArchitectureAllows(t *testing.T) {
	files, _ := sources(t)
	for _, s := range files {
		allowed, known := allowedFor(s.dir)
		if !known {
			t.Errorf("%s: package %s is not in the architecture: add it to arrows", s.name, s.dir)
			continue
		}
		for _, imp := range s.file.Imports {
			p, _ := strconv.Unquote(imp.Path.Value)
			checkImport(t, s, p, allowed)
		}
	}
}

func allowedFor(dir string) ([]string, bool) {
	if list, ok := arrows[dir]; ok {
		return list, true
	}
	for p := dir; p != "."; p = path.Dir(p) {
		if list, ok := arrows[p+"/"]; ok {
			return list, true
		}
	}
	return nil, false
}

func checkImport(t *testing.T, s source, p string, allowed []string) {
	t.Helper()
	first, _, _ := strings.Cut(p, "/")
	switch {
	case first == "orange":
		ours := strings.TrimPrefix(p, "orange/")
		ok := slices.Contains(everywhere, ours) || slices.ContainsFunc(allowed, func(a string) bool { return a == ours || strings.HasSuffix(a, "/") && strings.HasPrefix(ours+"/", a) })
		if !ok {
			t.Errorf("%s imports %s: no such arrow", s.name, p)
		}
	case strings.Contains(first, "."):
		for module, where := range homes {
			if p == module || strings.HasPrefix(p, module+"/") {
				if !slices.Contains(where, s.dir) {
					t.Errorf("%s imports %s, which lives in %v", s.name, p, where)
				}
				return
			}
		}
		t.Errorf("%s imports %s, which has no home", s.name, p)
	}
}

// A prefix such as internal/ allows internal/server too, but only the program and what
// measures it may import it: everything else is a part of the server.
func TestOnlyTheProgramImportsTheServer(t *testing.T) {
	files, _ := sources(t)
	for _, s := range files {
		if s.dir == "cmd/orange" || s.dir == "bench" || within(s.dir, "internal/server") {
			continue
		}
		for _, imp := range s.file.Imports {
			if p, _ := strconv.Unquote(imp.Path.Value); within(p, "orange/internal/server") {
				t.Errorf("%s imports %s: only cmd/orange and bench may", s.name, p)
			}
		}
	}
}

// The host is where work happens. Whatever decides reaches it through the server.
func TestOnlyTheServerImportsTheHost(t *testing.T) {
	files, _ := sources(t)
	for _, s := range files {
		if s.dir == "bench" || within(s.dir, "internal/server") || within(s.dir, "internal/host") {
			continue
		}
		for _, imp := range s.file.Imports {
			if p, _ := strconv.Unquote(imp.Path.Value); within(p, "orange/internal/host") {
				t.Errorf("%s imports %s: only internal/server and bench may", s.name, p)
			}
		}
	}
}

func within(dir, parent string) bool { return strings.HasPrefix(dir+"/", parent+"/") }

// The main package loads the configuration and calls the command line. Product code belongs into
// the packages under internal.
func TestTheMainPackageIsSmall(t *testing.T) {
	const most = 300
	files, fset := sources(t)
	lines := 0
	for _, s := range files {
		if s.dir == "cmd/orange" {
			lines += fset.File(s.file.Pos()).LineCount()
		}
	}
	if lines == 0 || lines >= most {
		t.Errorf("cmd/orange has %d lines, not between 1 and %d", lines, most)
	}
}

// TestTheAPIIsDeclaredOnce fails when the server or its client declares a struct with
// JSON names of its own: internal/wire declares what they exchange. The description of
// the API in openapi.go is not exchanged with the client.
func TestTheAPIIsDeclaredOnce(t *testing.T) {
	files, fset := sources(t)
	for _, s := range files {
		if s.dir != "internal/ui/client" && s.dir != "internal/ui/api" || s.name == "internal/ui/api/openapi.go" {
			continue
		}
		ast.Inspect(s.file, func(n ast.Node) bool {
			if field, ok := n.(*ast.Field); ok && field.Tag != nil && strings.Contains(field.Tag.Value, "json:") && !slices.Contains(partlyRead, fset.Position(field.Pos()).Filename+" "+field.Tag.Value) {
				t.Errorf("%s: a field has a JSON name: declare the struct in internal/wire", fset.Position(field.Pos()))
			}
			return true
		})
	}
}

// partlyRead lists the fields by which the server and its client read a part of a value
// that another package declares, to save the time that decoding all of it takes.
var partlyRead = []string{
	"internal/ui/api/follow.go `json:\"task\"`",      // of a journal.Entry
	"internal/ui/client/tasks.go `json:\"history\"`", // of a wire.History, whose lines are copied as they are
}

// imitators lists the test files of clients that may write answers of the API themselves, and why.
var imitators = []string{
	"internal/ui/client/state_test.go", // a stream that breaks off within an event, and the expected state
	"internal/ui/tui/queue_test.go",    // the queue alone, which merges changes and sends no request
}

// TestTheAPIIsNotImitated fails when a test of a client routes requests by itself, or makes up states and changes: it
// uses internal/ui/apitest, the real API server over fake parts, so that what it tests against cannot differ from what
// users get.
func TestTheAPIIsNotImitated(t *testing.T) {
	var files []string
	for _, dir := range []string{"cli", "client", "mcp", "tui", "web"} {
		found, err := filepath.Glob("internal/ui/" + dir + "/*_test.go")
		if err != nil {
			t.Fatal(err)
		}
		files = append(files, found...)
	}
	if len(files) < 20 {
		t.Fatalf("only %d test files were found", len(files))
	}
	for _, name := range files {
		if slices.Contains(imitators, filepath.ToSlash(name)) {
			continue
		}
		fset := token.NewFileSet()
		f, err := parser.ParseFile(fset, name, nil, 0)
		if err != nil {
			t.Fatal(err)
		}
		ast.Inspect(f, func(n ast.Node) bool {
			if routesRequests(n) {
				t.Errorf("%s: the test serves paths of the API: use internal/ui/apitest", fset.Position(n.Pos()))
			}
			if makesUpState(n) {
				t.Errorf("%s: the test makes up a state: put tasks into a store of internal/ui/apitest, and read them from the server", fset.Position(n.Pos()))
			}
			return true
		})
	}
}

// makesUpState says whether a node is a state, a change or a row that no server computed, or a method that returns or
// streams states in place of the client's.
func makesUpState(n ast.Node) bool {
	switch n := n.(type) {
	case *ast.CompositeLit:
		sel, ok := n.Type.(*ast.SelectorExpr)
		if !ok || !slices.Contains([]string{"State", "Change", "Row"}, sel.Sel.Name) {
			return false
		}
		pkg, ok := sel.X.(*ast.Ident)
		return ok && pkg.Name == "overview"
	case *ast.FuncDecl:
		return n.Recv != nil && slices.Contains([]string{"ReadState", "FollowState"}, n.Name.Name)
	}
	return false
}

// routesRequests says whether a node gives a path to a mux, or compares a path with one of the API.
func routesRequests(n ast.Node) bool {
	isPath := func(e ast.Expr) bool {
		sel, ok := e.(*ast.SelectorExpr)
		return ok && sel.Sel.Name == "Path"
	}
	ofAPI := func(e ast.Expr) bool {
		lit, ok := e.(*ast.BasicLit)
		return ok && lit.Kind == token.STRING && strings.Contains(lit.Value, "/v1/")
	}
	switch n := n.(type) {
	case *ast.SelectorExpr:
		return slices.Contains([]string{"NewServeMux", "HandleFunc"}, n.Sel.Name)
	case *ast.BinaryExpr:
		return n.Op == token.EQL && (isPath(n.X) && ofAPI(n.Y) || ofAPI(n.X) && isPath(n.Y))
	case *ast.SwitchStmt:
		if n.Tag == nil || !isPath(n.Tag) {
			return false
		}
		return slices.ContainsFunc(n.Body.List, func(c ast.Stmt) bool { return slices.ContainsFunc(c.(*ast.CaseClause).List, ofAPI) })
	}
	return false
}

func TestTheCoreAndTheViewsArePure(t *testing.T) {
	files, fset := sources(t)
	for _, s := range files {
		if !strings.HasPrefix(s.dir, "internal/core/") && !strings.HasPrefix(s.dir, "internal/view/") {
			continue
		}
		for _, imp := range s.file.Imports {
			p, _ := strconv.Unquote(imp.Path.Value)
			root, _, _ := strings.Cut(p, "/")
			if slices.Contains(impure, p) || slices.Contains(impure, root) {
				t.Errorf("%s imports %s: core and view take values and return values", s.name, p)
			}
		}
		times := alias(s.file, "time")
		ast.Inspect(s.file, func(n ast.Node) bool {
			switch n := n.(type) {
			case *ast.GoStmt, *ast.SelectStmt, *ast.SendStmt, *ast.ChanType:
				t.Errorf("%s: core and view have no goroutines or channels", fset.Position(n.Pos()))
			case *ast.SelectorExpr:
				if is(n, times, clocks...) {
					t.Errorf("%s: core and view have no clock: time is data", fset.Position(n.Pos()))
				}
			}
			return true
		})
	}
}

func TestOnlyConfigReadsTheEnvironmentAndOnlyMainExits(t *testing.T) {
	files, fset := sources(t)
	for _, s := range files {
		osName := alias(s.file, "os")
		ast.Inspect(s.file, func(n ast.Node) bool {
			switch n := n.(type) {
			case *ast.SelectorExpr:
				if is(n, osName, "Getenv", "LookupEnv", "Environ", "ExpandEnv") && !slices.Contains([]string{"internal/config", "cmd/orange", "internal/testneeds"}, s.dir) {
					t.Errorf("%s reads the environment: internal/config does that", fset.Position(n.Pos()))
				}
				if is(n, osName, "Exit") && s.dir != "cmd/orange" {
					t.Errorf("%s exits: only main may", fset.Position(n.Pos()))
				}
			case *ast.FuncDecl:
				if n.Recv == nil && n.Name.Name == "init" {
					t.Errorf("%s: no init functions", fset.Position(n.Pos()))
				}
			}
			return true
		})
	}
}

func TestEveryPackageSaysWhatItIsFor(t *testing.T) {
	files, _ := sources(t)
	said := map[string]bool{}
	for _, s := range files {
		said[s.dir] = said[s.dir] || s.file.Doc != nil
	}
	for dir, ok := range said {
		if !ok {
			t.Errorf("%s has no package comment", dir)
		}
	}
}

func TestEveryDependencyIsExplained(t *testing.T) {
	mod, err := os.ReadFile("go.mod")
	if err != nil {
		t.Fatal(err)
	}
	doc, err := os.ReadFile("docs/DEPENDENCIES.md")
	if err != nil {
		t.Fatal(err)
	}
	for line := range strings.Lines(string(mod)) {
		fields := strings.Fields(line)
		if len(fields) != 2 || !strings.HasPrefix(fields[1], "v") {
			continue // not a direct requirement
		}
		if !strings.Contains(string(doc), fields[0]) {
			t.Errorf("docs/DEPENDENCIES.md does not say what %s is for", fields[0])
		}
	}
}

// alias is the name under which a file knows a package, "" if it does not import it.
func alias(f *ast.File, pkg string) string {
	for _, imp := range f.Imports {
		if p, _ := strconv.Unquote(imp.Path.Value); p == pkg {
			if imp.Name != nil {
				return imp.Name.Name
			}
			return path.Base(pkg)
		}
	}
	return ""
}

func is(n *ast.SelectorExpr, pkg string, names ...string) bool {
	id, ok := n.X.(*ast.Ident)
	return ok && pkg != "" && id.Name == pkg && slices.Contains(names, n.Sel.Name)
}
