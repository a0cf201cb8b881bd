package workflow_test

import (
	"errors"
	"strings"
	"testing"

	"orange/internal/core/workflow"
)

// withFragments expands and reads a workflow that is in a folder with these files.
func withFragments(text string, files map[string]string) (*workflow.Definition, error) {
	whole, err := workflow.ExpandIncludes("dir/t.yaml", text, func(name string) (string, error) {
		got, ok := files[name]
		if !ok {
			return "", errors.New("no such file")
		}
		return got, nil
	})
	if err != nil {
		return nil, err
	}
	return workflow.Parse("dir/t.yaml", whole)
}

// inParts returns the minimal workflow, with its roles, counters, gates and prompts in two
// fragments.
func inParts(t *testing.T) (main string, files map[string]string) {
	t.Helper()
	text := readFile(t, "testdata/clean.yaml")
	rolesAt, statesAt, promptsAt := strings.Index(text, "roles:"), strings.Index(text, "states:"), strings.Index(text, "prompts:")
	return text[:rolesAt] + "include: [shared.yaml, words.yml]\n" + text[statesAt:promptsAt],
		map[string]string{"shared.yaml": "# what all workflows share\n" + text[rolesAt:statesAt], "words.yml": text[promptsAt:]}
}

func TestAWorkflowInPartsIsTheSameAsAWholeOne(t *testing.T) {
	main, files := inParts(t)
	d, err := withFragments(main, files)
	if err != nil {
		t.Fatal(err)
	}
	for _, f := range d.Check() {
		t.Error(f)
	}
	if r, ok := d.RoleNamed("worker"); !ok || r.Pos.File != "dir/shared.yaml" || r.Pos.Line != 3 || len(d.Prompts) != 1 || len(d.Counters) != 2 {
		t.Errorf("roles %+v, prompts %+v, counters %+v", d.Roles, d.Prompts, d.Counters)
	}
	// what is pinned is the whole, and reads again without any file
	again, err := workflow.Parse("dir/t.yaml", d.Text)
	if err != nil || again.Hash != d.Hash || !strings.Contains(d.Text, "# what all workflows share") {
		t.Errorf("%v: %q", err, d.Text)
	}
	if whole, err := workflow.ExpandIncludes("other/t.yaml", d.Text, nil); err != nil || whole != d.Text {
		t.Errorf("a text that has its fragments is expanded once more: %v", err)
	}
}

func TestWhatIsWrongWithAFragmentIsSaidWithItsPlace(t *testing.T) {
	for name, tt := range map[string]struct {
		change func(main *string, files map[string]string)
		want   string
	}{
		"no such file":  {func(m *string, f map[string]string) { delete(f, "words.yml") }, "dir/t.yaml:3:24: include: words.yml cannot be read: no such file"},
		"a path":        {func(m *string, f map[string]string) { *m = strings.Replace(*m, "words.yml", "../words.yml", 1) }, `include: "../words.yml" is not a file of the same folder`},
		"a folder":      {func(m *string, f map[string]string) { *m = strings.Replace(*m, "words.yml", "a/words.yml", 1) }, "is not a file of the same folder"},
		"a hidden file": {func(m *string, f map[string]string) { *m = strings.Replace(*m, "words.yml", ".words.yml", 1) }, "is not a file of the same folder"},
		"twice the file": {func(m *string, f map[string]string) {
			*m = strings.Replace(*m, "words.yml", "shared.yaml", 1)
		}, "shared.yaml is given twice"},
		"another kind of file":      {func(m *string, f map[string]string) { *m = strings.Replace(*m, "words.yml", "words.json", 1) }, "fragments are written in YAML"},
		"a name twice":              {func(m *string, f map[string]string) { f["words.yml"] += "roles:\n  worker: {}\n" }, "dir/words.yml:6:3: role worker is declared in dir/shared.yaml:3:3 too"},
		"a name of the file itself": {func(m *string, f map[string]string) { *m += "gates:\n  passed: {section: Review}\n" }, "dir/shared.yaml:8:3: gate passed is declared in dir/t.yaml:"},
		"a state in it":             {func(m *string, f map[string]string) { f["words.yml"] += "states:\n  x: {kind: halt}\n" }, `dir/words.yml:5:1: a fragment has no key "states"`},
		"a second level":            {func(m *string, f map[string]string) { f["words.yml"] = "include: shared.yaml\n" + f["words.yml"] }, `dir/words.yml:1:1: a fragment has no key "include"`},
		"broken YAML":               {func(m *string, f map[string]string) { f["words.yml"] = "prompts:\n  a: [\n" }, "dir/words.yml:"},
		"an unknown name": {func(m *string, f map[string]string) {
			f["shared.yaml"] = strings.Replace(f["shared.yaml"], "prompt: worker", "prompt: werker", 1)
		}, "dir/shared.yaml:3:3: role worker: prompt \"werker\" is not declared: add it to prompts: (did you mean worker?)"},
		"an unknown variable": {func(m *string, f map[string]string) { f["words.yml"] += "    {sumary}\n" }, "dir/words.yml:2:3: prompt worker: variable {sumary} is not known"},
		"a foreign part":      {func(m *string, f map[string]string) { f["words.yml"] += "\n--- # include shared.yaml\nroles: {}\n" }, "has a line that begins with --- # include"},
	} {
		t.Run(name, func(t *testing.T) {
			main, files := inParts(t)
			tt.change(&main, files)
			if _, err := withFragments(main, files); err == nil || !strings.Contains(err.Error(), tt.want) {
				t.Errorf("got %v\nwant %s", err, tt.want)
			}
		})
	}
}

func TestAFindingInAFragmentHasItsPlace(t *testing.T) {
	main, files := inParts(t)
	files["words.yml"] += "  spare: Hello.\n"
	d, err := withFragments(main, files)
	if err != nil {
		t.Fatal(err)
	}
	if found := d.Check(); len(found) != 1 || !strings.HasPrefix(found[0].String(), "dir/words.yml:5:3: prompt-unused: ") {
		t.Errorf("%v", found)
	}
}

// Text that comes from elsewhere, such as over MCP, has no folder that fragments could be in.
func TestATextWithoutItsFragmentsIsRefused(t *testing.T) {
	main, _ := inParts(t)
	if _, err := workflow.Parse("t.yaml", main); err == nil || !strings.Contains(err.Error(), "the text of shared.yaml is not here") {
		t.Error(err)
	}
	if !workflow.IsFragment("a.yaml", "roles: {}\nprompts: {}\n") || workflow.IsFragment("a.yaml", "name: x\nroles: {}\n") || workflow.IsFragment("a.yaml", "") {
		t.Error("what a fragment is")
	}
}
