package handoff_test

import (
	"encoding/json"
	"errors"
	"io/fs"
	"maps"
	"os"
	"testing"

	"github.com/google/go-cmp/cmp"

	"orange/internal/core/als"
	"orange/internal/core/handoff"
)

const conformanceFile = "../../../../shared/conformance/joan.json"

type conformanceCase struct {
	Suite, Name              string
	Input, Context, Expected json.RawMessage
}

var conformanceChecks = map[string]func(*testing.T, conformanceCase){
	"handoff_format":       checkFormat,
	"handoff_parse":        checkParse,
	"handoff_select":       checkSelect,
	"handoff_route":        checkRoute,
	"stage_context_limits": checkLimits,
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
		check, ok := conformanceChecks[row.Suite]
		if !ok {
			continue
		}
		ran[row.Suite] = true
		t.Run(row.Suite+"/"+row.Name, func(t *testing.T) { check(t, row) })
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

func wantJSON(t *testing.T, want json.RawMessage, got any) {
	t.Helper()
	text, err := json.Marshal(got)
	if err != nil {
		t.Fatal(err)
	}
	if diff := cmp.Diff(read[any](t, want), read[any](t, text)); diff != "" {
		t.Errorf("-want +got\n%s", diff)
	}
}

func checkFormat(t *testing.T, c conformanceCase) {
	wantJSON(t, c.Expected, read[handoff.Handoff](t, c.Input).ALS().String())
}

func checkParse(t *testing.T, c conformanceCase) {
	comment, err := als.Parse(read[string](t, c.Input))
	if err != nil {
		t.Fatal(err)
	}
	h, ok := handoff.FromALS(comment)
	want := read[struct {
		From string `json:"from_stage"`
		To   string `json:"to_stage"`
	}](t, c.Context)
	if _, ok := handoff.Select([]handoff.Handoff{h}, want.From, want.To); !ok {
		wantJSON(t, c.Expected, nil)
		return
	}
	if !ok {
		t.Fatal("it is no handoff")
	}
	wantJSON(t, c.Expected, h)
}

func checkSelect(t *testing.T, c conformanceCase) {
	want := read[struct{ Want [2]string }](t, c.Context).Want
	list := read[[]handoff.Handoff](t, c.Input)
	h, ok := handoff.Select(list, want[0], want[1])
	expected := read[map[string]any](t, c.Expected)
	if ok != (expected != nil) {
		t.Fatalf("found %v, expected %v", ok, expected)
	}
	if summary, given := expected["summary"]; given && summary != h.Summary {
		t.Errorf("got %q, want %q", h.Summary, summary)
	}
}

func checkRoute(t *testing.T, c conformanceCase) {
	from, to, ok := handoff.Route(read[string](t, c.Input))
	if !ok {
		wantJSON(t, c.Expected, nil)
		return
	}
	wantJSON(t, c.Expected, []string{from, to})
}

func checkLimits(t *testing.T, c conformanceCase) {
	whole := read[map[string]any](t, c.Input)
	maps.Copy(whole, read[map[string]any](t, c.Context))
	text, err := json.Marshal(whole)
	if err != nil {
		t.Fatal(err)
	}
	h, err := handoff.FromJSON(text)
	if err != nil {
		t.Fatal(err)
	}
	found := h.Check()
	if valid := read[struct{ Valid bool }](t, c.Expected).Valid; valid != (len(found) == 0) {
		t.Errorf("want valid: %v, found %q", valid, found)
	}
}
