package orange_test

import (
	"encoding/json"
	"os"
	"slices"
	"strings"
	"testing"

	"orange/internal/adapter/harness"
	"orange/internal/core/agent"
)

// TestEveryHarnessIsWhole fails when a row of the table of harnesses lacks what its users
// read, or when a file that cannot read the table does not know the harness.
func TestEveryHarnessIsWhole(t *testing.T) {
	withoutEfforts := []string{"gemini"}
	text := map[string]string{}
	for _, file := range []string{"scripts/agents.sh", "docs/HARNESSES.md", "internal/ui/mcp/change.go"} {
		content, err := os.ReadFile(file)
		if err != nil {
			t.Fatal(err)
		}
		text[file] = string(content)
	}
	var npm struct{ Dependencies map[string]string }
	content, err := os.ReadFile("scripts/npm/agents/package.json")
	if err == nil {
		err = json.Unmarshal(content, &npm)
	}
	if err != nil {
		t.Fatal(err)
	}
	for _, h := range agent.Harnesses() {
		t.Run(h.Name, func(t *testing.T) {
			if h.Name == "" || h.Program == "" || h.Tried == "" || len(h.Variables) == 0 || h.Skills.Variable == "" || h.Skills.Path == "" {
				t.Errorf("the row lacks a field: %+v", h)
			}
			if (len(h.Efforts) == 0) != slices.Contains(withoutEfforts, h.Name) {
				t.Errorf("its efforts are %q: name them, or add it to those that take none", h.Efforts)
			}
			found, err := harness.Find(h.Name)
			if err != nil || found.Name() != h.Name {
				t.Errorf("adapter/harness does not know it: %v, %v", found, err)
			}
			for file, content := range text {
				if !strings.Contains(content, h.Name) {
					t.Errorf("%s does not name it", file)
				}
			}
			if !slices.ContainsFunc(strings.Split(text["scripts/agents.sh"], "\n"), func(line string) bool {
				words := strings.Fields(line)
				return len(words) == 3 && words[0] == "verify" && words[1] == h.Program && npm.Dependencies[words[2]] == h.Tried
			}) {
				t.Errorf("scripts/agents.sh and scripts/npm/agents do not install %s %s", h.Program, h.Tried)
			}
		})
	}
}
