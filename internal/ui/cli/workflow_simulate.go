package cli

import (
	"context"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"runtime"
	"strconv"
	"strings"
	"sync"
	"sync/atomic"
	"unicode/utf8"

	"github.com/spf13/cobra"

	"orange/internal/core/journal"
	"orange/internal/core/simulate"
	"orange/internal/core/task"
	"orange/internal/core/workflow"
	"orange/internal/view/chart"
)

// maxRuns is the maximum number of runs. A simulation keeps every run in memory until its end.
const maxRuns = 1_000_000

// simulateFlags are the flags of workflow simulate.
type simulateFlags struct {
	runs    int
	seed    uint64
	profile string
	learn   bool
	checks  bool
	whatIf  []string
	plot    string
}

func newWorkflowSimulateCommand(deps Deps) *cobra.Command {
	var f simulateFlags
	cmd := needsNoServer(&cobra.Command{
		Use: "simulate NAME|FILE", Args: requireArguments(1, 1),
		Short: "Simulate many tasks in a workflow and report the results",
		Long: "Run tasks from their creation to their end with the engine's own decisions and simulated agents and\n" +
			"people, and prints how long they take, what they cost and where they get stuck.\n" +
			"The same seed gives the same numbers.",
		Example: "  orange workflow simulate orange\n" +
			"  orange workflow simulate orange --what-if review_round=3 --plot rounds.svg\n" +
			"  orange workflow simulate mine.yaml --learn --profile mine.json --runs 100000 --json",
		RunE: func(cmd *cobra.Command, args []string) error { return f.runSimulation(cmd, deps, args[0]) },
	})
	flags := cmd.Flags()
	flags.IntVar(&f.runs, "runs", 10_000, "tasks to play, for each variant")
	flags.Uint64Var(&f.seed, "seed", 1, "seed of the random numbers")
	flags.StringVar(&f.profile, "profile", "", "how agents and people behave: a JSON `FILE`")
	flags.BoolVar(&f.learn, "learn", false, "take durations and probabilities from the journals of this installation")
	flags.BoolVar(&f.checks, "checks", false, "tasks have checks, with typical results")
	flags.StringArrayVar(&f.whatIf, "what-if", nil, "compare with another max: `counter=N`")
	flags.StringVar(&f.plot, "plot", "", "draw durations and costs into `FILE.svg`")
	return cmd
}

// simulation is the output of workflow simulate.
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

// variantJSON is the workflow with changed counters.
type variantJSON struct {
	Changes []changeJSON     `json:"changes"`
	Summary simulate.Summary `json:"summary"`

	def *workflow.Definition
}

type changeJSON struct {
	Counter string `json:"counter"`
	From    int    `json:"from"`
	To      int    `json:"to"`
	Places  int    `json:"places"` // how many places in the file change
}

func (f *simulateFlags) runSimulation(cmd *cobra.Command, deps Deps, name string) error {
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
	if err := f.loadProfile(cmd, deps, def, &s); err != nil {
		return err
	}
	s.addWarnings(def)
	if err := f.playVariants(cmd.Context(), deps, def, &s, !wantsJSON(cmd)); err != nil {
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
	return showResult(cmd, &s, func(w io.Writer) error { return printSimulation(w, &s) })
}

// loadProfile sets the profile: the defaults, overridden by what was learned, overridden by the file.
func (f *simulateFlags) loadProfile(cmd *cobra.Command, deps Deps, def *workflow.Definition, s *simulation) error {
	s.Profile = simulate.DefaultProfile(def)
	if f.checks {
		checks := simulate.DefaultChecks()
		s.Profile.Checks = &checks
	}
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
		return exitError{code: exitUsage, err: fmt.Errorf("read the profile: %w", err)}
	}
	if s.Profile, err = s.Profile.WithFile(def, text); err != nil {
		return usageError("profile %s: %w", f.profile, err)
	}
	return nil
}

// variantOf returns the workflow with the counters changed as --what-if says, nil without --what-if.
func variantOf(def *workflow.Definition, changes []string) (*variantJSON, error) {
	if len(changes) == 0 {
		return nil, nil
	}
	v := &variantJSON{def: def}
	for _, change := range changes {
		name, value, ok := strings.Cut(change, "=")
		n, err := strconv.Atoi(value)
		if !ok || err != nil || n < 1 || n > 1000 {
			return nil, usageError("--what-if %s: give a counter and a max from 1 to 1000, as in --what-if review_round=3", change)
		}
		was, _ := v.def.CounterNamed(name)
		next, places, err := simulate.WhatIf(v.def, name, n)
		if err != nil {
			return nil, usageError("--what-if %s: %w", change, err)
		}
		v.def = next
		v.Changes = append(v.Changes, changeJSON{Counter: name, From: was.Max, To: n, Places: places})
	}
	return v, nil
}

// addWarnings warns that the workflow has errors, so that no task could be created with it, or
// that the changed counters add errors.
func (s *simulation) addWarnings(def *workflow.Definition) {
	n := len(workflow.ErrorFindings(def.Check()))
	if n > 0 {
		s.Warnings = append(s.Warnings, fmt.Sprintf("the workflow has %d findings: see orange workflow check %s", n, def.File))
	}
	if s.WhatIf == nil {
		return
	}
	if found := workflow.ErrorFindings(s.WhatIf.def.Check()); len(found) > n {
		s.Warnings = append(s.Warnings, "with the changed counters the workflow has more findings, the first is "+found[0].String())
	}
}

// playVariants simulates the workflow and, with --what-if, its variant.
func (f *simulateFlags) playVariants(ctx context.Context, deps Deps, def *workflow.Definition, s *simulation, text bool) error {
	bar := progressBar{}
	if deps.IsTerminal && text {
		bar = progressBar{w: deps.Stderr, all: f.runs}
		if s.WhatIf != nil {
			bar.all *= 2
		}
		defer bar.clear()
	}
	o := simulate.RunOptions{Profile: s.Profile, Seed: f.seed}
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

// batch is how many runs a worker plays before it reports progress and checks for cancellation.
const batch = 200

// playRuns distributes the runs over all cores. The result does not depend on the number of cores.
func playRuns(ctx context.Context, def *workflow.Definition, o simulate.RunOptions, runs int, played func(int)) (simulate.Result, error) {
	batches := (runs + batch - 1) / batch
	results, errs := make([]simulate.Result, batches), make([]error, batches)
	done := make(chan int, batches)
	var next atomic.Int64
	var workers sync.WaitGroup
	for range min(runtime.GOMAXPROCS(0), batches) {
		workers.Go(func() {
			for ctx.Err() == nil {
				i := int(next.Add(1)) - 1
				if i >= batches {
					return
				}
				n := min(batch, runs-i*batch)
				results[i], errs[i] = simulate.Run(def, o, i*batch, n)
				done <- n
			}
		})
	}
	go func() {
		workers.Wait()
		close(done)
	}()
	for n := range done {
		played(n)
	}
	if err := ctx.Err(); err != nil {
		return simulate.Result{}, err
	}
	var all simulate.Result
	for i := range results {
		if errs[i] != nil {
			return simulate.Result{}, errs[i]
		}
		all.Merge(results[i])
	}
	return all, nil
}

// A progressBar shows progress on a terminal. The zero value shows nothing.
type progressBar struct {
	w         io.Writer
	all, done int
	shown     int // percent
}

const barWidth = 40

func (b *progressBar) add(n int) {
	if b.w == nil {
		return
	}
	b.done += n
	percent := 100 * b.done / b.all
	if percent == b.shown {
		return
	}
	b.shown = percent
	full := barWidth * b.done / b.all
	fmt.Fprintf(b.w, "\r[%s%s] %3d %%", strings.Repeat("=", full), strings.Repeat(" ", barWidth-full), percent)
}

func (b *progressBar) clear() {
	if b.w != nil {
		fmt.Fprintf(b.w, "\r%s\r", strings.Repeat(" ", barWidth+8))
	}
}

// learnHere learns a profile of the workflow from the journals of this installation.
func learnHere(cmd *cobra.Command, deps Deps, def *workflow.Definition, base simulate.Profile) (simulate.Learned, error) {
	if deps.ConfigErr != nil {
		return simulate.Learned{}, deps.ConfigErr
	}
	var out simulate.Learned
	err := withServer(deps, func(ctx context.Context, s session, _ []string) error {
		tasks, err := s.TaskList(ctx, task.Filter{All: true})
		if err != nil {
			return err
		}
		var journals [][]journal.Entry
		for i := range tasks {
			if tasks[i].Workflow != def.Name {
				continue
			}
			entries, err := s.ReadJournal(ctx, string(tasks[i].ID), 0)
			if err != nil {
				return err
			}
			journals = append(journals, entries)
		}
		out = simulate.LearnProfile(def, base, journals)
		return nil
	})(cmd, nil)
	return out, err
}

// plotSimulation draws the distributions of durations and costs.
func plotSimulation(s *simulation) string {
	c := chart.Simulation{Workflow: s.Workflow, Runs: s.Runs, Seed: s.Seed, Variants: []chart.Variant{{Result: s.result, Summary: s.Summary}}}
	if s.WhatIf != nil {
		var words []string
		for _, x := range s.WhatIf.Changes {
			words = append(words, fmt.Sprintf("%s = %d", x.Counter, x.To))
		}
		c.Variants = append(c.Variants, chart.Variant{Changes: strings.Join(words, ", "), Result: s.other, Summary: s.WhatIf.Summary})
	}
	return c.SVG()
}

// printSimulation prints a simulation for people.
func printSimulation(w io.Writer, s *simulation) error {
	var b strings.Builder
	fmt.Fprintf(&b, "%s: %s runs, seed %d\n", cleanLine(s.File), chart.FormatGrouped(s.Runs), s.Seed)
	if s.Learned != nil {
		fmt.Fprintf(&b, "learned from %d tasks:\n", s.Learned.Tasks)
		for _, n := range s.Learned.Notes {
			fmt.Fprintf(&b, "  %s\n", cleanLine(n))
		}
	}
	if s.WhatIf != nil {
		for _, c := range s.WhatIf.Changes {
			fmt.Fprintf(&b, "what if %s is %d instead of %d (%d places of the file change)\n", cleanLine(c.Counter), c.To, c.From, c.Places)
		}
	}
	for _, rows := range [][][]string{s.figureRows(), s.endRows(), s.stateRows()} {
		b.WriteString("\n" + numberTable(rows))
	}
	_, err := io.WriteString(w, b.String())
	return err
}

// shownSummaries returns the summaries to show side by side.
func (s *simulation) shownSummaries() []simulate.Summary {
	if s.WhatIf == nil {
		return []simulate.Summary{s.Summary}
	}
	return []simulate.Summary{s.Summary, s.WhatIf.Summary}
}

func (s *simulation) figureRows() [][]string {
	head := []string{"PER TASK"}
	for i := range s.shownSummaries() {
		head = append(head, columnHead("P50", i), columnHead("P95", i), columnHead("MEAN", i))
	}
	if s.WhatIf != nil {
		head = append(head, "CHANGE")
	}
	rows := [][]string{head}
	for i, f := range s.Summary.Figures {
		row := []string{cleanLine(f.Name)}
		for _, v := range s.shownSummaries() {
			x := v.Figures[i]
			row = append(row, chart.FormatQuantity(x.P50, f.Unit, false), chart.FormatQuantity(x.P95, f.Unit, false), chart.FormatQuantity(x.Mean, f.Unit, true))
		}
		if s.WhatIf != nil {
			row = append(row, chart.FormatSigned(s.WhatIf.Summary.Figures[i].Mean-f.Mean, func(d float64) string { return chart.FormatQuantity(d, f.Unit, true) }))
		}
		rows = append(rows, row)
	}
	return rows
}

// columnHead returns the heading of a column, which marks the columns of the second variant.
func columnHead(column string, variant int) string {
	if variant == 1 {
		return "IF " + column
	}
	return column
}

func (s *simulation) endRows() [][]string {
	rows := [][]string{s.shareHead("TASKS THAT", "SHARE")}
	for i, e := range s.Summary.Ends {
		rows = append(rows, s.shareRow("end in "+cleanLine(e.State), func(v *simulate.Summary) float64 { return v.Ends[i].Share }))
	}
	return append(rows,
		s.shareRow("do not end in time", func(v *simulate.Summary) float64 { return v.Unfinished }),
		s.shareRow("were ever stuck", func(v *simulate.Summary) float64 { return v.Stuck }))
}

func (s *simulation) shareHead(first, column string) []string {
	row := []string{first}
	for i := range s.shownSummaries() {
		row = append(row, columnHead(column, i))
	}
	if s.WhatIf != nil {
		row = append(row, "CHANGE")
	}
	return row
}

func (s *simulation) shareRow(name string, of func(*simulate.Summary) float64) []string {
	row := []string{name}
	for _, v := range s.shownSummaries() {
		row = append(row, chart.FormatPercent(of(&v)))
	}
	if s.WhatIf != nil {
		row = append(row, chart.FormatSigned(of(&s.WhatIf.Summary)-of(&s.Summary), chart.FormatPercent))
	}
	return row
}

func (s *simulation) stateRows() [][]string {
	head := []string{"TIME IN STATE"}
	for i := range s.shownSummaries() {
		head = append(head, columnHead("MEAN", i), columnHead("SHARE", i))
	}
	if s.WhatIf != nil {
		head = append(head, "CHANGE")
	}
	rows := [][]string{head}
	for i, st := range s.Summary.States {
		row := []string{cleanLine(st.State)}
		for _, v := range s.shownSummaries() {
			row = append(row, chart.FormatDuration(v.States[i].Mean), chart.FormatPercent(v.States[i].Share))
		}
		if s.WhatIf != nil {
			row = append(row, chart.FormatSigned(s.WhatIf.Summary.States[i].Mean-st.Mean, chart.FormatDuration))
		}
		rows = append(rows, row)
	}
	return rows
}

// numberTable aligns the first column to the left and the numbers to the right.
func numberTable(rows [][]string) string {
	var wide []int
	for _, row := range rows {
		for i, cell := range row {
			if i == len(wide) {
				wide = append(wide, 0)
			}
			wide[i] = max(wide[i], utf8.RuneCountInString(cell))
		}
	}
	wide[0] = max(wide[0], 22) // so that the columns of all tables line up
	var b strings.Builder
	for _, row := range rows {
		for i, cell := range row {
			pad := strings.Repeat(" ", wide[i]-utf8.RuneCountInString(cell))
			if i == 0 {
				b.WriteString(cell + pad)
				continue
			}
			b.WriteString("  " + strings.Repeat(" ", max(0, 7-wide[i])) + pad + cell)
		}
		b.WriteByte('\n')
	}
	return b.String()
}
