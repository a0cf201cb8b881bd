package cli

import (
	"fmt"
	"io"
	"strconv"
	"strings"

	"github.com/spf13/cobra"

	"orange/internal/core/workflow"
)

// A WorkflowSource finds workflow files: those of the repository, then the user's,
// then the built-in ones.
type WorkflowSource interface {
	// Find returns a workflow's text and the name to show for its file. A name with
	// a slash or an ending such as .yaml is a path from cwd.
	Find(name, cwd string) (file, text string, err error)
	// List names every workflow that can be found from cwd by name, first found first.
	List(cwd string) ([]WorkflowEntry, error)
	// Save writes workflows in JSON, by Name and Text, all or none, and says where: into
	// the repository of cwd, or among the user's. Only force replaces a file.
	Save(list []WorkflowEntry, cwd string, user, force bool) (files []string, err error)
}

// A WorkflowEntry is a workflow that can be found by name.
type WorkflowEntry struct {
	Name   string `json:"name"`
	Origin string `json:"origin"` // repo, user or built-in
	File   string `json:"file"`
	Text   string `json:"-"`
}

func newWorkflowCommand(deps Deps) *cobra.Command {
	return group("workflow", "See, check and try workflows",
		newWorkflowListCommand(deps), newWorkflowShowCommand(deps), newWorkflowCheckCommand(deps),
		newWorkflowDecideCommand(deps), newWorkflowGraphCommand(deps), newWorkflowVerifyCommand(deps),
		newWorkflowScenarioCommand(deps), newWorkflowSimulateCommand(deps), newWorkflowPromptCommand(deps),
		newWorkflowImportCommand(deps))
}

// pure marks a command that needs neither the server nor the configuration.
func pure(cmd *cobra.Command) *cobra.Command {
	cmd.Annotations = map[string]string{needsNothing: "yes"}
	return cmd
}

// findWorkflow reads the workflow that an argument names, unparsed.
func findWorkflow(deps Deps, name string) (file, text string, err error) {
	if t, path, ok, err := findTemplate(deps, name); ok || err != nil {
		return path + "#" + t.ID, t.Text, err
	}
	if deps.Workflows == nil {
		return "", "", fmt.Errorf("find workflow %s: this program was built without workflows: reinstall it", name)
	}
	file, text, err = deps.Workflows.Find(name, deps.Cwd)
	if err != nil {
		return "", "", fail{code: exitUsage, err: err}
	}
	return file, text, nil
}

// findTemplate reads FILE#ID: one workflow of a file that has several. ok is false if
// the argument is something else.
func findTemplate(deps Deps, name string) (t workflow.Template, file string, ok bool, err error) {
	at := strings.LastIndexByte(name, '#')
	if at < 0 || !strings.ContainsAny(name[:at], "/.") {
		return t, "", false, nil
	}
	file, text, err := findWorkflow(deps, name[:at])
	if err != nil {
		return t, "", false, err
	}
	list, err := workflow.Templates(file, text)
	if err != nil {
		return t, "", false, fail{code: exitUsage, err: err}
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

// loadWorkflow reads the workflow that an argument names.
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
		return nil, fail{code: exitUsage, err: err}
	}
	return def, nil
}

// stepState is the state that an argument means: a step workflow's steps have numbers.
func stepState(def *workflow.Definition, name string) string {
	steps := def.Steps()
	if n, err := strconv.Atoi(name); err == nil && n >= 0 && n < len(steps) {
		return steps[n]
	}
	return name
}

// listedWorkflow is a line of workflow list.
type listedWorkflow struct {
	WorkflowEntry
	Describe string `json:"describe,omitempty"`
	Findings int    `json:"findings"` // errors
	Advice   int    `json:"advice,omitempty"`
	Error    string `json:"error,omitempty"`
}

func newWorkflowListCommand(deps Deps) *cobra.Command {
	return pure(&cobra.Command{
		Use: "list", Short: "List the workflows that can be used here", Args: arguments(0, 0),
		Long: "List the workflows that can be named in this folder: those of its repository, then the user's, then\n" +
			"the built-in ones, each with how many findings orange workflow check has about it.",
		Example: "  orange workflow list",
		RunE: func(cmd *cobra.Command, _ []string) error {
			if deps.Workflows == nil {
				return fmt.Errorf("this program was built without workflows: reinstall it")
			}
			entries, err := deps.Workflows.List(deps.Cwd)
			if err != nil {
				return err
			}
			list := make([]listedWorkflow, len(entries))
			for i, e := range entries {
				list[i] = inspect(e)
			}
			return show(cmd, map[string]any{"workflows": list}, func(w io.Writer) error {
				return printTable(w, deps.lineWidth(), workflowRows(list))
			})
		},
	})
}

func inspect(e WorkflowEntry) listedWorkflow {
	out := listedWorkflow{WorkflowEntry: e}
	def, err := workflow.Parse(e.File, e.Text)
	if err != nil {
		out.Error = err.Error()
		return out
	}
	found := def.Check()
	out.Describe, out.Findings = def.Describe, len(workflow.Errors(found))
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
