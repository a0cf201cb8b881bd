package harness

import (
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"
	"unicode/utf8"

	"github.com/google/go-cmp/cmp"

	"orange/internal/core/agent"
	"orange/internal/core/transcript"
	"orange/internal/view/ansi"
)

// textOf returns a conversation as people read it.
func textOf(turns []transcript.Turn) string {
	p := transcript.Printer{Now: time.Unix(0, 0).UTC()}
	return strings.Join(p.FormatTurns(turns), "\n") + "\n"
}

// recorded returns a folder of an attempt whose agent left a recorded file.
func recorded(t *testing.T, name, kind string) Output {
	t.Helper()
	text, err := os.ReadFile("testdata/turns/" + name + "-" + kind + ".jsonl")
	if err != nil {
		t.Fatal(err)
	}
	return leave(t, name, kind, string(text))
}

func leave(t *testing.T, name, kind, text string) Output {
	t.Helper()
	dir := t.TempDir()
	o := Output{Output: agent.Output{Log: filepath.Join(dir, "output.log"), Over: true, Headless: kind == "stream"}}
	path := o.Log
	if kind == "transcript" {
		o.Transcript = filepath.Join(dir, opencodeTranscript)
		path = o.Transcript
	}
	if err := os.WriteFile(path, []byte(text), 0o600); err != nil {
		t.Fatal(err)
	}
	return o
}

// The recorded files come from the real programs, which the scripted model told to run two
// commands and to ask a question.
func TestConversationsOfTheRealAgents(t *testing.T) {
	for _, name := range agent.HarnessNames() {
		for _, kind := range []string{"transcript", "stream"} {
			t.Run(name+"/"+kind, func(t *testing.T) {
				c := ReadConversation(find(t, name), recorded(t, name, kind), "")
				got := textOf(c.Turns)
				file := "testdata/turns/" + name + "-" + kind + ".txt"
				if *update {
					if err := os.WriteFile(file, []byte(got), 0o600); err != nil {
						t.Fatal(err)
					}
				}
				want, err := os.ReadFile(file)
				if err != nil {
					t.Fatal(err)
				}
				if diff := cmp.Diff(string(want), got); diff != "" {
					t.Error(diff)
				}
				for _, part := range []string{": ls /no/such/folder\n", "  one\n  two\n", "There are seven.\n\n- Which colour shall the button have?\n"} {
					if name == "codex" && kind == "stream" {
						part = strings.Replace(part, ": ls /no/such/folder", ": /bin/bash -c 'ls /no/such/folder'", 1)
					}
					if strings.Count(got, part) != 1 {
						t.Errorf("%q is there %d times", part, strings.Count(got, part))
					}
				}
				if strings.ContainsAny(got, "{}") {
					t.Error("it shows JSON")
				}
			})
		}
	}
}

// A file that is read while it grows, at any point, has the same turns as the whole file.
func TestAConversationIsReadAsItGrows(t *testing.T) {
	for _, name := range agent.HarnessNames() {
		for _, kind := range []string{"transcript", "stream"} {
			t.Run(name+"/"+kind, func(t *testing.T) {
				o := recorded(t, name, kind)
				path := o.Log
				if kind == "transcript" {
					path = o.Transcript
				}
				whole, err := os.ReadFile(path)
				if err != nil {
					t.Fatal(err)
				}
				h := find(t, name)
				want := textOf(ReadConversation(h, o, "").Turns)
				for _, step := range []int{97, 1000} {
					p := transcript.Printer{Now: time.Unix(0, 0).UTC()}
					var got []string
					next := ""
					for n := 0; n <= len(whole)+step; n += step {
						if err := os.WriteFile(path, whole[:min(n, len(whole))], 0o600); err != nil {
							t.Fatal(err)
						}
						o.Over = n >= len(whole)
						c := ReadConversation(h, o, next)
						next = c.Next
						got = append(got, p.FormatTurns(c.Turns)...)
					}
					if diff := cmp.Diff(want, strings.Join(got, "\n")+"\n"); diff != "" {
						t.Errorf("steps of %d: %s", step, diff)
					}
				}
			})
		}
	}
}

func TestAConversationIsThatOfItsAttempt(t *testing.T) {
	line := func(at, text string) string {
		return fmt.Sprintf(`{"type":"assistant","timestamp":"2026-01-02T%sZ","message":{"content":[{"type":"text","text":%q}]}}`+"\n", at, text)
	}
	o := leave(t, "claude", "transcript", line("10:00:00", "before")+line("11:00:00", "mine")+line("12:00:00", "after"))
	o.Since, o.Until = time.Date(2026, 1, 2, 10, 30, 0, 0, time.UTC), time.Date(2026, 1, 2, 11, 30, 0, 0, time.UTC)
	c := ReadConversation(find(t, "claude"), o, "")
	if len(c.Turns) != 1 || c.Turns[0].Text != "mine" {
		t.Errorf("%+v", c.Turns)
	}
}

func TestOfALongConversationTheEndIsRead(t *testing.T) {
	var text strings.Builder
	for i := range 6000 {
		fmt.Fprintf(&text, `{"type":"assistant","message":{"content":[{"type":"text","text":"%d %s"}]}}`+"\n", i, strings.Repeat("x", 1000))
	}
	text.WriteString("no JSON\n" + `{"unknown":1}` + "\n")
	c := ReadConversation(find(t, "claude"), leave(t, "claude", "transcript", text.String()), "")
	if !c.Cut || c.Skipped != 2 || len(c.Turns) < 3000 || len(c.Turns) > 4200 {
		t.Errorf("cut %v, skipped %d, %d turns", c.Cut, c.Skipped, len(c.Turns))
	}
	if last := c.Turns[len(c.Turns)-1].Text; !strings.HasPrefix(last, "5999 ") {
		t.Errorf("the last is %.20q", last)
	}
}

func TestWhatAgentsKeepNothingOf(t *testing.T) {
	for _, name := range []string{"command:sh", "script:/x.yaml", "claude", "opencode"} {
		c := ReadConversation(find(t, name), Output{Output: agent.Output{Log: "/no/such/folder/output.log", Transcript: "/dev/zero", Headless: true}}, "")
		if len(c.Turns) != 0 || c.Next != "" {
			t.Errorf("%s: %+v", name, c)
		}
	}
}

func TestHostileConversationsAreShownSafely(t *testing.T) {
	const evil = `\u001b]0;title\u0007\u001b[2Jred\u202e\u009b31m`
	o := leave(t, "claude", "transcript", `{"type":"assistant","message":{"content":[{"type":"text","text":"`+evil+`"},`+
		`{"type":"tool_use","name":"Ba\nsh`+evil+`","input":{"command":"rm\n`+evil+`"}}]}}`+"\n"+
		`{"type":"user","message":{"content":[{"type":"tool_result","content":[{"type":"text","text":"`+evil+`"}]}]}}`)
	got := textOf(ReadConversation(find(t, "claude"), o, "").Turns)
	if want := "agent\nred\n› Ba shred: rm red\n  red\n"; got != want {
		t.Errorf("got %q", got)
	}
}

func FuzzConverse(f *testing.F) {
	for _, name := range agent.HarnessNames() {
		for _, kind := range []string{"transcript", "stream"} {
			text, err := os.ReadFile("testdata/turns/" + name + "-" + kind + ".jsonl")
			if err != nil {
				f.Fatal(err)
			}
			f.Add(name, kind == "stream", text, "")
		}
	}
	f.Add("pi", true, []byte(`{"type":"message_end","message":{"role":"assistant","content":[[[1]]],"timestamp":-1e300}}`), "0:99999999")
	f.Fuzz(func(t *testing.T, name string, stream bool, text []byte, after string) {
		h, err := Find(name)
		if err != nil || strings.HasPrefix(name, agent.ScriptPrefix) {
			return
		}
		dir := t.TempDir()
		o := Output{Output: agent.Output{Log: filepath.Join(dir, "output.log"), Headless: stream}}
		o.Transcript = filepath.Join(dir, opencodeTranscript)
		path := o.Transcript
		if stream {
			path = o.Log
		}
		if err := os.WriteFile(path, text, 0o600); err != nil {
			t.Fatal(err)
		}
		c := ReadConversation(h, o, after)
		p := transcript.Printer{Now: time.Unix(0, 0).UTC()}
		for _, line := range p.FormatTurns(c.Turns) {
			if strings.Contains(line, "\n") || ansi.SafeText(line) != line || !utf8.ValidString(line) {
				t.Fatalf("unsafe line %q", line)
			}
		}
	})
}
