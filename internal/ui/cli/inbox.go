package cli

import (
	"bytes"
	"context"
	"fmt"
	"io"
	"iter"
	"slices"
	"strings"
	"time"

	"github.com/spf13/cobra"

	"orange/internal/core/explain"
	"orange/internal/core/task"
	"orange/internal/ui/client"
	"orange/internal/view/narrate"
	"orange/internal/view/overview"
)

// inboxFlags choose which items to show, and how.
type inboxFlags struct {
	project, group string
	kinds          []string
	follow, bell   bool
}

func newInboxCommand(deps Deps) *cobra.Command {
	var f inboxFlags
	cmd := &cobra.Command{
		Use: "inbox", Short: "List what waits for you, with the command that resolves it", Args: requireArguments(0, 0),
		Long: "List what waits for a person: what frees other tasks first, then what has waited longest. Each has\n" +
			"why it waits and the command that helps below it. Tasks that were created and not started are the\n" +
			"backlog: they wait for nobody, are counted separately and come last. With --follow, each new item is\n" +
			"printed as it comes, until Ctrl-C.",
		Example: "  orange inbox\n  orange inbox --kind stuck,question\n  orange inbox --kind start\n  orange inbox --group kind\n  orange inbox --follow --bell",
	}
	cmd.Flags().StringVar(&f.project, "project", "", "only what concerns this project")
	cmd.Flags().StringSliceVar(&f.kinds, "kind", nil, "only items of these kinds, with commas between them: "+strings.Join(asStrings(explain.ItemKinds()), ", "))
	cmd.Flags().StringVar(&f.group, "group", "", "kind: put items of one kind together")
	cmd.Flags().BoolVarP(&f.follow, "follow", "f", false, "print a line for each new item, until Ctrl-C")
	cmd.Flags().BoolVar(&f.bell, "bell", false, "with --follow: ring the terminal when one comes")
	_ = cmd.RegisterFlagCompletionFunc("project", completeProjects(deps))
	cmd.PreRunE = func(*cobra.Command, []string) error { return f.checkFlags() }
	cmd.RunE = withServer(deps, func(ctx context.Context, s session, _ []string) error {
		if f.follow {
			return s.followInbox(ctx, f)
		}
		items, err := s.ListInbox(ctx, f.project)
		if err != nil {
			return err
		}
		items = f.chooseItems(items)
		if f.group != "" {
			items = explain.GroupInbox(items)
		}
		waiting, backlog := explain.CountInbox(items)
		all := struct {
			Items   []explain.Item `json:"items"`
			Total   int            `json:"total,omitempty"`
			Backlog int            `json:"backlog,omitempty"`
		}{items, waiting, backlog}
		return s.showResult(all, func(w io.Writer) error { return printInbox(w, s.Deps, items, &f) })
	})
	return cmd
}

func (f *inboxFlags) checkFlags() error {
	for _, kind := range f.kinds {
		if !slices.Contains(explain.ItemKinds(), explain.ItemKind(kind)) {
			return usageError("kind %q is not known: use %s", cleanLine(kind), strings.Join(asStrings(explain.ItemKinds()), ", "))
		}
	}
	switch {
	case f.group != "" && f.group != "kind":
		return usageError("--group %s is not known: use --group kind", cleanLine(f.group))
	case f.group != "" && f.follow:
		return usageError("--group groups the present items: leave out --follow")
	case f.bell && !f.follow:
		return usageError("--bell rings when something comes: add --follow")
	}
	return nil
}

// chooseItems returns the items of the requested kinds, the backlog last.
func (f *inboxFlags) chooseItems(items []explain.Item) []explain.Item {
	out := []explain.Item{}
	for _, waits := range []bool{true, false} {
		for i := range items {
			if items[i].Kind.WaitsForPerson() == waits && (len(f.kinds) == 0 || slices.Contains(f.kinds, string(items[i].Kind))) {
				out = append(out, items[i])
			}
		}
	}
	return out
}

// backlogShown is how many tasks of the backlog the inbox shows by default.
const backlogShown = 3

// printInbox prints what waits, then part of the backlog, then the counts.
func printInbox(w io.Writer, deps Deps, items []explain.Item, f *inboxFlags) error {
	waiting, backlog := explain.CountInbox(items)
	asked := len(f.kinds) > 0 || f.group != ""
	switch {
	case len(items) == 0 && len(f.kinds) > 0:
		_, err := fmt.Fprintf(w, "Nothing of kind %s is in the inbox.\n", strings.Join(f.kinds, " or "))
		return err
	case waiting == 0 && !asked:
		fmt.Fprintln(w, "Nothing waits for you.")
	}
	groups := [][]explain.Item{items[:waiting], items[waiting:]}
	if f.group != "" {
		groups = slices.Collect(chunksByKind(items))
	}
	for i, group := range groups {
		if len(group) == 0 {
			continue
		}
		kind := group[0].Kind
		if f.group != "" || !kind.WaitsForPerson() {
			if i > 0 || waiting == 0 {
				fmt.Fprintln(w)
			}
			fmt.Fprintf(w, "%s (%d)\n", groupTitle(kind), len(group))
		}
		shown := group
		if !kind.WaitsForPerson() && !asked {
			shown = group[:min(len(group), backlogShown)]
		}
		if err := printItems(w, deps, shown); err != nil {
			return err
		}
		if n := len(group) - len(shown); n > 0 {
			fmt.Fprintf(w, "%d more: orange inbox --kind %s\n", n, kind)
		}
	}
	if waiting > 0 && backlog > 0 {
		fmt.Fprintf(w, "\n%s, %d in the backlog.\n", waitingText(waiting), backlog)
	}
	return nil
}

func waitingText(n int) string {
	if n == 1 {
		return "1 waits for you"
	}
	return fmt.Sprintf("%d wait for you", n)
}

func groupTitle(kind explain.ItemKind) string {
	if !kind.WaitsForPerson() {
		return "Backlog"
	}
	return string(kind)
}

// chunksByKind yields runs of consecutive items of the same kind.
func chunksByKind(items []explain.Item) iter.Seq[[]explain.Item] {
	return func(yield func([]explain.Item) bool) {
		for from := 0; from < len(items); {
			to := from
			for to < len(items) && items[to].Kind == items[from].Kind {
				to++
			}
			if !yield(items[from:to]) {
				return
			}
			from = to
		}
	}
}

// printItems prints a line for each item and, below it, why it waits and the command to use.
func printItems(w io.Writer, deps Deps, items []explain.Item) error {
	rows := [][]string{{"KIND", "TASK", "BRANCH", "AGE", "WHAT"}}
	for i := range items {
		rows = append(rows, inboxRow(deps, &items[i]))
	}
	var table bytes.Buffer
	if err := printTable(&table, deps.lineWidth(), rows); err != nil {
		return err
	}
	at := -1 // the first line is the heading
	for line := range strings.Lines(table.String()) {
		fmt.Fprint(w, line)
		if at >= 0 {
			printReasons(w, items[at].Reasons, line, reasonLines)
		}
		if at >= 0 && items[at].Do != "" {
			fmt.Fprintln(w, "  "+cleanLine(items[at].Do))
		}
		at++
	}
	return nil
}

// reasonLines is how many lines of a reason the inbox shows. orange task show prints all of them.
const reasonLines = 12

// printReasons prints why a task waits. most is the maximum number of lines per reason, 0 for
// all. Of a message it prints the last lines, because an agent's question is at the end. It
// skips a reason that the text above already contains.
func printReasons(w io.Writer, list []explain.WaitReason, above string, most int) {
	for _, r := range list {
		text := strings.TrimSpace(cleanText(r.Text))
		if text == "" || strings.Contains(above, text) {
			continue
		}
		fmt.Fprintf(w, "  %s:\n", cleanLine(narrate.DescribeReason(r)))
		lines, before, after := strings.Split(text, "\n"), 0, 0
		switch n := len(lines) - most; {
		case most == 0 || n <= 0:
		case r.Kind == explain.BecauseOfMessage:
			lines, before = lines[n:], n
		default:
			lines, after = lines[:most], n
		}
		if before > 0 {
			fmt.Fprintf(w, "    (%d before)\n", before)
		}
		for _, line := range lines {
			fmt.Fprintln(w, strings.TrimRight("    "+line, " "))
		}
		if after > 0 {
			fmt.Fprintf(w, "    (%d more)\n", after)
		}
	}
}

func inboxRow(deps Deps, it *explain.Item) []string {
	name, what := branchOf(it), cleanLine(it.Text)
	if deps.IsTerminal {
		name = cutToWidth(name, 28)
	}
	if it.Frees > 0 {
		what = fmt.Sprintf("[frees %d] %s", it.Frees, what)
	}
	return []string{orDash(string(it.Kind)), orDash(shortID(string(it.Task))), name, formatAge(deps.Now(), it.Since), what}
}

// branchOf returns the branch that an item is about, or its project if it has no branch, "-"
// if it has neither.
func branchOf(it *explain.Item) string {
	if it.Project == "" && it.Branch == "" {
		return "-"
	}
	if it.Branch == "" {
		return cleanLine(it.Project)
	}
	return cleanLine(it.Project + "/" + it.Branch)
}

// An inboxTail prints the items of a state that it has not printed before.
type inboxTail struct {
	session
	known map[itemKey]bool
	flags inboxFlags
	bell  bool
	lost  bool
}

// An itemKey identifies an item.
type itemKey struct {
	task  task.ID
	kind  explain.ItemKind
	text  string
	since time.Time
}

func keyOfItem(it *explain.Item) itemKey {
	k := itemKey{it.Task, it.Kind, it.Text, it.Since}
	if it.Kind.Info().Timeless { // its time is that of the last entry and does not identify it
		k.since = time.Time{}
	}
	return k
}

// followInbox prints what waits, then each new item, until the user interrupts it.
func (s session) followInbox(ctx context.Context, f inboxFlags) error {
	seen := client.StateQuery{Project: f.project}
	state, err := s.ReadState(ctx, seen)
	if err != nil {
		return err
	}
	tail := &inboxTail{session: s, known: map[itemKey]bool{}, flags: f}
	if err := tail.showNewItems(&state); err != nil {
		return err
	}
	tail.bell = f.bell // items that already waited do not ring the bell
	err = s.FollowState(ctx, client.FollowOptions{
		StateQuery: seen, After: state.Row,
		Change: func(c overview.Change) error {
			state.ApplyChange(c)
			return tail.showNewItems(&state)
		},
		Opened: tail.reportOpened, Lost: tail.reportLost,
	})
	if ctx.Err() != nil {
		return nil // Ctrl-C is the normal way to end
	}
	return err
}

// showNewItems prints the items that are new, and forgets those that are gone.
func (t *inboxTail) showNewItems(state *overview.State) error {
	items := t.flags.chooseItems(state.InboxItems())
	now, rings := make(map[itemKey]bool, len(items)), false
	for i := range items {
		key := keyOfItem(&items[i])
		now[key] = true
		if t.known[key] {
			continue
		}
		if err := t.printItem(&items[i]); err != nil {
			return err
		}
		rings = rings || items[i].Kind.WaitsForPerson()
	}
	t.known = now
	if rings && t.bell {
		_, err := fmt.Fprint(t.Stderr, "\a") // standard output may be read by a program
		return err
	}
	return nil
}

func (t *inboxTail) printItem(it *explain.Item) error {
	if wantsJSON(t.cmd) {
		return printJSON(t.Stdout, it)
	}
	line := fmt.Sprintf("%-10s  %-8s  %s  %s", it.Kind, orDash(shortID(string(it.Task))), branchOf(it), cleanLine(it.Text))
	if it.Do != "" {
		line += "  (" + cleanLine(it.Do) + ")"
	}
	_, err := fmt.Fprintln(t.Stdout, line)
	return err
}

// reportOpened and reportLost tell the user once when the connection to the server returns or is lost.
func (t *inboxTail) reportOpened() error {
	if t.lost {
		fmt.Fprintln(t.Stderr, "orange: the server is back")
	}
	t.lost = false
	return nil
}

func (t *inboxTail) reportLost(err error) {
	if !t.lost {
		fmt.Fprintln(t.Stderr, "orange: the server does not answer: waiting for it ("+cleanLine(err.Error())+")")
	}
	t.lost = true
}
