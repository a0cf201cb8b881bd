package scriptedmodel

import (
	"fmt"
	"sync"
	"testing"

	"github.com/google/go-cmp/cmp"
)

// eachDialect runs a test with an agent of every protocol.
func eachDialect(t *testing.T, scripts []Script, test func(t *testing.T, a *agent)) {
	for _, d := range dialects() {
		t.Run(d.name, func(t *testing.T) {
			test(t, &agent{dialect: d, model: newModel(t, scripts...)})
		})
	}
}

// deed returns an answer without its id.
func deed(m moment) string {
	if m.call != "" {
		return "$ " + m.shell
	}
	return m.text
}

func expect(t *testing.T, a *agent, want ...string) {
	t.Helper()
	for _, w := range want {
		if got := deed(a.step(t)); got != w {
			t.Fatalf("the answer is %q, not %q", got, w)
		}
	}
}

func TestAScriptIsPlayedTurnByTurn(t *testing.T) {
	eachDialect(t, workAndMore(), func(t *testing.T, a *agent) {
		a.say("begin [[script:work]]")
		expect(t, a, "$ echo one > one.txt && cat one.txt", "$ echo two", "The work is done.")
		a.say("go on")
		expect(t, a, "The script is over.")
		a.say("something else [[script:more]]")
		expect(t, a, "There is no more to do.")
	})
}

func TestAPromptWithoutAScriptContinues(t *testing.T) {
	nudged := Script{Name: "nudged", Turns: []Turn{{Text: "Half."}, {Shell: "true"}, {Text: "Whole."}}}
	eachDialect(t, []Script{nudged}, func(t *testing.T, a *agent) {
		a.say("begin [[script:nudged]]")
		expect(t, a, "Half.")
		a.say("you are not finished")
		expect(t, a, "$ true", "Whole.")
	})
}

func TestAScriptThatIsChosenAgainContinues(t *testing.T) {
	eachDialect(t, workAndMore(), func(t *testing.T, a *agent) {
		a.say("begin [[script:work]]")
		expect(t, a, "$ echo one > one.txt && cat one.txt")
		a.say("in between [[script:more]]")
		expect(t, a, "There is no more to do.")
		a.say("as I said [[script:work]]")
		expect(t, a, "$ echo two")
	})
}

func TestThePromptChoosesAScript(t *testing.T) {
	scripts := []Script{
		{Name: "reviewer", When: "You review", Turns: []Turn{{Text: "I review."}}},
		{Name: "worker", When: "You work", Turns: []Turn{{Text: "I work."}}},
	}
	eachDialect(t, scripts, func(t *testing.T, a *agent) {
		a.say("You work on a task.")
		expect(t, a, "I work.")
		b := &agent{dialect: a.dialect, model: a.model}
		b.say("You review what others did.")
		expect(t, b, "I review.")
		c := &agent{dialect: a.dialect, model: a.model}
		c.say("You review what others did. [[script:worker]]")
		expect(t, c, "I work.")
		d := &agent{dialect: a.dialect, model: a.model}
		d.say("Hello?")
		expect(t, d, "No script was chosen.")
	})
}

func TestARetryDoesNotMoveAScript(t *testing.T) {
	eachDialect(t, workAndMore(), func(t *testing.T, a *agent) {
		a.say("begin [[script:work]]")
		first := a.ask(t)
		if diff := cmp.Diff(deed(first), deed(a.ask(t))); diff != "" {
			t.Errorf("the retry was answered differently: %s", diff)
		}
		expect(t, a, deed(first), "$ echo two")
	})
}

func TestSessionsDoNotDisturbOneAnother(t *testing.T) {
	eachDialect(t, workAndMore(), func(t *testing.T, a *agent) {
		var sessions sync.WaitGroup
		for i := range 8 {
			sessions.Go(func() {
				own := &agent{dialect: a.dialect, model: a.model}
				own.say(fmt.Sprintf("session %d [[script:work]]", i))
				for _, want := range []string{"$ echo one > one.txt && cat one.txt", "$ echo two", "The work is done."} {
					if got := deed(own.step(t)); got != want {
						t.Errorf("session %d: the answer is %q, not %q", i, got, want)
					}
				}
			})
		}
		sessions.Wait()
		if n := len(a.model.Requests()); n != 24 {
			t.Errorf("%d requests are in the log, not 24", n)
		}
	})
}

func TestAnErrorIsGivenAsOftenAsItSays(t *testing.T) {
	busy := Script{Name: "busy", Turns: []Turn{{Shell: "true"}, {Status: 429, Times: 2}, {Text: "At last."}}}
	eachDialect(t, []Script{busy}, func(t *testing.T, a *agent) {
		a.say("begin [[script:busy]]")
		expect(t, a, "$ true")
		for range 2 {
			if got := deed(a.ask(t)); got != "429" {
				t.Fatalf("the answer is %q, not an error", got)
			}
		}
		expect(t, a, "At last.")
	})
}

func TestAnErrorWithoutANumberStays(t *testing.T) {
	broken := Script{Name: "broken", Turns: []Turn{{Status: 400}, {Text: "Never said."}}}
	eachDialect(t, []Script{broken}, func(t *testing.T, a *agent) {
		a.say("begin [[script:broken]]")
		for range 3 {
			if got := deed(a.ask(t)); got != "400" {
				t.Fatalf("the answer is %q, not an error", got)
			}
		}
	})
}

func TestANonceOfThePromptsIsRepeated(t *testing.T) {
	marked := Script{Name: "marked", Turns: []Turn{{Shell: "true"}, {Text: "passed nonce={nonce}"}, {Text: "again {nonce}"}}}
	eachDialect(t, []Script{marked}, func(t *testing.T, a *agent) {
		a.say("begin [[script:marked]] and end with failed nonce=0a or passed nonce=0a")
		expect(t, a, "$ true", "passed nonce=0a")
		a.say("now with nonce=1b")
		expect(t, a, "again 1b")
	})
}

func TestUsageIsAsTheScriptSays(t *testing.T) {
	costly := Usage{Input: 7, Output: 5, CacheRead: 3, CacheWrite: 2}
	script := Script{Name: "costly", Turns: []Turn{{Shell: "true", Usage: &costly}, {Text: "Done."}, {Status: 500}}}
	eachDialect(t, []Script{script}, func(t *testing.T, a *agent) {
		a.say("begin [[script:costly]]")
		expect(t, a, "$ true", "Done.")
		a.say("go on")
		a.ask(t)
		if diff := cmp.Diff(costly.Add(ordinaryUsage()), a.model.Usage("costly")); diff != "" {
			t.Errorf("the sum differs (-want +got):\n%s", diff)
		}
	})
}

func FuzzACommandArrivesAsItIs(f *testing.F) {
	f.Add("echo 'a' \"b\" <c> & $HOME `d` \\ é \n\t # 日本")
	f.Add("x")
	f.Fuzz(func(t *testing.T, command string) {
		if command == "" || !isPlain(command) {
			t.Skip("JSON has no such text")
		}
		eachDialect(t, []Script{{Name: "any", Turns: []Turn{{Shell: command}}}}, func(t *testing.T, a *agent) {
			a.say("begin [[script:any]]")
			expect(t, a, "$ "+command)
		})
	})
}
