package harness

import (
	"encoding/json"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
	"pgregory.net/rapid"

	"orange/internal/core/agent"
)

const ourHooks = `{"hooks":{"Stop":[{"hooks":[{"name":"orange","command":"/new/orange hook"}]}]}}`

func TestMergeJSON(t *testing.T) {
	for _, c := range []struct{ name, theirs, ours, want string }{
		{"into nothing", `{}`, ourHooks, ourHooks},
		{"beside other keys, in their order", `{"z":1,"a":[1]}`, ourHooks, `{"z":1,"a":[1],` + ourHooks[1:]},
		{"hooks of the user stay and come first", `{"hooks":{"Stop":[{"hooks":[{"command":"mine"}]}]}}`, ourHooks,
			`{"hooks":{"Stop":[{"hooks":[{"command":"mine"}]},{"hooks":[{"name":"orange","command":"/new/orange hook"}]}]}}`},
		{"hooks of ours are replaced", `{"hooks":{"Stop":[{"hooks":[{"name":"orange","command":"/old/orange hook"}]},{"hooks":[{"command":"mine"}]}]}}`, ourHooks,
			`{"hooks":{"Stop":[{"hooks":[{"name":"orange","command":"/new/orange hook"}]},{"hooks":[{"command":"mine"}]}]}}`},
		{"a value of the user stays", `{"a":{"b":"mine"},"c":[1]}`, `{"a":{"b":"ours","d":true},"c":[2]}`, `{"a":{"b":"mine","d":true},"c":[1]}`},
		{"another type stays", `{"hooks":"off"}`, ourHooks, `{"hooks":"off"}`},
		{"null stays", `{"hooks":null}`, ourHooks, `{"hooks":null}`},
		{"numbers stay as they are written", `{"n":1.50,"big":123456789012345678901234567890,"s":"<&>\u00e9"}`, `{"x":1}`, `{"n":1.50,"big":123456789012345678901234567890,"s":"<&>é","x":1}`},
		{"a key that is given twice keeps its last value", `{"a":1,"a":2}`, `{"b":3}`, `{"a":2,"b":3}`},
	} {
		t.Run(c.name, func(t *testing.T) {
			got, err := mergeJSON([]byte(c.theirs), []byte(c.ours))
			if err != nil {
				t.Fatal(err)
			}
			o, err := parseObject(got)
			if err != nil || string(encodeJSON(o)) != c.want {
				t.Errorf("got  %s, %v\nwant %s", encodeJSON(o), err, c.want)
			}
		})
	}
	for _, theirs := range []string{"", "[]", "1", "{", "{} {}", `{"a":1} // comment`, strings.Repeat(`{"a":`, 200) + "1" + strings.Repeat("}", 200)} {
		if got, err := mergeJSON([]byte(theirs), []byte(ourHooks)); err == nil {
			t.Errorf("%q becomes %q", theirs, got)
		}
	}
}

// anyJSON draws settings of a user, with keys that meet those of ours.
func anyJSON(t *rapid.T, depth int) any {
	switch kind := rapid.IntRange(0, 5).Draw(t, "kind"); {
	case depth > 0 && kind < 2:
		object := map[string]any{}
		for range rapid.IntRange(0, 4).Draw(t, "keys") {
			key := rapid.SampledFrom([]string{"hooks", "Stop", "a", "b", "name", "é\"\\"}).Draw(t, "key")
			object[key] = anyJSON(t, depth-1)
		}
		return object
	case depth > 0 && kind == 2:
		list := []any{}
		for range rapid.IntRange(0, 3).Draw(t, "items") {
			list = append(list, anyJSON(t, depth-1))
		}
		return list
	case kind == 3:
		return rapid.Float64Range(-1e9, 1e9).Draw(t, "number")
	case kind == 4:
		return rapid.Bool().Draw(t, "bool")
	}
	return rapid.String().Draw(t, "text")
}

// survives reports whether everything in before is in after. Lists may have grown.
func survives(before, after any) bool {
	switch b := before.(type) {
	case map[string]any:
		a, ok := after.(map[string]any)
		for key, value := range b {
			ok = ok && survives(value, a[key])
		}
		return ok
	case []any:
		a, ok := after.([]any)
		return ok && len(a) >= len(b) && cmp.Equal(b, a[:len(b)])
	}
	return cmp.Equal(before, after)
}

func TestWhatAUserWroteSurvives(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		object := func(name string) []byte {
			value := map[string]any{"hooks": anyJSON(t, 4), name: anyJSON(t, 3)}
			text, err := json.Marshal(value)
			if err != nil {
				t.Fatal(err)
			}
			return text
		}
		theirs, ours := object("a"), object("b")
		merged, err := mergeJSON(theirs, ours)
		if err != nil {
			t.Fatal(err)
		}
		var before, after any
		if json.Unmarshal(theirs, &before) != nil || json.Unmarshal(merged, &after) != nil {
			t.Fatalf("not JSON: %s", merged)
		}
		if !survives(before, after) {
			t.Fatalf("%s\nbecame %s", theirs, merged)
		}
		again, err := mergeJSON(merged, ours)
		if err != nil || string(again) != string(merged) {
			t.Fatalf("merging twice changes it: %s\nbecame %s (%v)", merged, again, err)
		}
	})
}

func FuzzMergeJSON(f *testing.F) {
	f.Add(`{"hooks":{"Stop":[]}}`, ourHooks)
	f.Add(`{"a":1e99}`, `{"a":{"b":[1,null,true]}}`)
	f.Fuzz(func(t *testing.T, theirs, ours string) {
		merged, err := mergeJSON([]byte(theirs), []byte(ours))
		if err != nil {
			return
		}
		if !json.Valid(merged) {
			t.Fatalf("%q and %q give %q", theirs, ours, merged)
		}
		if again, err := mergeJSON(merged, []byte(ours)); err != nil || string(again) != string(merged) {
			t.Fatalf("%q and %q give %q, then %q, %v", theirs, ours, merged, again, err)
		}
	})
}

func TestWriteFiles(t *testing.T) {
	dir := t.TempDir()
	path := func(name string) string { return filepath.Join(dir, name) }
	put := func(name, text string, mode os.FileMode) {
		if err := os.WriteFile(path(name), []byte(text), mode); err != nil {
			t.Fatal(err)
		}
	}
	put("theirs.json", `{"a":1}`, 0o640)
	put("empty.json", "", 0o600)
	put("target.json", `{"linked":true}`, 0o600)
	if err := os.Symlink("target.json", path("link.json")); err != nil {
		t.Fatal(err)
	}
	merge := func(name string) File {
		return File{Path: path(name), Merge: true, Text: []byte(ourHooks), Mode: 0o600}
	}
	files := []File{
		merge("theirs.json"), merge("empty.json"), merge("link.json"), merge("new/deep.json"),
		{Path: path("own/settings.js"), Text: []byte("x"), Mode: 0o700},
	}
	for range 2 {
		if err := WriteFiles(files); err != nil {
			t.Fatal(err)
		}
	}
	for name, want := range map[string]string{
		"theirs.json": `"a": 1,`, "empty.json": `"Stop"`, "target.json": `"linked": true,`, "new/deep.json": `"Stop"`, "own/settings.js": "x",
	} {
		if text, err := os.ReadFile(path(name)); err != nil || !strings.Contains(string(text), want) {
			t.Errorf("%s: %s, %v", name, text, err)
		}
	}
	for name, mode := range map[string]os.FileMode{"theirs.json": 0o640, "new/deep.json": 0o600, "own/settings.js": 0o700} {
		if info, err := os.Stat(path(name)); err != nil || info.Mode().Perm() != mode {
			t.Errorf("%s: mode %v, %v", name, info.Mode(), err)
		}
	}
	if info, err := os.Lstat(path("link.json")); err != nil || info.Mode()&os.ModeSymlink == 0 {
		t.Errorf("the link is gone: %v, %v", info, err)
	}
	left, err := filepath.Glob(path(".orange-*"))
	if err != nil || len(left) > 0 {
		t.Errorf("left behind: %v, %v", left, err)
	}
}

func TestWriteFilesLeavesWhatIsNotJSON(t *testing.T) {
	path := filepath.Join(t.TempDir(), "settings.json")
	const text = `{"a": 1, // mine` + "\n}"
	if err := os.WriteFile(path, []byte(text), 0o600); err != nil {
		t.Fatal(err)
	}
	err := WriteFiles([]File{{Path: path, Merge: true, Text: []byte(ourHooks), Mode: 0o600}})
	if err == nil || !strings.Contains(err.Error(), path+" is not JSON") || strings.Contains(err.Error(), "\n") {
		t.Errorf("error %v", err)
	}
	if have, err := os.ReadFile(path); err != nil || string(have) != text {
		t.Errorf("it was changed: %q, %v", have, err)
	}
}

func TestExcludesNameEveryFileInTheWorktree(t *testing.T) {
	for _, name := range agent.HarnessNames() {
		plan, err := find(t, name).PlanLaunch(launch())
		if err != nil {
			t.Fatal(err)
		}
		for _, f := range plan.Files {
			inside, ok := strings.CutPrefix(f.Path, "/work/tree.1/")
			if ok && (!slices.Contains(plan.Excludes, inside) || !slices.Contains(ExcludedPaths(), inside)) {
				t.Errorf("%s: %s would end up in a commit", name, inside)
			}
		}
	}
}

func TestOursIsOnlyWhatOrangeWrote(t *testing.T) {
	l := launch()
	l.Workspace = t.TempDir()
	plan, err := find(t, "gemini").PlanLaunch(l)
	if err != nil {
		t.Fatal(err)
	}
	if err := WriteFiles(plan.Files[len(plan.Files)-1:]); err != nil {
		t.Fatal(err)
	}
	path := filepath.Join(l.Workspace, geminiSettings)
	text, err := os.ReadFile(path)
	if err != nil || !HoldsOnlyOurs(geminiSettings, text) {
		t.Errorf("%v: %s is not ours", err, text)
	}
	for _, other := range []string{
		"", "{", "{}", `{"hooks":1}`, `{"theme":"x"}`, strings.Replace(string(text), "{", `{"theme":"x",`, 1),
		strings.Replace(string(text), `"name": "`+ourHook, `"name": "mine`, 1),
	} {
		if HoldsOnlyOurs(geminiSettings, []byte(other)) {
			t.Errorf("%s is ours", other)
		}
	}
	if HoldsOnlyOurs(claudeLocal, text) {
		t.Error("a file that Orange does not write is ours")
	}
}
