package mcpboard_test

import (
	"encoding/json"
	"maps"
	"os"
	"slices"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"orange/internal/adapter/mcpboard"
)

func TestShippedMappings(t *testing.T) {
	got := slices.Sorted(maps.Keys(mcpboard.ShippedMappings()))
	if diff := cmp.Diff([]string{"backlog", "joan"}, got); diff != "" {
		t.Error(diff)
	}
}

// small is a mapping with all that one needs.
const small = `{
  "name": "small",
  "list": {"tool": "list", "read": {"as": "json", "items": "tasks", "fields": {"id": "id", "title": "title"}}},
  "issue": {"tool": "get", "args": {"id": "{id}"}, "read": {"as": "structured", "fields": {"id": "id", "title": "title", "column": "state"}}},
  "columns": {"tool": "states", "read": {"as": "text", "item": "(?m)^(?P<name>.+)$"}},
  "move": {"tool": "move", "args": {"id": "{id}", "to": "{column}"}, "ok": "moved"},
  "comment": {"tool": "say", "args": {"id": "{id}", "body": "{text}", "by": "{author?}"}, "ok": "said"}
}`

func TestParseMapping(t *testing.T) {
	if _, err := mcpboard.ParseMapping([]byte(small)); err != nil {
		t.Fatal(err)
	}
	for name, tc := range map[string]struct{ old, new, want string }{
		"no JSON":              {small, "{", "mapping: unexpected EOF"},
		"something behind it":  {small, small + "x", "more after the end"},
		"a word that is none":  {`"name"`, `"nane"`, "unknown field"},
		"no name":              {`"name": "small"`, `"name": ""`, "needs a name"},
		"no way to move":       {`"move"`, `"title"`, "move is missing: give the tool that does it"},
		"nothing for a need":   {`"comment"`, `"title"`, "comment is missing"},
		"no tool":              {`"tool": "move"`, `"tool": ""`, "move: it names no tool"},
		"a hole that is none":  {"{column}", "{colour}", "{colour} is not known here"},
		"no pattern":           {"(?m)^(?P<name>.+)$", "(", "missing closing )"},
		"a group that is none": {"P<name>", "P<nome>", "group nome is not known"},
		"a field that is none": {`"title": "title"`, `"titel": "title"`, "field titel is not known"},
		"another way to read":  {`"as": "json"`, `"as": "xml"`, "give json, structured or text"},
		"no word for done":     {`, "ok": "moved"`, ``, "move: it needs ok"},
		"half of the tags":     {`"name": "small",`, `"name": "small", "add_tag": {"tool": "t", "ok": "x"},`, "go together"},
		"an error of no kind":  {`"name": "small",`, `"name": "small", "errors": [{"match": "x", "is": "bad"}],`, `"bad" is not a kind of error`},
		"a priority of none":   {`"name": "small",`, `"name": "small", "priorities": {"p1": "soon"},`, "urgent, high, medium or low"},
	} {
		t.Run(name, func(t *testing.T) {
			text := strings.Replace(small, tc.old, tc.new, 1)
			_, err := mcpboard.ParseMapping([]byte(text))
			if err == nil || !strings.Contains(err.Error(), tc.want) || strings.Contains(err.Error(), "\n") {
				t.Errorf("%v, want one line with %q", err, tc.want)
			}
		})
	}
}

// Every call that the mapping for Joan makes is one that Joan's schemas know.
func TestJoanMappingFitsJoansTools(t *testing.T) {
	text, err := os.ReadFile("../../trackertest/fakejoan/tools.json")
	if err != nil {
		t.Fatal(err)
	}
	var tools []struct {
		Name   string
		Schema struct {
			Properties map[string]any
			Required   []string
		} `json:"inputSchema"`
	}
	if err := json.Unmarshal(text, &tools); err != nil {
		t.Fatal(err)
	}
	m := mcpboard.ShippedMappings()["joan"]
	for name, op := range map[string]*mcpboard.Operation{
		"list": m.List, "issue": m.Issue, "comments": m.Comments, "columns": m.Columns, "tags": m.Tags, "add_tag": m.AddTag, "remove_tag": m.RemoveTag,
		"move": m.Move, "title": m.Title, "describe": m.Describe, "comment": m.Comment, "whoami": m.Whoami,
	} {
		found := false
		for _, tool := range tools {
			if tool.Name != op.Tool {
				continue
			}
			found = true
			for arg := range op.Args {
				if _, ok := tool.Schema.Properties[arg]; !ok {
					t.Errorf("%s: %s has no argument %s", name, op.Tool, arg)
				}
			}
			for _, arg := range tool.Schema.Required {
				if _, ok := op.Args[arg]; !ok {
					t.Errorf("%s: %s needs %s", name, op.Tool, arg)
				}
			}
		}
		if !found {
			t.Errorf("%s: Joan has no tool %s", name, op.Tool)
		}
	}
}

func FuzzParseMapping(f *testing.F) {
	f.Add([]byte(small))
	for _, name := range []string{"joan", "backlog"} {
		text, err := os.ReadFile("mappings/" + name + ".json")
		if err != nil {
			f.Fatal(err)
		}
		f.Add(text)
	}
	f.Fuzz(func(t *testing.T, text []byte) {
		m, err := mcpboard.ParseMapping(text)
		if err != nil && (strings.ContainsAny(err.Error(), "\r\n") || len(err.Error()) > 2000) {
			t.Errorf("no moderate line: %q", err)
		}
		if err == nil {
			if _, err := mcpboard.New(mcpboard.BoardOptions{Mapping: m, URL: "http://localhost/"}); err != nil {
				t.Error(err)
			}
		}
	})
}
