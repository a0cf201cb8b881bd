package cli

import (
	"cmp"
	"context"
	"io"
	"maps"
	"slices"
	"strings"
	"time"

	"github.com/spf13/cobra"

	"orange/internal/core/agent"
	"orange/internal/core/engine"
	"orange/internal/core/explain"
	"orange/internal/core/verify"
	"orange/internal/core/workflow"
	"orange/internal/ui/client"
	"orange/internal/view/overview"
)

const (
	// completionTimeout is how long a completion may take.
	completionTimeout = 500 * time.Millisecond
	// mostOffered is the maximum number of words that a completion offers.
	mostOffered = 200
)

func newCompletionCommand(Deps) *cobra.Command {
	return &cobra.Command{
		Use: "completion bash|zsh|fish", Short: "Print the completion script of a shell", Args: requireArguments(1, 1),
		ValidArgs: []string{"bash", "zsh", "fish"}, Annotations: map[string]string{needsNothing: "yes"},
		Long: "Print a script that makes a shell complete commands, flags and values:\n" +
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

// addCompletions sets the completion of every argument and every flag in the command tree. It
// keeps a completion that a command defines itself. An argument or flag without known words
// gets no completion, and only paths are completed with files.
func addCompletions(deps Deps, root *cobra.Command) {
	args, flags := argumentWords(deps), flagWords(deps)
	var visit func(cmd *cobra.Command)
	visit = func(cmd *cobra.Command) {
		path := cmp.Or(cmd.Annotations[aliasOf], strings.TrimPrefix(cmd.CommandPath(), "orange "))
		if f, ok := args[path]; ok {
			cmd.ValidArgsFunction = f
		}
		if cmd.ValidArgsFunction == nil && len(cmd.ValidArgs) == 0 && !takesFile(cmd.Use) {
			cmd.ValidArgsFunction = cobra.NoFileCompletions
		}
		for _, f := range slices.Concat(collectAll(cmd.LocalNonPersistentFlags().VisitAll), collectAll(cmd.PersistentFlags().VisitAll)) {
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

// collectAll returns the values that walk visits.
func collectAll[T any](walk func(func(T))) (out []T) {
	walk(func(one T) { out = append(out, one) })
	return out
}

// fileFlags are the flags whose value is the path of a file.
var fileFlags = map[string]bool{"context-file": true, "task-file": true, "output": true, "profile": true, "plot": true, "emit-test": true}

// takesFile reports whether the arguments of a command are paths.
func takesFile(use string) bool {
	return strings.Contains(use, "FILE") || strings.Contains(use, "[file]") || strings.Contains(use, "path")
}

// offerWord returns a completion: a word with a short description.
func offerWord(word, about string) string {
	if about = cutToWidth(cleanLine(about), 60); about == "" {
		return cleanLine(word)
	}
	return cobra.CompletionWithDesc(cleanLine(word), about)
}

// completeFixed offers a fixed list of words.
func completeFixed(words ...string) cobra.CompletionFunc {
	return cobra.FixedCompletions(words, cobra.ShellCompDirectiveNoFileComp)
}

// eachOf completes a comma-separated list with the words that it does not contain yet.
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

// afterComma completes each value of a flag that takes several, separated by commas.
func afterComma(complete cobra.CompletionFunc) cobra.CompletionFunc {
	return func(cmd *cobra.Command, args []string, begun string) ([]string, cobra.ShellCompDirective) {
		at := strings.LastIndexByte(begun, ',') + 1
		out, how := complete(cmd, args, begun[at:])
		for i := range out {
			out[i] = begun[:at] + out[i]
		}
		return out, how
	}
}

// A question is a request for completions.
type question struct {
	*client.Client
	deps  Deps
	cmd   *cobra.Command
	args  []string // the arguments before the word to complete
	begun string   // the part of that word typed so far
}

// flagValue returns the value of another flag on the line, "" if it is not set.
func (q question) flagValue(name string) string {
	f := q.cmd.Flags().Lookup(name)
	if f == nil || !f.Changed {
		return ""
	}
	return f.Value.String()
}

// taskArgument returns the task that the line is about: the first argument, or else the task
// of the attempt that runs the command.
func (q question) taskArgument() string {
	if len(q.args) > 0 {
		return q.args[0]
	}
	return q.deps.Config.Task
}

// namedProject returns the project that the line names, or else the project of the current
// folder, "" if there is neither.
func (q question) namedProject(ctx context.Context) string {
	if p := q.flagValue("project"); p != "" {
		return p
	}
	at, _ := q.FindPlace(ctx, q.deps.Cwd)
	return at.Project
}

// completeLive returns a completion that offers what find returns. It connects to a running
// server and never starts one.
func completeLive(deps Deps, find func(context.Context, question) []string) cobra.CompletionFunc {
	return func(cmd *cobra.Command, args []string, begun string) ([]string, cobra.ShellCompDirective) {
		parent := cmd.Context()
		if parent == nil {
			parent = context.Background()
		}
		ctx, cancel := context.WithTimeout(parent, completionTimeout)
		defer cancel()
		c, err := connectRunning(ctx, deps)
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

// onlyFirst limits a completion to the first argument.
func onlyFirst(f cobra.CompletionFunc) cobra.CompletionFunc {
	return func(cmd *cobra.Command, args []string, begun string) ([]string, cobra.ShellCompDirective) {
		if len(args) > 0 {
			return nil, cobra.ShellCompDirectiveNoFileComp
		}
		return f(cmd, args, begun)
	}
}

// completePrefixes offers prefixes that the user completes by hand; the shell adds no space after them.
func completePrefixes(words ...string) cobra.CompletionFunc {
	return cobra.FixedCompletions(words, cobra.ShellCompDirectiveNoFileComp|cobra.ShellCompDirectiveNoSpace)
}

// completeFiles offers files.
func completeFiles(*cobra.Command, []string, string) ([]string, cobra.ShellCompDirective) {
	return nil, cobra.ShellCompDirectiveDefault
}

// completeFolders offers folders.
func completeFolders(*cobra.Command, []string, string) ([]string, cobra.ShellCompDirective) {
	return nil, cobra.ShellCompDirectiveFilterDirs
}

// bashCompletion is the script for bash. It needs nothing but bash itself. It takes the words
// from the line as typed, because bash splits words at @, : and =. It never evaluates what
// the user types.
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

// argumentWords returns the completions of arguments, keyed by the path of the command.
func argumentWords(deps Deps) map[string]cobra.CompletionFunc {
	out := map[string]cobra.CompletionFunc{
		"task update": onlyFirst(completeRows(deps, false, nil)), "task wait": onlyFirst(completeRows(deps, false, nil)), "task stuck": onlyFirst(completeRows(deps, false, atWork)),
		"task spawn": onlyFirst(completeRows(deps, false, isUnstarted)), "task respawn": onlyFirst(completeRows(deps, false, hasAgentToReplace)), "task stop": onlyFirst(completeRows(deps, false, hasLivingAgent)), "task attach": onlyFirst(completeRows(deps, false, hasLivingAgent)),
		"task answer": onlyFirst(completeRows(deps, false, func(r *overview.Row) bool { return r.Answers })), "task approve-changes": onlyFirst(completeRows(deps, false, awaitsReview)), "task approve": onlyFirst(completeRows(deps, false, waitsForAny(explain.ItemConfirm))),
		"task edit": onlyFirst(completeRows(deps, false, nil)), "task send": onlyFirst(completeRows(deps, false, hasLivingAgent)), "task merge": onlyFirst(completeRows(deps, false, awaitsReview)), "task push": onlyFirst(completeRows(deps, false, hasBegun)), "task create-pr": onlyFirst(completeRows(deps, false, hasBegun)),
		"task delete": onlyFirst(completeRows(deps, true, isOver)), "task reopen": onlyFirst(completeRows(deps, true, allowsVerb(engine.Reopen))),
		"task fork": onlyFirst(completeEntries(deps)), "pause": onlyFirst(completeRows(deps, false, goingOn)), "resume": onlyFirst(completeRows(deps, false, isStopped)),

		"project remove": onlyFirst(completeProjects(deps)), "project update": onlyFirst(completeProjects(deps)), "project add": completeFolders, "workspace init": onlyFirst(completeProjects(deps)),
		"board show": onlyFirst(completeCards(deps)), "board comment": onlyFirst(completeCards(deps)), "board describe": onlyFirst(completeCards(deps)), "board history": onlyFirst(completeCards(deps)),
		"board move": cardThen(deps, completeColumns(deps)), "board tag": cardThen(deps, completeTags(deps)), "doctor board": onlyFirst(completeCards(deps)),
		"tracker add": onlyFirst(completeTrackers(deps)), "tracker issues": onlyFirst(completeTrackers(deps)), "tracker sync": onlyFirst(completeTrackers(deps)),
		"tracker test": onlyFirst(completeTrackers(deps)), "tracker remove": onlyFirst(completeTrackers(deps)), "dispatch": onlyFirst(completeTrackers(deps)),
		"workflow prompt": completePromptArguments(deps), "hook": cobra.NoFileCompletions, "upgrade": cobra.NoFileCompletions, "man": completeFolders,
	}
	for _, name := range []string{"show", "explain", "history", "log", "attempts", "cost", "replay", "diff", "path", "open", "checkout"} {
		out["task "+name] = onlyFirst(completeTasks(deps))
	}
	for _, verb := range []string{engine.Complete, "cancel", "request-changes"} {
		out["task "+verb] = onlyFirst(completeRows(deps, false, allowsVerb(verb)))
	}
	for _, name := range []string{"show", "check", "graph", "verify", "simulate", "decide"} {
		out["workflow "+name] = onlyFirst(orFiles(completeWorkflows(deps)))
	}
	out["task verdict"] = onlyFirst(completeFixed("PASS\tthe work is good", "FAIL\tthe work is to change"))
	out["selftest crash"] = onlyFirst(orFiles(completeWorkflows(deps)))
	return out
}

// flagWords returns the completions of flags. The key "--flag" applies to every command,
// unless there is a key for the command and the flag together.
func flagWords(deps Deps) map[string]cobra.CompletionFunc {
	out := map[string]cobra.CompletionFunc{
		"--project": completeProjects(deps), "--workflow": completeWorkflows(deps), "--against": orFiles(completeWorkflows(deps)), "--tracker": completeTrackers(deps),
		"--harness": completeHarnesses, "--review-harness": completeHarnesses, "--effort": completeFixed(efforts...), "--review-effort": completeFixed(efforts...),
		"--parent": completeRows(deps, false, nil), "--after": afterComma(completeRows(deps, false, nil)), "--not-after": afterComma(completeRows(deps, false, nil)), "--role": completeRoles(deps), "--attempt": completeAttempts(deps),

		"task list --status": completeStatuses(deps), "task update --status": completeTargets(deps), "task create --status": completeFirstStates(deps),
		"task wait --for": completeStates(deps), "task replay --at": completeSeqs(deps), "task merge --strategy": completeStrategies, "--land": completeStrategies, "--merge": completeFixed("auto\tOrange, through the forge", "person\tyou, at the forge"),
		"--column": completeColumns(deps), "--tag": completeTags(deps), "--remove": completeTags(deps),
		"--delivery": completeFixed("local\tit stays here", "push\tthe branch is pushed", "pr\ta pull request is opened"), "--forge": completeFixed("github", "gitea"),
		"--token": secretPlaces, "--webhook-secret": secretPlaces, "--forge-token": secretPlaces,
		"tracker add --kind":    completeFixed(trackerKinds()...),
		"tracker add --mapping": orFiles(completeFixed("joan", "backlog")), "tracker add --column": cobra.NoFileCompletions,
		"inbox --kind": eachOf(asStrings(explain.ItemKinds())...), "inbox --group": completeFixed("kind"),
		"log --level": completeFixed("debug", "info", "warn", "error"), "log --component": completeComponents(deps),
		"detect --protocol": completeFixed(protocolNames()...), "handoff --from-format": completeFixed("json", "als", "section", "auto"), "handoff --as": completeFixed("json", "als", "section", "prompt"),
		"audit --from": completeFiles, "audit --repo": completeFolders,
		"workflow graph --format": completeFixed("mermaid", "svg", "dot"), "workflow verify --without": completeFixed(asStrings(append(verify.Protections(), verify.TaskProtections()...))...),
		"workflow verify --tasks": completeFixed("1", "2", "3", "4"),
	}
	maps.Copy(out, decideWords(deps))
	return out
}

// completeStrategies offers the ways in which work lands.
var completeStrategies = completeFixed("auto\ta merge commit if one is needed", "ff\tno merge commit", "merge\talways a merge commit",
	"rebase\tits commits again on the target", "squash\tone commit")

// efforts lists the effort levels of all agents.
var efforts = []string{"none", "off", "minimal", "low", "medium", "high", "xhigh", "max"}

// secretPlaces offers the kinds of places that a secret can be read from.
var secretPlaces = completePrefixes("env:\ta variable", "file:\ta file of mode 600", "command:\twhat a program prints", "gh\tthe login of gh")

// completeHarnesses offers the agents. The last two are prefixes that need a value.
func completeHarnesses(*cobra.Command, []string, string) ([]string, cobra.ShellCompDirective) {
	return append(agent.HarnessNames(), agent.CommandPrefix+"\ta program of yours", agent.ScriptPrefix+"\ta file that is played"), cobra.ShellCompDirectiveNoFileComp
}

func asStrings[T ~string](list []T) []string {
	out := make([]string, len(list))
	for i, one := range list {
		out[i] = string(one)
	}
	return out
}

func protocolNames() []string { return asStrings(detectable) }

// The filters below choose the tasks for which a command makes sense.

func atWork(r *overview.Row) bool         { return r.Kind == workflow.Agent }
func isUnstarted(r *overview.Row) bool    { return r.Kind == workflow.Queued }
func hasLivingAgent(r *overview.Row) bool { return r.Life == overview.Alive }
func isOver(r *overview.Row) bool         { return r.Kind == workflow.Terminal }
func hasBegun(r *overview.Row) bool       { return r.Kind != workflow.Queued }
func goingOn(r *overview.Row) bool        { return !r.Paused }
func isStopped(r *overview.Row) bool      { return r.Paused || r.Wants == explain.ItemAttention }
func awaitsReview(r *overview.Row) bool {
	return r.Kind == workflow.HumanDo || r.Wants == explain.ItemAttention
}
func lacksAgent(r *overview.Row) bool {
	return r.Life == overview.Dead || waitsForAny(explain.ItemCrashed, explain.ItemFailed, explain.ItemStopped, explain.ItemNoAnswer)(r) || r.WaitsFor(explain.ItemNotStarted) && r.Life != overview.Alive
}

// hasAgentToReplace reports whether respawn, with or without --force, may start another agent.
func hasAgentToReplace(r *overview.Row) bool { return lacksAgent(r) || hasLivingAgent(r) }

// waitsForAny returns a filter for tasks that wait for a person for one of these reasons.
func waitsForAny(kinds ...explain.ItemKind) func(*overview.Row) bool {
	return func(r *overview.Row) bool { return r.WaitsFor(kinds...) }
}

// allowsVerb returns a filter for tasks on which a person may use a verb.
func allowsVerb(verb string) func(*overview.Row) bool {
	return func(r *overview.Row) bool { return r.May(verb) }
}
