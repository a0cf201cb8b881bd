package handoff_test

import (
	"encoding/json"
	"math"
	"slices"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
	"github.com/google/jsonschema-go/jsonschema"

	"orange/internal/core/handoff"
)

func valid() handoff.Handoff {
	return handoff.Handoff{From: "ba", To: "architect", Decisions: []string{"a"}}
}

func times(n int, item string) []string { return slices.Repeat([]string{item}, n) }

// sized returns a handoff of so many bytes as JSON.
func sized(t *testing.T, size int) handoff.Handoff {
	t.Helper()
	h := valid()
	text, err := json.Marshal(h)
	if err != nil {
		t.Fatal(err)
	}
	h.Files = []string{strings.Repeat("f", size-len(text)-len(`,"files_of_interest":[""]`))}
	return h
}

// limits returns the limits: what is just allowed, what is just not, and the message for it.
func limits(t *testing.T) []limit {
	change := func(f func(*handoff.Handoff)) handoff.Handoff {
		h := valid()
		f(&h)
		return h
	}
	wide := func(n int) string { return strings.Repeat("é", n) }
	metadata := func(n int) map[string]any { return map[string]any{"k": strings.Repeat("<", n-len(`{"k":""}`))} }
	lists := func(n int, item string, set func(*handoff.Handoff, []string)) handoff.Handoff {
		return change(func(h *handoff.Handoff) { set(h, times(n, item)) })
	}
	decisions := func(h *handoff.Handoff, l []string) { h.Decisions = l }
	files := func(h *handoff.Handoff, l []string) { h.Files = l }
	warnings := func(h *handoff.Handoff, l []string) { h.Warnings = l }
	dependencies := func(h *handoff.Handoff, l []string) { h.Dependencies = l }
	remaining := func(h *handoff.Handoff, l []string) { h.Remaining = l }
	uncertain := func(h *handoff.Handoff, l []string) { h.Uncertain = l }
	return []limit{
		{"decisions", lists(5, "d", decisions), lists(6, "d", decisions), "key_decisions has 6 items: the limit is 5", false},
		{"a decision", lists(1, wide(200), decisions), lists(1, wide(201), decisions), "key_decisions[0] has 201 characters: the limit is 200", false},
		{"no decisions", lists(0, "", decisions), change(func(h *handoff.Handoff) { h.Decisions = nil }), "key_decisions is missing: give a list, which may be empty", false},
		{"files", lists(10, "f", files), lists(11, "f", files), "files_of_interest has 11 items: the limit is 10", false},
		{"warnings", lists(3, "w", warnings), lists(4, "w", warnings), "warnings has 4 items: the limit is 3", false},
		{"a warning", lists(1, wide(100), warnings), lists(1, wide(101), warnings), "warnings[0] has 101 characters: the limit is 100", false},
		{"dependencies", lists(5, "d", dependencies), lists(6, "d", dependencies), "dependencies has 6 items: the limit is 5", false},
		{"remaining", lists(5, "r", remaining), lists(6, "r", remaining), "remaining has 6 items: the limit is 5", false},
		{"something remaining", lists(1, wide(200), remaining), lists(1, wide(201), remaining), "remaining[0] has 201 characters: the limit is 200", false},
		{"uncertain", lists(5, "u", uncertain), lists(6, "u", uncertain), "uncertain has 6 items: the limit is 5", false},
		{"something uncertain", lists(1, wide(200), uncertain), lists(1, wide(201), uncertain), "uncertain[0] has 201 characters: the limit is 200", false},
		{"metadata", change(func(h *handoff.Handoff) { h.Metadata = metadata(1024) }), change(func(h *handoff.Handoff) { h.Metadata = metadata(1025) }),
			"metadata has 1025 bytes as JSON: the limit is 1024", true},
		{"everything", sized(t, 3072), sized(t, 3073), "the whole handoff has 3073 bytes as JSON: the limit is 3072", true},
		{"from", change(func(h *handoff.Handoff) { h.From = "qa_2-b" }), change(func(h *handoff.Handoff) { h.From = "" }), "from_stage is missing: name a stage", false},
		{"to", change(func(h *handoff.Handoff) { h.To = strings.Repeat("x", 64) }), change(func(h *handoff.Handoff) { h.To = strings.Repeat("x", 65) }),
			"to_stage has 65 characters: the limit is 64", false},
		{"letters of a stage", valid(), change(func(h *handoff.Handoff) { h.To = "a\nb" }), `to_stage "a\nb" is not a stage name: use a-z, 0-9, - and _`, false},
	}
}

type limit struct {
	name           string
	allowed, wrong handoff.Handoff
	want           string
	unsaid         bool // a schema cannot express it
}

func TestCheck(t *testing.T) {
	for _, tt := range limits(t) {
		t.Run(tt.name, func(t *testing.T) {
			if found := tt.allowed.Check(); len(found) > 0 {
				t.Errorf("at the limit: %q", found)
			}
			if diff := cmp.Diff([]string{tt.want}, tt.wrong.Check()); diff != "" {
				t.Errorf("beyond the limit: -want +got\n%s", diff)
			}
		})
	}
}

func TestCheckListsEverything(t *testing.T) {
	h := handoff.Handoff{From: "BA", Warnings: append(times(4, "w"), strings.Repeat("w", 101)), Metadata: map[string]any{"x": math.NaN()}}
	h.Warnings[1] = strings.Repeat("w", 101)
	want := []string{
		`from_stage "BA" is not a stage name: use a-z, 0-9, - and _`, "to_stage is missing: name a stage",
		"key_decisions is missing: give a list, which may be empty", "warnings has 5 items: the limit is 3",
		"warnings[1] has 101 characters: the limit is 100",
		"metadata cannot be written as JSON: use texts, numbers, truths, lists and mappings",
	}
	if diff := cmp.Diff(want, h.Check()); diff != "" {
		t.Errorf("-want +got\n%s", diff)
	}
}

func TestSchemaSaysWhatCheckSays(t *testing.T) {
	text, err := json.Marshal(handoff.Schema())
	if err != nil {
		t.Fatal(err)
	}
	var s jsonschema.Schema
	if err := json.Unmarshal(text, &s); err != nil {
		t.Fatal(err)
	}
	schema, err := s.Resolve(nil)
	if err != nil {
		t.Fatal(err)
	}
	accepts := func(h handoff.Handoff) bool {
		text, err := json.Marshal(h)
		if err != nil {
			t.Fatal(err)
		}
		var v map[string]any
		if err := json.Unmarshal(text, &v); err != nil {
			t.Fatal(err)
		}
		if v["from_stage"] == "" {
			delete(v, "from_stage")
		}
		return schema.Validate(v) == nil
	}
	for _, tt := range limits(t) {
		if !accepts(tt.allowed) {
			t.Errorf("%s: what is allowed is refused", tt.name)
		}
		if accepts(tt.wrong) != tt.unsaid {
			t.Errorf("%s: what is wrong is accepted: %v", tt.name, !tt.unsaid)
		}
	}
	for name, p := range s.Properties {
		if p.Description == "" {
			t.Errorf("%s has no description", name)
		}
	}
	if err := schema.Validate(map[string]any{"from_stage": "a", "to_stage": "b", "key_decisions": []any{}, "warnings": nil, "summary": nil, "metadata": nil}); err != nil {
		t.Errorf("null: %v", err)
	}
}

func TestFromJSON(t *testing.T) {
	tests := []struct{ name, text, want string }{
		{"lists that are given stay given", `{"from_stage":"a","to_stage":"b","key_decisions":[],"files_of_interest":[],"warnings":null,"x":1}`,
			`{"from_stage":"a","to_stage":"b","key_decisions":[],"files_of_interest":[]}`},
		{"a number for a list", `{"from_stage":"a","to_stage":"b","key_decisions":1}`, "key_decisions: a JSON number does not fit: give a list of texts"},
		{"a number in a list", `{"from_stage":"a","to_stage":"b","key_decisions":["a",1,null]}`,
			"key_decisions[1]: a JSON number does not fit: give a text; key_decisions[2]: null does not fit: give a text"},
		{"all that is wrong", `{"from_stage":"A","to_stage":{},"summary":true,"key_decisions":[],"warnings":[5,"a","b","c"],"dependencies":["","","","","",""],"metadata":"m"}`,
			`to_stage: a JSON object does not fit: give a text; summary: a JSON boolean does not fit: give a text; warnings[0]: a JSON number does not fit: give a text; ` +
				`metadata: a JSON string does not fit: give an object; from_stage "A" is not a stage name: use a-z, 0-9, - and _; dependencies has 6 items: the limit is 5`},
		{"a key that is there twice", `{"from_stage":"a","to_stage":"b","key_decisions":["a"],"key_decisions":[]}`, `the key "key_decisions" is there twice: keep one`},
		{"a key that is there twice, deep", `{"metadata":{"a":[{"x":1,"x":1}]}}`, `the key "x" is there twice: keep one`},
		{"a key in other letters", `{"from_stage":"a","to_stage":"b","key_decisions":[],"Warnings":5,"SUMMARY":"s"}`, `{"from_stage":"a","to_stage":"b","key_decisions":[]}`},
		{"numbers", `{"from_stage":"a","to_stage":"b","key_decisions":[],"metadata":{"a":[1.50,null]}}`, `{"from_stage":"a","to_stage":"b","key_decisions":[],"metadata":{"a":[1.5,null]}}`},
		{"a number beyond all", `{"from_stage":"a","to_stage":"b","key_decisions":[],"metadata":{"a":1e999}}`, "metadata has a number that is too large: write it as a text"},
		{"too deep", strings.Repeat(`{"metadata":`, 70) + "1" + strings.Repeat("}", 70), "it nests deeper than 64 levels"},
		{"a list", `[]`, "a handoff is an object: a JSON array does not fit"},
		{"null", `null`, "a handoff is an object: null does not fit"},
		{"two", `{} {}`, "this is not JSON: invalid character '{' after top-level value"},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			h, err := handoff.FromJSON([]byte(tt.text))
			got, _ := json.Marshal(h)
			if err != nil {
				got = []byte(err.Error())
			}
			if string(got) != tt.want {
				t.Errorf("got  %s\nwant %s", got, tt.want)
			}
		})
	}
}

func TestRoute(t *testing.T) {
	for mode, want := range map[string]string{
		"plan": "ba>architect", "implement": "architect>dev", "rework": "reviewer>dev", "conflict": "reviewer>dev",
		"review": "dev>reviewer", "merge": "reviewer>ops",
	} {
		if from, to, ok := handoff.StagesOfMode(mode); !ok || from+">"+to != want {
			t.Errorf("%s: %s>%s, %v", mode, from, to, ok)
		}
	}
	for _, mode := range []string{"", "evaluate", "Plan", "merge "} {
		if from, to, ok := handoff.StagesOfMode(mode); ok || from+to != "" {
			t.Errorf("%q has a route", mode)
		}
	}
}

func TestSelect(t *testing.T) {
	list := []handoff.Handoff{
		{From: "ba", To: "architect", Summary: "1"}, {From: "ba", To: "architect", Summary: "2"},
		{From: "architect", To: "dev", Summary: "3"}, {From: "ba", To: "dev", Summary: "4"},
	}
	if h, ok := handoff.LatestBetween(list, "ba", "architect"); !ok || h.Summary != "2" {
		t.Errorf("got %v, %v", h, ok)
	}
	for _, want := range [][2]string{{"architect", "ba"}, {"dev", "dev"}, {"", ""}} {
		if h, ok := handoff.LatestBetween(list, want[0], want[1]); ok {
			t.Errorf("%v gives %v", want, h)
		}
	}
	if _, ok := handoff.LatestBetween(nil, "ba", "dev"); ok {
		t.Error("nothing gives something")
	}
}
