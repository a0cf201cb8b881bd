package taskfile

import (
	"fmt"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
	"pgregory.net/rapid"
)

func TestWith(t *testing.T) {
	for name, tc := range map[string]struct {
		meta   string
		fields []Field
		want   string
	}{
		"a value changes, its comment stays":    {"a: 1   # c\nb: 2\n", []Field{{"a", 10}}, "a: 10   # c\nb: 2\n"},
		"spacing before the value stays":        {"a:    1\n", []Field{{"a", 2}}, "a:    2\n"},
		"an empty value is filled":              {"a:\nb: 2\n", []Field{{"a", "x"}}, "a: x\nb: 2\n"},
		"an empty value with a comment":         {"a:  # c\n", []Field{{"a", "x"}}, "a: x  # c\n"},
		"a quoted value with a hash":            {"a: \"x # y\" # c\n", []Field{{"a", "z"}}, "a: z # c\n"},
		"a single quoted value":                 {"a: 'it''s' # c\n", []Field{{"a", "z"}}, "a: z # c\n"},
		"equal values change nothing":           {"a: 'x'\nb: 0x10\nc: ~\n", []Field{{"a", "x"}, {"b", 16}, {"c", nil}}, "a: 'x'\nb: 0x10\nc: ~\n"},
		"null is written":                       {"a: 1\n", []Field{{"a", nil}}, "a: null\n"},
		"a block scalar is replaced":            {"a: |\n  x\n  # y\n\n# c\nb: 2\n", []Field{{"a", "z"}}, "a: z\n\n# c\nb: 2\n"},
		"a list is replaced":                    {"a:\n- 1\n- 2\n# c\nb: 2\n", []Field{{"a", "z"}}, "a: z\n# c\nb: 2\n"},
		"a flow list is replaced":               {"a: [1, \"#\"] # c\n", []Field{{"a", "z"}}, "a: z # c\n"},
		"a value over two lines":                {"a: one\n  two\nb: 2\n", []Field{{"a", "z"}}, "a: z\nb: 2\n"},
		"a quoted value over two lines":         {"a: \"one\n  two\"\nb: 2\n", []Field{{"a", "z"}}, "a: z\nb: 2\n"},
		"a missing key behind its neighbour":    {"a: 1\n# about c\nc: 3\n", []Field{{"a", 1}, {"b", 2}, {"c", 3}}, "a: 1\nb: 2\n# about c\nc: 3\n"},
		"a missing key behind a block scalar":   {"a: |\n  x\nc: 3\n", []Field{{"a", "x\n"}, {"b", 2}}, "a: |\n  x\nb: 2\nc: 3\n"},
		"a missing key without a neighbour":     {"a: 1\n# end\n", []Field{{"b", 2}}, "a: 1\n# end\nb: 2\n"},
		"neighbours that are omitted":           {"a: 1\nz: 9\n", []Field{{"a", 1}, {"b", Omit}, {"c", 3}}, "a: 1\nc: 3\nz: 9\n"},
		"a key is removed":                      {"a: 1\n# c\nb: 2 # d\n\nc: 3\n", []Field{{"b", Omit}}, "a: 1\n# c\n\nc: 3\n"},
		"an indented comment goes with its key": {"a: >-\n  x\nb: 1\n  # c\nc: 3\n", []Field{{"b", Omit}}, "a: >-\n  x\nc: 3\n"},
		"an indented comment stays with it":     {"b: 1\n  # c\nc: 3\n", []Field{{"b", 2}, {"d", 4}}, "b: 2\n  # c\nd: 4\nc: 3\n"},
		"a list is removed":                     {"a:\n  - 1\n\nb: 2\n", []Field{{"a", Omit}}, "\nb: 2\n"},
		"the last key is removed":               {"a: 1\n", []Field{{"a", Omit}}, ""},
		"an absent key is removed":              {"a: 1\n", []Field{{"b", Omit}}, "a: 1\n"},
		"a quoted key":                          {"\"a: b\": 1\n", []Field{{"a: b", 2}}, "\"a: b\": 2\n"},
		"indented keys":                         {"  a: 1\n  c: 3\n", []Field{{"a", 2}, {"b", 2}}, "  a: 2\n  b: 2\n  c: 3\n"},
		"unknown keys and lists stay":           {"x: [1,\n  2]\na: 1\ny: {b: 1}\n", []Field{{"a", 2}}, "x: [1,\n  2]\na: 2\ny: {b: 1}\n"},
		"a colon inside a plain value":          {"a: http://x:80/y\n", []Field{{"a", "b"}}, "a: b\n"},
		"comments only":                         {"# c\n", []Field{{"a", 1}}, "# c\na: 1\n"},
		"a string that looks like a bool":       {"a: 1\n", []Field{{"a", "true"}}, "a: \"true\"\n"},
		"a string that looks like an int":       {"a: 1\n", []Field{{"a", "1"}}, "a: \"1\"\n"},
		"a bool that was a string":              {"a: \"true\"\n", []Field{{"a", true}}, "a: true\n"},
		"a timestamp stays plain":               {"", []Field{{"a", "2026-01-02T03:04:05.678Z"}}, "a: 2026-01-02T03:04:05.678Z\n"},
		"a text with a colon":                   {"", []Field{{"a", "fix: login"}}, "a: \"fix: login\"\n"},
		"a text over two lines":                 {"", []Field{{"a", "x\ny\t\"z\"\\"}}, "a: \"x\\ny\\t\\\"z\\\"\\\\\"\n"},
		"a text with umlauts":                   {"", []Field{{"a", "grün 😀 ok"}}, "a: grün 😀 ok\n"},
		"a path":                                {"", []Field{{"a", "/tmp/x y"}}, "a: /tmp/x y\n"},
		"an empty text":                         {"", []Field{{"a", ""}}, "a: \"\"\n"},
		"a text with a line separator":          {"", []Field{{"a", "x\u2028y\u0085"}}, "a: \"x\\u2028y\\u0085\"\n"},
		"two blank lines between keys are kept": {"a: 1\n\n\nb: 2\n", []Field{{"b", 3}}, "a: 1\n\n\nb: 3\n"},
	} {
		for _, ending := range []string{"\n", "\r\n"} {
			t.Run(fmt.Sprintf("%s, ending %q", name, ending), func(t *testing.T) {
				wrap := func(meta string) string {
					return strings.ReplaceAll("---\n"+meta+"---\n\nbody: 1\n", "\n", ending)
				}
				got, err := mustParse(t, wrap(tc.meta)).WithFields(tc.fields)
				if err != nil {
					t.Fatal(err)
				}
				if diff := cmp.Diff(wrap(tc.want), string(got.Bytes())); diff != "" {
					t.Errorf("(-want +got)\n%s", diff)
				}
			})
		}
	}
}

func TestWithCreatesFrontmatter(t *testing.T) {
	for name, tc := range map[string]struct{ src, want string }{
		"empty file":           {"", "---\na: 1\nb: x\n---\n"},
		"a body":               {"## Plan\n", "---\na: 1\nb: x\n---\n## Plan\n"},
		"windows line endings": {"## Plan\r\n", "---\r\na: 1\r\nb: x\r\n---\r\n## Plan\r\n"},
		"byte order mark":      {"\ufeff## Plan\n", "\ufeff---\na: 1\nb: x\n---\n## Plan\n"},
	} {
		t.Run(name, func(t *testing.T) {
			got, err := mustParse(t, tc.src).WithFields([]Field{{"a", 1}, {"gone", Omit}, {"b", "x"}})
			if err != nil || string(got.Bytes()) != tc.want {
				t.Errorf("got %q, %v, want %q", got.Bytes(), err, tc.want)
			}
		})
	}
	if got, _ := mustParse(t, "x").WithFields([]Field{{"a", Omit}}); string(got.Bytes()) != "x" {
		t.Errorf("removing nothing gave %q", got.Bytes())
	}
}

func TestWithRefuses(t *testing.T) {
	for name, tc := range map[string]struct {
		meta   string
		fields []Field
		want   string
	}{
		"a flow mapping":          {"{a: 1}\n", []Field{{"a", 2}}, "one key: value per line"},
		"a new key in a flow":     {"{a: 1}\n", []Field{{"b", 2}}, "one key: value per line"},
		"an empty flow":           {"{}\n", []Field{{"b", 2}}, "one plain key: value per line"},
		"a key without a name":    {"a: 1\n", []Field{{"", 2}}, "name it"},
		"a key given twice":       {"a: 1\n", []Field{{"a", 2}, {"a", 3}}, "give it once"},
		"a value of another type": {"a: 1\n", []Field{{"a", []int{1}}}, "type []int"},
		"text that is not UTF-8":  {"a: 1\n", []Field{{"a", "\xff"}}, "not UTF-8"},
	} {
		t.Run(name, func(t *testing.T) {
			before := mustParse(t, "---\n"+tc.meta+"---\n")
			after, err := before.WithFields(tc.fields)
			if err == nil || !strings.Contains(err.Error(), tc.want) {
				t.Fatalf("got %v, want %q", err, tc.want)
			}
			if string(after.Bytes()) != string(before.Bytes()) {
				t.Error("a refused edit changed the document")
			}
		})
	}
}

// foreignLines are lines of frontmatter that no edit below names.
var foreignLines = []string{
	"# a comment", "", "own: 1\n  # indented comment", "tags: [a, \"b # c\"]", "list:\n- x\n- y", "note: |\n  one\n\n  # two",
	"quoted: 'it''s'  # why", "ref: http://x/#y", "nested:\n  status: inner\n  id: 7", "empty:", "fold: >-\n  a\n  b",
	"long: a\n  b", "float: 1.50", "\"odd: key\": ~",
}

func drawValue(t *rapid.T) any {
	return rapid.OneOf(
		rapid.String().AsAny(), rapid.Int().AsAny(), rapid.Bool().AsAny(), rapid.Just[any](nil), rapid.Just[any](Omit),
		rapid.SampledFrom([]string{"true", "1", "a: b", "- x", "# x", "x #y", "a\nb", " lead", "trail ", "~", "null", "yes",
			"'", "\"", "[a", "{a", "*a", "&a", "!a", "%a", "@a", "`a", "a:", "? a", "| x", "> x", "\u2028", "\ufeff", "---", "...",
			"2026-01-02T03:04:05Z", "0x1f", "1e3", "12:30", "a, b", "a]", "a}", "key", "<<", "=", "\x01", "a\tb", "a # b"}).AsAny(),
	).Draw(t, "value")
}

func TestWithKeepsEverythingElse(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		known := []string{"id", "status", "round", "summary"}
		lines := rapid.Permutation(append([]string{"id: one # first", "status: 'working'", "round: 3"}, foreignLines...)).Draw(t, "lines")
		lines = lines[:rapid.IntRange(0, len(lines)).Draw(t, "count")]
		body := rapid.String().Draw(t, "body")
		ending := rapid.SampledFrom([]string{"\n", "\r\n"}).Draw(t, "ending")
		meta := strings.ReplaceAll(strings.Join(append(lines, ""), "\n"), "\n", ending)
		body = strings.ReplaceAll(strings.ToValidUTF8(body, ""), "\x00", "")
		before, err := Parse([]byte("---" + ending + meta + "---" + ending + body))
		if err != nil {
			t.Fatal(err)
		}
		var fields []Field
		for _, key := range known {
			if rapid.Bool().Draw(t, "set "+key) {
				fields = append(fields, Field{key, drawValue(t)})
			}
		}
		after, err := before.WithFields(fields)
		if err != nil {
			t.Fatal(err)
		}
		checkEdit(t, before, after, fields)
	})
}

func checkEdit(t *rapid.T, before, after Document, fields []Field) {
	again, err := Parse(after.Bytes())
	if err != nil {
		t.Fatalf("%q does not parse: %v", after.Bytes(), err)
	}
	if string(again.Body()) != string(before.Body()) {
		t.Fatalf("body changed from %q to %q", before.Body(), again.Body())
	}
	named := map[string]bool{}
	for _, f := range fields {
		named[f.Key] = true
		got, ok := again.Get(f.Key)
		if f.Value == Omit && ok || f.Value != Omit && got != f.Value {
			t.Fatalf("%s reads back as %#v, want %#v", f.Key, got, f.Value)
		}
	}
	if diff := cmp.Diff(otherLines(before, named), otherLines(again, named)); diff != "" {
		t.Fatalf("other lines changed (-before +after)\n%s", diff)
	}
	same, err := again.WithFields(fields)
	if err != nil || string(same.Bytes()) != string(again.Bytes()) {
		t.Fatalf("a second edit changed %q to %q (%v)", again.Bytes(), same.Bytes(), err)
	}
}

// otherLines returns the frontmatter without the lines of the named keys.
func otherLines(d Document, named map[string]bool) []string {
	var kept []string
	for line := range strings.Lines(d.meta) {
		key, _, _ := strings.Cut(line, ":")
		if !named[key] {
			kept = append(kept, line)
		}
	}
	return kept
}
