package scriptedmodel

import (
	"encoding/json"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
)

func TestTheShellToolIsFoundAndCalledAsItsSchemaAsks(t *testing.T) {
	text := `{"type":"string"}`
	schema := func(properties, required string) json.RawMessage {
		return json.RawMessage(`{"type":"object","properties":{` + properties + `},"required":[` + required + `]}`)
	}
	for name, c := range map[string]struct {
		tools []tool
		want  string
	}{
		"by name among others":         {[]tool{{name: "Read"}, {name: "Bash", schema: schema(`"command":`+text, `"command"`)}}, `Bash {"command":"ls"}`},
		"the preferred of two":         {[]tool{{name: "shell"}, {name: "bash"}}, `bash {"command":"ls"}`},
		"an argument called cmd":       {[]tool{{name: "exec_command", schema: schema(`"cmd":`+text, `"cmd"`)}}, `exec_command {"cmd":"ls"}`},
		"a list of words":              {[]tool{{name: "shell", schema: schema(`"command":{"type":"array"}`, `"command"`)}}, `shell {"command":["bash","-lc","ls"]}`},
		"a list of words or nothing":   {[]tool{{name: "shell", schema: schema(`"command":{"type":["array","null"]}`, ``)}}, `shell {"command":["bash","-lc","ls"]}`},
		"what else is required":        {[]tool{{name: "bash", schema: schema(`"command":`+text+`,"description":`+text+`,"seconds":{"type":"INTEGER","minimum":1},"background":{"type":"boolean"}`, `"command","description","seconds","background"`)}}, `bash {"background":false,"command":"ls","description":"Scripted session","seconds":1}`},
		"a schema that is no schema":   {[]tool{{name: "bash", schema: json.RawMessage(`[1]`)}}, `bash {"command":"ls"}`},
		"none that runs commands":      {[]tool{{name: "Read"}, {name: "bashful"}}, ``},
		"the one that needs no schema": {[]tool{{name: "local_shell", native: true}}, `local_shell {"command":"ls"}`},
	} {
		t.Run(name, func(t *testing.T) {
			got := ""
			if found, ok := findShellTool(c.tools); ok {
				made := shellCall("1", found, "ls")
				got = made.tool.name + " " + made.argumentsJSON()
			}
			if got != c.want {
				t.Errorf("the call is %s, not %s", got, c.want)
			}
		})
	}
}

func TestAnAgentWithoutAShellGetsAnOrdinaryAnswer(t *testing.T) {
	m := newModel(t, workAndMore()...)
	post(m, "/v1/messages", `{"messages":[{"role":"user","content":"[[script:work]]"}],"tools":[{"name":"WebSearch"}]}`)
	got := m.Requests()[0]
	if got.Kind != Side || got.Turn != -1 || got.Answer != sampleText {
		t.Errorf("the log says %+v", got)
	}
}

func TestTheShellOfTheResponsesProtocolIsCalledInItsOwnWay(t *testing.T) {
	m := newModel(t, workAndMore()...)
	body := `{"stream":true,"input":[{"role":"user","content":"[[script:work]]"}],"tools":[{"type":"local_shell"}]}`
	want := `"action":{"command":["bash","-lc","echo one > one.txt && cat one.txt"],"env":{},"type":"exec"},"call_id":"call_work_0"`
	if got := post(m, "/v1/responses", body).Body.String(); strings.Count(got, want) != 3 {
		t.Errorf("the call is not begun, done and part of the whole:\n%s", got)
	}
	body = `{"input":[{"role":"user","content":"[[script:work]]"},{"type":"local_shell_call","call_id":"call_work_0"},{"type":"local_shell_call_output","call_id":"call_work_0"}],"tools":[{"type":"local_shell"}]}`
	post(m, "/v1/responses", body)
	if got := m.Requests()[1].Turn; got != 1 {
		t.Errorf("after one call turn %d is played, not 1", got)
	}
}

func TestAValueIsMadeUpThatFits(t *testing.T) {
	for schema, want := range map[string]any{
		`{"type":"string"}`:  sampleText,
		`{"type":"STRING"}`:  sampleText,
		`{"type":"boolean"}`: false,
		`{"type":"null"}`:    nil,
		`{"type":"integer"}`: 0,
		`{"type":"array"}`:   []any{},
		`{"enum":["b","a"]}`: "b",
		`{"properties":{"title":{"type":"string"},"n":{}},"required":["title"]}`: map[string]any{"title": sampleText},
		`{}`:    sampleText,
		`hello`: sampleText,
	} {
		if diff := cmp.Diff(want, parseSchema(json.RawMessage(schema)).sampleValue()); diff != "" {
			t.Errorf("%s (-want +got):\n%s", schema, diff)
		}
	}
}
