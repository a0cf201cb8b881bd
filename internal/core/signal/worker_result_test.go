package signal

import (
	"encoding/json"
	"fmt"
	"io"
	"runtime"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
	"github.com/google/jsonschema-go/jsonschema"
)

// resultText returns a worker result, with more fields if there are any.
func resultText(task string, success bool, more ...string) string {
	return fmt.Sprintf(`{"success": %v, "summary": "s of %s", "joan_actions": {}, "worker_type": "dev", "task_id": %q%s}`,
		success, task, task, strings.Join(append([]string{""}, more...), ", "))
}

func TestWorkerResults(t *testing.T) {
	good := resultText("t1", true)
	wide := strings.NewReplacer(", ", ",\n  ", "{\"", "{\n  \"").Replace(good)
	for name, c := range map[string]struct {
		text string
		want Result
		code string
		says string
	}{
		"bare":                             {good, Passed, "success", ""},
		"over lines":                       {wide + "\n", Passed, "success", ""},
		"over lines with carriage returns": {strings.ReplaceAll(wide, "\n", "\r\n"), Passed, "success", ""},
		"fenced":                           {"Here:\n```json\n" + wide + "\n```\nBye.", Passed, "success", ""},
		"in a line":                        {"My result is " + good + " and that is it.", Passed, "success", ""},
		"behind other braces":              {"func f() { return }\nmap[a]{ 1 }\n{\"a\": 1}\n{\n" + good, Passed, "success", ""},
		"behind a brace and a quote":       {"Use {\" to begin. " + good, Passed, "success", ""},
		"in an object that breaks":         {`{"x": ` + good + " oops", Passed, "success", ""},
		"in two objects that break":        {"{\"x\":\n {\"y\": [" + wide + "\n oops", Passed, "success", ""},
		"in a list":                        {"[" + good + "]", Passed, "success", ""},
		"in an object that is whole":       {`{"x": ` + good + "}", Unknown, "", ""},
		"words only":                       {"It is finished.", Unknown, "", ""},
		"failed":                           {resultText("t1", false), Failed, "failure", ""},
		"with a type":                      {resultText("t1", true, `"result_type": "review_rejected"`), Passed, "review_rejected", ""},
		"nulls":                            {resultText("t1", true, `"errors": null, "stage_context": null, "result_type": null`), Passed, "success", ""},
		"more keys":                        {resultText("t1", true, `"Success": false, "extra": {"a": [1, 2.5e3, "\u00e9\n"]}`), Passed, "success", ""},
		"the last of two":                  {good + "\n" + resultText("t1", false), Failed, "failure", "line 1: a worker result says success, and a later one counts"},
		"the last of two types":            {"\n" + resultText("t1", false, `"result_type": "a b"`) + "\n\n" + good, Passed, "success", `line 2: a worker result says failed with "a b", and a later one counts`},
		"the same twice":                   {good + "\n" + good, Passed, "success", ""},
		"two without a break":              {good + resultText("t1", false), Failed, "failure", "line 1: a worker result says success, and a later one counts"},
		"the last valid of two":            {good + "\n{\"success\": 1, \"task_id\": \"t1\"}", Passed, "success", "line 2: a worker result does not count: /summary: is missing"},
		"an example behind it":             {good + "\n{\"name\": \"x\"}", Passed, "success", ""},
		"another task":                     {resultText("t2", true), Unknown, "", "line 1: a worker result of task t2, and this is task t1"},
		"another worker":                   {strings.Replace(good, `"dev"`, `"ops"`, 1), Unknown, "", "of worker ops, and this is dev"},
		"in a block quote":                 {"> " + good, Unknown, "", "line 1: a worker result in a block quote"},
		"a key twice":                      {resultText("t1", true, `"success": false`), Unknown, "", "the key success is there twice"},
		"a key twice, deep":                {resultText("t1", true, `"x": {"a": 1, "a": 1}`), Unknown, "", "the key a is there twice"},
		"not a number":                     {resultText("t1", true, `"execution_time_ms": NaN`), Unknown, "", "NaN is no value of JSON"},
		"infinity":                         {resultText("t1", true, `"execution_time_ms": -Infinity`), Unknown, "", "-Infinity is no value of JSON"},
		"no number":                        {resultText("t1", true, `"execution_time_ms": 1.2.3`), Unknown, "", "it is not JSON"},
		"a comma too many":                 {strings.TrimSuffix(good, "}") + ",}", Unknown, "", "a comma before }"},
		"a comma too many in a list":       {resultText("t1", true, `"errors": ["a",]`), Unknown, "", "a comma before ]"},
		"a comma too few":                  {strings.Replace(good, ", ", " ", 1), Unknown, "", "no comma between two values"},
		"a break within quotes":            {strings.Replace(good, "s of", "s\nof", 1), Unknown, "", "a line break or control character within quotes"},
		"a bad escape":                     {strings.Replace(good, "s of", `s\xof`, 1), Unknown, "", "it is not JSON"},
		"single quotes":                    {strings.ReplaceAll(good, `"`, `'`), Unknown, "", ""},
		"it breaks off":                    {strings.TrimSuffix(good, "}"), Unknown, "", "line 1: a worker result breaks off"},
		"deep":                             {resultText("t1", true, `"x": `+strings.Repeat("[", maxResultDepth-1)+strings.Repeat("]", maxResultDepth-1)), Passed, "success", ""},
		"too deep":                         {resultText("t1", true, `"x": `+strings.Repeat("[", maxResultDepth)+strings.Repeat("]", maxResultDepth)), Unknown, "", "nests deeper than 64 levels"},
		"too long":                         {resultText("t1", true, `"x": "`+strings.Repeat("y", maxResult)+`"`), Unknown, "", "has more than 1048576 bytes"},
		"not too long":                     {resultText("t1", true, `"x": "`+strings.Repeat("y", maxResult-400)+`"`), Passed, "success", ""},
	} {
		t.Run(name, func(t *testing.T) {
			for _, p := range []Protocol{WorkerResult, AnyProtocol} {
				got := DetectText(c.text, DetectOptions{Protocol: p, Task: "t1", Agent: "dev"})
				ok := strings.Contains(got.Diagnosis, c.says) && (c.says != "" || got.Diagnosis == "" || p == WorkerResult)
				if got.Outcome != c.want || got.Code != c.code || !ok || (got.Source == FromJSON) != (c.code != "") {
					t.Errorf("%+v, want %s %s and %q", got, c.want, c.code, c.says)
				}
			}
		})
	}
}

func TestTheAgentItselfIsAWorkerThatCounts(t *testing.T) {
	of := func(worker string) string {
		return strings.Replace(resultText("t1", true, `"stage_context": {"from_stage": "`+worker+`", "to_stage": "dev", "key_decisions": []}`), `"worker_type": "dev"`, `"worker_type": "`+worker+`"`, 1)
	}
	for name, c := range map[string]struct {
		text    string
		options DetectOptions
		want    Result
		says    string
	}{
		"a name of its own":               {of("tester"), DetectOptions{Agent: "tester"}, Passed, ""},
		"a usual name":                    {of("ops"), DetectOptions{Agent: "ops"}, Passed, ""},
		"a name of its own, and another":  {of("tester"), DetectOptions{Agent: "painter"}, Unknown, "worker_type must be ba|architect|dev|reviewer|ops|painter"},
		"a usual name, and another":       {of("dev"), DetectOptions{Agent: "tester"}, Unknown, "a worker result of worker dev, and this is tester"},
		"names that are given":            {of("tester"), DetectOptions{Agent: "tester", Stages: []string{"painter"}}, Unknown, "worker_type must be painter"},
		"nobody's, with a name of no use": {of("tester"), DetectOptions{}, Unknown, "worker_type must be ba|architect|dev|reviewer|ops"},
	} {
		t.Run(name, func(t *testing.T) {
			got := DetectText(c.text, c.options)
			if got.Outcome != c.want || !strings.Contains(got.Diagnosis, c.says) || c.says == "" && got.Diagnosis != "" {
				t.Errorf("%+v, want %s and %q", got, c.want, c.says)
			}
		})
	}
}

func TestAnObjectThatIsNoWorkerResultIsExplainedIfOneWasWanted(t *testing.T) {
	got := DetectText("x\n{\"success\": true}", DetectOptions{Protocol: WorkerResult})
	if want := "line 2: an object is no worker result: it has no summary, joan_actions, worker_type, task_id"; got.Diagnosis != want {
		t.Errorf("%q, want %q", got.Diagnosis, want)
	}
}

func TestAWorkerResultIsTakenOver(t *testing.T) {
	text := resultText("t1", true,
		`"git_actions": {"branch_created": "b", "files_changed": ["f"], "commit_made": true, "commit_sha": "c", "pr_created": {"number": 42.0, "url": "u", "title": "t"}}`,
		`"errors": ["e"], "needs_human": "h", "execution_time_ms": 12`,
		`"stage_context": {"from_stage": "ops", "to_stage": "ba", "key_decisions": ["k"], "files_of_interest": ["f"], "warnings": ["w"], "dependencies": ["d"], "metadata": {"m": 1, "Null": {}}}`,
		`"invoke_agent": {"agent_type": "architect", "mode": "m", "context": {"reason": "r", "question": "q", "files_of_interest": ["f"],
		  "conflict_details": {"conflicting_files": ["f"], "develop_summary": "d", "feature_summary": "f"}}, "resume_as": {"agent_type": "ops", "mode": "n"}}`)
	text = strings.Replace(text, `"joan_actions": {}`, `"joan_actions": {"add_tags": ["a"], "remove_tags": [], "add_comment": "c", "move_to_column": null, "update_description": "d"}`, 1)
	got := DetectText(text, DetectOptions{})
	raw, err := json.Marshal(got)
	if err != nil {
		t.Fatal(err)
	}
	const want = `{"protocol":"worker-result","outcome":"passed","code":"success","detail":"s of t1","source":"json","nonce":"",` +
		`"actions":{"add_tags":["a"],"add_comment":"c","update_description":"d",` +
		`"git_actions":{"branch_created":"b","files_changed":["f"],"commit_made":true,"commit_sha":"c","pr_created":{"number":42,"url":"u","title":"t"}},` +
		`"errors":["e"],"needs_human":"h"},` +
		`"handoff":{"from_stage":"ops","to_stage":"ba","key_decisions":["k"],"files_of_interest":["f"],"warnings":["w"],"dependencies":["d"],"metadata":{"Null":{},"m":1}},` +
		`"consult":{"agent_type":"architect","mode":"m","context":{"reason":"r","question":"q","files_of_interest":["f"],` +
		`"conflict_details":{"conflicting_files":["f"],"develop_summary":"d","feature_summary":"f"}},"resume_as":{"agent_type":"ops","mode":"n"}}}`
	if diff := cmp.Diff(want, string(raw)); diff != "" {
		t.Error(diff)
	}
}

// contextOf returns a stage context that has so many of everything.
func contextOf(decisions, length, files, warnings, warningLength, dependencies int) string {
	list := func(n, length int) string {
		item := `"` + strings.Repeat("é", length) + `"`
		return "[" + strings.TrimSuffix(strings.Repeat(item+",", n), ",") + "]"
	}
	return fmt.Sprintf(`{"from_stage":"dev","to_stage":"reviewer","key_decisions":%s,"files_of_interest":%s,"warnings":%s,"dependencies":%s}`,
		list(decisions, length), list(files, 1), list(warnings, warningLength), list(dependencies, 1))
}

func TestLimitsExceededByOne(t *testing.T) {
	const stages = `"from_stage":"dev","to_stage":"ops","key_decisions":[]`
	metadata := func(n int) string {
		return fmt.Sprintf(`{%s,"metadata":{"k":"%s"}}`, stages, strings.Repeat("x", n-len(`{"k":""}`)))
	}
	for name, c := range map[string]struct{ context, want string }{
		"nothing":                 {contextOf(5, 200, 10, 3, 100, 5), ""},
		"six decisions":           {contextOf(6, 1, 1, 1, 1, 1), "/stage_context/key_decisions: has 6 items: the limit is 5"},
		"a long decision":         {contextOf(2, 201, 1, 1, 1, 1), "/stage_context/key_decisions/1: has 201 characters: the limit is 200"},
		"eleven files":            {contextOf(1, 1, 11, 1, 1, 1), "/stage_context/files_of_interest: has 11 items: the limit is 10"},
		"four warnings":           {contextOf(1, 1, 1, 4, 1, 1), "/stage_context/warnings: has 4 items: the limit is 3"},
		"a long warning":          {contextOf(1, 1, 1, 1, 101, 1), "/stage_context/warnings/0: has 101 characters: the limit is 100"},
		"six dependencies":        {contextOf(1, 1, 1, 1, 1, 6), "/stage_context/dependencies: has 6 items: the limit is 5"},
		"metadata":                {metadata(1024), ""},
		"big metadata":            {metadata(1025), "/stage_context/metadata: has 1025 bytes as JSON: the limit is 1024"},
		"a big whole":             {fmt.Sprintf(`{%s,"dependencies":["%s"]}`, stages, strings.Repeat("x", 3<<10)), "/stage_context: the whole handoff has"},
		"a stage nobody knows":    {`{"from_stage":"pm","to_stage":"dev","key_decisions":[]}`, "/stage_context/from_stage: from_stage must be ba|architect|dev|reviewer|ops"},
		"no decisions":            {`{"from_stage":"dev","to_stage":"dev"}`, "/stage_context/key_decisions: is missing"},
		"decisions not in a list": {`{"from_stage":"dev","to_stage":"dev","key_decisions":"a"}`, "/stage_context/key_decisions: must be an array"},
	} {
		t.Run(name, func(t *testing.T) {
			got := problemsOf([]byte(resultText("t", true, `"stage_context": `+c.context)), nil)
			if c.want == "" && len(got) > 0 || c.want != "" && !strings.Contains(strings.Join(got, "\n"), c.want) {
				t.Errorf("%q, want %q", got, c.want)
			}
		})
	}
}

func TestEveryViolationIsListed(t *testing.T) {
	text := `{"success": "yes", "joan_actions": {"add_tags": ["a", 1, null], "add_comment": []}, "worker_type": "pm", "task_id": 7,
	  "git_actions": {"pr_created": {"number": 1.5, "url": "u"}}, "errors": "e",
	  "invoke_agent": {"agent_type": "dev", "context": {"question": 1}, "resume_as": {"agent_type": "ba", "mode": "m"}}}`
	want := []string{
		"/summary: is missing",
		"/success: must be a boolean",
		"/joan_actions/add_tags/1: must be a string",
		"/joan_actions/add_tags/2: must be a string",
		"/joan_actions/add_comment: must be a string",
		"/git_actions/pr_created/title: is missing",
		"/git_actions/pr_created/number: must be an integer",
		"/errors: must be an array",
		"/worker_type: worker_type must be ba|architect|dev|reviewer|ops",
		"/task_id: must be a string",
		"/invoke_agent/mode: is missing",
		"/invoke_agent/agent_type: agent_type must be architect|ba|reviewer",
		"/invoke_agent/context/reason: is missing",
		"/invoke_agent/context/question: must be a string",
		"/invoke_agent/resume_as/agent_type: agent_type must be dev|ops|reviewer",
	}
	if diff := cmp.Diff(want, problemsOf([]byte(text), nil)); diff != "" {
		t.Error(diff)
	}
	if got := problemsOf([]byte("[]"), nil); len(got) != 1 || got[0] != "/: must be an object" {
		t.Errorf("%q", got)
	}
}

func TestStagesOfAWorkflowReplaceThoseOfTheSchema(t *testing.T) {
	text := []byte(strings.Replace(resultText("t", true, `"stage_context": {"from_stage": "pm", "to_stage": "qa", "key_decisions": []}`), `"dev"`, `"pm"`, 1))
	if got := problemsOf(text, []string{"pm", "qa"}); len(got) > 0 {
		t.Errorf("%q", got)
	}
	if got := problemsOf(text, []string{"pm"}); len(got) != 1 || got[0] != "/stage_context/to_stage: to_stage must be pm" {
		t.Errorf("%q", got)
	}
}

// The library must agree with our own walk over the schema, except for what is checked
// by the handoff.
func TestThePublishedSchemaAgrees(t *testing.T) {
	raw, err := json.Marshal(WorkerResultSchema())
	if err != nil {
		t.Fatal(err)
	}
	var s jsonschema.Schema
	if err := json.Unmarshal(raw, &s); err != nil {
		t.Fatal(err)
	}
	schema, err := s.Resolve(nil)
	if err != nil {
		t.Fatal(err)
	}
	for _, text := range []string{
		resultText("t", true),
		resultText("t", true, `"errors": null, "git_actions": {"pr_created": null}`),
		resultText("t", true, `"errors": [null]`),
		resultText("t", true, `"git_actions": {"pr_created": {"number": 1.0, "url": "u", "title": "t"}}`),
		resultText("t", true, `"git_actions": {"pr_created": {"number": 1.5, "url": "u", "title": "t"}}`),
		resultText("t", true, `"invoke_agent": {}`),
		resultText("t", true, `"invoke_agent": {"agent_type": "ba", "mode": "", "context": {"reason": ""}, "resume_as": {"agent_type": "dev", "mode": ""}}`),
		resultText("t", true, `"stage_context": `+contextOf(5, 200, 10, 3, 100, 5)),
		resultText("t", true, `"stage_context": `+contextOf(6, 1, 1, 1, 1, 1)),
		resultText("t", true, `"stage_context": `+contextOf(1, 1, 1, 1, 101, 1)),
		resultText("t", true, `"stage_context": {"from_stage": "pm", "to_stage": "dev", "key_decisions": []}`),
		`{"success": true}`, `[]`, `{}`, strings.Replace(resultText("t", true), `"dev"`, `"pm"`, 1),
	} {
		var value any
		if err := json.Unmarshal([]byte(text), &value); err != nil {
			t.Fatal(err)
		}
		problems, err := problemsOf([]byte(text), nil), schema.Validate(value)
		if (len(problems) == 0) != (err == nil) {
			t.Errorf("%s:\nours: %q\nlibrary: %v", text, problems, err)
		}
	}
}

// endless repeats a text up to a number of bytes, then ends with another.
type endless struct {
	head, body, tail string
	left             int64
	next             string
}

func (e *endless) Read(p []byte) (int, error) {
	n := 0
	for n < len(p) {
		if e.next == "" {
			switch {
			case e.head != "":
				e.next, e.head = e.head, ""
			case e.left > 0:
				e.next = e.body
				e.left -= int64(len(e.body))
			case e.tail != "":
				e.next, e.tail = e.tail, ""
			default:
				return n, io.EOF
			}
		}
		c := copy(p[n:], e.next)
		e.next, n = e.next[c:], n+c
	}
	return n, nil
}

func TestBigTextsNeedLittleMemory(t *testing.T) {
	const huge, big = 200 << 20, 16 << 20
	item := `{"name": "` + strings.Repeat("x", 900) + `"},`
	for name, e := range map[string]*endless{
		"a line without an end": {left: huge, body: strings.Repeat("x", 4096)},
		"an endless object":     {left: huge, head: `{"success": true, "task_id": "t", "list": [`, body: item, tail: `0]}` + "\n"},
		"an endless comment":    {left: huge, head: "<!-- WORK_RESULT", body: strings.Repeat(" ", 4096), tail: "-->\n"},
		"an endless block":      {left: big, head: "---\nagent: a\ntask_id: t\nstatus: X_COMPLETE\n", body: strings.Repeat("k: v\n", 1000), tail: "---\n"},
		"many fenced markers":   {left: big, head: "```\n", body: strings.Repeat(passedMark+"\n", 100), tail: "```\n"},
	} {
		t.Run(name, func(t *testing.T) {
			e.tail += "\n" + failedMark + "\n"
			var before, after runtime.MemStats
			runtime.ReadMemStats(&before)
			got, err := Detect(e, DetectOptions{WorkType: "qa"})
			runtime.ReadMemStats(&after)
			if err != nil || got.Outcome != Failed || len(got.Diagnosis) > maxDiagnosis {
				t.Errorf("%+v, %v", got, err)
			}
			if used := after.TotalAlloc - before.TotalAlloc; used > 32<<20 {
				t.Errorf("%d bytes were allocated", used)
			}
		})
	}
}

// problemsOf lists everything that is wrong with a worker result, each with its path.
func problemsOf(text []byte, stages []string) []string {
	_, problems := readResult(text, resultSchema(stages))
	return problems
}
