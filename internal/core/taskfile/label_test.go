package taskfile

import (
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
)

func TestLabels(t *testing.T) {
	for name, tc := range map[string]struct {
		text string
		want []string // LABEL=content
	}{
		"plain":                          {"DONE: x\nREMAINING: y", []string{"DONE=x", "REMAINING=y"}},
		"no space behind the colon":      {"DONE:x", []string{"DONE=x"}},
		"a space before the colon":       {"DONE : x", []string{"DONE=x"}},
		"bold with the colon":            {"**DONE:** x", []string{"DONE=x"}},
		"bold without the colon":         {"**DONE**: x", []string{"DONE=x"}},
		"bold underscores":               {"__DONE:__ x\n__DECISIONS__: y", []string{"DONE=x", "DECISIONS=y"}},
		"bold around everything":         {"**DONE: x**", []string{"DONE=x"}},
		"italics":                        {"*DONE:* x", []string{"DONE=x"}},
		"bullets":                        {"- DONE: a\n* REMAINING: b\n+ DECISIONS: c\n1. UNCERTAIN: d\n2) RISKS: e", []string{"DONE=a", "REMAINING=b", "DECISIONS=c", "UNCERTAIN=d", "RISKS=e"}},
		"a bold bullet":                  {"- **DONE:** x", []string{"DONE=x"}},
		"up to three spaces":             {"x\n   DONE: x", []string{"DONE=x"}},
		"four spaces":                    {"x\n\n    DONE: x", nil},
		"a tab":                          {"x\n\n\tDONE: x", nil},
		"a nested bullet is content":     {"DONE:\n    - REMAINING: x", []string{"DONE=- REMAINING: x"}},
		"lower case":                     {"done: x\nDone: y", nil},
		"backticks":                      {"`DONE:` x", nil},
		"a quote":                        {"> DONE: x", nil},
		"in the middle of a line":        {"we are DONE: x", nil},
		"content on the next lines":      {"DONE:\n- a\n- b\n\nREMAINING: c", []string{"DONE=- a\n- b", "REMAINING=c"}},
		"content on and below the line":  {"DONE: a\nb", []string{"DONE=a\nb"}},
		"all empty":                      {"DONE:\nREMAINING:\n\nDECISIONS:  \nUNCERTAIN:", nil},
		"markup is no content":           {"**DONE:**\n**REMAINING**: **\n- DECISIONS: -\nUNCERTAIN:\n- \n---", nil},
		"a comment is no content":        {"DONE: <!-- what works\nnow -->\nREMAINING:\n<!-- x -->", nil},
		"an empty fence is no content":   {"DONE:\n```go\n```", nil},
		"a fence is content":             {"DONE:\n```\nREMAINING: y\n```", []string{"DONE=```\nREMAINING: y\n```"}},
		"an open fence hides labels":     {"DONE: x\n~~~\nREMAINING: y", []string{"DONE=x\n~~~\nREMAINING: y"}},
		"inside a comment":               {"<!--\nDONE: x\n-->\nREMAINING: y", []string{"REMAINING=y"}},
		"an emoji is content":            {"DONE: ✅", []string{"DONE=✅"}},
		"other letters are content":      {"DONE: готово", []string{"DONE=готово"}},
		"none is content":                {"UNCERTAIN: none", []string{"UNCERTAIN=none"}},
		"a punctuation mark is not":      {"UNCERTAIN: ?", nil},
		"an address is no label":         {"DONE:\nHTTP://x", []string{"DONE=HTTP://x"}},
		"windows line endings":           {"DONE: x\r\nREMAINING:\r\n- y\r\n", []string{"DONE=x", "REMAINING=- y"}},
		"labels of several words":        {"NOT DONE: x\nOUT-OF_SCOPE: y", []string{"NOT DONE=x", "OUT-OF_SCOPE=y"}},
		"the same twice, one with text":  {"DONE:\nDONE: x", []string{"DONE=x"}},
		"a rule under the content":       {"DONE: x\n---\nREMAINING: y", []string{"DONE=x\n---", "REMAINING=y"}},
		"inside preformatted code spans": {"DONE: ```x```", []string{"DONE=```x```"}},
	} {
		t.Run(name, func(t *testing.T) {
			sections := sectionsOf("## Handoff\n\n" + tc.text)
			var got []string
			for _, f := range sections[0].Fields {
				got = append(got, f.Label+"="+f.Text)
				if !sections[0].HasLabel(f.Label) {
					t.Errorf("Has(%s) is false", f.Label)
				}
			}
			if diff := cmp.Diff(tc.want, got); diff != "" {
				t.Errorf("(-want +got)\n%s", diff)
			}
			if len(sections) != 1 || sections[0].HasLabel("ABSENT") || strings.Contains(sections[0].Name, "DONE") {
				t.Errorf("got %+v", sections)
			}
		})
	}
}
