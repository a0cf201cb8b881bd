package cli

import (
	"fmt"
	"io"

	"github.com/spf13/cobra"

	"orange/internal/core/engine"
	"orange/internal/core/prompt"
	"orange/internal/core/task"
	"orange/internal/core/taskfile"
	"orange/internal/core/workflow"
)

func newWorkflowPromptCommand(deps Deps) *cobra.Command {
	var file string
	cmd := pure(&cobra.Command{
		Use: "prompt NAME|FILE STATE", Short: "Print what the agent of a state is told", Args: arguments(2, 2),
		Long: "Print what a new agent of a state is told, for a supposed task. Summary, branch and the\n" +
			"like are taken from --task-file. A step of a step workflow may be given by its number,\n" +
			"from 0. Words that a repository has of its own are not looked for.",
		Example: "  orange workflow prompt cmat-feature implementer\n  orange workflow prompt orange agent-review --task-file TASK.md",
		RunE: func(cmd *cobra.Command, args []string) error {
			answer, err := supposedPrompt(deps, args[0], args[1], file)
			if err != nil {
				return err
			}
			return show(cmd, answer, func(w io.Writer) error {
				_, err := fmt.Fprintln(w, cleanText(answer.Text))
				return err
			})
		},
	})
	cmd.Flags().StringVar(&file, "task-file", "", "TASK.md to read, - for standard input")
	return cmd
}

// promptOf is what workflow prompt prints.
type promptOf struct {
	State  string `json:"state"`
	Role   string `json:"role"`
	Prompt string `json:"prompt"` // its name
	Text   string `json:"text"`
}

func supposedPrompt(deps Deps, name, state, file string) (promptOf, error) {
	def, err := loadWorkflow(deps, name)
	if err != nil {
		return promptOf{}, err
	}
	doc, err := readTaskFile(deps, file)
	if err != nil {
		return promptOf{}, err
	}
	t, _, err := engine.Suppose(def, engine.Supposition{From: stepState(def, state), Outcome: "said", Sections: doc.Sections()})
	if err != nil {
		return promptOf{}, fail{code: exitUsage, err: err}
	}
	s, _ := def.State(t.Status)
	role, ok := def.Role(s.Role)
	if !ok {
		return promptOf{}, usageError("nobody works in %s: name a state that has a role", s.Name)
	}
	fromTaskFile(&t, doc)
	out := promptOf{State: s.Name, Role: role.Name, Prompt: role.Prompt}
	if s.Prompt != "" {
		out.Prompt = s.Prompt
	}
	a, _ := t.Live(role.Name)
	var known prompt.Known
	known.Requirements, known.Context = prompt.Given(doc.Sections())
	out.Text = prompt.Whole(prompt.Facts{
		Known: known, Def: def, Task: t, Nonce: "supposed", Project: task.Project{Name: t.Project, DefaultBranch: "main"},
		Effect: task.Effect{Do: workflow.SpawnName(role.Name), Role: role.Name, Prompt: out.Prompt, Attempt: a.Number, Start: true},
	})
	return out, nil
}

// fromTaskFile takes over what the frontmatter says about the task.
func fromTaskFile(t *task.Task, doc taskfile.Document) {
	for key, field := range map[string]*string{"summary": &t.Summary, "branch": &t.Branch, "project": &t.Project, "return_to": &t.ReturnTo} {
		if text, ok := textOf(doc, key); ok {
			*field = text
		}
	}
	if id, ok := textOf(doc, "id"); ok && task.ID(id).Valid() {
		t.ID = task.ID(id)
	}
	for i := range t.Counters {
		if v, ok := doc.Get(t.Counters[i].Name); ok {
			if n, ok := v.(int); ok {
				t.Counters[i].Value = n
			}
		}
	}
}

func textOf(doc taskfile.Document, key string) (string, bool) {
	v, ok := doc.Get(key)
	if !ok || v == nil {
		return "", false
	}
	return fmt.Sprint(v), true
}
