package workflow

import "orange/internal/core/task"

// Kinds returns the kinds of states.
func Kinds() []Kind { return []Kind{Queued, Agent, CheckDo, Waiting, HumanDo, Halt, Terminal} }

// GoesOn reports whether a task in a state of this kind goes on by itself, because agents or checks are at work.
func (k Kind) GoesOn() bool { return k == Agent || k == CheckDo }

// The words that a file may use where one of a fixed list is expected. Parse and Schema use the
// same lists.
var (
	kindWords     = stringsOf(Kinds())
	onIdleWords   = [...]string{string(IdleAsk), string(IdleNudge)}
	respawnWords  = [...]string{string(RespawnNow), string(RespawnAuto), string(RespawnManual)}
	sessionWords  = [...]string{string(Persistent), string(PerVisit), string(Interactive)}
	accessWords   = [...]string{"full", "read-only"}
	perWords      = [...]string{"task", "state"}
	countsWords   = [...]string{"crashes", "no-answers"}
	resetWords    = [...]string{"person"}
	checkWords    = [...]string{task.CheckPassed, task.CheckFailed}
	landingWords  = [...]string{task.Landed, task.LandingConflict, task.LandingFailed, task.LandingBlocked}
	verdictWords  = [...]string{"PASS", "FAIL"}
	formWords     = [...]string{"line", "word"}
	protocolWords = [...]string{"work-result", "completion-block", "worker-result"}
	freshWords    = [...]string{string(FreshUnused), string(FreshVisit), string(FreshOff)}
	triggerWords  = [...]string{string(OnRequest), string(OnExit), string(OnCrashLimit), string(OnReady), string(OnCreate), string(OnSilence), string(OnUnexpected)}
)

// givenSections are sections for agents to read. None of them is an agent's own work, so no
// gate can require one.
var givenSections = [...]string{"Requirements", "Context", "Answer", "Feedback", "Checks", "Landing", "Last report"}

func stringsOf[T ~string](list []T) []string {
	out := make([]string, 0, len(list))
	for _, w := range list {
		out = append(out, string(w))
	}
	return out
}
