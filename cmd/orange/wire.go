package main

import (
	"context"
	"errors"
	"fmt"
	"io"
	"os"
	"os/signal"
	"path/filepath"
	"strings"
	"syscall"

	"orange/internal/adapter/attend"
	"orange/internal/adapter/effectlog"
	"orange/internal/adapter/git"
	"orange/internal/adapter/workflowdir"
	"orange/internal/config"
	"orange/internal/core/workflow"
	"orange/internal/core/workflow/builtin"
	"orange/internal/ui/api"
	"orange/internal/ui/cli"
	"orange/internal/ui/client"
)

// version is what orange version prints. A release build sets it with -ldflags.
var version = "0.1.0-dev"

// recordEffect is the hidden command of the process that writes effects down.
const recordEffect = "record-effect"

// run is the program without its exit.
func run(args []string) int {
	if len(args) == 2 { // parts of the program that are processes of their own
		switch args[0] {
		case recordEffect:
			return record(args[1])
		case attendCommand:
			return attendTo(args[1])
		case recordOutput:
			return attend.RecordMain(args[1])
		case playCommand:
			return play(args[1])
		}
	}
	ctx, stop := signal.NotifyContext(context.Background(), os.Interrupt, syscall.SIGTERM)
	defer stop()
	cfg, err := config.Load(os.Getenv, os.UserHomeDir)
	cwd, _ := os.Getwd()
	return cli.Run(ctx, cli.Deps{
		Config: cfg, ConfigErr: err, Version: version, Cwd: cwd,
		Stdin: os.Stdin, Stdout: os.Stdout, Stderr: os.Stderr,
		IsTerminal: isTerminal(os.Stdin) && isTerminal(os.Stdout),
		Workflows:  workflows{workflowdir.New(cfg.UserWorkflows)}, Install: install,
		Notify: func(ctx context.Context, n config.Notify, kind string) error { return testNotify(ctx, cfg, n, kind) },
		Owner:  func() (client.Owner, bool) { return owner(cfg.Home) },
		Serve: func(ctx context.Context, o cli.ServeOptions) error {
			attend.ProtectServer()
			return serve(ctx, cfg, o)
		},
		Agents:    func(ctx context.Context) (cli.AgentsReport, error) { return checkAgents(ctx, cfg) },
		Restore:   func(ctx context.Context, o cli.RestoreOptions) (cli.Restored, error) { return restore(ctx, cfg, o) },
		OpenAPI:   func() (any, error) { return api.Describe(version) },
		Dashboard: dashboard(cfg), Repository: repository{git.New().With(gitEnv)},
		MCP: speakMCP(cfg, cwd),
	}, args)
}

func isTerminal(f *os.File) bool {
	info, err := f.Stat()
	if err != nil || info.Mode()&os.ModeCharDevice == 0 {
		return false
	}
	null, err := os.Stat(os.DevNull)
	return err != nil || !os.SameFile(info, null)
}

// record writes one effect down. It is a process of its own, so that killing the
// server at any moment leaves the line written whole or not at all.
func record(path string) int {
	line, err := io.ReadAll(io.LimitReader(os.Stdin, 1<<20))
	if err == nil {
		_, err = effectlog.Append(path, line)
	}
	if err != nil {
		fmt.Fprintln(os.Stderr, err)
		return 1
	}
	return 0
}

// workflows finds workflow files for the commands that need no server.
type workflows struct{ dir *workflowdir.Dir }

// Find implements cli.WorkflowSource.
func (w workflows) Find(name, cwd string) (file, text string, err error) {
	if strings.ContainsRune(name, '/') || filepath.Ext(name) != "" {
		return readWorkflow(name, cwd)
	}
	file, text, ok, err := w.dir.Find(name, gitRoot(cwd))
	if err != nil || ok {
		return file, text, err
	}
	if text, ok = builtin.Text(name); ok {
		return builtin.File(name), text, nil
	}
	return "", "", fmt.Errorf("workflow %q is not known: see orange workflow list, or give a file", name)
}

// readWorkflow reads a file given by its path.
func readWorkflow(path, cwd string) (file, text string, err error) {
	at := path
	if !filepath.IsAbs(at) {
		at = filepath.Join(cwd, path)
	}
	f, err := os.Open(at)
	if err != nil {
		return "", "", err
	}
	defer f.Close() //nolint:errcheck // read only
	b, err := io.ReadAll(io.LimitReader(f, workflow.MaxSize+1))
	if err != nil {
		return "", "", err
	}
	text, err = workflowdir.Expand(path, filepath.Dir(at), string(b))
	return path, text, err
}

// List implements cli.WorkflowSource.
func (w workflows) List(cwd string) ([]cli.WorkflowEntry, error) {
	root := gitRoot(cwd)
	var out []cli.WorkflowEntry
	seen := map[string]bool{}
	for _, f := range w.dir.List(root) {
		if seen[f.Name] {
			continue
		}
		seen[f.Name] = true
		_, text, _, err := w.dir.Find(f.Name, root)
		var wrong *workflow.Error
		switch {
		case errors.As(err, &wrong): // said of this one; the others are listed
		case err != nil:
			return nil, err
		case workflow.IsFragment(f.File, text):
			continue
		}
		out = append(out, cli.WorkflowEntry{Name: f.Name, Origin: f.Origin, File: f.File, Text: text})
	}
	for _, name := range builtin.Names() {
		if text, _ := builtin.Text(name); !seen[name] {
			out = append(out, cli.WorkflowEntry{Name: name, Origin: "built-in", File: builtin.File(name), Text: text})
		}
	}
	return out, nil
}

// Save implements cli.WorkflowSource.
func (w workflows) Save(list []cli.WorkflowEntry, cwd string, user, force bool) ([]string, error) {
	root := gitRoot(cwd)
	switch {
	case user:
		root = ""
	case root == "":
		return nil, errors.New("here is no repository: go to the project's, or write among your own workflows with --user")
	}
	files := make([]workflowdir.File, len(list))
	for i, e := range list {
		files[i] = workflowdir.File{Name: e.Name, Text: e.Text}
	}
	return w.dir.Save(files, root, force)
}

// gitRoot is the nearest folder above dir that holds a repository, "" if none does.
func gitRoot(dir string) string {
	for ; dir != ""; dir = filepath.Dir(dir) {
		if _, err := os.Lstat(filepath.Join(dir, ".git")); err == nil {
			return dir
		}
		if dir == filepath.Dir(dir) {
			break
		}
	}
	return ""
}
