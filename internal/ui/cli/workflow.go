package cli

import (
	"errors"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"strconv"
	"strings"

	"github.com/spf13/cobra"

	"orange/internal/core/engine"
	"orange/internal/core/prompt"
	"orange/internal/core/task"
	"orange/internal/core/taskfile"
	"orange/internal/core/workflow"
	"orange/internal/view/drawing"
)

// A WorkflowSource finds workflow files: first those of the repository, then the user's, then
// the built-in ones.
type WorkflowSource interface {
	// FindWorkflow returns a workflow's text and the name to show for its file. A name with
	// a slash or an extension such as .yaml is a path relative to cwd.
	FindWorkflow(name, cwd string) (file, text string, err error)
	// ListWorkflows returns every workflow that can be found by name from cwd, in search order.
	ListWorkflows(cwd string) ([]WorkflowEntry, error)
	// SaveWorkflows writes workflows in JSON, by Name and Text, either all or none, and
	// returns their files. It writes into the repository of cwd, or among the user's
	// workflows if user is set. It replaces existing files only if force is set.
	SaveWorkflows(list []WorkflowEntry, cwd string, user, force bool) (files []string, err error)
}

// A WorkflowEntry is a workflow that can be found by name.
type WorkflowEntry struct {
	Name   string `json:"name"`
	Origin string `json:"origin"` // repo, user or built-in
	File   string `json:"file"`
	Text   string `json:"-"`
}

func newWorkflowCommand(deps Deps) *cobra.Command {
	return groupCommand("workflow", "Show, check, verify and simulate workflows",
		newWorkflowListCommand(deps), newWorkflowShowCommand(deps), newWorkflowCheckCommand(deps),
		newWorkflowDecideCommand(deps), newWorkflowGraphCommand(deps), newWorkflowVerifyCommand(deps),
		newWorkflowScenarioCommand(deps), newWorkflowSimulateCommand(deps), newWorkflowPromptCommand(deps),
		newWorkflowImportCommand(deps))
}

// needsNoServer marks a command that needs neither the server nor the configuration.
func needsNoServer(cmd *cobra.Command) *cobra.Command {
	cmd.Annotations = map[string]string{needsNothing: "yes"}
	return cmd
}

// findWorkflow returns the file and the text of the workflow that an argument names.
func findWorkflow(deps Deps, name string) (file, text string, err error) {
	if t, path, ok, err := findTemplate(deps, name); ok || err != nil {
		return path + "#" + t.ID, t.Text, err
	}
	if deps.Workflows == nil {
		return "", "", fmt.Errorf("find workflow %s: this program was built without workflows: reinstall it", name)
	}
	file, text, err = deps.Workflows.FindWorkflow(name, deps.Cwd)
	if err != nil {
		return "", "", exitError{code: exitUsage, err: err}
	}
	return file, text, nil
}

// findTemplate reads FILE#ID: one workflow of a file that holds several. ok is false if the
// argument does not have this form.
func findTemplate(deps Deps, name string) (t workflow.Template, file string, ok bool, err error) {
	at := strings.LastIndexByte(name, '#')
	if at < 0 || !strings.ContainsAny(name[:at], "/.") {
		return t, "", false, nil
	}
	file, text, err := findWorkflow(deps, name[:at])
	if err != nil {
		return t, "", false, err
	}
	list, err := workflow.SplitTemplates(file, text)
	if err != nil {
		return t, "", false, exitError{code: exitUsage, err: err}
	}
	t, err = chooseTemplate(list, file, name[at+1:])
	return t, file, err == nil, err
}

func chooseTemplate(list []workflow.Template, file, id string) (workflow.Template, error) {
	ids := make([]string, len(list))
	for i, t := range list {
		if t.ID == id {
			return t, nil
		}
		ids[i] = t.ID
	}
	return workflow.Template{}, usageError("%s has no workflow %q: it has %s", file, id, strings.Join(ids, ", "))
}

// loadWorkflow reads and parses the workflow that an argument names.
func loadWorkflow(deps Deps, name string) (*workflow.Definition, error) {
	t, file, ok, err := findTemplate(deps, name)
	var def *workflow.Definition
	switch {
	case err != nil:
		return nil, err
	case ok:
		def, err = t.Parse(file)
	default:
		var text string
		if file, text, err = findWorkflow(deps, name); err != nil {
			return nil, err
		}
		def, err = workflow.Parse(file, text)
	}
	if err != nil {
		return nil, exitError{code: exitUsage, err: err}
	}
	return def, nil
}

// stepState returns the state that an argument names. The steps of a step workflow can also
// be given by number.
func stepState(def *workflow.Definition, name string) string {
	steps := def.Steps()
	if n, err := strconv.Atoi(name); err == nil && n >= 0 && n < len(steps) {
		return steps[n]
	}
	return name
}

// A listedWorkflow is a line of workflow list.
type listedWorkflow struct {
	WorkflowEntry
	Describe string `json:"describe,omitempty"`
	Findings int    `json:"findings"` // the number of errors
	Advice   int    `json:"advice,omitempty"`
	Error    string `json:"error,omitempty"`
}

func newWorkflowListCommand(deps Deps) *cobra.Command {
	return needsNoServer(&cobra.Command{
		Use: "list", Short: "List the workflows that can be used here", Args: requireArguments(0, 0),
		Long: "List the workflows that can be named in this folder: those of its repository, then the user's, then\n" +
			"the built-in ones, each with how many findings orange workflow check has about it.",
		Example: "  orange workflow list",
		RunE: func(cmd *cobra.Command, _ []string) error {
			if deps.Workflows == nil {
				return fmt.Errorf("this program was built without workflows: reinstall it")
			}
			entries, err := deps.Workflows.ListWorkflows(deps.Cwd)
			if err != nil {
				return err
			}
			list := make([]listedWorkflow, len(entries))
			for i, e := range entries {
				list[i] = inspectWorkflow(e)
			}
			return showResult(cmd, map[string]any{"workflows": list}, func(w io.Writer) error {
				return printTable(w, deps.lineWidth(), workflowRows(list))
			})
		},
	})
}

func inspectWorkflow(e WorkflowEntry) listedWorkflow {
	out := listedWorkflow{WorkflowEntry: e}
	def, err := workflow.Parse(e.File, e.Text)
	if err != nil {
		out.Error = err.Error()
		return out
	}
	found := def.Check()
	out.Describe, out.Findings = def.Describe, len(workflow.ErrorFindings(found))
	out.Advice = len(found) - out.Findings
	return out
}

func workflowRows(list []listedWorkflow) [][]string {
	var rows [][]string
	for _, e := range list {
		state := "clean"
		switch {
		case e.Error != "":
			state = "unreadable"
		case e.Findings == 1:
			state = "1 finding"
		case e.Findings > 1:
			state = fmt.Sprintf("%d findings", e.Findings)
		case e.Advice > 0:
			state = fmt.Sprintf("clean, %d advice", e.Advice)
		}
		rows = append(rows, []string{cleanLine(e.Name), e.Origin, state, cleanLine(e.Describe)})
	}
	return rows
}

func newWorkflowCheckCommand(deps Deps) *cobra.Command {
	var strict bool
	cmd := needsNoServer(&cobra.Command{
		Use: "check NAME|FILE", Short: "Check a workflow file for mistakes", Args: requireArguments(1, 1),
		Example: "  orange workflow check orange\n" +
			"  orange workflow check .orange/workflows/mine.yaml --json\n" +
			"  orange workflow check mine --strict",
		Long: "Report what is wrong with a workflow file, one finding per line. A finding is an error, and then no\n" +
			"task can be created with the file, or advice.\n\n" +
			"The exit code is 0 if there is no error, 1 if there is one, and 2 if the file cannot be read. With\n" +
			"--strict it is 1 for advice too.",
		RunE: func(cmd *cobra.Command, args []string) error {
			def, err := loadWorkflow(deps, args[0])
			if err != nil {
				return err
			}
			found := append([]workflow.Finding{}, def.Check()...)
			failed := len(workflow.ErrorFindings(found)) > 0 || strict && len(found) > 0
			answer := map[string]any{"ok": !failed, "findings": found}
			if err := showResult(cmd, answer, func(w io.Writer) error { return printFindings(w, def, found) }); err != nil {
				return err
			}
			if failed {
				return exitError{code: exitFailed, shown: true, err: errors.New("the workflow is not clean")}
			}
			return nil
		},
	})
	cmd.Flags().BoolVar(&strict, "strict", false, "exit with code 1 for advice too")
	return cmd
}

func printFindings(w io.Writer, def *workflow.Definition, found []workflow.Finding) error {
	if len(found) == 0 {
		_, err := fmt.Fprintf(w, "%s: clean: %d states, %d edges\n", cleanLine(def.File), len(def.States), len(def.Edges))
		return err
	}
	for _, f := range found {
		if _, err := fmt.Fprintln(w, cleanLine(f.String())); err != nil {
			return err
		}
	}
	return nil
}

func newWorkflowGraphCommand(deps Deps) *cobra.Command {
	var format, output string
	cmd := needsNoServer(&cobra.Command{
		Use: "graph NAME|FILE", Short: "Draw a workflow as a graph", Args: requireArguments(1, 1),
		Long:    "Draw the states and edges of a workflow as Mermaid text, an SVG picture or a DOT graph.",
		Example: "  orange workflow graph orange --format svg -o orange.svg",
		RunE: func(cmd *cobra.Command, args []string) error {
			def, err := loadWorkflow(deps, args[0])
			if err != nil {
				return err
			}
			text, err := renderGraph(def, format)
			if err != nil {
				return err
			}
			switch {
			case output != "":
				return writeGraph(deps, output, text)
			case wantsJSON(cmd):
				return printJSON(cmd.OutOrStdout(), map[string]string{"format": format, "graph": text})
			}
			_, err = io.WriteString(cmd.OutOrStdout(), text)
			return err
		},
	})
	cmd.Flags().StringVar(&format, "format", "mermaid", "mermaid, svg or dot")
	cmd.Flags().StringVarP(&output, "output", "o", "", "write to `FILE` instead of standard output")
	return cmd
}

func renderGraph(def *workflow.Definition, format string) (string, error) {
	switch format {
	case "mermaid":
		return drawing.RenderMermaid(def), nil
	case "svg":
		return drawing.RenderSVG(def), nil
	case "dot":
		return drawing.RenderDOT(def), nil
	}
	return "", usageError("format %q is not known: use mermaid, svg or dot", format)
}

func writeGraph(deps Deps, file, text string) error {
	if !filepath.IsAbs(file) {
		file = filepath.Join(deps.Cwd, file)
	}
	if err := os.WriteFile(file, []byte(text), 0o644); err != nil {
		return fmt.Errorf("write the graph: %w", err)
	}
	return nil
}

func newWorkflowPromptCommand(deps Deps) *cobra.Command {
	var file string
	cmd := needsNoServer(&cobra.Command{
		Use: "prompt NAME|FILE STATE", Short: "Print the prompt of a state's agent", Args: requireArguments(2, 2),
		Long: "Print the prompt of a new agent of a state, for a hypothetical task. Summary, branch and the\n" +
			"like are taken from --task-file. A step of a step workflow may be given by its number,\n" +
			"from 0. Prompt fragments of a repository are not read.",
		Example: "  orange workflow prompt cmat-feature implementer\n  orange workflow prompt orange agent-review --task-file TASK.md",
		RunE: func(cmd *cobra.Command, args []string) error {
			answer, err := assumedPrompt(deps, args[0], args[1], file)
			if err != nil {
				return err
			}
			return showResult(cmd, answer, func(w io.Writer) error {
				_, err := fmt.Fprintln(w, cleanText(answer.Text))
				return err
			})
		},
	})
	cmd.Flags().StringVar(&file, "task-file", "", "TASK.md to read, - for standard input")
	return cmd
}

// promptOf is the output of workflow prompt.
type promptOf struct {
	State  string `json:"state"`
	Role   string `json:"role"`
	Prompt string `json:"prompt"` // the name of the prompt
	Text   string `json:"text"`
}

func assumedPrompt(deps Deps, name, state, file string) (promptOf, error) {
	def, err := loadWorkflow(deps, name)
	if err != nil {
		return promptOf{}, err
	}
	doc, err := readTaskFile(deps, file)
	if err != nil {
		return promptOf{}, err
	}
	t, _, err := engine.Hypothetical(def, engine.Assumptions{From: stepState(def, state), Outcome: "said", Sections: doc.Sections()})
	if err != nil {
		return promptOf{}, exitError{code: exitUsage, err: err}
	}
	s, _ := def.StateNamed(t.Status)
	role, ok := def.RoleNamed(s.Role)
	if !ok {
		return promptOf{}, usageError("nobody works in %s: name a state that has a role", s.Name)
	}
	fromTaskFile(&t, doc)
	out := promptOf{State: s.Name, Role: role.Name, Prompt: role.Prompt}
	if s.Prompt != "" {
		out.Prompt = s.Prompt
	}
	a, _ := t.LiveAttempt(role.Name)
	var known prompt.Known
	known.Requirements, known.Context = prompt.ReadGiven(doc.Sections())
	out.Text = prompt.StartPrompt(prompt.Facts{
		Known: known, Def: def, Task: t, Nonce: "supposed", Project: task.Project{Name: t.Project, DefaultBranch: "main"},
		Effect: task.Effect{Do: workflow.SpawnName(role.Name), Role: role.Name, Prompt: out.Prompt, Attempt: a.Number, Start: true},
	})
	return out, nil
}

// fromTaskFile copies what the frontmatter says about the task into t.
func fromTaskFile(t *task.Task, doc taskfile.Document) {
	for key, field := range map[string]*string{"summary": &t.Summary, "branch": &t.Branch, "project": &t.Project, "return_to": &t.ReturnTo} {
		if text, ok := textOf(doc, key); ok {
			*field = text
		}
	}
	if id, ok := textOf(doc, "id"); ok && task.ID(id).IsValid() {
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
