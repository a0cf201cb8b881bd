// Package cli is the command line. It turns arguments into requests to the server and answers
// into text. Each file holds a command or a group of related commands. The package makes no
// decision about a task and touches none of its data.
package cli

import (
	"context"
	"fmt"
	"io"
	"slices"
	"strings"
	"time"

	"github.com/spf13/cobra"

	"orange/internal/config"
	"orange/internal/ui/client"
)

// Deps are the dependencies of the commands.
type Deps struct {
	Config     config.Config
	ConfigErr  error // why the configuration could not be read; commands that need it return this
	Stdin      io.Reader
	Stdout     io.Writer
	Stderr     io.Writer
	Cwd        string
	Environ    []string // the environment of this process
	IsTerminal bool     // Stdin and Stdout are a terminal
	Version    string
	Commit     string // the commit that the program was built from, "" if unknown
	Workflows  WorkflowSource

	Serve   func(context.Context, ServeOptions) error               // runs the server until ctx ends
	Restore func(context.Context, RestoreOptions) (Restored, error) // repairs a lost or damaged store

	Agents func(context.Context) (AgentsReport, error) // starts each installed agent once

	Start func() (client.Child, error)   // starts a server in the background; nil: runs this program as the server
	Owner func() (client.Owner, bool)    // the server that holds the data folder, reachable or not; nil: unknown
	Exec  func(argv, env []string) error // replaces this program with another on this terminal; nil: uses the exec system call
	Now   func() time.Time               // nil: time.Now

	Dashboard func(context.Context, DashboardOptions) error // shows the dashboard on this terminal
	MCP       func(context.Context, MCPOptions) error       // serves MCP until ctx ends

	Repository Repository // reads git repositories

	Formats  Formats  // of what this program stores
	Upgrader Upgrader // replaces this program

	OpenAPI func() (any, error) // returns the OpenAPI description of the HTTP API

	Notify func(ctx context.Context, n config.Notify, kind string) error // sends a test notification

	// Install installs the Orange skill in the skill folders of the named harnesses or, if
	// none is named, of all harnesses that it finds.
	Install func(ctx context.Context, harnesses []string, dry bool) ([]Installed, error)
}

// Installed is the result of installing the skill for one harness.
type Installed struct {
	Harness string `json:"harness"`
	Path    string `json:"path"`
	Status  string `json:"status"`
}

// ServeOptions are the options of a server.
type ServeOptions struct {
	Say func(line string) // prints a line for the user, such as the address of the web page; nil prints nothing

	Detached bool          // started by a client, without a terminal that anyone sees
	Idle     time.Duration // exit after being idle for this long, 0 for the default
	CrashAt  int           // crash at the n-th commit or effect boundary, to prove that nothing is lost

	Web      string // address of the web page, "" for none
	WebInput bool   // people may type into agents' terminals on the web page
	Dev      bool   // the web page has /style, for people who change it
	Metrics  string // address of the metrics for Prometheus, "" for none
	Hooks    string // address that receives webhooks of trackers, "" for none

	CrashPoint string // count only boundaries whose name has this prefix
}

// MCPOptions are the options of an MCP server.
type MCPOptions struct {
	Client *client.Client
	In     io.ReadCloser
	Out    io.WriteCloser
}

// ServerRunningError is the error that Serve returns if the data folder already has a server.
type ServerRunningError struct{ PID int }

func (e ServerRunningError) Error() string {
	return fmt.Sprintf("a server is running already (pid %d): end it with orange stop", e.PID)
}

// New returns the root command with all its subcommands.
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
		newRunCommand(deps), newInitCommand(deps), newTaskCommand(deps), newDashboardCommand(deps), newInboxCommand(deps), newStatsCommand(deps), newWebCommand(deps), newMCPCommand(deps), newNotifyCommand(deps), newStatusCommand(deps), newBoardCommand(deps), newTrackerCommand(deps), newDispatchCommand(deps), newHandoffCommand(deps), newALSCommand(deps), newProjectCommand(deps), newLandCommand(deps), newWorkspaceCommand(deps), newWorkflowCommand(deps), newDetectCommand(deps), newSchemaCommand(deps),
		newServeCommand(deps), newStopCommand(deps), newRestartCommand(deps), newUpgradeCommand(deps), newPauseCommand(deps), newResumeCommand(deps),
		newDoctorCommand(deps), newLogCommand(deps), newImportCommand(deps), newExportCommand(deps), newAuditCommand(deps),
		newInstallCommand(deps), newHookCommand(deps), newSelftestCommand(deps), newCompletionCommand(deps), newManCommand(deps), newConfigCommand(deps), newVersionCommand(deps))
	root.AddCommand(newAliases(deps)...)
	groupCommands(root)
	openDashboard(deps, root)
	addHelpCommand(root)
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
		if deps.ConfigErr != nil {
			return deps.ConfigErr
		}
		return checkSettings(deps, cmd)
	}
	return root
}

// needsKeys is the annotation of a command that fails if one of these keys of config.json is wrong.
// The keys are separated by spaces. Other commands run, and warn a person.
const needsKeys = "needs-keys"

// checkSettings returns what is wrong with the keys that a command needs, and warns of the rest.
func checkSettings(deps Deps, cmd *cobra.Command) error {
	needed := strings.Fields(cmd.Annotations[needsKeys])
	if deps.Config.Unsafe != nil && len(needed) > 0 {
		return deps.Config.Unsafe
	}
	for _, p := range deps.Config.Problems {
		if slices.Contains(needed, p.Key) || p.Unknown && len(needed) > 0 {
			return p.Err
		}
	}
	if deps.Config.Token != "" {
		return nil // an agent cannot change it
	}
	for _, p := range deps.Config.Problems {
		fmt.Fprintf(deps.Stderr, "orange: warning: %s: it is ignored until that is fixed\n", cleanLine(p.Err.Error())) //nolint:errcheck // there is nowhere to report it
	}
	if deps.Config.Unsafe != nil && len(deps.Config.Problems) == 0 {
		fmt.Fprintf(deps.Stderr, "orange: warning: %s: no server starts until that is fixed\n", cleanLine(deps.Config.Unsafe.Error())) //nolint:errcheck // there is nowhere to report it
	}
	return nil
}

// needsNothing is the annotation of a command that runs even if the configuration cannot be read.
const needsNothing = "needs-nothing"

// groupCommand returns a command that only groups other commands.
func groupCommand(use, short string, members ...*cobra.Command) *cobra.Command {
	cmd := &cobra.Command{
		Use: use, Short: short, Annotations: map[string]string{needsNothing: "yes"},
		Args: cobra.ArbitraryArgs,
		RunE: func(cmd *cobra.Command, args []string) error {
			if len(args) == 0 {
				return cmd.Help()
			}
			if args[0] == "help" {
				return showHelp(cmd, args[1:])
			}
			return unknownCommand(cmd, args[0])
		},
	}
	cmd.AddCommand(members...)
	return cmd
}

// addHelpCommand adds the command help, which is Cobra's except that it names a word that is no command.
func addHelpCommand(root *cobra.Command) {
	root.InitDefaultHelpCmd()
	help, _, err := root.Find([]string{"help"})
	if err != nil {
		panic(err) // it was just added
	}
	help.Run, help.RunE = nil, func(_ *cobra.Command, args []string) error { return showHelp(root, args) }
	help.Annotations = map[string]string{needsNothing: "yes"}
}

// showHelp prints the help of the command that words lead to from parent. What follows a command without subcommands is
// taken for its arguments.
func showHelp(parent *cobra.Command, words []string) error {
	cmd, rest, err := parent.Find(words)
	if err != nil {
		return err
	}
	if len(rest) > 0 && cmd.HasSubCommands() {
		return unknownCommand(cmd, rest[0])
	}
	cmd.InitDefaultHelpFlag()
	cmd.InitDefaultVersionFlag()
	return cmd.Help()
}

// requireArguments requires between least and most arguments; a negative most means any number.
func requireArguments(least, most int) cobra.PositionalArgs {
	return func(cmd *cobra.Command, args []string) error {
		if len(args) < least || most >= 0 && len(args) > most {
			return usageError("%d arguments do not fit: use %s", len(args), cmd.UseLine())
		}
		return nil
	}
}
