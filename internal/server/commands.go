package server

import (
	"context"
	"os"

	"orange/internal/adapter/git"
	"orange/internal/adapter/workflowdir"
	"orange/internal/config"
	"orange/internal/core/journal"
	"orange/internal/core/signal"
	"orange/internal/server/anchors"
	"orange/internal/server/gittrust"
	"orange/internal/server/health"
	"orange/internal/server/library"
	"orange/internal/server/notifications"
	"orange/internal/server/reach"
	"orange/internal/ui/cli"
	"orange/internal/ui/client"
	"orange/internal/ui/mcp"
	"orange/internal/ui/tui"
)

// NewRepository returns the reader of git repositories for orange audit.
func NewRepository() cli.Repository { return repository{git.New().WithEnviron(gittrust.GitEnv)} }

type repository struct{ *git.Git }

// ReadAnchors implements cli.Repository.
func (r repository) ReadAnchors(ctx context.Context, root, store string) ([]journal.Anchor, error) {
	return anchors.Read(ctx, r.Git, root, store)
}

// SendTestNotification sends a test notification from this process.
func SendTestNotification(ctx context.Context, cfg config.Config, n config.Notify, kind string) error {
	return notifications.SendTest(ctx, cfg, n, kind)
}

// CheckAgents reports which agents can work here.
func CheckAgents(ctx context.Context, cfg config.Config) (cli.AgentsReport, error) {
	return health.CheckAgents(ctx, cfg)
}

// NewWorkflowSource returns the source of workflow files for commands that need no server.
func NewWorkflowSource(cfg config.Config) cli.WorkflowSource { return workflowFiles(cfg) }

func workflowFiles(cfg config.Config) library.FileSource {
	return library.FileSource{Dir: workflowdir.New(cfg.UserWorkflows)}
}

// MCPRunner returns the function that serves MCP for orange mcp, on its input and output.
func MCPRunner(cfg config.Config, version, cwd string) func(context.Context, cli.MCPOptions) error {
	return func(ctx context.Context, o cli.MCPOptions) error {
		c := mcp.Caller{API: o.Client, Task: cfg.Task, Role: cfg.Role, Attempt: cfg.Attempt, Folder: cwd}
		ctx = client.WithVia(ctx, signal.Via{Kind: signal.ViaMCP})
		return mcp.Serve(ctx, mcp.ToolOptions{Version: version, Workflow: workflowFiles(cfg).FindWorkflow}, c, o.In, o.Out)
	}
}

// DashboardRunner returns the function that shows the dashboard on this terminal.
func DashboardRunner(cfg config.Config) func(context.Context, cli.DashboardOptions) error {
	return func(ctx context.Context, o cli.DashboardOptions) error {
		then, err := tui.Run(ctx, tui.DashboardOptions{
			API: o.Client, In: os.Stdin, Out: os.Stdout, Environ: o.Environ,
			Project: o.Project, Hint: o.Hint, Once: o.Once, Create: o.Create, NoColor: cfg.NoColor, Theme: cfg.Theme, Bell: wantsBell(cfg.Notify), Harness: o.Harness, Register: o.Register,
		})
		if err != nil || len(then) == 0 {
			return err
		}
		return o.Exec(then, tui.OutsideTmux(o.Environ))
	}
}

// wantsBell reports whether the terminal's bell is configured.
func wantsBell(list []config.Notify) bool {
	for _, n := range list {
		if n.Kind == "bell" {
			return true
		}
	}
	return false
}

// OwnerFinder returns a function that finds the server that holds the data folder, even if it does not respond.
func OwnerFinder(cfg config.Config) func() (client.Owner, bool) {
	return func() (client.Owner, bool) { return reach.FindOwner(cfg.Home) }
}
