package orange_test

import (
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"orange/internal/core/verify"
	"orange/internal/core/workflow"
	"orange/internal/testneeds"
)

// Every whole workflow file that a document shows has no finding, advice included, and every property
// holds for it.
func TestWorkflowFilesInDocumentsAreCheckedAndVerified(t *testing.T) {
	documents, err := filepath.Glob("docs/*.md")
	if err != nil {
		t.Fatal(err)
	}
	shown := map[string]int{}
	for _, document := range append(documents, "README.md") {
		text, err := os.ReadFile(document)
		if err != nil {
			t.Fatal(err)
		}
		lines := strings.Split(string(text), "\n")
		for i := 0; i < len(lines); i++ {
			end := skipFence(lines, i)
			if fence := strings.Join(lines[min(i+1, end):end], "\n") + "\n"; isWorkflowFile(lines[i], fence) {
				shown[document]++
				place := fmt.Sprintf("%s:%d", document, i+1)
				t.Run(place, func(t *testing.T) { checkWorkflowFile(t, place, fence) })
			}
			i = end
		}
	}
	if shown["docs/WORKFLOWS.md"] < 2 {
		t.Errorf("docs/WORKFLOWS.md shows %d workflow files, want one of states and one of steps", shown["docs/WORKFLOWS.md"])
	}
}

// isWorkflowFile reports whether a fence holds a whole workflow file: one of states in YAML, or one of
// steps in JSON.
func isWorkflowFile(opening, fence string) bool {
	switch opening {
	case "```yaml":
		return strings.Contains(fence, "name: ") && strings.Contains(fence, "\nstates:\n") && strings.Contains(fence, "\nedges:\n") && strings.Contains(fence, "\nversion: ")
	case "```json":
		return strings.Contains(fence, `"steps": [`)
	}
	return false
}

func checkWorkflowFile(t *testing.T, place, text string) {
	t.Helper()
	definition, err := workflow.Parse(place, text)
	if err != nil {
		t.Fatal(err)
	}
	for _, finding := range definition.Check() {
		t.Error(finding)
	}
	testneeds.ModelChecker(t)
	if report := verify.Verify(definition, verify.SearchOptions{}); !report.OK {
		t.Errorf("%s: %v", place, report.Violations)
	}
}
