package tracker_test

import (
	"encoding/json"
	"errors"
	"io/fs"
	"os"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"orange/internal/core/tracker"
)

const sharedFolder = "../../../../shared/conformance/" // beside the repository, where it exists

type conformanceCase struct {
	Suite, Name, Kind        string
	Input, Context, Expected json.RawMessage
	Recommended              string
}

var conformanceChecks = map[string]map[string]func(*testing.T, conformanceCase){
	"agentfactory.json": {
		"override_directive":           checkDirective,
		"latest_override":              checkLatest,
		"pr_selection":                 checkSelection,
		"work_type_from_status":        checkFromStatus,
		"work_type_status_map_seed000": checkStatusMap,
		"webhook_hmac_sha256":          checkSignature,
	},
	"joan.json": {"pr_number_from_text": checkNumber},
}

func TestConformance(t *testing.T) {
	for file, checks := range conformanceChecks {
		raw, err := os.ReadFile(sharedFolder + file)
		if errors.Is(err, fs.ErrNotExist) {
			t.Skip("the shared conformance files are not here")
		}
		if err != nil {
			t.Fatal(err)
		}
		ran := map[string]bool{}
		for _, row := range read[[]conformanceCase](t, raw) {
			if check, ok := checks[row.Suite]; ok {
				ran[row.Suite] = true
				t.Run(row.Suite+"/"+row.Name, func(t *testing.T) { check(t, row) })
			}
		}
		if len(ran) != len(checks) {
			t.Errorf("%s: only these suites have cases: %v", file, ran)
		}
	}
}

func read[T any](t *testing.T, raw []byte) T {
	t.Helper()
	var v T
	if err := json.Unmarshal(raw, &v); err != nil {
		t.Fatalf("%s: %v", raw, err)
	}
	return v
}

// theirComment and theirOrder are how the cases write a comment and what it orders.
type theirComment struct {
	ID, Body, UserID string
	IsBot            bool
}

func (c theirComment) ours() tracker.Comment {
	return tracker.Comment{ID: c.ID, Author: c.UserID, Bot: c.IsBot, Text: c.Body}
}

type theirOrder struct{ Type, CommentID, UserID, Reason, Priority string }

func theirs(d tracker.Directive) *theirOrder {
	level := map[tracker.Priority]string{tracker.Urgent: "urgent", tracker.High: "high", tracker.Medium: "medium", tracker.Low: "low"}
	return &theirOrder{Type: d.Kind, CommentID: d.Comment, UserID: d.Author, Reason: d.Reason, Priority: level[d.Priority]}
}

// What was observed and is not recommended is answered as it is recommended: the form of
// PRIORITY without a colon is an order.
func checkDirective(t *testing.T, row conformanceCase) {
	want := read[*theirOrder](t, row.Expected)
	if row.Kind == "observed" && row.Recommended != "" {
		level := map[string]string{"PRIORITY HIGH": "high", "PRIORITY URGENT": "urgent"}[read[theirComment](t, row.Input).Body]
		if level == "" {
			t.Skipf("recommended in words only: %s", row.Recommended)
		}
		want = &theirOrder{Type: tracker.Prioritize, Priority: level}
	}
	var got *theirOrder
	if d, ok := tracker.ParseDirective(read[theirComment](t, row.Input).ours()); ok {
		got = theirs(d)
	}
	if diff := cmp.Diff(want, got); diff != "" {
		t.Error(diff)
	}
}

func checkLatest(t *testing.T, row conformanceCase) {
	var comments []tracker.Comment
	for _, c := range read[[]theirComment](t, row.Input) {
		comments = append(comments, c.ours())
	}
	var got *theirOrder
	if last := tracker.OrdersIn(comments, func(string) bool { return true }).Last; last != nil {
		got = theirs(*last)
	}
	if diff := cmp.Diff(read[*theirOrder](t, row.Expected), got); diff != "" {
		t.Error(diff)
	}
}

func checkSelection(t *testing.T, row conformanceCase) {
	var linked []tracker.PR
	for _, p := range read[[]struct {
		N, Created int
		State      string
	}](t, row.Input) {
		linked = append(linked, tracker.PR{Number: p.N, State: p.State, CreatedAt: time.Unix(int64(p.Created), 0)})
	}
	want := read[*int](t, row.Expected)
	got, ok := tracker.ChoosePR(linked, nil, nil)
	if ok != (want != nil) || ok && got.Number != *want {
		t.Errorf("ChoosePR = %d, %v, want %s", got.Number, ok, row.Expected)
	}
}

func checkFromStatus(t *testing.T, row conformanceCase) {
	if got, want := tracker.WorkTypeFor(read[string](t, row.Input)), read[string](t, row.Expected); got != want {
		t.Errorf("got %s, want %s", got, want)
	}
}

// checkStatusMap writes a type of work the way the cases do.
func checkStatusMap(t *testing.T, row conformanceCase) {
	w, ok := tracker.WorkTypeNamed(read[string](t, row.Input))
	if !ok {
		t.Fatalf("%s is unknown", row.Input)
	}
	got := map[string]string{"pass": w.In[0] + " -> " + w.Pass, "fail": "stays " + w.In[0]}
	if w.Parent {
		got["pass"] += " (parent)"
	}
	if w.Auto {
		got = map[string]string{"pass": w.Pass + " (auto, no marker)", "fail": "n/a"}
	}
	if diff := cmp.Diff(read[map[string]string](t, row.Expected), got); diff != "" {
		t.Error(diff)
	}
}

func checkSignature(t *testing.T, row conformanceCase) {
	in := read[struct{ Body, Signature, Secret string }](t, row.Input)
	if got := tracker.SignedBy(in.Secret, []byte(in.Body), in.Signature); got != read[bool](t, row.Expected) {
		t.Errorf("SignedBy = %v", got)
	}
}

func checkNumber(t *testing.T, row conformanceCase) {
	want := read[*int](t, row.Expected)
	got, ok := tracker.PRNumber(read[string](t, row.Input))
	if ok != (want != nil) || ok && got != *want {
		t.Errorf("PRNumber = %d, %v, want %s", got, ok, row.Expected)
	}
}
