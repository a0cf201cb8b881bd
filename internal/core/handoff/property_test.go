package handoff_test

import (
	"encoding/json"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
	"github.com/google/go-cmp/cmp/cmpopts"
	"pgregory.net/rapid"

	"orange/internal/core/als"
	"orange/internal/core/handoff"
	"orange/internal/core/taskfile"
)

func anyText() *rapid.Generator[string] {
	pieces := rapid.SampledFrom(append([]string{"a", "B1", " ", ":", "\n", "\r", `"`, `\`, `\n`, "DONE:", "REMAINING: x", "- ", "* ", "_", "**", "{}", "3", "null", "[", "é"}, evil...))
	joined := rapid.Map(rapid.SliceOfN(pieces, 0, 4), func(parts []string) string { return strings.Join(parts, "") })
	return rapid.OneOf(joined, rapid.String(), rapid.Map(joined, als.Quote))
}

func anyValue(depth int) *rapid.Generator[any] {
	kinds := []*rapid.Generator[any]{
		anyText().AsAny(), rapid.Bool().AsAny(), rapid.Float64Range(-1e300, 1e300).AsAny(), rapid.Just[any](nil),
	}
	if depth > 0 {
		kinds = append(kinds,
			rapid.Map(rapid.SliceOfN(anyValue(depth-1), 0, 3), func(l []any) any { return append([]any{}, l...) }),
			rapid.Map(rapid.MapOfN(anyText(), anyValue(depth-1), 0, 3), func(m map[string]any) any { return m }))
	}
	return rapid.OneOf(kinds...)
}

func anyHandoff(t *rapid.T) handoff.Handoff {
	items := rapid.SliceOfN(anyText(), 0, 4)
	some := anyText().Filter(func(s string) bool { return s != "" })
	return handoff.Handoff{
		From: some.Draw(t, "from"), To: some.Draw(t, "to"), Summary: some.Draw(t, "summary"),
		Decisions: items.Draw(t, "decisions"), Files: items.Draw(t, "files"), Warnings: items.Draw(t, "warnings"),
		Dependencies: items.Draw(t, "dependencies"), Remaining: items.Draw(t, "remaining"), Uncertain: items.Draw(t, "uncertain"),
		Metadata: rapid.MapOfN(anyText(), anyValue(2), 0, 3).Draw(t, "metadata"),
	}
}

func TestEveryFormReadsBack(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		h := anyHandoff(t)
		section, err := handoff.ParseSection(h.Section())
		if err != nil {
			t.Fatalf("%v in\n%s", err, h.Section())
		}
		equal(t, "section:\n"+h.Section(), h, section)

		c, err := als.Parse(h.ALS().String())
		if err != nil {
			t.Fatalf("%v in\n%s", err, h.ALS())
		}
		comment, ok := handoff.FromALS(c)
		if !ok {
			t.Fatalf("no handoff:\n%s", h.ALS())
		}
		equal(t, "comment:\n"+h.ALS().String(), h, comment)

		text, err := json.Marshal(h)
		if err != nil {
			t.Fatal(err)
		}
		fromJSON, err := handoff.FromJSON(text)
		if err != nil {
			t.Fatal(err)
		}
		equal(t, "JSON", h, fromJSON)
	})
}

func TestEverySectionIsOneSection(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		h := anyHandoff(t)
		h.Remaining = nil
		doc, err := taskfile.Parse([]byte("## Handoff\n\n" + h.Section() + "\n## End\n"))
		if err != nil {
			t.Fatal(err)
		}
		sections := doc.Sections()
		if len(sections) != 2 || sections[0].HasLabel("REMAINING") {
			t.Fatalf("%d sections:\n%s", len(sections), h.Section())
		}
		if n := strings.Count(h.Prompt(), "\n") - strings.Count(h.Prompt(), "\n> "); n > 3 {
			t.Fatalf("%d lines are not quoted:\n%s", n, h.Prompt())
		}
	})
}

type failer interface {
	Helper()
	Fatalf(format string, args ...any)
}

func equal(t failer, what string, want, got handoff.Handoff) {
	t.Helper()
	if diff := cmp.Diff(want, got, cmpopts.EquateEmpty()); diff != "" {
		t.Fatalf("%s\n-want +got\n%s", what, diff)
	}
}

func FuzzParseSection(f *testing.F) {
	f.Add(full().Section())
	f.Add("## Handoff\n\n**DONE:** a\n- b\n```\nREMAINING: x\n```\n<!-- y\nDECISIONS: \"a\\nb\"\r\n* \"DONE: x\"\n1) z\n## x")
	f.Add("METADATA: {\"a\":{}}\nTO:x\nFROM:_y")
	f.Fuzz(func(t *testing.T, text string) {
		h, err := handoff.ParseSection(text)
		if err != nil {
			return
		}
		again, err := handoff.ParseSection(h.Section())
		if err != nil {
			t.Fatalf("%v in\n%s", err, h.Section())
		}
		if h.Summary == "" {
			h.Summary = again.Summary
		}
		equal(t, h.Section(), h, again)
	})
}

func FuzzFromALS(f *testing.F) {
	f.Add(full().ALS().String())
	f.Add("ALS/1\nintent: handoff\naction: context-handoff\nfrom_stage: a\nto_stage: b\nmetadata:\n  a: \"3\"\n  b: \"x\\ny\"\nwarnings:\n  a: b")
	f.Fuzz(func(t *testing.T, text string) {
		c, err := als.Parse(text)
		if err != nil {
			return
		}
		h, ok := handoff.FromALS(c)
		if !ok {
			return
		}
		again, ok := handoff.FromALS(h.ALS())
		if !ok {
			t.Fatalf("no handoff:\n%s", h.ALS())
		}
		if h.Summary == "" {
			h.Summary = again.Summary
		}
		equal(t, h.ALS().String(), h, again)
	})
}

func FuzzFromJSON(f *testing.F) {
	for _, s := range []string{`{"from_stage":"a","to_stage":"b","key_decisions":["x"],"metadata":{"a":[1,null,1e9]}}`, `{"from_stage":5,"warnings":[5,{}]}`,
		`{"a":1,"a":2}`, `[]`, `null`, "{", `{"metadata":{"a":1e999}}`} {
		f.Add(s)
	}
	f.Fuzz(func(t *testing.T, text string) {
		h, err := handoff.FromJSON([]byte(text))
		if err != nil {
			if strings.Contains(err.Error(), "\n") {
				t.Errorf("%q", err)
			}
			return
		}
		again, err := json.Marshal(h)
		if err != nil {
			t.Fatal(err)
		}
		if _, err := handoff.FromJSON(again); err != nil {
			t.Errorf("%s: %v", again, err)
		}
	})
}
