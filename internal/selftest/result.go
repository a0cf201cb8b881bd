package selftest

import (
	"bufio"
	"context"
	"encoding/json"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"time"

	"orange/internal/core/journal"
	"orange/internal/core/taskfile"
)

// result is what a walk left behind, without times, which differ from run to run.
type result struct {
	crashed bool
	path    []string
	record  string   // the task, as JSON
	journal []string // one line per entry
	effects []string // one line per effect that was done
	wrong   []string // what must never happen
}

func (w *walker) gatherResult(ctx context.Context) (r result, err error) {
	if err := w.awaitShown(ctx); err != nil {
		return r, err
	}
	err = w.retryAcrossCrashes(ctx, func() (bool, error) {
		r, err = w.collectResult(ctx)
		return err == nil, err
	})
	r.crashed = w.server.deaths > 0
	return r, err
}

// collectResult reads the result once nothing changes any more.
func (w *walker) collectResult(ctx context.Context) (result, error) {
	view, err := w.server.client.ReadTask(ctx, string(walkTask))
	if err != nil {
		return result{}, err
	}
	r := result{path: w.path, record: timelessJSON(view.Task)}
	entries, err := w.server.client.ReadJournal(ctx, string(walkTask), 0)
	if err != nil {
		return r, err
	}
	for _, e := range entries {
		r.journal = append(r.journal, timelessJSON(e))
	}
	if len(entries) < w.acked {
		r.wrong = append(r.wrong, fmt.Sprintf("entry %d was confirmed and is lost", w.acked))
	}
	checks, err := w.server.client.RunChecks(ctx)
	if err != nil {
		return r, err
	}
	for _, c := range checks {
		if !c.OK {
			r.wrong = append(r.wrong, "doctor: "+c.Name+": "+c.Detail)
		}
	}
	if r.effects, err = w.readEffects(); err != nil {
		return r, err
	}
	return r, w.checkProjections(&r, entries, view.Task.Status)
}

// awaitShown waits until the task's folder has caught up with the journal: the receipt of an
// effect is stored a moment before it is shown.
func (w *walker) awaitShown(ctx context.Context) error {
	ctx, cancel := context.WithTimeout(ctx, settleTime)
	defer cancel()
	for wait := time.Millisecond; ; wait = min(2*wait, 20*time.Millisecond) {
		t, err := w.awaitSettled(ctx)
		if err != nil {
			return err
		}
		text, err := os.ReadFile(filepath.Join(w.taskFolder(), "history.jsonl"))
		if err == nil && strings.Contains(string(text), fmt.Sprintf(`"seq":%d`, t.Seq)) {
			return nil
		}
		select {
		case <-time.After(wait):
		case <-ctx.Done():
			return nil // the comparison will report what is missing
		}
	}
}

func (w *walker) taskFolder() string {
	return filepath.Join(w.home, "tasks", walkProject, string(walkTask))
}

// timelessJSON returns a value as JSON without its times, and without the processes that made
// requests.
func timelessJSON(v any) string {
	raw, err := json.Marshal(v)
	if err != nil {
		return err.Error()
	}
	var tree any
	if err := json.Unmarshal(raw, &tree); err != nil {
		return err.Error()
	}
	raw, err = json.Marshal(withoutTimes(tree))
	if err != nil {
		return err.Error()
	}
	return string(raw)
}

func withoutTimes(v any) any {
	switch v := v.(type) {
	case map[string]any:
		for _, key := range []string{"at", "since", "created_at", "updated_at", "again", "respawn", "respawn_at", "not_before", "via"} {
			delete(v, key)
		}
		for key := range v {
			v[key] = withoutTimes(v[key])
		}
	case []any:
		for i := range v {
			v[i] = withoutTimes(v[i])
		}
	}
	return v
}

// readEffects reads which effects were done from the file that the performer's processes wrote.
func (w *walker) readEffects() ([]string, error) {
	f, err := os.Open(filepath.Join(w.home, "effects", string(walkTask)+".jsonl"))
	if os.IsNotExist(err) {
		return nil, nil
	}
	if err != nil {
		return nil, err
	}
	defer f.Close() //nolint:errcheck // read only
	var out []string
	in := bufio.NewScanner(f)
	for in.Scan() {
		out = append(out, in.Text())
	}
	return out, in.Err()
}

// checkProjections checks that TASK.md and history.jsonl agree with the journal.
func (w *walker) checkProjections(r *result, entries []journal.Entry, status string) error {
	dir := w.taskFolder()
	src, err := os.ReadFile(filepath.Join(dir, "TASK.md"))
	if err != nil {
		return err
	}
	doc, err := taskfile.Parse(src)
	if err != nil {
		return err
	}
	if got, _ := doc.Get("status"); got != status {
		r.wrong = append(r.wrong, fmt.Sprintf("TASK.md says %v and the journal %s", got, status))
	}
	text, err := os.ReadFile(filepath.Join(dir, "history.jsonl"))
	if err != nil {
		return err
	}
	var want, got []string
	for _, e := range entries {
		for _, ev := range journal.HistoryEvents(e) {
			line, err := json.Marshal(ev)
			if err != nil {
				return err
			}
			want = append(want, string(line))
		}
	}
	got = strings.Split(strings.TrimSpace(string(text)), "\n")
	if !slices.Equal(want, got) {
		r.wrong = append(r.wrong, fmt.Sprintf("history.jsonl has %d lines and the journal makes %d, or they differ", len(got), len(want)))
	}
	return nil
}

// compareResults returns the differences between a disturbed walk and the undisturbed one.
func compareResults(baseline, got result) []string {
	out := slices.Clone(got.wrong)
	if baseline.record != got.record {
		out = append(out, fmt.Sprintf("the record is %s instead of %s", got.record, baseline.record))
	}
	out = append(out, describeDifference("journal", baseline.journal, got.journal)...)
	out = append(out, describeDifference("effects", baseline.effects, got.effects)...)
	return out
}

func describeDifference(what string, baseline, got []string) []string {
	for i := range min(len(baseline), len(got)) {
		if baseline[i] != got[i] {
			return []string{fmt.Sprintf("%s: line %d is %s instead of %s", what, i+1, got[i], baseline[i])}
		}
	}
	if len(baseline) != len(got) {
		return []string{fmt.Sprintf("%s: %d lines instead of %d", what, len(got), len(baseline))}
	}
	return nil
}
