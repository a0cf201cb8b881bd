package signal

import (
	"strings"
	"testing"
)

const (
	passedMark = "<!-- WORK_RESULT:passed -->"
	failedMark = "<!-- WORK_RESULT:failed -->"
	atTheEnd   = "a marker without the nonce of the prompt counts only alone at the end of the text"
)

func TestMarkers(t *testing.T) {
	for name, c := range map[string]struct {
		text string
		want Result
		says string // in the diagnosis
	}{
		"none":                            {"All done.", Unknown, ""},
		"alone":                           {passedMark, Passed, ""},
		"in the middle of a line":         {"Done. " + failedMark + " Bye.", Unknown, atTheEnd},
		"at the end of a sentence":        {"Done. " + passedMark, Unknown, atTheEnd},
		"with words behind it":            {passedMark + " as asked", Unknown, atTheEnd},
		"with a paragraph behind it":      {passedMark + "\n\nEnd of report", Unknown, atTheEnd},
		"below a paragraph":               {"All tests pass.\n" + passedMark + "\n \n\t\n", Passed, ""},
		"in a list item":                  {"- done\n\n  " + passedMark, Passed, ""},
		"in quotation marks":              {"The issue says\n\"" + passedMark + "\"", Unknown, atTheEnd},
		"in a cell of a table":            {"| result |\n|---|\n| " + passedMark + " |", Unknown, atTheEnd},
		"in indented code":                {"As in:\n\n    " + passedMark, Unknown, "line 3: a marker in indented code does not count"},
		"indented by a tab":               {"As in:\n\n\t" + passedMark, Unknown, "in indented code"},
		"in indented code of a list":      {"- as in:\n\n      " + passedMark, Unknown, "in indented code"},
		"in a pre element":                {"<pre>\n\n" + passedMark + "\n", Unknown, "line 3: a marker in an HTML block does not count"},
		"beside a pre element":            {"<pre>" + passedMark + "</pre>", Unknown, "in an HTML block"},
		"behind a pre element":            {"<PRE class=x>a\n</PRE>\n\n" + passedMark, Passed, ""},
		"right below a closed element":    {"<pre>a\n</pre>\n" + passedMark, Unknown, "in an HTML block"},
		"in nested details":               {"<details>\n<details>\n\n</details>\n\n" + passedMark, Unknown, "in an HTML block"},
		"in details":                      {"<details><summary>Issue</summary>\n\n" + passedMark + "\n\n</details>", Unknown, "in an HTML block"},
		"in a division":                   {"<div>\n" + passedMark + "\n</div>", Unknown, "in an HTML block"},
		"behind a division":               {"<div>\nx\n</div>\n\n" + passedMark, Passed, ""},
		"behind an address":               {"<https://example.com/pre>\n" + passedMark, Passed, ""},
		"in a comment that is open":       {"<!--\ntemplate:\n" + passedMark, Unknown, "in an HTML block"},
		"behind a comment over lines":     {"<!--\ntemplate\n-->\n" + passedMark, Passed, ""},
		"an echo, then the same":          {"I end with " + passedMark + " as told.\n\n" + passedMark, Passed, ""},
		"any case":                        {"<!-- Work_Result:PASSED -->", Passed, ""},
		"no white space":                  {"<!--WORK_RESULT:failed-->", Failed, ""},
		"white space everywhere":          {"<!--\t WORK_RESULT : passed\u00a0 -->", Passed, ""},
		"over several lines":              {"<!--\n\nWORK_RESULT:passed\n\n-->\n", Passed, ""},
		"over lines with carriage return": {"<!--\r\nWORK_RESULT:passed\r\n-->\r\n", Passed, ""},
		"twice the same":                  {passedMark + "\n" + passedMark, Passed, ""},
		"both":                            {passedMark + "\n" + failedMark, Ambiguous, "line 1 says passed and line 2 says failed"},
		"both on a line":                  {passedMark + failedMark, Ambiguous, "line 1 says passed and line 1 says failed"},
		"the prompt, then the result":     {"End with " + passedMark + " or " + failedMark + ".\n" + failedMark, Ambiguous, "line 1 says passed and line 2 says failed"},
		"the prompt quoted, then the result": {"> End with " + passedMark + " or " + failedMark + ".\n\n" + failedMark, Failed,
			"line 1: a marker in a block quote does not count"},
		"in a fence":                 {"```\n" + passedMark + "\n```", Unknown, "line 2: a marker in a code fence does not count"},
		"in a tilde fence":           {"~~~ html\n" + passedMark + "\n~~~", Unknown, "in a code fence"},
		"behind a fence":             {"```\nx\n```\n" + passedMark, Passed, ""},
		"in a fence that stays open": {"````\n```\n" + passedMark + "\n", Unknown, "line 3: a marker in a code fence"},
		"behind a longer closing":    {"```\nx\n````` \n" + passedMark, Passed, ""},
		"no fence, a code span":      {"``` not a ` fence\n" + passedMark, Passed, ""},
		"a fence in a list":          {"- look:\n\n  ```\n  " + passedMark + "\n  ```\n\n" + failedMark, Failed, "line 4: a marker in a code fence"},
		"a fence deep in a list":     {"1. a\n   - b\n     ```\n     " + passedMark + "\n     ```\n", Unknown, "in a code fence"},
		"a fence that its list ends": {"- a\n  ```\n  x\n" + passedMark, Passed, ""},
		"a fence beside a bullet":    {"- ```\n  " + passedMark + "\n  ```\n", Unknown, "in a code fence"},
		"a quote with a fence":       {"> ```\n" + passedMark, Passed, ""},
		"in a code span":             {"Write `" + passedMark + "` at the end.", Unknown, "line 1: a marker in a code span does not count"},
		"in a longer code span":      {"Write ``a ` " + passedMark + "`` now.", Unknown, "in a code span"},
		"between two code spans":     {"`a` " + passedMark + " `b`", Unknown, atTheEnd},
		"in a code span over lines":  {"Write `<!-- WORK_RESULT:passed\n-->` now.", Unknown, "in a code span"},
		"beside a lone tick":         {"It` \n" + passedMark, Passed, ""},
		"misspelled":                 {"<!-- WORK_RESULT:pass -->", Unknown, "line 1: a marker that says neither passed nor failed"},
		"misspelled over lines":      {"<!--\nWORK_RESULT:fine\n-->", Unknown, "line 1: a marker that says neither passed nor failed"},
		"with something more":        {"<!-- WORK_RESULT:passed, mostly -->", Unknown, "neither passed nor failed"},
		"no comment":                 {"WORK_RESULT:passed", Unknown, ""},
		"never closed":               {"<!-- WORK_RESULT:passed\n", Unknown, "line 1: a marker without its -->"},
		"another comment":            {"<!-- prettier-ignore -->\n" + passedMark, Passed, ""},
		"a comment in a comment":     {"<!-- <!-- WORK_RESULT:passed -->", Unknown, atTheEnd},
		"with a nonce":               {"<!-- WORK_RESULT:passed nonce=abc123 -->", Passed, ""},
		"byte order mark":            {"\ufeff```\n" + passedMark, Unknown, "in a code fence"},
		"very long line":             {strings.Repeat("x", 3*pieceSize) + passedMark + strings.Repeat("y", 3*pieceSize), Unknown, atTheEnd},
		"behind a very long line":    {strings.Repeat("x", 3*pieceSize) + "\n" + passedMark, Passed, ""},
		"behind much white space":    {strings.Repeat(" ", 3*pieceSize) + "x\n" + passedMark, Passed, ""},
		"before much white space":    {passedMark + strings.Repeat(" ", 3*pieceSize) + "x", Unknown, atTheEnd},
	} {
		t.Run(name, func(t *testing.T) {
			for _, p := range []Protocol{WorkResult, AnyProtocol, ""} {
				got := DetectText(c.text, DetectOptions{Protocol: p})
				if got.Outcome != c.want || !strings.Contains(got.Diagnosis, c.says) || c.says == "" && got.Diagnosis != "" {
					t.Errorf("%s: %+v, want %s and %q", p, got, c.want, c.says)
				}
				if (got.Source == FromMarker) != (c.want != Unknown) {
					t.Errorf("%s: source %q", p, got.Source)
				}
			}
			if got := DetectText(c.text, DetectOptions{Protocol: CompletionBlock}); got.Outcome != Unknown {
				t.Errorf("another protocol found it: %+v", got)
			}
		})
	}
}

func TestAMarkerIsFoundWhereverALongLineIsCut(t *testing.T) {
	for shift := range len(passedMark) + 2 {
		text := strings.Repeat("x", pieceSize-shift) + "<!-- WORK_RESULT:passed nonce=n -->" + " and so on"
		if got := DetectText(text, DetectOptions{Nonce: "n"}); got.Outcome != Passed {
			t.Errorf("shift %d: %+v", shift, got)
		}
	}
}

func TestNonces(t *testing.T) {
	with := func(nonce string) string { return "<!-- WORK_RESULT:passed nonce=" + nonce + " -->\n" }
	for name, c := range map[string]struct {
		text string
		own  bool
		want Result
		says string
	}{
		"right":                        {with("b"), false, Passed, ""},
		"right, in a sentence":         {"So " + with("b") + "it is", false, Passed, ""},
		"right, in a table":            {"| " + with("b"), false, Passed, ""},
		"right, in a fence":            {"```\n" + with("b") + "```", false, Unknown, "in a code fence"},
		"none, in a sentence":          {"So " + passedMark, true, Unknown, atTheEnd},
		"quoted":                       {with(`"b"`), false, Passed, ""},
		"right, own stream":            {with("b"), true, Passed, ""},
		"wrong":                        {with("a"), false, Unknown, "line 1: a marker with nonce=a, and the prompt gave b"},
		"wrong, own stream":            {with("a"), true, Unknown, "with nonce=a"},
		"none":                         {passedMark, false, Unknown, "line 1: a marker without nonce=b"},
		"none, own stream":             {passedMark, true, Passed, ""},
		"right beside an echo without": {failedMark + "\n" + with("b"), true, Passed, ""},
		"words have none":              {"## QA Passed", false, Unknown, "line 1: words without nonce=b"},
		"words have none, own stream":  {"## QA Passed", true, Passed, ""},
		"a code has none":              {"TESTING_COMPLETE", false, Unknown, "line 1: a code without nonce=b"},
		"a block with it":              {"---\nagent: a\ntask_id: t\nstatus: X_COMPLETE\nnonce: b\n---\n", false, Passed, ""},
		"a block without it":           {"---\nagent: a\ntask_id: t\nstatus: X_COMPLETE\n---\n", false, Unknown, "line 1: a block without nonce=b"},
		"a worker result with another": {`{"success":true,"summary":"","joan_actions":{},"worker_type":"ba","task_id":"t","nonce":"a"}`, true, Unknown, "line 1: a worker result with nonce=a"},
		"a worker result with it":      {`{"success":true,"summary":"","joan_actions":{},"worker_type":"ba","task_id":"t","nonce":"b"}`, false, Passed, ""},
	} {
		t.Run(name, func(t *testing.T) {
			got := DetectText(c.text, DetectOptions{WorkType: "qa", Nonce: "b", OwnStream: c.own})
			if got.Outcome != c.want || !strings.Contains(got.Diagnosis, c.says) {
				t.Errorf("%+v, want %s and %q", got, c.want, c.says)
			}
		})
	}
	if got := DetectText(with("seen"), DetectOptions{}); got.Nonce != "seen" {
		t.Errorf("the nonce is %q", got.Nonce)
	}
}

func TestHeuristics(t *testing.T) {
	for text, want := range map[string]Result{
		"## QA Passed":                              Passed,
		"### QA Passed: all is well":                Passed,
		"## ✅ QA Passed":                            Passed,
		"## QA Passed ✅":                            Passed,
		"QA Passed":                                 Unknown,
		"## QA Passed?":                             Unknown,
		"## QA Failed\nThe build is broken.":        Failed,
		"## QA Passed tests 3 of 10":                Unknown,
		"QA Result: Pass":                           Passed,
		"qa result: pass.":                          Passed,
		"**QA Result:** Pass":                       Passed,
		"**QA Status: Passed** (12 of 12)":          Passed,
		"- QA  Result : PASSED":                     Passed,
		"QA Result: Passable":                       Unknown,
		"QA Status: Passed tests 3 of 10":           Unknown,
		"QA Result: Pass/Fail":                      Unknown,
		"QA Result: Pass or Fail":                   Unknown,
		"QA Result: Pass, but 2 tests fail":         Unknown,
		"QA Result: Pass (no failures)":             Passed,
		"There is no QA Result: Pass":               Unknown,
		"If all is well I write QA Result: Pass":    Unknown,
		"We can't say QA Status: Passed":            Unknown,
		"Not all checks passed: the linter fails.":  Unknown,
		"All checks passed.":                        Unknown,
		"All tests pass.":                           Unknown,
		"QA Result: Fail":                           Failed,
		"QA Status: Failed":                         Failed,
		"QA Result: Pass\nQA Result: Fail":          Failed,
		"WORK_QA Result: Pass":                      Unknown,
		"`QA Result: Pass`":                         Unknown,
		"> QA Result: Pass":                         Unknown,
		"```\n## QA Passed\n```":                    Unknown,
		"## QA Complete":                            Unknown,
		"## QA Complete - PASS":                     Passed,
		"## QA Complete: Passed":                    Passed,
		"## QA Complete: FAIL":                      Failed,
		"## QA Complete\n\nVerdict: **PASS**":       Passed,
		"## QA Complete\n\nVerdict: Pass":           Passed,
		"## QA Complete\n\nPassed":                  Passed,
		"## QA Complete\n\nAll tests pass.":         Unknown,
		"## QA Complete\n\nwithout FAILures so far": Unknown,
		"## QA Complete\n\nno FAIL was seen":        Unknown,
		"## QA Complete\n\n12 PASS, 0 FAIL":         Unknown,
		"## QA Complete\n\nPASS: 12, FAIL: 0":       Unknown,
		"## QA Complete\n\nPASS/FAIL: see below":    Unknown,
		"## QA Complete\n\n### Result\n\nPASS":      Passed,
		"## QA Complete\n\n## Notes\n\nPASS":        Unknown,
		"## QA Complete\n\n```\nPASS\n```":          Unknown,
		"## QA Complete\n\nPASS\n\nlater: FAIL":     Failed,
		"## Acceptance Complete":                    Unknown,
		"PR has been merged successfully":           Unknown,
	} {
		check(t, text, want, "qa", "QA-coordination")
	}
	for text, want := range map[string]Result{
		"## Acceptance Complete":                                          Passed,
		"## Acceptance Completed":                                         Unknown,
		"Acceptance Result: Pass":                                         Passed,
		"The PR has been merged successfully.":                            Passed,
		"Once the PR has been merged successfully, deploy.":               Unknown,
		"It is not true that the PR has been merged successfully":         Unknown,
		"The PR has been merged successfully... not yet: Cannot merge PR": Failed,
		"## Acceptance Failed":                                            Failed,
		"Acceptance Processing Blocked: no review":                        Failed,
		"Cannot merge PR #4":                                              Failed,
		"## Acceptance Complete\nAcceptance Result: Fail":                 Unknown,
		"## Acceptance Complete\nCannot merge PR":                         Failed,
		"## QA Passed": Unknown,
	} {
		check(t, text, want, "acceptance", "acceptance-coordination")
	}
	for _, other := range []string{"", "development", "merge", "refinement"} {
		check(t, "## QA Passed\n## Acceptance Complete\nAll sub-issues completed.", Unknown, other)
	}
}

func check(t *testing.T, text string, want Result, workTypes ...string) {
	t.Helper()
	for _, w := range workTypes {
		got := DetectText(text, DetectOptions{WorkType: w})
		if got.Outcome != want || want != Unknown && got.Source != FromHeuristic {
			t.Errorf("%s: %q: %+v, want %s", w, text, got, want)
		}
	}
}

func TestAMarkerHasPriorityOverPhrases(t *testing.T) {
	got := DetectText("## QA Failed\n"+passedMark, DetectOptions{WorkType: "qa"})
	if got.Outcome != Passed || got.Source != FromMarker || !strings.Contains(got.Diagnosis, "a heuristic says failed, and a marker counts before it") {
		t.Errorf("%+v", got)
	}
}

// Coordinators of several issues speak of those; the words count for what they coordinate.
func TestParityReadsWhatCoordinatorsSay(t *testing.T) {
	for text, want := range map[string]Result{
		"2 sub-issues need work before this can proceed.":         Failed,
		"1 sub-issue needs work.":                                 Failed,
		"Three sub-issues require attention":                      Failed,
		"**4 sub-issues** are merged; 1 subissue needs fixes":     Failed,
		"Sub-issues require fixes.\nAll 2/2 sub-issues finished.": Failed,
		"Coordination Status: **Failed**":                         Failed,
		"## Coordination Failed":                                  Failed,
		"Both agents are in progress.":                            Failed,
		"I wait for them to finish.":                              Failed,
		"### All 6 sub-issues: Finished":                          Passed,
		"## All 6/6 sub-issues: completed":                        Passed,
		"**All 2 sub-issues: Finished**":                          Passed,
		"All sub-issues: **Done**":                                Passed,
		"**All 3 sub-issues**: finished":                          Passed,
		"All 3 sub-issues — Finished.":                            Passed,
		"All 4 sub-issues are finished.":                          Passed,
		"All sub-issue: completed":                                Passed,
		"8/8 done, every one of the sub-issues finished":          Passed,
		"Coordination Result: Pass":                               Passed,
		"Coordination completed.":                                 Passed,
		"2/8 of the sub-issues finished":                          Unknown,
		"All sub-issues: see below":                               Unknown,
		"The sub-issues need nothing":                             Unknown,
		"6 sub-issues: Finished":                                  Unknown,
	} {
		for _, workType := range []string{"development", "inflight", "coordination", "development-coordination"} {
			if got := DetectText(text, DetectOptions{Protocol: WorkResult, WorkType: workType, Parity: true}); got.Outcome != want {
				t.Errorf("%s: %q: %+v, want %s", workType, text, got, want)
			}
		}
		if got := DetectText(text, DetectOptions{Protocol: WorkResult, WorkType: "refinement", Parity: true}); got.Outcome != Unknown {
			t.Errorf("refinement: %q: %+v, want unknown", text, got)
		}
	}
}

func TestParityReadsAsTheOtherSystemDid(t *testing.T) {
	long := strings.Repeat("m", 120_000)
	for workTypes, texts := range map[string]map[string]Result{
		"qa qa-coordination": {
			passedMark + failedMark:                                Passed,
			failedMark + "\nTried again.\n" + passedMark:           Failed,
			"```\n" + failedMark + "\n```":                         Failed,
			"Begin.\n\n" + passedMark + "\n\nEnd.":                 Passed,
			long + passedMark + long:                               Passed,
			"<!--   WORK_RESULT:Failed\t-->":                       Failed,
			"<!--\nwork_result:PASSED\n-->":                        Passed,
			"## QA Failed\n" + passedMark:                          Passed,
			"<!-- WORK_RESULT:fail -->":                            Unknown,
			"<!-- WORK_RESULT: passed -->":                         Unknown,
			"<!-- WORK_RESULT:passed nonce=a -->":                  Unknown,
			"Not all checks passed":                                Passed,
			"It went out, all checks passed.":                      Passed,
			"APPROVED FOR MERGE":                                   Passed,
			"QA Result: Passable":                                  Passed,
			"## QA Passed\nNothing to add.":                        Passed,
			"## QA Failed\nThe page is blank.":                     Failed,
			"QA Status: Passed":                                    Passed,
			"QA Result: Fail":                                      Failed,
			"Overall Result: PASS, every part":                     Passed,
			"**Overall QA Result: FAIL (1 of 4 parts)**":           Failed,
			"### Roll-Up Verdict: FAIL (1 of 4 parts)":             Failed,
			"Parent QA verdict: **FAIL**, see the list":            Failed,
			"Nothing moved since noon. **PASS.** Go on.":           Passed,
			"Verdict: **PASS**":                                    Passed,
			"Status: **FAIL**":                                     Failed,
			"## QA Complete\n\nno FAILures at all":                 Failed,
			"### Status: 2 Issues Found (both minor)":              Failed,
			"Status: 3 Issues Found\n**PASS**":                     Failed,
			"## Findings\n### Must Fix Before Merge\n1. The index": Failed,
			"merge conflict":                                       Unknown,
			"All tests pass.":                                      Unknown,
			"Everything is in order. Done.":                        Unknown,
			"":                                                     Unknown,
			" \n\t\n":                                              Unknown,
		},
		"acceptance acceptance-coordination": {
			"Acceptance Result: Pass":                          Passed,
			"## Acceptance Complete":                           Passed,
			"The PR has been merged successfully.":             Passed,
			"## Acceptance Failed":                             Failed,
			"Acceptance Processing Blocked: a check is red":    Failed,
			"Cannot merge PR 12":                               Failed,
			"PR has been merged successfully? Cannot merge PR": Failed,
			"## Report\n### Must Fix Before Merge":             Failed,
			"## QA Passed":                                     Unknown,
		},
		"merge": {
			passedMark:                                   Passed,
			"A fast-forward merge was enough.":           Passed,
			"The merge queue completed it.":              Passed,
			"It is successfully merged.":                 Passed,
			"The merge failed: a check is red.":          Failed,
			"Could not merge it: main moved.":            Failed,
			"A merge conflict in go.mod":                 Failed,
			"Merge completed, and the next merge failed": Failed,
		},
		"development inflight": {
			passedMark: Passed,
			failedMark: Failed,
			"Parent issue marked Finished in the tracker.":                 Passed,
			"All 5/5 sub-issues finished.":                                 Passed,
			"## Coordination Complete\nThe rest is done.":                  Passed,
			"### 4 Critical Issues (Block Merge)\n1. A lost index":         Failed,
			"All 2/2 sub-issues completed.\n### Must Fix Before Merge":     Failed,
			"Three were started. Waiting for sub-agents to finish.":        Failed,
			"The agents are actively running. I'll wait until they finish": Failed,
			"## QA Passed":                    Unknown,
			"PR has been merged successfully": Unknown,
			"successfully merged":             Unknown,
		},
		"refinement": {"All sub-issues completed.": Unknown, "## QA Passed": Unknown},
	} {
		for workType := range strings.FieldsSeq(workTypes) {
			for text, want := range texts {
				if got := DetectText(text, DetectOptions{Protocol: WorkResult, WorkType: workType, Parity: true}); got.Outcome != want {
					t.Errorf("%s: %.80q: %+v, want %s", workType, text, got, want)
				}
			}
		}
	}
}
