package cli

import (
	"context"
	"slices"
	"time"

	"github.com/spf13/cobra"

	"orange/internal/core/task"
	"orange/internal/ui/client"
)

// completionPatience is how long a person waits for a key to be completed.
const completionPatience = 500 * time.Millisecond

func newCompletionCommand(Deps) *cobra.Command {
	return &cobra.Command{
		Use: "completion bash|zsh|fish", Short: "Print the completion script of a shell", Args: arguments(1, 1),
		ValidArgs: []string{"bash", "zsh", "fish"}, Annotations: map[string]string{needsNothing: "yes"},
		RunE: func(cmd *cobra.Command, args []string) error {
			root, out := cmd.Root(), cmd.OutOrStdout()
			switch args[0] {
			case "bash":
				return root.GenBashCompletionV2(out, true)
			case "zsh":
				return root.GenZshCompletion(out)
			case "fish":
				return root.GenFishCompletion(out, true)
			}
			return usageError("shell %q is not known: use bash, zsh or fish", args[0])
		},
	}
}

// completer makes a completion of what find returns. It asks a server that runs and
// never starts one.
func completer(deps Deps, find func(context.Context, *client.Client, []string) []string) cobra.CompletionFunc {
	return func(cmd *cobra.Command, args []string, _ string) ([]string, cobra.ShellCompDirective) {
		parent := cmd.Context()
		if parent == nil {
			parent = context.Background()
		}
		ctx, cancel := context.WithTimeout(parent, completionPatience)
		defer cancel()
		c, err := running(ctx, deps)
		if err != nil {
			return nil, cobra.ShellCompDirectiveNoFileComp
		}
		defer c.Close()
		return find(ctx, c, args), cobra.ShellCompDirectiveNoFileComp
	}
}

// completeTasks offers the ids of tasks with their summaries, for the first argument.
func completeTasks(deps Deps) cobra.CompletionFunc {
	return completer(deps, func(ctx context.Context, c *client.Client, args []string) []string {
		if len(args) > 0 {
			return nil
		}
		tasks, _ := c.TaskList(ctx, task.Filter{All: true})
		var out []string
		for i := range tasks {
			t := &tasks[i]
			out = append(out, cobra.CompletionWithDesc(string(t.ID), cut(cleanLine(t.Status+" "+t.Branch+" "+t.Summary), 60)))
		}
		return out
	})
}

// completeStatuses offers the states that tasks are in.
func completeStatuses(deps Deps) cobra.CompletionFunc {
	return completer(deps, func(ctx context.Context, c *client.Client, _ []string) []string {
		tasks, _ := c.TaskList(ctx, task.Filter{All: true})
		var out []string
		for i := range tasks {
			out = append(out, cleanLine(tasks[i].Status))
		}
		slices.Sort(out)
		return slices.Compact(out)
	})
}

// completeTargets offers the states the task named first may go to.
func completeTargets(deps Deps) cobra.CompletionFunc {
	return completer(deps, func(ctx context.Context, c *client.Client, args []string) []string {
		id := deps.Config.Task
		if len(args) > 0 {
			id = args[0]
		}
		x, _ := c.Explain(ctx, id)
		var out []string
		for i := range x.Edges {
			out = append(out, cleanLine(x.Edges[i].To))
		}
		slices.Sort(out)
		return slices.Compact(out)
	})
}

// completeProjects offers the names of projects.
func completeProjects(deps Deps) cobra.CompletionFunc {
	return completer(deps, func(ctx context.Context, c *client.Client, _ []string) []string {
		projects, _ := c.Projects(ctx)
		var out []string
		for _, p := range projects {
			out = append(out, cobra.CompletionWithDesc(cleanLine(p.Name), cleanLine(p.Path)))
		}
		return out
	})
}

// completeTrackers offers the names of trackers, for the first argument.
func completeTrackers(deps Deps) cobra.CompletionFunc {
	return completer(deps, func(ctx context.Context, c *client.Client, args []string) []string {
		if len(args) > 0 {
			return nil
		}
		list, _ := c.Trackers(ctx)
		var out []string
		for _, r := range list {
			out = append(out, r.Config.Name)
		}
		return out
	})
}
