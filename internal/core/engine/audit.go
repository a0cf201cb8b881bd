package engine

import (
	"fmt"
	"strings"
	"time"

	"orange/internal/core/journal"
	"orange/internal/core/signal"
	"orange/internal/core/task"
	"orange/internal/core/taskfile"
	"orange/internal/core/workflow"
)

// Audited lists what led to the merge of a task and who did it, and reports whether every decision about the task comes
// out the same when it is made again.
type Audited struct {
	Task          task.ID   `json:"task"`
	Project       string    `json:"project"`
	Summary       string    `json:"summary"`
	Branch        string    `json:"branch"`
	Base          string    `json:"base,omitempty"` // parent of the task's first commit
	Head          string    `json:"head,omitempty"` // the task's last commit
	Workflow      string    `json:"workflow"`
	Hash          string    `json:"hash"` // SHA-256 of the workflow's text
	Harness       string    `json:"harness,omitempty"`
	ReviewHarness string    `json:"review_harness,omitempty"`
	PRURL         string    `json:"pr_url,omitempty"`
	Merged        string    `json:"merged,omitempty"` // the merge commit
	At            time.Time `json:"at"`               // when the merge was recorded
	Seq           int       `json:"seq"`              // the entry that records the merge

	Steps     []AuditStep `json:"steps"` // up to entry Seq, oldest first
	Redecided Redecided   `json:"redecided"`
}

// An AuditStep is an entry that led to a merge.
type AuditStep struct {
	Seq     int             `json:"seq"`
	Who     string          `json:"who,omitempty"`     // the requester, or the agent that it happened to, with its attempt number
	Harness string          `json:"harness,omitempty"` // of the agent that was started
	Events  []journal.Event `json:"events"`            // as in history.jsonl
	Gates   []string        `json:"gates,omitempty"`   // rules that were open, and what opened them
	Effects []string        `json:"effects,omitempty"` // effects that the entry requires
}

// Redecided counts how the decisions of a journal came out when they were made again.
type Redecided struct {
	Entries   int            `json:"entries"`
	Decisions int            `json:"decisions"`
	Same      bool           `json:"same"`
	Differ    int            `json:"differ,omitempty"`
	Older     int            `json:"older,omitempty"` // decisions by other rules that differ; these are not faults
	First     *RedecidedStep `json:"first,omitempty"` // the first fault
}

// Audit follows a journal to entry seq, which records a merge, and makes every decision again under the pinned
// workflow.
func Audit(def *workflow.Definition, entries []journal.Entry, seq int, merged string) (Audited, error) {
	then, err := ReplayTo(entries, seq)
	if err != nil {
		return Audited{}, err
	}
	out := Audited{
		Task: then.ID, Project: then.Project, Summary: then.Summary, Branch: then.Branch, Workflow: then.Workflow, Hash: then.WorkflowHash,
		Harness: then.Harness, ReviewHarness: then.ReviewHarness, PRURL: then.PRURL,
		Merged: merged, At: entries[seq-1].At, Seq: seq, Steps: []AuditStep{},
	}
	if w := then.Work; w != nil {
		out.Base, out.Head = w.Base, w.Head
	}
	var t task.Task
	for _, decision := range journal.SplitDecisions(entries) {
		first := &decision[0]
		if first.Seq > seq {
			break
		}
		reasons := Decide(def, &t, first.Signal(t.Visit)).Reasons
		next := t.Clone() // folding must not change what was decided
		for i := range decision {
			e := &decision[i]
			if err := journal.Apply(&next, e); err != nil {
				return out, err
			}
			if e.Seq <= seq && changesTask(e) {
				out.Steps = append(out.Steps, AuditStep{Seq: e.Seq, Who: e.ActorName(), Events: journal.HistoryEvents(*e), Gates: describeOpenRules(def, e, first.Snapshot, reasons), Effects: effectNames(e), Harness: startedHarness(def, &next, e)})
			}
		}
		t = next
	}
	again, err := Redecide(def, entries)
	if err != nil {
		return out, err
	}
	first, differ, older := again.FirstFault()
	out.Redecided = Redecided{Entries: again.Entries, Decisions: len(again.Decisions), Same: first == nil && again.Pinned, Differ: differ, Older: older, First: first}
	return out, nil
}

// changesTask reports whether an entry does more than record a finished effect or an agent's condition.
func changesTask(e *journal.Entry) bool {
	switch e.Type {
	case journal.EffectDone:
		_, merge := journal.MergeOf(e)
		return merge
	case journal.EffectFailed, journal.AgentNotice:
		return false
	}
	return true
}

// describeOpenRules lists the rules that let an entry move the task, and the sections that opened its gates. It returns
// the verdict and the digest of a section, not its text. seen is the snapshot that the decision used.
func describeOpenRules(def *workflow.Definition, e *journal.Entry, seen *signal.Snapshot, reasons []Reason) (out []string) {
	if e.To == "" {
		return nil
	}
	for _, r := range reasons {
		if r.OK && r.To == e.To && r.Line == e.Line && r.Rule != RuleActor && r.Rule != RuleEdge {
			out = append(out, fmt.Sprintf("%s: %s", r.Rule, r.Text))
		}
	}
	if seen == nil {
		return out
	}
	for i := range def.Edges {
		if def.Edges[i].Number() != e.Edge {
			continue
		}
		for _, g := range def.EdgeGates(&def.Edges[i]) {
			if text := describeSection(&def.Gates[g], seen); text != "" {
				out = append(out, text)
			}
		}
	}
	if r := seen.Report; r != nil && r.Code != "" {
		out = append(out, fmt.Sprintf("report: %s %s, by %s", r.Outcome, r.Code, r.Source))
	}
	return out
}

// describeSection describes the section of a gate.
func describeSection(g *workflow.Gate, seen *signal.Snapshot) string {
	s, ok := taskfile.FindSection(seen.Sections, g.Section)
	if !ok {
		return ""
	}
	text := fmt.Sprintf("section %s: %d bytes, digest %s", s.Name, s.Size, s.Digest)
	if g.Verdict != "" {
		text += ", verdict " + g.Verdict
	}
	return text
}

func effectNames(e *journal.Entry) (out []string) {
	for i := range e.Effects {
		out = append(out, strings.TrimSpace(e.Effects[i].Do+" "+e.Effects[i].Role))
	}
	return out
}

// startedHarness returns the harness of the agent whose start an entry records.
func startedHarness(def *workflow.Definition, t *task.Task, e *journal.Entry) string {
	if e.Type != journal.AgentSpawned {
		return ""
	}
	if a, ok := t.AttemptByNumber(e.Attempt); ok && a.Harness != "" {
		return a.Harness
	}
	role, ok := def.RoleNamed(e.Role)
	if !ok {
		return t.Harness
	}
	return HarnessChoices(t, role)[0].Harness
}
