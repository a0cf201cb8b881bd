package cli

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"path/filepath"
	"strconv"
	"strings"
	"unicode/utf8"

	"github.com/spf13/cobra"

	"orange/internal/config"
	"orange/internal/core/agent"
	"orange/internal/core/signal"
	"orange/internal/core/task"
	"orange/internal/core/workflow/builtin"
	"orange/internal/view/narrate"
	"orange/internal/wire"
)

// maxContext is the maximum size of a task's context, in bytes.
const maxContext = 1 << 20

func newTaskCreate(deps Deps) *cobra.Command {
	var n signal.NewTask
	var words requirementFlags
	var parent string
	var roles []string
	var wait bool
	var vars, after []string
	cmd := &cobra.Command{
		Use: "create [branch] [summary...]", Aliases: []string{"new"}, Short: "Create a task, and start it as soon as a workspace is free", Annotations: map[string]string{needsKeys: "harness review_harness workflow pool_size"},
		Long: "Create a task in the project of this folder and start an agent for it as soon as a workspace is\n" +
			"free. A repository that is not yet a project becomes one. Without a branch, or with words in one\n" +
			"argument, the branch is named after the summary; without a summary it takes the first line of its\n" +
			"requirements; without either it begins with questions. What a person requires becomes\n" +
			"## Requirements in TASK.md: its agents carry it out.\n" +
			"Without any argument, in a terminal, a form is opened.",
		Example: "  orange task create \"Fix the login bug\"\n" +
			"  orange task create login \"Let customers log in\"\n" +
			"  orange task create fix/typo -m \"Correct the spelling in the README\"\n" +
			"  orange task create fix/typo --harness codex --context-file notes.md\n" +
			"  orange task create hotfix \"Stop the crash\" --base release/2.1 --model opus\n" +
			"  orange task create checkout \"Sell the cart\" --after login,cart\n" +
			"  orange task create part-2 \"The second half\" --parent MFTsZyeO --no-spawn",
		Args: requireArguments(0, -1),
	}
	f := cmd.Flags()
	f.StringVar(&n.Project, "project", "", "project it belongs to (default: that of this folder)")
	f.StringVar(&n.BaseBranch, "base", "", "`branch` that the work starts from and lands on (default: the project's)")
	f.StringVar(&n.Workflow, "workflow", "", "workflow it follows (default: the project's)")
	f.StringVar(&n.Status, "status", "", "state it begins in (default: the workflow's first)")
	f.StringVar(&n.Harness, "harness", "", "agent that works on it: "+strings.Join(agent.HarnessNames(), ", ")+", \"command:PROGRAM ARGS\" or script:FILE")
	f.StringVar(&n.Model, "model", "", "model of that agent, as it spells it (default: the project's, then the agent's own)")
	f.StringVar(&n.AgentFlags, "agent-flags", "", "further options of that agent, as in \"--max-turns 50\" (default: the project's)")
	f.StringVar(&n.Permissions, "permissions", "", "what agents may do without asking: skip (everything), edits or ask (default: the project's, then skip)")
	f.StringVar(&n.Effort, "effort", "", "effort of that agent")
	f.StringVar(&n.ReviewHarness, "review-harness", "", "agent that reviews it, likewise")
	f.StringVar(&n.ReviewModel, "review-model", "", "model of the reviewer (default: that of --model, if both are the same agent)")
	f.StringVar(&n.ReviewEffort, "review-effort", "", "effort of the reviewer")
	f.StringArrayVar(&roles, "role", nil, "agent of one role, as in `reviewer=codex` or reviewer=codex:MODEL; given again, the next one if that cannot work")
	words.declareFlags(cmd)
	f.StringVar(&parent, "parent", "", "`task` whose work this is a part of")
	f.StringSliceVar(&after, "after", nil, "`tasks` that must land before this one starts, as in login,cart")
	f.BoolVar(&n.Stack, "stack", false, "start at the branch of the one task of --after, as soon as that one has handed over work")
	f.StringArrayVar(&vars, "var", nil, "`NAME=TEXT` for {vars.NAME} in prompts, before the project's; no place for secrets. May be repeated")
	f.BoolVar(&wait, "no-spawn", false, "create it and do not start it")
	cmd.PreRunE = func(cmd *cobra.Command, args []string) error {
		if len(args) == 0 && onlyJSON(cmd) && !deps.opensForm(cmd) {
			return usageError("no requirements: give a branch and a summary, as in orange task create login \"Let customers log in\", or --requirements-file FILE")
		}
		var text string
		var err, also error
		if text, words.file, err = words.chooseText(cmd); err != nil {
			return err
		}
		n.Context = text
		if n.Stack && len(asIDs(after)) != 1 {
			return usageError("--stack needs one task to be stacked on: name it with --after")
		}
		if n.Vars, err = task.ParseVars(vars); err != nil {
			return usageError("--var: %w", err)
		}
		n.Harness, err = deps.resolveHarness(n.Harness)
		n.ReviewHarness, also = deps.resolveHarness(n.ReviewHarness)
		if err = cmp.Or(err, also); err == nil {
			n.Roles, err = deps.roleChoices(roles)
		}
		return err
	}
	create := withServer(deps, func(ctx context.Context, s session, args []string) error {
		var err error
		if n.Context, err = s.readRequirements(n.Context, words.file); err != nil {
			return err
		}
		if len(args) > 0 {
			n.Branch, n.Summary = branchAndSummary(args)
		}
		if n.Project == "" {
			if n.Project, err = s.ensureProject(ctx, builtin.Default); err != nil {
				return err
			}
		}
		if parent != "" {
			p, err := s.ReadTask(ctx, parent)
			if err != nil {
				return err
			}
			n.Parent = p.Task.ID
		}
		n.After = asIDs(after)
		n.Spawn = !wait
		n.Actor, n.Attempt = s.callingActor()
		return s.createTask(ctx, n)
	})
	cmd.RunE = func(cmd *cobra.Command, args []string) error {
		if len(args) == 0 && onlyJSON(cmd) {
			return showDashboard(deps, dashboardFlags{create: true}, cmd)
		}
		return create(cmd, args)
	}
	return cmd
}

// branchAndSummary returns what the arguments of a new task mean: a branch and the words of a summary, or only words if
// the first argument has spaces, which no branch has. The server names a branch after the summary then.
func branchAndSummary(args []string) (branch, summary string) {
	if len(strings.Fields(args[0])) > 1 {
		return "", strings.Join(args, " ")
	}
	return args[0], strings.Join(args[1:], " ")
}

// requirementFlags are the flags that give the requirements of a task. --context and
// --context-file are the older names of --requirements and --requirements-file.
type requirementFlags struct{ text, context, file, contextFile string }

func (r *requirementFlags) declareFlags(cmd *cobra.Command) {
	f := cmd.Flags()
	f.StringVarP(&r.text, "requirements", "m", "", "the requirements, as Markdown; - reads them from standard input")
	f.StringVar(&r.file, "requirements-file", "", "file with that text")
	f.StringVar(&r.context, "context", "", "the same as --requirements")
	f.StringVar(&r.context, "note", "", "the same as --requirements")
	_ = f.MarkHidden("note")
	f.StringVar(&r.contextFile, "context-file", "", "the same as --requirements-file")
}

// chooseText returns the text that was given, or the file that contains it.
func (r *requirementFlags) chooseText(cmd *cobra.Command) (text, file string, err error) {
	var given []string
	for _, name := range []string{"requirements", "requirements-file", "context", "context-file", "note"} {
		if flag := cmd.Flags().Lookup(name); flag.Changed && flag.Value.String() != "" {
			given = append(given, "--"+name)
		}
	}
	if len(given) > 1 {
		return "", "", usageError("give %s or %s, not both", given[0], given[1])
	}
	return cmp.Or(r.text, r.context), cmp.Or(r.file, r.contextFile), nil
}

// onlyJSON reports whether no flag except --json was given.
func onlyJSON(cmd *cobra.Command) bool {
	n := cmd.Flags().NFlag()
	if wantsJSON(cmd) {
		n--
	}
	return n == 0
}

// opensForm reports whether a person uses a terminal that can show a form.
func (d Deps) opensForm(cmd *cobra.Command) bool {
	return d.IsTerminal && d.Dashboard != nil && !wantsJSON(cmd) && d.Config.Role == ""
}

func (s session) createTask(ctx context.Context, n signal.NewTask) error {
	a, err := s.CreateTask(ctx, n)
	if err != nil {
		return err
	}
	if a.Warning != "" {
		fmt.Fprintln(s.Stderr, "orange: warning: "+cleanLine(a.Warning))
	}
	s.printNotes(a)
	return s.showResult(a, func(w io.Writer) error { return printCreated(w, a.Task, "") })
}

// printNotes prints what a person should know about a new task. Variables of this terminal are printed by name only.
func (s session) printNotes(a wire.Answer) {
	if s.Config.Role != "" || s.Config.Record {
		return
	}
	notes := a.Notes
	if names := config.WithheldNames(s.Environ, []string{a.Task.Harness, a.Task.ReviewHarness}, s.Config.AgentEnv...); len(names) > 0 {
		notes = append(notes, fmt.Sprintf("agents of this task do not get %s of this terminal: list those that they need in \"agent_env\" in %s", strings.Join(names, ", "), s.Config.File()))
	}
	for _, line := range notes {
		fmt.Fprintln(s.Stderr, "orange: "+cleanLine(line))
	}
}

// printCreated prints a new task. what describes the task and may be "".
func printCreated(w io.Writer, t task.Task, what string) error {
	line := fmt.Sprintf("Created task %s (%s/%s)", t.ID, t.Project, t.Branch)
	if what != "" {
		line += ", " + what
	}
	fmt.Fprintln(w, cleanLine(line))
	if waits, ok := strings.CutPrefix(narrate.DescribeQueue(&t), "it "); ok {
		fmt.Fprintln(w, cleanLine("It "+waits+"."))
	}
	return nil
}

// asIDs returns the names of tasks as a request has them. The server finds the tasks.
func asIDs(names []string) []task.ID {
	var out []task.ID
	for _, name := range names {
		if name = strings.TrimSpace(name); name != "" {
			out = append(out, task.ID(name))
		}
	}
	return out
}

// roleChoices parses ROLE=HARNESS[:MODEL]. A command or a script may itself contain colons,
// so it has no model.
func (d Deps) roleChoices(values []string) ([]task.RoleChoice, error) {
	var out []task.RoleChoice
	for _, value := range values {
		role, agent, ok := strings.Cut(value, "=")
		c := task.RoleChoice{Role: strings.TrimSpace(role)}
		c.Harness = strings.TrimSpace(agent)
		if !strings.HasPrefix(c.Harness, "command:") && !strings.HasPrefix(c.Harness, "script:") {
			c.Harness, c.Model, _ = strings.Cut(c.Harness, ":")
		}
		if !ok || c.Role == "" || c.Harness == "" {
			return nil, usageError("--role %q names no role and agent: give ROLE=HARNESS, as in reviewer=codex", value)
		}
		var err error
		if c.Harness, err = d.resolveHarness(c.Harness); err != nil {
			return nil, err
		}
		out = append(out, c)
	}
	return out, nil
}

// resolveHarness returns the value of a harness with an absolute path to its script, because
// the server runs in another folder. It returns an error if the script does not exist.
func (d Deps) resolveHarness(value string) (string, error) {
	file, ok := strings.CutPrefix(value, "script:")
	if !ok || file == "" {
		return value, nil
	}
	at := file
	if !filepath.IsAbs(at) {
		at = filepath.Join(d.Cwd, at)
	}
	switch info, err := os.Stat(at); {
	case errors.Is(err, fs.ErrNotExist):
		return "", fmt.Errorf("there is no script %s: give the path of one, as in script:play.yaml", file)
	case err == nil && info.IsDir():
		return "", fmt.Errorf("script %s is a folder: give the path of a file, as in script:play.yaml", file)
	}
	return "script:" + at, nil
}

// ensureProject returns the project of the current folder. It registers the repository as a
// project if necessary, and says which workflow its tasks follow; fallback is the one if it names none.
func (s session) ensureProject(ctx context.Context, fallback string) (string, error) {
	at, err := s.FindPlace(ctx, s.Cwd)
	if err != nil {
		return "", err
	}
	if at.Project != "" {
		return at.Project, nil
	}
	if at.GitRoot == "" {
		return "", fmt.Errorf("%s is not a git repository: give --project, or go to one", s.Cwd)
	}
	if s.Config.Role != "" {
		return "", fmt.Errorf("%s is not a project, and an agent may not add one: give --project", at.GitRoot)
	}
	p, err := s.registerRepository(ctx, at.GitRoot)
	if err != nil {
		return "", err
	}
	fmt.Fprintln(s.Stderr, cleanLine(fmt.Sprintf("orange: added project %s (%s), %d workspaces, workflow %s",
		p.Name, p.Path, p.PoolSize, cmp.Or(p.Workflow, fallback))))
	return p.Name, nil
}

// registerRepository makes a repository a project.
func (s session) registerRepository(ctx context.Context, root string) (task.Project, error) {
	added, err := s.AddProject(ctx, s.newProject(root))
	if err != nil {
		return task.Project{}, fmt.Errorf("add %s as a project: %w", root, err)
	}
	return added.Project, nil
}

// readRequirements returns the requirements of a task.
func (s session) readRequirements(text, file string) (string, error) {
	var from io.Reader
	switch {
	case file != "":
		if !filepath.IsAbs(file) {
			file = filepath.Join(s.Cwd, file)
		}
		f, err := os.Open(file)
		if err != nil {
			return "", fmt.Errorf("read the requirements: %w", err)
		}
		defer f.Close()
		from = f
	case text == "-":
		from = s.Stdin
	default:
		from = strings.NewReader(text)
	}
	all, err := io.ReadAll(io.LimitReader(from, maxContext+1))
	switch {
	case err != nil:
		return "", fmt.Errorf("read the requirements: %w", err)
	case len(all) > maxContext:
		return "", errors.New("the requirements are longer than 1 MB: put it into a file of the repository and name that")
	case !utf8.Valid(all):
		return "", errors.New("the requirements are not text: give UTF-8")
	}
	return string(all), nil
}

func newTaskFork(deps Deps) *cobra.Command {
	var f wire.ForkRequest
	var id string
	var wait bool
	cmd := &cobra.Command{
		Use: "fork <id@seq>", Short: "Create a task from an earlier point in the history of another one",
		Long: "Create a task that begins at the commit that another one had at an entry of its history, on a\n" +
			"branch of its own and with the text of the old one as its context. The old task stays as it is.",
		Example: "  orange task history MFTsZyeO --json\n" +
			"  orange task fork MFTsZyeO@7 --branch second-try",
		Args: requireArguments(1, 1),
	}
	cmd.Flags().StringVar(&f.Branch, "branch", "", "branch of the new task (default: named after the old one)")
	cmd.Flags().BoolVar(&wait, "no-spawn", false, "create it and do not start it")
	cmd.PreRunE = func(_ *cobra.Command, args []string) (err error) {
		id, f.Seq, err = entryOf(args[0])
		f.Spawn = !wait
		return err
	}
	cmd.RunE = withServer(deps, func(ctx context.Context, s session, _ []string) error {
		a, err := s.ForkTask(ctx, id, f)
		if err != nil {
			return err
		}
		if a.Warning != "" {
			fmt.Fprintln(s.Stderr, "orange: warning: "+cleanLine(a.Warning))
		}
		return s.showResult(a, func(w io.Writer) error {
			return printCreated(w, a.Task, "a fork of "+a.Task.ForkOf)
		})
	})
	return cmd
}

// entryOf parses ID@SEQ.
func entryOf(text string) (id string, seq int, err error) {
	at := max(0, strings.LastIndexByte(text, '@'))
	id = text[:at]
	seq, err = strconv.Atoi(strings.TrimPrefix(text[at:], "@"))
	if err != nil || seq < 1 || id == "" {
		return "", 0, usageError("%q names no entry of a task: give ID@SEQ, with a seq of orange task history --json", text)
	}
	return id, seq, nil
}
