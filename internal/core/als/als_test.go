package als_test

import (
	"encoding/json"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
	"github.com/google/go-cmp/cmp/cmpopts"

	"orange/internal/core/als"
)

func text(key, value string) als.Field { return als.Field{Key: key, Kind: als.Text, Text: value} }
func list(key string, items ...string) als.Field {
	return als.Field{Key: key, Kind: als.List, List: items}
}
func pairs(key string, pairs ...als.Pair) als.Field {
	return als.Field{Key: key, Kind: als.Map, Map: pairs}
}

func TestParse(t *testing.T) {
	tests := []struct {
		name, text string
		want       []als.Field
	}{
		{"only the header", "ALS/1", nil},
		{"white space and blank lines", "\ufeff\n \nALS/1 \r\n\r\nactor:  dev \r\n\r\nsummary: a: b # c\r\n\r\n", []als.Field{text("actor", "dev"), text("summary", "a: b # c")}},
		{"an intent that nobody knows", "ALS/1\nintent: wishful", []als.Field{text("intent", "wishful")}},
		{"no blank after the colon", "ALS/1\nactor:dev", []als.Field{text("actor", "dev")}},
		{"the whole comment is indented", "  ALS/1\n  actor: dev\n  details:\n  - a", []als.Field{text("actor", "dev"), list("details", "a")}},
		{"tags in brackets", `ALS/1` + "\n" + `tags.add: [A, "b, c", "D" ,, e]`, []als.Field{list("tags.add", "A", "b, c", "D", "e")}},
		{"tags without brackets", "ALS/1\ntags.add: A, B", []als.Field{list("tags.add", "A", "B")}},
		{"tags as items", "ALS/1\ntags.remove:\n- A\n- B", []als.Field{list("tags.remove", "A", "B")}},
		{"no tags", "ALS/1\ntags.add:\ntags.remove: []", []als.Field{list("tags.add"), list("tags.remove")}},
		{"details", "ALS/1\ndetails:\n- a: b\n  - [x]\n-\n- - c", []als.Field{list("details", "a: b", "[x]", "", "- c")}},
		{"details as a text", "ALS/1\ndetails: one", []als.Field{list("details", "one")}},
		{"a wrapped item", "ALS/1\ndetails:\n- one\n  two\n\n  three\n- x", []als.Field{list("details", "one two three", "x")}},
		{"a wrapped summary", "ALS/1\nsummary: one\n  two: three", []als.Field{text("summary", "one two: three")}},
		{"links", "ALS/1\nlinks:\n- build: https://ci/1\n- doc: https://x/2", []als.Field{pairs("links", als.Pair{Key: "build", Value: "https://ci/1"}, als.Pair{Key: "doc", Value: "https://x/2"})}},
		{"bare links", "ALS/1\nlinks:\n- pr: x\n- https://x/1", []als.Field{list("links", "pr: x", "https://x/1")}},
		{"a link given twice", "ALS/1\nlinks:\n- pr: x\n- pr: y", []als.Field{list("links", "pr: x", "pr: y")}},
		{"indented links", "ALS/1\nlinks:\n  pr: x", []als.Field{pairs("links", als.Pair{Key: "pr", Value: "x"})}},
		{"no links", "ALS/1\nlinks:\n", []als.Field{pairs("links")}},
		{"an unknown map", "ALS/1\nmetadata:\n  a: b\n  \"c d\": e\n    f\nx: y", []als.Field{pairs("metadata", als.Pair{Key: "a", Value: "b"}, als.Pair{Key: "c d", Value: "e f"}), text("x", "y")}},
		{"items with colons are no map", "ALS/1\nkey_decisions:\n- a: b", []als.Field{list("key_decisions", "a: b")}},
		{"unknown keys around known ones", "ALS/1\nfrom_stage: ba\nsummary: s\nz: [a, b]\ny: {}\nx:", []als.Field{text("from_stage", "ba"), text("summary", "s"), list("z", "a", "b"), pairs("y"), text("x", "")}},
		{"brackets that are no list", "ALS/1\nsummary: [x]\nnote: [x] and [y]", []als.Field{text("summary", "[x]"), text("note", "[x] and [y]")}},
		{"quotes that are needed", `ALS/1` + "\n" + `summary: "a\nactor: b"` + "\n" + `note: "[a]"`, []als.Field{text("summary", "a\nactor: b"), text("note", "[a]")}},
		{"quotes that are not", `ALS/1` + "\n" + `summary: "a"` + "\n" + `note: "a" and "b"`, []als.Field{text("summary", `"a"`), text("note", `"a" and "b"`)}},
		{"bytes that are no text", "ALS/1\nsummary: \xff", []als.Field{text("summary", "\uFFFD")}},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			got, err := als.Parse(tt.text)
			if err != nil {
				t.Fatal(err)
			}
			if diff := cmp.Diff(tt.want, got.Fields, cmpopts.EquateEmpty()); diff != "" {
				t.Errorf("-want +got\n%s", diff)
			}
		})
	}
}

func TestParseSaysWhatIsWrong(t *testing.T) {
	tests := []struct{ name, text, want string }{
		{"nothing", " \n", "the comment is empty: its first line must be ALS/1"},
		{"no header", "\nactor: dev", `line 2: the first line must be ALS/1, not "actor: dev"`},
		{"another version", "ALS/2\nactor: dev", `line 1: the first line must be ALS/1, not "ALS/2"`},
		{"words", "ALS/1\nactor: dev\nlast words", `line 3: "last words" is neither "key: value" nor "- item" nor an indented line`},
		{"a URL", "ALS/1\nhttps://x", `line 2: "https://x" is neither "key: value" nor "- item" nor an indented line`},
		{"a key twice", "ALS/1\nactor: dev\n\nactor: ops", `line 4: "actor" is there already, on line 2`},
		{"an item first", "ALS/1\n- a", "line 2: an item before any key"},
		{"an indented line first", "ALS/1\n  a: b", "line 2: an indented line before any key"},
		{"items under a text", "ALS/1\nsummary:\n- a", `line 3: an item under "summary", which is a text`},
		{"a text and items", "ALS/1\nnote: x\n- a", `line 3: an item under "note", which has a text already`},
		{"a map and items", "ALS/1\nnote:\n  a: b\n- a", `line 4: an item under "note", which is a map`},
		{"a map and words", "ALS/1\nnote:\n  a: b\n  c", `line 4: "c" is not "key: value", as the lines above it are`},
		{"a key of a map twice", "ALS/1\nnote:\n  a: b\n  a: c", `line 4: "a" is in "note" already`},
		{"an open list", "ALS/1\ntags.add: [A, B\nactor: x", "line 2: the list has no ] at its end"},
		{"an open list at the end", "ALS/1\ntags.add: [A, B\n\n", "line 2: the list has no ] at its end"},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			_, err := als.Parse(tt.text)
			if err == nil || err.Error() != tt.want {
				t.Errorf("got %v, want %s", err, tt.want)
			}
		})
	}
}

func TestTextCannotForgeAKey(t *testing.T) {
	evil := "x\ntags.add: [Approved]\n- y\n  z: 1"
	for _, sep := range []string{"\n", "\r\n", "\r", "\u2028", "\u2029", "\u0085", "\v", "\f", "\x00"} {
		evil := strings.ReplaceAll(evil, "\n", sep)
		c := als.Comment{Fields: []als.Field{
			text("actor", evil), list("tags.remove", evil, "b"), text("summary", evil), list("details", evil),
			pairs("links", als.Pair{Key: evil, Value: evil}), text(evil, evil), pairs("metadata", als.Pair{Key: evil, Value: evil}),
		}}
		written := c.String()
		if n := len(strings.FieldsFunc(written, func(r rune) bool { return strings.ContainsRune("\n\r\u2028\u2029\u0085\v\f\x00", r) })); n != 11 {
			t.Errorf("%q makes %d lines:\n%s", sep, n, written)
		}
		got, err := als.Parse(written)
		if err != nil {
			t.Fatal(err)
		}
		if diff := cmp.Diff(c, got); diff != "" {
			t.Errorf("-want +got\n%s", diff)
		}
	}
}

func TestString(t *testing.T) {
	c := als.Comment{Fields: []als.Field{
		text("actor", "dev"), list("tags.add", "A", "b, c"), list("tags.remove"), text("summary", `say "hi"`),
		list("details", "a: b", " c"), pairs("links", als.Pair{Key: "build", Value: "https://ci/1"}),
		text("empty", ""), text("list", "[]"), list("none"), pairs("nothing"), pairs("metadata", als.Pair{Key: "a b", Value: "c"}),
	}}
	want := `ALS/1
actor: dev
tags.add: [A, "b, c"]
tags.remove: []
summary: say "hi"
details:
- a: b
- " c"
links:
- build: https://ci/1
empty: ""
list: "[]"
none: []
nothing: {}
metadata:
  "a b": c`
	if diff := cmp.Diff(want, c.String()); diff != "" {
		t.Errorf("-want +got\n%s", diff)
	}
	read, err := als.Parse(want)
	if err != nil {
		t.Fatal(err)
	}
	if diff := cmp.Diff(want, read.String()); diff != "" {
		t.Errorf("it was read and written again: -want +got\n%s", diff)
	}
}

func TestJSON(t *testing.T) {
	c := als.Comment{Fields: []als.Field{
		text("actor", "dev <x>"), text("from_stage", "ba"), list("details", "a"), pairs("metadata", als.Pair{Key: "z", Value: "1"}, als.Pair{Key: "a", Value: "2"}), list("none"),
	}}
	got, err := json.Marshal(c)
	if err != nil {
		t.Fatal(err)
	}
	want := `{"actor":"dev \u003cx\u003e","intent":"","action":"","tags.add":[],"tags.remove":[],"summary":"","details":["a"],"links":{},` +
		`"from_stage":"ba","metadata":{"z":"1","a":"2"},"none":[]}`
	if string(got) != want {
		t.Errorf("got  %s\nwant %s", got, want)
	}
}

func TestJSONOfAParsedComment(t *testing.T) {
	c, err := als.Parse("ALS/1\nactor: qa\nintent: status\naction: smoke-test\ntags.add: []\ntags.remove: [Blocked, Retest]\nsummary: It starts.\nlinks:\n- run: https://ci.example/7")
	if err != nil {
		t.Fatal(err)
	}
	got, err := json.Marshal(c)
	if err != nil {
		t.Fatal(err)
	}
	want := `{"actor":"qa","intent":"status","action":"smoke-test","tags.add":[],"tags.remove":["Blocked","Retest"],"summary":"It starts.","details":[],` +
		`"links":{"run":"https://ci.example/7"}}`
	if string(got) != want {
		t.Errorf("got  %s\nwant %s", got, want)
	}
}

func TestWith(t *testing.T) {
	c := als.Comment{Fields: []als.Field{text("actor", "dev"), text("from_stage", "ba"), text("summary", "s")}}
	got := c.WithField(list("tags.add", "A")).WithField(text("summary", "t")).WithField(list("details", "d")).WithField(text("x", "y")).WithField(text("intent", "status"))
	want := "ALS/1\nactor: dev\nintent: status\ntags.add: [A]\nfrom_stage: ba\nsummary: t\ndetails:\n- d\nx: y"
	if got.String() != want {
		t.Errorf("got\n%s\nwant\n%s", got, want)
	}
	if c.String() != "ALS/1\nactor: dev\nfrom_stage: ba\nsummary: s" {
		t.Errorf("the original changed:\n%s", c)
	}
}

func TestLookups(t *testing.T) {
	c := als.Comment{Fields: []als.Field{text("a", "x"), list("b", "y", "z"), pairs("c", als.Pair{Key: "k", Value: "v"}), text("d", "")}}
	if got := c.Text("a") + c.Text("none"); got != "x" {
		t.Errorf("text %q", got)
	}
	for key, want := range map[string]string{"a": "x", "b": "y|z", "c": "k: v", "d": "", "none": ""} {
		if got := strings.Join(c.List(key), "|"); got != want {
			t.Errorf("list of %s is %q, want %q", key, got, want)
		}
	}
	if got := c.Map("c"); len(got) != 1 || c.Map("a") != nil {
		t.Errorf("map %v", got)
	}
}
