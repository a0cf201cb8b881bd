package cli

import (
	"slices"
	"strings"

	"github.com/spf13/cobra"
)

// aliasOf is the annotation of a command that is another command under a name that people type. Its value is the path of
// that command.
const aliasOf = "alias-of"

// newAliases returns commands of the root for what people type before they know that it is a command of a task. Each is
// the command itself, hidden from lists.
func newAliases(deps Deps) []*cobra.Command {
	return []*cobra.Command{
		aliasCommand(newTaskList(deps), "list", "ls", "tasks"), aliasCommand(newTaskCreate(deps), "create", "new"), aliasCommand(newTaskLog(deps), "logs"),
		aliasCommand(newTaskAttach(deps), "attach"), aliasCommand(newTaskMerge(deps), "merge"), aliasCommand(newTaskDiff(deps), "diff"),
	}
}

// aliasCommand turns a command of a task into a hidden command with other names.
func aliasCommand(cmd *cobra.Command, name string, more ...string) *cobra.Command {
	own, rest, _ := strings.Cut(cmd.Use, " ")
	cmd.Use, cmd.Aliases, cmd.Hidden = strings.TrimSpace(name+" "+rest), more, true
	if cmd.Annotations == nil {
		cmd.Annotations = map[string]string{}
	}
	cmd.Annotations[aliasOf] = "task " + own
	return cmd
}

// commandGroups are the groups of the help, in order, with the commands that belong to them by their paths, the common ones
// first. A command that is in no group is one that operates Orange.
var commandGroups = []struct {
	id, title string
	commands  []string
}{
	{"start", "Start work:", []string{"run", "task", "init", "project", "board", "task create", "task spawn", "task fork"}},
	{"decide", "Decide:", []string{"inbox", "pause", "resume", "land", "task merge", "task request-changes", "task approve", "task approve-changes", "task answer", "task send", "task edit", "task complete", "task cancel", "task reopen",
		"task stop", "task respawn", "task update", "task push", "task create-pr", "task delete"}},
	{"look", "Look:", []string{"dashboard", "web", "status", "stats", "log", "task list", "task show", "task diff", "task log", "task attach", "task output", "task explain", "task history",
		"task attempts", "task cost", "task path", "task open", "task checkout", "task replay"}},
	{"automate", "Automate:", []string{"tracker", "dispatch", "notify", "mcp", "install", "task wait", "task verdict", "task report", "task stuck"}},
	{"operate", "Operate Orange:", []string{"doctor", "config", "version", "upgrade", "serve", "restart", "stop", "workspace"}},
	{"author", "Write workflows:", []string{"workflow", "schema", "detect", "handoff", "als"}},
}

// groupCommands puts the commands of the root and of task into groups.
func groupCommands(root *cobra.Command) {
	of := map[string]string{}
	for _, g := range commandGroups {
		for _, path := range g.commands {
			of[path] = g.id
		}
	}
	for _, parent := range root.Commands() {
		if parent.Name() == "task" {
			assignGroups(parent, "task ", of)
		}
	}
	assignGroups(root, "", of)
	printUsage := root.UsageFunc()
	root.SetUsageFunc(func(c *cobra.Command) error {
		sortByGroup(c)
		return printUsage(c)
	})
}

// sortByGroup puts the commands of parent in the order of commandGroups, the others behind them by name. Cobra sorts by
// name when commands were added, so this comes right before they are printed.
func sortByGroup(parent *cobra.Command) {
	var order []string
	for _, g := range commandGroups {
		order = append(order, g.commands...)
	}
	_, prefix, _ := strings.Cut(parent.CommandPath(), " ")
	place := func(c *cobra.Command) int {
		if at := slices.Index(order, strings.TrimSpace(prefix+" "+c.Name())); at >= 0 {
			return at
		}
		return len(order)
	}
	slices.SortStableFunc(parent.Commands(), func(a, b *cobra.Command) int { return place(a) - place(b) })
}

// assignGroups assigns the commands of parent to groups, and declares those groups that have one.
func assignGroups(parent *cobra.Command, prefix string, of map[string]string) {
	used := map[string]bool{}
	for _, c := range parent.Commands() {
		if c.Hidden {
			continue
		}
		id := of[prefix+c.Name()]
		if id == "" {
			id = "operate"
		}
		c.GroupID, used[id] = id, true
	}
	for _, g := range commandGroups {
		if used[g.id] {
			parent.AddGroup(&cobra.Group{ID: g.id, Title: g.title})
		}
	}
	if used["operate"] {
		parent.SetHelpCommandGroupID("operate")
	}
}

// unknownCommand returns the error for a word that is no command, with those that were probably meant. At the root, a
// command of tasks may be meant.
func unknownCommand(cmd *cobra.Command, word string) error {
	near := commandsLike(cmd, word)
	if task, _, err := cmd.Find([]string{"task"}); err == nil && task != cmd && !cmd.HasParent() {
		if own, _, err := task.Find([]string{word}); err == nil && own != task {
			near = []string{own.CommandPath()}
		} else if len(near) == 0 {
			near = commandsLike(task, word)
		}
	}
	if len(near) == 0 {
		return usageError("command %q is not known: see %s --help", word, cmd.CommandPath())
	}
	return usageError("command %q is not known: did you mean %s? See %s --help", word, strings.Join(near, " or "), cmd.CommandPath())
}

// commandsLike returns the commands of parent whose names are like a word.
func commandsLike(parent *cobra.Command, word string) (out []string) {
	if parent.SuggestionsMinimumDistance <= 0 {
		parent.SuggestionsMinimumDistance = 2
	}
	if word == "" { // every name begins with it
		return nil
	}
	near := parent.SuggestionsFor(word)
	alike := slices.DeleteFunc(slices.Clone(near), func(name string) bool { return name[0] != word[0] })
	if len(alike) > 0 {
		near = alike // people seldom mistype the first letter
	}
	for _, name := range near {
		out = append(out, parent.CommandPath()+" "+name)
	}
	return out
}
