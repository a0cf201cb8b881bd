package wire

import (
	"orange/internal/core/engine"
	"orange/internal/core/explain"
	"orange/internal/core/journal"
	"orange/internal/core/signal"
	"orange/internal/core/task"
	"orange/internal/core/tracker"
	"orange/internal/view/diff"
	"orange/internal/view/narrate"
)

// A Decision is the part of an engine.Decision that clients see.
type Decision struct {
	Verdict engine.Verdict  `json:"verdict"`
	Refused string          `json:"refused,omitempty"`
	Reasons []engine.Reason `json:"reasons"`
	Entries []journal.Entry `json:"entries"`
}

// An Answer is a decision and the task after it. The HTTP status of a refusal is 409.
type Answer struct {
	Task     task.Task `json:"task"`
	Decision Decision  `json:"decision"`
	Warning  string    `json:"warning,omitempty"`
	Notes    []string  `json:"notes,omitempty"` // what a person should know about a task that was just created
	Error    string    `json:"error,omitempty"` // why the request was refused
}

// Outcome returns the outcome of a signal of the given kind, for package narrate.
func (a *Answer) Outcome(kind signal.Kind) narrate.Outcome {
	return narrate.Outcome{Kind: kind, Task: a.Task, Entries: a.Decision.Entries}
}

// A TaskList is a list of tasks, in order of creation.
type TaskList struct {
	Tasks []task.Task `json:"tasks"`
}

// A ForkRequest asks for a task that begins at an entry of another task's journal.
type ForkRequest struct {
	Seq    int    `json:"seq"`    // of the entry
	Branch string `json:"branch"` // "" lets the server choose a name
	Spawn  bool   `json:"spawn"`
}

// TaskDetails is a task with the text of its TASK.md.
type TaskDetails struct {
	Task    task.Task `json:"task"`
	Body    string    `json:"body"` // of TASK.md; untrusted
	Dir     string    `json:"dir"`
	Problem string    `json:"problem,omitempty"` // why the body cannot be read

	Worktree string `json:"worktree,omitempty"` // the folder in which its agents work, "" while it has none

	Issue *tracker.IssueStatus `json:"issue,omitempty"` // the issue as it was last read

	Reasons []explain.WaitReason `json:"reasons,omitempty"` // why the task waits for a person; untrusted

	Queue    *task.QueuePlace `json:"landing_queue,omitempty"` // its place in the landing queue, nil if it is in none
	Unblocks []task.Reference `json:"unblocks,omitempty"`      // the open tasks that are after it
	Children []task.Reference `json:"children,omitempty"`      // the tasks whose parent it is, also those that are over
}

// DescribeLanding says how far the landing of the task is and its place in the queue, or how the last landing ended; "" if
// there was none.
func (d *TaskDetails) DescribeLanding() string {
	switch {
	case d.Task.MergeEffect() == nil:
		return d.Task.Landing.DescribeEnd()
	case d.Queue == nil:
		return d.Task.DescribeLanding()
	}
	return d.Task.DescribeLandingAt(*d.Queue)
}

// A Journal is the journal of a task, oldest entry first.
type Journal struct {
	Entries []journal.Entry `json:"entries"`
}

// A Chain says how many rows of the journal are intact.
type Chain struct {
	Rows   int64           `json:"rows"` // number of intact rows
	Head   journal.Link    `json:"head"` // link of the last intact row
	Broken *journal.Broken `json:"broken,omitempty"`
}

// A History is a journal in the form of history.jsonl.
type History struct {
	History []journal.Event `json:"history"`
}

// An InboxList lists what waits for a person: first what frees other tasks, then by age, oldest first.
// The backlog, which is the items of kind start, comes last.
type InboxList struct {
	Items   []explain.Item `json:"items"`
	Total   int            `json:"total,omitempty"`   // number of items that wait for a person
	Backlog int            `json:"backlog,omitempty"` // number of tasks that were created and not started
}

// A Diff is what a task's branch changes.
type Diff struct {
	Base  string      `json:"base"` // the commit that the branch is compared with
	Files []diff.File `json:"files"`
	Cut   bool        `json:"cut"` // there is more than is shown

	Head     string `json:"head,omitempty"`     // the last commit of work that was merged; "" if it was not
	Worktree string `json:"worktree,omitempty"` // the folder whose files were compared; "" if it was the last commit of the branch
	Problem  string `json:"problem,omitempty"`  // why the files in the workspace were not compared, "" if nothing is wrong
}

// Notice says why changes in the workspace are not part of the diff, "" if they are.
func (d *Diff) Notice() string {
	if d.Problem == "" {
		return ""
	}
	return d.Problem + "; only what is committed on the branch is shown: see orange workspace list"
}

// FileContent is a file of a task's branch, on one side of its diff.
type FileContent struct {
	Path    string `json:"path"`
	Content []byte `json:"content"`
	Cut     bool   `json:"cut"` // there is more
}

// A WorkflowInfo is a workflow that tasks follow or can follow.
type WorkflowInfo struct {
	Name   string `json:"name"`
	Hash   string `json:"hash"`
	Origin string `json:"origin"` // built-in, user, the name of a project, or pinned
	File   string `json:"file"`
	Tasks  int    `json:"tasks"` // number of unfinished tasks that follow this text
}

// A WorkflowList is the list of known workflows.
type WorkflowList struct {
	Workflows []WorkflowInfo `json:"workflows"`
}

// A WorkflowText is the text that tasks are pinned to by its hash.
type WorkflowText struct {
	File string `json:"file"`
	Hash string `json:"hash"`
	Name string `json:"name"`
	Text string `json:"text"`
}
