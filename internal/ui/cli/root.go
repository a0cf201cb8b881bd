// Package cli is the command line: it turns arguments into requests to the server
// and answers into text. Each command has a file of its own. It decides nothing
// about a task and touches none of its data.
package cli

import (
	"context"
	"fmt"
	"io"
	"time"

	"github.com/spf13/cobra"

	"orange/internal/config"
	"orange/internal/ui/client"
)

// Deps is what the commands need from the outside.
type Deps struct {
	Config     config.Config
	ConfigErr  error // why the configuration could not be read; commands that need it say so
	Stdin      io.Reader
	Stdout     io.Writer
	Stderr     io.Writer
	Cwd        string
	IsTerminal bool // a person sits at Stdin and Stdout
	Version    string
	Commit     string // that the program was built from, "" if unknown
	Workflows  WorkflowSource

	Serve   func(context.Context, ServeOptions) error               // runs the server until ctx ends
	Restore func(context.Context, RestoreOptions) (Restored, error) // puts a lost or damaged store right

	Agents func(context.Context) (AgentsReport, error) // starts each installed agent once

	Start func() (client.Child, error)   // starts one in the background; nil: run this program again
	Owner func() (client.Owner, bool)    // the server that holds the data folder, reachable or not; nil: unknown
	Exec  func(argv, env []string) error // becomes another program on this terminal; nil: the system's way
	Now   func() time.Time               // nil: the clock

	Dashboard func(context.Context, DashboardOptions) error // shows the dashboard on this terminal
	MCP       func(context.Context, MCPOptions) error       // speaks MCP until ctx ends

	Repository Repository // looks into git repositories

	OpenAPI func() (any, error) // describes the HTTP API

	Notify func(ctx context.Context, n config.Notify, kind string) error // tells somebody a test

	// Install puts the Orange skill where harnesses look for skills, for those named or,
	// if none is, for all that are found.
	Install func(ctx context.Context, harnesses []string, dry bool) ([]Installed, error)
}

// Installed is the skill of one harness.
type Installed struct {
	Harness string `json:"harness"`
	Path    string `json:"path"`
	Status  string `json:"status"`
}

// ServeOptions say how a server is to run.
type ServeOptions struct {
	Say func(line string) // tells whoever looks on where the page is; nil: nobody does

	Detached bool          // started by a client: nobody sees its terminal
	Idle     time.Duration // leave after so much idleness, 0 for the default
	CrashAt  int           // die at the n-th commit or effect boundary, to prove that nothing is lost

	Web      string // address of the web page, "" for nowhere
	WebInput bool   // people may type into agents' terminals there
	Hooks    string // address at which news of trackers are heard, "" for nowhere

	CrashPoint string // count only boundaries whose name begins like this
}

// MCPOptions say how MCP is spoken.
type MCPOptions struct {
	Client *client.Client
	In     io.ReadCloser
	Out    io.WriteCloser
}

// ServerRunningError is what Serve returns when the data folder has a server already.
type ServerRunningError struct{ PID int }

func (e ServerRunningError) Error() string {
	return fmt.Sprintf("a server is running already (pid %d): end it with orange stop", e.PID)
}

// New builds the tree of commands.
func New(deps Deps) *cobra.Command {
	if deps.Now == nil {
		deps.Now = time.Now
	}
	if deps.Start == nil {
		deps.Start = startSelf(deps.Config)
	}
	if deps.Exec == nil {
		deps.Exec = execProgram
	}
	root := groupCommand("orange", "Run coding agents through a workflow that is a file",
		newTaskCommand(deps), newDashboardCommand(deps), newInboxCommand(deps), newWebCommand(deps), newMCPCommand(deps), newNotifyCommand(deps), newStatusCommand(deps), newBoardCommand(deps), newTrackerCommand(deps), newDispatchCommand(deps), newHandoffCommand(deps), newALSCommand(deps), newProjectCommand(deps), newWorkspaceCommand(deps), newWorkflowCommand(deps), newDetectCommand(deps), newSchemaCommand(deps),
		newServeCommand(deps), newStopCommand(deps), newPauseCommand(deps), newResumeCommand(deps),
		newDoctorCommand(deps), newLogCommand(deps), newImportCommand(deps), newExportCommand(deps), newAuditCommand(deps),
		newInstallCommand(deps), newHookCommand(deps), newSelftestCommand(deps), newCompletionCommand(deps), newManCommand(deps), newVersionCommand(deps))
	openDashboard(deps, root)
	addCompletions(deps, root)
	root.SilenceErrors, root.SilenceUsage = true, true
	root.CompletionOptions.DisableDefaultCmd = true
	root.Version = deps.Version
	root.SetVersionTemplate(describeVersion(deps) + "\n")
	root.PersistentFlags().Bool("json", false, "print JSON")
	root.SetFlagErrorFunc(func(cmd *cobra.Command, err error) error { return asUsageError(cmd, err) })
	root.SetIn(deps.Stdin)
	root.SetOut(deps.Stdout)
	root.SetErr(deps.Stderr)
	root.PersistentPreRunE = func(cmd *cobra.Command, _ []string) error {
		if cmd.Annotations[needsNothing] != "" {
			return nil
		}
		return deps.ConfigErr
	}
	return root
}

// needsNothing marks a command that runs whatever the configuration says.
const needsNothing = "needs-nothing"

// groupCommand is a command that only holds others.
func groupCommand(use, short string, members ...*cobra.Command) *cobra.Command {
	cmd := &cobra.Command{
		Use: use, Short: short, Annotations: map[string]string{needsNothing: "yes"},
		Args: cobra.ArbitraryArgs,
		RunE: func(cmd *cobra.Command, args []string) error {
			if len(args) > 0 {
				return usageError("command %q is not known: see %s --help", args[0], cmd.CommandPath())
			}
			return cmd.Help()
		},
	}
	cmd.AddCommand(members...)
	return cmd
}

// requireArguments demands between least and most arguments; most below 0 is any number.
func requireArguments(least, most int) cobra.PositionalArgs {
	return func(cmd *cobra.Command, args []string) error {
		if len(args) < least || most >= 0 && len(args) > most {
			return usageError("%d arguments do not fit: use %s", len(args), cmd.UseLine())
		}
		return nil
	}
}
