package cli_test

import (
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/spf13/cobra"
	"github.com/spf13/pflag"

	"orange/internal/core/task"
	"orange/internal/core/workflow/builtin"
	"orange/internal/ui/cli"
)

// files are the arguments and flags that are completed with files.
var files = []string{
	"als", "handoff", "detect", "export", "import", "workflow import", "workflow scenario",
	"--context-file", "--task-file", "--output", "--profile", "--plot", "--emit-test", "--from",
}

func TestEverythingThatCanBeChosenIsCompleted(t *testing.T) {
	var visit func(cmd *cobra.Command)
	visit = func(cmd *cobra.Command) {
		path := strings.TrimPrefix(cmd.CommandPath(), "orange ")
		if cmd.ValidArgsFunction == nil && len(cmd.ValidArgs) == 0 && !slices.Contains(files, path) {
			t.Errorf("%s: its arguments are completed with files", path)
		}
		cmd.LocalFlags().VisitAll(func(f *pflag.Flag) {
			_, has := cmd.GetFlagCompletionFunc(f.Name)
			if !has && f.Value.Type() != "bool" && !slices.Contains(files, "--"+f.Name) {
				t.Errorf("%s --%s is completed with files", path, f.Name)
			}
		})
		for _, c := range cmd.Commands() {
			visit(c)
		}
	}
	visit(cli.New(newEnv(t).Deps))
}

func TestCompletion(t *testing.T) {
	tasks := []task.Task{
		{ID: "old", Branch: "a", Status: "pending", Summary: "first"},
		{ID: "asks", Branch: "b", Status: "clarification"},
		{ID: "grant", Branch: "c", Status: "stuck", Waiting: task.Waiting{Asked: &task.Asked{To: "reviewing", By: "fixer"}}},
		{ID: "works", Branch: "d", Status: "working", Agents: task.Agents{Attempts: []task.Attempt{{Number: 2, Role: "worker", Running: true}}}},
		{ID: "died", Branch: "e", Status: "working", CurrentVisit: task.CurrentVisit{Crashed: "worker"}, Waiting: task.Waiting{Paused: true}},
		{ID: "done", Branch: "f", Status: "done"},
	}
	tests := map[string]struct {
		args string
		want string
	}{
		"what was not started":       {"task|spawn|", "old"},
		"what waits for an answer":   {"task|answer|", "grant asks"},
		"what waits for a word":      {"task|approve|", "grant"},
		"what may be completed":      {"task|complete|", "died works grant asks old"},
		"what may be cancelled":      {"task|cancel|", "died works grant asks old"},
		"what has an agent":          {"task|attach|", "works"},
		"whose agent is stopped":     {"task|stop|", "works"},
		"whose agent is replaced":    {"task|respawn|", "died works"},
		"what is over":               {"task|delete|", "done"},
		"what is paused":             {"resume|", "died"},
		"what is not paused":         {"pause|", "works grant asks old"},
		"the newest first":           {"task|update|", "died works grant asks old"},
		"by its beginning":           {"task|update|d", "died d"},
		"by its project and branch":  {"task|update|proj/d", "proj/d"},
		"no second id":               {"task|update|works|", ""},
		"a parent":                   {"task|create|--parent|o", "old"},
		"every task":                 {"task|show|", "done died works grant asks old"},
		"states of tasks":            {"task|list|--status|", "clarification done pending stuck working"},
		"an agent":                   {"task|create|--harness|", "claude codex opencode gemini pi command: script:"},
		"an effort":                  {"task|create|--effort|", "none off minimal low medium high xhigh max"},
		"a strategy":                 {"task|merge|x|--strategy|", "auto ff merge rebase squash"},
		"how it lands":               {"project|update|proj|--land|", "auto ff merge rebase squash"},
		"who merges":                 {"project|update|proj|--merge|", "auto person"},
		"a workflow":                 {"task|create|--workflow|", "orange mine"},
		"a workflow to look at":      {"workflow|graph|", "orange mine"},
		"a format":                   {"workflow|graph|orange|--format|", "mermaid svg dot"},
		"a state of a workflow":      {"workflow|decide|orange|--from|", "new pending planning clarification working checking agent-review reviewing stuck done cancelled"},
		"a role of a workflow":       {"workflow|decide|orange|--dead|", "worker reviewer fixer"},
		"who asks":                   {"workflow|decide|orange|--actor|h", "human engine tracker worker reviewer fixer"},
		"a counter":                  {"workflow|decide|orange|--set|", "review_round= check_round= crash_count= no_answer= landing_round="},
		"the state of an agent":      {"workflow|prompt|orange|", "planning clarification working checking agent-review stuck"},
		"where a new task begins":    {"task|create|--workflow|orange|--status|", "pending clarification agent-review reviewing"},
		"a protection":               {"workflow|verify|orange|--without|", "redrive keys ensure per-role deadlines origin own-words telling one-workspace checked-trees-only"},
		"the roles of a task":        {"task|attach|works|--role|", "reviewer worker"},
		"its attempts":               {"task|log|works|--attempt|", "2 1"},
		"its entries":                {"task|replay|works|--at|", "3 1"},
		"an entry to fork at":        {"task|fork|works@", "works@3 works@1"},
		"a task to fork":             {"task|fork|wor", "works@"},
		"all states of a task":       {"task|wait|works|--for|", "pending planning clarification working checking agent-review reviewing stuck done cancelled"},
		"a project":                  {"task|list|--project|", "proj"},
		"a card":                     {"board|move|", "2 1"},
		"a column":                   {"board|move|1|", "To Do,Done"},
		"a tag":                      {"board|tag|1|", "Ready Review"},
		"a tag that is not on it":    {"board|tag|1|Ready|", "Review"},
		"a tracker":                  {"tracker|sync|", "lin"},
		"a kind of tracker":          {"tracker|add|x|--kind|", "linear github mcp board"},
		"where a secret is":          {"tracker|add|x|--token|", "env: file: command: gh"},
		"how it leaves":              {"project|update|proj|--delivery|", "local push pr"},
		"a forge":                    {"project|update|proj|--forge|", "github gitea"},
		"a level":                    {"log|--level|", "debug info warn error"},
		"a protocol":                 {"detect|--protocol|", "work-result completion-block worker-result artifacts exit auto"},
		"a form":                     {"handoff|--as|", "json als section prompt"},
		"what has no words":          {"task|create|--context|", ""},
		"a shell":                    {"completion|", "bash zsh fish"},
		"for whom":                   {"status|--format|", "plain prompt tmux json"},
		"where to":                   {"status|--snippet|", "tmux bash zsh fish starship"},
		"what an agent is called":    {"install|--harness|c", "claude codex opencode gemini pi command: script:"},
		"a branch is a person's own": {"task|create|", ""},
	}
	for name, tt := range tests {
		t.Run(name, func(t *testing.T) {
			w := newEnv(t)
			text, _ := builtin.Text("orange")
			w.Workflows = twoFlows{text}
			w.place.Project = "proj"
			w.projects = []task.Project{{Name: "proj", Path: "/p", Workflow: "orange"}}
			w.asOrange(slices.Clone(tasks)...)
			for i := range w.store.Tasks {
				w.store.Tasks[i].Project, w.store.Tasks[i].Visit = "proj", 1
			}
			w.answers["/v1/tasks/works/attempts"] = `{"attempts":[{"number":1,"role":"worker","harness":"claude"},{"number":2,"role":"reviewer","alive":true}]}`
			w.answers["/v1/tasks/works/journal"] = `{"entries":[{"seq":1,"move":{"to":"pending"}},{"seq":2},{"seq":3,"move":{"from":"pending","to":"working"}}]}`
			w.answers["/v1/boards/proj"] = `{"columns":["To Do","Done"],"tags":["Ready","Review"],"cards":[{"number":1,"title":"one","column":"To Do","tags":["Ready"]},{"number":2,"title":"two","column":"Done"}]}`
			w.answers["/v1/trackers"] = `{"trackers":[{"config":{"name":"lin","kind":"linear","project":"proj"}}]}`
			if code := w.run(t, append([]string{"__complete"}, strings.Split(tt.args, "|")...)...); code != 0 {
				t.Fatalf("exit %d: %s", code, w.err.String())
			}
			var got []string
			for line := range strings.Lines(w.out.String()) {
				if word, _, _ := strings.Cut(strings.TrimSpace(line), "\t"); !strings.HasPrefix(line, ":") {
					got = append(got, word)
				}
			}
			sep := " "
			if strings.Contains(tt.want, ",") {
				sep = ","
			}
			if strings.Join(got, sep) != tt.want {
				t.Errorf("got %q, want %q", strings.Join(got, sep), tt.want)
			}
		})
	}
}

// twoFlows has two workflows.
type twoFlows struct{ text string }

func (s twoFlows) FindWorkflow(string, string) (string, string, error) {
	return "orange.yaml", s.text, nil
}

func (s twoFlows) ListWorkflows(string) ([]cli.WorkflowEntry, error) {
	return []cli.WorkflowEntry{{Name: "orange", Text: s.text}, {Name: "mine", Origin: "user"}}, nil
}

func (twoFlows) SaveWorkflows([]cli.WorkflowEntry, string, bool, bool) ([]string, error) {
	return nil, nil
}

func TestCompletionScriptsAreGoodShell(t *testing.T) {
	for _, shell := range []string{"bash", "zsh", "fish"} {
		t.Run(shell, func(t *testing.T) {
			w := newEnv(t)
			if code := w.run(t, "completion", shell); code != 0 || w.out.Len() == 0 {
				t.Fatal(code, w.err.String())
			}
			program, err := exec.LookPath(shell)
			if err != nil {
				t.Skip(err)
			}
			file := filepath.Join(t.TempDir(), "script")
			write(t, file, w.out.String())
			if out, err := exec.Command(program, "-n", file).CombinedOutput(); err != nil {
				t.Errorf("%v: %s", err, out)
			}
		})
	}
}
