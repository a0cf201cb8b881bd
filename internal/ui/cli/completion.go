package cli

import (
	"context"
	"io"
	"maps"
	"slices"
	"strings"
	"time"

	"github.com/spf13/cobra"

	"orange/internal/core/agent"
	"orange/internal/core/engine"
	"orange/internal/core/overview"
	"orange/internal/core/verify"
	"orange/internal/core/workflow"
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

// bashCompletion is the script for bash. It needs nothing but bash itself: words are
// taken from the line as it stands, because bash breaks them at @, : and =, and what is
// typed is never evaluated.
const bashCompletion = `# bash completion of orange
_orange() {
    local line=${COMP_LINE:0:COMP_POINT} program out directive cur head='' breaks entry value about
    local -a words
    COMPREPLY=()
    read -ra words <<<"$line"
    program=$(type -P -- "${COMP_WORDS[0]}") || program=orange
    words=("${words[@]:1}")
    [[ $line == *[[:space:]] || ${#words[@]} -eq 0 ]] && words+=('')
    cur=${words[${#words[@]}-1]}
    out=$("$program" __complete "${words[@]}" 2>/dev/null) || return
    directive=${out##*:}
    out=${out%:*}
    [[ $directive =~ ^[0-9]+$ ]] || directive=0
    (( directive & 1 )) && return

    breaks=${COMP_WORDBREAKS//[^@:=]/} # bash replaces only what is behind the last of these
    [[ -n $breaks && $cur == *[$breaks]* ]] && head=${cur%"${cur##*[$breaks]}"}
    while IFS= read -r entry; do
        value=${entry%%$'\t'*}
        [[ -n $value && $value == "$cur"* || $cur == -*=* && $value == "${cur#*=}"* ]] || continue
        value=${value#"$head"}
        about=''
        [[ $entry == *$'\t'* ]] && about="  (${entry#*$'\t'})"
        case $COMP_TYPE in
            33|63|64) COMPREPLY+=("$value$about") ;; # they are listed, not inserted
            *) [[ $value == *[!A-Za-z0-9_./:@=,+-]* ]] && value=$(printf %q "$value")
               COMPREPLY+=("$value") ;;
        esac
    done <<<"$out"
    if (( ${#COMPREPLY[@]} == 1 )); then # one is inserted, whatever was asked for
        value=${COMPREPLY[0]%%"  ("*}
        COMPREPLY=("$value")
    fi
    (( directive & 2 )) && compopt -o nospace 2>/dev/null
    (( directive & 32 )) && compopt -o nosort 2>/dev/null
    if (( directive & 16 )); then
        while IFS= read -r entry; do COMPREPLY+=("$entry"); done < <(compgen -d -- "$cur")
        compopt -o filenames 2>/dev/null
    elif (( ! (directive & 4) && ${#COMPREPLY[@]} == 0 )); then
        while IFS= read -r entry; do COMPREPLY+=("$entry"); done < <(compgen -f -- "$cur")
        compopt -o filenames 2>/dev/null
    fi
}
complete -F _orange orange
`

// argumentWords says what the arguments of commands can be completed with, by the
// command's path.
func argumentWords(deps Deps) map[string]cobra.CompletionFunc {
	out := map[string]cobra.CompletionFunc{
		"task update": first(completeRows(deps, false, nil)), "task wait": first(completeRows(deps, false, nil)), "task stuck": first(completeRows(deps, false, atWork)),
		"task spawn": first(completeRows(deps, false, unstarted)), "task respawn": first(completeRows(deps, false, deserted)), "task attach": first(completeRows(deps, false, attended)),
		"task answer": first(completeRows(deps, false, func(r *overview.Row) bool { return r.Answers })), "task approve": first(completeRows(deps, false, wants(engine.ItemConfirm))),
		"task merge": first(completeRows(deps, false, reviewed)), "task push": first(completeRows(deps, false, begunWork)), "task create-pr": first(completeRows(deps, false, begunWork)),
		"task delete": first(completeRows(deps, true, over)), "task reopen": first(completeRows(deps, true, may(engine.Reopen))),
		"task fork": first(completeEntries(deps)), "pause": first(completeRows(deps, false, goingOn)), "resume": first(completeRows(deps, false, stopped)),

		"project remove": first(completeProjects(deps)), "project update": first(completeProjects(deps)), "project add": folders, "workspace init": first(completeProjects(deps)),
		"board show": first(completeCards(deps)), "board comment": first(completeCards(deps)), "board describe": first(completeCards(deps)), "board history": first(completeCards(deps)),
		"board move": cardThen(deps, completeColumns(deps)), "board tag": cardThen(deps, completeTags(deps)), "doctor board": first(completeCards(deps)),
		"tracker add": first(completeTrackers(deps)), "tracker issues": first(completeTrackers(deps)), "tracker sync": first(completeTrackers(deps)),
		"tracker test": first(completeTrackers(deps)), "tracker remove": first(completeTrackers(deps)), "dispatch": first(completeTrackers(deps)),
		"workflow prompt": completePromptArguments(deps), "hook": cobra.NoFileCompletions, "man": folders,
	}
	for _, name := range []string{"show", "explain", "history", "log", "attempts", "cost", "replay"} {
		out["task "+name] = first(completeTasks(deps))
	}
	for _, verb := range []string{engine.Complete, "cancel", "request-changes"} {
		out["task "+verb] = first(completeRows(deps, false, may(verb)))
	}
	for _, name := range []string{"show", "check", "graph", "verify", "simulate", "decide"} {
		out["workflow "+name] = first(orFiles(completeWorkflows(deps)))
	}
	out["task verdict"] = first(fixed("PASS\tthe work is good", "FAIL\tthe work is to change"))
	out["selftest crash"] = first(orFiles(completeWorkflows(deps)))
	return out
}

// flagWords says what flags can be completed with: "--flag" in every command, unless the
// command has words of its own.
func flagWords(deps Deps) map[string]cobra.CompletionFunc {
	out := map[string]cobra.CompletionFunc{
		"--project": completeProjects(deps), "--workflow": completeWorkflows(deps), "--against": orFiles(completeWorkflows(deps)), "--tracker": completeTrackers(deps),
		"--harness": completeHarnesses, "--review-harness": completeHarnesses, "--effort": fixed(efforts...), "--review-effort": fixed(efforts...),
		"--parent": completeRows(deps, false, nil), "--role": completeRoles(deps), "--attempt": completeAttempts(deps),

		"task list --status": completeStatuses(deps), "task update --status": completeTargets(deps), "task create --status": completeBeginnings(deps),
		"task wait --for": completeStates(deps), "task replay --at": completeSeqs(deps), "task merge --strategy": fixed("auto\ta merge commit if one is needed", "ff\tno merge commit", "merge\talways a merge commit"),
		"--column": completeColumns(deps), "--tag": completeTags(deps), "--remove": completeTags(deps),
		"--delivery": fixed("local\tit stays here", "push\tthe branch is pushed", "pr\ta pull request is opened"), "--forge": fixed("github", "gitea"),
		"--token": secretPlaces, "--webhook-secret": secretPlaces, "--forge-token": secretPlaces,
		"tracker add --kind":    fixed("linear\tissues in Linear", "github\tissues on GitHub", "mcp\ta board over MCP", "board\tthe local board"),
		"tracker add --mapping": orFiles(fixed("joan", "backlog")), "tracker add --column": cobra.NoFileCompletions,
		"inbox --kind": eachOf(names(engine.ItemKinds())...), "inbox --group": fixed("kind"),
		"log --level": fixed("debug", "info", "warn", "error"), "log --component": completeComponents(deps),
		"detect --protocol": fixed(protocolNames()...), "handoff --from-format": fixed("json", "als", "section", "auto"), "handoff --as": fixed("json", "als", "section", "prompt"),
		"audit --from": files, "audit --repo": folders,
		"workflow graph --format": fixed("mermaid", "svg", "dot"), "workflow verify --without": fixed(names(verify.Protections())...),
	}
	maps.Copy(out, decideWords(deps))
	return out
}

// efforts are the words of all agents.
var efforts = []string{"none", "off", "minimal", "low", "medium", "high", "xhigh", "max"}

// secretPlaces offers the places where a secret can be.
var secretPlaces = begin("env:\ta variable", "file:\ta file of mode 600", "command:\twhat a program prints", "gh\tthe login of gh")

// completeHarnesses offers the agents. The last two want more.
func completeHarnesses(*cobra.Command, []string, string) ([]string, cobra.ShellCompDirective) {
	return append(agent.HarnessNames(), agent.CommandPrefix+"\ta program of yours", agent.ScriptPrefix+"\ta file that is played"), cobra.ShellCompDirectiveNoFileComp
}

func names[T ~string](list []T) []string {
	out := make([]string, len(list))
	for i, one := range list {
		out[i] = string(one)
	}
	return out
}

func protocolNames() []string { return names(detectable) }

// The tasks for which a command makes sense.

func atWork(r *overview.Row) bool    { return r.Kind == workflow.Agent }
func unstarted(r *overview.Row) bool { return r.Kind == workflow.Queued }
func attended(r *overview.Row) bool  { return r.Life == overview.Alive }
func over(r *overview.Row) bool      { return r.Kind == workflow.Terminal }
func begunWork(r *overview.Row) bool { return r.Kind != workflow.Queued }
func goingOn(r *overview.Row) bool   { return !r.Paused }
func stopped(r *overview.Row) bool   { return r.Paused || r.Wants == engine.ItemAttention }
func reviewed(r *overview.Row) bool {
	return r.Kind == workflow.HumanDo || r.Wants == engine.ItemAttention
}
func deserted(r *overview.Row) bool {
	return r.Life == overview.Dead || wants(engine.ItemCrashed, engine.ItemFailed, engine.ItemNoAnswer)(r) || r.WaitsFor(engine.ItemNotStarted) && r.Life != overview.Alive
}

// wants chooses tasks that wait for a person for one of these reasons.
func wants(kinds ...engine.ItemKind) func(*overview.Row) bool {
	return func(r *overview.Row) bool { return r.WaitsFor(kinds...) }
}

// may chooses tasks that a person may ask a verb of.
func may(verb string) func(*overview.Row) bool {
	return func(r *overview.Row) bool { return r.May(verb) }
}
