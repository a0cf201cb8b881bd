package cli

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"io"
	"slices"
	"strings"
	"unicode/utf8"

	"github.com/spf13/cobra"

	"orange/internal/core/agent"
	"orange/internal/core/signal"
	"orange/internal/core/task"
	"orange/internal/core/workflow"
	"orange/internal/view/humanize"
	"orange/internal/wire"
)

// soloWorkflow is the workflow of orange run in a project that names none: one agent works, a person reviews.
const soloWorkflow = "solo"

// maxRunSummary is the length up to which the words of orange run are a summary, in bytes. Longer words are requirements.
const maxRunSummary = 100

// runFlags are the flags of orange run.
type runFlags struct {
	new            signal.NewTask
	file           string
	until          string
	follow         string
	attach, detach bool
	after          []string
}

func newRunCommand(deps Deps) *cobra.Command {
	var f runFlags
	cmd := &cobra.Command{
		Use: "run [words...|-]", Short: "Create a task from a few words, and follow it until you can review it", Annotations: map[string]string{needsKeys: "harness review_harness workflow pool_size"},
		Long: "Create a task in the git repository of this folder, start its agent and follow it: a line for each state,\n" +
			"and on a terminal the last line of the agent's output. A repository that is not yet a project becomes one.\n" +
			"The task follows the workflow of the project, or solo if the project names none: one agent works, you\n" +
			"review.\n\n" +
			"If the agent asks something, type the answer. If it asks for permission, Enter opens its terminal. At\n" +
			"the end orange run prints what was changed and what you can do next. Ctrl-C leaves the task running;\n" +
			"orange run --follow ID comes back to it.\n\n" +
			"The exit code is 0 if the state of --until was reached, 1 if it cannot be reached (the task is stuck,\n" +
			"was cancelled, or its agent cannot start), 2 if a person is needed and there is no terminal, and 130\n" +
			"after Ctrl-C.",
		Example: "  orange run \"Fix the login bug\"\n" +
			"  orange run --file notes.md --harness codex\n" +
			"  orange run --issue https://github.com/acme/shop/issues/12\n" +
			"  git log -1 --format=%B | orange run - --detach\n" +
			"  orange run --follow MFTsZyeO --until done",
		Args: requireArguments(0, -1),
	}
	fl := cmd.Flags()
	fl.StringVar(&f.file, "file", "", "file with the requirements, as Markdown")
	fl.StringVar(&f.new.Issue, "issue", "", "`URL` of an issue to work on: GitHub, Gitea or Linear")
	fl.StringVar(&f.until, "until", runUntilReview, "when to stop: review, done, started, or the name of a state")
	fl.StringVar(&f.new.Harness, "harness", "", "agent that works on it: "+strings.Join(agent.HarnessNames(), ", ")+", \"command:PROGRAM ARGS\" or script:FILE")
	fl.StringVar(&f.new.Model, "model", "", "model of that agent, as it spells it (default: the project's, then the agent's own)")
	fl.StringVar(&f.new.BaseBranch, "base", "", "`branch` that the work starts from and lands on (default: the project's)")
	fl.StringSliceVar(&f.after, "after", nil, "`tasks` that must land before this one starts")
	fl.BoolVar(&f.new.Stack, "stack", false, "start at the branch of the one task of --after, as soon as that one has handed over work")
	fl.StringVar(&f.new.Workflow, "workflow", "", "workflow that it follows (default: the project's, else solo)")
	fl.BoolVar(&f.attach, "attach", false, "open the agent's terminal when the agent starts")
	fl.BoolVar(&f.detach, "detach", false, "create the task, print its id and exit")
	fl.StringVar(&f.follow, "follow", "", "follow the `task` with this id instead of creating one")
	cmd.PreRunE = func(cmd *cobra.Command, args []string) error { return f.checkFlags(deps, cmd, args) }
	cmd.RunE = withServer(deps, func(ctx context.Context, s session, args []string) error {
		t, err := s.startRun(ctx, &f, args)
		switch {
		case err != nil && ctx.Err() != nil:
			return interruptedRun()
		case err != nil:
			return err
		case f.detach:
			return s.describeDetached(t)
		}
		return s.followRun(ctx, t, &f)
	})
	return cmd
}

func (f *runFlags) checkFlags(deps Deps, cmd *cobra.Command, args []string) error {
	if err := deps.personOnly(); err != nil {
		return err
	}
	var err error
	if f.new.Harness, err = deps.resolveHarness(f.new.Harness); err != nil {
		return err
	}
	creates := len(args) > 0 || f.file != "" || f.new.Issue != ""
	describes := slices.ContainsFunc([]string{"harness", "model", "base", "after", "stack", "workflow", "detach"}, cmd.Flags().Changed)
	switch {
	case f.follow != "" && (creates || describes):
		return usageError("--follow follows a task that exists: leave out what describes a new one")
	case f.follow == "" && !creates:
		return usageError("no requirements: describe the work, as in orange run \"Fix the login bug\", or --file or --issue")
	case len(args) == 1 && args[0] == "-" && f.file != "":
		return usageError("give - or --file, not both")
	case f.new.Stack && len(asIDs(f.after)) != 1:
		return usageError("--stack needs one task to be stacked on: name it with --after")
	case f.attach && f.detach:
		return usageError("give --attach or --detach, not both")
	case f.attach && (!deps.IsTerminal || wantsJSON(cmd)):
		return usageError("--attach needs a terminal: leave it out")
	case f.until == "":
		return usageError("--until is empty: give review, done, started or the name of a state")
	}
	return nil
}

// startRun creates the task of orange run, or finds the one to follow.
func (s session) startRun(ctx context.Context, f *runFlags, args []string) (task.Task, error) {
	if f.follow != "" {
		v, err := s.ReadTask(ctx, f.follow)
		return v.Task, err
	}
	n := f.new
	if err := s.describeWork(&n, f.file, args); err != nil {
		return task.Task{}, err
	}
	name, err := s.ensureProject(ctx, soloWorkflow)
	if err != nil {
		return task.Task{}, err
	}
	p, err := s.findProject(ctx, name)
	if err != nil {
		return task.Task{}, err
	}
	n.Project, n.After = name, asIDs(f.after)
	n.Workflow = cmp.Or(n.Workflow, p.Workflow, s.Config.Workflow, soloWorkflow)
	if err := s.requireUntil(s.findDefinition(n.Workflow), f.until); err != nil {
		return task.Task{}, err
	}
	n.Spawn = true
	n.Actor, n.Attempt = s.callingActor()
	a, err := s.CreateTask(ctx, n)
	if err != nil {
		return task.Task{}, err
	}
	if a.Warning != "" {
		fmt.Fprintln(s.Stderr, "orange: warning: "+cleanLine(a.Warning))
	}
	s.printNotes(a)
	return a.Task, nil
}

// describeWork sets the summary and the requirements of a task from words, a file or standard input.
func (s session) describeWork(n *signal.NewTask, file string, args []string) error {
	words := strings.TrimSpace(strings.Join(args, " "))
	text, from := "", ""
	switch {
	case len(args) == 1 && words == "-":
		words, from = "", "-"
	case strings.Contains(words, "\n") || len(words) > maxRunSummary:
		words, text = "", words
	}
	if from != "" || file != "" {
		read, err := s.readRequirements(from, file)
		if err != nil {
			return err
		}
		text = strings.TrimSpace(text + "\n\n" + read)
		if text == "" {
			return errors.New("the requirements are empty: describe the work")
		}
	}
	if !utf8.ValidString(words) {
		return usageError("the words are not text: give UTF-8")
	}
	n.Summary, n.Requirements = words, text
	return nil
}

// runCommands are the commands with which a person continues a task.
type runCommands struct {
	Follow  string `json:"follow"`
	Attach  string `json:"attach"`
	Diff    string `json:"diff,omitempty"`
	Changes string `json:"request_changes,omitempty"`
	Merge   string `json:"merge,omitempty"`
}

func commandsFor(t *task.Task) runCommands {
	id := shortID(string(t.ID))
	return runCommands{Follow: "orange run --follow " + id, Attach: "orange task attach " + id}
}

// describeDetached prints the new task and how to continue with it.
func (s session) describeDetached(t task.Task) error {
	c := commandsFor(&t)
	return s.showResult(runEvent{Event: "created", Task: &t, Commands: &c}, func(w io.Writer) error {
		if err := printCreated(w, t, ""); err != nil {
			return err
		}
		_, err := fmt.Fprintf(w, "  follow it:       %s\n  its terminal:    %s\n", c.Follow, c.Attach)
		return err
	})
}

// interruptedRun is the result of Ctrl-C, which the output already reports.
func interruptedRun() error {
	return exitError{code: exitInterrupted, shown: true, err: errors.New("interrupted")}
}

// requireUntil returns an error if --until names a state that the task's workflow does not have.
func (s session) requireUntil(def *workflow.Definition, until string) error {
	if def == nil || until == runUntilReview || until == runUntilDone || until == runUntilStarted {
		return nil
	}
	return requireState(def, until)
}

// findDefinition returns the workflow that a new task here would follow, nil if it cannot be read. The server says what is
// wrong with it.
func (s session) findDefinition(name string) *workflow.Definition {
	if s.Workflows == nil {
		return nil
	}
	file, text, err := s.Workflows.FindWorkflow(name, s.Cwd)
	if err != nil {
		return nil
	}
	def, err := workflow.Parse(file, text)
	if err != nil {
		return nil
	}
	return def
}

// readDefinition returns the workflow that a task is pinned to, nil if it cannot be read.
func (s session) readDefinition(ctx context.Context, hash string) *workflow.Definition {
	pinned, err := s.ReadWorkflow(ctx, hash)
	if err != nil {
		return nil
	}
	def, err := workflow.Parse(pinned.File, pinned.Text)
	if err != nil {
		return nil
	}
	return def
}

// isDropped reports whether a terminal state is one that tasks only reach when they are cancelled.
func isDropped(def *workflow.Definition, state string) bool {
	if def == nil {
		return false
	}
	into := 0
	for i := range def.Edges {
		if e := &def.Edges[i]; e.To == state {
			if e.As != "cancel" {
				return false
			}
			into++
		}
	}
	return into > 0
}

// changedFiles summarizes a diff.
type changedFiles struct {
	Files   []changedFile `json:"files"`
	Added   int           `json:"added"`
	Deleted int           `json:"deleted"`
}

type changedFile struct {
	Path    string `json:"path"`
	Added   int    `json:"added"`
	Deleted int    `json:"deleted"`
	Binary  bool   `json:"binary,omitempty"`

	Uncommitted bool `json:"uncommitted,omitempty"`
}

func summarizeDiff(d wire.Diff) changedFiles {
	out := changedFiles{Files: []changedFile{}}
	for _, f := range d.Files {
		out.Files = append(out.Files, changedFile{f.Path, f.Added, f.Deleted, f.Binary, f.Uncommitted})
		out.Added, out.Deleted = out.Added+f.Added, out.Deleted+f.Deleted
	}
	return out
}

// maxFilesShown is how many files of a change orange run lists.
const maxFilesShown = 20

// printChanges prints what a branch changes, as git diff --stat does.
func printChanges(w io.Writer, c changedFiles) error {
	if len(c.Files) == 0 {
		_, err := fmt.Fprintln(w, "Nothing was changed.")
		return err
	}
	rows := [][]string{}
	for _, f := range c.Files[:min(maxFilesShown, len(c.Files))] {
		how := fmt.Sprintf("+%d -%d", f.Added, f.Deleted)
		if f.Binary {
			how = "binary"
		}
		if f.Uncommitted {
			how += " (not committed)"
		}
		rows = append(rows, []string{" " + cleanLine(f.Path), how})
	}
	if err := printTable(w, 0, rows); err != nil {
		return err
	}
	if n := len(c.Files) - maxFilesShown; n > 0 {
		fmt.Fprintf(w, " and %d more\n", n)
	}
	_, err := fmt.Fprintf(w, " %s changed, %s added, %d deleted\n", humanize.Plural(len(c.Files), "file"), humanize.Plural(c.Added, "line"), c.Deleted)
	return err
}
