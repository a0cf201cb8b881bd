package harness

import (
	"regexp"
	"slices"
	"strings"
	"time"
	"unicode"

	"orange/internal/core/agent"
	"orange/internal/core/task"
)

// screenPatterns is what is known about the screen of an agent. The patterns match panes with
// straight apostrophes, without frames, and without empty lines.
type screenPatterns struct {
	asks  []askPattern
	limit func() *regexp.Regexp // the line that reports a used-up allowance
	fails func() *regexp.Regexp // the line that reports a failed turn, if no hook reports it
	trust func() *regexp.Regexp // the dialog about the worktree, with the answer yes selected
	box   *inputBox             // its input line
}

// askPattern is a question at which an agent waits. The question counts only if its answers are
// on the screen below it: the same words further up may be part of the work.
type askPattern struct {
	condition string
	question  func() *regexp.Regexp
	answers   func() *regexp.Regexp
}

const (
	paneLines  = 30 // how many lines at the end of a pane count
	limitLines = 10 // how many of these may report a limit: further up, the limit may be over
	askContext = 6  // lines before a question that describe what it is about
)

// The marked choice of a menu, as each agent marks it.
var (
	claudeChoice = lazyPattern(`❯ \d\. `)
	codexChoice  = lazyPattern(`^› \d\. `)
	geminiChoice = lazyPattern(`^● \d\. `)
)

var claudeScreen = screenPatterns{
	asks: []askPattern{
		{task.WaitingPermission, lazyPattern(`^(?:Do you want to |Would you like to proceed)`), claudeChoice},
		{task.WaitingPermission, lazyPattern(`^(?:Quick safety check|Do you trust the files)`), claudeChoice},
		{task.WaitingPermission, lazyPattern(`Bypass Permissions mode`), lazyPattern(`\d\. Yes, I accept`)},
		{task.WaitingInput, lazyPattern(`^☐ `), lazyPattern(`^Enter to select`)},
	},
	limit: lazyPattern(`^(?:[●⎿] *)?(?:You've (?:hit|reached) your|You're out of|API Error: (?:Request rejected \(429\)|Rate limit|429)|[\w-]+ (?:usage )?limit reached)`),
	trust: lazyPattern(`(?s)(?:Is this a project you created or one you trust|Do you trust the files in this folder).*❯ 1\. Yes`),
	box:   &inputBox{mark: lazyPattern(`^❯( |$)`), indent: 2, ruled: true, other: lazyPattern(`^[!#&]( |$)`)},
}

var codexScreen = screenPatterns{
	asks: []askPattern{
		{task.WaitingPermission, lazyPattern(`^Would you like to `), codexChoice},
		{task.WaitingPermission, lazyPattern(`^(?:Trust this folder|Do you trust the contents of this)`), codexChoice},
		{task.WaitingInput, lazyPattern(`^(?:Question \d|Approaching rate limits)`), codexChoice},
		{task.WaitingInput, lazyPattern(`^Welcome to Codex`), lazyPattern(`^> \d\. `)}, // the login menu: the picture above it moves for a while
	},
	fails: lazyPattern(`^■ `),
	limit: lazyPattern(`^■ (?:You've (?:hit|reached) your|.*(?:429|[Rr]ate limit|quota))`),
	trust: lazyPattern(`(?s)(?:Trust this folder\?|Do you trust the contents of this directory\?).*› 1\. (?:Trust|Yes)`),
	box:   &inputBox{mark: lazyPattern(`^›( |$)`), indent: 2, other: lazyPattern(`^!( |$)`)},
}

var geminiScreen = screenPatterns{
	asks: []askPattern{
		{task.WaitingPermission, lazyPattern(`^(?:Allow execution|Apply this change|Do you want to (?:proceed|connect|allow)|Allow )`), geminiChoice},
		{task.WaitingPermission, lazyPattern(`^Do you trust (?:the files in )?this folder`), geminiChoice},
	},
	fails: lazyPattern(`^✕ *(?:\[API Error|Error)`),
	limit: lazyPattern(`^(?:✕ *)?(?:Usage limit reached for|\[API Error: .*(?:quota|429|[Rr]ate limit|RESOURCE_EXHAUSTED))`),
	trust: lazyPattern(`(?s)Do you trust (?:the files in )?this folder\?.*● 1\. (?:Trust|Yes)`),
	box:   &inputBox{mark: lazyPattern(`^ [>*](?: |$)`), indent: 3, other: lazyPattern(`^ [!(](?: |$)`), ghost: lazyPattern(`^ *Type your message or @path/to/file$`)},
}

var opencodeScreen = screenPatterns{
	asks:  []askPattern{{task.WaitingPermission, lazyPattern(`^△ Permission required`), lazyPattern(`^Allow once +Allow always`)}},
	limit: lazyPattern(`(?i)(?:usage|rate) limit.*retrying`),
	box:   &inputBox{hasBar: true, indent: 3, other: lazyPattern(`^Shell\b`), ghost: lazyPattern(`^Ask anything… `)},
}

var piScreen = screenPatterns{
	limit: lazyPattern(`^Error: (?:429|.*(?:usage limit|rate limit|quota))`),
	box:   &inputBox{ruled: true, other: lazyPattern(`^→ `)},
}

// ReadScreen implements Harness.
func (claude) ReadScreen(pane string, now time.Time) (agent.Notice, bool) {
	return claudeScreen.readPane(pane, now)
}

// ReadScreen implements Harness.
func (codex) ReadScreen(pane string, now time.Time) (agent.Notice, bool) {
	return codexScreen.readPane(pane, now)
}

// ReadScreen implements Harness.
func (gemini) ReadScreen(pane string, now time.Time) (agent.Notice, bool) {
	return geminiScreen.readPane(pane, now)
}

// ReadScreen implements Harness.
func (opencode) ReadScreen(pane string, now time.Time) (agent.Notice, bool) {
	return opencodeScreen.readPane(pane, now)
}

// ReadScreen implements Harness.
func (pi) ReadScreen(pane string, now time.Time) (agent.Notice, bool) {
	return piScreen.readPane(pane, now)
}

// TrustDialogKeys implements Harness.
func (claude) TrustDialogKeys(pane string) (string, bool) { return claudeScreen.trustAnswer(pane) }

// TrustDialogKeys implements Harness.
func (codex) TrustDialogKeys(pane string) (string, bool) { return codexScreen.trustAnswer(pane) }

// TrustDialogKeys implements Harness.
func (gemini) TrustDialogKeys(pane string) (string, bool) { return geminiScreen.trustAnswer(pane) }

// TrustDialogKeys implements Harness.
func (opencode) TrustDialogKeys(string) (string, bool) { return "", false }

// TrustDialogKeys implements Harness.
func (pi) TrustDialogKeys(string) (string, bool) { return "", false }

// readPane returns what the end of a pane shows.
func (l screenPatterns) readPane(pane string, now time.Time) (agent.Notice, bool) {
	shown := paneEnd(pane)
	for _, a := range l.asks {
		if text, ok := a.findQuestion(shown); ok {
			return agent.Notice{Condition: task.Condition{Name: a.condition, Detail: cleanLine(text, maxDetail)}}, true
		}
	}
	if text, ok := l.findLimit(shown); ok {
		return limitNotice(text, now)
	}
	return l.failedTurn(shown)
}

// findLimit returns the line that reports a used-up allowance. If a message was sent after it,
// that message is between the line and the input line: then the limit may be over, and the
// result is shown below.
func (l screenPatterns) findLimit(shown []string) (string, bool) {
	inputs := 0
	for i := len(shown) - 1; l.limit != nil && i >= max(0, len(shown)-limitLines); i-- {
		switch {
		case l.limit().MatchString(shown[i]):
			return strings.Join(shown[i:min(len(shown), i+3)], " "), true
		case inputLine().MatchString(shown[i]):
			if inputs++; inputs > 1 {
				return "", false
			}
		}
	}
	return "", false
}

// findQuestion returns the question with the lines above it.
func (a askPattern) findQuestion(shown []string) (string, bool) {
	i, _, ok := a.locateQuestion(shown)
	if !ok {
		return "", false
	}
	return strings.Join(slices.DeleteFunc(slices.Clone(shown[max(0, i-askContext):]), isPicture), " "), true
}

// answerLine matches an answer of a menu.
var answerLine = lazyPattern(`^(?:[❯›●>] *)?\d\. `)

// locateQuestion returns the lines of the question and of its last answer.
func (a askPattern) locateQuestion(shown []string) (question, last int, ok bool) {
	for i := len(shown) - 1; i >= 0; i-- {
		if !a.question().MatchString(shown[i]) {
			continue
		}
		for k := i + 1; k < len(shown); k++ {
			if ok = ok || a.answers().MatchString(shown[k]); a.answers().MatchString(shown[k]) || answerLine().MatchString(shown[k]) {
				last = k
			}
		}
		if ok {
			return i, last, true
		}
	}
	return 0, 0, false
}

// isPicture reports whether a line has no word.
func isPicture(line string) bool {
	return !strings.ContainsFunc(line, func(r rune) bool { return unicode.IsLetter(r) || unicode.IsDigit(r) })
}

// trustAnswer returns Enter if the dialog about the worktree is open with yes selected.
func (l screenPatterns) trustAnswer(pane string) (string, bool) {
	if l.trust != nil && l.trust().MatchString(strings.Join(paneEnd(pane), "\n")) {
		return "\r", true
	}
	return "", false
}

// paneEnd returns the last lines of a pane that have text.
func paneEnd(pane string) []string {
	var shown []string
	for line := range strings.SplitSeq(straightenQuotes(stripControls(pane, true)), "\n") {
		if line = strings.Trim(line, " \t│┃╭╮╰╯─━╹▀"); line != "" {
			shown = append(shown, line)
		}
	}
	return shown[max(0, len(shown)-paneLines):]
}
