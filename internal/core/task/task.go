// Package task declares the types that every other part uses: a task and what belongs to it. They are plain values:
// nothing here decides, stores or starts anything.
package task

import (
	"fmt"
	"slices"
	"time"

	"orange/internal/core/board"
	"orange/internal/core/handoff"
)

// ID names a task: 21 characters of [0-9A-Za-z].
type ID string

// Actor is who requests something: Human, Engine, Tracker, or a role that the task's workflow declares.
type Actor string

// The actors that are not roles. They cannot be used as role names.
const (
	Human   Actor = "human"
	Engine  Actor = "engine"
	Tracker Actor = "tracker"
)

// Task is the record folded from a task's journal. Its groups are embedded: code reads t.Attention, and JSON nests it
// as waiting.attention. docs/FORMAT.md lists the names that may never change.
type Task struct {
	ID        ID        `json:"id"`
	Project   string    `json:"project"`
	Branch    string    `json:"branch"`
	Summary   string    `json:"summary"`
	Status    string    `json:"status"`
	Counters  []Counter `json:"counters"`
	Seq       int       `json:"seq"`             // last entry folded
	Rules     int       `json:"rules,omitempty"` // engine rules of its last decision
	Deleted   bool      `json:"deleted,omitempty"`
	CreatedAt time.Time `json:"created_at"`
	UpdatedAt time.Time `json:"updated_at"`
	Pending   []Effect  `json:"pending,omitempty"` // required, no final receipt yet, in order

	Setup        `json:"setup"`
	Resources    `json:"resources,omitzero"`
	CurrentVisit `json:"current_visit"`
	Waiting      `json:"waiting,omitzero"`
	Agents       `json:"agents,omitzero"`
	Results      `json:"results,omitzero"`
}

// Setup is how a task is to be worked on, and what it was created from.
type Setup struct {
	Workflow      string       `json:"workflow"`
	WorkflowHash  string       `json:"workflow_hash"`
	Harness       string       `json:"harness"`
	ReviewHarness string       `json:"review_harness"`
	Effort        string       `json:"effort,omitempty"`
	ReviewEffort  string       `json:"review_effort,omitempty"`
	Model         string       `json:"model,omitempty"`        // in the spelling of Harness, "" for its default
	ReviewModel   string       `json:"review_model,omitempty"` // likewise of ReviewHarness
	AgentFlags    string       `json:"agent_flags,omitempty"`  // further arguments for agents of Harness, as in a shell
	Permissions   string       `json:"permissions,omitempty"`  // what agents may do without asking: a mode of package agent, "" for all
	Roles         []RoleChoice `json:"roles,omitempty"`        // the task's own agents for roles, in order of preference
	Vars          Vars         `json:"vars,omitempty"`         // for its prompts, set by people
	Delivery      Delivery     `json:"delivery,omitempty"`     // how finished work leaves this machine
	Base          string       `json:"base,omitempty"`         // commit at which its branch begins, "" for the tip of its base branch
	BaseBranch    string       `json:"base_branch,omitempty"`  // branch that its work starts from and lands on, "" for the project's
	ForkOf        string       `json:"fork_of,omitempty"`      // ID@SEQ that it was created from
	Parent        ID           `json:"parent,omitempty"`       // task of which this is a part
	Checks        Checks       `json:"checks,omitempty"`       // commands that Orange runs on its work, as defined when it was created
	Unchanged     PathPatterns `json:"unchanged,omitempty"`    // paths that it may not change without a person, likewise
	After         []ID         `json:"after,omitempty"`        // tasks that must land before this one starts or lands
	StackOn       ID           `json:"stack_on,omitempty"`     // the one of them at whose branch this one's begins
}

// StackBase returns the commit after which the own commits of a stacked task begin. It is "" if the task is not stacked, was not
// started before its predecessor landed, or is no longer after it: then everything on the branch is its own.
func (t *Task) StackBase() string {
	if t.StackOn == "" || !slices.Contains(t.After, t.StackOn) {
		return ""
	}
	return t.Base
}

// LandsFrom returns the commit from which the work of a stacked task is merged, "" for where its branch left the target. What is
// before that commit is left out of the merge, so it must have landed.
func (t *Task) LandsFrom() string {
	for i := range t.Predecessors {
		if p := &t.Predecessors[i]; p.Stack && p.State == PredecessorLanded {
			return t.StackBase()
		}
	}
	return ""
}

// Resources are things outside the record that belong to a task.
type Resources struct {
	Workspace   string `json:"workspace,omitempty"`
	TmuxSession string `json:"tmux_session,omitempty"`
	TrackerRef  string `json:"tracker_ref,omitempty"`
	PRURL       string `json:"pr_url,omitempty"`
	PRState     string `json:"pr_state,omitempty"`
	PRReady     string `json:"pr_ready,omitempty"` // head at which its required checks passed and people approve it, "" if not
}

// CurrentVisit is the stay of a task in its state. Most of it is reset at every transition.
type CurrentVisit struct {
	Visit       int         `json:"visit"`                  // number of this stay in a state
	Since       time.Time   `json:"since"`                  // when this visit began
	EntryCommit string      `json:"entry_commit,omitempty"` // commit of the branch at that time, "" if unknown
	ReturnTo    string      `json:"return_to,omitempty"`
	StateReason string      `json:"state_reason,omitempty"` // why the task came to its state, or why its agent died there
	Question    string      `json:"question,omitempty"`     // what a role is consulted about
	Advice      string      `json:"advice,omitempty"`       // the answer
	Seen        []Digest    `json:"seen,omitempty"`         // sections as they were when this visit began
	Samples     []Sample    `json:"samples,omitempty"`      // sections with verdicts that changed in this visit, as last read
	Restated    int         `json:"restated,omitempty"`     // visit in which an agent was asked to state its verdict by command
	Crashed     string      `json:"crashed,omitempty"`      // role that died in this visit and was not replaced
	Unanswered  *Unanswered `json:"unanswered,omitempty"`   // the agent of this visit that ended while it waited for a person
	Unstarted   *Unstarted  `json:"unstarted,omitempty"`    // its agent could not start in this visit, nil if it could
	CheckRun    *CheckRun   `json:"check_run,omitempty"`    // the check that runs or waits
	Answered    *Answered   `json:"answered,omitempty"`     // the last answer of a person in this visit, or the one that began it
}

// Waiting is what keeps a task from continuing by itself.
type Waiting struct {
	Queued      bool       `json:"queued,omitempty"`       // leaves its queue as soon as a workspace is free
	Paused      bool       `json:"paused,omitempty"`       // no effect starts and no timer fires
	PauseReason string     `json:"pause_reason,omitempty"` // why it is paused, if a reason was given
	Attention   string     `json:"attention,omitempty"`    // why a person must act, empty if nobody must
	PauseCause  PauseCause `json:"pause_cause,omitempty"`  // what paused it
	GaveUp      *GaveUp    `json:"gave_up,omitempty"`      // the effect that Attention is about, nil if it is about something else
	Asked       *Asked     `json:"asked,omitempty"`        // a request that waits for a person's approval
	WorkFailed  string     `json:"work_failed,omitempty"`  // why the state's agent is not replaced until a person acts
	Stopped     *Stopped   `json:"stopped,omitempty"`      // the agent of the state that a person stopped, if that is why

	Predecessors []Predecessor `json:"predecessors,omitempty"` // the tasks of After, and what became of them
}

// Agents are the attempts of a task and their history.
type Agents struct {
	Attempts      []Attempt      `json:"attempts,omitempty"`       // not over yet, oldest first
	AttemptCounts []AttemptTally `json:"attempt_counts,omitempty"` // attempts ever requested, by role
	RespawnAt     time.Time      `json:"respawn_at,omitzero"`      // when the state's dead agent is replaced
	Limits        []Limit        `json:"limits,omitempty"`         // of agents that were chosen from several
	Lost          []time.Time    `json:"lost,omitempty"`           // when its agent last ended together with others, since a person last acted
	Failed        []Moment       `json:"failed,omitempty"`         // when the work last failed, by state
	Spent         Spend          `json:"spent,omitzero"`           // by all attempts so far

	Undelivered []Undelivered `json:"undelivered,omitempty"` // to agents that a person stopped: the next one of the role gets them
}

// Results are the reports and the work of agents.
type Results struct {
	LastReport   *LastReport       `json:"last_report,omitempty"`   // the last report of an agent
	Handoffs     []handoff.Handoff `json:"handoffs,omitempty"`      // the newest from each stage to each other
	Handover     *Handover         `json:"handover,omitempty"`      // what the last hand-over left out, nil if nothing
	Work         *Work             `json:"work,omitempty"`          // the commits of the task, nil if unknown
	Salvages     []string          `json:"salvages,omitempty"`      // refs at which its uncommitted work is kept
	SetAside     []string          `json:"set_aside,omitempty"`     // folders with its work that git could not save
	Opened       []Digest          `json:"opened,omitempty"`        // sections by the text that last opened a gate
	CardSnapshot *board.Snapshot   `json:"card_snapshot,omitempty"` // the task's card, as last read
	CheckResults []CheckResult     `json:"check_results,omitempty"` // the newest of each check
	Landing      *Landing          `json:"landing,omitempty"`       // the candidate that is being landed, or how the last landing ended

	ProtectedChanges []PathChange `json:"protected_changes,omitempty"` // of Unchanged, as last measured
	ApprovedChanges  []PathChange `json:"approved_changes,omitempty"`  // those that a person approved last
}

// Unanswered is an agent that ended while it waited for a person's answer. No other agent was started since.
type Unanswered struct {
	Attempt int       `json:"attempt"`
	Role    string    `json:"role"`
	Asks    bool      `json:"asks,omitempty"` // its last message is a question
	Since   time.Time `json:"since"`
}

// Stopped is an agent that a person stopped where it is needed. No other agent was started since.
type Stopped struct {
	Attempt int       `json:"attempt"`
	Role    string    `json:"role"`
	At      time.Time `json:"at"`
}

// Undelivered is a message to an agent that was stopped before it received it.
type Undelivered struct {
	Role    string `json:"role"`
	By      string `json:"by"`
	Message string `json:"message"`        // its name
	Text    string `json:"text,omitempty"` // a person's text
	Turn    bool   `json:"turn,omitempty"` // it is about the state of the task: obsolete when the task leaves it
}

// Answered records who answered an agent, and when.
type Answered struct {
	By  Actor     `json:"by"`
	Via string    `json:"via,omitempty"` // where the answer came from, for people; "" if unknown
	At  time.Time `json:"at"`
}

// A Handover lists what was missing when an agent handed its work over.
type Handover struct {
	Missing []string `json:"missing,omitempty"`
	Nothing bool     `json:"nothing,omitempty"` // the agent says that there was nothing to commit
	Visit   int      `json:"visit,omitempty"`   // in which the agent was asked to finish
}

// Work is the range of commits of a task.
type Work struct {
	Base   string `json:"base"`             // parent of the first
	Head   string `json:"head,omitempty"`   // the last one, "" if there is none
	Landed bool   `json:"landed,omitempty"` // they are in the default branch
}

// HandedOverCommits reports whether the task's branch had commits when its work was handed over.
func (t *Task) HandedOverCommits() bool {
	return t.Work != nil && t.Work.Head != "" && (t.Handover == nil || !t.Handover.Nothing)
}

// LastReport is an agent's report about its work. Code, Detail and Diagnosis may contain its text.
type LastReport struct {
	Role      string    `json:"role"`
	State     string    `json:"state"`
	Attempt   int       `json:"attempt"`
	Visit     int       `json:"visit"`
	Outcome   string    `json:"outcome"`
	Code      string    `json:"code,omitempty"`
	Detail    string    `json:"detail,omitempty"`
	Source    string    `json:"source,omitempty"`
	Diagnosis string    `json:"diagnosis,omitempty"` // what was found and did not count
	Message   string    `json:"message,omitempty"`   // fingerprint of the message it was in
	At        time.Time `json:"at"`
}

// A Moment is when something last happened in a state.
type Moment struct {
	State string    `json:"state"`
	At    time.Time `json:"at"`
}

// A Counter is a bounded number for guards. Total is never reset.
type Counter struct {
	Name  string `json:"name"`
	Value int    `json:"value"`
	Total int    `json:"total"`
}

// DescribeCount returns the counter as people read it.
func (c Counter) DescribeCount() string {
	if c.Total == c.Value {
		return fmt.Sprintf("%s %d", c.Name, c.Value)
	}
	return fmt.Sprintf("%s %d (%d in all)", c.Name, c.Value, c.Total)
}

// An AttemptTally counts the attempts of a role that were ever requested.
type AttemptTally struct {
	Role  string `json:"role"`
	Count int    `json:"count"`
}

// Asked is a request that its actor may make but only a person may grant.
type Asked struct {
	To   string    `json:"to"`
	By   Actor     `json:"by"`
	At   time.Time `json:"at"`
	Note string    `json:"note,omitempty"`
}

// A Digest is the fingerprint of one section's text.
type Digest struct {
	Section string `json:"section"`
	Sum     string `json:"sum"`
}

// A Sample is the text of a section when Orange last read it.
type Sample struct {
	Section string `json:"section"`
	Sum     string `json:"sum"`               // of the text, "" for no text, Unreadable if it could not be read
	Foreign string `json:"foreign,omitempty"` // role that may not use the section and was in a turn when the text changed
}

// SampleOf returns the sample of a section in a list.
func SampleOf(list []Sample, section string) (Sample, bool) {
	for i := range list {
		if list[i].Section == section {
			return list[i], true
		}
	}
	return Sample{}, false
}

// An Attempt is one run of one role. It may outlive the visit in which it began.
type Attempt struct {
	Number  int       `json:"number"`
	Role    string    `json:"role"`
	State   string    `json:"state"`
	Visit   int       `json:"visit"`
	Since   time.Time `json:"since"`             // when it was requested
	Running bool      `json:"running,omitempty"` // its start was confirmed
	Ending  bool      `json:"ending,omitempty"`  // its end was ordered: the exit is not a crash
	Overdue bool      `json:"overdue,omitempty"` // its deadline passed: the exit is judged
	Done    bool      `json:"done,omitempty"`    // its own request was accepted, and it got no message since

	Condition Condition     `json:"condition,omitzero"` // as last reported
	Credit    time.Duration `json:"credit,omitempty"`   // time of this visit spent waiting for others, which no deadline counts
	Nudged    time.Time     `json:"nudged,omitzero"`    // in this visit, when it was asked to continue
	Usage     Usage         `json:"usage,omitzero"`

	Harness string `json:"harness,omitempty"` // the choice that was made for it, "" for the harness that the role always has
	Why     string `json:"why,omitempty"`     // what ruled out the choices before
	Tried   string `json:"tried,omitempty"`   // choices that this start tried before, one per line

	Model      string `json:"model,omitempty"`       // that its harness reports, else the one it was started with; "" if unknown
	PromptHash string `json:"prompt_hash,omitempty"` // digest of the text of its prompt before values are filled in
}

// An Effect is an action outside the record. Its ID is task/seq/index of the entry that requires it, so that it
// identifies the same action after any crash.
type Effect struct {
	ID        string    `json:"id"`
	Do        string    `json:"do"`
	By        string    `json:"by"` // edge, state or person
	Role      string    `json:"role,omitempty"`
	Attempt   int       `json:"attempt,omitempty"`
	Start     bool      `json:"start,omitempty"` // the attempt is a new one
	Head      string    `json:"head,omitempty"`  // for a merge: the commit that a person confirmed; no other is merged
	Since     time.Time `json:"since,omitzero"`  // for a merge: when it was requested, which is its place in the landing queue; set when the entry is folded
	Turn      bool      `json:"turn,omitempty"`  // notifies the attempt that the task is in a state of its role; obsolete when the task leaves it
	Window    string    `json:"window,omitempty"`
	Prompt    string    `json:"prompt,omitempty"`  // name of the prompt or message
	Message   string    `json:"message,omitempty"` // name of the text that a replacement gets in addition to its prompt
	Workspace string    `json:"workspace,omitempty"`
	Choice    *Choice   `json:"choice,omitempty"` // for a start: the agent that was chosen
	Arg       string    `json:"arg,omitempty"`    // merge: the strategy; rename_branch: the old name; write_section: the section
	Text      string    `json:"text,omitempty"`   // a person's text: what to write or to send; text for a card

	Tags        []string `json:"tags,omitempty"`         // tag_card: to set
	Untags      []string `json:"untags,omitempty"`       // tag_card: to remove
	NonBlocking bool     `json:"non_blocking,omitempty"` // for a tracker: the others do not wait for it once it has failed

	Tries     int       `json:"tries,omitempty"`
	Moves     int       `json:"moves,omitempty"` // for a merge: how often the target moved while its candidate was checked
	NotBefore time.Time `json:"not_before,omitzero"`
	GivenUp   bool      `json:"given_up,omitempty"`
	Error     string    `json:"error,omitempty"`
}

// PauseCause is what paused a task.
type PauseCause string

// The causes of a pause.
const (
	PausedByRequest PauseCause = "request" // of a person or a tracker
	PausedByRestore PauseCause = "restore" // of the store: only a person may move or resume the task
)

// GaveUp is an effect that was given up.
type GaveUp struct {
	Do       string    `json:"do"`
	Conflict *Conflict `json:"conflict,omitempty"`
}

// Values of Effect.By.
const (
	ByEdge  = "edge"
	ByState = "state"

	ByPerson = "person" // somebody waits for the result
)

// CounterValue returns the value of the named counter, 0 if there is none.
func (t *Task) CounterValue(name string) int {
	for i := range t.Counters {
		if t.Counters[i].Name == name {
			return t.Counters[i].Value
		}
	}
	return 0
}

// LiveAttempt returns the attempt of role that is neither over nor ordered to end.
func (t *Task) LiveAttempt(role string) (Attempt, bool) {
	for i := range t.Attempts {
		if a := &t.Attempts[i]; a.Role == role && !a.Ending {
			return *a, true
		}
	}
	return Attempt{}, false
}

// AttemptsOfRole returns how many attempts of role were ever requested.
func (t *Task) AttemptsOfRole(role string) int {
	for i := range t.AttemptCounts {
		if t.AttemptCounts[i].Role == role {
			return t.AttemptCounts[i].Count
		}
	}
	return 0
}

// AttemptCount returns how many attempts were ever requested; the next attempt's number is one higher.
func (t *Task) AttemptCount() int {
	n := 0
	for i := range t.AttemptCounts {
		n += t.AttemptCounts[i].Count
	}
	return n
}

// AttemptByNumber returns the unfinished attempt with that number.
func (t *Task) AttemptByNumber(n int) (Attempt, bool) {
	for i := range t.Attempts {
		if t.Attempts[i].Number == n {
			return t.Attempts[i], true
		}
	}
	return Attempt{}, false
}

// Clone returns a copy that may be changed. What entries bring as a whole, such as the tags of an effect or the lists
// of a handoff, is never changed and is shared.
func (t *Task) Clone() Task {
	c := *t
	c.Counters = slices.Clone(t.Counters)
	c.Attempts = slices.Clone(t.Attempts)
	c.AttemptCounts = slices.Clone(t.AttemptCounts)
	c.Pending = slices.Clone(t.Pending)
	c.Opened = slices.Clone(t.Opened)
	c.Seen = slices.Clone(t.Seen)
	c.Samples = slices.Clone(t.Samples)
	c.Handoffs = slices.Clone(t.Handoffs)
	c.LastReport, c.CardSnapshot, c.Handover, c.Work, c.GaveUp = clonePointer(t.LastReport), clonePointer(t.CardSnapshot), clonePointer(t.Handover), clonePointer(t.Work), clonePointer(t.GaveUp)
	c.Unstarted, c.CheckRun, c.Landing = clonePointer(t.Unstarted), clonePointer(t.CheckRun), clonePointer(t.Landing)
	c.CheckResults = slices.Clone(t.CheckResults)
	c.ProtectedChanges, c.ApprovedChanges = slices.Clone(t.ProtectedChanges), slices.Clone(t.ApprovedChanges)
	c.Salvages, c.SetAside = slices.Clone(t.Salvages), slices.Clone(t.SetAside)
	c.After, c.Predecessors = slices.Clone(t.After), slices.Clone(t.Predecessors)
	c.Failed = slices.Clone(t.Failed)
	c.Lost = slices.Clone(t.Lost)
	c.Limits, c.Roles = slices.Clone(t.Limits), slices.Clone(t.Roles)
	c.Unanswered, c.Answered, c.Stopped = clonePointer(t.Unanswered), clonePointer(t.Answered), clonePointer(t.Stopped)
	c.Undelivered = slices.Clone(t.Undelivered)
	if t.Asked != nil {
		asked := *t.Asked
		c.Asked = &asked
	}
	return c
}

func clonePointer[T any](p *T) *T {
	if p == nil {
		return nil
	}
	c := *p
	return &c
}

// FailedIn returns when the work last failed in a state, zero for never.
func (t *Task) FailedIn(state string) time.Time {
	for i := range t.Failed {
		if t.Failed[i].State == state {
			return t.Failed[i].At
		}
	}
	return time.Time{}
}

// SumOf returns the fingerprint recorded for a section, "" if there is none.
func SumOf(list []Digest, section string) string {
	for i := range list {
		if list[i].Section == section {
			return list[i].Sum
		}
	}
	return ""
}
