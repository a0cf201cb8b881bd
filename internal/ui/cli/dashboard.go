package cli

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"strings"

	"github.com/spf13/cobra"

	"orange/internal/config"
	"orange/internal/core/workflow/builtin"
	"orange/internal/ui/client"
)

// DashboardOptions are the options of the dashboard.
type DashboardOptions struct {
	Client  *client.Client
	Project string // "" for all projects
	Hint    string // shown when the dashboard opens
	Once    bool   // exit when attaching to a terminal instead of returning to the dashboard
	Create  bool   // open the form for a new task first
	Environ []string

	Harness func(string) (string, error)   // resolves the harness that a person typed
	Exec    func(argv, env []string) error // replaces this program with another on this terminal

	// Register makes the repository of this folder a project and returns its name; nil if it is one, or none.
	Register func(context.Context) (string, error)
}

// dashboardFlags are the flags of the dashboard command, which plain orange also accepts.
type dashboardFlags struct {
	project string
	all     bool
	once    bool
	create  bool // open the form for a new task first
}

func (f *dashboardFlags) declareFlags(deps Deps, cmd *cobra.Command) {
	cmd.Flags().StringVar(&f.project, "project", "", "show this project (default: that of this folder)")
	cmd.Flags().BoolVar(&f.all, "all", false, "show all projects")
	cmd.Flags().BoolVar(&f.once, "exit-on-attach", false, "leave for an agent's terminal, and do not come back")
	_ = cmd.RegisterFlagCompletionFunc("project", completeProjects(deps))
}

func newDashboardCommand(deps Deps) *cobra.Command {
	var f dashboardFlags
	cmd := &cobra.Command{
		Use: "dashboard", Short: "Show all tasks in this terminal, live", Args: requireArguments(0, 0),
		Long: "Show all tasks on this terminal, and keep them up to date: who must act, the state of the agents, what was\n" +
			"done and what it cost; and of the selected one its timeline, TASK.md, why it is where it is, its\n" +
			"agent's terminal, its way through the workflow and what it changed. The key ? lists the keys. In a\n" +
			"project's repository it begins with that project. Plain orange does the same.",
		Example: "  orange\n  orange dashboard --project shop\n  orange --all",
	}
	f.declareFlags(deps, cmd)
	cmd.RunE = func(cmd *cobra.Command, args []string) error { return showDashboard(deps, f, cmd) }
	return cmd
}

// showDashboard shows the dashboard, or returns an error that explains why it cannot.
func showDashboard(deps Deps, f dashboardFlags, cmd *cobra.Command) error {
	switch {
	case !deps.IsTerminal || deps.Dashboard == nil:
		return errors.New("the dashboard needs a terminal: use orange task list")
	case slices.Contains(config.Environ(), "TERM=dumb"):
		return errors.New("the dashboard needs more than a dumb terminal: use orange task list")
	case f.all && f.project != "":
		return usageError("give --all or --project, not both")
	}
	if err := deps.personOnly(); err != nil {
		return err
	}
	return withServer(deps, func(ctx context.Context, s session, _ []string) error {
		o := DashboardOptions{Client: s.Client, Project: f.project, Once: f.once, Create: f.create, Environ: config.Environ(), Harness: s.resolveHarness, Exec: s.Exec}
		var err error
		if f.create { // ensureProject registers the repository as a project if necessary
			o.Project, err = s.ensureProject(ctx, builtin.Default)
		} else {
			err = s.chooseScope(ctx, f, &o)
		}
		if err != nil {
			return err
		}
		return s.Dashboard(ctx, o)
	})(cmd, nil)
}

// chooseScope sets the project to show: the one given by --project, or else the project of
// the current folder. It does not register a repository that is not a project, because
// viewing must not change anything.
func (s session) chooseScope(ctx context.Context, f dashboardFlags, o *DashboardOptions) error {
	if f.project != "" {
		list, err := s.ListProjects(ctx)
		if err != nil {
			return err
		}
		for _, p := range list {
			if p.Name == f.project {
				return nil
			}
		}
		return fmt.Errorf("project %q is not registered: see orange project list", f.project)
	}
	at, err := s.FindPlace(ctx, s.Cwd)
	switch {
	case err != nil:
		return err
	case f.all:
	case at.Project != "":
		o.Project = at.Project
	case at.GitRoot != "":
		o.Hint = cleanLine(strings.TrimSpace(at.GitRoot) + " is not registered: c adds it with a task, orange project add without one")
		o.Register = func(ctx context.Context) (string, error) {
			at, err := s.FindPlace(ctx, s.Cwd)
			if err != nil || at.Project != "" {
				return at.Project, err
			}
			p, err := s.registerRepository(ctx, at.GitRoot)
			return p.Name, err
		}
	}
	return nil
}

// openDashboard makes plain orange show the dashboard if a person uses a terminal. Otherwise
// plain orange prints the help.
func openDashboard(deps Deps, root *cobra.Command) {
	var f dashboardFlags
	f.declareFlags(deps, root)
	help := root.RunE
	root.RunE = func(cmd *cobra.Command, args []string) error {
		if len(args) > 0 {
			return help(cmd, args)
		}
		if deps.ConfigErr != nil {
			return deps.ConfigErr
		}
		if !deps.IsTerminal && onlyJSON(cmd) {
			return newTaskList(deps).RunE(cmd, args)
		}
		return showDashboard(deps, f, cmd)
	}
}
