package cli

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"time"

	"github.com/spf13/cobra"

	"orange/internal/core/engine"
	"orange/internal/core/journal"
	"orange/internal/core/task"
	"orange/internal/core/workflow"
	"orange/internal/wire"
)

// replayFlags is the command line of task replay.
type replayFlags struct {
	at      int
	against string
}

func newTaskReplay(deps Deps) *cobra.Command {
	var f replayFlags
	cmd := &cobra.Command{
		Use: "replay [id]", Short: "Fold a task's journal again and make every decision once more",
		Long: "Make sure that the journal, up to the task's last row, is what was written. Then fold\n" +
			"the task's journal again and compare it with the stored record, byte for byte; then\n" +
			"make every decision once more, each on the record that was there, and compare the entries.\n" +
			"Nothing is changed. The exit code is 1 if anything differs.",
		Example: "  orange task replay MFTsZyeO\n" +
			"  orange task replay MFTsZyeO --at 12\n" +
			"  orange task replay MFTsZyeO --against ./stricter.yaml",
		Args: arguments(0, 1),
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
		past, err := s.past(ctx, id)
		switch {
		case err != nil:
			return err
		case cmd.Flags().Changed("at"):
			return s.showAt(past, f.at)
		case f.against != "":
			return s.replayAgainst(past, f.against)
		}
		return s.replay(ctx, past)
	})
	return cmd
}

// verifyChain makes sure that the rows that led to a task are what was written, and names the
// first one that is not.
func (s session) verifyChain(ctx context.Context, id string) error {
	chain, err := s.Chain(ctx, id)
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
	return errors.Join(printJSON(s.Stdout, out), fail{code: exitFailed, told: true, err: err})
}

// past is a task and the entries that led to its record.
type past struct {
	wire.TaskShown
	entries []journal.Entry
}

// past reads the record first: entries that come meanwhile are not part of it.
func (s session) past(ctx context.Context, id string) (past, error) {
	v, err := s.Task(ctx, id)
	if err != nil {
		return past{}, err
	}
	entries, err := s.Journal(ctx, string(v.Task.ID), 0)
	return past{v, entries[:min(len(entries), v.Task.Seq)]}, err
}

// showAt shows the record as it was, as task show does. The words of TASK.md are not
// kept, only their digests.
func (s session) showAt(p past, seq int) error {
	t, err := engine.Replay(p.entries, seq)
	if err != nil {
		return fail{code: exitUsage, err: err}
	}
	events := []json.RawMessage{}
	for _, e := range p.entries[:seq] {
		for _, ev := range journal.History(e) {
			line, err := ev.MarshalJSON()
			if err != nil {
				return err
			}
			events = append(events, line)
		}
	}
	v := wire.TaskShown{Task: t, Dir: p.Dir}
	all := struct {
		wire.TaskShown
		History []json.RawMessage `json:"history"`
	}{v, events}
	then := s.Deps
	then.Now = func() time.Time { return t.UpdatedAt.In(s.Now().Location()) }
	return s.show(all, func(w io.Writer) error { return printView(w, then, v, events) })
}

// replayed is what task replay prints.
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

// difference is a value of the record that is stored otherwise than it folds.
type difference struct {
	Name   string          `json:"name"`
	Stored json.RawMessage `json:"stored,omitempty"`
	Folded json.RawMessage `json:"folded,omitempty"`
}

// replay compares the record with the fold, and every decision with itself.
func (s session) replay(ctx context.Context, p past) error {
	out := replayed{Task: p.Task.ID, now: s.Now()}
	differs, err := compareRecord(p)
	if err != nil {
		return err
	}
	out.Record.Differs, out.Record.Same = differs, len(differs) == 0
	def, err := s.pinned(ctx, p.Task.WorkflowHash)
	if err != nil {
		return err
	}
	if out.Replayed, err = engine.Again(def, p.entries); err != nil {
		return err
	}
	first, _ := out.Diverges()
	out.Same = out.Record.Same && first == nil
	if err := s.show(out, out.print); err != nil {
		return err
	}
	return replayResult(out.Same, "task %s does not replay to the same: see orange doctor", p.Task.ID)
}

// replayResult is the exit code of a replay whose output has said everything.
func replayResult(same bool, format string, args ...any) error {
	if same {
		return nil
	}
	return fail{code: exitFailed, told: true, err: fmt.Errorf(format, args...)}
}

// pinned reads the workflow that a task is decided by.
func (s session) pinned(ctx context.Context, hash string) (*workflow.Definition, error) {
	w, err := s.Workflow(ctx, hash)
	if err != nil {
		return nil, err
	}
	if workflow.HashOf(w.Text) != hash {
		return nil, errors.New("the text of the workflow is not the one the task was created under: run orange doctor")
	}
	return workflow.Parse(w.File, w.Text)
}

// compareRecord lists the values of the stored record that are not what its entries
// fold to.
func compareRecord(p past) ([]difference, error) {
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
	return differences(have, want), nil
}
