package cli

import (
	"fmt"
	"io"
	"os"
	"path/filepath"
	"slices"
	"strconv"
	"strings"

	"github.com/spf13/cobra"

	"orange/internal/core/board"
	"orange/internal/core/engine"
	"orange/internal/core/journal"
	"orange/internal/core/task"
	"orange/internal/core/taskfile"
	"orange/internal/core/workflow"
)

// decideFlags are the flags of workflow decide.
type decideFlags struct {
	from, to, outcome, column, actor, file string
	exit                                   exitFlag
	tags, set, stale, without, dead        []string
	foreign                                []string
	code                                   int
	left                                   string
}

// exitFlag is the value of --exit[=ROLE]. Its type is bool, so that the help shows it as --exit[=ROLE].
type exitFlag struct {
	given bool
	role  string // "" for the role of the state
}

// anyRole is the value of --exit without a role.
const anyRole = "ROLE"

func (f *exitFlag) String() string { return f.role }
func (f *exitFlag) Type() string   { return "bool" }

func (f *exitFlag) Set(role string) error {
	f.given, f.role = true, role
	if role == anyRole {
		f.role = ""
	}
	return nil
}

func newWorkflowDecideCommand(deps Deps) *cobra.Command {
	var f decideFlags
	cmd := needsNoServer(&cobra.Command{
		Use: "decide NAME|FILE --from STATE (--to STATE | --exit[=ROLE] | --outcome CODE | --column COLUMN [--tag TAG]...)", Args: requireArguments(1, 1),
		Short: "Print what the engine would decide, without changing anything",
		Long: "Print what the engine would decide about an assumed task. The command changes nothing.\n\n" +
			"Sections of the task file count as fresh and as the agent's own, evidence as present and agents as\n" +
			"alive, unless a flag says otherwise. Without --actor the answer says whether anybody may take the edge,\n" +
			"and an outcome comes from the state's own agent. A step of a step workflow can be named by its number,\n" +
			"from 0.",
		Example: "  orange workflow decide orange --from planning --to working --task-file TASK.md\n" +
			"  orange workflow decide orange --from agent-review --exit --set crash_count=1 --json\n" +
			"  orange workflow decide orange --from agent-review --exit --code 1 --task-file TASK.md\n" +
			"  orange workflow decide cmat-feature --from implementer --outcome 'BLOCKED: no schema'\n" +
			"  orange workflow decide joan-board --from board --column Analyse --tag Ready --json",
		RunE: func(cmd *cobra.Command, args []string) error {
			answer, err := f.decideHypothetical(deps, args[0])
			if err != nil {
				return err
			}
			return showResult(cmd, answer, answer.printDecision)
		},
	})
	flags := cmd.Flags()
	flags.StringVar(&f.from, "from", "", "`STATE` the task is in, or the number of a step; new for none yet")
	flags.StringVar(&f.to, "to", "", "`STATE` that the actor asks for")
	flags.Var(&f.exit, "exit", "an agent ends: the state's own, or that of ROLE")
	flags.Lookup("exit").NoOptDefVal = anyRole
	flags.StringVar(&f.outcome, "outcome", "", "an agent reports `CODE`, in any case, or CODE: detail")
	flags.StringVar(&f.column, "column", "", "the task's card is in `COLUMN`")
	flags.StringArrayVar(&f.tags, "tag", nil, "and carries `TAG`")
	flags.StringVar(&f.actor, "actor", "", "`WHO` asks: human, engine, tracker or a role")
	flags.StringVar(&f.file, "task-file", "", "TASK.md to read from `FILE`, - for standard input")
	flags.StringArrayVar(&f.set, "set", nil, "`counter=N`, or return_to=STATE")
	flags.StringArrayVar(&f.stale, "stale", nil, "`section` that was used before")
	flags.StringArrayVar(&f.foreign, "foreign", nil, "`section` whose verdict another role may have written")
	flags.IntVar(&f.code, "code", 0, "with --exit: exit `CODE` of the agent")
	flags.StringVar(&f.left, "left", "", "with --exit: the agent's last message was a `question` or other words (question, words)")
	flags.StringArrayVar(&f.without, "without", nil, "`evidence` that is missing; output for the required output of a step, nonce for that of a report, told for an agent that is told of the move")
	flags.StringArrayVar(&f.dead, "dead", nil, "`role` of which no agent lives")
	return cmd
}

// decision is the output of workflow decide.
type decision struct {
	Decision string          `json:"decision"`
	From     string          `json:"from"`
	To       string          `json:"to"`             // "" if the task does not move
	Role     string          `json:"role,omitempty"` // the role that works in To
	Mode     string          `json:"mode,omitempty"`
	Reason   string          `json:"reason"`
	Reasons  []engine.Reason `json:"reasons"`
	Effects  []effectOfJSON  `json:"effects"`
	Counters map[string]int  `json:"counters"` // the counters after the decision
}

// effectOfJSON is one effect of a decision.
type effectOfJSON struct {
	Do        string `json:"do"`
	By        string `json:"by"`
	Role      string `json:"role,omitempty"`
	Start     bool   `json:"start,omitempty"`
	Window    string `json:"window,omitempty"`
	Prompt    string `json:"prompt,omitempty"`
	Workspace string `json:"workspace,omitempty"`
}

func (f *decideFlags) decideHypothetical(deps Deps, name string) (decision, error) {
	def, err := loadWorkflow(deps, name)
	if err != nil {
		return decision{}, err
	}
	s, err := f.newAssumptions(deps, def)
	if err != nil {
		return decision{}, err
	}
	s.From = stepState(def, s.From)
	t, sig, err := engine.Hypothetical(def, s)
	if err != nil {
		return decision{}, exitError{code: exitUsage, err: err}
	}
	d := engine.Decide(def, &t, sig)
	after, err := journal.Fold(t, d.Entries)
	if err != nil {
		return decision{}, fmt.Errorf("fold the decision: %w", err)
	}
	answer := answerOf(s.From, d, after)
	if to, ok := def.StateNamed(answer.To); ok && to.Kind == workflow.Agent {
		answer.Role, answer.Mode = to.Role, to.Mode
	}
	return answer, nil
}

func (f *decideFlags) newAssumptions(deps Deps, def *workflow.Definition) (engine.Assumptions, error) {
	s := engine.Assumptions{
		From: f.from, To: f.to, Exit: f.exit.given, ExitRole: f.exit.role, Outcome: f.outcome, Actor: task.Actor(f.actor),
		Stale: f.stale, Without: f.without, Dead: f.dead, Foreign: f.foreign, Code: f.code, Left: task.Left(f.left),
	}
	if s.From == "" {
		return s, usageError("--from is missing: name the state the task is in")
	}
	snapshot, err := f.assumedCard(def)
	if err != nil {
		return s, err
	}
	s.CardSnapshot = snapshot
	if err := f.requireOneEvent(); err != nil {
		return s, err
	}
	for _, set := range f.set {
		if err := applySet(&s, set); err != nil {
			return s, err
		}
	}
	sections, err := readSections(deps, f.file)
	s.Sections = sections
	return s, err
}

// requireOneEvent returns an error unless the flags give exactly one event.
func (f *decideFlags) requireOneEvent() error {
	happening := 0
	for _, yes := range []bool{f.to != "", f.exit.given, f.outcome != "", f.column != ""} {
		if yes {
			happening++
		}
	}
	switch happening {
	case 0:
		return usageError("give one of --to, --exit, --outcome and --column")
	case 1:
		return nil
	}
	return usageError("give only one of --to, --exit, --outcome and --column")
}

// assumedCard returns the card that the flags describe, with the names of the workflow's
// board; nil if they describe none.
func (f *decideFlags) assumedCard(def *workflow.Definition) (*board.Snapshot, error) {
	switch {
	case f.column == "" && len(f.tags) == 0:
		return nil, nil
	case def.Board == nil:
		return nil, usageError("workflow %s has no board: leave --column and --tag out", def.Name)
	case f.column == "":
		return nil, usageError("--tag says nothing without --column: name the column that the card is in")
	}
	known := def.Board.Vocabulary()
	column, ok := def.Board.ColumnNamed(f.column)
	if !ok {
		return nil, usageError("column %q is not known on the board of workflow %s: use %s", f.column, def.Name, strings.Join(known.Columns, ", "))
	}
	snapshot := &board.Snapshot{Column: column.Name}
	for _, name := range f.tags {
		tag, ok := def.Board.TagNamed(name)
		switch {
		case !ok && len(known.Tags) == 0:
			return nil, usageError("the board of workflow %s has no tags: leave --tag out", def.Name)
		case !ok:
			return nil, usageError("tag %q is not known on the board of workflow %s: use %s", name, def.Name, strings.Join(known.Tags, ", "))
		case !slices.Contains(snapshot.Tags, tag.Name):
			snapshot.Tags = append(snapshot.Tags, tag.Name)
		}
	}
	return snapshot, nil
}

func applySet(s *engine.Assumptions, set string) error {
	name, value, ok := strings.Cut(set, "=")
	if name == "return_to" {
		s.ReturnTo = value
		return nil
	}
	n, err := strconv.Atoi(value)
	if !ok || err != nil || n < 0 {
		return usageError("--set %s: give a counter and a number from 0, as in --set review_round=1", set)
	}
	s.Counters = append(s.Counters, task.Counter{Name: name, Value: n})
	return nil
}

// readSections reads the sections of a task file, of standard input for "-".
func readSections(deps Deps, file string) ([]taskfile.Section, error) {
	doc, err := readTaskFile(deps, file)
	if err != nil || file == "" {
		return nil, err
	}
	return doc.Sections(), nil
}

// readTaskFile reads a task file, standard input for "-". It returns an empty document for "".
func readTaskFile(deps Deps, file string) (taskfile.Document, error) {
	var text []byte
	var err error
	switch file {
	case "":
		return taskfile.Document{}, nil
	case "-":
		text, err = io.ReadAll(io.LimitReader(deps.Stdin, taskfile.MaxSize+1))
	default:
		if !filepath.IsAbs(file) {
			file = filepath.Join(deps.Cwd, file)
		}
		text, err = os.ReadFile(file)
	}
	if err != nil {
		return taskfile.Document{}, fmt.Errorf("read the task file: %w", err)
	}
	return taskfile.Parse(text)
}

func answerOf(from string, d engine.Decision, after task.Task) decision {
	out := decision{
		Decision: string(d.Verdict), From: from, Reason: d.Refused,
		Reasons: append([]engine.Reason{}, d.Reasons...), Effects: []effectOfJSON{}, Counters: map[string]int{},
	}
	if d.Verdict == engine.Record {
		out.Decision = string(engine.Stay)
	}
	for _, e := range d.Entries {
		if e.To != "" {
			out.To = e.To
		}
		if e.Reason != "" {
			out.Reason = e.Reason
		}
		for _, x := range e.Effects {
			out.Effects = append(out.Effects, effectOfJSON{
				Do: x.Do, By: x.By, Role: x.Role, Start: x.Start, Window: x.Window, Prompt: x.Prompt, Workspace: x.Workspace,
			})
		}
	}
	if out.Reason == "" {
		out.Reason = nearestReason(d.Reasons)
	}
	for _, c := range after.Counters {
		out.Counters[c.Name] = c.Value
	}
	return out
}

// nearestReason returns why the edge that came closest to opening stayed closed, or else the last reason.
func nearestReason(reasons []engine.Reason) string {
	order := []engine.Rule{engine.RuleEdge, engine.RuleActor, engine.RuleGuard, engine.RuleGate, engine.RuleWorkspace}
	best := -1
	for i, r := range reasons {
		if !r.OK && (best < 0 || slices.Index(order, r.Rule) > slices.Index(order, reasons[best].Rule)) {
			best = i
		}
	}
	switch {
	case best >= 0:
		return reasons[best].String()
	case len(reasons) > 0:
		return reasons[len(reasons)-1].String()
	}
	return ""
}

func (d decision) printDecision(w io.Writer) error {
	var b strings.Builder
	fmt.Fprintf(&b, "%s", d.Decision)
	if d.To != "" {
		fmt.Fprintf(&b, " %s -> %s", d.From, d.To)
	}
	listed := slices.ContainsFunc(d.Reasons, func(r engine.Reason) bool { return r.String() == d.Reason })
	if d.Reason != "" && (d.To == "" || !listed) { // the reasons below explain a move
		fmt.Fprintf(&b, ": %s", cleanLine(d.Reason))
	}
	b.WriteByte('\n')
	for _, r := range d.Reasons {
		fmt.Fprintf(&b, "  %s\n", cleanLine(r.String()))
	}
	for _, e := range d.Effects {
		fmt.Fprintf(&b, "  do %s (%s)\n", strings.TrimSpace(e.Do+" "+e.Role), e.By)
	}
	_, err := io.WriteString(w, b.String())
	return err
}
