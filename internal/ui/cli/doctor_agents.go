package cli

import (
	"errors"
	"fmt"
	"io"

	"github.com/spf13/cobra"
)

// AgentCheck is what was found out about a coding agent by starting it once.
type AgentCheck struct {
	Name    string `json:"name"`
	OK      bool   `json:"ok"`             // it could work
	Path    string `json:"path,omitempty"` // "" if it is not installed
	Version string `json:"version,omitempty"`
	Tried   string `json:"tried"`           // the version that Orange was tried with
	State   string `json:"state"`           // missing, ready, login, dialog, ended or unclear
	Shows   string `json:"shows,omitempty"` // its last lines, where it is not ready; untrusted
	Fix     string `json:"fix,omitempty"`
}

// AgentsReport is what was found out about all agents, and about what they commit as.
type AgentsReport struct {
	Agents   []AgentCheck `json:"agents"`
	Identity string       `json:"git_identity,omitempty"` // name and address; "" if git has none
}

// runAgents starts each installed agent once and tells what came of it.
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
	if err := show(cmd, r, func(w io.Writer) error { return printAgents(w, r) }); err != nil {
		return err
	}
	switch {
	case installed == 0:
		return fail{code: exitFailed, told: true, err: errors.New("no coding agent is installed")}
	case bad > 0:
		return fail{code: exitFailed, told: true, err: fmt.Errorf("%d of %s cannot work", bad, plural(installed, "agent"))}
	case r.Identity == "":
		return fail{code: exitFailed, told: true, err: errors.New("git has no identity")}
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
			fmt.Fprintf(w, "\n%s shows: %s\n", a.Name, cleanLine(a.Shows)) //nolint:errcheck // the table said it
		case a.Fix != "":
			fmt.Fprintf(w, "\n%s shows nothing\n", a.Name) //nolint:errcheck // the table said it
		}
		if a.Fix != "" {
			fmt.Fprintf(w, "fix: %s\n", cleanLine(a.Fix)) //nolint:errcheck // the table said it
		}
	}
	if r.Identity == "" {
		fmt.Fprintln(w, "\nfix: git config --global user.name NAME; git config --global user.email ADDRESS") //nolint:errcheck // the table said it
	}
	return nil
}
