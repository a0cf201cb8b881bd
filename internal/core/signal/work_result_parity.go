package signal

import (
	"bytes"
	"fmt"
	"regexp"
	"strings"

	"orange/internal/view/humanize"
)

// maxParityText limits the text that is kept for comparison.
const maxParityText = 4 << 20

// parityFinder has the broader heuristics of the system that the markers come from, so that the
// two can be compared. They accept some texts as a pass that are not.
type parityFinder struct {
	notes *notes
	words parityWords
	text  []byte
	over  bool
}

// parityWords are the regular expressions of one work type.
type parityWords struct{ fails, passes []string }

func newParityFinder(l DetectOptions, n *notes) finder {
	return &parityFinder{notes: n, words: parityWordsOf(l.WorkType)}
}

// blockers are reasons for which no reviewer merges.
var blockers = []string{
	`must\s+fix\s+before\s+merge`,
	`\d+\s+critical\s+issues?\s*\(\s*block(s|ing)?\s+merge\s*\)`,
}

func parityWordsOf(workType string) parityWords {
	switch strings.TrimSuffix(strings.ToLower(workType), "-coordination") {
	case "qa":
		return parityWords{fails: append(qaWords("fail", "❌"), append([]string{
			`parent\s+qa\s+verdict:\s*\**fail`,
			`status:\s*\**\d+\s+issues?\s+found`,
		}, blockers...)...), passes: append(qaWords("pass", "✅"),
			`\balready\s+(done|completed?)\b`,
			`\bapproved\s+for\s+merge\b`,
			`\ball\s+checks\s+pass(ed)?\b`,
			`\bqa\s+(coordination\s+)?complete\b`,
		)}
	case "acceptance":
		return parityWords{fails: append([]string{
			`##\s*acceptance\s+(processing\s+|coordination\s+)?failed`,
			`acceptance\s+(processing\s+)?blocked`,
			`acceptance\s+result:\s*\**fail`,
			`cannot\s+merge\s+pr`,
		}, blockers...), passes: []string{
			`##\s*acceptance\s+(processing\s+|coordination\s+)?complete`,
			`acceptance\s+result:\s*\**pass`,
			`pr\s+has\s+been\s+merged\s+successfully`,
		}}
	case "development", "inflight", "coordination":
		return parityWords{fails: append([]string{
			`\bsub-?issues?\s+\**(still\s+)?(need|require)s?\s+\**(work|attention|fix(es)?)\b`,
			`\bcoordination\s+(result|status|verdict)\**:\s*\**\s*fail`,
			`\bcoordination\s+failed`,
			`i['’]ll\s+wait\b.*\b(complete|finish)`,
			`\bagents?\s+(is|are)\s+(actively\s+|still\s+|currently\s+|now\s+)?(working|running|in\s+progress)\b`,
			`\bwork\s+is\s+(still\s+|currently\s+)?in\s+progress\b`,
			`\bwait(ing)?\s+for\s+(them|sub-?\s*agents?|sub-?\s*issues?)\s+to\s+(complete|finish)\b`,
			`\bwaiting\s+for\b.*\b(agents?|(sub-?)?issues?|(sub-?)?tasks?)\b.*\b(complete|finish)`,
			`\bbefore\s+proceeding\s+to\s+(layer|wave|phase)\s+\d+`,
		}, blockers...), passes: []string{
			`\ball\s+(\d+(/\d+)?\s+)?` + issuesFinished,
			`\b(?P<finished>\d+)/(?P<all>\d+)\b[^/\n]*\b` + issuesFinished,
			`\bcoordination\s+(result|status|verdict)\**:\s*\**\s*pass`,
			`\bcoordination\s+complete`,
			`\bparent\s+issue\s+marked\s+(as\s+)?finished\b`,
		}}
	case "merge":
		return parityWords{
			fails:  []string{`merge\s+conflict`, `merge.*failed`, `could\s+not\s+merge`, `rebase.*failed`, `test.*failed.*after.*rebase`},
			passes: []string{`merge.*completed`, `successfully\s+merged`, `fast-forward\s+merge`, `merged\s+to\s+main`},
		}
	}
	return parityWords{}
}

// issuesFinished matches the statement that sub-issues are finished: in a sentence, after a
// dash or a colon, in bold.
const issuesFinished = `sub-?issues?\**\s*(([:—–-]+|\b(is|are|were|have\s+been))[\s*]*)?(now\s+)?\**(completed?|finished|done)\b`

// qaWords returns the phrases of quality assurance for a verdict, pass or fail, with its
// symbol.
func qaWords(verdict, sign string) []string {
	return []string{
		`##\s*qa\s+` + verdict + `ed`,
		`(?s)##\s*qa\s+complete.*?\b` + verdict,
		`\b(result|status|verdict)\**:\s*\**\s*` + verdict,
		`\b(result|status|verdict)\**:\s*\**\s*` + sign,
		`roll-?up\s+verdict:\s*\**\s*` + verdict,
		`(?-i)\*\*` + strings.ToUpper(verdict) + `\.?\*\*`,
	}
}

func (f *parityFinder) takePiece(p *piece) {
	if len(f.words.passes) == 0 {
		return
	}
	if f.over = f.over || len(f.text)+len(p.text) >= maxParityText; f.over {
		return
	}
	f.text = append(f.text, p.text...)
	if p.last {
		f.text = append(f.text, '\n')
	}
}

func (f *parityFinder) foundReport() (Report, bool) {
	if f.over {
		f.notes.add(0, fmt.Sprintf("only the first %d bytes were searched for words", len(f.text)))
	}
	for _, group := range []struct {
		result Result
		words  []string
	}{{Failed, f.words.fails}, {Passed, f.words.passes}} {
		for _, w := range group.words {
			if at := f.findWords(w); at != nil {
				text := humanize.Cut(string(f.text[at[0]:min(at[1], at[0]+2*maxQuoted)]), maxQuoted)
				return Report{Outcome: group.result, Code: string(group.result), Detail: text}, true
			}
		}
	}
	return Report{}, false
}

// findWords searches for words. A count such as 3/3 counts only if its parts are equal.
func (f *parityFinder) findWords(words string) []int {
	re := regexp.MustCompile("(?i)" + words)
	finished, all := re.SubexpIndex("finished"), re.SubexpIndex("all")
	if finished < 0 {
		return re.FindIndex(f.text)
	}
	for _, at := range re.FindAllSubmatchIndex(f.text, -1) {
		if bytes.Equal(f.text[at[2*finished]:at[2*finished+1]], f.text[at[2*all]:at[2*all+1]]) {
			return at[:2]
		}
	}
	return nil
}
