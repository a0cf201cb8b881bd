package als_test

import (
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
	"github.com/google/go-cmp/cmp/cmpopts"
	"pgregory.net/rapid"

	"orange/internal/core/als"
)

// anyText draws texts that are likely to be read as something else.
func anyText() *rapid.Generator[string] {
	pieces := rapid.SampledFrom([]string{
		"a", "B1", " ", ":", ": ", "-", "- ", "\n", "\r", "\t", `"`, `\`, `\n`, "[", "]", ",", "{}", "ALS/1", "actor: x", "https://x", "#", "é",
		"\u2028", "\u202e", "\u00a0", "\U000e0001", "<!--", "\x00", "\"\"",
	})
	joined := rapid.Map(rapid.SliceOfN(pieces, 0, 6), func(parts []string) string { return strings.Join(parts, "") })
	return rapid.OneOf(joined, rapid.String(), rapid.Map(joined, als.Quote))
}

func anyField(t *rapid.T, key string) als.Field {
	kinds := []als.Kind{als.Text, als.List, als.Map}
	switch key {
	case als.Actor, als.Intent, als.Action, als.Summary:
		kinds = kinds[:1]
	case als.TagsAdd, als.TagsRemove, als.Details:
		kinds = kinds[1:2]
	}
	f := als.Field{Key: key, Kind: rapid.SampledFrom(kinds).Draw(t, "kind")}
	switch f.Kind {
	case als.Text:
		f.Text = anyText().Draw(t, "text")
	case als.List:
		f.List = rapid.SliceOfN(anyText(), 0, 4).Draw(t, "list")
	default:
		for _, key := range rapid.SliceOfNDistinct(anyText(), 0, 4, rapid.ID).Draw(t, "keys") {
			f.Map = append(f.Map, als.Pair{Key: key, Value: anyText().Draw(t, "value")})
		}
	}
	return f
}

func anyComment(t *rapid.T) als.Comment {
	known := rapid.SampledFrom([]string{
		als.Actor, als.Intent, als.Action, als.TagsAdd, als.TagsRemove, als.Summary, als.Details, als.Links, "from_stage", "metadata",
	})
	var c als.Comment
	for _, key := range rapid.SliceOfNDistinct(rapid.OneOf(known, anyText()), 0, 10, rapid.ID).Draw(t, "keys") {
		c.Fields = append(c.Fields, anyField(t, key))
	}
	return c
}

func TestWhatIsWrittenIsRead(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		c := anyComment(t)
		got, err := als.Parse(c.String())
		if err != nil {
			t.Fatalf("%v in\n%s", err, c)
		}
		if diff := cmp.Diff(c, got, cmpopts.EquateEmpty()); diff != "" {
			t.Fatalf("%s\n-want +got\n%s", c, diff)
		}
	})
}

func TestAnyReadableTextHasOneForm(t *testing.T) {
	line := rapid.Map(rapid.SliceOfN(rapid.SampledFrom([]string{
		"actor:", "links:", "details:", "tags.add:", "note:", "metadata:", "  ", "- ", "a: b", " x", `"q"`, `"a\nb"`, "[a, b]", "{}", "https://x", "\t",
	}), 1, 4), func(parts []string) string { return strings.Join(parts, "") })
	read := 0
	rapid.Check(t, func(t *rapid.T) {
		sep := rapid.SampledFrom([]string{"\n", "\r\n", "\n\n"}).Draw(t, "separator")
		c, err := als.Parse("ALS/1" + sep + strings.Join(rapid.SliceOfN(line, 0, 6).Draw(t, "lines"), sep))
		if err != nil {
			return
		}
		read++
		checkFixpoint(t, c)
	})
	if read == 0 {
		t.Error("no text could be read")
	}
}

type failer interface {
	Helper()
	Fatalf(format string, args ...any)
}

func checkFixpoint(t failer, c als.Comment) {
	t.Helper()
	again, err := als.Parse(c.String())
	if err != nil {
		t.Fatalf("%v in\n%s", err, c)
	}
	if diff := cmp.Diff(c, again, cmpopts.EquateEmpty()); diff != "" {
		t.Fatalf("%s\n-want +got\n%s", c, diff)
	}
	if again.String() != c.String() {
		t.Fatalf("%q is written again as %q", c, again)
	}
}

func FuzzParse(f *testing.F) {
	for _, seed := range []string{
		"", "ALS/1", "ALS/1\nactor: dev\nintent: status\naction: x\ntags.add: [A, \"b\"]\nsummary: s\ndetails:\n- a\nlinks:\n- pr: https://x\nmetadata:\n  a: b",
		" ALS/1\r\n a:\r\n  b: \"\\u000a\"\r\n", "ALS/1\nlinks:\n- a: b\n- a: c", "ALS/1\n\"x y\": [\"", "ALS/1\nx: \"\\\"a\\\\nb\\\"\"",
	} {
		f.Add(seed)
	}
	f.Fuzz(func(t *testing.T, text string) {
		c, err := als.Parse(text)
		if err != nil {
			if strings.Contains(err.Error(), "\n") {
				t.Errorf("error of several lines: %q", err)
			}
			return
		}
		checkFixpoint(t, c)
	})
}
