package signal

import (
	"encoding/json"
	"errors"
	"io/fs"
	"os"
	"slices"
	"strings"
	"testing"
)

const conformanceDir = "../../../../shared/conformance/"

// conformanceRow is one case of the shared files.
type conformanceRow struct {
	Suite, Name, Kind, Recommended string
	Input                          json.RawMessage
	Context                        map[string]any
	Expected                       json.RawMessage
}

func TestConformance(t *testing.T) {
	for _, file := range []string{"agentfactory.json", "cmat.json", "joan.json"} {
		raw, err := os.ReadFile(conformanceDir + file)
		if errors.Is(err, fs.ErrNotExist) {
			t.Skip("the shared conformance files are not here")
		}
		if err != nil {
			t.Fatal(err)
		}
		var rows []json.RawMessage
		if err := json.Unmarshal(raw, &rows); err != nil {
			t.Fatal(err)
		}
		ran := 0
		for _, row := range rows {
			var head struct{ Suite string }
			if err := json.Unmarshal(row, &head); err != nil {
				t.Fatal(err)
			}
			check, ok := conformanceChecks[head.Suite]
			if !ok {
				continue
			}
			var c conformanceRow
			if err := json.Unmarshal(row, &c); err != nil {
				t.Fatal(err)
			}
			ran++
			t.Run(c.Suite+"/"+c.Name, func(t *testing.T) { check(t, c) })
		}
		if ran == 0 {
			t.Errorf("%s: no case ran", file)
		}
	}
}

var conformanceChecks = map[string]func(*testing.T, conformanceRow){
	"parse_work_result":      checkParseWorkResult,
	"extract_status":         checkExtractStatus,
	"legacy_status_seed003":  checkLegacyStatus,
	"worker_result_validate": checkWorkerResultValidate,
	"worker_result_parse":    checkWorkerResultParse,
	"stage_context_limits":   checkStageContext,
	"invocation":             checkInvocation,
}

// input is the text of a row: as it is, or repetitions of parts.
func (c conformanceRow) input(t *testing.T) string {
	t.Helper()
	var text *string
	if json.Unmarshal(c.Input, &text) == nil {
		if text == nil {
			return ""
		}
		return *text
	}
	var parts struct{ Repeat [][2]any }
	if err := json.Unmarshal(c.Input, &parts); err != nil {
		t.Fatal(err)
	}
	var b strings.Builder
	for _, p := range parts.Repeat {
		b.WriteString(strings.Repeat(p[0].(string), int(p[1].(float64))))
	}
	return b.String()
}

func (c conformanceRow) expected(t *testing.T) string {
	t.Helper()
	var want *string
	if err := json.Unmarshal(c.Expected, &want); err != nil {
		t.Fatal(err)
	}
	if want == nil {
		return ""
	}
	return *want
}

// recommendedResults are the results behind the recommendations, where there is one.
var recommendedResults = map[string]Result{
	"negated: not all checks passed":             Unknown,
	"prompt echo quotes both markers then fails": Ambiguous,
	"failed then corrected to passed":            Ambiguous,
	"marker inside code fence":                   Unknown,
	"QA Complete heading then FAIL far later":    Unknown,
}

func checkParseWorkResult(t *testing.T, c conformanceRow) {
	workType, _ := c.Context["work_type"].(string)
	l := Looking{Protocol: WorkResult, WorkType: workType}
	want := Result(c.expected(t))
	l.Parity = true
	if got := DetectText(c.input(t), l); got.Outcome != want {
		t.Errorf("parity: %+v, want %s", got, want)
	}
	if c.Kind != "observed" {
		return
	}
	l.Parity = false
	if c.Recommended != "" {
		var known bool
		if want, known = recommendedResults[c.Name]; !known {
			t.Fatalf("no result is noted for the recommendation %q", c.Recommended)
		}
	}
	if got := DetectText(c.input(t), l); got.Outcome != want {
		t.Errorf("%+v, want %s", got, want)
	}
}

func checkExtractStatus(t *testing.T, c conformanceRow) {
	got := DetectText(c.input(t), Looking{Protocol: CompletionBlock})
	want := c.expected(t)
	switch c.Recommended {
	case "":
	case "normalise to upper-case before lookup":
		want = strings.ToUpper(want)
	case "ambiguous":
		if got.Outcome != Ambiguous {
			t.Errorf("%+v, want ambiguous", got)
		}
		return
	case "reject: agent mismatch":
		got = DetectText(c.input(t), Looking{Protocol: CompletionBlock, Agent: "implementer"})
		want = ""
	case `BLOCKED + detail "need key"`:
		want = "BLOCKED: need key"
	default:
		want = c.Recommended
	}
	said := strings.TrimSuffix(got.Code+": "+got.Detail, ": ")
	if want == "BLOCKED" {
		said = got.Code
	}
	if said != want {
		t.Errorf("%+v, want %q", got, want)
	}
}

func checkLegacyStatus(t *testing.T, c conformanceRow) {
	var want struct{ Code string }
	if err := json.Unmarshal(c.Expected, &want); err != nil {
		t.Fatal(err)
	}
	if got := DetectText(c.input(t), Looking{Protocol: CompletionBlock}); got.Code != want.Code {
		t.Errorf("%+v, want %s", got, want.Code)
	}
}

func checkWorkerResultValidate(t *testing.T, c conformanceRow) {
	var want struct {
		Valid   bool
		Missing []string
	}
	if err := json.Unmarshal(c.Expected, &want); err != nil {
		t.Fatal(err)
	}
	got := DetectText(string(c.Input), Looking{Protocol: WorkerResult})
	if (got.Source == FromJSON) != want.Valid {
		t.Errorf("%+v, want valid %v", got, want.Valid)
	}
	for _, m := range want.Missing {
		if !strings.Contains(got.Diagnosis, "/"+m+": is missing") {
			t.Errorf("%q does not say that %s is missing", got.Diagnosis, m)
		}
	}
}

func checkWorkerResultParse(t *testing.T, c conformanceRow) {
	if got := DetectText(c.input(t), Looking{Protocol: WorkerResult}); got.Outcome != Unknown {
		t.Errorf("%+v, want unknown", got)
	}
}

// resultWith is a worker result with one more field.
func resultWith(t *testing.T, name string, value any) []byte {
	t.Helper()
	raw, err := json.Marshal(map[string]any{
		"success": true, "summary": "s", "joan_actions": map[string]any{}, "worker_type": "ops", "task_id": "t", name: value,
	})
	if err != nil {
		t.Fatal(err)
	}
	return raw
}

func checkStageContext(t *testing.T, c conformanceRow) {
	var context map[string]any
	if err := json.Unmarshal(c.Input, &context); err != nil {
		t.Fatal(err)
	}
	for k, v := range c.Context {
		context[k] = v
	}
	var want struct{ Valid bool }
	if err := json.Unmarshal(c.Expected, &want); err != nil {
		t.Fatal(err)
	}
	if got := problemsOf(resultWith(t, "stage_context", context), nil); (len(got) == 0) != want.Valid {
		t.Errorf("%q, want valid %v", got, want.Valid)
	}
}

func checkInvocation(t *testing.T, c conformanceRow) {
	var want struct{ Error string }
	if err := json.Unmarshal(c.Expected, &want); err != nil {
		t.Fatal(err)
	}
	got := problemsOf(resultWith(t, "invoke_agent", c.Input), nil)
	if !slices.ContainsFunc(got, func(p string) bool { return strings.Contains(p, want.Error) }) {
		t.Errorf("%q, want %q among them", got, want.Error)
	}
}
