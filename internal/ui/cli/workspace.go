package cli

import (
	"github.com/spf13/cobra"

	"orange/internal/wire"
)

func newWorkspaceCommand(deps Deps) *cobra.Command {
	return group("workspace", "Look after the worktrees that tasks work in",
		newWorkspaceList(deps), newWorkspaceInit(deps), newWorkspaceGC(deps), newWorkspaceSalvage(deps))
}

// workspaceState says in a word how a workspace is.
func workspaceState(w *wire.Workspace) string {
	switch {
	case w.Problem != "":
		return "problem: " + w.Problem
	case !w.Exists:
		return "not made yet"
	case w.Dirty:
		return "changed"
	}
	return "clean"
}
