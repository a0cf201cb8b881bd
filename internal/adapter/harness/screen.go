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

// look is what is known about the screen of an agent. Panes are read with straight
// apostrophes, without frames, and without empty lines.
type look struct {
	asks  []ask
	limit func() *regexp.Regexp // the line that says that an allowance is used up
	fails func() *regexp.Regexp // the line that says that a turn failed, where no hook says it
	trust func() *regexp.Regexp // the dialog about the worktree, with the answer yes chosen
	box   *box                  // its input line
}

// ask is a question an agent stops at. It is asked only if its answers are on the
// screen below it: the same words further up may be part of the work.
type ask struct {
	condition string
	question  func() *regexp.Regexp
	answers   func() *regexp.Regexp
}

const (
	paneLines  = 30 // how much of the end of a pane counts
	limitLines = 10 // of them, how many may say that a limit holds: further up it may be over
	askContext = 6  // lines before a question that say what it is about
)

// A choice that is marked, as each agent marks it.
var (
	claudeChoice = pattern(`❯ \d\. `)
	codexChoice  = pattern(`^› \d\. `)
	geminiChoice = pattern(`^● \d\. `)
)

var claudeLook = look{
	asks: []ask{
		{task.WaitingPermission, pattern(`^(?:Do you want to |Would you like to proceed)`), claudeChoice},
		{task.WaitingPermission, pattern(`^(?:Quick safety check|Do you trust the files)`), claudeChoice},
		{task.WaitingPermission, pattern(`Bypass Permissions mode`), pattern(`\d\. Yes, I accept`)},
		{task.WaitingInput, pattern(`^☐ `), pattern(`^Enter to select`)},
	},
	limit: pattern(`^(?:[●⎿] *)?(?:You've (?:hit|reached) your|You're out of|API Error: (?:Request rejected \(429\)|Rate limit|429)|[\w-]+ (?:usage )?limit reached)`),
	trust: pattern(`(?s)(?:Is this a project you created or one you trust|Do you trust the files in this folder).*❯ 1\. Yes`),
	box:   &box{mark: pattern(`^❯( |$)`), indent: 2, ruled: true, other: pattern(`^[!#&]( |$)`)},
}

var codexLook = look{
	asks: []ask{
		{task.WaitingPermission, pattern(`^Would you like to `), codexChoice},
		{task.WaitingPermission, pattern(`^(?:Trust this folder|Do you trust the contents of this)`), codexChoice},
		{task.WaitingInput, pattern(`^(?:Question \d|Approaching rate limits)`), codexChoice},
		{task.WaitingInput, pattern(`^Welcome to Codex`), pattern(`^> \d\. `)}, // the login menu: the picture above it moves for a while
	},
	fails: pattern(`^■ `),
	limit: pattern(`^■ (?:You've (?:hit|reached) your|.*(?:429|[Rr]ate limit|quota))`),
	trust: pattern(`(?s)(?:Trust this folder\?|Do you trust the contents of this directory\?).*› 1\. (?:Trust|Yes)`),
	box:   &box{mark: pattern(`^›( |$)`), indent: 2, other: pattern(`^!( |$)`)},
}

var geminiLook = look{
	asks: []ask{
		{task.WaitingPermission, pattern(`^(?:Allow execution|Apply this change|Do you want to (?:proceed|connect|allow)|Allow )`), geminiChoice},
		{task.WaitingPermission, pattern(`^Do you trust (?:the files in )?this folder`), geminiChoice},
	},
	fails: pattern(`^✕ *(?:\[API Error|Error)`),
	limit: pattern(`^(?:✕ *)?(?:Usage limit reached for|\[API Error: .*(?:quota|429|[Rr]ate limit|RESOURCE_EXHAUSTED))`),
	trust: pattern(`(?s)Do you trust (?:the files in )?this folder\?.*● 1\. (?:Trust|Yes)`),
	box:   &box{mark: pattern(`^ [>*](?: |$)`), indent: 3, other: pattern(`^ [!(](?: |$)`), ghost: pattern(`^ *Type your message or @path/to/file$`)},
}

var opencodeLook = look{
	asks:  []ask{{task.WaitingPermission, pattern(`^△ Permission required`), pattern(`^Allow once +Allow always`)}},
	limit: pattern(`(?i)(?:usage|rate) limit.*retrying`),
	box:   &box{barred: true, indent: 3, other: pattern(`^Shell\b`), ghost: pattern(`^Ask anything… `)},
}

var piLook = look{
	limit: pattern(`^Error: (?:429|.*(?:usage limit|rate limit|quota))`),
	box:   &box{ruled: true, other: pattern(`^→ `)},
}

// Screen implements Harness.
func (claude) Screen(pane string, now time.Time) (agent.Notice, bool) {
	return claudeLook.at(pane, now)
}

// Screen implements Harness.
func (codex) Screen(pane string, now time.Time) (agent.Notice, bool) { return codexLook.at(pane, now) }

// Screen implements Harness.
func (gemini) Screen(pane string, now time.Time) (agent.Notice, bool) {
	return geminiLook.at(pane, now)
}

// Screen implements Harness.
func (opencode) Screen(pane string, now time.Time) (agent.Notice, bool) {
	return opencodeLook.at(pane, now)
}

// Screen implements Harness.
func (pi) Screen(pane string, now time.Time) (agent.Notice, bool) { return piLook.at(pane, now) }

// Dialogs implements Harness.
func (claude) Dialogs(pane string) (string, bool) { return claudeLook.answer(pane) }

// Dialogs implements Harness.
func (codex) Dialogs(pane string) (string, bool) { return codexLook.answer(pane) }

// Dialogs implements Harness.
func (gemini) Dialogs(pane string) (string, bool) { return geminiLook.answer(pane) }

// Dialogs implements Harness.
func (opencode) Dialogs(string) (string, bool) { return "", false }

// Dialogs implements Harness.
func (pi) Dialogs(string) (string, bool) { return "", false }

// at says what the end of a pane shows.
func (l look) at(pane string, now time.Time) (agent.Notice, bool) {
	shown := paneEnd(pane)
	for _, a := range l.asks {
		if text, ok := a.find(shown); ok {
			return agent.Notice{Condition: task.Condition{Name: a.condition, Detail: clean(text, maxDetail)}}, true
		}
	}
	if text, ok := l.limited(shown); ok {
		return limitNotice(text, now)
	}
	return l.failedTurn(shown)
}

// limited finds the line that says that an allowance is used up. Something that was sent after it stands between it and
// the input line: then it may be over, and what came of it is shown below.
func (l look) limited(shown []string) (string, bool) {
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

// find returns the question with what stands above it.
func (a ask) find(shown []string) (string, bool) {
	for i := len(shown) - 1; i >= 0; i-- {
		if !a.question().MatchString(shown[i]) {
			continue
		}
		for _, below := range shown[i+1:] {
			if a.answers().MatchString(below) {
				return strings.Join(slices.DeleteFunc(slices.Clone(shown[max(0, i-askContext):]), isPicture), " "), true
			}
		}
	}
	return "", false
}

// isPicture says that a line has no word.
func isPicture(line string) bool {
	return !strings.ContainsFunc(line, func(r rune) bool { return unicode.IsLetter(r) || unicode.IsDigit(r) })
}

// answer is Enter if the dialog about the worktree is open with yes chosen.
func (l look) answer(pane string) (string, bool) {
	if l.trust != nil && l.trust().MatchString(strings.Join(paneEnd(pane), "\n")) {
		return "\r", true
	}
	return "", false
}

// paneEnd returns the last lines of a pane that have text in them.
func paneEnd(pane string) []string {
	var shown []string
	for line := range strings.SplitSeq(straight(strip(pane, true)), "\n") {
		if line = strings.Trim(line, " \t│┃╭╮╰╯─━╹▀"); line != "" {
			shown = append(shown, line)
		}
	}
	return shown[max(0, len(shown)-paneLines):]
}
