package local

import (
	"cmp"
	"context"
	"crypto/rand"
	"slices"
	"strings"

	"orange/internal/core/agent"
	"orange/internal/core/engine"
	"orange/internal/core/signal"
	"orange/internal/core/task"
	"orange/internal/core/taskfile"
	"orange/internal/core/workflow"
	"orange/internal/core/workflow/builtin"
)

// Create creates a task. It writes the task's folder, with the requirements and the context, before it commits the
// task, so that nothing is lost.
func (r *Runtime) Create(ctx context.Context, w signal.NewTask) (engine.Answer, error) {
	if err := onlyPeopleChoose(&w); err != nil {
		return engine.Answer{}, err
	}
	return r.createTask(ctx, w)
}

// onlyPeopleChoose returns an error if anybody but a person chooses what affects more than the task's own branch. Work
// is merged into its base, and flags and permissions say what its agents may do.
func onlyPeopleChoose(w *signal.NewTask) error {
	switch {
	case w.Actor == task.Human || w.Actor == "":
		return nil
	case w.BaseBranch != "":
		return task.Mistakef("only a person chooses the base of a task: leave it out, and the task has that of its parent or its project")
	case w.AgentFlags != "" || w.Permissions != "":
		return task.Mistakef("only a person gives agents flags and permissions: leave them out, and the task has those of its parent or its project")
	}
	return nil
}

func (r *Runtime) createTask(ctx context.Context, w signal.NewTask) (engine.Answer, error) {
	if err := r.admitCaller(); err != nil {
		return engine.Answer{}, err
	}
	defer r.wait.Done()
	if len(w.After) > 0 {
		defer r.locks.Lock(afterKey)()
	}
	if strings.TrimSpace(w.Summary) == "" {
		w.Summary = taskfile.SummaryFrom(w.Requirements)
	}
	if name := cmp.Or(w.Branch, task.BranchFromWords(w.Summary, 1)); name != "" {
		defer r.locks.Lock(branchKey(name))()
	}
	if err := r.stackTask(&w); err != nil {
		return engine.Answer{}, err
	}
	def, err := r.completeNewTask(&w)
	if err != nil {
		return engine.Answer{}, err
	}
	if err := r.requireUsableBranch(w.Project, w.Branch, w.BaseBranch, w.ID); err != nil {
		return engine.Answer{}, err
	}
	if err := r.checkAfter(afterRequest{of: &task.Task{ID: w.ID, Project: w.Project, Branch: w.Branch, Setup: task.Setup{Parent: w.Parent}}, by: w.Actor, after: w.After, added: w.After}); err != nil {
		return engine.Answer{}, err
	}
	defer r.locks.Lock(w.ID)()
	if err := r.requireUnknown(w.ID); err != nil {
		return engine.Answer{}, err
	}
	sig := signal.Signal{Kind: signal.Create, Actor: w.Actor, Attempt: w.Attempt, New: &w.New, Via: w.Via}
	return r.beginTask(ctx, def, sig, taskfile.NewBody(w.Requirements, w.Context))
}

// ImportTask imports a task of an earlier installation, with its body.
func (r *Runtime) ImportTask(ctx context.Context, n signal.New, workflowName string, body []byte, via *signal.Via) (engine.Answer, error) {
	if err := r.admitCaller(); err != nil {
		return engine.Answer{}, err
	}
	defer r.wait.Done()
	w := signal.NewTask{New: n, Workflow: workflowName}
	def, err := r.completeNewTask(&w)
	if err != nil {
		return engine.Answer{}, err
	}
	defer r.locks.Lock(w.ID)()
	if err := r.requireUnknown(w.ID); err != nil {
		return engine.Answer{}, err
	}
	sig := signal.Signal{Kind: signal.Import, Actor: task.Human, New: &w.New, Via: via}
	return r.beginTask(ctx, def, sig, body)
}

// requireUnknown returns an error if a task or a folder has the id, because neither must be changed. The caller holds
// the task's lock.
func (r *Runtime) requireUnknown(id task.ID) error {
	_, known, err := r.loadRecord(id)
	if err == nil && known {
		err = task.Mistakef("task %s is here already", id)
	}
	return err
}

func (r *Runtime) beginTask(ctx context.Context, def *workflow.Definition, sig signal.Signal, body []byte) (engine.Answer, error) {
	n := sig.New
	var err error
	if sig.Predecessors, err = r.loadPredecessors(&task.Task{}, &sig); err != nil {
		return engine.Answer{}, err
	}
	if r.needsCode(def, &task.Task{}, sig) {
		return engine.Answer{}, task.Mistakef("project %s asks for a code before a person's merge, so no task of it begins with one: begin in another state", n.Project)
	}
	if r.Files != nil {
		if err := r.Files.CreateFolder(n.Project, n.ID, body); err != nil {
			return engine.Answer{}, err
		}
	}
	if err := r.Store.SaveWorkflow(def.Hash, def.Name, def.File, def.Text); err != nil {
		return engine.Answer{}, &StoreError{err}
	}
	if doc, err := taskfile.Parse(body); err == nil {
		sig.Artifacts.Sections = doc.Sections()
	}
	answer, err := r.decideAndCommit(ctx, def, task.Task{}, sig)
	if r.Files != nil && (err != nil || answer.Decision.Refused != "") {
		if gone := r.Files.RemoveFolder(n.Project, n.ID); gone != nil {
			r.Log.Error("remove the folder of a refused task", "component", "local", "task", n.ID, "error", gone)
		}
	}
	return answer, err
}

// completeNewTask sets the defaults of a new task and finds its workflow.
func (r *Runtime) completeNewTask(w *signal.NewTask) (*workflow.Definition, error) {
	p, ok := r.pool.findProject(w.Project)
	if !ok {
		return nil, task.Mistakef("project %q is not registered: orange project add", w.Project)
	}
	if w.ID == "" {
		var seed [32]byte
		rand.Read(seed[:]) //nolint:errcheck // never fails
		w.ID = task.NewID(seed[:])
	}
	if w.Branch == "" {
		w.Branch = r.nameBranch(w, p)
	}
	if w.Harness == "" {
		w.Harness = r.Defaults().Harness
	}
	if w.ReviewHarness == "" {
		w.ReviewHarness = cmp.Or(r.Defaults().Review, w.Harness)
	}
	if w.Delivery == "" && p.Delivery != task.DeliverLocal {
		w.Delivery = p.Delivery
	}
	if err := r.parentOf(&w.New); err != nil {
		return nil, err
	}
	chosenTerms(w, p, r.Defaults().Harness)
	if err := r.checkHarnesses(&w.New); err != nil {
		return nil, err
	}
	if err := ownVars(w); err != nil {
		return nil, err
	}
	w.BaseBranch = cmp.Or(w.BaseBranch, p.DefaultBranch) // it stays with the task if the project's changes
	if err := plainBranch(w.Actor, w.Branch); err != nil {
		return nil, err
	}
	if err := r.ownBranch(p.Name, w.Branch, w.BaseBranch); err != nil {
		return nil, err
	}
	if err := r.requireFreeBranch(w.Project, w.Branch, w.ID); err != nil {
		return nil, err
	}
	def, err := r.findWorkflow(w.Workflow, p)
	if err != nil {
		return nil, err
	}
	w.Checks, w.Unchanged = task.MergeChecks(def.Checks, p.Checks), p.Unchanged
	for _, name := range def.NamedChecks() {
		if _, ok := w.Checks.Named(name); !ok {
			return nil, task.Mistakef("workflow %s asks for check %s, which neither the file nor project %s defines: orange project update %s --check %s=COMMAND", def.Name, name, p.Name, p.Name, name)
		}
	}
	return def, r.roleHarnesses(def, &w.New)
}

// chosenTerms sets the models, the flags and the permissions of a task that names none. The model and the flags of the
// project are for the harness of tasks that name none.
func chosenTerms(w *signal.NewTask, p task.Project, usual string) {
	if w.Harness == usual {
		w.Model, w.AgentFlags = cmp.Or(w.Model, p.Model), cmp.Or(w.AgentFlags, p.AgentFlags)
	}
	if w.Permissions = cmp.Or(w.Permissions, p.Permissions); w.Permissions == agent.SkipPermissions {
		w.Permissions = ""
	}
	if w.ReviewModel == "" && w.ReviewHarness == w.Harness {
		w.ReviewModel = w.Model
	}
}

// maxBranchNumber bounds the number at the end of a branch that is named after a summary.
const maxBranchNumber = 30

// nameBranch returns the branch of a new task for which nobody gave one: the words of its summary, with a number if a
// task or the repository has that branch, or else its id. A tracker names its branches itself.
func (r *Runtime) nameBranch(w *signal.NewTask, p task.Project) string {
	for n := 1; n <= maxBranchNumber && w.Actor != task.Tracker; n++ {
		name := task.BranchFromWords(w.Summary, n)
		if name == "" || plainBranch(w.Actor, name) != nil {
			break
		}
		taken := false
		if r.HasBranch != nil {
			taken, _ = r.HasBranch(p, name) // what git cannot say, requireUsableBranch finds out
		}
		base := cmp.Or(w.BaseBranch, p.DefaultBranch)
		if !taken && r.ownBranch(p.Name, name, base) == nil && r.requireFreeBranch(p.Name, name, w.ID) == nil && r.requireUsableBranch(p.Name, name, base, w.ID) == nil {
			return name
		}
	}
	return "orange-tasks/" + string(w.ID)
}

// termsOf returns what an agent of a new task is given.
func termsOf(n *signal.New, c task.Choice) agent.Terms {
	out := agent.Terms{Harness: c.Harness, Effort: c.Effort, Model: c.Model, Permissions: n.Permissions}
	if c.Harness == n.Harness {
		out.Flags = n.AgentFlags
	}
	return out
}

// roleHarnesses returns an error if the workflow or the task names agents for a role and none of them can be started.
func (r *Runtime) roleHarnesses(def *workflow.Definition, n *signal.New) error {
	for _, c := range n.Roles {
		if !def.DeclaresRole(c.Role) {
			return task.Mistakef("role %q is not known: workflow %s has %s", c.Role, def.Name, strings.Join(roleNames(def), ", "))
		}
	}
	for i := range def.Roles {
		if r.Harnesses == nil {
			break
		}
		var first error
		usable := false
		for _, c := range engine.HarnessChoices(engine.RecordOf(n), &def.Roles[i]) {
			err := r.Harnesses(termsOf(n, c))
			usable = usable || err == nil
			first = cmp.Or(first, err)
		}
		if !usable {
			return task.Mistakef("%s: %v", def.Roles[i].Name, first)
		}
	}
	return nil
}

func roleNames(def *workflow.Definition) []string {
	names := make([]string, len(def.Roles))
	for i := range def.Roles {
		names[i] = def.Roles[i].Name
	}
	return names
}

// missingHarnesses lists the harnesses that cannot be started here although roles of a task may use them besides
// others.
func (r *Runtime) missingHarnesses(def *workflow.Definition, t *task.Task, sig *signal.Signal) []string {
	if r.Harnesses == nil || !sig.WeighsEvidence() {
		return nil
	}
	if t.Seq == 0 && sig.New != nil {
		t = engine.RecordOf(sig.New)
	}
	var out []string
	for i := range def.Roles {
		list := engine.HarnessChoices(t, &def.Roles[i])
		for _, c := range list {
			if len(list) > 1 && !slices.Contains(out, c.Harness) && r.Harnesses(agent.Terms{Harness: c.Harness}) != nil {
				out = append(out, c.Harness)
			}
		}
	}
	return out
}

// ownVars returns an error if anybody but a person sets variables, because prompts show them unquoted.
func ownVars(w *signal.NewTask) error {
	if len(w.Vars) > 0 && w.Actor != task.Human {
		return task.Mistakef("only a person gives a task variables: put what the agents must know into its requirements")
	}
	if w.Vars = task.Vars(nil).WithChanges(w.Vars); w.Vars.Check() != nil {
		return task.Mistakef("%v", w.Vars.Check())
	}
	return nil
}

// checkHarnesses returns an error if the task names an agent that cannot be started.
func (r *Runtime) checkHarnesses(n *signal.New) error {
	if r.Harnesses == nil {
		return nil
	}
	if err := r.Harnesses(termsOf(n, engine.RecordOf(n).OwnChoice())); err != nil {
		return task.Mistakef("%v", err)
	}
	if err := r.Harnesses(termsOf(n, engine.RecordOf(n).ReviewChoice())); err != nil {
		return task.Mistakef("review: %v", err)
	}
	return nil
}

// branchKey names the lock that keeps two tasks from taking one branch at the same time, or branches that git cannot hold
// beside each other, such as a and a/b: these begin with the same folder. It is taken before the lock of a task, and no
// task can have such an id.
func branchKey(branch string) task.ID {
	first, _, _ := strings.Cut(branch, "/")
	return task.ID("branch " + first)
}

// maxBranch bounds the name of a branch, in bytes, because file names contain it with a suffix.
const maxBranch = 240

// requireUsableBranch returns an error if a new or changed task cannot have a branch, or a base for it.
func (r *Runtime) requireUsableBranch(project, branch, base string, id task.ID) error {
	if len(branch) > maxBranch {
		return task.Mistakef("the branch name has %d bytes and the limit is %d: choose a shorter one", len(branch), maxBranch)
	}
	other, found, err := r.Store.TaskBeside(project, branch)
	if err != nil {
		return err
	}
	if found && other != id {
		return task.Mistakef("branch %s cannot be made beside the branch of task %s, because git cannot hold a branch and a folder of the same name: choose another name", branch, other)
	}
	if p, ok := r.pool.findProject(project); ok && r.Branch != nil {
		if err := r.Branch(p.ForTask(&task.Task{Setup: task.Setup{BaseBranch: base}}), branch); err != nil {
			return task.Mistakef("%v", err)
		}
	}
	return nil
}

// plainBranch returns an error if an agent or a tracker names a branch with characters that a person could misread, or
// that a tool could take for more than a name. People may use every name that git allows.
func plainBranch(actor task.Actor, branch string) error {
	if actor == task.Human || actor == task.Engine || !strings.ContainsFunc(branch, func(r rune) bool {
		return (r < 'a' || r > 'z') && (r < 'A' || r > 'Z') && (r < '0' || r > '9') && !strings.ContainsRune("._/-", r)
	}) {
		return nil
	}
	return task.Mistakef("branch %q of %s has other characters than letters, digits, dots, dashes, slashes and underscores: choose another name", branch, actor)
}

// ownBranch returns an error if a branch is the default branch of the project, or the base of the task.
func (r *Runtime) ownBranch(project, branch, base string) error {
	p, ok := r.pool.findProject(project)
	switch {
	case ok && p.DefaultBranch == branch:
		return task.Mistakef("%s is the default branch of project %s: a task needs one of its own", branch, project)
	case base == branch:
		return task.Mistakef("%s is the base of the task: a task needs a branch of its own", branch)
	}
	return nil
}

// requireFreeBranch returns an error if another open task works on a branch.
func (r *Runtime) requireFreeBranch(project, branch string, id task.ID) error {
	other, taken, err := r.Store.TaskByBranch(project, branch)
	if err == nil && taken && other != id {
		err = task.Mistakef("task %s works on branch %s already: choose another branch", other, branch)
	}
	return err
}

// ChooseWorkflow finds the workflow that a new task of a project would follow.
func (r *Runtime) ChooseWorkflow(name, project string) (*workflow.Definition, error) {
	p, ok := r.pool.findProject(project)
	if !ok {
		return nil, task.Mistakef("project %q is not registered: orange project add", project)
	}
	return r.findWorkflow(name, p)
}

// findWorkflow finds the workflow of a new task and returns an error if it has findings.
func (r *Runtime) findWorkflow(name string, p task.Project) (*workflow.Definition, error) {
	for _, fallback := range []string{p.Workflow, r.Defaults().Workflow, builtin.Default} {
		if name == "" {
			name = fallback
		}
	}
	file, text, ok, err := r.Library.Find(name, p.Path)
	if err != nil {
		return nil, task.Mistakef("%v", err)
	}
	if !ok {
		file = builtin.File(name)
		if text, ok = builtin.Text(name); !ok {
			return nil, task.Mistakef("workflow %q is not known: see orange workflow list", name)
		}
	}
	if def := r.defs.findChecked(file, text); def != nil {
		return def, nil
	}
	def, err := workflow.Parse(file, text)
	if err != nil {
		return nil, task.Mistakef("%v", err)
	}
	if found := workflow.ErrorFindings(def.Check()); len(found) > 0 {
		return nil, task.Mistakef("workflow %s has %d findings, the first is %s; see orange workflow check %s", name, len(found), found[0], name)
	}
	r.defs.putChecked(def)
	return def, nil
}
