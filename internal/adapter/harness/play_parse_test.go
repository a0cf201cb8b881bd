package harness

import (
	"strings"
	"testing"
)

func TestScriptsAreReadStrictly(t *testing.T) {
	for text, want := range map[string]string{
		"":                                    `s.yaml:1:1: the script is empty: map roles to lists of steps`,
		"- a":                                 `s.yaml:1:1: a script: expected key: value pairs`,
		"worker: x":                           `s.yaml:1:9: role worker: expected a list of steps`,
		"worker:\n  - nap":                    `s.yaml:2:5: step "nap" is not known: use ask, commit, daemon, die, exit, idle, limit, print, run, say, section, sleep, usage, wait`,
		"worker:\n  - nap: 1s":                `s.yaml:2:5: step "nap" is not known: use ask, commit, daemon, die, exit, idle, limit, print, run, say, section, sleep, usage, wait`,
		"worker:\n  - run":                    `s.yaml:2:5: step run needs a value: write run: ...`,
		"worker:\n  - wait: 3s":               `s.yaml:2:11: step wait takes no value: leave it out`,
		"worker:\n  - run: x\n    stay: true": `s.yaml:3:5: step run has no option "stay": begin a new step with a dash, or leave it out`,
		"worker:\n  - run: x\n    must: ja":   `s.yaml:3:11: must: write true or false`,
		"worker:\n  - sleep: soon":            `s.yaml:2:12: sleep: write a time such as 200ms or 2s`,
		"worker:\n  - exit: 256":              `s.yaml:2:11: exit: write a number from 0 to 255`,
		"worker:\n  - die: NOW":               `s.yaml:2:10: die: signal "NOW" is not known: use ABRT, HUP, INT, KILL, QUIT, SEGV, TERM`,
		"worker:\n  - section: {name: a}":     `s.yaml:2:14: section needs text: add it`,
		"worker:\n  - section: {nam: a}":      `s.yaml:2:15: section has no key "nam": use name, text`,
		"worker:\n  - commit: x":              `s.yaml:2:13: commit: expected key: value pairs`,
		"worker:\n  - usage: {input: many}":   `s.yaml:2:20: input: write a number`,
		"worker#0: []":                        `s.yaml:1:1: role "worker#0": write a name such as worker, or worker#2 for its second attempt`,
		"worker: []\nworker#x: []":            `s.yaml:2:1: role "worker#x": write a name such as worker, or worker#2 for its second attempt`,
		"worker: [{}]":                        `s.yaml:1:10: a step is empty: name what to do`,
		"worker: [":                           `s.yaml:1:9: sequence end token ']' not found: fix the YAML here`,
	} {
		if _, err := parseScript("s.yaml", text); err == nil || err.Error() != want {
			t.Errorf("%q:\n got %v\nwant %s", text, err, want)
		}
	}
}

func FuzzParseScript(f *testing.F) {
	f.Add("worker:\n  - run: x\n    must: true\n  - wait\nreviewer#2: [{section: {name: a, text: b}}]")
	f.Add("a: &x [*x]")
	f.Fuzz(func(t *testing.T, text string) {
		roles, err := parseScript("s.yaml", text)
		if err != nil && (!strings.HasPrefix(err.Error(), "s.yaml:") || strings.ContainsAny(err.Error(), "\n\x1b")) {
			t.Errorf("error %q", err)
		}
		for role, steps := range roles {
			for _, s := range steps {
				if err == nil && s.act == nil {
					t.Errorf("a step of %s does nothing", role)
				}
			}
		}
	})
}

func FuzzNextMessage(f *testing.F) {
	f.Add([]byte("a\x7f\x1b[200~b\rc\x1b[201~\r"))
	f.Add([]byte("\x1b[20"))
	f.Fuzz(func(t *testing.T, keys []byte) {
		text, used, ok := nextMessage(keys)
		if used < 0 || used > len(keys) || ok == (used == 0) || !ok && text != "" {
			t.Errorf("%q: %q, %d, %v", keys, text, used, ok)
		}
	})
}

func FuzzWithSection(f *testing.F) {
	f.Add("## Plan\n\nold\n\n## Other\nx\n", "Plan", "new")
	f.Add("```\n## Plan\n", "Plan", "x")
	f.Fuzz(func(t *testing.T, src, name, text string) {
		edited, err := withSection([]byte(src), name, text)
		if err == nil && !sectionReads(edited, name, strings.TrimSpace(text)) {
			t.Errorf("%q: section %q is not %q in %q", src, name, text, edited)
		}
	})
}
