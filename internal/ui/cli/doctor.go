package cli

import (
	"context"
	"errors"
	"fmt"
	"io"
	"os"
	"os/exec"
	"strings"
	"time"

	"github.com/spf13/cobra"

	"orange/internal/core/board"
	"orange/internal/core/boardcheck"
	"orange/internal/core/task"
	"orange/internal/doctor"
	"orange/internal/ui/client"
	"orange/internal/view/humanize"
	"orange/internal/wire"
)

func newDoctorCommand(deps Deps) *cobra.Command {
	var repair, restore, agents bool
	var o RestoreOptions
	cmd := &cobra.Command{
		Use: "doctor", Short: "Check the installation", Args: requireArguments(0, 0),
		Long: "Check programs, folders, the store and everything that tasks need. Each failure comes with what to\n" +
			"do about it; the exit code is 1 if there is one.\n\n" +
			"With --restore, which requires that no server runs, repair a lost, damaged or old store: use the\n" +
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
			err := showResult(cmd, map[string]any{"checks": checks}, func(w io.Writer) error { return printChecks(w, checks) })
			if err != nil || bad == 0 {
				return err
			}
			return exitError{code: exitFailed, shown: true, err: fmt.Errorf("%d of %d checks fail", bad, len(checks))}
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

// localChecks checks what the client itself needs.
func localChecks(ctx context.Context, deps Deps) []doctor.Result {
	home := doctor.Result{Name: "data folder", OK: true, Detail: deps.Config.Home}
	if err := client.EnsureWritable(deps.Config.Home); err != nil {
		home.OK, home.Detail, home.Fix = false, err.Error(), "make the folder yours, or set ORANGE_HOME"
	}
	checks := []doctor.Result{checkProgram(ctx, "git", "--version")}
	if deps.Config.Sessions != "headless" {
		checks = append(checks, checkProgram(ctx, "tmux", "-V"))
	}
	return append(checks, home, checkConfig(deps))
}

// checkConfig checks that all of config.json can be used.
func checkConfig(deps Deps) doctor.Result {
	out := doctor.Result{Name: "configuration", OK: true, Detail: deps.Config.File()}
	if _, err := os.Stat(out.Detail); err != nil {
		out.Detail += " does not exist, and need not"
	}
	var wrong []error
	for _, p := range deps.Config.Problems {
		wrong = append(wrong, p.Err)
	}
	if deps.Config.Unsafe != nil && len(wrong) == 0 {
		wrong = append(wrong, deps.Config.Unsafe)
	}
	if err := errors.Join(wrong...); err != nil {
		out.OK, out.Detail, out.Fix = false, strings.ReplaceAll(err.Error(), "\n", "; "), "edit the file; the server reloads it"
	}
	return out
}

func checkProgram(ctx context.Context, name, flag string) doctor.Result {
	version, err := programOutput(ctx, "", name, flag)
	switch {
	case err == nil:
		return doctor.Result{Name: name, OK: true, Detail: version}
	case errors.Is(err, exec.ErrNotFound):
		return doctor.Result{Name: name, Detail: name + " is not in PATH", Fix: "install " + name}
	}
	return doctor.Result{Name: name, Detail: err.Error(), Fix: "see what " + name + " " + flag + " says"}
}

// checkSocket checks that the server's socket exists.
func checkSocket(path string) doctor.Result {
	out := doctor.Result{Name: "socket", OK: true, Detail: path}
	if _, err := os.Lstat(path); err != nil {
		out.OK, out.Detail, out.Fix = false, path+" is missing", "see the server below"
	}
	return out
}

// serverChecks checks the server, and adds the checks that the server makes itself.
func serverChecks(ctx context.Context, deps Deps, repair bool) []doctor.Result {
	o := client.DialOptions{Socket: deps.Config.Socket, Home: deps.Config.Home, Start: deps.Start, Owner: deps.Owner}
	c, err := client.Connect(ctx, o)
	socket := checkSocket(client.FindSocket(o))
	if err != nil {
		server := doctor.Result{Name: "server", Detail: err.Error(), Fix: "do what it says; orange log may say more"}
		if owner, ok := deps.findOwner(); ok {
			server.Detail = fmt.Sprintf("pid %d holds the data folder and does not answer", owner.PID)
			server.Fix = "run orange restart"
		}
		return []doctor.Result{socket, server}
	}
	defer c.Close()
	hello, err := c.Hello(ctx)
	server := doctor.Result{Name: "server", OK: err == nil, Detail: fmt.Sprintf("version %s, pid %d", hello.Version, hello.PID)}
	if err == nil && hello.Version != deps.Version {
		server.OK, server.Detail = false, fmt.Sprintf("version %s, pid %d; this command is %s", hello.Version, hello.PID, deps.Version)
		server.Fix = "run orange restart, and the server is of this version; agents keep running"
	}
	ask := c.RunChecks
	if repair {
		ask = c.RepairRecords
	}
	checks, err := ask(ctx)
	if err != nil {
		server.OK, server.Detail, server.Fix = false, err.Error(), "see orange log"
	}
	return append([]doctor.Result{socket, server}, checks...)
}

// An AgentCheck is the result of starting a coding agent once.
type AgentCheck struct {
	Name    string `json:"name"`
	OK      bool   `json:"ok"`             // the agent is ready to work
	Path    string `json:"path,omitempty"` // "" if it is not installed
	Version string `json:"version,omitempty"`
	Tried   string `json:"tried"`           // the version that Orange was tested with
	State   string `json:"state"`           // missing, ready, login, dialog, ended or unclear
	Shows   string `json:"shows,omitempty"` // the last lines of its terminal if it is not ready; untrusted
	Fix     string `json:"fix,omitempty"`
}

// An AgentsReport is the result of checking all agents and the git identity that they commit with.
type AgentsReport struct {
	Agents   []AgentCheck `json:"agents"`
	Identity string       `json:"git_identity,omitempty"` // name and address; "" if git has none
}

// runAgents starts each installed agent once and prints the results.
func runAgents(cmd *cobra.Command, deps Deps) error {
	if deps.Agents == nil {
		return errors.New("this program cannot start agents")
	}
	r, err := deps.Agents(cmd.Context())
	if err != nil {
		return err
	}
	installed, bad := 0, 0
	for _, a := range r.Agents {
		if a.Path == "" {
			continue
		}
		if installed++; !a.OK {
			bad++
		}
	}
	if err := showResult(cmd, r, func(w io.Writer) error { return printAgents(w, r) }); err != nil {
		return err
	}
	switch {
	case installed == 0:
		return exitError{code: exitFailed, shown: true, err: errors.New("no coding agent is installed")}
	case bad > 0:
		return exitError{code: exitFailed, shown: true, err: fmt.Errorf("%d of %s cannot work", bad, humanize.Plural(installed, "agent"))}
	case r.Identity == "":
		return exitError{code: exitFailed, shown: true, err: errors.New("git has no identity")}
	}
	return nil
}

func printAgents(w io.Writer, r AgentsReport) error {
	rows := [][]string{{"", "AGENT", "STATE", "VERSION", "PROGRAM"}}
	for _, a := range r.Agents {
		mark := "ok"
		switch {
		case a.Path == "":
			mark = "-"
		case !a.OK:
			mark = "FAIL"
		}
		version := cleanLine(a.Version)
		if a.Path != "" && a.Version != a.Tried {
			version += " (tried: " + a.Tried + ")"
		}
		rows = append(rows, []string{mark, a.Name, a.State, version, cleanLine(a.Path)})
	}
	identity := []string{"ok", "git", "identity", "", cleanLine(r.Identity)}
	if r.Identity == "" {
		identity = []string{"FAIL", "git", "no identity", "", ""}
	}
	if err := printTable(w, 0, append(rows, identity)); err != nil {
		return err
	}
	for _, a := range r.Agents {
		switch {
		case a.Shows != "":
			fmt.Fprintf(w, "\n%s shows: %s\n", a.Name, cleanLine(a.Shows)) //nolint:errcheck // the table already reports the result
		case a.Fix != "":
			fmt.Fprintf(w, "\n%s shows nothing\n", a.Name) //nolint:errcheck // the table already reports the result
		}
		if a.Fix != "" {
			fmt.Fprintf(w, "fix: %s\n", cleanLine(a.Fix)) //nolint:errcheck // the table already reports the result
		}
	}
	if r.Identity == "" {
		fmt.Fprintln(w, "\nfix: git config --global user.name NAME; git config --global user.email ADDRESS") //nolint:errcheck // the table already reports the result
	}
	return nil
}

func newDoctorBoard(deps Deps) *cobra.Command {
	var x wire.BoardCheckRequest
	var dry bool
	cmd := &cobra.Command{
		Use: "board [card]", Short: "Find cards of a board that nobody will pick up, and fix them", Args: requireArguments(0, 1),
		Example: "  orange doctor board\n" +
			"  orange doctor board 3 --fix\n" +
			"  orange doctor board --tracker joan",
		Long: `Find cards that nobody will ever pick up, or whose tags contradict each other.

Without --fix it only reports what it finds and what it would do. It checks the local board
of a project, or with --tracker at that of a tracker as it was last read.`,
	}
	f := cmd.Flags()
	f.StringVar(&x.Project, "project", "", "project whose board it is (default: that of this folder)")
	f.StringVar(&x.Tracker, "tracker", "", "tracker whose board it is")
	f.BoolVar(&x.Fix, "fix", false, "fix what can be fixed")
	f.BoolVar(&dry, "dry-run", false, "only report problems (the default)")
	cmd.RunE = withServer(deps, func(ctx context.Context, s session, args []string) error {
		switch {
		case dry && x.Fix:
			return usageError("--dry-run and --fix do not go together: choose one")
		case x.Project != "" && x.Tracker != "":
			return usageError("--project and --tracker do not go together: choose one")
		}
		if len(args) > 0 {
			x.Key = args[0]
		}
		var err error
		if x.Project == "" && x.Tracker == "" {
			if x.Project, err = s.projectHere(ctx); err != nil {
				return err
			}
		}
		found, err := s.CheckBoard(ctx, x)
		if err != nil {
			return err
		}
		if err := s.showResult(map[string]any{"findings": found}, func(w io.Writer) error { return printAnomalies(w, found) }); err != nil {
			return err
		}
		return requireNoneLeft(found)
	})
	return cmd
}

// requireNoneLeft returns an error if a finding other than a warning is not fixed.
func requireNoneLeft(found []boardcheck.Finding) error {
	n := 0
	for _, f := range found {
		if !f.Fixed && f.Severity != boardcheck.Warning {
			n++
		}
	}
	if n == 0 {
		return nil
	}
	return exitError{code: exitFailed, shown: true, err: fmt.Errorf("%s wrong", humanize.Plural(n, "thing"))}
}

func printAnomalies(w io.Writer, found []boardcheck.Finding) error {
	if len(found) == 0 {
		_, err := fmt.Fprintln(w, "Nothing is wrong with the board.")
		return err
	}
	rows := [][]string{}
	for _, f := range found {
		mark := f.Severity
		if f.Fixed {
			mark = "fixed"
		}
		rows = append(rows, []string{mark, cleanLine(f.Card), string(f.Type), cleanLine(f.Text)})
		switch {
		case f.Problem != "":
			rows = append(rows, []string{"", "", "", "could not be fixed: " + cleanLine(f.Problem)})
		case f.Fix == nil:
			rows = append(rows, []string{"", "", "", "a person must decide"})
		case !f.Fixed:
			rows = append(rows, []string{"", "", "", "fix: " + cleanLine(changeText(f.Fix))})
		}
	}
	return printTable(w, 0, rows)
}

// changeText describes what a change does to a card.
func changeText(c *board.Change) string {
	var out []string
	if c.Column != "" {
		out = append(out, "move to "+c.Column)
	}
	if len(c.AddTags) > 0 {
		out = append(out, "add "+strings.Join(c.AddTags, ", "))
	}
	if len(c.RemoveTags) > 0 {
		out = append(out, "remove "+strings.Join(c.RemoveTags, ", "))
	}
	if c.Release != "" {
		out = append(out, "release the claim of "+c.Release)
	}
	return strings.Join(out, ", ")
}

// RestoreOptions are the options of a restore.
type RestoreOptions struct {
	CrashAt    int    // crash at the n-th step, to prove that nothing is lost
	CrashPoint string // count only steps whose name has this prefix
}

// Restored reports what a restore found and did.
type Restored struct {
	Problem  string            `json:"problem,omitempty"`   // what was wrong with the store, "" if nothing was
	Backup   string            `json:"backup,omitempty"`    // the backup that replaced the store
	BackupAt *time.Time        `json:"backup_at,omitempty"` // when the backup was made
	Empty    bool              `json:"empty,omitempty"`     // there was no intact backup, so the store starts empty
	Damaged  []string          `json:"damaged,omitempty"`   // backups that are not intact
	Aside    string            `json:"aside,omitempty"`     // where the old store is kept
	Projects []string          `json:"projects,omitempty"`  // projects that were registered again
	Imported []RestoredTask    `json:"imported,omitempty"`  // tasks that the store did not have
	Held     []RestoredTask    `json:"held,omitempty"`      // tasks of which the store had an earlier state
	Ended    []RestoredAttempt `json:"ended,omitempty"`
	Alive    []RestoredAttempt `json:"alive,omitempty"` // attempts that still run; the next server watches them
	Problems []string          `json:"problems,omitempty"`
}

// A RestoredTask is a task that was imported or is held.
type RestoredTask struct {
	ID        task.ID `json:"id"`
	Project   string  `json:"project"`
	Branch    string  `json:"branch"`
	Status    string  `json:"status"`              // the status in the record
	Shown     string  `json:"shown,omitempty"`     // the last status in history.jsonl
	Event     string  `json:"event"`               // the newest event in history.jsonl
	Workspace string  `json:"workspace,omitempty"` // the workspace that the task holds
	Over      bool    `json:"over,omitempty"`      // the task is over and the store lost only the end of its clean-up, so it is not held
}

// A RestoredAttempt is an agent that was still running.
type RestoredAttempt struct {
	Task   task.ID `json:"task"`
	Number int     `json:"attempt"`
	Role   string  `json:"role,omitempty"`
}

func runRestore(cmd *cobra.Command, deps Deps, o RestoreOptions) error {
	if deps.Config.Role != "" {
		return errors.New("an agent may not restore the store: leave it to a person")
	}
	r, err := deps.Restore(cmd.Context(), o)
	if err != nil && r.Aside != "" {
		return fmt.Errorf("%w; the old store is kept in %s", err, r.Aside)
	}
	if err != nil {
		return err
	}
	return showResult(cmd, r, func(w io.Writer) error { return printRestored(w, r) })
}

func printRestored(out io.Writer, r Restored) error {
	w := &lineWriter{w: out}
	if r.Problem != "" {
		w.writeLine("Wrong: %s", r.Problem)
	}
	for _, text := range r.Damaged {
		w.writeLine("Passed over: %s", text)
	}
	switch {
	case r.Backup != "":
		w.writeLine("Restored the store from the backup of %s UTC, %s", r.BackupAt.UTC().Format(time.DateTime), r.Backup)
	case r.Empty:
		w.writeLine("No intact backup was found: the store begins empty")
	default:
		w.writeLine("The store is intact and the newest there is: it stays")
	}
	if r.Aside != "" {
		w.writeLine("The old store is kept in %s", r.Aside)
	}
	for _, p := range r.Projects {
		w.writeLine("Registered project %s; set its options again with orange project update", p)
	}
	for _, t := range r.Imported {
		w.writeLine("Imported task %s (%s/%s%s) as %s: its status was %s; newest event: %s", t.ID, t.Project, t.Branch, inWorkspace(t), t.Status, t.Shown, t.Event)
	}
	for _, t := range r.Held {
		if t.Over {
			w.writeLine("Task %s (%s/%s) is %s and stays so; newest event: %s", t.ID, t.Project, t.Branch, t.Status, t.Event)
			continue
		}
		w.writeLine("Held task %s (%s/%s%s): the record says %s, newest event: %s", t.ID, t.Project, t.Branch, inWorkspace(t), t.Status, t.Event)
	}
	for _, a := range r.Ended {
		w.writeLine("Ended attempt %d of task %s (%s), which the store does not know as it is now", a.Number, a.Task, a.Role)
	}
	for _, a := range r.Alive {
		w.writeLine("Attempt %d of task %s (%s) lives: the next server watches it", a.Number, a.Task, a.Role)
	}
	for _, text := range r.Problems {
		w.writeLine("Problem: %s", text)
	}
	if len(r.Imported)+len(r.Held) > 0 {
		w.writeLine("Nothing was started. Check each task (orange inbox, orange task show ID) and move it to the right state; orange resume ID ends the hold, and orange task respawn ID starts the agent of a task that has none")
	}
	return w.err
}

func inWorkspace(t RestoredTask) string {
	if t.Workspace == "" {
		return ""
	}
	return ", in " + t.Workspace
}

// A lineWriter writes lines until a write fails, and keeps the error.
type lineWriter struct {
	w   io.Writer
	err error
}

func (l *lineWriter) writeLine(format string, args ...any) {
	if l.err == nil {
		_, l.err = fmt.Fprintln(l.w, cleanLine(fmt.Sprintf(format, args...)))
	}
}
