package cli

import (
	"context"
	"errors"
	"fmt"
	"io"
	"os"
	"os/exec"

	"github.com/spf13/cobra"

	"orange/internal/doctor"
	"orange/internal/ui/client"
)

func newDoctorCommand(deps Deps) *cobra.Command {
	var repair, restore, agents bool
	var o RestoreOptions
	cmd := &cobra.Command{
		Use: "doctor", Short: "Check that everything Orange needs is there", Args: arguments(0, 0),
		Long: "Check programs, folders, the store and everything that tasks need. Each failure comes with what to\n" +
			"do about it; the exit code is 1 if there is one.\n\n" +
			"With --restore, which needs that no server runs, put a lost, damaged or old store right: take the\n" +
			"newest intact one of the store and its backups, import the tasks that it does not know, hold those\n" +
			"that it knows as they were earlier, and end agents that it does not know. Nothing is started and\n" +
			"nothing is deleted.\n\n" +
			"With --agents, start each installed agent once, without a prompt, in a folder and a terminal of its\n" +
			"own, and say whether it is logged in, where it stops, its version, and the identity that git\n" +
			"commits with. Nothing is typed into an agent, and everything that was started is ended.",
		Example: "  orange doctor\n" +
			"  orange doctor --repair\n" +
			"  orange doctor --agents\n" +
			"  orange stop; orange doctor --restore",
		RunE: func(cmd *cobra.Command, _ []string) error {
			if restore {
				return runRestore(cmd, deps, o)
			}
			if agents {
				return runAgents(cmd, deps)
			}
			checks := append(localChecks(cmd.Context(), deps), serverChecks(cmd.Context(), deps, repair)...)
			bad := 0
			for _, c := range checks {
				if !c.OK {
					bad++
				}
			}
			err := show(cmd, map[string]any{"checks": checks}, func(w io.Writer) error { return printChecks(w, checks) })
			if err != nil || bad == 0 {
				return err
			}
			return fail{code: exitFailed, told: true, err: fmt.Errorf("%d of %d checks fail", bad, len(checks))}
		},
	}
	cmd.AddCommand(newDoctorBoard(deps))
	cmd.Flags().BoolVar(&repair, "repair", false, "rebuild the records from their journals first")
	cmd.Flags().BoolVar(&restore, "restore", false, "put a lost, damaged or old store right from its backups and the task folders")
	cmd.Flags().BoolVar(&agents, "agents", false, "start each installed agent once and say whether it could work")
	cmd.Flags().IntVar(&o.CrashAt, "crash-at", 0, "die at the n-th step of a restore")
	cmd.Flags().StringVar(&o.CrashPoint, "crash-point", "", "count only steps whose name begins like this")
	_ = cmd.Flags().MarkHidden("crash-at")
	_ = cmd.Flags().MarkHidden("crash-point")
	cmd.MarkFlagsMutuallyExclusive("repair", "restore", "agents")
	return cmd
}

func printChecks(w io.Writer, checks []doctor.Result) error {
	rows := [][]string{}
	for _, c := range checks {
		mark := "ok"
		if !c.OK {
			mark = "FAIL"
		}
		rows = append(rows, []string{mark, cleanLine(c.Name), cleanLine(c.Detail)})
		if !c.OK && c.Fix != "" {
			rows = append(rows, []string{"", "", "fix: " + cleanLine(c.Fix)})
		}
	}
	return printTable(w, 0, rows)
}

// localChecks are about what the client itself needs.
func localChecks(ctx context.Context, deps Deps) []doctor.Result {
	home := doctor.Result{Name: "data folder", OK: true, Detail: deps.Config.Home}
	if err := client.Writable(deps.Config.Home); err != nil {
		home.OK, home.Detail, home.Fix = false, err.Error(), "make the folder yours, or set ORANGE_HOME"
	}
	checks := []doctor.Result{program(ctx, "git", "--version")}
	if deps.Config.Sessions != "headless" {
		checks = append(checks, program(ctx, "tmux", "-V"))
	}
	return append(checks, home)
}

func program(ctx context.Context, name, flag string) doctor.Result {
	version, err := output(ctx, "", name, flag)
	switch {
	case err == nil:
		return doctor.Result{Name: name, OK: true, Detail: version}
	case errors.Is(err, exec.ErrNotFound):
		return doctor.Result{Name: name, Detail: name + " is not in PATH", Fix: "install " + name}
	}
	return doctor.Result{Name: name, Detail: err.Error(), Fix: "see what " + name + " " + flag + " says"}
}

// checkSocket says where the server's socket is, and whether it is there.
func checkSocket(path string) doctor.Result {
	out := doctor.Result{Name: "socket", OK: true, Detail: path}
	if _, err := os.Lstat(path); err != nil {
		out.OK, out.Detail, out.Fix = false, path+" is missing", "see the server below"
	}
	return out
}

// serverChecks are about the server, and those it makes itself.
func serverChecks(ctx context.Context, deps Deps, repair bool) []doctor.Result {
	o := client.Options{Socket: deps.Config.Socket, Home: deps.Config.Home, Start: deps.Start, Owner: deps.Owner}
	c, err := client.Connect(ctx, o)
	socket := checkSocket(client.Socket(o))
	if err != nil {
		server := doctor.Result{Name: "server", Detail: err.Error(), Fix: "do what it says; orange log may say more"}
		if owner, ok := deps.owner(); ok {
			server.Detail = fmt.Sprintf("pid %d holds the data folder and does not answer", owner.PID)
			server.Fix = "run orange stop; the next command starts another server"
		}
		return []doctor.Result{socket, server}
	}
	defer c.Close()
	hello, err := c.Hello(ctx)
	server := doctor.Result{Name: "server", OK: err == nil, Detail: fmt.Sprintf("version %s, pid %d", hello.Version, hello.PID)}
	if err == nil && hello.Version != deps.Version {
		server.OK, server.Detail = false, fmt.Sprintf("version %s runs, and this is %s", hello.Version, deps.Version)
		server.Fix = "run orange stop; the next command starts the new one"
	}
	ask := c.Doctor
	if repair {
		ask = c.Repair
	}
	checks, err := ask(ctx)
	if err != nil {
		server.OK, server.Detail, server.Fix = false, err.Error(), "see orange log"
	}
	return append([]doctor.Result{socket, server}, checks...)
}
