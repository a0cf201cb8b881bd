package cli_test

import (
	"bytes"
	"encoding/json"
	"encoding/xml"
	"errors"
	"io"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"orange/internal/core/task"
	"orange/internal/core/workflow/builtin"
)

// steady is a world without chance: every review fails, everything takes its time.
const steady = `{
	"roles": {
		"worker": {"crash": 0, "no_answer": 0, "question": 0, "give_up": 0, "exit": 0, "limit": 0, "duration": {"median": "10m", "p95": "10m"}, "tokens": {"median": 100000, "p95": 100000}},
		"reviewer": {"crash": 0, "no_answer": 0, "fail": 1, "exit": 0, "limit": 0, "duration": {"median": "5m", "p95": "5m"}, "tokens": {"median": 50000, "p95": 50000}},
		"fixer": {"tokens": {"median": 0, "p95": 0}}
	},
	"human": {"delay": {"median": "26h", "p95": "26h"}, "request_changes": 0, "cancel": 1},
	"effects": {"duration": "0s", "fail": 0}
}`

// profileIn writes a profile into a new folder.
func profileIn(t *testing.T, text string) string {
	t.Helper()
	dir := t.TempDir()
	if err := os.WriteFile(filepath.Join(dir, "p.json"), []byte(text), 0o600); err != nil {
		t.Fatal(err)
	}
	return dir
}

func TestSimulatePrintsATable(t *testing.T) {
	dir := profileIn(t, steady)
	want := `orange.yaml: 1,234 runs, seed 1
what if review_round is 3 instead of 2 (3 places of the file change)

PER TASK                    P50      P95     MEAN   IF P50   IF P95  IF MEAN   CHANGE
duration                 26h40m   26h40m   26h40m   26h55m   26h55m   26h55m  +15m00s
agents at work           40m00s   40m00s   40m00s   55m00s   55m00s   55m00s  +15m00s
waiting for people       26h00m   26h00m   26h00m   26h00m   26h00m   26h00m       0s
tokens                     400k     400k     400k     550k     550k     550k    +150k
cost                      $0.80    $0.80    $0.80    $1.10    $1.10    $1.10   +$0.30
human waits                   1        1     1.00        1        1     1.00     0.00
crashes                       0        0     0.00        0        0     0.00     0.00
attempts                      3        3     3.00        4        4     4.00    +1.00
attempts of worker            1        1     1.00        1        1     1.00     0.00
attempts of reviewer          2        2     2.00        3        3     3.00    +1.00
attempts of fixer             0        0     0.00        0        0     0.00     0.00
total of review_round         2        2     2.00        3        3     3.00    +1.00
total of crash_count          0        0     0.00        0        0     0.00     0.00
total of no_answer            0        0     0.00        0        0     0.00     0.00
total of landing_round        0        0     0.00        0        0     0.00     0.00

TASKS THAT                SHARE  IF SHARE   CHANGE
end in done                0.0%      0.0%     0.0%
end in cancelled         100.0%    100.0%     0.0%
do not end in time         0.0%      0.0%     0.0%
were ever stuck          100.0%    100.0%     0.0%

TIME IN STATE              MEAN    SHARE  IF MEAN  IF SHARE   CHANGE
pending                      0s     0.0%       0s      0.0%       0s
planning                 10m00s     0.6%   10m00s      0.6%       0s
clarification                0s     0.0%       0s      0.0%       0s
working                  20m00s     1.2%   30m00s      1.9%  +10m00s
agent-review             10m00s     0.6%   15m00s      0.9%   +5m00s
reviewing                    0s     0.0%       0s      0.0%       0s
stuck                    26h00m    97.5%   26h00m     96.6%       0s
`
	code, out, errs := orange(t, dir, "", "workflow", "simulate", "orange", "--runs", "1234", "--profile", "p.json", "--what-if", "review_round=3")
	if diff := cmp.Diff(want, out); code != 0 || errs != "" || diff != "" {
		t.Errorf("exit %d: %s\n%s", code, errs, diff)
	}
}

func TestSimulateGivesTheSameBytesAgain(t *testing.T) {
	args := []string{"workflow", "simulate", "orange-direct", "--runs", "900", "--seed", "5", "--what-if", "review_round=4", "--what-if", "crash_count=3", "--json", "--plot", "p.svg"}
	var first, firstPlot string
	for i := range 3 {
		dir := t.TempDir()
		code, out, errs := orange(t, dir, "", args...)
		plot, err := os.ReadFile(filepath.Join(dir, "p.svg"))
		if code != 0 || err != nil {
			t.Fatalf("exit %d: %s %v", code, errs, err)
		}
		if i == 0 {
			first, firstPlot = out, string(plot)
		}
		if out != first || string(plot) != firstPlot {
			t.Errorf("time %d differs: %s", i+1, cmp.Diff(first, out))
		}
	}
	var got struct {
		Workflow string
		Runs     int
		Profile  json.RawMessage
		Summary  struct{ Figures []struct{ Name string } }
		WhatIf   struct {
			Changes []struct {
				Counter          string
				From, To, Places int
			}
			Summary struct{ Runs int }
		} `json:"what_if"`
	}
	if err := json.Unmarshal([]byte(first), &got); err != nil {
		t.Fatal(err)
	}
	if got.Workflow != "orange-direct" || got.Runs != 900 || len(got.Summary.Figures) != 15 || len(got.WhatIf.Changes) != 2 || got.WhatIf.Changes[1].Places != 1 || got.WhatIf.Summary.Runs != 900 {
		t.Errorf("%s", first)
	}
	// What was used can be used again.
	dir := profileIn(t, string(got.Profile))
	_, out, errs := orange(t, dir, "", append(args, "--profile", "p.json")...)
	if out != first {
		t.Errorf("with its own profile: %s%s", errs, cmp.Diff(first, out))
	}
}

func TestSimulateRefusesWhatItCannotUnderstand(t *testing.T) {
	tests := []struct {
		name, profile string
		args          []string
		says          string
	}{
		{"an unknown workflow", "{}", []string{"nope"}, "workflow nope is not known"},
		{"no runs", "{}", []string{"orange", "--runs", "0"}, "give a number from 1 to 1000000"},
		{"too many runs", "{}", []string{"orange", "--runs", "1000001"}, "give a number from 1"},
		{"an unknown counter", "{}", []string{"orange", "--what-if", "rounds=3"}, `counter "rounds" is not declared: workflow orange has review_round, crash_count`},
		{"a counter without a number", "{}", []string{"orange", "--what-if", "review_round"}, "as in --what-if review_round=3"},
		{"a counter of nothing", "{}", []string{"orange", "--what-if", "review_round=0"}, "a max from 1 to 1000"},
		{"a profile that is not there", "{}", []string{"orange", "--profile", "q.json"}, "read the profile"},
		{"an unknown role", `{"roles": {"boss": {}}}`, []string{"orange", "--profile", "p.json"}, `profile p.json: role "boss" is not declared: workflow orange has worker, reviewer, fixer`},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			code, _, errs := orange(t, profileIn(t, tt.profile), "", append([]string{"workflow", "simulate"}, tt.args...)...)
			if code != 2 || !strings.Contains(errs, tt.says) || strings.Count(errs, "\n") != 1 {
				t.Errorf("exit %d, %q, want one line with %q", code, errs, tt.says)
			}
		})
	}
}

func TestSimulateWarnsOfFindings(t *testing.T) {
	text, _ := builtin.Text("orange")
	dir := t.TempDir()
	for name, text := range map[string]string{
		"unwise.yaml": strings.Replace(text, "when: review_round >= 2", "when: review_round >= 1", 1),
		"odd.yaml":    strings.Replace(text, "when: review_round >= 2", "when: review_round > 1", 1),
	} {
		if err := os.WriteFile(filepath.Join(dir, name), []byte(text), 0o600); err != nil {
			t.Fatal(err)
		}
	}
	code, _, errs := orange(t, dir, "", "workflow", "simulate", "unwise.yaml", "--runs", "10")
	if code != 0 || !strings.Contains(errs, "warning: the workflow has 1 findings: see orange workflow check") {
		t.Errorf("exit %d: %s", code, errs)
	}
	code, _, errs = orange(t, dir, "", "workflow", "simulate", "odd.yaml", "--runs", "10", "--what-if", "review_round=3")
	if code != 0 || !strings.Contains(errs, "with the changed counters the workflow has more findings, the first is") {
		t.Errorf("exit %d: %s", code, errs)
	}
}

func TestSimulateDraws(t *testing.T) {
	dir := profileIn(t, steady)
	if err := os.WriteFile(filepath.Join(dir, "free.json"), []byte(`{"roles": {"worker": {"cost_per_1k": 0}, "reviewer": {"cost_per_1k": 0}, "fixer": {"cost_per_1k": 0}}}`), 0o600); err != nil {
		t.Fatal(err)
	}
	tests := []struct {
		name string
		args []string
		says []string
		not  string
	}{
		{"one variant", nil, []string{"Simulation of workflow orange: 500 runs, seed 1", "P95", "share of runs", "cost in dollars", "prefers-color-scheme: dark"}, "what if"},
		{"two variants", []string{"--what-if", "review_round=3"}, []string{"as is", "what if review_round = 3", `class="curve v1"`}, ""},
		{"no chance", []string{"--profile", "p.json"}, []string{"P50 26h40m"}, "NaN"},
		{"no cost", []string{"--profile", "free.json"}, []string{"it is always nothing"}, "NaN"},
		{"one run", []string{"--runs", "1"}, []string{"1 runs"}, "NaN"},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			args := append([]string{"workflow", "simulate", "orange", "--runs", "500", "--plot", "o.svg"}, tt.args...)
			if code, _, errs := orange(t, dir, "", args...); code != 0 {
				t.Fatal(errs)
			}
			b, err := os.ReadFile(filepath.Join(dir, "o.svg"))
			if err != nil {
				t.Fatal(err)
			}
			wellFormed(t, b)
			for _, says := range tt.says {
				if !strings.Contains(string(b), says) {
					t.Errorf("the drawing has no %q", says)
				}
			}
			if tt.not != "" && strings.Contains(string(b), tt.not) {
				t.Errorf("the drawing has %q", tt.not)
			}
		})
	}
}

func wellFormed(t *testing.T, text []byte) {
	t.Helper()
	for dec := xml.NewDecoder(bytes.NewReader(text)); ; {
		if _, err := dec.Token(); errors.Is(err, io.EOF) {
			return
		} else if err != nil {
			t.Fatal(err)
		}
	}
}

func TestSimulateShowsAPersonHowFarItIs(t *testing.T) {
	w := newEnv(t)
	w.Workflows, w.IsTerminal = shelf{}, true
	if code := w.run(t, "workflow", "simulate", "orange", "--runs", "400"); code != 0 || !strings.Contains(w.err.String(), "] 100 %") || !strings.HasSuffix(w.err.String(), "\r") {
		t.Errorf("exit %d: %q", code, w.err.String())
	}
	if code := w.run(t, "workflow", "simulate", "orange", "--runs", "400", "--json"); code != 0 || w.err.Len() > 0 {
		t.Errorf("exit %d: %q", code, w.err.String())
	}
}

func TestSimulateLearns(t *testing.T) {
	w := newEnv(t)
	w.Workflows = shelf{}
	w.store.Tasks = append(w.store.Tasks, task.Task{ID: idTwo, Setup: task.Setup{Workflow: "other"}})
	if code := w.run(t, "workflow", "simulate", "orange", "--runs", "50", "--learn"); code != 1 || !strings.Contains(w.err.String(), "not found: /v1/tasks/") {
		t.Errorf("exit %d: %s", code, w.err.String())
	}
	w.answers["/v1/tasks/"+idOne+"/journal"] = `{"entries":[{"task":"` + idOne + `","seq":1,"at":"2026-03-04T10:00:00Z","type":"task.created","creation":{"new":{"project":"p","summary":"s"}},"move":{"from":"new","to":"reviewing"}},` +
		`{"task":"` + idOne + `","seq":2,"at":"2026-03-04T12:00:00Z","type":"status.changed","actor":"human","move":{"from":"reviewing","to":"done"}}]}`
	if code := w.run(t, "workflow", "simulate", "orange", "--runs", "50", "--learn"); code != 0 {
		t.Fatalf("exit %d: %s", code, w.err.String())
	}
	for _, says := range []string{"learned from 1 tasks:", "human: delay: 1 samples are too few, 5 are needed: median 1h0m0s stays", "not in the journals"} {
		if !strings.Contains(w.out.String(), says) {
			t.Errorf("it does not say %q:\n%s", says, w.out.String())
		}
	}
	w.ConfigErr = errors.New("config.json:1:1: x")
	if code := w.run(t, "workflow", "simulate", "orange", "--runs", "50", "--learn"); code != 1 || !strings.Contains(w.err.String(), "config.json") {
		t.Errorf("exit %d: %s", code, w.err.String())
	}
}
