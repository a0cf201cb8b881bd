package cli

import (
	"context"
	"errors"
	"fmt"
	"io"
	"slices"
	"strconv"
	"strings"

	"github.com/spf13/cobra"

	"orange/internal/core/task"
	"orange/internal/wire"
)

func newTaskCost(deps Deps) *cobra.Command {
	var project string
	var everything bool
	cmd := &cobra.Command{
		Use: "cost [id]", Short: "Print the tokens and the cost of one task or of all tasks", Args: requireArguments(0, 1),
		Long: "Say what the agents of a task have consumed, by role: tokens and dollars, as far as they report it.",
		Example: "  orange task cost MFTsZyeO\n" +
			"  orange task cost --project shop --json",
	}
	cmd.Flags().StringVar(&project, "project", "", "of every task of this project")
	cmd.Flags().BoolVar(&everything, "all", false, "of every task of every project")
	cmd.PreRunE = func(_ *cobra.Command, args []string) error {
		if len(args) > 0 && (project != "" || everything) || project != "" && everything {
			return usageError("give one of a task, --project and --all")
		}
		return nil
	}
	cmd.RunE = withServer(deps, func(ctx context.Context, s session, args []string) error {
		if project != "" || everything {
			return s.costOfTasks(ctx, project)
		}
		id, at, err := s.taskOrProject(ctx, args)
		switch {
		case err != nil:
			return err
		case id == "":
			return s.costOfTasks(ctx, at)
		}
		return s.costOfTask(ctx, id)
	})
	return cmd
}

// taskOrProject returns the task that is named or whose workspace is the current folder, and
// the project of the folder.
func (s session) taskOrProject(ctx context.Context, args []string) (id, project string, err error) {
	if len(args) > 0 || s.Config.Task != "" {
		id, err = s.taskOf(ctx, args)
		return id, "", err
	}
	at, err := s.FindPlace(ctx, s.Cwd)
	if err == nil && at.Task == "" && at.Project == "" {
		err = errors.New("this folder is neither the workspace of a task nor a project: give the id of a task, --project or --all")
	}
	return string(at.Task), at.Project, err
}

// taskCost is what the attempts of a task have consumed. Total is what the record counts.
// Other is the part of Total that no known attempt accounts for.
type taskCost struct {
	Task     task.ID          `json:"task"`
	Attempts []attemptCost    `json:"attempts"`
	Other    *task.Usage      `json:"other,omitempty"`
	Total    task.Usage       `json:"total"`
	Today    *wire.DailySpend `json:"today,omitempty"` // the project's use today, if it has a daily budget
}

type attemptCost struct {
	Number  int        `json:"number"`
	Role    string     `json:"role"`
	State   string     `json:"state,omitempty"`
	Harness string     `json:"harness"`
	Model   string     `json:"model,omitempty"`
	Usage   task.Usage `json:"usage,omitzero"`
}

func (s session) costOfTask(ctx context.Context, id string) error {
	list, today, err := s.AttemptsToday(ctx, id)
	if err != nil {
		return err
	}
	v, err := s.ReadTask(ctx, id) // read after the attempts, so that its total is at least theirs
	if err != nil {
		return err
	}
	cost := taskCost{Task: v.Task.ID, Attempts: []attemptCost{}, Total: v.Task.Spent.Usage, Today: today}
	var sum task.Usage
	for i := range list {
		a := attemptCost{Number: list[i].Number, Role: list[i].Role, State: list[i].State, Harness: list[i].Harness, Model: list[i].Model}
		if u := list[i].Usage; u != nil {
			a.Usage = *u
		}
		sum = sum.Plus(a.Usage)
		cost.Attempts = append(cost.Attempts, a)
	}
	if other := cost.Total.Minus(sum); other != (task.Usage{}) {
		cost.Other = &other
	}
	return s.showResult(cost, func(w io.Writer) error { return printTaskCost(w, v.Task.Project, &cost) })
}

func printTaskCost(w io.Writer, project string, c *taskCost) error {
	if len(c.Attempts) == 0 && c.Other == nil {
		_, err := fmt.Fprintln(w, "No agent has worked on it yet.")
		return err
	}
	rows := [][]string{{"NUMBER", "ROLE", "STATE", "HARNESS", "MODEL", "INPUT", "OUTPUT", "CACHED", "COST"}}
	for i := range c.Attempts {
		a := &c.Attempts[i]
		rows = append(rows, append([]string{strconv.Itoa(a.Number), orDash(a.Role), orDash(a.State), orDash(a.Harness), orDash(a.Model)}, usageCells(a.Usage)...))
	}
	if c.Other != nil {
		rows = append(rows, append([]string{"other", "", "", "", ""}, usageCells(*c.Other)...))
	}
	rows = append(rows, append([]string{"total", "", "", "", ""}, usageCells(c.Total)...))
	if err := printTable(w, 0, rows); err != nil || c.Today == nil {
		return err
	}
	_, err := fmt.Fprintf(w, "\nToday in %s: %s\n", cleanLine(project), todayText(c.Today))
	return err
}

// todayText describes how much of a daily budget is used.
func todayText(d *wire.DailySpend) string {
	attempts, cost := fmt.Sprintf("%d attempts", d.Attempts), formatDollars(d.Micros)
	if d.Budget.DayAttempts > 0 {
		attempts += fmt.Sprintf(" of %d", d.Budget.DayAttempts)
	}
	if d.Budget.DayMicros > 0 {
		cost += " of " + formatDollars(d.Budget.DayMicros)
	}
	return attempts + ", " + cost
}

// usageCells formats figures exactly, so that they can be added up.
func usageCells(u task.Usage) []string {
	number := func(n int64) string {
		if n == 0 {
			return "-"
		}
		return strconv.FormatInt(n, 10)
	}
	cost := "-"
	if u.CostMicroUSD > 0 {
		cost = formatDollars(u.CostMicroUSD)
	}
	return []string{number(u.InputTokens), number(u.OutputTokens), number(u.CachedTokens), cost}
}

// sumCost is the cost of one task in a list of tasks.
type sumCost struct {
	Task     task.ID    `json:"task"`
	Project  string     `json:"project"`
	Branch   string     `json:"branch"`
	Status   string     `json:"status"`
	Attempts int        `json:"attempts"`
	Usage    task.Usage `json:"usage,omitzero"`
}

// costOfTasks prints the costs of the tasks of a project, or of all projects if project is
// "". It includes tasks that are over.
func (s session) costOfTasks(ctx context.Context, project string) error {
	tasks, err := s.TaskList(ctx, task.Filter{Project: project, All: true})
	if err == nil && len(tasks) == 0 {
		err = s.knowsProject(ctx, project)
	}
	if err != nil {
		return err
	}
	list, attempts, total := []sumCost{}, 0, task.Usage{}
	for i := range tasks {
		t := &tasks[i]
		if t.AttemptCount() == 0 && t.Spent.Usage == (task.Usage{}) {
			continue
		}
		list = append(list, sumCost{t.ID, t.Project, t.Branch, t.Status, t.AttemptCount(), t.Spent.Usage})
		attempts, total = attempts+t.AttemptCount(), total.Plus(t.Spent.Usage)
	}
	return s.showResult(map[string]any{"tasks": list, "attempts": attempts, "total": total}, func(w io.Writer) error {
		if len(list) == 0 {
			_, err := fmt.Fprintln(w, "No agent has worked on any task yet.")
			return err
		}
		rows := [][]string{{"ID", "STATUS", "TASK", "ATTEMPTS", "INPUT", "OUTPUT", "CACHED", "COST"}}
		for _, c := range list {
			rows = append(rows, append([]string{shortID(string(c.Task)), orDash(c.Status), cleanLine(c.Project + "/" + c.Branch), strconv.Itoa(c.Attempts)}, usageCells(c.Usage)...))
		}
		rows = append(rows, append([]string{"total", "", "", strconv.Itoa(attempts)}, usageCells(total)...))
		return printTable(w, 0, rows)
	})
}

// knowsProject returns an error if no project has this name. The name "" is always valid.
func (s session) knowsProject(ctx context.Context, name string) error {
	projects, err := s.ListProjects(ctx)
	if err != nil || name == "" || slices.ContainsFunc(projects, func(p task.Project) bool { return p.Name == name }) {
		return err
	}
	return fmt.Errorf("project %q is not known: see orange project list", cleanLine(name))
}

const (
	microsPerDollar = 1_000_000
	maxDollars      = 1_000_000_000
)

// money is the value of a flag in dollars, stored in millionths of a dollar.
type money int64

// String implements pflag.Value.
func (m *money) String() string {
	if *m == 0 {
		return "0"
	}
	return strings.TrimPrefix(formatDollars(int64(*m)), "$")
}

// Type implements pflag.Value.
func (m *money) Type() string { return "dollars" }

// Set implements pflag.Value. It parses decimal digits instead of a floating-point number, so
// that no amount is rounded.
func (m *money) Set(text string) error {
	whole, part, dotted := strings.Cut(strings.TrimPrefix(text, "$"), ".")
	if whole == "" && part == "" || dotted && part == "" || !isDigits(whole+part) {
		return fmt.Errorf("give dollars, such as 5 or 2.50")
	}
	if len(part) > 6 {
		return fmt.Errorf("give at most 6 decimals")
	}
	n, err := strconv.ParseInt("0"+whole, 10, 64)
	if err != nil || n > maxDollars {
		return fmt.Errorf("give at most %d dollars", maxDollars)
	}
	micros, err := strconv.ParseInt(part+strings.Repeat("0", 6-len(part)), 10, 64)
	if err != nil {
		return err
	}
	*m = money(n*microsPerDollar + micros)
	return nil
}

func isDigits(s string) bool {
	return !strings.ContainsFunc(s, func(r rune) bool { return r < '0' || r > '9' })
}

// formatDollars formats an amount exactly, with at least two decimals.
func formatDollars(micros int64) string {
	part := strings.TrimRight(fmt.Sprintf("%06d", micros%microsPerDollar), "0")
	for len(part) < 2 {
		part += "0"
	}
	return fmt.Sprintf("$%d.%s", micros/microsPerDollar, part)
}

// formatCents formats an amount to the cent.
func formatCents(micros int64) string {
	const cent = microsPerDollar / 100
	if micros > 0 && micros < cent/2 {
		return "<$0.01"
	}
	cents := (micros + cent/2) / cent
	return fmt.Sprintf("$%d.%02d", cents/100, cents%100)
}

// formatRoughly formats a large number in few characters.
func formatRoughly(n int64) string {
	switch {
	case n < 1000:
		return strconv.FormatInt(n, 10)
	case n < 10_000:
		return fmt.Sprintf("%d.%dk", n/1000, n%1000/100)
	case n < 1_000_000:
		return fmt.Sprintf("%dk", n/1000)
	}
	return fmt.Sprintf("%d.%dM", n/1_000_000, n%1_000_000/100_000)
}
