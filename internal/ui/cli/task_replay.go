package cli

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"maps"
	"slices"
	"strings"
	"time"

	"github.com/spf13/cobra"

	"orange/internal/core/engine"
	"orange/internal/core/journal"
	"orange/internal/core/task"
	"orange/internal/core/workflow"
	"orange/internal/wire"
)

// replayFlags are the flags of task replay.
type replayFlags struct {
	at      int
	against string
}

func newTaskReplay(deps Deps) *cobra.Command {
	var f replayFlags
	cmd := &cobra.Command{
		Use: "replay [id]", Short: "Fold a task's journal again and repeat every decision",
		Long: "Make sure that the journal, up to the task's last row, is what was written. Then fold\n" +
			"the task's journal again and compare it with the stored record, byte for byte; then\n" +
			"make every decision once more, each on the record that was there, and compare the entries.\n" +
			"Nothing is changed. The exit code is 1 if anything differs; a decision that was made by the\n" +
			"rules of another version of Orange may differ, and is only reported.",
		Example: "  orange task replay MFTsZyeO\n" +
			"  orange task replay MFTsZyeO --at 12\n" +
			"  orange task replay MFTsZyeO --against ./stricter.yaml",
		Args: requireArguments(0, 1),
	}
	cmd.Flags().IntVar(&f.at, "at", 0, "show the record as entry `SEQ` left it")
	cmd.Flags().StringVar(&f.against, "against", "", "decide by another workflow: `NAME|FILE`")
	cmd.RunE = withServer(deps, func(ctx context.Context, s session, args []string) error {
		if cmd.Flags().Changed("at") && f.against != "" {
			return usageError("--at and --against do not go together: give one of them")
		}
		id, err := s.taskOf(ctx, args)
		if err != nil {
			return err
		}
		if err := s.verifyChain(ctx, id); err != nil {
			return err
		}
		past, err := s.loadPast(ctx, id)
		switch {
		case err != nil:
			return err
		case cmd.Flags().Changed("at"):
			return s.showAt(past, f.at)
		case f.against != "":
			return s.replayAgainst(past, f.against)
		}
		return s.replayTask(ctx, past)
	})
	return cmd
}

// verifyChain checks that the rows of a task are stored as they were written. It returns an
// error that names the first row that is not.
func (s session) verifyChain(ctx context.Context, id string) error {
	chain, err := s.VerifyChain(ctx, id)
	if err != nil || chain.Broken == nil {
		return err
	}
	err = fmt.Errorf("%w; the rows before it (%d) are as they were written, nothing behind it can be trusted: run orange doctor", chain.Broken, chain.Rows)
	if !wantsJSON(s.cmd) {
		return err
	}
	out := struct {
		Task  string     `json:"task"`
		Same  bool       `json:"same"`
		Chain wire.Chain `json:"chain"`
	}{id, false, chain}
	return errors.Join(printJSON(s.Stdout, out), exitError{code: exitFailed, shown: true, err: err})
}

// pastTask is a task and the entries that led to its record.
type pastTask struct {
	wire.TaskDetails
	entries []journal.Entry
}

// loadPast reads a task and its entries. It reads the record first and drops the entries that
// were added after it.
func (s session) loadPast(ctx context.Context, id string) (pastTask, error) {
	v, err := s.ReadTask(ctx, id)
	if err != nil {
		return pastTask{}, err
	}
	entries, err := s.ReadJournal(ctx, string(v.Task.ID), 0)
	return pastTask{v, entries[:min(len(entries), v.Task.Seq)]}, err
}

// showAt prints the record as it was, in the format of task show. The text of TASK.md is not
// kept, only its digests.
func (s session) showAt(p pastTask, seq int) error {
	t, err := engine.ReplayTo(p.entries, seq)
	if err != nil {
		return exitError{code: exitUsage, err: err}
	}
	events := []json.RawMessage{}
	for _, e := range p.entries[:seq] {
		for _, ev := range journal.HistoryEvents(e) {
			line, err := ev.MarshalJSON()
			if err != nil {
				return err
			}
			events = append(events, line)
		}
	}
	v := wire.TaskDetails{Task: t, Dir: p.Dir}
	all := struct {
		wire.TaskDetails
		History []json.RawMessage `json:"history"`
	}{v, events}
	then := s.Deps
	then.Now = func() time.Time { return t.UpdatedAt.In(s.Now().Location()) }
	return s.showResult(all, func(w io.Writer) error { return printView(w, then, v, events) })
}

// replayed is the output of task replay.
type replayed struct {
	Task   task.ID `json:"task"`
	Same   bool    `json:"same"`
	Record struct {
		Same    bool         `json:"same"`
		Differs []difference `json:"differs,omitempty"`
	} `json:"record"`
	engine.Replayed
	now time.Time
}

// A difference is a value of the stored record that is not what its entries fold to.
type difference struct {
	Name   string          `json:"name"`
	Stored json.RawMessage `json:"stored,omitempty"`
	Folded json.RawMessage `json:"folded,omitempty"`
}

// replayTask compares the record with the fold of its entries, and makes every decision again
// and compares it with the journal.
func (s session) replayTask(ctx context.Context, p pastTask) error {
	out := replayed{Task: p.Task.ID, now: s.Now()}
	differs, err := compareRecord(p)
	if err != nil {
		return err
	}
	out.Record.Differs, out.Record.Same = differs, len(differs) == 0
	def, err := s.loadPinned(ctx, p.Task.WorkflowHash)
	if err != nil {
		return err
	}
	if out.Replayed, err = engine.Redecide(def, p.entries); err != nil {
		return err
	}
	first, _, _ := out.FirstFault()
	out.Same = out.Record.Same && first == nil
	if err := s.showResult(out, out.printReplay); err != nil {
		return err
	}
	return replayResult(out.Same, "task %s does not replay to the same: see orange doctor", p.Task.ID)
}

// replayResult returns the exit code of a replay whose output has already reported everything.
func replayResult(same bool, format string, args ...any) error {
	if same {
		return nil
	}
	return exitError{code: exitFailed, shown: true, err: fmt.Errorf(format, args...)}
}

// loadPinned returns the workflow that a task is pinned to.
func (s session) loadPinned(ctx context.Context, hash string) (*workflow.Definition, error) {
	w, err := s.ReadWorkflow(ctx, hash)
	if err != nil {
		return nil, err
	}
	if workflow.HashOf(w.Text) != hash {
		return nil, errors.New("the text of the workflow is not the one the task was created under: run orange doctor")
	}
	return workflow.Parse(w.File, w.Text)
}

// compareRecord returns the values of the stored record that are not what its entries fold to.
func compareRecord(p pastTask) ([]difference, error) {
	folded, err := journal.Fold(task.Task{}, p.entries)
	if err != nil {
		return nil, err
	}
	a, err := json.Marshal(p.Task)
	if err != nil {
		return nil, err
	}
	b, err := json.Marshal(folded)
	if err != nil || bytes.Equal(a, b) {
		return nil, err
	}
	var have, want map[string]json.RawMessage
	if err := errors.Join(json.Unmarshal(a, &have), json.Unmarshal(b, &want)); err != nil {
		return nil, err
	}
	return findDifferences(have, want), nil
}

// findDifferences returns the values that differ, sorted by name.
func findDifferences(have, want map[string]json.RawMessage) []difference {
	names := slices.Sorted(maps.Keys(have))
	for name := range want {
		if _, ok := have[name]; !ok {
			names = append(names, name)
		}
	}
	slices.Sort(names)
	var out []difference
	for _, name := range names {
		if !bytes.Equal(have[name], want[name]) {
			out = append(out, difference{name, have[name], want[name]})
		}
	}
	return out
}

// printReplay prints that everything is the same, or the first difference.
func (r replayed) printReplay(w io.Writer) error {
	p := timeline{now: r.now}
	first, n, older := r.FirstFault()
	switch {
	case r.Same && older > 0:
		p.writeLine("%s, %s: same record, same decisions by the present rules", formatCount(r.Entries, "entry", "entries"), formatCount(len(r.Decisions), "decision", "decisions"))
	case r.Same:
		p.writeLine("%s, %s: same record, same decisions", formatCount(r.Entries, "entry", "entries"), formatCount(len(r.Decisions), "decision", "decisions"))
	case !r.Record.Same:
		d := r.Record.Differs[0]
		p.writeLine("%s: the record is not what they fold to", formatCount(r.Entries, "entry", "entries"))
		p.writeLine("  %s is stored as %s and folds to %s", d.Name, orNothing(d.Stored), orNothing(d.Folded))
	}
	if first != nil {
		p.writeLine("%d of %s would be another now; the first:", n, formatCount(len(r.Decisions), "decision", "decisions"))
		p.writeDivergence(first)
	}
	if older > 0 {
		p.writeLine("%s by the rules of another version would differ now: that is expected", formatCount(older, "decision", "decisions"))
	}
	_, err := io.WriteString(w, p.String())
	return err
}

func formatCount(n int, one, many string) string {
	if n == 1 {
		return "1 " + one
	}
	return fmt.Sprintf("%d %s", n, many)
}

func orNothing(v json.RawMessage) string {
	if v == nil {
		return "nothing"
	}
	return string(v)
}

// replayAgainst makes every decision again with another workflow.
func (s session) replayAgainst(p pastTask, name string) error {
	def, err := loadWorkflow(s.Deps, name)
	if err != nil {
		return err
	}
	r, err := engine.Redecide(def, p.entries)
	if err != nil {
		return err
	}
	first, _ := r.FirstDivergence()
	out := struct {
		Task string `json:"task"`
		Same bool   `json:"same"`
		engine.Replayed
	}{string(p.Task.ID), first == nil, r}
	err = s.showResult(out, func(w io.Writer) error {
		t := timeline{now: s.Now()}
		t.writeComparison(&r, def.File)
		_, err := io.WriteString(w, t.String())
		return err
	})
	if err != nil {
		return err
	}
	return replayResult(first == nil, "task %s goes another way under %s", p.Task.ID, def.File)
}

// A timeline formats decisions, one below the other.
type timeline struct {
	strings.Builder
	now time.Time
}

func (t *timeline) writeLine(format string, args ...any) {
	text := fmt.Sprintf(format, args...)
	indent := text[:len(text)-len(strings.TrimLeft(text, " "))]
	t.WriteString(indent + cleanLine(text) + "\n")
}

// timelineBefore is how many moves are shown before the first divergence.
const timelineBefore = 3

func (t *timeline) writeComparison(r *engine.Replayed, file string) {
	first, n := r.FirstDivergence()
	if first == nil {
		t.writeLine("%s: all would be the same under %s", formatCount(len(r.Decisions), "decision", "decisions"), file)
		return
	}
	var moves []*engine.RedecidedStep
	for i := range r.Decisions {
		if d := &r.Decisions[i]; d.Seq < first.Seq && d.From != d.To {
			moves = append(moves, d)
		}
	}
	t.writeLine("Under %s the task would have gone another way at entry %d", file, first.Seq)
	for _, d := range moves[max(0, len(moves)-timelineBefore):] {
		t.writeLine("  #%-4d %s  %s: %s  (the same)", d.Seq, formatClock(t.now, d.At), describeSignal(d), describeMove(d.From, d.To))
	}
	t.writeDivergence(first)
	if n > 1 {
		t.writeLine("%s after it would be others too", formatCount(n-1, "decision", "decisions"))
	}
}

// describeSignal describes the signal of a decision.
func describeSignal(d *engine.RedecidedStep) string {
	if d.Actor == "" {
		return string(d.Signal)
	}
	return fmt.Sprintf("%s by %s", d.Signal, d.Actor)
}

func describeMove(from, to string) string {
	switch from {
	case to:
		return "stays " + to
	case "":
		return "begins as " + to
	}
	return from + " -> " + to
}

// writeDivergence writes what was decided, what would be decided now, and why.
func (t *timeline) writeDivergence(d *engine.RedecidedStep) {
	t.writeLine("  #%-4d %s  %s", d.Seq, formatClock(t.now, d.At), describeSignal(d))
	then, now := describeEntries(d.Want), describeEntries(d.Got)
	if d.Refused != "" {
		now = []string{"refuse: " + d.Refused}
	} else if len(now) == 0 {
		now = []string{string(d.Verdict) + ": nothing is written down"}
	}
	if slices.Equal(then, now) { // the texts are equal, but the values are not
		then, now = rawEntries(d.Want), rawEntries(d.Got)
	}
	t.writeLines("then", then)
	t.writeLines("now", now)
	for _, r := range d.Reasons {
		t.writeLine("               %s (line %d)", r, r.Line)
	}
}

func (t *timeline) writeLines(when string, list []string) {
	for i, text := range list {
		if i > 0 {
			when = ""
		}
		t.writeLine("        %-5s  %s", when, text)
	}
}

// describeEntries describes what entries change, one line each.
func describeEntries(entries []journal.Entry) []string {
	var out []string
	for i := range entries {
		e := &entries[i]
		parts := []string{string(e.Type)}
		if e.To != "" {
			parts[0] += " " + e.From + " -> " + e.To
		}
		if e.Line > 0 {
			parts[0] += fmt.Sprintf(" (line %d)", e.Line)
		}
		for _, text := range []string{e.Reason, e.Attention} {
			if text != "" {
				parts = append(parts, text)
			}
		}
		for _, c := range e.Counters {
			parts = append(parts, fmt.Sprintf("%s = %d", c.Name, c.Value))
		}
		for _, f := range e.Effects {
			parts = append(parts, "do "+strings.TrimSpace(f.Do+" "+f.Role))
		}
		out = append(out, strings.Join(parts, "; "))
	}
	return out
}

func rawEntries(entries []journal.Entry) []string {
	var out []string
	for i := range entries {
		text, err := json.Marshal(&entries[i])
		if err != nil {
			text = []byte(err.Error())
		}
		out = append(out, string(text))
	}
	return out
}
