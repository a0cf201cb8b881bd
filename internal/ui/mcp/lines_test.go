package mcp_test

import (
	"encoding/json"
	"errors"
	"io"
	"strconv"
	"strings"
	"testing"
	"testing/iotest"

	"github.com/google/go-cmp/cmp"

	"orange/internal/ui/mcp"
)

const hello = `{"jsonrpc":"2.0","id":1,"method":"initialize","params":{"protocolVersion":"2025-06-18","capabilities":{},"clientInfo":{"name":"t","version":"1"}}}` + "\n" +
	`{"jsonrpc":"2.0","method":"notifications/initialized"}` + "\n"

// answer is what is read of an answer.
type answer struct {
	Version string          `json:"jsonrpc"`
	ID      json.RawMessage `json:"id"`
	Error   *struct {
		Code    int
		Message string
	} `json:"error"`
}

// answers are the codes of the errors, or "ok", by the ids that were answered.
func answers(t *testing.T, out string) map[string][]string {
	t.Helper()
	got := map[string][]string{}
	for l := range strings.Lines(out) {
		if !strings.HasPrefix(l, "[") {
			l = "[" + l + "]"
		}
		var all []answer
		if err := json.Unmarshal([]byte(l), &all); err != nil || len(l) > 1<<20 {
			t.Fatalf("%.200q: %v", l, err)
		}
		for _, m := range all {
			said := "ok"
			if m.Error != nil {
				said = strconv.Itoa(m.Error.Code)
			}
			if m.Version != "2.0" || m.ID == nil || m.Error != nil && (m.Error.Message == "" || strings.Contains(m.Error.Message, "\n")) {
				t.Errorf("it says %q", l)
			}
			got[string(m.ID)] = append(got[string(m.ID)], said)
		}
	}
	return got
}

func TestALineThatIsNoMessageDoesNotEndIt(t *testing.T) {
	const before, after = `{"jsonrpc":"2.0","id":2,"method":"tools/call","params":{"name":"list"}}`, `{"jsonrpc":"2.0","id":3,"method":"tools/list"}`
	tests := map[string]struct {
		line string
		want map[string][]string
	}{
		"words":                 {"hello", map[string][]string{"null": {"-32700"}}},
		"half a message":        {`{"jsonrpc":"2.0","id":9,"method":`, map[string][]string{"null": {"-32700"}}},
		"two on a line":         {`{"jsonrpc":"2.0","id":8,"method":"ping"} {"jsonrpc":"2.0","id":9,"method":"ping"}`, map[string][]string{"null": {"-32700"}}},
		"bytes":                 {"\x00\xff\x1b[2J", map[string][]string{"null": {"-32700"}}},
		"too deep":              {strings.Repeat("[", 1<<20), map[string][]string{"null": {"-32700"}}},
		"a long line":           {strings.Repeat("x", 9<<20), map[string][]string{"null": {"-32600"}}},
		"a long message":        {`{"jsonrpc":"2.0","id":9,"method":"ping","params":{"x":"` + strings.Repeat("x", 9<<20) + `"}}`, map[string][]string{"null": {"-32600"}}},
		"a string":              {`"hello"`, map[string][]string{"null": {"-32600"}}},
		"an object":             {`{}`, map[string][]string{"null": {"-32600"}}},
		"another version":       {`{"jsonrpc":"1.0","id":9,"method":"ping"}`, map[string][]string{"9": {"-32600"}}},
		"an id that is none":    {`{"jsonrpc":"2.0","id":{},"method":"ping"}`, map[string][]string{"null": {"-32600"}}},
		"several at once":       {`[{"jsonrpc":"2.0","id":8,"method":"ping"},{"jsonrpc":"2.0","id":9,"method":"ping"}]`, map[string][]string{"8": {"ok"}, "9": {"ok"}}},
		"one at once, and bad":  {`[{"jsonrpc":"2.0"}]`, map[string][]string{"null": {"-32600"}}},
		"none at once":          {`[]`, map[string][]string{"null": {"-32600"}}},
		"an empty line":         {"", map[string][]string{}},
		"spaces":                {" \t\r", map[string][]string{}},
		"spaces around it":      {"  {\"jsonrpc\":\"2.0\",\"id\":9,\"method\":\"ping\"} \t\r", map[string][]string{"9": {"ok"}}},
		"a message of some MB":  {`{"jsonrpc":"2.0","id":9,"method":"ping","params":{"_meta":{"x":"` + strings.Repeat("x", 7<<20) + `"}}}`, map[string][]string{"9": {"ok"}}},
		"many lines of nothing": {strings.Repeat("x\n", 3), map[string][]string{"null": {"-32700", "-32700", "-32700"}}},
	}
	for name, tt := range tests {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			var out writer
			in := io.NopCloser(strings.NewReader(hello + before + "\n" + tt.line + "\n" + after)) // the last has no end
			if err := mcp.Serve(t.Context(), options(), mcp.Caller{API: newEnv(t).client}, in, &out); err != nil {
				t.Errorf("it ended with %v", err)
			}
			tt.want["1"], tt.want["2"], tt.want["3"] = []string{"ok"}, []string{"ok"}, []string{"ok"}
			if diff := cmp.Diff(tt.want, answers(t, out.String())); diff != "" {
				t.Error(diff)
			}
		})
	}
}

func TestAnInputThatBreaksEndsItWithWhatWasAsked(t *testing.T) {
	var out writer
	in := io.NopCloser(io.MultiReader(strings.NewReader(hello), iotest.ErrReader(errors.New("the wire is cut"))))
	err := mcp.Serve(t.Context(), options(), mcp.Caller{API: newEnv(t).client}, in, &out)
	if err == nil || !strings.Contains(err.Error(), "the wire is cut") {
		t.Errorf("it ended with %v", err)
	}
	if diff := cmp.Diff(map[string][]string{"1": {"ok"}}, answers(t, out.String())); diff != "" {
		t.Error(diff)
	}
}

func TestAnInputThatIsEmptyIsNoError(t *testing.T) {
	var out writer
	if err := mcp.Serve(t.Context(), options(), mcp.Caller{API: newEnv(t).client}, io.NopCloser(strings.NewReader("")), &out); err != nil || out.String() != "" {
		t.Errorf("%v, %q", err, out.String())
	}
}
