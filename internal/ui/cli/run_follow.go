package cli

import (
	"context"
	"errors"
	"fmt"
	"strings"
	"time"

	"orange/internal/config"
	"orange/internal/core/agent"
	"orange/internal/core/engine"
	"orange/internal/core/explain"
	"orange/internal/core/journal"
	"orange/internal/core/task"
	"orange/internal/core/transcript"
	"orange/internal/core/workflow"
	"orange/internal/ui/client"
	"orange/internal/view/narrate"
	"orange/internal/view/overview"
	"orange/internal/wire"
)

// The values of --until that are not names of states.
const (
	runUntilReview  = "review"
	runUntilDone    = "done"
	runUntilStarted = "started"
)

// A runEvent is a line of orange run --json.
type runEvent struct {
	Event    string               `json:"event"` // created, state, output, waits or end
	At       time.Time            `json:"at,omitzero"`
	Task     *task.Task           `json:"task,omitempty"`
	ID       task.ID              `json:"id,omitempty"`
	State    string               `json:"state,omitempty"`
	Role     string               `json:"role,omitempty"` // output
	Line     string               `json:"line,omitempty"` // output
	Kind     explain.ItemKind     `json:"kind,omitempty"` // waits
	Text     string               `json:"text,omitempty"` // waits; end: why
	Do       string               `json:"do,omitempty"`   // waits: the command that helps
	Reasons  []explain.WaitReason `json:"reasons,omitempty"`
	Result   string               `json:"result,omitempty"` // end: reached, failed or needs-person
	Changes  *changedFiles        `json:"changes,omitempty"`
	Commands *runCommands         `json:"commands,omitempty"`
}

// A runner follows one task until it reaches what --until names.
type runner struct {
	session
	task        task.Task // as it was created
	id          string
	def         *workflow.Definition // nil if it cannot be read
	until       string
	attach      bool // open the agent's terminal when it starts
	interactive bool // a person is at the terminal

	row    overview.Row
	seq    int    // the last entry that was shown
	shown  string // the last notice about the agent's condition
	output runOutput

	dialog runDialog
}

// runOutput is what an agent printed last.
type runOutput struct {
	attempt int
	next    string // where to continue reading
	line    string // the last line
	shown   bool   // it is on the terminal, and the next line replaces it
}

// errRunOver ends a run that reached its state.
var errRunOver = errors.New("reached")

// followRun follows a task until it reaches the state of --until, cannot reach it, or needs a person who is not there.
func (s session) followRun(ctx context.Context, t task.Task, f *runFlags) error {
	r := &runner{session: s, task: t, id: string(t.ID), def: s.readDefinition(ctx, t.WorkflowHash), until: f.until, attach: f.attach, interactive: s.IsTerminal && !wantsJSON(s.cmd)}
	if err := r.announceTask(f.follow != ""); err != nil {
		return err
	}
	if err := s.requireUntil(r.def, f.until); err != nil {
		return err
	}
	err := r.followState(ctx)
	switch {
	case errors.Is(err, errRunOver):
		return nil
	case ctx.Err() != nil:
		r.clearLine()
		fmt.Fprintf(s.Stderr, "\norange: the task continues without this command: return with %s\n", commandsFor(&t).Follow)
		return interruptedRun()
	}
	return err
}

func (r *runner) announceTask(known bool) error {
	if wantsJSON(r.cmd) {
		return printJSON(r.Stdout, runEvent{Event: "created", Task: &r.task})
	}
	if known {
		_, err := fmt.Fprintln(r.Stdout, cleanLine(fmt.Sprintf("Task %s (%s/%s) is %s", r.id, r.task.Project, r.task.Branch, r.task.Status)))
		r.seq = r.task.Seq
		return err
	}
	return printCreated(r.Stdout, r.task, "workflow "+r.task.Workflow)
}

// followState handles changes of the task, what a person types, and what the agent prints, one at a time.
func (r *runner) followState(ctx context.Context) error {
	ctx, cancel := context.WithCancel(ctx)
	query := r.stateQuery()
	state, err := r.ReadState(ctx, query)
	if err != nil {
		cancel()
		return err
	}
	changes, ended := make(chan overview.Change), make(chan error, 1)
	server := r.newWatchClient()
	var lost inboxTail
	lost.session = r.session
	go func() {
		ended <- server.FollowState(ctx, client.FollowOptions{
			StateQuery: query, After: state.Row, Opened: lost.reportOpened, Lost: lost.reportLost,
			Change: func(c overview.Change) error {
				select {
				case changes <- c:
					return nil
				case <-ctx.Done():
					return ctx.Err()
				}
			},
		})
		close(ended)
	}()
	defer func() {
		cancel()
		for range ended { // wait for the end
		}
		server.Close()
	}()
	if err := r.handleState(ctx, state); err != nil {
		return err
	}
	tick := time.NewTicker(conversationPoll)
	defer tick.Stop()
	for {
		err := error(nil)
		select {
		case <-ctx.Done():
			return ctx.Err()
		case err := <-ended:
			return err
		case c := <-changes:
			err = r.handleChange(ctx, c)
		case line := <-r.dialog.typed:
			err = r.handleTyped(ctx, line)
		case <-tick.C:
			r.showOutput(ctx, server)
		}
		if err != nil {
			return err
		}
	}
}

// stateQuery selects the task that is followed.
func (r *runner) stateQuery() client.StateQuery {
	return client.StateQuery{Project: r.task.Project, Task: r.id, All: true}
}

func (r *runner) handleState(ctx context.Context, state overview.State) error {
	if len(state.Tasks) == 0 {
		return r.fail("it was deleted", "")
	}
	return r.handleRow(ctx, state.Tasks[0])
}

func (r *runner) handleChange(ctx context.Context, c overview.Change) error {
	for _, id := range c.Gone {
		if string(id) == r.id {
			return r.fail("it was deleted", "")
		}
	}
	for i := range c.Tasks {
		if err := r.handleRow(ctx, c.Tasks[i]); err != nil {
			return err
		}
	}
	return nil
}

// handleRow shows what is new about the task and decides whether to continue.
func (r *runner) handleRow(ctx context.Context, row overview.Row) error {
	if row.Seq < r.row.Seq { // it was sent before the state was read again
		return nil
	}
	entries, err := r.ReadJournal(ctx, r.id, r.seq)
	if err != nil {
		return err
	}
	r.row = row
	passed := row.Status == r.until
	for i := range entries {
		e := &entries[i]
		r.seq = e.Seq
		if e.Type == journal.TaskDeleted {
			return r.fail("it was deleted", "")
		}
		if e.To == "" {
			continue
		}
		passed = passed || e.To == r.until
		if err := r.showMove(e); err != nil {
			return err
		}
	}
	if passed {
		return r.finish(ctx)
	}
	if r.attach && row.HasStarted() {
		r.attach = false
		r.openTerminal(ctx, "")
	}
	r.reportLimit()
	return r.judgeRow(ctx)
}

// judgeRow decides whether the run is over, or asks the person.
func (r *runner) judgeRow(ctx context.Context) error {
	row := &r.row
	switch {
	case row.Kind == workflow.Terminal:
		r.closeDialog()
		if isDropped(r.def, row.Status) {
			return r.fail("it was cancelled", "orange task reopen "+shortID(r.id))
		}
		if r.until != runUntilDone && r.until != runUntilReview {
			return r.fail("it is over, and will not be "+r.until, "")
		}
		return r.finish(ctx)
	case r.until == runUntilStarted && row.Life == overview.Alive:
		return r.finish(ctx)
	case row.Wants == explain.ItemReview && r.until == runUntilReview && !r.interactive:
		return r.finish(ctx)
	case !row.Wants.WaitsForPerson():
		r.closeDialog()
		return nil
	case hasFailed(row):
		r.closeDialog()
		if err := r.showWants(); err != nil {
			return err
		}
		return r.fail(row.Text, row.Do)
	case !r.interactive:
		if err := r.showWants(); err != nil {
			return err
		}
		return r.needPerson()
	}
	return r.askPerson(ctx)
}

// hasFailed reports whether the task has stopped and an answer does not help: a person must investigate.
func hasFailed(row *overview.Row) bool {
	switch row.Wants {
	case explain.ItemStuck, explain.ItemFailed, explain.ItemCrashed, explain.ItemNoAnswer, explain.ItemAttention:
		return true
	case explain.ItemNotStarted:
		return row.AtTerminal() == ""
	}
	return false
}

// showMove prints a line for a state that the task entered.
func (r *runner) showMove(e *journal.Entry) error {
	if wantsJSON(r.cmd) {
		return printJSON(r.Stdout, runEvent{Event: "state", At: e.At, ID: r.task.ID, State: e.To})
	}
	if e.Check != nil {
		if err := r.printLine(e.Check.Describe()); err != nil {
			return err
		}
	}
	return r.printLine(e.To + r.describeState(e.To))
}

// describeState says who acts in a state, as text to append to its name.
func (r *runner) describeState(name string) string {
	if r.def == nil {
		return ""
	}
	switch st, _ := r.def.StateNamed(name); {
	case st == nil:
	case st.Kind == workflow.Agent:
		return ": the " + st.Role + " works"
	case st.Kind == workflow.Queued && r.row.Queued && r.row.Status == name:
		if after := narrate.DescribeAfter(r.row.After); after != "" {
			return ": it starts " + after
		}
		return ": it waits for a free workspace"
	case st.Kind == workflow.CheckDo:
		return ": Orange runs the checks"
	case st.Kind == workflow.HumanDo:
		return ": it is your turn"
	case st.Kind == workflow.Halt:
		return ": it needs help"
	}
	return ""
}

// reportLimit says once that an agent waits for its usage limit.
func (r *runner) reportLimit() {
	for i := range r.row.Attempts {
		a := &r.row.Attempts[i]
		if a.Condition != task.Limited {
			continue
		}
		text := "the " + a.Role + " is " + narrate.DescribeCondition(task.Condition{Name: a.Condition, Detail: a.Detail, Until: a.Until}, r.Now())
		if text != r.shown && !wantsJSON(r.cmd) {
			r.shown = text
			_ = r.printLine(text)
		}
	}
}

// showWants prints what the task needs a person for.
func (r *runner) showWants() error {
	row := &r.row
	if wantsJSON(r.cmd) {
		return printJSON(r.Stdout, runEvent{Event: "waits", At: row.Asked, ID: row.ID, State: row.Status, Kind: row.Wants, Text: row.Text, Do: row.Do, Reasons: row.Reasons})
	}
	line := string(row.Wants) + ": " + row.Text
	if err := r.printLine(line); err != nil {
		return err
	}
	printReasons(r.Stdout, row.Reasons, line, reasonLines)
	return nil
}

// fail ends the run: what was wanted cannot be reached.
func (r *runner) fail(why, do string) error {
	return r.stop("failed", exitFailed, why, do)
}

// needPerson ends the run: a person must act and there is no terminal to ask them.
func (r *runner) needPerson() error {
	return r.stop("needs-person", exitNeedsPerson, "it waits for a person: "+r.row.Text, r.row.Do)
}

func (r *runner) stop(result string, code int, why, do string) error {
	r.clearLine()
	if wantsJSON(r.cmd) {
		c := commandsFor(&r.task)
		if err := printJSON(r.Stdout, runEvent{Event: "end", ID: r.task.ID, State: r.row.Status, Result: result, Text: why, Do: do, Commands: &c}); err != nil {
			return err
		}
	}
	if do == "" {
		do = "orange task explain " + shortID(r.id)
	}
	err := fmt.Errorf("task %s (%s/%s): %s: %s", shortID(r.id), r.task.Project, r.task.Branch, why, do)
	return exitError{code: code, shown: wantsJSON(r.cmd), err: err}
}

// finish ends the run where --until wanted it: it prints what was changed and how to continue.
func (r *runner) finish(ctx context.Context) error {
	r.closeDialog()
	changes, commands := r.nextSteps(ctx)
	if wantsJSON(r.cmd) {
		if err := printJSON(r.Stdout, runEvent{Event: "end", ID: r.task.ID, State: r.row.Status, Result: "reached", Changes: changes, Commands: &commands}); err != nil {
			return err
		}
		return errRunOver
	}
	if err := r.printNextSteps(changes, commands); err != nil {
		return err
	}
	return errRunOver
}

// nextSteps returns what the task changed, nil if that cannot be read, and the commands with which a person continues.
func (r *runner) nextSteps(ctx context.Context) (*changedFiles, runCommands) {
	c := commandsFor(&r.task)
	if r.row.Wants == explain.ItemReview {
		id := shortID(r.id)
		c.Diff = "orange task diff " + id
		if r.row.May(engine.RequestChanges) {
			c.Changes = "orange task request-changes " + id + ` "..."`
		}
		if r.row.Do != "" {
			c.Merge = r.row.Do
		}
	}
	d, err := r.ReadDiff(ctx, r.id)
	if err != nil {
		return nil, c
	}
	out := summarizeDiff(d)
	return &out, c
}

func (r *runner) printNextSteps(changes *changedFiles, c runCommands) error {
	r.clearLine()
	if changes != nil && (r.row.Wants == explain.ItemReview || len(changes.Files) > 0) {
		fmt.Fprintln(r.Stdout)
		if err := printChanges(r.Stdout, *changes); err != nil {
			return err
		}
	}
	rows := [][]string{}
	for _, row := range [][]string{{"  review it:", c.Diff}, {"  send it back:", c.Changes}, {"  take it:", c.Merge}} {
		if row[1] != "" {
			rows = append(rows, []string{row[0], cleanLine(row[1])})
		}
	}
	if len(rows) == 0 && r.row.Kind != workflow.Terminal {
		rows = [][]string{{"  follow it:", c.Follow}, {"  its terminal:", c.Attach}}
	}
	if len(rows) == 0 {
		return nil
	}
	fmt.Fprintln(r.Stdout)
	return printTable(r.Stdout, 0, rows)
}

// showOutput shows the last line that the agent at work printed. It starts no server, because watching must not undo
// orange stop.
func (r *runner) showOutput(ctx context.Context, server *client.Client) {
	at := r.agentAtWork()
	if at == nil || r.dialog.open || !r.interactive && !wantsJSON(r.cmd) || config.Getenv("TERM") == "dumb" && r.interactive {
		return
	}
	if at.Number != r.output.attempt {
		r.output = runOutput{attempt: at.Number, shown: r.output.shown}
	}
	log, err := server.ReadLog(ctx, r.id, at.Number, r.output.next)
	if err != nil {
		return
	}
	r.output.next = log.Next
	line := lastOutputLine(log)
	if line == "" || line == r.output.line {
		return
	}
	r.output.line = line
	if wantsJSON(r.cmd) {
		_ = printJSON(r.Stdout, runEvent{Event: "output", ID: r.task.ID, Role: at.Role, Line: line})
		return
	}
	r.clearLine()
	fmt.Fprint(r.Stdout, cutToWidth("  "+at.Role+": "+line, terminalLine))
	r.output.shown = true
}

// terminalLine is how many columns of a terminal the last line of an agent takes at most.
const terminalLine = 79

// agentAtWork returns the agent that works now, nil if none does.
func (r *runner) agentAtWork() *overview.Attempt {
	for i := range r.row.Attempts {
		if a := &r.row.Attempts[i]; a.IsLive() && !a.Idle() && !a.Blocked() {
			return a
		}
	}
	return nil
}

// lastOutputLine returns the last line of a log: of what the agent said or which tool it called, or of what it printed.
// The last line in the terminal of an agent that records its conversation is the footer of its own screen, and is not
// returned.
func lastOutputLine(log wire.Log) string {
	for i := len(log.Turns) - 1; i >= 0; i-- {
		t := &log.Turns[i]
		switch {
		case t.Who != transcript.Agent:
		case t.Tool != "":
			return cleanLine(t.Tool + " " + t.Argument)
		case strings.TrimSpace(t.Text) != "":
			lines := strings.Split(strings.TrimSpace(t.Text), "\n")
			return cleanLine(lines[len(lines)-1])
		}
	}
	if _, records := agent.FindHarness(log.Harness); records && log.Form == wire.FormTerminal {
		return ""
	}
	for i := len(log.Lines) - 1; i >= 0; i-- {
		if line := cleanLine(log.Lines[i]); line != "" {
			return line
		}
	}
	return ""
}

// printLine prints a line in place of the agent's last one.
func (r *runner) printLine(text string) error {
	r.clearLine()
	_, err := fmt.Fprintln(r.Stdout, cleanLine(text))
	return err
}

// clearLine removes the agent's last line from the terminal, or ends the line of a prompt.
func (r *runner) clearLine() {
	if r.output.shown {
		fmt.Fprint(r.Stdout, "\r\x1b[K")
		r.output.shown = false
	}
	if r.dialog.open {
		fmt.Fprintln(r.Stdout)
		r.dialog.open = false
	}
}
