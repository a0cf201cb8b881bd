// Command orange runs coding agents through a workflow that is a file.
package main

import (
	"context"
	"os"
	"os/signal"
	"runtime/debug"
	"syscall"

	"orange/internal/config"
	"orange/internal/server"
	"orange/internal/ui/cli"
)

// The program's version and the commit it was built from. Make sets both with -ldflags -X (see
// scripts/version.sh); a plain go build leaves what it knows in the build information.
var (
	version = "0.1.0-dev"
	commit  = ""
)

func main() {
	os.Exit(run(os.Args[1:]))
}

// run is the program without its exit.
func run(args []string) int {
	if len(args) == 2 {
		if code, ok := server.RunHelper(args[0], args[1]); ok {
			return code
		}
	}
	version, commit := programVersion()
	ctx, stop := signal.NotifyContext(context.Background(), os.Interrupt, syscall.SIGTERM)
	defer stop()
	cfg, err := config.Load(os.Getenv, os.UserHomeDir)
	cwd, _ := os.Getwd()
	return cli.Run(ctx, cli.Deps{
		Environ: config.Environ(),
		Config:  cfg, ConfigErr: err, Version: version, Commit: commit, Cwd: cwd,
		Stdin: os.Stdin, Stdout: os.Stdout, Stderr: os.Stderr,
		IsTerminal: isTerminal(os.Stdin) && isTerminal(os.Stdout),
		Serve:      func(ctx context.Context, o cli.ServeOptions) error { return server.Serve(ctx, cfg, version, o) },
		Restore: func(ctx context.Context, o cli.RestoreOptions) (cli.Restored, error) {
			return server.RestoreStore(ctx, cfg, o)
		},
		Agents: func(ctx context.Context) (cli.AgentsReport, error) { return server.CheckAgents(ctx, cfg) },
		Notify: func(ctx context.Context, n config.Notify, kind string) error {
			return server.SendTestNotification(ctx, cfg, n, kind)
		},
		Formats:    server.Formats(),
		Upgrader:   server.NewUpgrader(cfg),
		OpenAPI:    func() (any, error) { return server.DescribeAPI(version) },
		Workflows:  server.NewWorkflowSource(cfg),
		Repository: server.NewRepository(),
		Owner:      server.OwnerFinder(cfg),
		Dashboard:  server.DashboardRunner(cfg),
		MCP:        server.MCPRunner(cfg, version, cwd),
		Install:    server.InstallSkill,
	}, args)
}

// programVersion returns the version and the commit. Without -ldflags it takes the commit from the
// build information and adds it to the version, so that two builds can be distinguished.
func programVersion() (string, string) {
	info, ok := debug.ReadBuildInfo()
	if commit != "" || !ok {
		return version, commit
	}
	setting := map[string]string{}
	for _, s := range info.Settings {
		setting[s.Key] = s.Value
	}
	revision := setting["vcs.revision"]
	if len(revision) < 12 {
		return version, ""
	}
	v := version + "+" + revision[:12]
	if setting["vcs.modified"] == "true" {
		v += ".dirty"
	}
	return v, revision
}

func isTerminal(f *os.File) bool {
	info, err := f.Stat()
	if err != nil || info.Mode()&os.ModeCharDevice == 0 {
		return false
	}
	null, err := os.Stat(os.DevNull)
	return err != nil || !os.SameFile(info, null)
}
