package cli

import (
	"context"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"strconv"
	"strings"

	"github.com/spf13/cobra"

	"orange/internal/core/simulate"
	"orange/internal/core/workflow"
)

// maxRuns bounds a simulation: every run is kept until its end.
const maxRuns = 1_000_000

// simulateFlags is the command line of workflow simulate.
type simulateFlags struct {
	runs    int
	seed    uint64
	profile string
	learn   bool
	whatIf  []string
	plot    string
}

func newWorkflowSimulateCommand(deps Deps) *cobra.Command {
	var f simulateFlags
	cmd := pure(&cobra.Command{
		Use: "simulate NAME|FILE", Args: arguments(1, 1),
		Short: "Play many tasks through a workflow, at no cost, and say how they fare",
		Long: "Plays tasks from their creation to their end with the engine's own decisions and simulated agents and\n" +
			"people, and prints how long they take, what they cost and where they get stuck.\n" +
			"The same seed gives the same numbers.",
		Example: "  orange workflow simulate orange\n" +
			"  orange workflow simulate orange --what-if review_round=3 --plot rounds.svg\n" +
			"  orange workflow simulate mine.yaml --learn --profile mine.json --runs 100000 --json",
		RunE: func(cmd *cobra.Command, args []string) error { return f.run(cmd, deps, args[0]) },
	})
	flags := cmd.Flags()
	flags.IntVar(&f.runs, "runs", 10_000, "tasks to play, for each variant")
	flags.Uint64Var(&f.seed, "seed", 1, "where chance begins")
	flags.StringVar(&f.profile, "profile", "", "how agents and people behave: a JSON `FILE`")
	flags.BoolVar(&f.learn, "learn", false, "take what this installation's journals say about it")
	flags.StringArrayVar(&f.whatIf, "what-if", nil, "compare with another max: `counter=N`")
	flags.StringVar(&f.plot, "plot", "", "draw durations and costs into `FILE.svg`")
	return cmd
}

// simulation is what workflow simulate prints.
type simulation struct {
	Workflow string           `json:"workflow"`
	File     string           `json:"file"`
	Runs     int              `json:"runs"`
	Seed     uint64           `json:"seed"`
	Profile  simulate.Profile `json:"profile"`
	Learned  *learnedJSON     `json:"learned,omitempty"`
	Summary  simulate.Summary `json:"summary"`
	WhatIf   *variantJSON     `json:"what_if,omitempty"`
	Warnings []string         `json:"warnings"`

	result, other simulate.Result
}

type learnedJSON struct {
	Tasks int      `json:"tasks"`
	Notes []string `json:"notes"`
}

// variantJSON is the workflow with other counters.
type variantJSON struct {
	Changes []changeJSON     `json:"changes"`
	Summary simulate.Summary `json:"summary"`

	def *workflow.Definition
}

type changeJSON struct {
	Counter string `json:"counter"`
	From    int    `json:"from"`
	To      int    `json:"to"`
	Places  int    `json:"places"` // in the file that change
}

func (f *simulateFlags) run(cmd *cobra.Command, deps Deps, name string) error {
	if f.runs < 1 || f.runs > maxRuns {
		return usageError("--runs %d: give a number from 1 to %d", f.runs, maxRuns)
	}
	def, err := loadWorkflow(deps, name)
	if err != nil {
		return err
	}
	s := simulation{Workflow: def.Name, File: def.File, Runs: f.runs, Seed: f.seed, Warnings: []string{}}
	if s.WhatIf, err = variantOf(def, f.whatIf); err != nil {
		return err
	}
	if err := f.behaviour(cmd, deps, def, &s); err != nil {
		return err
	}
	s.warn(def)
	if err := f.play(cmd.Context(), deps, def, &s, !wantsJSON(cmd)); err != nil {
		return err
	}
	for _, w := range s.Warnings {
		fmt.Fprintln(deps.Stderr, "orange: warning: "+cleanLine(w))
	}
	if f.plot != "" {
		if err := writeGraph(deps, f.plot, plotSimulation(&s)); err != nil {
			return err
		}
	}
	return show(cmd, &s, func(w io.Writer) error { return printSimulation(w, &s) })
}

// behaviour finds the profile: what is supposed, changed by what was learned, changed
// by the file.
func (f *simulateFlags) behaviour(cmd *cobra.Command, deps Deps, def *workflow.Definition, s *simulation) error {
	s.Profile = simulate.DefaultProfile(def)
	if f.learn {
		l, err := learnHere(cmd, deps, def, s.Profile)
		if err != nil {
			return err
		}
		s.Profile, s.Learned = l.Profile, &learnedJSON{Tasks: l.Tasks, Notes: l.Notes}
	}
	if f.profile == "" {
		return nil
	}
	file := f.profile
	if !filepath.IsAbs(file) {
		file = filepath.Join(deps.Cwd, file)
	}
	text, err := os.ReadFile(file)
	if err != nil {
		return fail{code: exitUsage, err: fmt.Errorf("read the profile: %w", err)}
	}
	if s.Profile, err = s.Profile.With(def, text); err != nil {
		return usageError("profile %s: %w", f.profile, err)
	}
	return nil
}

// variantOf changes counters as --what-if says, nil if it says nothing.
func variantOf(def *workflow.Definition, wishes []string) (*variantJSON, error) {
	if len(wishes) == 0 {
		return nil, nil
	}
	v := &variantJSON{def: def}
	for _, wish := range wishes {
		name, value, ok := strings.Cut(wish, "=")
		n, err := strconv.Atoi(value)
		if !ok || err != nil || n < 1 || n > 1000 {
			return nil, usageError("--what-if %s: give a counter and a max from 1 to 1000, as in --what-if review_round=3", wish)
		}
		was, _ := v.def.Counter(name)
		next, places, err := simulate.WhatIf(v.def, name, n)
		if err != nil {
			return nil, usageError("--what-if %s: %w", wish, err)
		}
		v.def = next
		v.Changes = append(v.Changes, changeJSON{Counter: name, From: was.Max, To: n, Places: places})
	}
	return v, nil
}

// warn says that a simulated workflow is not one that tasks could be created with.
func (s *simulation) warn(def *workflow.Definition) {
	n := len(workflow.Errors(def.Check()))
	if n > 0 {
		s.Warnings = append(s.Warnings, fmt.Sprintf("the workflow has %d findings: see orange workflow check %s", n, def.File))
	}
	if s.WhatIf == nil {
		return
	}
	if found := workflow.Errors(s.WhatIf.def.Check()); len(found) > n {
		s.Warnings = append(s.Warnings, "with the changed counters the workflow has more findings, the first is "+found[0].String())
	}
}

// play runs both variants.
func (f *simulateFlags) play(ctx context.Context, deps Deps, def *workflow.Definition, s *simulation, text bool) error {
	bar := progressBar{}
	if deps.IsTerminal && text {
		bar = progressBar{w: deps.Stderr, all: f.runs}
		if s.WhatIf != nil {
			bar.all *= 2
		}
		defer bar.clear()
	}
	o := simulate.Options{Profile: s.Profile, Seed: f.seed}
	var err error
	if s.result, err = playRuns(ctx, def, o, f.runs, bar.add); err != nil {
		return err
	}
	s.Summary = s.result.Summary(def)
	if s.WhatIf == nil {
		return nil
	}
	if s.other, err = playRuns(ctx, s.WhatIf.def, o, f.runs, bar.add); err != nil {
		return err
	}
	s.WhatIf.Summary = s.other.Summary(s.WhatIf.def)
	return nil
}
