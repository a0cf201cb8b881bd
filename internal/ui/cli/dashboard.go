package cli

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"strings"

	"github.com/spf13/cobra"

	"orange/internal/config"
	"orange/internal/ui/client"
)

// DashboardOptions say what the dashboard shows.
type DashboardOptions struct {
	Client  *client.Client
	Project string // "" for all
	Hint    string // said at the beginning
	Once    bool   // leave for a terminal that is attached to, and do not come back
	Create  bool   // begin with the form for a new task
	Environ []string

	Harness func(string) (string, error)   // settles what a person wrote as a harness
	Exec    func(argv, env []string) error // becomes another program on this terminal
}

// dashboardFlags are the flags of the dashboard, which plain orange has as well.
type dashboardFlags struct {
	project string
	all     bool
	once    bool
	create  bool // it begins with the form for a new task
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
		Use: "dashboard", Short: "Show all tasks on this terminal, live", Args: requireArguments(0, 0),
		Long: "Show all tasks on this terminal, and keep them up to date: who must act, how the agents are, what was\n" +
			"done and what it cost; and of the selected one its timeline, TASK.md, why it is where it is, its\n" +
			"agent's terminal, its way through the workflow and what it changed. The key ? lists the keys. In a\n" +
			"project's repository it begins with that project. Plain orange does the same.",
		Example: "  orange\n  orange dashboard --project shop\n  orange --all",
	}
	f.declareFlags(deps, cmd)
	cmd.RunE = func(cmd *cobra.Command, args []string) error { return showDashboard(deps, f, cmd) }
	return cmd
}

// showDashboard shows the dashboard, or says in a line why it cannot.
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
		if f.create { // a repository that is no project yet becomes one
			o.Project, err = s.ensureProject(ctx)
		} else {
			err = s.chooseScope(ctx, f, &o)
		}
		if err != nil {
			return err
		}
		return s.Dashboard(ctx, o)
	})(cmd, nil)
}

// chooseScope finds the project that is shown: the one that was named, else that of this
// folder. A repository that is none is not made one: who only looks changes nothing.
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
		o.Hint = cleanLine(strings.TrimSpace(at.GitRoot) + " is not registered: orange project add")
	}
	return nil
}

// openDashboard makes plain orange show the dashboard where a person sits at a terminal.
// Elsewhere it prints the help.
func openDashboard(deps Deps, root *cobra.Command) {
	var f dashboardFlags
	f.declareFlags(deps, root)
	help := root.RunE
	root.RunE = func(cmd *cobra.Command, args []string) error {
		if len(args) > 0 || !deps.IsTerminal && cmd.Flags().NFlag() == 0 {
			return help(cmd, args)
		}
		if deps.ConfigErr != nil {
			return deps.ConfigErr
		}
		return showDashboard(deps, f, cmd)
	}
}
