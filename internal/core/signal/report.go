package signal

import "orange/internal/core/handoff"

// A Report is an agent's report about its work, in one form for every protocol.
type Report struct {
	Protocol  Protocol         `json:"protocol"`
	Outcome   Result           `json:"outcome"`
	Code      string           `json:"code"`   // the protocol's own word; "" if nothing counts
	Detail    string           `json:"detail"` // the text with it; untrusted
	Source    Source           `json:"source"`
	Nonce     string           `json:"nonce"`
	Actions   *Actions         `json:"actions,omitempty"`
	Handoff   *handoff.Handoff `json:"handoff,omitempty"`
	Consult   *Consult         `json:"consult,omitempty"`
	Diagnosis string           `json:"diagnosis,omitempty"` // what was found and does not count, and why
	Unproven  bool             `json:"unproven,omitempty"`  // it is neither a command of the attempt nor has the nonce of its prompt
}

// Protocol is a format of reports.
type Protocol string

// The protocols.
const (
	WorkResult      Protocol = "work-result"
	CompletionBlock Protocol = "completion-block"
	WorkerResult    Protocol = "worker-result"
	AnyProtocol     Protocol = "auto"      // whichever of the three counts, the most trusted first
	TaskSections    Protocol = "artifacts" // sections of TASK.md, which are not searched for in a text
	ProcessExit     Protocol = "exit"      // the exit code only
)

// Result is the result of the work in one word.
type Result string

// The results.
const (
	Passed    Result = "passed"
	Failed    Result = "failed"
	Halted    Result = "halted"    // it cannot continue without a person
	Unknown   Result = "unknown"   // there is no report that counts
	Ambiguous Result = "ambiguous" // there are contradicting reports
)

// Source is where in the text a report was found.
type Source string

// The sources, the most trusted first.
const (
	FromVerb      Source = "verb"      // a command of the agent
	FromJSON      Source = "json"      // a worker-result
	FromBlock     Source = "block"     // a completion block
	FromMarker    Source = "marker"    // a work-result marker
	FromLegacy    Source = "legacy"    // an older form of a completion block
	FromHeuristic Source = "heuristic" // words that usually have this meaning
	FromArtifact  Source = "artifact"  // a section of TASK.md
	FromExit      Source = "exit"      // the end of the process only
	NoSource      Source = ""
)

// Actions are a worker's requests for changes on the board. The workflow decides who may
// request what.
type Actions struct {
	AddTags     []string    `json:"add_tags,omitempty"`
	RemoveTags  []string    `json:"remove_tags,omitempty"`
	Comment     string      `json:"add_comment,omitempty"`
	Column      string      `json:"move_to_column,omitempty"`
	Description string      `json:"update_description,omitempty"`
	Git         *GitActions `json:"git_actions,omitempty"`
	Errors      []string    `json:"errors,omitempty"`
	NeedsHuman  string      `json:"needs_human,omitempty"`
}

// GitActions are a worker's claims about what it did to the repository.
type GitActions struct {
	Branch string   `json:"branch_created,omitempty"`
	Files  []string `json:"files_changed,omitempty"`
	Made   bool     `json:"commit_made,omitempty"`
	Commit string   `json:"commit_sha,omitempty"`
	PR     *PRMade  `json:"pr_created,omitempty"`
}

// PRMade is a pull request that a worker claims to have opened.
type PRMade struct {
	Number int    `json:"number"`
	URL    string `json:"url"`
	Title  string `json:"title"`
}

// A Consult is a question to another role, asked in the middle of the work.
type Consult struct {
	Role    string         `json:"agent_type"`
	Mode    string         `json:"mode"`
	Context ConsultContext `json:"context"`
	Resume  ConsultResume  `json:"resume_as"`
}

// ConsultContext is what the other role must know.
type ConsultContext struct {
	Reason   string    `json:"reason"`
	Question string    `json:"question,omitempty"`
	Files    []string  `json:"files_of_interest,omitempty"`
	Conflict *Conflict `json:"conflict_details,omitempty"`
}

// Conflict is a merge that failed.
type Conflict struct {
	Files   []string `json:"conflicting_files"`
	Develop string   `json:"develop_summary"`
	Feature string   `json:"feature_summary"`
}

// ConsultResume is the role that continues with the answer.
type ConsultResume struct {
	Role string `json:"agent_type"`
	Mode string `json:"mode"`
}

// DetectOptions controls what Detect searches for.
type DetectOptions struct {
	Protocol  Protocol
	WorkType  string            // scopes heuristics: qa, acceptance and the like
	Task      string            // if set, a block or JSON of another task does not count
	Agent     string            // if set, a block or JSON of another agent does not count
	Nonce     string            // the nonce in the prompt
	OwnStream bool              // the text is the attempt's own final message: the nonce may be missing, but not wrong
	Parity    bool              // interpret markers like the system they come from, for comparison
	Codes     map[string]Result // completion codes of the step, by upper-case name; nil for the default ones
	Stages    []string          // valid names of stages and workers; nil for those of the published schema
}
