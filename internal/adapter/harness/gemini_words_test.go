package harness

import (
	"regexp"
	"strings"
	"testing"
)

// geminiResponse returns what Gemini's hook passes for messages that came in pieces.
func geminiResponse(messages ...[]string) string {
	var out []string
	for _, pieces := range messages {
		out = append(out, strings.Join(append([]string{strings.Join(pieces, "")}, pieces[1:]...), " "))
	}
	return strings.Join(out, "\n")
}

func TestGeminiMessagesAtATerminal(t *testing.T) {
	comments := regexp.MustCompile(`<!--[\s\S]*?-->|[\x{200b}-\x{200f}\x{feff}]`)
	for _, c := range []struct {
		name     string
		messages [][]string
	}{
		{"one piece", [][]string{{"All done."}}},
		{"pieces", [][]string{{"It is handed", " over", " again."}}},
		{"a mark in pieces", [][]string{{"All done. <!-- WORK_RE", "SULT:pas", "sed -->"}}},
		{"a mark is a piece", [][]string{{"All done.\n", "<!-- WORK_RESULT:passed -->"}}},
		{"a mark first", [][]string{{"<!-- WORK_RESULT:passed -->\n\nAll", " done."}}},
		{"lines behind a mark", [][]string{{"One.\n\n<!-- x -->\n", "\ttwo <", "3\n"}}},
		{"words that come again", [][]string{{"ha ha"}}},
		{"words that come again, in pieces", [][]string{{"ha", " ha", " ha"}}},
		{"messages before it", [][]string{{"I ", "look.\nClosely."}, {"I look."}, {"I ", "look.\n", "<!-- WORK_RESULT:failed -->"}}},
		{"what cannot be seen", [][]string{{"a\u200bb", "\ufeffc"}}},
	} {
		pieces := c.messages[len(c.messages)-1]
		whole := strings.Join(pieces, "")
		seen := strings.TrimSpace(comments.ReplaceAllString(whole, ""))
		transcript := logged(t, `{"type":"gemini","content":"earlier"}`+"\n"+`{"type":"gemini","content":`+word(seen)+`}`+"\n"+`{"$set":{}}`+"\n")
		payload := `{"prompt_response":` + word(geminiResponse(c.messages...)) + `,"transcript_path":` + word(transcript) + `}`
		n, err := gemini{}.ParseHook("AfterAgent", []byte(payload), noon)
		if err != nil || n.Final != cleanProse(whole) {
			t.Errorf("%s: %q, want %q (%v)", c.name, n.Final, cleanProse(whole), err)
		}
	}
}

func TestGeminiMessagesThatAreNotInTheTranscript(t *testing.T) {
	for response, want := range map[string]string{
		"something else": "something else", geminiSilent: "", "": "",
	} {
		for _, transcript := range []string{"", "/nowhere", logged(t, `{"type":"gemini","content":"said"}`)} {
			if got := geminiWords(response, transcript); got != want {
				t.Errorf("%q: %q", response, got)
			}
		}
	}
}
