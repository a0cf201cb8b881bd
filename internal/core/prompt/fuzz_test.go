package prompt_test

import (
	"strings"
	"testing"
	"unicode/utf8"

	"orange/internal/core/prompt"
	"orange/internal/core/task"
	"orange/internal/core/workflow"
	"orange/internal/core/workflow/builtin"
)

// FuzzTemplate fills in words that a repository brings, with values that others wrote.
func FuzzTemplate(f *testing.F) {
	text, _ := builtin.Text("orange")
	def, err := workflow.Parse("orange.yaml", text)
	if err != nil {
		f.Fatal(err)
	}
	for _, seed := range []string{"", "Do {summary} on {branch}.", "{{summary}}", "{", "$summary ${summary}", "{task}{nonce}{report}{review_round}", "\x00\xff{summary}"} {
		f.Add(seed, "{branch}", "x")
		f.Add(seed, "# ## >", "{summary}\n{task}")
	}
	f.Fuzz(func(t *testing.T, words, summary, message string) {
		facts := prompt.Facts{
			Def: def, Nonce: "k7Q2mZ", Project: task.Project{Name: "shop", DefaultBranch: "main"},
			Words:  func(string) (string, bool) { return words, true },
			Task:   task.Task{ID: "0123456789abcdefghijk", Project: "shop", Branch: "login", Summary: summary, Status: "working"},
			Effect: task.Effect{Role: "worker", Prompt: "plan", Text: message, Attempt: 1},
		}
		whole := prompt.StartPrompt(facts)
		if utf8.ValidString(words) && utf8.ValidString(summary) && utf8.ValidString(message) && !utf8.ValidString(whole) {
			t.Errorf("valid words make %q", whole)
		}
		const place = "{branch}"
		if summary == place && words == "{summary}" && !strings.Contains(whole, place) {
			t.Errorf("what a value says was filled in: %q", whole)
		}
		told := prompt.MessageText(facts)
		if strings.TrimSpace(message) != "" {
			for _, line := range strings.Split(strings.TrimSpace(message), "\n") {
				if !strings.Contains(told, "> "+line) && !strings.Contains(line, "<!--") {
					t.Errorf("somebody's words %q are not quoted in %q", line, told)
				}
			}
		}
	})
}
