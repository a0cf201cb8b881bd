package workflow

import "orange/internal/core/task"

// EffectInfo describes one word of the effect vocabulary.
type EffectInfo struct {
	Name     string
	Role     string // the role it is always about
	TakesArg string // role, message, tag or column: what the file must give with it
	Spawns   bool   // starts an agent
	Kills    bool   // ends agents; without a role, all of the task's
	Notifies bool   // sends a message to an agent, and starts one if there is none
	Twice    bool   // harmless if done twice
	Pushes   bool   // skipped where finished work stays on this machine
	OpensPR  bool   // skipped where no pull request is wanted
	Card     bool   // about the task's card; skipped if the task is on no board
	Own      bool   // only the engine uses it: a file cannot
	Describe string
}

// effectVocabulary lists every effect that a file may use. The names of the first nine are
// known to users of earlier tools.
var effectVocabulary = [...]EffectInfo{
	{Name: "acquire_workspace", Twice: true, Describe: "bind a workspace of the project's pool to the task"},
	{Name: "release_workspace", Twice: true, Describe: "give the workspace back, once every process of the task is gone"},
	{Name: "spawn_agent", TakesArg: "role", Spawns: true, Twice: true, Describe: "start an agent of a role"},
	{Name: "spawn_reviewer", Role: "reviewer", Spawns: true, Twice: true, Describe: "start the reviewer beside the worker"},
	{Name: "kill_session", Kills: true, Twice: true, Describe: "end every agent of the task"},
	{Name: "kill_reviewer", Role: "reviewer", Kills: true, Twice: true, Describe: "end the reviewer, leave the worker"},
	{Name: "notify_worker", Role: "worker", TakesArg: "message", Notifies: true, Describe: "tell the worker something; start one if none lives"},
	{Name: Notify, TakesArg: "role and prompt", Notifies: true, Describe: "tell the agent of a role something; start one if none lives"},
	{Name: "spawn_next", Twice: true, Describe: "let the project's next queued task go on"},
	{Name: DeleteRemoteBranch, Twice: true, Describe: "remove the merged branch from the remote"},
	{Name: "kill_agent", TakesArg: "role", Kills: true, Twice: true, Describe: "end the agent of a role"},
	{Name: Push, Pushes: true, Twice: true, Describe: "push the branch, if the project delivers by push or pull request"},
	{Name: CreatePR, OpensPR: true, Twice: true, Describe: "open a pull request, if the project delivers by pull request"},
	{Name: MergeBranch, Twice: true, Describe: "merge the branch into the default branch"},
	{Name: Land, Twice: true, Describe: "land the branch through the queue of its target; edges with on: {landing: ...} answer"},
	{Name: ApplyActions, Twice: true, Card: true, Describe: "do on the board what the worker's result asks for and the file allows"},
	{Name: TagCard, TakesArg: "tag", Twice: true, Card: true, Describe: "set a tag on the card"},
	{Name: UntagCard, TakesArg: "tag", Twice: true, Card: true, Describe: "take a tag off the card"},
	{Name: MoveCard, TakesArg: "column", Twice: true, Card: true, Describe: "move the card to a column"},
	{Name: ClaimCard, Twice: true, Card: true, Describe: "take a lease on the card for the task"},
	{Name: ReleaseCard, Twice: true, Card: true, Describe: "give the lease back"},
	{Name: PostResult, Twice: true, Card: true, Describe: "post what the agent said at its end as a comment"},
	{Name: CommentCard, Twice: true, Card: true, Own: true, Describe: "post a comment"},
	{Name: DescribeCard, Twice: true, Card: true, Own: true, Describe: "replace the description of the card"},
	{Name: ReadCard, Twice: true, Card: true, Own: true, Describe: "look at the card again"},
	{Name: NotifyAgent, Notifies: true, Own: true, Describe: "tell an agent something"},
	{Name: WriteSection, Twice: true, Own: true, Describe: "write a section of TASK.md"},
	{Name: RenameBranch, Twice: true, Own: true, Describe: "give branch and session their new name"},
	{Name: RunCheck, Role: CheckRole, Spawns: true, Twice: true, Own: true, Describe: "start a check of the project"},
}

// EffectNamed returns the effect with a name.
func EffectNamed(name string) (EffectInfo, bool) {
	for i := range effectVocabulary {
		if effectVocabulary[i].Name == name {
			return effectVocabulary[i], true
		}
	}
	return EffectInfo{}, false
}

// EffectVocabulary returns every effect that a file may use.
func EffectVocabulary() []EffectInfo { return append([]EffectInfo(nil), effectVocabulary[:]...) }

// SpawnName returns the effect that starts an agent of role.
func SpawnName(role string) string {
	for i := range effectVocabulary {
		if e := &effectVocabulary[i]; e.Spawns && e.Role == role {
			return e.Name
		}
	}
	return "spawn_agent"
}

// KillName returns the effect that ends the agent of role.
func KillName(role string) string {
	for i := range effectVocabulary {
		if e := &effectVocabulary[i]; e.Kills && e.Role == role && role != "" {
			return e.Name
		}
	}
	return "kill_agent"
}

// NotifyName returns the effect that sends a message to the agent of role.
func NotifyName(role string) string {
	for i := range effectVocabulary {
		if e := &effectVocabulary[i]; e.Notifies && e.Role == role {
			return e.Name
		}
	}
	return NotifyAgent
}

// ReleaseWorkspace and the names below have a meaning for the engine itself.
const (
	AcquireWorkspace = "acquire_workspace"
	ReleaseWorkspace = "release_workspace"
	SpawnNext        = "spawn_next"
	KillSession      = "kill_session"
	Push             = "push"
	CreatePR         = "create_pr"
	MergeBranch      = task.MergeDo
	Land             = "land" // in a file; the record says merge
	Notify           = "notify"
	NotifyAgent      = "notify_agent"
	WriteSection     = "write_section"
	RenameBranch     = "rename_branch"
	ApplyActions     = "apply_actions"
	TagCard          = "tag_card"
	UntagCard        = "untag_card"
	MoveCard         = "move_card"
	ClaimCard        = "claim_card"
	ReleaseCard      = "release_card"
	PostResult       = "post_result"
	CommentCard      = "comment_card"
	DescribeCard     = "describe_card"
	ReadCard         = "read_card"
	RunCheck         = "run_check"

	DeleteRemoteBranch = "delete_remote_branch"
)

// evidenceVocabulary lists the facts that a gate may require besides sections.
var evidenceVocabulary = [...]string{Merged, Commits, Clean, CI}

// ClaimsFact is the evidence that a worker's claims about the repository are true.
const ClaimsFact = "claims"

// NothingLost is the evidence that a task can be given up without losing work.
const NothingLost = "nothing-lost"

// Commits is the evidence that a branch has commits of its own.
const Commits = "commits"

// Clean is the evidence that the task's worktree has no uncommitted change.
const Clean = "clean"

// CI is the evidence that the forge's checks of the task's pull request passed at the head of the branch.
const CI = "ci"

// Unchanged is the evidence that a branch changes no path that needs a person, or that a person approved the changes.
const Unchanged = "unchanged"

// MergeAuto is the merge strategy of a file: without a merge commit if possible.
const MergeAuto = "auto"

// Merged is the evidence that the default branch contains all of a branch.
const Merged = "merged"

// EvidenceVocabulary returns the facts that a gate may require besides sections.
func EvidenceVocabulary() []string { return append([]string(nil), evidenceVocabulary[:]...) }

// The engine's own messages. A file may replace their text with a prompt of the same name.
const (
	MessageAnswer = "answered"       // a person answered the agent's questions
	MessageReply  = "replied"        // a person answered the question at the end of its turn; the task stays
	MessagePerson = "person-message" // a person sent it a message; the task stays
	MessageEdited = "task-edited"    // a person changed the summary or the requirements
	MessageNudge  = "nudge"          // the agent was silent for a while
	MessageReset  = "limit-over"     // the provider's limit is lifted
	MessageState  = "state-result"   // it ended without a report
	MessageFinish = "finish"         // it handed over, and its work is not committed
	MessageTurn   = "your-turn"      // someone else brought the task to a state of its role
	MessageRule   = "say-verdict"    // it ended, and the verdict may not be its own
)

// GoesOn reports whether an agent that is started with the message only continues the
// conversation of an earlier attempt.
func GoesOn(name string) bool {
	return name == MessageState || name == MessageFinish || name == MessageRule || name == MessageReply
}

// OwnMessage reports whether name is one of the engine's own messages.
func OwnMessage(name string) bool {
	switch name {
	case MessageAnswer, MessageReply, MessagePerson, MessageEdited, MessageNudge, MessageReset, MessageState, MessageFinish, MessageTurn, MessageRule:
		return true
	}
	return false
}
