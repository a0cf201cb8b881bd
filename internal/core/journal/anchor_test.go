package journal

import (
	"encoding/json"
	"strings"
	"testing"
	"time"

	"orange/internal/core/signal"
	"orange/internal/core/task"
)

var anchorTestTime = time.Date(2026, 3, 4, 12, 0, 0, 123456000, time.UTC)

func anchorOf(row int64, link byte) Anchor {
	return Anchor{Store: "abc", Row: row, Link: Link{link}, Task: "V1StGXR8Z5jdHi6BmyT1a", Seq: 7, At: anchorTestTime, Commit: strings.Repeat("a", 40)}
}

func TestAnAnchorIsReadAsItWasWritten(t *testing.T) {
	want := anchorOf(42, 9)
	got, err := ParseAnchor(want.CommitMessage())
	if err != nil || got != want {
		t.Errorf("%+v, %v", got, err)
	}
	for _, line := range strings.Split(strings.TrimSpace(want.CommitMessage()), "\n") {
		if !strings.HasPrefix(line, "Orange-") {
			continue
		}
		label, _, _ := strings.Cut(line, ": ")
		if _, err := ParseAnchor(strings.Replace(want.CommitMessage(), line+"\n", "", 1)); err == nil {
			t.Errorf("without %s it is read", label)
		}
		if label == "Orange-Store" {
			continue
		}
		if _, err := ParseAnchor(strings.Replace(want.CommitMessage(), line, label+": ?", 1)); err == nil {
			t.Errorf("%s: ? is read", label)
		}
	}
	text, err := json.Marshal(want)
	var back Anchor
	if err != nil || json.Unmarshal(text, &back) != nil || back != want {
		t.Errorf("%s, %+v, %v", text, back, err)
	}
}

func TestCompareAnchors(t *testing.T) {
	later := anchorTestTime.Add(time.Hour)
	links := map[int64]Link{3: {3}, 5: {5}, 8: {8}}
	link := func(row int64) (Link, bool) { l, ok := links[row]; return l, ok }
	for name, tt := range map[string]struct {
		anchors     []Anchor
		restores    []Restore
		agree, lost int
		want        string
	}{
		"none":      {},
		"all agree": {anchors: []Anchor{anchorOf(3, 3), anchorOf(8, 8)}, agree: 2},
		"rewritten": {anchors: []Anchor{anchorOf(3, 3), anchorOf(5, 6), anchorOf(8, 9)}, agree: 1,
			want: "row 5 (entry 7 of task V1StGXR8Z5jdHi6BmyT1a) is not the row that was anchored when aaaaaaaaaaaa was merged: the journal was rewritten after row 3"},
		"an older store": {anchors: []Anchor{anchorOf(3, 3), anchorOf(20, 1)}, agree: 1, want: "the journal ends with row 9, and row 20 was anchored"},
		"restored":       {anchors: []Anchor{anchorOf(3, 3), anchorOf(5, 6), anchorOf(20, 1)}, restores: []Restore{{Row: 4, At: later}}, agree: 1, lost: 2},
		"rewritten before the restore": {anchors: []Anchor{anchorOf(3, 4), anchorOf(5, 6)}, restores: []Restore{{Row: 4, At: later}}, lost: 1,
			want: "row 3 (entry 7"},
		"rewritten after the restore": {anchors: []Anchor{anchorOf(5, 6)}, restores: []Restore{{Row: 4, At: anchorTestTime.Add(-time.Hour)}}, want: "row 5 "},
	} {
		t.Run(name, func(t *testing.T) {
			got := CompareAnchors(tt.anchors, 9, link, tt.restores)
			err := got.Err(9)
			if got.Agree != tt.agree || got.Lost != tt.lost || got.Anchors != len(tt.anchors) {
				t.Errorf("%+v", got)
			}
			if tt.want == "" && err != nil || tt.want != "" && (err == nil || !strings.Contains(err.Error(), tt.want)) {
				t.Errorf("%v, want %q", err, tt.want)
			}
			if err != nil && strings.Contains(err.Error(), "rewritten") == (got.Differs == nil) {
				t.Errorf("an older store is told as one that was rewritten: %v", err)
			}
		})
	}
}

func TestRestoreSegments(t *testing.T) {
	if r, ok := RestoreOf(4, RestoreText(anchorTestTime)+"; import of 3 rows"); !ok || r.Row != 4 || !r.At.Equal(anchorTestTime) {
		t.Errorf("%+v, %v", r, ok)
	}
	for _, text := range []string{"", "import of 3 rows", "restore at noon: x", "restore at "} {
		if _, ok := RestoreOf(4, text); ok {
			t.Errorf("%q is a restore", text)
		}
	}
}

func TestMergeOf(t *testing.T) {
	commit, other := strings.Repeat("a", 40), strings.Repeat("b", 40)
	heard := func(merged string) *signal.Snapshot {
		return &signal.Snapshot{Word: signal.PRMerged, Arg: other, Merged: merged}
	}
	for name, tt := range map[string]struct {
		e    Entry
		want string
	}{
		"a receipt":            {Entry{EffectChanges: EffectChanges{Receipt: &signal.Receipt{OK: true, Commit: commit}}}, commit},
		"a failed one":         {Entry{EffectChanges: EffectChanges{Receipt: &signal.Receipt{Commit: commit}}}, ""},
		"no commit":            {Entry{EffectChanges: EffectChanges{Receipt: &signal.Receipt{OK: true, Commit: "a\nb"}}}, ""},
		"a forge":              {Entry{Actor: task.Tracker, Move: Move{To: "done"}, Snapshot: heard(commit)}, commit},
		"a forge of few words": {Entry{Actor: task.Tracker, Move: Move{To: "done"}, Snapshot: heard("")}, other},
		"nothing came of it":   {Entry{Actor: task.Tracker, Snapshot: heard(commit)}, ""},
		"a merge made here":    {Entry{Actor: task.Engine, Move: Move{To: "done"}, Snapshot: heard("")}, ""},
	} {
		if got, ok := MergeOf(&tt.e); got != tt.want || ok != (tt.want != "") {
			t.Errorf("%s: %q, %v", name, got, ok)
		}
	}
}
