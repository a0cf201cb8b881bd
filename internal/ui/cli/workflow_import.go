package cli

import (
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"slices"
	"strings"

	"github.com/spf13/cobra"

	"orange/internal/core/workflow"
)

// workflowImport holds the flags of workflow import.
type workflowImport struct {
	name, id    string
	user, force bool

	left []string // agents in contracts that no status leads to
}

func newWorkflowImportCommand(deps Deps) *cobra.Command {
	var f workflowImport
	cmd := needsNoServer(&cobra.Command{
		Use: "import FILE", Short: "Import step workflows from JSON", Args: requireArguments(1, 1),
		Long: "Import the step workflows of a JSON file: one, or a file of several,\n" +
			"{\"workflows\": {\"ID\": {\"steps\": [...]}}}. Each becomes .orange/workflows/ID.json in the\n" +
			"repository. Contracts of agents, {\"agents\": {\"NAME\": {\"statuses\": ...}}}, become one workflow\n" +
			"that begins with the first agent. If one of them has an error or a finding, nothing is written.",
		Example: "  orange workflow import workflow_templates.json\n" +
			"  orange workflow import workflow_templates.json --workflow bugfix --name quick-fix",
		RunE: func(cmd *cobra.Command, args []string) error {
			done, err := f.importWorkflows(deps, args[0])
			if err != nil {
				return err
			}
			return showResult(cmd, f.jsonAnswer(done), func(w io.Writer) error {
				for _, d := range done {
					steps := "1 step"
					if d.Steps != 1 {
						steps = fmt.Sprintf("%d steps", d.Steps)
					}
					if _, err := fmt.Fprintf(w, "%s: %s, written to %s\n", d.Name, steps, cleanLine(d.File)); err != nil {
						return err
					}
				}
				if len(f.left) > 0 {
					fmt.Fprintf(w, "Left out, because no status leads to them: %s\n", cleanLine(strings.Join(f.left, ", ")))
				}
				return nil
			})
		},
	})
	flags := cmd.Flags()
	flags.StringVar(&f.name, "name", "", "call the workflow `NAME`; for one workflow only")
	flags.StringVar(&f.id, "workflow", "", "import only the workflow `ID` of the file")
	flags.BoolVar(&f.user, "user", false, "write among your own workflows, not into the repository")
	flags.BoolVar(&f.force, "force", false, "replace files that are there, and hide built-in workflows of that name")
	return cmd
}

// jsonAnswer returns the output for --json.
func (f *workflowImport) jsonAnswer(done []imported) map[string]any {
	out := map[string]any{"imported": done}
	if len(f.left) > 0 {
		out["left"] = f.left
	}
	return out
}

// imported is a workflow that was imported.
type imported struct {
	Name  string `json:"name"`
	ID    string `json:"id"` // its ID in the imported file
	File  string `json:"file"`
	Steps int    `json:"steps"`
}

func (f *workflowImport) importWorkflows(deps Deps, path string) ([]imported, error) {
	file, text, err := findJSON(deps, path)
	if err != nil {
		return nil, err
	}
	list, err := f.chooseTemplates(file, text)
	if err != nil {
		return nil, exitError{code: exitUsage, err: err}
	}
	done, entries, err := f.checkTemplates(file, list)
	if err != nil {
		return nil, exitError{code: exitUsage, err: err}
	}
	if err := f.refuseBuiltinNames(deps, entries); err != nil {
		return nil, err
	}
	files, err := deps.Workflows.SaveWorkflows(entries, deps.Cwd, f.user, f.force)
	if err != nil {
		return nil, err
	}
	for i := range done {
		done[i].File = files[i]
	}
	return done, nil
}

// findJSON reads the file to import.
func findJSON(deps Deps, path string) (file, text string, err error) {
	name := path
	if !strings.ContainsAny(path, "/.") {
		path = "./" + path // a file, not the name of a workflow
	}
	file, text, err = findWorkflow(deps, path)
	switch {
	case errors.Is(err, fs.ErrNotExist):
		return "", "", usageError("there is no file %s: give the path of a JSON file with step workflows", name)
	case err != nil:
		return "", "", err
	}
	if err := workflow.JSONProblem(file, text); err != nil {
		return "", "", exitError{code: exitUsage, err: err}
	}
	return file, text, nil
}

// refuseBuiltinNames returns an error for the name of a built-in workflow, because the import
// would hide that workflow.
func (f *workflowImport) refuseBuiltinNames(deps Deps, entries []WorkflowEntry) error {
	if f.force {
		return nil
	}
	known, err := deps.Workflows.ListWorkflows(deps.Cwd)
	if err != nil {
		return err
	}
	for _, e := range entries {
		if slices.ContainsFunc(known, func(k WorkflowEntry) bool { return k.Name == e.Name && k.Origin == "built-in" }) {
			return usageError("%s is a built-in workflow: give --name another one, or --force to hide it", e.Name)
		}
	}
	return nil
}

// chooseTemplates returns the workflows of the file to import.
func (f *workflowImport) chooseTemplates(file, text string) ([]workflow.Template, error) {
	if workflow.HasContracts(text) {
		t, left, err := workflow.FromContracts(text)
		f.left = left
		return []workflow.Template{t}, err
	}
	if !workflow.HasTemplates(text) {
		if f.id != "" {
			return nil, fmt.Errorf("%s has one workflow: leave --workflow out", file)
		}
		return []workflow.Template{{Text: text}}, nil
	}
	list, err := workflow.SplitTemplates(file, text)
	switch {
	case err != nil:
		return nil, err
	case f.id != "":
		t, err := chooseTemplate(list, file, f.id)
		return []workflow.Template{t}, err
	case f.name != "" && len(list) > 1:
		return nil, fmt.Errorf("--name is for one workflow and %s has %d: choose one with --workflow", file, len(list))
	}
	return list, nil
}

// checkTemplates checks every workflow and returns all errors.
func (f *workflowImport) checkTemplates(file string, list []workflow.Template) ([]imported, []WorkflowEntry, error) {
	var done []imported
	var entries []WorkflowEntry
	var errs []error
	for _, t := range list {
		def, err := f.parseTemplate(file, &t)
		switch {
		case err != nil:
			errs = append(errs, err)
		case slices.ContainsFunc(done, func(d imported) bool { return d.Name == def.Name }):
			errs = append(errs, fmt.Errorf("two workflows of %s would be called %s: import them one by one, with --workflow and --name", file, def.Name))
		default:
			done = append(done, imported{Name: def.Name, ID: t.ID, Steps: len(def.Steps())})
			entries = append(entries, WorkflowEntry{Name: def.Name, Text: t.Text})
		}
	}
	return done, entries, errors.Join(errs...)
}

// parseTemplate parses and checks a workflow under its new name.
func (f *workflowImport) parseTemplate(file string, t *workflow.Template) (*workflow.Definition, error) {
	def, err := workflow.Parse(file, t.Text)
	if t.ID != "" {
		def, err = t.Parse(file)
	}
	if err == nil && f.name != "" {
		if t.Text, err = workflow.WithID(t.Text, f.name); err == nil {
			def, err = workflow.Parse(file, t.Text)
		}
	}
	switch {
	case err != nil:
		return nil, err
	case len(def.Steps()) == 0 || !json.Valid([]byte(t.Text)):
		return nil, fmt.Errorf("%s is not a step workflow in JSON: copy it to .orange/workflows/%s.yaml", file, def.Name)
	case f.name != "" && def.Name != f.name:
		return nil, fmt.Errorf("--name %q is not a name: use letters, digits, dash and underscore, beginning with a letter", f.name)
	}
	if t.ID == "" {
		t.ID = def.Name
	}
	if found := workflow.ErrorFindings(def.Check()); len(found) > 0 {
		return nil, errors.New(found[0].String())
	}
	return def, nil
}
