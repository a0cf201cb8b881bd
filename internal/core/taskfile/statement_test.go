package taskfile_test

import (
	"strings"
	"testing"

	"orange/internal/core/taskfile"
)

func TestAVerdictIsStatedAndNothingIsLost(t *testing.T) {
	const plan = "---\nid: x\n---\n\n## Plan\n\nAPPROACH: y\n"
	old := section(t, "## Review\n\nVerdict: FAIL\n\nold news\n").Digest
	for name, tt := range map[string]struct {
		src  string
		s    taskfile.Statement
		want string // of the section
	}{
		"a new section":        {plan, taskfile.Statement{Verdict: "PASS", Note: "reads well"}, "Verdict: PASS\n\nreads well"},
		"no words":             {plan, taskfile.Statement{Verdict: "PASS"}, "Verdict: PASS"},
		"an empty file":        {"", taskfile.Statement{Verdict: "FAIL", Note: "x"}, "Verdict: FAIL\n\nx"},
		"findings are there":   {plan + "\n## Review\n\n- a.go loses x\n", taskfile.Statement{Verdict: "FAIL", Note: "see below"}, "Verdict: FAIL\n\nsee below\n\n- a.go loses x"},
		"in the middle":        {plan + "\n## Review\n\nfine\n\n## Handoff\n\nDONE: y\n", taskfile.Statement{Verdict: "PASS"}, "Verdict: PASS\n\nfine"},
		"the same verdict":     {plan + "\n## Review\n\nVerdict: FAIL\n\nno tests\n", taskfile.Statement{Verdict: "FAIL", Note: "more"}, "Verdict: FAIL\n\nmore\n\nno tests"},
		"the other verdict":    {plan + "\n## Review\n\nVerdict: PASS\n\nnice\n", taskfile.Statement{Verdict: "FAIL"}, "Verdict: FAIL\n\nBefore:\n\n> Verdict: PASS\n>\n> nice"},
		"of the review before": {plan + "\n## Review\n\nVerdict: FAIL\n\nold news\n", taskfile.Statement{Verdict: "FAIL", Old: old}, "Verdict: FAIL\n\nBefore:\n\n> Verdict: FAIL\n>\n> old news"},
		"the same once more":   {plan + "\n## Review\n\nVerdict: FAIL\n\nno tests\n", taskfile.Statement{Verdict: "FAIL", Round: 7}, "Verdict: FAIL\nRound: 7\n\nno tests"},
		"a note with headings": {plan, taskfile.Statement{Verdict: "FAIL", Note: "x\n\n## Plan\n\nAPPROACH: mine\n"}, "Verdict: FAIL\n\nx\n\n#### Plan\n\nAPPROACH: mine"},
		"a note that differs":  {plan, taskfile.Statement{Verdict: "FAIL", Note: "Verdict: PASS"}, "Verdict: FAIL\n\n> Verdict: PASS"},
		"behind an open fence": {plan + "\n```\nnever closed\n", taskfile.Statement{Verdict: "FAIL"}, "Verdict: FAIL"},
		"of two, the last":     {plan + "\n## Review\n\nVerdict: PASS\n\n## Review\n\nmine\n", taskfile.Statement{Verdict: "FAIL"}, "Verdict: FAIL\n\nmine"},
	} {
		t.Run(name, func(t *testing.T) {
			doc, err := taskfile.Parse([]byte(tt.src))
			if err != nil {
				t.Fatal(err)
			}
			out := doc.WithVerdict("Review", tt.s)
			back, err := taskfile.Parse(out.Bytes())
			if err != nil {
				t.Fatal(err)
			}
			got, ok := taskfile.FindSection(back.Sections(), "Review")
			if !ok || got.Text != tt.want || got.Ruling.Verdict != tt.s.Verdict || got.Word.Verdict != tt.s.Verdict {
				t.Errorf("%+v in\n%s", got.Ruling, out.Bytes())
			}
			if had, ok := taskfile.FindSection(doc.Sections(), "Plan"); ok {
				if now, _ := taskfile.FindSection(back.Sections(), "Plan"); now.Digest != had.Digest && !strings.Contains(tt.src, "```") {
					t.Errorf("the plan changed:\n%s", out.Bytes())
				}
			}
			for line := range strings.Lines(tt.src) {
				if !strings.Contains(string(out.Bytes()), strings.TrimSpace(line)) {
					t.Errorf("%q is lost in\n%s", line, out.Bytes())
				}
			}
		})
	}
}

func section(t *testing.T, text string) taskfile.Section {
	t.Helper()
	doc, err := taskfile.Parse([]byte(text))
	if err != nil {
		t.Fatal(err)
	}
	return doc.Sections()[0]
}

func TestOtherRequirementsReplaceTheFirstSectionOnly(t *testing.T) {
	for src, want := range map[string]string{
		"":               "## Requirements\n\nnew\n",
		"## Plan\n\nx\n": "## Requirements\n\nnew\n\n## Plan\n\nx\n",
		"## Requirements\n\nold\n\n## Plan\n\nx\n":                  "## Requirements\n\nnew\n\n## Plan\n\nx\n",
		"## Requirements\n\nold\n\n## Requirements\n\nan agent's\n": "## Requirements\n\nnew\n\n## Requirements\n\nan agent's\n",
	} {
		doc, err := taskfile.Parse([]byte(src))
		if err != nil {
			t.Fatal(err)
		}
		if got := string(doc.WithRequirements("new").Body()); got != want {
			t.Errorf("%q becomes %q, want %q", src, got, want)
		}
	}
}
