package journal

import (
	"encoding/json"
	"errors"
	"go/ast"
	"go/parser"
	"go/token"
	"maps"
	"os"
	"reflect"
	"regexp"
	"slices"
	"strconv"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"orange/internal/core/handoff"
	"orange/internal/core/signal"
	"orange/internal/core/task"
)

// reserved are names that later versions will use for what docs/FORMAT.md says. Whoever implements one takes it out of this list.
var reserved = []string{"signal_id", "jail", "host", "epoch", "host_time", "serial_groups"}

// persistedFields passes every field that an entry or a record stores, but not what is inside of types whose names
// are those of a protocol.
func persistedFields(yield func(in reflect.Type, f reflect.StructField, name string)) {
	protocols := []reflect.Type{reflect.TypeFor[handoff.Handoff](), reflect.TypeFor[signal.Actions](), reflect.TypeFor[signal.Consult]()}
	seen := map[reflect.Type]bool{}
	var walk func(t reflect.Type)
	walk = func(t reflect.Type) {
		for t.Kind() == reflect.Pointer || t.Kind() == reflect.Slice {
			t = t.Elem()
		}
		if t.Kind() != reflect.Struct || seen[t] || t == reflect.TypeFor[time.Time]() || slices.Contains(protocols, t) {
			return
		}
		seen[t] = true
		for i := range t.NumField() {
			f := t.Field(i)
			if name, _, _ := strings.Cut(f.Tag.Get("json"), ","); name != "-" {
				yield(t, f, name)
			}
			walk(f.Type)
		}
	}
	walk(reflect.TypeFor[Entry]())
	walk(reflect.TypeFor[task.Task]())
}

// snakeCase writes the name of a Go field in words.
func snakeCase(name string) string {
	name = strings.Replace(name, "PRURL", "PrUrl", 1)
	name = regexp.MustCompile(`([A-Z]+)([A-Z][a-z])`).ReplaceAllString(name, "${1}_$2")
	return strings.ToLower(regexp.MustCompile(`([a-z0-9])([A-Z])`).ReplaceAllString(name, "${1}_$2"))
}

func TestStoredNamesAreTheNamesOfTheFields(t *testing.T) {
	persistedFields(func(in reflect.Type, f reflect.StructField, name string) {
		if in == reflect.TypeFor[task.Spend]() && f.Anonymous {
			return // its fields are the spend's own
		}
		if name != snakeCase(f.Name) {
			t.Errorf("%s.%s is stored as %q: store it as %q", in, f.Name, name, snakeCase(f.Name))
		}
	})
}

func TestReservedNamesAreNotUsed(t *testing.T) {
	persistedFields(func(in reflect.Type, f reflect.StructField, name string) {
		if slices.Contains(reserved, name) {
			t.Errorf("%s.%s uses the reserved name %q: see docs/FORMAT.md, and take it out of the list if this is what it is for", in, f.Name, name)
		}
	})
	text, err := os.ReadFile("../../../docs/FORMAT.md")
	if err != nil {
		t.Fatal(err)
	}
	for _, name := range reserved {
		if !strings.Contains(string(text), "| `"+name+"` |") {
			t.Errorf("docs/FORMAT.md does not reserve %s", name)
		}
	}
}

// declaredTypes are the types of entries that journal.go declares.
func declaredTypes(t *testing.T) (out []string) {
	t.Helper()
	file, err := parser.ParseFile(token.NewFileSet(), "journal.go", nil, 0)
	if err != nil {
		t.Fatal(err)
	}
	ast.Inspect(file, func(n ast.Node) bool {
		if v, ok := n.(*ast.ValueSpec); ok {
			if typ, ok := v.Type.(*ast.Ident); ok && typ.Name == "Type" {
				text, err := strconv.Unquote(v.Values[0].(*ast.BasicLit).Value)
				if err != nil {
					t.Fatal(err)
				}
				out = append(out, text)
			}
		}
		return true
	})
	if len(out) < 30 {
		t.Fatalf("only %d types are declared", len(out))
	}
	return out
}

func TestEveryDeclaredTypeIsRead(t *testing.T) {
	for _, typ := range declaredTypes(t) {
		text, err := Encode(&Entry{Task: "t", Seq: 1, Type: Type(typ)})
		if err != nil {
			t.Fatal(err)
		}
		if got, err := Decode(text); err != nil || got.Type != Type(typ) {
			t.Errorf("%s: %v", typ, err)
		}
	}
}

func TestLaterVersionsAreRefusedWithUpgrade(t *testing.T) {
	for text, want := range map[string]string{
		`{"format":1,"task":"t","seq":1,"at":"2026-01-02T03:04:05Z","type":"check.passed"}`: `its type "check.passed" is not known to this version: upgrade orange`,
		`{"format": 1, "seq": 1, "type": "check.passed"}`:                                   `its type "check.passed" is not known to this version: upgrade orange`,
		`{"seq":1,"type":"check.passed"}`:                                                   `its type "check.passed" is not known to this version: upgrade orange`,
		`{"format":2,"task":"t","seq":1,"type":"task.paused"}`:                              `its format is 2, and this version reads up to 1: upgrade orange`,
	} {
		if _, err := Decode([]byte(text)); !errors.Is(err, ErrUpgrade) || err.Error() != want {
			t.Errorf("%s: %v", text, err)
		}
	}
	later := `{"format":1,"task":"t","seq":1,"at":"2026-01-02T03:04:05Z","type":"task.paused","serial_groups":["deploy"]}`
	if e, err := Decode([]byte(later)); err != nil || e.Type != TaskPaused {
		t.Errorf("a later optional field is left out: %v", err)
	}
}

// An entry of the format before with every field, as that version wrote it, is read with nothing left out.
func TestEveryUnversionedFieldIsRead(t *testing.T) {
	e := full()
	e.Type = TaskUpdated
	e.Model, e.PauseCause, e.Check, e.CheckRun, e.Approved, e.Predecessors, e.Landing, e.Undelivered = "", "", nil, nil, nil, nil, nil, nil // fields that format 1 grew by
	now := map[string]any{}
	text, err := json.Marshal(&e)
	if err == nil {
		err = json.Unmarshal(text, &now)
	}
	if err != nil {
		t.Fatal(err)
	}
	for _, m := range slices.Backward(unversionedPaths) {
		moveBack(now, strings.Split(m.from, "."), strings.Split(m.to, "."))
	}
	for name := range now {
		if i := slices.IndexFunc(groupNames(), func(group string) bool { return group == name }); i >= 0 {
			t.Errorf("%s has fields that no entry from before is read into: %v", name, slices.Sorted(maps.Keys(now[name].(map[string]any))))
		}
	}
	text, err = json.Marshal(now)
	if err != nil {
		t.Fatal(err)
	}
	got, err := Decode(text)
	if err != nil {
		t.Fatal(err)
	}
	if diff := cmp.Diff(e, got); diff != "" {
		t.Error(diff)
	}
}

// Rows from before pauses had a cause get it when they are read, from the words that the engine used then.
func TestAPauseWithoutACauseGetsOneWhenItIsRead(t *testing.T) {
	const lost = `"type":"task.paused","reason":"the store was restored (entries lost: 1, owed effects dropped: 0)"}`
	for text, want := range map[string]task.PauseCause{
		`{"format":1,"task":"t","seq":1,"at":"2026-01-02T03:04:05Z",` + lost:                              task.PausedByRestore,
		`{"format":1, "task":"t","seq":1,"at":"2026-01-02T03:04:05Z",` + lost:                             task.PausedByRestore,
		`{"task":"t","seq":1,"at":"2026-01-02T03:04:05Z",` + lost:                                         task.PausedByRestore,
		`{"format":1,"task":"t","seq":1,"at":"2026-01-02T03:04:05Z","type":"task.paused"}`:                task.PausedByRequest,
		`{"task":"t","seq":1,"at":"2026-01-02T03:04:05Z","type":"task.paused","reason":"lunch"}`:          task.PausedByRequest,
		`{"format":1,"task":"t","seq":1,"at":"2026-01-02T03:04:05Z","type":"task.resumed","reason":"ok"}`: "",
	} {
		e, err := Decode([]byte(text))
		if err != nil || e.PauseCause != want {
			t.Errorf("%s: cause %q, %v", text, e.PauseCause, err)
		}
	}
	written, err := Encode(&Entry{Task: "t", Seq: 1, Type: TaskPaused, Reason: "the store was restored, says a person", RecordChanges: RecordChanges{PauseCause: task.PausedByRequest}})
	if err != nil {
		t.Fatal(err)
	}
	if e, err := Decode(written); err != nil || e.PauseCause != task.PausedByRequest {
		t.Errorf("the words decide although the entry has a cause: %q, %v", e.PauseCause, err)
	}
}

// groupNames are the names of the groups of an entry.
func groupNames() (out []string) {
	for _, f := range reflect.VisibleFields(reflect.TypeFor[Entry]()) {
		if name, _, _ := strings.Cut(f.Tag.Get("json"), ","); f.Anonymous && len(f.Index) == 1 {
			out = append(out, name)
		}
	}
	return out
}

// moveBack undoes what moveValue does.
func moveBack(node map[string]any, from, to []string) {
	if len(from) > 1 {
		switch next := node[from[0]].(type) {
		case map[string]any:
			moveBack(next, from[1:], to[1:])
		case []any:
			for _, item := range next {
				moveBack(item.(map[string]any), from[1:], to[1:])
			}
		}
		return
	}
	group := node
	for _, step := range to[:len(to)-1] {
		group, _ = group[step].(map[string]any)
	}
	if value, ok := group[to[len(to)-1]]; ok {
		delete(group, to[len(to)-1])
		node[from[0]] = value
	}
	if len(to) > 1 && len(group) == 0 {
		delete(node, to[0])
	}
}
