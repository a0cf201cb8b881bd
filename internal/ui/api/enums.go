package api

import (
	"reflect"

	"orange/internal/core/board"
	"orange/internal/core/boardcheck"
	"orange/internal/core/engine"
	"orange/internal/core/explain"
	"orange/internal/core/journal"
	"orange/internal/core/signal"
	"orange/internal/core/stats"
	"orange/internal/core/task"
	"orange/internal/core/tracker"
	"orange/internal/core/workflow"
	"orange/internal/view/overview"
	"orange/internal/wire"
)

// enumValues maps types with few values to these. The empty text is one of them where an empty field is written.
func enumValues() map[reflect.Type][]any {
	return map[reflect.Type][]any{
		reflect.TypeFor[signal.Kind](): stringValues(signal.Create, signal.Request, signal.Ready, signal.Exit, signal.Notice, signal.Outcome, signal.Timer,
			signal.Tracker, signal.Effect, signal.Update, signal.Pause, signal.Resume, signal.Tamper, signal.Delete, signal.Import, signal.Restore),
		reflect.TypeFor[engine.Verdict]():         stringValues(engine.Advance, engine.Halt, engine.Crash, engine.Stay, engine.Record, engine.Refuse),
		reflect.TypeFor[explain.ItemKind]():       stringValues(explain.ItemKinds()...),
		reflect.TypeFor[explain.WaitReasonKind](): stringValues(explain.WaitReasonKinds()...),
		reflect.TypeFor[workflow.Kind]():          stringValues(workflow.Queued, workflow.Agent, workflow.Waiting, workflow.HumanDo, workflow.Halt, workflow.CheckDo, workflow.Terminal),
		reflect.TypeFor[stats.By]():               stringValues(stats.Groupings()...),
		reflect.TypeFor[overview.Life]():          stringValues(overview.Alive, overview.Dead, overview.None),
		reflect.TypeFor[task.Left]():              stringValues(task.LeftWords, task.LeftQuestion),
		reflect.TypeFor[task.Delivery]():          stringValues("", task.DeliverLocal, task.DeliverPush, task.DeliverPR),
		reflect.TypeFor[journal.Type]():           stringValues(journal.Types()...),
		reflect.TypeFor[boardcheck.Type](): stringValues(boardcheck.InvalidTagCombo, boardcheck.OrphanedInAnalyse, boardcheck.OrphanedInDevelopment,
			boardcheck.OrphanedInReview, boardcheck.OrphanedApproval, boardcheck.StaleTagsInDeploy, boardcheck.StaleClaim, boardcheck.StuckPlanFinalization,
			boardcheck.StuckOpsMerge, boardcheck.ReadyNotPlanned, boardcheck.PRAlreadyMerged, boardcheck.PRClosedWithoutMerge),
		reflect.TypeFor[task.GitProgramKind](): stringValues(task.GitHook, task.GitFilter, task.GitMerge, task.GitSign, task.GitTransport,
			task.GitCredential, task.GitOther),
	}
}

func stringValues[T ~string](list ...T) []any {
	out := make([]any, len(list))
	for i, v := range list {
		out[i] = string(v)
	}
	return out
}

// typeDescriptions describes in one line the types whose names do not explain them.
func typeDescriptions() map[reflect.Type]string {
	return map[reflect.Type]string{
		reflect.TypeFor[wire.Failure]():        "The answer to a request that came to nothing: one line, which ends with what to do.",
		reflect.TypeFor[wire.Answer]():         "A task after a decision about it. A refusal has status 409 and the same form; nothing was written.",
		reflect.TypeFor[task.Task]():           "The record of a task, folded from its journal.",
		reflect.TypeFor[journal.Entry]():       "One decided change of a task.",
		reflect.TypeFor[task.Effect]():         "Something to do in the world, asked for by an entry.",
		reflect.TypeFor[signal.Signal]():       "Something that happened to a task, or that somebody asks for.",
		reflect.TypeFor[signal.NewTask]():      "A task that somebody wants.",
		reflect.TypeFor[overview.State]():      "Everything at one moment. Every text in a row is one line and safe for a terminal.",
		reflect.TypeFor[overview.Change]():     "What became of a state: rows that are new or different, and tasks that are gone or not wanted any more.",
		reflect.TypeFor[overview.Row]():        "One task at a glance.",
		reflect.TypeFor[explain.Item]():        "Something that waits for a person.",
		reflect.TypeFor[explain.Explanation](): "Why a task is where it is, and what would move it.",
		reflect.TypeFor[wire.Screen]():         "What an agent's terminal shows. Nothing in it controls a terminal.",
		reflect.TypeFor[wire.Diff]():           "What a task's branch changes. The text is untrusted.",
		reflect.TypeFor[board.Card]():          "A card of a board. Every text in it is untrusted.",
		reflect.TypeFor[board.Change]():        "A change of a card, made as a whole or not at all.",
		reflect.TypeFor[tracker.Issue]():       "An issue of a tracker, as it was last read. Every text in it is untrusted.",
		reflect.TypeFor[tracker.Config]():      "What a person says about a tracker. It holds no secret, only where one is found.",
	}
}
