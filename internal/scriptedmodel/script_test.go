package scriptedmodel

import (
	"strings"
	"testing"
)

func TestAScriptThatCannotBePlayedIsRefused(t *testing.T) {
	for name, c := range map[string]struct {
		scripts []Script
		want    string
	}{
		"no name":               {[]Script{{}}, `script name "" is not valid`},
		"a name for no id":      {[]Script{{Name: "a b"}}, `script name "a b" is not valid`},
		"two of one name":       {[]Script{{Name: "a"}, {Name: "a"}}, `two scripts called "a"`},
		"an empty turn":         {[]Script{{Name: "a", Turns: []Turn{{Text: "x"}, {}}}}, `script "a", turn 1: a turn is`},
		"a turn of spaces":      {[]Script{{Name: "a", Turns: []Turn{{Text: "  "}}}}, `give exactly one`},
		"two things at once":    {[]Script{{Name: "a", Turns: []Turn{{Text: "x", Shell: "y"}}}}, `give exactly one`},
		"a status of success":   {[]Script{{Name: "a", Turns: []Turn{{Status: 200}}}}, `status 200 is not an error`},
		"a status that is none": {[]Script{{Name: "a", Turns: []Turn{{Status: 999}}}}, `status 999 is not an error`},
		"a reset without limit": {[]Script{{Name: "a", Turns: []Turn{{Status: 400, ResetSeconds: 1}}}}, `belongs to status 429`},
		"a negative number":     {[]Script{{Name: "a", Turns: []Turn{{Text: "x", DelayMillis: -1}}}}, `are not negative`},
	} {
		t.Run(name, func(t *testing.T) {
			_, err := New(c.scripts)
			if err == nil || !strings.Contains(err.Error(), c.want) {
				t.Errorf("the error is %v, not %q", err, c.want)
			}
		})
	}
}

func TestThePlaceIsFoundInTheConversation(t *testing.T) {
	scripts := []Script{{Name: "a", When: "apples"}, {Name: "b"}}
	for name, c := range map[string]struct {
		said   []utterance
		script string
		done   int
	}{
		"nothing was said":                  {nil, "", 0},
		"nobody asked for a script":         {[]utterance{newPrompt("hello"), newAnswer()}, "", 0},
		"a script that is not there":        {[]utterance{newPrompt("[[script:zzz]]")}, "", 0},
		"chosen by a word":                  {[]utterance{newPrompt("some apples")}, "a", 0},
		"a marker counts more":              {[]utterance{newPrompt("some apples [[script:b]]")}, "b", 0},
		"of two markers the last":           {[]utterance{newPrompt("[[script:b]] and [[script:a]]")}, "a", 0},
		"answers are counted":               {[]utterance{newPrompt("apples"), newAnswer(), newAnswer()}, "a", 2},
		"answers before do not count":       {[]utterance{newPrompt("hello"), newAnswer(), newPrompt("apples"), newAnswer()}, "a", 1},
		"answers of others do not count":    {[]utterance{newPrompt("apples"), newAnswer(), newPrompt("[[script:b]]"), newAnswer(), newAnswer()}, "b", 2},
		"a script takes up where it left":   {[]utterance{newPrompt("apples"), newAnswer(), newPrompt("[[script:b]]"), newAnswer(), newPrompt("apples")}, "a", 1},
		"a prompt of nobody changes naught": {[]utterance{newPrompt("apples"), newAnswer(), newPrompt("well?"), newAnswer()}, "a", 2},
	} {
		t.Run(name, func(t *testing.T) {
			got := findPlace(scripts, c.said)
			name := ""
			if got.script != nil {
				name = got.script.Name
			}
			if name != c.script || got.done != c.done {
				t.Errorf("it is at %q after %d, not at %q after %d", name, got.done, c.script, c.done)
			}
		})
	}
}

func TestWhatTheCLIAddsIsNotAPrompt(t *testing.T) {
	for name, c := range map[string]struct {
		texts []string
		want  string
	}{
		"a reminder before":      {[]string{"<system-reminder>\n[[script:b]]\n</system-reminder>", "go"}, "go"},
		"the environment alone":  {[]string{"<environment_context>\n</environment_context>"}, ""},
		"a tag of somebody else": {[]string{"<b>go</b>"}, "<b>go</b>"},
		"two prompts in one":     {[]string{"go", "and go"}, "go\nand go"},
	} {
		t.Run(name, func(t *testing.T) {
			if got := promptOf(c.texts); got != c.want {
				t.Errorf("the prompt is %q, not %q", got, c.want)
			}
		})
	}
}

func TestAnAnswerThatTheCLIMadeUpDoesNotCount(t *testing.T) {
	m := newModel(t, workAndMore()...)
	body := `{"messages":[{"role":"user","content":"[[script:work]]"},{"role":"assistant","content":[{"type":"text","text":"No response requested."}]},{"role":"user","content":"Continue."}],"tools":[{"name":"Bash"}]}`
	post(m, "/v1/messages", body)
	if got := m.Requests()[0].Turn; got != 0 {
		t.Errorf("turn %d is played, not 0", got)
	}
}
