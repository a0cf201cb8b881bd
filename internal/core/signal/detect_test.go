package signal

import (
	"errors"
	"io"
	"strings"
	"testing"
	"testing/iotest"

	"github.com/google/go-cmp/cmp"
	"pgregory.net/rapid"

	"orange/internal/core/taskfile"
)

func TestTheMostTrustedFormCounts(t *testing.T) {
	forms := []struct{ text, source string }{
		{resultText("t", true), "json"},
		{blockOf("agent: a", "task_id: t", "status: BLOCKED: x"), "block"},
		{failedMark, "marker"},
		{"BLOCKED: x", "legacy"},
		{"## QA Failed", "heuristic"},
	}
	for i := range forms {
		var text string
		for _, f := range forms[i:] {
			text = f.text + "\n" + text
		}
		if got := DetectText(text, DetectOptions{WorkType: "qa"}); string(got.Source) != forms[i].source {
			t.Errorf("%+v, want %s", got, forms[i].source)
		}
	}
}

func TestAReadErrorIsReported(t *testing.T) {
	broken := errors.New("the disk is gone")
	got, err := Detect(io.MultiReader(strings.NewReader(passedMark+"\n"), iotest.ErrReader(broken)), DetectOptions{})
	if !errors.Is(err, broken) || got.Outcome != Passed {
		t.Errorf("%+v, %v", got, err)
	}
	if _, err := Detect(iotest.DataErrReader(strings.NewReader("x")), DetectOptions{}); err != nil {
		t.Error(err)
	}
	if _, err := Detect(sleepy{}, DetectOptions{}); !errors.Is(err, io.ErrNoProgress) {
		t.Errorf("%v, want no progress", err)
	}
}

type sleepy struct{}

func (sleepy) Read([]byte) (int, error) { return 0, nil }

func TestDiagnosesAreBounded(t *testing.T) {
	got := DetectText(strings.Repeat("> "+passedMark+"\n", 500), DetectOptions{})
	if parts := strings.Split(got.Diagnosis, "; "); len(parts) != maxFirstNotes+maxLastNotes+1 || parts[len(parts)-1] != "490 more" {
		t.Errorf("%q", parts)
	}
	task := strings.Repeat("é", 5000)
	got = DetectText(strings.Repeat(blockOf("agent: a", "task_id: "+task, "status: X_COMPLETE"), 20), DetectOptions{Task: task + "x"})
	if n := len(got.Diagnosis); n == 0 || n > maxDiagnosis {
		t.Errorf("%d bytes", n)
	}
	if got := DetectText(blockOf("agent: a", "task_id: \"\\e[2J\"", "status: X_COMPLETE"), DetectOptions{Task: "t"}); strings.ContainsRune(got.Diagnosis, 0x1b) {
		t.Errorf("%q", got.Diagnosis)
	}
}

func TestSectionsOfATaskFile(t *testing.T) {
	doc, err := taskfile.Parse([]byte("---\nid: a\n---\n\n## Plan\n\nAPPROACH: b\n\n## Handoff\n\n## Review\n\nVerdict: FAIL\n\nToo slow.\n"))
	if err != nil {
		t.Fatal(err)
	}
	for name, want := range map[string]Report{
		"Plan":    {Protocol: TaskSections, Outcome: Passed, Code: "plan", Detail: "APPROACH: b", Source: FromArtifact},
		"Handoff": {Protocol: TaskSections, Outcome: Unknown, Diagnosis: "## Handoff is empty"},
		"Review":  {Protocol: TaskSections, Outcome: Failed, Code: "FAIL", Detail: "Verdict: FAIL\n\nToo slow.", Source: FromArtifact},
		"Notes":   {Protocol: TaskSections, Outcome: Unknown, Diagnosis: "there is no ## Notes"},
	} {
		if diff := cmp.Diff(want, FromSection(doc.Sections(), name)); diff != "" {
			t.Error(diff)
		}
	}
}

func TestAnExitCodeIsNoVerdict(t *testing.T) {
	want := Report{Protocol: ProcessExit, Outcome: Unknown, Detail: "exit code 3", Source: FromExit}
	if diff := cmp.Diff(want, FromExitCode(3)); diff != "" {
		t.Error(diff)
	}
}

// FuzzDetect searches for a text that panics, gives another report the second time, or gives
// another report in small parts.
func FuzzDetect(f *testing.F) {
	for _, text := range []string{
		passedMark, "```\n" + passedMark, "<!--\nWORK_RESULT:passed\n-->", "- a\n  ```yaml\n  ---\n  agent: a",
		blockOf("agent: a", "task_id: t", "status: BLOCKED: x"), "## QA Complete\n\nPASS", "BLOCKED: x\r\n", "## Status\n\nX_COMPLETE",
		resultText("t", true), `{"success": true, "x": {"y": [1, "\"{"]}`, "{\"a\":\n{\"b\":\n" + resultText("t", false) + " oops",
		blockOf("agent: &a b", "task_id: *a", "status: ? x"),
		"> ---\n> agent: a\n> task_id: t\n> status: X\n> ---", "`" + passedMark + "`", "\ufeff{\"success\":", "QA Result: **Pass** (no failures)",
	} {
		f.Add(text, true)
	}
	f.Fuzz(func(t *testing.T, text string, parity bool) {
		checkReading(t, text, DetectOptions{WorkType: "qa", Task: "t", Parity: parity})
		checkReading(t, text, DetectOptions{WorkType: "acceptance", Nonce: "n", Codes: map[string]Result{"X": Passed}})
	})
}

// TestTextsOfManyPartsAreReadAlike puts statements, quotations and long lines together at
// random.
func TestTextsOfManyPartsAreReadAlike(t *testing.T) {
	parts := []string{
		passedMark, failedMark, "<!--", "-->", "WORK_RESULT:passed", "\n", "\r\n", "\n", " ", "`", "```", "\n```yaml\n", "\n```\n", "\n~~~\n", "\n> ", "\n- ", "\n  ",
		"\n---\n", "agent: a\n", "task_id: t\n", "status: X_COMPLETE\n", "status: BLOCKED: x\n", "\n## Status\n", "\nX_COMPLETE\n", "\nBLOCKED: y\n",
		"\n## QA Complete\n", "PASS", "FAIL", "\nQA Result: Pass\n", "{", "}", "[", "]", ",", ":", `"`, `"success"`, `\`, "1e5", "NaN",
		resultText("t", true), resultText("u", false), `{"success": true, "task_id":`, strings.Repeat("x", pieceSize-20), strings.Repeat("{", 40), strings.Repeat("y", pieceSize/3),
	}
	rapid.Check(t, func(r *rapid.T) {
		var text strings.Builder
		for _, p := range rapid.SliceOfN(rapid.SampledFrom(parts), 0, 25).Draw(r, "parts") {
			text.WriteString(p)
		}
		checkReading(r, text.String(), DetectOptions{WorkType: "qa", Task: "t"})
	})
}

// checkReading demands that a text is read the same way, however it arrives.
func checkReading(t rapid.TB, text string, l DetectOptions) {
	t.Helper()
	whole := DetectText(text, l)
	for name, r := range map[string]io.Reader{
		"again":        strings.NewReader(text),
		"byte by byte": iotest.OneByteReader(strings.NewReader(text)),
		"in halves":    iotest.HalfReader(iotest.DataErrReader(strings.NewReader(text))),
	} {
		got, err := Detect(r, l)
		if diff := cmp.Diff(whole, got); err != nil || diff != "" {
			t.Fatalf("%s: %v %s", name, err, diff)
		}
	}
	if len(whole.Diagnosis) > maxDiagnosis || whole.Outcome == "" {
		t.Fatalf("%+v", whole)
	}
}
