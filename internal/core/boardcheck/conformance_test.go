package boardcheck_test

import (
	"encoding/json"
	"errors"
	"io/fs"
	"os"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"orange/internal/core/board"
	"orange/internal/core/boardcheck"
)

const conformanceFile = "../../../../shared/conformance/joan.json" // beside the repository, where it exists

type conformanceCase struct {
	Suite, Name     string
	Input, Expected json.RawMessage
}

var conformanceChecks = map[string]func(*testing.T, conformanceCase){
	"doctor":        checkDoctor,
	"doctor_age_pr": checkAgePR,
	"stale_claim":   checkStaleClaim,
	"claimable":     checkClaimable,
	"pipeline_gate": checkGate,
	"invalid_tags":  checkInvalidTags,
}

func TestConformance(t *testing.T) {
	raw, err := os.ReadFile(conformanceFile)
	if errors.Is(err, fs.ErrNotExist) {
		t.Skip("the shared conformance file is not here")
	}
	if err != nil {
		t.Fatal(err)
	}
	ran := map[string]bool{}
	for _, row := range read[[]conformanceCase](t, raw) {
		if check, ok := conformanceChecks[row.Suite]; ok {
			ran[row.Suite] = true
			t.Run(row.Suite+"/"+row.Name, func(t *testing.T) { check(t, row) })
		}
	}
	if len(ran) != len(conformanceChecks) {
		t.Errorf("only these suites have cases: %v", ran)
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

// fixes says which changes the cases mean by their words, one for each situation.
var fixes = map[string]func(f boardcheck.Facts) board.Change{
	"add Planned if a plan is in the description, else move to Analyse + Ready": func(f boardcheck.Facts) board.Change {
		if f.Planned {
			return board.Change{AddTags: []string{"Planned"}}
		}
		return board.Change{Column: "Analyse", AddTags: []string{"Ready"}}
	},
	"move to Development + Planned": func(boardcheck.Facts) board.Change {
		return board.Change{Column: "Development", AddTags: []string{"Planned"}}
	},
	"remove workflow tags": func(boardcheck.Facts) board.Change {
		return board.Change{RemoveTags: []string{"Dev-Complete"}}
	},
	// A plan is finalized in Analyse only, so the card goes there besides.
	"add Plan-Pending-Approval": func(boardcheck.Facts) board.Change {
		return board.Change{AddTags: []string{"Plan-Pending-Approval"}, Column: "Analyse"}
	},
}

func checkDoctor(t *testing.T, row conformanceCase) {
	in := read[struct {
		Column string
		Tags   []string
	}](t, row.Input)
	want := read[*struct{ Type, Fix string }](t, row.Expected)
	for _, f := range []boardcheck.Facts{{}, {Planned: true}} {
		got := boardcheck.Examine(board.Card{Column: in.Column, Tags: in.Tags}, f, noon)
		if want == nil {
			if len(got) != 0 {
				t.Errorf("got %+v", got)
			}
			continue
		}
		if len(got) != 1 || string(got[0].Type) != want.Type {
			t.Fatalf("got %+v, want %s", got, want.Type)
		}
		if change, known := fixes[want.Fix]; known && got[0].Fix != nil {
			if diff := cmp.Diff(change(f), *got[0].Fix); diff != "" {
				t.Error(diff)
			}
		}
	}
}

func checkAgePR(t *testing.T, row conformanceCase) {
	in := read[struct {
		Column, PR string
		Tags       []string
		UpdatedH   float64 `json:"updated_h"`
	}](t, row.Input)
	card := board.Card{Column: in.Column, Tags: in.Tags, UpdatedAt: noon.Add(-time.Duration(in.UpdatedH * float64(time.Hour)))}
	got := boardcheck.Examine(card, boardcheck.Facts{PR: in.PR}, noon)
	want := read[*string](t, row.Expected)
	switch {
	case want == nil && len(got) != 0:
		t.Errorf("got %+v", got)
	case want != nil && len(got) == 0:
		t.Errorf("nothing, want %s", *want)
	case want != nil:
		kind, _, _ := strings.Cut(strings.TrimPrefix(*want, "WARNING "), " ")
		warns := strings.HasPrefix(*want, "WARNING ")
		if string(got[0].Type) != kind || (got[0].Severity == boardcheck.Warning) != warns {
			t.Errorf("got %+v, want %s", got[0], *want)
		}
	}
}

func checkStaleClaim(t *testing.T, row conformanceCase) {
	in := read[struct {
		Age       int `json:"claim_tag_age_min"`
		Threshold int
	}](t, row.Input)
	want := read[struct{ Release bool }](t, row.Expected).Release
	age, threshold := time.Duration(in.Age)*time.Minute, time.Duration(in.Threshold)*time.Minute
	if got := boardcheck.ClaimIsStale(age, threshold); got != want {
		t.Errorf("ClaimIsStale = %v", got)
	}
	card := board.Card{Column: "Development", Tags: []string{"Planned", "Claimed-Dev-1"}}
	f := boardcheck.Facts{Since: map[string]time.Time{"Claimed-Dev-1": noon.Add(-age)}, Limits: boardcheck.Limits{Claim: threshold}}
	if got := boardcheck.Examine(card, f, noon); (len(got) == 1 && got[0].Type == boardcheck.StaleClaim) != want {
		t.Errorf("Examine = %+v", got)
	}
}

func checkClaimable(t *testing.T, row conformanceCase) {
	in := read[struct {
		Column string
		Tags   []string
	}](t, row.Input)
	if got := boardcheck.Claimable(board.Card{Column: in.Column, Tags: in.Tags}, noon); got != read[bool](t, row.Expected) {
		t.Errorf("Claimable = %v", got)
	}
}

func checkGate(t *testing.T, row conformanceCase) {
	var cards []board.Card
	for _, pair := range read[[][]json.RawMessage](t, row.Input) {
		cards = append(cards, board.Card{Column: read[string](t, pair[0]), Tags: read[[]string](t, pair[1])})
	}
	if got, want := boardcheck.PipelineGate(cards), read[*string](t, row.Expected); want == nil && got != "" || want != nil && got != *want {
		t.Errorf("PipelineGate = %q, want %s", got, row.Expected)
	}
}

func checkInvalidTags(t *testing.T, row conformanceCase) {
	want := read[struct{ Remove string }](t, row.Expected).Remove
	if got := strings.Join(boardcheck.InvalidTags(read[[]string](t, row.Input)), ","); got != want {
		t.Errorf("InvalidTags = %q, want %q", got, want)
	}
}
