package mcp_test

import (
	"encoding/json"
	"strings"
	"testing"

	sdk "github.com/modelcontextprotocol/go-sdk/mcp"

	"orange/internal/ui/mcp"
)

// FuzzArguments calls every tool with any JSON, except wait and verify, which take their time.
func FuzzArguments(f *testing.F) {
	tools := []string{"list", "show", "explain", "inbox", "stats", "create", "update", "answer", "approve", "diff", "attempts", "log", "pause", "resume", "board", "board_tag", "board_move"}
	for i, seed := range []string{
		"{}", "null", "[]", `{"task":"x"}`, `{"limit":-1,"scope":"all"}`, `{"project":"p","summary":"s","branch":"b"}`, `{"task":"a","status":"working","note":"\u0000"}`,
		`{"task":["a"]}`, `{"after":"x","limit":1e99}`, `{"answer":"y"}`, `{"task":"oneAAAAAAAAAAAAAAAAAA","path":"../x","from":9,"before":"-1"}`, `{"card":1,"add":["Ready",""],"column":"\u202e","project":"shop"}`, `{"all":true,"card":-9}`,
	} {
		f.Add(uint8(i), []byte(seed))
	}
	s := dial(f, mcp.Caller{API: newEnv(f).client})
	f.Fuzz(func(t *testing.T, tool uint8, arguments []byte) {
		if !json.Valid(arguments) {
			return
		}
		name := tools[int(tool)%len(tools)]
		res, err := s.CallTool(t.Context(), &sdk.CallToolParams{Name: name, Arguments: json.RawMessage(arguments)})
		if err != nil {
			if strings.Contains(err.Error(), "clos") {
				t.Fatalf("%s ended the session: %v", name, err)
			}
			return
		}
		for _, c := range res.Content {
			if text := c.(*sdk.TextContent).Text; res.IsError && strings.ContainsAny(text, "\n\r") {
				t.Errorf("%s: the error has several lines: %q", name, text)
			}
		}
	})
}
