package mcp

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"strings"

	"github.com/google/jsonschema-go/jsonschema"
	sdk "github.com/modelcontextprotocol/go-sdk/mcp"

	"orange/internal/core/verify"
	"orange/internal/core/workflow"
	"orange/internal/ui/client"
	"orange/internal/view/humanize"
)

// How many findings, violations and steps of a trace are shown.
const (
	mostFindings   = 50
	mostViolations = 10
	longestTrace   = 40
)

// verifyIn names a workflow or contains its text.
type verifyIn struct {
	Workflow  string `json:"workflow,omitempty" jsonschema:"name of a workflow: built-in, the user's, or the project's"`
	Text      string `json:"text,omitempty" jsonschema:"the text of a workflow file, instead of a name"`
	Project   string `json:"project,omitempty" jsonschema:"project whose workflows are searched first; defaults to the project of the caller's folder"`
	Tasks     int    `json:"tasks,omitempty" jsonschema:"search what this number of tasks does together: shared workspaces, landing, dependencies; without it, one task"`
	MaxStates int    `json:"max_states,omitempty" jsonschema:"maximum number of states to search; the default is 200000"`
}

// usualStates is the default limit of a search.
const usualStates = 200_000

// verifyOut is the result of a search.
type verifyOut struct {
	OK         bool        `json:"ok" jsonschema:"true if no problem was found and the search is complete"`
	Workflow   string      `json:"workflow" jsonschema:"its name"`
	Findings   []string    `json:"findings" jsonschema:"findings of orange workflow check; a workflow with a finding that is not advice cannot be used for new tasks"`
	Tasks      int         `json:"tasks,omitempty" jsonschema:"number of tasks that were searched together; absent for one task alone"`
	Condition  string      `json:"condition,omitempty" jsonschema:"why nothing is proved about several tasks: one task alone has a problem"`
	Complete   bool        `json:"complete" jsonschema:"true if every state was searched"`
	States     int         `json:"states" jsonschema:"number of states that were searched"`
	Properties []property  `json:"properties" jsonschema:"every property, and whether it holds"`
	Violations []violation `json:"violations" jsonschema:"the first violations found"`
	Left       int         `json:"left,omitempty" jsonschema:"number of violations not shown"`

	broken map[verify.Property]bool
}

// property is a property that must hold in every state.
type property struct {
	Name  string `json:"name" jsonschema:"name of the property; docs/VERIFICATION.md explains each"`
	State string `json:"state" jsonschema:"holds, violated or not proved"`
}

// violation is a property that does not hold.
type violation struct {
	Property string   `json:"property" jsonschema:"its name"`
	Message  string   `json:"message" jsonschema:"what goes wrong"`
	Trace    []string `json:"trace" jsonschema:"a shortest sequence of steps that leads there"`
}

func (t *tools) addVerify(s *sdk.Server) {
	addTool(s, &sdk.Tool{
		Name: "verify", Annotations: readOnlyHints("Verify a workflow"),
		InputSchema: schemaOf[verifyIn](func(p map[string]*jsonschema.Schema) {
			least, most := 1.0, float64(searchLimit)
			tasks := float64(verify.MaxTasks)
			p["tasks"].Minimum, p["tasks"].Maximum = &least, &tasks
			p["max_states"].Minimum, p["max_states"].Maximum = &least, &most
		}),
		Description: "Check a workflow file and search every state that its tasks can reach, to show that no task stalls, loops forever, acts twice or loses work. Each violation comes with the steps that lead to it. With tasks, search what several tasks do together. Takes seconds; reads only.",
	}, searchTime, t.verifyWorkflow)
}

func (t *tools) verifyWorkflow(ctx context.Context, c Caller, in verifyIn) (verifyOut, string, error) {
	def, err := t.loadDefinition(ctx, c, in)
	if err != nil {
		return verifyOut{}, "", err
	}
	out := verifyOut{Workflow: cutLine(def.Name, maxLine), Findings: []string{}, Properties: []property{}, Violations: []violation{}}
	found := def.Check()
	for _, f := range found[:min(len(found), mostFindings)] {
		out.Findings = append(out.Findings, cutLine(f.String(), maxLine))
	}
	select {
	case t.search <- struct{}{}:
		defer func() { <-t.search }()
	case <-ctx.Done():
		return out, "", errors.New("another search is running: try again when it has finished")
	}
	limit := in.MaxStates
	if limit == 0 {
		limit = usualStates
	}
	var ok bool
	if in.Tasks > 0 {
		var r verify.TasksReport
		r, err = t.VerifyTasks(ctx, def, in.Tasks, limit)
		ok = r.OK
		out.addTasksReport(r)
	} else {
		var r verify.Report
		r, err = t.Verify(ctx, def, limit)
		ok = r.OK
		out.addReport(r)
	}
	if ctx.Err() != nil {
		return out, "", fmt.Errorf("the search took longer than %s: pass a smaller max_states, or run orange workflow verify", searchTime)
	}
	if err != nil {
		return verifyOut{}, "", err
	}
	out.OK = ok && len(workflow.ErrorFindings(found)) == 0
	return out, verifyText(out), nil
}

// loadDefinition reads the workflow that a call names or contains.
func (t *tools) loadDefinition(ctx context.Context, c Caller, in verifyIn) (*workflow.Definition, error) {
	switch {
	case (in.Workflow == "") == (in.Text == ""):
		return nil, errors.New("the request names no workflow: pass its name or its text")
	case in.Text != "" && len(in.Text) > workflow.MaxSize:
		return nil, fmt.Errorf("the text is longer than %d KB: workflow files are shorter", workflow.MaxSize>>10)
	case in.Text != "":
		return workflow.Parse("workflow.yaml", in.Text)
	case strings.ContainsAny(in.Workflow, "/\\.#") || t.Workflow == nil:
		return nil, fmt.Errorf("unknown workflow %q: pass the name of one or the text of a file", cutLine(in.Workflow, 60))
	}
	folder := c.Folder
	if in.Project != "" {
		var err error
		if folder, err = folderOf(ctx, c.API, in.Project); err != nil {
			return nil, err
		}
	}
	file, text, err := t.Workflow(in.Workflow, folder)
	if err != nil {
		return nil, err
	}
	return workflow.Parse(file, text)
}

// folderOf returns the folder of a project.
func folderOf(ctx context.Context, api API, project string) (string, error) {
	state, err := api.ReadState(ctx, client.StateQuery{Project: project})
	if err != nil {
		return "", err
	}
	for _, p := range state.Projects {
		if p.Name == project {
			return p.Path, nil
		}
	}
	return "", fmt.Errorf("project %q is not registered: see orange project list", cutLine(project, 60))
}

// searchHere searches in this process.
func searchHere(ctx context.Context, def *workflow.Definition, maxStates int) (verify.Report, error) {
	r := verify.Verify(def, verify.SearchOptions{MaxStates: maxStates, Stop: func() bool { return ctx.Err() != nil }})
	return r, ctx.Err()
}

// searchTasksHere searches several tasks in this process.
func searchTasksHere(ctx context.Context, def *workflow.Definition, tasks, maxStates int) (verify.TasksReport, error) {
	r, err := verify.VerifyTasks(def, tasks, verify.SearchOptions{MaxStates: maxStates, Stop: func() bool { return ctx.Err() != nil }})
	return r, cmp.Or(ctx.Err(), err)
}

// addReport adds the result of a search.
func (o *verifyOut) addReport(r verify.Report) {
	o.Complete, o.States = r.Complete, r.States
	for _, v := range r.Violations {
		steps := make([]string, 0, len(v.Trace))
		for _, st := range v.Trace {
			steps = append(steps, fmt.Sprintf("%s -> %s: %s", st.From, st.To, st.What))
		}
		o.addViolation(v.Property, v.Message, steps)
	}
	o.addProperties(verify.Properties(), r.Complete)
}

// addTasksReport adds the result of a search of several tasks. Its states are those of all compositions.
func (o *verifyOut) addTasksReport(r verify.TasksReport) {
	o.Tasks, o.Condition, o.Complete, o.States = r.Tasks, cutLine(r.Condition, maxLine), r.Complete, r.States
	for _, t := range r.Together {
		o.States += t.States
	}
	for _, v := range r.Violations {
		steps := make([]string, 0, len(v.Trace))
		for _, st := range v.Trace {
			who := "somebody else"
			if st.Task > 0 {
				who = fmt.Sprintf("task %d", st.Task)
			}
			steps = append(steps, fmt.Sprintf("%s, %s -> %s: %s", who, st.From, st.To, st.What))
		}
		o.addViolation(v.Property, fmt.Sprintf("with a pool of %d: %s", v.Pool, v.Message), steps)
	}
	o.addProperties(verify.TaskProperties(), r.Complete && r.Condition == "")
}

// addProperties adds whether each property holds, after the violations.
func (o *verifyOut) addProperties(list []verify.Property, proved bool) {
	for _, p := range list {
		state := "not proved"
		switch {
		case o.broken[p]:
			state = "violated"
		case proved:
			state = "holds"
		}
		o.Properties = append(o.Properties, property{string(p), state})
	}
}

// addViolation adds a violation, unless there are too many.
func (o *verifyOut) addViolation(of verify.Property, message string, steps []string) {
	if o.broken == nil {
		o.broken = map[verify.Property]bool{}
	}
	o.broken[of] = true
	if len(o.Violations) == mostViolations {
		o.Left++
		return
	}
	one := violation{Property: string(of), Message: cutLine(message, maxLine), Trace: []string{}}
	for i, step := range steps {
		if i == longestTrace {
			one.Trace = append(one.Trace, fmt.Sprintf("and %d steps more", len(steps)-i))
			break
		}
		one.Trace = append(one.Trace, cutLine(step, maxLine))
	}
	o.Violations = append(o.Violations, one)
}

func verifyText(o verifyOut) string {
	var b textBuilder
	verdict := "every property holds"
	switch {
	case len(o.Violations) > 0:
		verdict = fmt.Sprintf("%d violations", len(o.Violations)+o.Left)
	case o.Condition != "":
		verdict = "not proved: tasks are put together only if each ends by itself, and " + o.Condition + "; verify without tasks to see how"
	case !o.Complete:
		verdict = "not proved: the search stopped before it had seen every state"
	case len(o.Findings) > 0:
		verdict = "every property holds, but the file has findings"
	}
	of := o.Workflow
	if o.Tasks > 0 {
		of += ", " + humanize.Plural(o.Tasks, "task")
	}
	b.putLine(fmt.Sprintf("%s: %s (%d states)", of, verdict, o.States))
	for _, f := range o.Findings {
		b.putField("finding", f)
	}
	for _, p := range o.Properties {
		b.putLine(fmt.Sprintf("  %-18s %s", p.Name, p.State))
	}
	for i, v := range o.Violations {
		b.putLine(fmt.Sprintf("%d. %s: %s", i+1, v.Property, v.Message))
		for j, step := range v.Trace {
			b.putLine(fmt.Sprintf("   %2d  %s", j+1, step))
		}
	}
	return b.String()
}
