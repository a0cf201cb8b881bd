package harness

import (
	"context"
	"io"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"orange/internal/core/agent"
	"orange/internal/core/task"
	"orange/internal/wait"
)

// TestScriptsSayAndSpend plays scripts and reads what they leave behind, without a
// terminal and with one.
func TestScriptsSayAndSpend(t *testing.T) {
	for _, c := range []struct {
		name, steps string
		want        agent.Notice
	}{
		{"the last message, no tool and no complaint", `[{say: first}, {run: "echo tool; echo bad >&2; exit 3"}, {say: "{role} of {task}/{attempt}: {nonce} in {state}"}, {run: "echo over"}]`,
			agent.Notice{Final: "worker of T1/7: n-1 in working"}},
		{"one message in steps", `[{say: before}, {print: x}, {say: "one\n\ttwo\e[2J"}, {say: three}]`, agent.Notice{Final: "one\n\ttwo\nthree"}},
		{"what is printed later is not said", `[{say: said}, {print: printed}]`, agent.Notice{Final: "said"}},
		{"nothing said: what was printed last", `[{print: a}, {print: b}, {run: "echo tool"}]`, agent.Notice{Final: "b"}},
		{"nothing said, nothing printed", `[{run: "echo tool"}]`, agent.Notice{}},
		{"what it has consumed so far", `[{usage: {input: 10, cost: 0.1}}, {usage: {input: 30, output: 7, cache: 2, cost: 0.12}}, {say: done}]`,
			agent.Notice{Final: "done", Usage: usage(30, 7, 2, 120000)}},
	} {
		t.Run(c.name, func(t *testing.T) {
			s := newEnv(t, "worker: "+c.steps+"\n")
			log := filepath.Join(s.dir, "output.log")
			transcript := filepath.Join(s.dir, scriptTranscript)
			env := map[string]string{transcriptVariable: transcript, "ORANGE_NONCE": "n-1", "ORANGE_STATE": "working"}
			if exit := s.play(t, t.Context(), nil, env); exit != 0 {
				t.Fatalf("exit %d: %s", exit, s.printed())
			}
			if err := os.WriteFile(log, []byte(s.printed()), 0o600); err != nil {
				t.Fatal(err)
			}
			if s.modelText[0].Transcript != transcript {
				t.Errorf("told transcript %q", s.modelText[0].Transcript)
			}
			for name, o := range map[string]agent.Output{
				"headless":                    {Log: log, Transcript: transcript, Headless: true},
				"at a terminal":               {Log: log, Transcript: transcript},
				"nobody heard where it is":    {Log: log, Headless: true},
				"at a terminal, nobody heard": {Log: log},
			} {
				if diff := cmp.Diff(c.want, script{}.ReadOutput(Output{Output: o, Now: noon})); diff != "" {
					t.Errorf("%s (-want +got):\n%s", name, diff)
				}
			}
		})
	}
}

// TestTextFromOthersIsNotTheAgentsOwn checks that the words of another are never a script's own.
func TestTextFromOthersIsNotTheAgentsOwn(t *testing.T) {
	s := newEnv(t, "worker: [{say: mine}, wait, idle]\n")
	transcript := filepath.Join(s.dir, scriptTranscript)
	in, out := io.Pipe()
	ctx, cancel := context.WithCancel(t.Context())
	done := make(chan int, 1)
	go func() { done <- s.play(t, ctx, in, map[string]string{transcriptVariable: transcript}) }()
	if _, err := out.Write([]byte("yours\r")); err != nil {
		t.Fatal(err)
	}
	wait.Until(t, "four conditions are reported", func() bool { return len(s.conditions()) == 4 }, func() any { return s.conditions() })
	cancel()
	<-done
	if err := out.Close(); err != nil {
		t.Error(err)
	}
	want := []string{task.Running, task.Idle + ", said mine", task.Running + " prompted", task.Idle + ", said mine"}
	if diff := cmp.Diff(want, s.conditions()); diff != "" {
		t.Errorf("(-want +got):\n%s", diff)
	}
	if n := (script{}).ReadOutput(Output{Output: agent.Output{Transcript: transcript}, Now: noon}); n.Final != "mine" || !strings.Contains(s.printed(), "yours\n") {
		t.Errorf("said %q, printed %q", n.Final, s.printed())
	}
}

func TestATranscriptThatCannotBeWrittenIsNoReasonToStop(t *testing.T) {
	s := newEnv(t, "worker: [{say: done}]\n")
	exit := s.play(t, t.Context(), nil, map[string]string{transcriptVariable: filepath.Join(s.dir, "no", "such", "folder")})
	if exit != 0 || !strings.Contains(s.printed(), "write the transcript: ") || !strings.HasSuffix(s.printed(), "\n") {
		t.Errorf("exit %d: %s", exit, s.printed())
	}
}
