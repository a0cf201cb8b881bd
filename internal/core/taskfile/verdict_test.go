package taskfile

import (
	"strings"
	"testing"
)

func TestVerdict(t *testing.T) {
	for name, tc := range map[string]struct{ text, want string }{
		"pass":                        {"Verdict: PASS\n\nfine", "PASS"},
		"fail":                        {"Verdict: FAIL", "FAIL"},
		"any case":                    {"VERDICT: pass", "PASS"},
		"mixed case":                  {"verdict: Fail", "FAIL"},
		"no space":                    {"Verdict:PASS", "PASS"},
		"a tab":                       {"Verdict:\tPASS", "PASS"},
		"a space before the colon":    {"Verdict : PASS", "PASS"},
		"bold line":                   {"**Verdict: PASS**", "PASS"},
		"bold label":                  {"**Verdict:** PASS", "PASS"},
		"bold label before the colon": {"**Verdict**: FAIL", "FAIL"},
		"bold word":                   {"Verdict: **PASS**", "PASS"},
		"bold twice":                  {"**Verdict:** **PASS**", "PASS"},
		"bold underscores":            {"__Verdict: PASS__", "PASS"},
		"bullet":                      {"- Verdict: PASS", "PASS"},
		"number":                      {"1. **Verdict: PASS**", "PASS"},
		"heading":                     {"### Verdict: PASS", "PASS"},
		"bold heading":                {"### **Verdict: FAIL**", "FAIL"},
		"indent":                      {"      Verdict: PASS", "PASS"},
		"a rule below":                {"Verdict: PASS\n---\nfine", "PASS"},
		"a dash and text":             {"Verdict: PASS - nice", "PASS"},
		"a long dash and text":        {"Verdict: PASS — nice", "PASS"},
		"a long dash, no space":       {"Verdict: PASS—nice", "PASS"},
		"a full stop":                 {"Verdict: PASS.", "PASS"},
		"brackets":                    {"Verdict: FAIL (round 1)", "FAIL"},
		"a comma":                     {"Verdict: FAIL, tests are red", "FAIL"},
		"words":                       {"Verdict: PASS with nits", "PASS"},
		"bold and words":              {"**Verdict: PASS** with nits", "PASS"},
		"an emoji":                    {"Verdict: PASS ✅", "PASS"},
		"text that names the other":   {"Verdict: PASS. Fail cases are covered", "PASS"},
		"text that looks back":        {"Verdict: PASS (was FAIL in round 1)", "PASS"},
		"the same word again":         {"Verdict: FAIL (FAIL)", "FAIL"},
		"windows line endings":        {"Verdict: PASS\r\n\r\nfine\r\n", "PASS"},
		"the same verdict twice":      {"Verdict: FAIL\n\ntext\n\n**Verdict: FAIL**", "FAIL"},
		"another inside a fence":      {"Verdict: FAIL\n\n```\nVerdict: PASS\n```", "FAIL"},
		"another inside a quote":      {"Verdict: PASS\n\n> Verdict: FAIL", "PASS"},
		"behind a comment":            {"<!-- Verdict: PASS or FAIL -->\nVerdict: FAIL", "FAIL"},
		"words in the feedback":       {"Verdict: FAIL\n\nA PASS needs tests.", "FAIL"},
		"nothing":                     {"", ""},
		"only a comment":              {"<!-- x -->", ""},
		"a longer word":               {"Verdict: PASSABLE", ""},
		"a past form":                 {"Verdict: PASSED", ""},
		"a compound":                  {"Verdict: PASS-ish", ""},
		"either":                      {"Verdict: PASS or FAIL", ""},
		"either, with a slash":        {"Verdict: PASS/FAIL", ""},
		"either, with a spaced slash": {"Verdict: PASS / FAIL", ""},
		"either, with a bar":          {"Verdict: PASS | FAIL <pick one>", ""},
		"either, with a comma":        {"Verdict: PASS, FAIL", ""},
		"the template of the prompt":  {"**Verdict: PASS** or **Verdict: FAIL**", ""},
		"both words":                  {"Verdict: FAIL PASS", ""},
		"a question":                  {"Verdict: PASS?", ""},
		"a negation":                  {"Verdict: not PASS", ""},
		"only the word":               {"PASS", ""},
		"no colon":                    {"Verdict PASS", ""},
		"no word":                     {"Verdict:", ""},
		"word on the next line":       {"Verdict:\nPASS", ""},
		"not on the first line":       {"Looks fine.\n\nVerdict: PASS", ""},
		"inside a sentence":           {"My Verdict: PASS", ""},
		"inside a fence":              {"```\nVerdict: PASS\n```", ""},
		"inside a quote":              {"> Verdict: PASS", ""},
		"a contradiction":             {"Verdict: PASS\n\nVerdict: FAIL", ""},
		"a contradiction in a bullet": {"Verdict: FAIL\n\n- **Verdict:** pass", ""},
	} {
		t.Run(name, func(t *testing.T) {
			s := sectionsOf("## Review\n\n" + tc.text)[0]
			got, line, why := s.Verdict()
			if got != tc.want || (why == "") != (got != "") || line < 1 {
				t.Errorf("got %q at line %d (%s), want %q", got, line, why, tc.want)
			}
			if at := strings.Split("## Review\n\n"+tc.text, "\n")[line-1]; !strings.Contains(strings.ToUpper(at), got) {
				t.Errorf("%s is not in line %d, %q", got, line, at)
			}
		})
	}
}

func TestVerdictSaysWhyNot(t *testing.T) {
	for name, tc := range map[string]struct{ text, want string }{
		"another first line": {"looks fine", `line 6 is "looks fine", not "Verdict: PASS" or "Verdict: FAIL"`},
		"a long first line":  {strings.Repeat("é", 100), `line 6 is "` + strings.Repeat("é", 59) + `…", not`},
		"a contradiction":    {"Verdict: PASS\n\nVerdict: FAIL", "line 6 says PASS but line 8 says FAIL; keep one verdict"},
		"an empty section":   {"", "the section is empty; start it with"},
	} {
		t.Run(name, func(t *testing.T) {
			d := mustParse(t, "---\na: 1\n---\n## Review\n\n"+tc.text)
			if _, _, why := d.Sections()[0].Verdict(); !strings.Contains(why, tc.want) {
				t.Errorf("got %q, want %q", why, tc.want)
			}
		})
	}
}

func TestWordVerdict(t *testing.T) {
	for name, tc := range map[string]struct {
		text, want string
		line       int
	}{
		"first line":               {"PASS\n\n1. tidy", "PASS", 3},
		"small letters":            {"fail", "FAIL", 3},
		"any case":                 {"it will fail", "FAIL", 3},
		"the first line counts":    {"hm\nso far FAIL\nnext time PASS", "FAIL", 4},
		"the first word of a line": {"PASS, not FAIL", "PASS", 3},
		"a longer word":            {"surpass it; a failure passed by", "", 1},
		"bold":                     {"**PASS**", "PASS", 3},
		"labelled":                 {"My verdict: FAIL", "FAIL", 3},
		"nothing":                  {"", "", 1},
	} {
		t.Run(name, func(t *testing.T) {
			got, line, why := sectionsOf("## Review\n\n" + tc.text)[0].WordVerdict()
			if got != tc.want || line != tc.line || (why == "") != (got != "") {
				t.Errorf("got %q at line %d (%s), want %q at line %d", got, line, why, tc.want, tc.line)
			}
		})
	}
}
