package cli

import (
	"context"
	"io"
	"slices"
	"strings"
	"time"

	"github.com/spf13/cobra"

	"orange/internal/ui/client"
)

const (
	// completionPatience is how long a person waits for a key to be completed.
	completionPatience = 500 * time.Millisecond
	// mostOffered is how many words are offered at once.
	mostOffered = 200
)

func newCompletionCommand(Deps) *cobra.Command {
	return &cobra.Command{
		Use: "completion bash|zsh|fish", Short: "Print the completion script of a shell", Args: arguments(1, 1),
		ValidArgs: []string{"bash", "zsh", "fish"}, Annotations: map[string]string{needsNothing: "yes"},
		Long: "Print a script that makes a shell complete commands, flags, and what is there to choose from:\n" +
			"tasks for which a command makes sense, states, workflows, cards. A server is asked if one\n" +
			"runs, and none is started.",
		Example: "  source <(orange completion bash)\n" +
			"  orange completion zsh >\"${fpath[1]}/_orange\"\n" +
			"  orange completion fish >~/.config/fish/completions/orange.fish",
		RunE: func(cmd *cobra.Command, args []string) error {
			root, out := cmd.Root(), cmd.OutOrStdout()
			switch args[0] {
			case "bash":
				_, err := io.WriteString(out, bashCompletion)
				return err
			case "zsh":
				return root.GenZshCompletion(out)
			case "fish":
				return root.GenFishCompletion(out, true)
			}
			return usageError("shell %q is not known: use bash, zsh or fish", args[0])
		},
	}
}

// complete gives every argument and every flag of the tree what it can be completed
// with. What a command says itself stays; what nobody knows words for is left to the
// person, and only what is a file is completed with files.
func complete(deps Deps, root *cobra.Command) {
	args, flags := argumentWords(deps), flagWords(deps)
	var visit func(cmd *cobra.Command)
	visit = func(cmd *cobra.Command) {
		path := strings.TrimPrefix(cmd.CommandPath(), "orange ")
		if f, ok := args[path]; ok {
			cmd.ValidArgsFunction = f
		}
		if cmd.ValidArgsFunction == nil && len(cmd.ValidArgs) == 0 && !takesFile(cmd.Use) {
			cmd.ValidArgsFunction = cobra.NoFileCompletions
		}
		for _, f := range slices.Concat(all(cmd.LocalNonPersistentFlags().VisitAll), all(cmd.PersistentFlags().VisitAll)) {
			if _, has := cmd.GetFlagCompletionFunc(f.Name); has || f.Value.Type() == "bool" || fileFlags[f.Name] {
				continue
			}
			words, ok := flags[path+" --"+f.Name]
			if !ok {
				words, ok = flags["--"+f.Name]
			}
			if !ok {
				words = cobra.NoFileCompletions
			}
			_ = cmd.RegisterFlagCompletionFunc(f.Name, words)
		}
		for _, c := range cmd.Commands() {
			visit(c)
		}
	}
	visit(root)
}

// all collects what a walk visits.
func all[T any](walk func(func(T))) (out []T) {
	walk(func(one T) { out = append(out, one) })
	return out
}

// fileFlags are the flags whose value is the path of a file.
var fileFlags = map[string]bool{"context-file": true, "task-file": true, "output": true, "profile": true, "plot": true, "emit-test": true}

// takesFile says whether the arguments of a command are paths.
func takesFile(use string) bool {
	return strings.Contains(use, "FILE") || strings.Contains(use, "[file]") || strings.Contains(use, "path")
}

// offer is one word that can be chosen, with what is to know about it.
func offer(word, about string) string {
	if about = cut(cleanLine(about), 60); about == "" {
		return cleanLine(word)
	}
	return cobra.CompletionWithDesc(cleanLine(word), about)
}

// fixed offers words of a list that is closed.
func fixed(words ...string) cobra.CompletionFunc {
	return cobra.FixedCompletions(words, cobra.ShellCompDirectiveNoFileComp)
}

// eachOf offers words for a list with commas, those that are not in it yet.
func eachOf(words ...string) cobra.CompletionFunc {
	return func(_ *cobra.Command, _ []string, begun string) ([]string, cobra.ShellCompDirective) {
		before := begun[:strings.LastIndexByte(begun, ',')+1]
		var out []string
		for _, w := range words {
			if !slices.Contains(strings.Split(before, ","), w) {
				out = append(out, before+w)
			}
		}
		return out, cobra.ShellCompDirectiveNoFileComp
	}
}

// question is what a completion is about.
type question struct {
	*client.Client
	deps  Deps
	cmd   *cobra.Command
	args  []string // before the word that is completed
	begun string   // of that word
}

// flag is what another flag of the line says.
func (q question) flag(name string) string {
	f := q.cmd.Flags().Lookup(name)
	if f == nil || !f.Changed {
		return ""
	}
	return f.Value.String()
}

// task is the task that the line is about: the argument, or the attempt's own.
func (q question) task() string {
	if len(q.args) > 0 {
		return q.args[0]
	}
	return q.deps.Config.Task
}

// project is the one that the line names, else that of the folder, "" for neither.
func (q question) project(ctx context.Context) string {
	if p := q.flag("project"); p != "" {
		return p
	}
	at, _ := q.Where(ctx, q.deps.Cwd)
	return at.Project
}

// live makes a completion of what find returns. It asks a server that runs and never
// starts one.
func live(deps Deps, find func(context.Context, question) []string) cobra.CompletionFunc {
	return func(cmd *cobra.Command, args []string, begun string) ([]string, cobra.ShellCompDirective) {
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
		words := find(ctx, question{Client: c, deps: deps, cmd: cmd, args: args, begun: begun})
		var out []string
		for _, w := range words {
			if strings.HasPrefix(w, begun) && len(out) < mostOffered {
				out = append(out, w)
			}
		}
		return out, cobra.ShellCompDirectiveNoFileComp | cobra.ShellCompDirectiveKeepOrder
	}
}

// first offers words for the first argument only.
func first(f cobra.CompletionFunc) cobra.CompletionFunc {
	return func(cmd *cobra.Command, args []string, begun string) ([]string, cobra.ShellCompDirective) {
		if len(args) > 0 {
			return nil, cobra.ShellCompDirectiveNoFileComp
		}
		return f(cmd, args, begun)
	}
}

// begin offers beginnings that more is to be added to.
func begin(words ...string) cobra.CompletionFunc {
	return cobra.FixedCompletions(words, cobra.ShellCompDirectiveNoFileComp|cobra.ShellCompDirectiveNoSpace)
}

// files offers files.
func files(*cobra.Command, []string, string) ([]string, cobra.ShellCompDirective) {
	return nil, cobra.ShellCompDirectiveDefault
}

// folders offers folders.
func folders(*cobra.Command, []string, string) ([]string, cobra.ShellCompDirective) {
	return nil, cobra.ShellCompDirectiveFilterDirs
}
