package cli

import (
	"maps"

	"github.com/spf13/cobra"

	"orange/internal/core/agent"
	"orange/internal/core/engine"
	"orange/internal/core/overview"
	"orange/internal/core/verify"
	"orange/internal/core/workflow"
)

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
	return r.Life == overview.Dead || wants(engine.ItemCrashed, engine.ItemFailed, engine.ItemNoAnswer)(r) || r.Waits(engine.ItemNotStarted) && r.Life != overview.Alive
}

// wants chooses tasks that wait for a person for one of these reasons.
func wants(kinds ...engine.ItemKind) func(*overview.Row) bool {
	return func(r *overview.Row) bool { return r.Waits(kinds...) }
}

// may chooses tasks that a person may ask a verb of.
func may(verb string) func(*overview.Row) bool {
	return func(r *overview.Row) bool { return r.May(verb) }
}
