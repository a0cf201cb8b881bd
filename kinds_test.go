package orange_test

import (
	"os"
	"slices"
	"strings"
	"testing"

	"orange/internal/config"
	"orange/internal/core/agent"
	"orange/internal/core/explain"
	"orange/internal/core/journal"
	"orange/internal/core/task"
	"orange/internal/core/tracker"
	"orange/internal/core/workflow"
	"orange/internal/view/narrate"
)

// A table declares every kind of a thing of which Orange has several. Everybody else reads it.
type table struct {
	wanted string // what the row of "Where to add what" in docs/ARCHITECTURE.md begins with
	file   string
	kinds  []string

	// The other files that must know a new kind, each with what it says about KIND. Upper and
	// lower case are the same.
	files map[string]string
}

func tables() []table {
	out := []table{
		{wanted: "a coding agent", file: "internal/core/agent/harness.go", kinds: agent.HarnessNames(), files: map[string]string{
			"scripts/agents.sh":         "",
			"internal/ui/mcp/change.go": "KIND",
			"docs/HARNESSES.md":         "KIND",
		}},
		{wanted: "a tracker", file: "internal/core/tracker/config.go", files: map[string]string{
			"internal/server/tracking/tracking.go": "case tracker.KIND:",
			"docs/TRACKERS.md":                     "--kind KIND ",
		}},
		{wanted: "a kind of gates", file: "internal/core/workflow/gate.go", files: map[string]string{
			"internal/core/workflow/parse_parts.go": `case "KIND":`,
			"internal/core/workflow/schema.go":      `key{"KIND", `,
			"docs/WORKFLOWS.md":                     "| `KIND` |",
		}},
		{wanted: "something that waits for a person", file: "internal/core/explain/kinds.go", files: map[string]string{
			"docs/OPERATIONS.md": "| `KIND` |",
		}},
		{wanted: "a condition of agents", file: "internal/core/task/attempt.go", files: map[string]string{
			"docs/OPERATIONS.md": "| `KIND` |",
		}},
		{wanted: "a notification channel", file: "internal/config/notify.go", files: map[string]string{
			"internal/server/notifications/notifications.go": `case "KIND":`,
			"docs/OPERATIONS.md":                             "| `KIND` |",
		}},
	}
	for _, k := range tracker.Kinds() {
		out[1].kinds = append(out[1].kinds, k.Name)
	}
	for _, k := range workflow.GateKinds() {
		out[2].kinds = append(out[2].kinds, k.Key)
	}
	for _, k := range explain.ItemKinds() {
		out[3].kinds = append(out[3].kinds, string(k))
	}
	for _, c := range task.Conditions() {
		out[4].kinds = append(out[4].kinds, c.Name)
	}
	for _, c := range config.Channels() {
		out[5].kinds = append(out[5].kinds, c.Kind)
	}
	return out
}

// TestEveryKindIsWhole fails when somebody adds a kind to a table and forgets one of the files
// that cannot read the table, or when docs/ARCHITECTURE.md does not name these files.
func TestEveryKindIsWhole(t *testing.T) {
	guide := readText(t, "docs/ARCHITECTURE.md")
	for _, tab := range tables() {
		_, row, found := strings.Cut(guide, "\n| "+tab.wanted+" |")
		row, _, _ = strings.Cut(row, "\n")
		if !found {
			t.Errorf("docs/ARCHITECTURE.md does not say where to add %s", tab.wanted)
		}
		if len(tab.kinds) < 3 {
			t.Errorf("%s: the table has %d kinds", tab.file, len(tab.kinds))
		}
		if !strings.Contains(row, tab.file) {
			t.Errorf("docs/ARCHITECTURE.md, %s: the row does not name %s", tab.wanted, tab.file)
		}
		for file, says := range tab.files {
			if !strings.Contains(row, file) {
				t.Errorf("docs/ARCHITECTURE.md, %s: the row does not name %s", tab.wanted, file)
			}
			content := strings.ToLower(readText(t, file))
			for _, kind := range tab.kinds {
				if want := strings.ReplaceAll(says, "KIND", kind); !strings.Contains(content, strings.ToLower(want)) {
					t.Errorf("%s has a kind %q: %s does not have %q", tab.file, kind, file, want)
				}
			}
		}
	}
}

// TestEveryKindHasItsTexts fails when a row of a table lacks what its readers show.
func TestEveryKindHasItsTexts(t *testing.T) {
	verbless := []explain.ItemKind{explain.ItemReview, explain.ItemBoard, explain.ItemBlocked, explain.ItemGit}
	for _, kind := range explain.ItemKinds() {
		info := kind.Info()
		if info.Badge == "" || info.Notice == "" || (info.Verb == "") != slices.Contains(verbless, kind) {
			t.Errorf("inbox item %s lacks words or a verb: %+v", kind, info)
		}
		if info.Condition != "" && !task.KnownCondition(info.Condition) {
			t.Errorf("inbox item %s: condition %q is not known", kind, info.Condition)
		}
	}
	for _, typ := range journal.Types() {
		e := journal.Entry{Type: typ, Reason: "push", RecordChanges: journal.RecordChanges{Asked: &task.Asked{To: "done"}}}
		if typ == journal.TaskCreated || typ == journal.StatusChanged || typ == journal.AutoAdvanced {
			e.To = "working" // the states are the words of a move
		}
		if told := narrate.DescribeEntry(&e); told.What == strings.ReplaceAll(string(typ), ".", " ") || told.What+told.To == "" {
			t.Errorf("an entry of type %s has no words in internal/view/narrate/entries.go: %q", typ, told.What)
		}
	}
	for _, k := range tracker.Kinds() {
		if k.Words == "" {
			t.Errorf("tracker %s has no words", k.Name)
		}
	}
	for _, c := range config.Channels() {
		if c.Remote == (c.Secret == "") {
			t.Errorf("channel %s: a channel has a secret if it sends over the network: %+v", c.Kind, c)
		}
	}
}

func readText(t *testing.T, file string) string {
	t.Helper()
	content, err := os.ReadFile(file)
	if err != nil {
		t.Fatal(err)
	}
	return string(content)
}
