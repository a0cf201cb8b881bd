package cli

import (
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"os"
	"runtime"
	"runtime/debug"
	"strconv"
	"strings"
	"sync"
	"time"

	"github.com/spf13/cobra"

	"orange/internal/core/verify"
	"orange/internal/core/workflow"
)

// verifyFlags are the flags of workflow verify.
type verifyFlags struct {
	dot     bool
	emit    string
	without []string
	max     int
	full    bool
	tasks   int // 0: one task on its own
	budget  []string
}

func newWorkflowVerifyCommand(deps Deps) *cobra.Command {
	var f verifyFlags
	cmd := needsNoServer(&cobra.Command{
		Use: "verify NAME|FILE", Short: "Prove that tasks of a workflow cannot stall, loop forever or act twice", Args: requireArguments(1, 2),
		Example: "  orange workflow verify orange\n" +
			"  orange workflow verify orange --tasks 3\n" +
			"  orange workflow verify mine.yaml --max-states 200000 --emit-test found.json",
		Long: "Searches every state that a task of the workflow can get into, whatever agents, people,\n" +
			"trackers and crashes do, by calling the engine's own decide function. Each violation comes\n" +
			"with a shortest way to get there. With --tasks it puts several tasks of the workflow together, which share\n" +
			"workspaces, serial groups, dependencies and a landing queue, and looks for tasks that wait for each other,\n" +
			"never get their turn or never land. docs/VERIFICATION.md says what is and is not proved.",
	})
	cmd.Flags().BoolVar(&f.dot, "dot", false, "print the workflow as a DOT graph with the first counterexample marked")
	cmd.Flags().StringVar(&f.emit, "emit-test", "", "write the first counterexample to this file, for orange workflow scenario")
	cmd.Flags().StringArrayVar(&f.without, "without", nil, "leave a protection out of the model: "+joinWords(verify.Protections())+"; with --tasks: "+joinWords(verify.TaskProtections()))
	cmd.Flags().IntVar(&f.tasks, "tasks", 0, fmt.Sprintf("prove it for so many tasks at the same time, at most %d", verify.MaxTasks))
	cmd.Flags().Lookup("tasks").NoOptDefVal = strconv.Itoa(verify.DefaultTasks)
	cmd.Flags().IntVar(&f.max, "max-states", verify.DefaultMaxStates, "give up beyond so many states")
	cmd.Flags().BoolVar(&f.full, "full", false, "distinguish states that can do the same: slower, with the same result")
	cmd.Flags().StringArrayVar(&f.budget, "budget", nil, "cost of one attempt, as role=2.50, to bound the cost between two moments a person acts")
	cmd.RunE = func(cmd *cobra.Command, args []string) error {
		args, err := f.readTasks(cmd, args)
		if err != nil {
			return err
		}
		def, err := loadWorkflow(deps, args[0])
		switch {
		case err != nil:
			return err
		case f.tasks > 0:
			return runVerifyTasks(cmd, deps, def, f)
		}
		return runVerify(cmd, deps, def, f)
	}
	return cmd
}

func joinWords[T ~string](list []T) string {
	out := make([]string, len(list))
	for i, w := range list {
		out[i] = string(w)
	}
	return strings.Join(out, ", ")
}

func runVerify(cmd *cobra.Command, deps Deps, def *workflow.Definition, f verifyFlags) error {
	o, err := f.searchOptions()
	if err != nil {
		return err
	}
	o.Stop = func() bool { return cmd.Context().Err() != nil }
	cost, err := readBudget(def, f.budget)
	if err != nil {
		return err
	}
	progress := newSearchProgress(deps.Stderr, deps.IsTerminal, time.Now)
	if !wantsJSON(cmd) {
		o.Progress = progress.showProgress
	}
	debug.SetGCPercent(verify.GCPercent)
	debug.SetMemoryLimit(verify.MemoryLimit)
	r := verify.Verify(def, o)
	progress.clearLine()
	if err := cmd.Context().Err(); err != nil {
		return fmt.Errorf("the search was broken off: %w", err)
	}
	if f.emit != "" {
		if err := emitScenario(deps.Stderr, f.emit, def, r, o.Without); err != nil {
			return err
		}
	}
	switch {
	case wantsJSON(cmd):
		err = printJSON(deps.Stdout, verified{Report: r, Cost: cost.worstCost(r.Bounds)})
	case f.dot:
		_, err = io.WriteString(deps.Stdout, verifyDot(def, r))
	default:
		printVerify(deps.Stdout, r, cost)
	}
	if err != nil || r.OK {
		return err
	}
	return exitError{code: exitFailed, shown: true, err: errors.New("the workflow is not proved")}
}

func (f verifyFlags) searchOptions() (verify.SearchOptions, error) {
	o := verify.SearchOptions{MaxStates: f.max, Full: f.full, Share: shareWork, Workers: runtime.GOMAXPROCS(0)}
	if f.max < 1 {
		return o, usageError("--max-states %d: give a positive number", f.max)
	}
	for _, name := range f.without {
		if err := f.knowProtection(name); err != nil {
			return o, err
		}
		o.Without = append(o.Without, verify.Protection(name))
	}
	return o, nil
}

// verified is the report with its worst-case cost.
type verified struct {
	verify.Report
	Cost *float64 `json:"cost,omitempty"`
}

// budget is the cost of an attempt, by role.
type budget map[string]float64

func readBudget(def *workflow.Definition, list []string) (budget, error) {
	out := budget{}
	for _, item := range list {
		role, text, _ := strings.Cut(item, "=")
		cost, err := strconv.ParseFloat(text, 64)
		if _, ok := def.RoleNamed(role); !ok || err != nil || cost < 0 {
			return nil, usageError("--budget %q: give a role of workflow %s and a cost, as worker=2.50", item, def.Name)
		}
		out[role] = cost
	}
	return out, nil
}

// worstCost returns the maximum cost of the attempts between two actions of a person. The bounds hold between two failed
// checks, of which there is a known number.
func (b budget) worstCost(bounds verify.Bounds) *float64 {
	if len(b) == 0 {
		return nil
	}
	total := 0.0
	for _, a := range bounds.Attempts {
		total += float64(a.Max) * b[a.Name]
	}
	total *= float64(1 + bounds.FailedChecks)
	return &total
}

func printVerify(w io.Writer, r verify.Report, cost budget) {
	fmt.Fprintf(w, "%s: %d states, %d transitions, %d decisions\n", r.Workflow, r.States, r.Transitions, r.Decisions)
	for _, p := range verify.Properties() {
		n := 0
		for _, v := range r.Violations {
			if v.Property == p {
				n++
			}
		}
		switch {
		case n > 0:
			fmt.Fprintf(w, "  %-13s VIOLATED, %d times\n", p, n)
		case r.Complete:
			fmt.Fprintf(w, "  %-13s holds\n", p)
		default:
			fmt.Fprintf(w, "  %-13s not proved\n", p)
		}
	}
	if r.Complete {
		fmt.Fprintf(w, "At worst, while nobody watches: %s\n", boundsText(r.Bounds, cost))
	} else {
		fmt.Fprintf(w, "Not proved: there are more than %d states. Raise --max-states, or lower the bounds of the counters.\n", r.States)
	}
	for i, v := range r.Violations {
		fmt.Fprintf(w, "\n%d. %s: %s\n", i+1, v.Property, cleanLine(v.Message))
		printTrace(w, v.Trace)
	}
}

func boundsText(b verify.Bounds, cost budget) string {
	if b.Unbounded {
		return "there is no bound, see terminates"
	}
	var parts []string
	for _, a := range b.Attempts {
		parts = append(parts, fmt.Sprintf("%d %s attempts", a.Max, a.Name))
	}
	parts = append(parts, fmt.Sprintf("%d crashes", b.Crashes), fmt.Sprintf("%d moves", b.Moves))
	for _, c := range b.Counters {
		parts = append(parts, fmt.Sprintf("%s up to %d", c.Name, c.Max))
	}
	if b.FailedChecks > 0 {
		parts[0] = fmt.Sprintf("checks that fail %d times, and between two of these failures %s", b.FailedChecks, parts[0])
	}
	if total := cost.worstCost(b); total != nil {
		parts = append(parts, fmt.Sprintf("a cost of %.2f", *total))
	}
	return strings.Join(parts, ", ")
}

func printTrace(w io.Writer, trace []verify.Step) {
	for i, st := range trace {
		move := st.To
		if st.From != st.To {
			move = st.From + " -> " + st.To
		}
		fmt.Fprintf(w, "   %2d  %-28s  %s\n", i+1, move, cleanLine(st.What))
		if st.Refused {
			fmt.Fprintf(w, "       %-28s  %s\n", "", cleanLine(st.Why))
		}
	}
}

// verifyDot draws the workflow as a graph in DOT, with the first counterexample in red.
func verifyDot(def *workflow.Definition, r verify.Report) string {
	marked := map[string]bool{}
	title := def.Name + ": every property holds"
	if len(r.Violations) > 0 {
		title = fmt.Sprintf("%s: %s: %s", def.Name, r.Violations[0].Property, r.Violations[0].Message)
		for _, st := range r.Violations[0].Trace {
			marked[st.From+">"+st.To] = true
		}
	}
	var b strings.Builder
	fmt.Fprintf(&b, "digraph %q {\n  label=%q; labelloc=t; node [shape=box, style=rounded];\n", def.Name, title)
	for _, e := range def.Edges {
		for _, from := range e.From {
			style := ""
			if marked[from+">"+e.To] {
				style = ", color=red, penwidth=2"
			}
			fmt.Fprintf(&b, "  %q -> %q [label=%q%s];\n", from, e.To, e.As, style)
		}
	}
	b.WriteString("}\n")
	return b.String()
}

func emitScenario(note io.Writer, path string, def *workflow.Definition, r verify.Report, without []verify.Protection) error {
	for _, v := range r.Violations {
		if len(v.Trace) == 0 {
			continue
		}
		text, err := json.MarshalIndent(verify.ScenarioOf(def, v, without), "", "  ")
		if err != nil {
			return err
		}
		return os.WriteFile(path, append(text, '\n'), 0o644)
	}
	fmt.Fprintf(note, "orange: %s is not written: there is no counterexample\n", path)
	return nil
}

func newWorkflowScenarioCommand(deps Deps) *cobra.Command {
	var against string
	cmd := needsNoServer(&cobra.Command{
		Use: "scenario FILE", Short: "Replay a counterexample that verify --emit-test wrote", Args: requireArguments(1, 1),
		Long: "Play the steps that led to a violation, and compare where they lead now. The exit code is 0 if every\n" +
			"step leads where it led, 1 if one does not, and 2 if the file cannot be read.",
		Example: "  orange workflow scenario found.json\n" +
			"  orange workflow scenario found.json --against mine.yaml",
	})
	cmd.Flags().StringVar(&against, "against", "", "play it on this workflow instead of the one it was found in")
	cmd.RunE = func(cmd *cobra.Command, args []string) error {
		var s verify.Scenario
		text, err := os.ReadFile(args[0])
		if err == nil {
			err = json.Unmarshal(text, &s)
		}
		if err != nil {
			return exitError{code: exitUsage, err: fmt.Errorf("read the scenario: %w", err)}
		}
		def, err := workflow.Parse(s.Workflow+".yaml", s.Text)
		if against != "" {
			def, err = loadWorkflow(deps, against)
		}
		if err != nil {
			return exitError{code: exitUsage, err: err}
		}
		states, differs := s.Play(def)
		fmt.Fprintf(deps.Stdout, "%s: %s\n", s.Property, cleanLine(s.Message))
		for i, st := range states {
			fmt.Fprintf(deps.Stdout, "   %2d  %-14s  %s\n", i+1, cleanLine(st), cleanLine(s.Steps[i].What))
		}
		if differs != nil {
			return fmt.Errorf("%w: the counterexample no longer holds", differs)
		}
		return nil
	}
	return cmd
}

// How long a search runs before it prints progress, and the interval between two updates,
// without and with a terminal.
const (
	progressAfter = 2 * time.Second
	progressEvery = 10 * time.Second
	progressDrawn = 100 * time.Millisecond // the interval on a terminal
)

// searchProgress shows the progress of a search. On a terminal it updates one line. Elsewhere
// it prints a line at intervals if the search takes long.
type searchProgress struct {
	w        io.Writer
	terminal bool
	now      func() time.Time
	began    time.Time
	next     time.Time
	drawn    bool
}

func newSearchProgress(w io.Writer, terminal bool, now func() time.Time) *searchProgress {
	p := &searchProgress{w: w, terminal: terminal, now: now, began: now()}
	if p.next = p.began; !terminal {
		p.next = p.began.Add(progressAfter)
	}
	return p
}

func (p *searchProgress) showProgress(at verify.Progress) {
	now := p.now()
	if now.Before(p.next) {
		return
	}
	rate := 0.0
	if took := now.Sub(p.began).Seconds(); took > 0 {
		rate = float64(at.States) / took
	}
	text := fmt.Sprintf("%d states, %d steps deep, %.0f states/s", at.States, at.Depth, rate)
	if p.terminal {
		fmt.Fprintf(p.w, "\r\033[K%s", text)
		p.next, p.drawn = now.Add(progressDrawn), true
		return
	}
	fmt.Fprintf(p.w, "orange: %s\n", text)
	p.next = now.Add(progressEvery)
}

// clearLine removes the progress line from the terminal.
func (p *searchProgress) clearLine() {
	if p.drawn {
		fmt.Fprint(p.w, "\r\033[K")
	}
}

// shareWork runs the parts of a search concurrently and waits for all of them.
func shareWork(parts int, work func(part int)) {
	var all sync.WaitGroup
	for part := range parts {
		all.Go(func() { work(part) })
	}
	all.Wait()
}
