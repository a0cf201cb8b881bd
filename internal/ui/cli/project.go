package cli

import (
	"context"
	"errors"
	"fmt"
	"io"
	"maps"
	"path/filepath"
	"slices"
	"strconv"
	"strings"

	"github.com/spf13/cobra"

	"orange/internal/config"
	"orange/internal/core/task"
	"orange/internal/wire"
)

func newProjectCommand(deps Deps) *cobra.Command {
	return groupCommand("project", "Register and change projects (repositories)",
		newProjectAdd(deps), newProjectList(deps), newProjectUpdate(deps), newProjectRemove(deps))
}

// errNoProject is the error of a command that names no project and runs in a folder that
// belongs to none.
var errNoProject = errors.New("this folder belongs to no project: name one, or run orange project add")

// projectOf returns the project that the arguments name, or else the project of the current folder.
func (s session) projectOf(ctx context.Context, args []string) (string, error) {
	if len(args) > 0 {
		return args[0], nil
	}
	return s.projectHere(ctx)
}

// projectHere returns the project of the current folder.
func (s session) projectHere(ctx context.Context) (string, error) {
	at, err := s.FindPlace(ctx, s.Cwd)
	if err != nil {
		return "", err
	}
	if at.Project == "" {
		return "", errNoProject
	}
	return at.Project, nil
}

// newProject returns the project as which a repository is registered by default.
func (d Deps) newProject(root string) task.Project {
	p := task.Project{Name: projectName(root), Path: root, PoolSize: task.DefaultPoolSize, Workflow: d.Config.Workflow}
	if d.Config.PoolSize > 0 {
		p.PoolSize = d.Config.PoolSize
	}
	return p
}

// projectName makes a project name from the name of a folder.
func projectName(root string) string {
	fit := func(r rune) rune {
		if r >= 'a' && r <= 'z' || r >= 'A' && r <= 'Z' || r >= '0' && r <= '9' || r == '.' || r == '_' {
			return r
		}
		return '-'
	}
	name := strings.TrimLeft(strings.Map(fit, filepath.Base(root)), "-._")
	return name[:min(len(name), 64)]
}

func checkPoolSize(cmd *cobra.Command, n int) error {
	if cmd.Flags().Changed("pool-size") && n < 1 {
		return fmt.Errorf("pool size %d: give a positive integer", n)
	}
	return nil
}

func newProjectAdd(deps Deps) *cobra.Command {
	var name, workflow string
	var size int
	cmd := &cobra.Command{
		Use: "add [path]", Short: "Register a repository, by default the one of this folder", Annotations: map[string]string{needsKeys: "workflow pool_size"},
		Long: "Register a repository as a project: its tasks get worktrees of it. Its path, a pool of workspaces\n" +
			"and how finished work leaves this machine belong to it.",
		Example: "  orange project add\n" +
			"  orange project add ~/src/shop --pool-size 4 --delivery pr --setup \"npm ci\"",
		Args: requireArguments(0, 1),
	}
	cmd.Flags().StringVar(&name, "name", "", "name of the project (default: that of its folder)")
	cmd.Flags().IntVar(&size, "pool-size", 0, "how many workspaces it has (default 2)")
	cmd.Flags().StringVar(&workflow, "workflow", "", "workflow that its tasks follow")
	policy := newPolicyFlags(cmd)
	cmd.PreRunE = func(*cobra.Command, []string) error {
		if err := policy.checkFlags(); err != nil {
			return err
		}
		return checkPoolSize(cmd, size)
	}
	cmd.RunE = withServer(deps, func(ctx context.Context, s session, args []string) error {
		path := s.Cwd
		if len(args) > 0 {
			path = args[0]
		}
		if !filepath.IsAbs(path) {
			path = filepath.Join(s.Cwd, path)
		}
		at, err := s.FindPlace(ctx, path)
		if err != nil {
			return err
		}
		if at.GitRoot == "" {
			return fmt.Errorf("%s is not a git repository: run git init there, or give another path", path)
		}
		if at.Worktree && name == "" {
			return fmt.Errorf("%s is a worktree of the repository of project %s: tasks that are created there belong to it; for a project of its own, give --name", at.GitRoot, at.Project)
		}
		if err := s.otherWorkflow(ctx, at, workflow); err != nil {
			return err
		}
		p := s.newProject(at.GitRoot)
		if p.Policy, err = policy.newPolicy(); err != nil {
			return err
		}
		p.DefaultBranch = policy.base
		if name != "" {
			p.Name = name
		}
		if size > 0 {
			p.PoolSize = size
		}
		if workflow != "" {
			p.Workflow = workflow
		}
		added, err := s.AddProject(ctx, p)
		if err != nil {
			return err
		}
		p = added.Project
		lines := []string{fmt.Sprintf("Added project %s (%s), %d workspaces%s", p.Name, p.Path, p.PoolSize, policyText(p))}
		if len(added.Git) > 0 {
			lines = append(lines, gitProgramsText(added.Git)...)
		}
		return s.sayLines(added, lines...)
	})
	return cmd
}

// otherWorkflow returns an error if a repository is registered again only to change its workflow.
func (s session) otherWorkflow(ctx context.Context, at wire.Location, workflow string) error {
	if workflow == "" || at.Project == "" {
		return nil
	}
	have, err := s.findProject(ctx, at.Project)
	if err != nil || have.Path != at.GitRoot {
		return nil // adding the project reports any other problem
	}
	return fmt.Errorf("%s is registered already: use orange project update %s --workflow %s", have.Path, have.Name, workflow)
}

func newProjectList(deps Deps) *cobra.Command {
	return &cobra.Command{
		Use: "list", Short: "List the projects", Args: requireArguments(0, 0),
		Long:    "List the projects with their pools, workflows and policies.",
		Example: "  orange project list --json",
		RunE: withServer(deps, func(ctx context.Context, s session, _ []string) error {
			projects, err := s.ListProjects(ctx)
			if err != nil {
				return err
			}
			return s.showResult(map[string]any{"projects": projects}, func(w io.Writer) error { return printProjects(w, projects) })
		}),
	}
}

// printProjects prints the projects. It leaves out the policies that no project has.
func printProjects(w io.Writer, projects []task.Project) error {
	if len(projects) == 0 {
		_, err := fmt.Fprintln(w, "No projects. Add one with: orange project add")
		return err
	}
	rows := [][]string{{"NAME", "POOL", "WORKFLOW", "BASE", "MODEL", "DELIVERY", "LAND", "BUDGET", "CONFIRM", "VARIABLES", "CHECKS", "UNCHANGED", "PATH"}}
	for _, p := range projects {
		variables := strings.Join(slices.Sorted(maps.Keys(p.Vars)), ", ")
		rows = append(rows, []string{p.Name, strconv.Itoa(p.PoolSize), orDash(p.Workflow), orDash(p.DefaultBranch), p.Model,
			string(p.Delivery), p.Land, budgetText(p.Budget), confirmText(p.Confirm), variables, checkNames(p.Checks), strings.Join(p.Unchanged, ", "), p.Path})
	}
	return printTable(w, 0, dropEmptyColumns(rows))
}

// dropEmptyColumns removes columns that are empty below the heading, puts a dash in the empty
// cells of the others, and makes all cells safe to print.
func dropEmptyColumns(rows [][]string) [][]string {
	out := make([][]string, len(rows))
	for column := range rows[0] {
		if !slices.ContainsFunc(rows[1:], func(row []string) bool { return row[column] != "" }) {
			continue
		}
		for i, row := range rows {
			out[i] = append(out[i], orDash(row[column]))
		}
	}
	return out
}

func orDash(s string) string {
	if s == "" {
		return "-"
	}
	return cleanLine(s)
}

func newProjectUpdate(deps Deps) *cobra.Command {
	var size int
	var workflow, path string
	var trustGit bool
	var change wire.ProjectChange
	cmd := &cobra.Command{
		Use: "update [name]", Short: "Change a project, by default the one of this folder",
		Long: "Change what belongs to a project. What no flag names stays as it is.",
		Example: "  orange project update shop --pool-size 3 --max-day-cost 20\n" +
			"  orange project update --workflow orange-direct\n" +
			"  orange project update shop --confirm merge=code   # a person's merge needs a code\n" +
			"  orange project update shop --base develop --model opus   # of its new tasks\n" +
			"  orange project update shop --path ~/src/shop   # the repository was moved there\n" +
			"  orange project update shop --trust-git         # after checking what git would run",
		Args: requireArguments(0, 1),
	}
	cmd.Flags().IntVar(&size, "pool-size", 0, "how many workspaces it has")
	cmd.Flags().StringVar(&workflow, "workflow", "", "workflow that its new tasks follow")
	cmd.Flags().StringVar(&path, "path", "", "where its repository was moved to; the worktrees are repaired")
	cmd.Flags().BoolVar(&trustGit, "trust-git", false, "let git run the hooks, filters and helpers that its configuration names now")
	policy := newPolicyFlags(cmd)
	codeFlag(cmd)
	cmd.PreRunE = func(*cobra.Command, []string) error {
		if cmd.Flags().Changed("pool-size") {
			change.PoolSize = &size
		}
		if cmd.Flags().Changed("workflow") {
			change.Workflow = &workflow
		}
		if cmd.Flags().Changed("path") {
			full, err := filepath.Abs(path)
			if err != nil {
				return fmt.Errorf("find the folder %q: %w", path, err)
			}
			change.Path = &full
		}
		if trustGit {
			change.TrustGit = &trustGit
		}
		if err := policy.checkFlags(); err != nil {
			return err
		}
		policy.applyTo(&change)
		if change.IsEmpty() && !policy.hasBudget() {
			return errors.New("nothing to change: give --pool-size or --workflow, or another flag of orange project update --help")
		}
		return checkPoolSize(cmd, size)
	}
	cmd.RunE = withServer(deps, func(ctx context.Context, s session, args []string) error {
		name, err := s.projectOf(ctx, args)
		if errors.Is(err, errNoProject) && change.Path != nil {
			return fmt.Errorf("this folder belongs to no project yet: name the one that was moved (orange project list), as in orange project update NAME --path %s", path)
		}
		if err != nil {
			return err
		}
		if policy.hasBudget() {
			p, err := s.findProject(ctx, name)
			if err != nil {
				return err
			}
			budget := policy.mergedBudget(p.Budget)
			change.Budget = &budget
		}
		change.Code = s.confirmationCode()
		updated, err := s.UpdateProject(ctx, name, change)
		if err != nil {
			return err
		}
		p := updated.Project
		lines := []string{fmt.Sprintf("Updated project %s: %d workspaces%s%s", p.Name, p.PoolSize, workflowText(p), policyText(p))}
		if trustGit {
			lines = append(lines, gitProgramsText(updated.Git)...)
		}
		return s.sayLines(updated, lines...)
	})
	return cmd
}

// gitProgramsText lists the programs that git may run, with the files whose contents are pinned.
func gitProgramsText(list []task.GitProgram) []string {
	if len(list) == 0 {
		return []string{"Git runs no hook, filter or helper for it"}
	}
	lines := []string{"Git runs these for it, as long as they stay as they are:"}
	for _, p := range list {
		line := "  " + string(p.Kind) + " " + p.Key
		if p.Command != "" {
			line += ": " + cutToWidth(cleanLine(p.DisplayCommand()), 200)
		}
		lines = append(lines, line)
		for _, f := range p.Files {
			lines = append(lines, "    "+f.Path+" "+f.SHA256[:min(12, len(f.SHA256))])
		}
	}
	return lines
}

// findProject finds a project by its name.
func (s session) findProject(ctx context.Context, name string) (task.Project, error) {
	all, err := s.ListProjects(ctx)
	if err != nil {
		return task.Project{}, err
	}
	for _, p := range all {
		if p.Name == name {
			return p, nil
		}
	}
	return task.Project{}, fmt.Errorf("project %q is not registered: see orange project list", name)
}

// policyFlags are the flags that set the policy for a project's tasks.
type policyFlags struct {
	delivery, setup, teardown string
	taskCost, dayCost         money
	taskAttempts, dayAttempts int
	forge                     task.Forge
	confirm                   string
	base, model               string
	agentFlags, permissions   string
	set                       []string
	vars                      task.Vars
	check                     []string
	unchanged, mayChange      []string
	land, merge               string
	reuseChecks               bool
	given                     func(flag string) bool
}

func newPolicyFlags(cmd *cobra.Command) *policyFlags {
	p := &policyFlags{given: cmd.Flags().Changed}
	f := cmd.Flags()
	f.StringVar(&p.base, "base", "", "`branch` that its tasks start from and land on (default: the repository's default branch)")
	f.StringVar(&p.model, "model", "", "model of its agents, as the agent spells it; of tasks that name no other agent")
	f.StringVar(&p.agentFlags, "agent-flags", "", "further options of its agents, as in \"--max-turns 50\"; of tasks that name no other agent")
	f.StringVar(&p.permissions, "permissions", "", "what its agents may do without asking: skip (everything), edits or ask (default skip)")
	f.StringVar(&p.delivery, "delivery", "", "how finished work leaves this machine: local, push or pr (default local)")
	f.StringVar(&p.land, "land", "", "how work lands if a merge names no strategy: "+landStrategies+" (default auto)")
	f.StringVar(&p.merge, "merge", "", "who merges its pull requests: auto (Orange, when a merge is requested and the forge's checks passed) or person (default person)")
	f.BoolVar(&p.reuseChecks, "reuse-checks", false, "do not repeat a check on merged work whose tree is the one on which it passed in the workspace; --reuse-checks=false repeats it")
	f.StringVar(&p.setup, "setup", "", "shell command that prepares a workspace for a task")
	f.StringVar(&p.teardown, "teardown", "", "shell command for a workspace before it is given back")
	f.StringVar(&p.forge.Kind, "forge", "", "where pull requests live: github or gitea (default: github)")
	f.StringVar(&p.forge.URL, "forge-url", "", "address of its API (github) or of the forge (gitea), if the remote does not show it")
	f.StringVar(&p.forge.Scope, "forge-repo", "", "OWNER/REPO there, if the remote does not show it")
	f.StringVar(&p.forge.Token, "forge-token", "", "where its secret is: env:NAME, file:PATH, command:..., gh (default: GH_TOKEN, GITHUB_TOKEN, then gh)")
	f.StringVar(&p.confirm, "confirm", "", "merge=code: a person's merge needs a code that is shown by notification; merge=none: it does not")
	f.StringArrayVar(&p.set, "var", nil, "`NAME=TEXT` for {vars.NAME} in prompts; NAME= removes it; not for secrets. May be repeated")
	f.StringArrayVar(&p.check, "check", nil, "`NAME=COMMAND` that Orange runs on finished work; NAME= removes it; NAME.timeout=20m, NAME.retries=1, NAME.env=NAME=VALUE, NAME.folder=DIR and NAME.setup=COMMAND set its keys. For tasks that are created afterwards. May be repeated")
	f.StringArrayVar(&p.unchanged, "unchanged", nil, "`PATTERN` of paths, as in .gitignore, that tasks may not change without your approval. For tasks that are created afterwards. May be repeated")
	f.StringArrayVar(&p.mayChange, "may-change", nil, "`PATTERN` of --unchanged to remove. May be repeated")
	f.Var(&p.taskCost, "max-task-cost", "dollars that the agents of one task may cost, 0 for no bound")
	f.IntVar(&p.taskAttempts, "max-task-attempts", 0, "attempts that one task may have, 0 for no bound")
	f.Var(&p.dayCost, "max-day-cost", "dollars that all agents of the project may cost in a day (UTC), 0 for no bound")
	f.IntVar(&p.dayAttempts, "max-day-attempts", 0, "attempts that the project may have in a day (UTC), 0 for no bound")
	return p
}

func (p *policyFlags) checkFlags() error {
	var wrong error
	if p.vars, wrong = task.ParseVars(p.set); wrong != nil {
		return usageError("--var: %w", wrong)
	}
	for _, text := range p.check {
		if _, _, _, err := task.ParseCheck(text); err != nil {
			return usageError("--check: %w", err)
		}
	}
	d := task.Delivery(p.delivery)
	_, known := confirmOf(p.confirm)
	switch {
	case p.given("confirm") && !known:
		return usageError("--confirm %q is not known: give merge=code or merge=none", p.confirm)
	case p.given("base") && p.base == "":
		return usageError("--base is empty: name a branch of the repository")
	case p.given("delivery") && d != task.DeliverLocal && !d.PushesBranch():
		return usageError("delivery %q is not known: give local, push or pr", p.delivery)
	case p.given("land") && !slices.Contains(task.LandStrategies, p.land):
		return usageError("--land %q is not known: give %s", p.land, landStrategies)
	case p.given("merge") && p.merge != task.MergePRAuto && p.merge != mergeByPerson:
		return usageError("--merge %q is not known: give auto or person", p.merge)
	case config.CheckSecret(p.forge.Token) != nil:
		return usageError("--forge-token: %w", config.CheckSecret(p.forge.Token))
	case p.taskAttempts < 0:
		return usageError("--max-task-attempts %d: give a positive integer, or 0 for no bound", p.taskAttempts)
	case p.dayAttempts < 0:
		return usageError("--max-day-attempts %d: give a positive integer, or 0 for no bound", p.dayAttempts)
	}
	return nil
}

// hasBudget reports whether any budget flag is given.
func (p *policyFlags) hasBudget() bool {
	return p.given("max-task-cost") || p.given("max-task-attempts") || p.given("max-day-cost") || p.given("max-day-attempts")
}

// mergedBudget returns b with the budget flags that are given applied to it.
func (p *policyFlags) mergedBudget(b task.Budget) task.Budget {
	if p.given("max-task-cost") {
		b.TaskMicros = int64(p.taskCost)
	}
	if p.given("max-task-attempts") {
		b.TaskAttempts = p.taskAttempts
	}
	if p.given("max-day-cost") {
		b.DayMicros = int64(p.dayCost)
	}
	if p.given("max-day-attempts") {
		b.DayAttempts = p.dayAttempts
	}
	return b
}

// newPolicy returns the policy that the flags give to a new project.
func (p *policyFlags) newPolicy() (task.Policy, error) {
	confirm, _ := confirmOf(p.confirm)
	checks, err := task.Checks(nil).WithChanges(p.check)
	if err != nil {
		return task.Policy{}, usageError("--check: %w", err)
	}
	unchanged, err := task.PathPatterns(nil).WithChanges(p.pathChanges())
	if err != nil {
		return task.Policy{}, usageError("--unchanged: %w", err)
	}
	return task.Policy{Land: p.land, MergePR: mergePR(p.merge), ReuseChecks: p.reuseChecks, Checks: checks, Unchanged: unchanged, Confirm: confirm, Delivery: task.Delivery(p.delivery), Setup: p.setup, Teardown: p.teardown, Budget: p.mergedBudget(task.Budget{}), Forge: p.forge, Model: p.model, AgentFlags: p.agentFlags, Permissions: p.permissions, Vars: task.Vars(nil).WithChanges(p.vars)}, nil
}

// applyTo adds the given flags to a change. It leaves out the budget, which depends on the previous one.
func (p *policyFlags) applyTo(c *wire.ProjectChange) {
	if p.given("delivery") {
		d := task.Delivery(p.delivery)
		c.Delivery = &d
	}
	if confirm, ok := confirmOf(p.confirm); ok && p.given("confirm") {
		c.Confirm = &confirm
	}
	if p.given("var") {
		c.Vars = &p.vars
	}
	if p.given("base") {
		c.Base = &p.base
	}
	if p.given("model") {
		c.Model = &p.model
	}
	if p.given("agent-flags") {
		c.AgentFlags = &p.agentFlags
	}
	if p.given("permissions") {
		c.Permissions = &p.permissions
	}
	c.Checks, c.Unchanged = p.check, p.pathChanges()
	if p.given("land") {
		c.Land = &p.land
	}
	if p.given("merge") {
		merge := mergePR(p.merge)
		c.MergePR = &merge
	}
	if p.given("reuse-checks") {
		c.ReuseChecks = &p.reuseChecks
	}
	if p.given("setup") {
		c.Setup = &p.setup
	}
	if p.given("teardown") {
		c.Teardown = &p.teardown
	}
	if p.given("forge") || p.given("forge-url") || p.given("forge-repo") || p.given("forge-token") {
		c.Forge = &p.forge
	}
}

// mergeByPerson is the value of --merge that leaves pull requests to people.
const mergeByPerson = "person"

// mergePR returns the policy that a value of --merge names.
func mergePR(flag string) string {
	if flag == mergeByPerson {
		return ""
	}
	return flag
}

// landStrategies lists the values of --land and --strategy for people.
var landStrategies = strings.Join(task.LandStrategies[:len(task.LandStrategies)-1], ", ") + " or " + task.LandStrategies[len(task.LandStrategies)-1]

// pathChanges returns the patterns of paths that are added, and those that are removed.
func (p *policyFlags) pathChanges() []string {
	out := slices.Clone(p.unchanged)
	for _, pattern := range p.mayChange {
		out = append(out, "!"+pattern)
	}
	return out
}

// confirmOf parses the value of --confirm.
func confirmOf(text string) (c task.Confirm, ok bool) {
	switch text {
	case "merge=" + task.ConfirmCode:
		return task.Confirm{Merge: task.ConfirmCode}, true
	case "merge=", "merge=none":
		return task.Confirm{}, true
	}
	return task.Confirm{}, false
}

// checkNames lists the names of checks.
func checkNames(list task.Checks) string {
	names := make([]string, len(list))
	for i := range list {
		names[i] = list[i].Name
	}
	return strings.Join(names, ", ")
}

// confirmText describes what a person must confirm, "" for nothing.
func confirmText(c task.Confirm) string {
	if c.Merge == "" {
		return ""
	}
	return "merge=" + c.Merge
}

// budgetText describes the limits of a budget, "" if there are none.
func budgetText(b task.Budget) string {
	var out []string
	add := func(limit int64, text string) {
		if limit > 0 {
			out = append(out, text)
		}
	}
	add(b.TaskMicros, formatDollars(b.TaskMicros)+" a task")
	add(int64(b.TaskAttempts), fmt.Sprintf("%d attempts a task", b.TaskAttempts))
	add(b.DayMicros, formatDollars(b.DayMicros)+" a day")
	add(int64(b.DayAttempts), fmt.Sprintf("%d attempts a day", b.DayAttempts))
	return strings.Join(out, ", ")
}

// workflowText names the workflow of a project, as text to append to a line; "" if the project names none.
func workflowText(p task.Project) string {
	if p.Workflow == "" {
		return ""
	}
	return ", workflow " + p.Workflow
}

// policyText describes the policy of a project, as text to append to a line.
func policyText(p task.Project) string {
	out := ""
	if p.DefaultBranch != "" {
		out += ", base " + p.DefaultBranch
	}
	if p.Model != "" {
		out += ", model " + p.Model
	}
	if p.AgentFlags != "" {
		out += ", flags " + p.AgentFlags
	}
	if p.Permissions != "" {
		out += ", permissions " + p.Permissions
	}
	if p.Delivery != "" {
		out += ", delivery " + string(p.Delivery)
	}
	if p.Land != "" {
		out += ", land " + p.Land
	}
	if p.MergePR != "" {
		out += ", merge " + p.MergePR
	}
	if p.ReuseChecks {
		out += ", checks are reused"
	}
	if b := budgetText(p.Budget); b != "" {
		out += ", at most " + b
	}
	if c := confirmText(p.Confirm); c != "" {
		out += ", confirm " + c
	}
	return out
}

func newProjectRemove(deps Deps) *cobra.Command {
	cmd := &cobra.Command{
		Use: "remove <name>", Short: "Remove a project; its repository stays",
		Long:    "Forget a project that has no task left to do. Its repository and its branches stay as they are.",
		Example: "  orange project remove shop",
		Args:    requireArguments(1, 1),
		RunE: withServer(deps, func(ctx context.Context, s session, args []string) error {
			if err := s.RemoveProject(ctx, args[0], s.confirmationCode()); err != nil {
				return err
			}
			return s.sayLine(map[string]string{"removed": args[0]}, "Removed project %s", args[0])
		}),
	}
	codeFlag(cmd)
	return cmd
}
