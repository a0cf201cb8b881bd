package cli

import (
	"cmp"
	"context"
	"fmt"
	"io"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"time"

	"github.com/spf13/cobra"

	"orange/internal/config"
	"orange/internal/core/tracker"
	"orange/internal/view/humanize"
)

func newTrackerCommand(deps Deps) *cobra.Command {
	return groupCommand("tracker", "Work with issues in Linear, GitHub or a board over MCP",
		newTrackerAdd(deps), newTrackerList(deps), newTrackerIssues(deps), newTrackerSync(deps), newTrackerTest(deps), newTrackerRemove(deps))
}

func newTrackerAdd(deps Deps) *cobra.Command {
	var cfg tracker.Config
	var columns []string
	var command string
	cmd := &cobra.Command{
		Use: "add name", Short: "Add a tracker, or change its settings", Args: requireArguments(1, 1),
		Long: "Add a tracker whose issues become tasks of a project.\n\n" +
			"The secret stays where it is; only its place is kept: env:NAME, file:PATH (mode 600),\n" +
			"command:PROGRAM ARGS, or gh for the login that gh has.",
		Example: `  orange tracker add lin --kind linear --scope ENG --token env:LINEAR_API_KEY --workflow linear-sdlc
  orange tracker add hub --kind github --scope owner/repo --token gh --every 2m
  orange tracker add joan --kind mcp --url https://board.example/mcp --mapping joan --scope PROJECT-ID --token file:~/.joan
  orange tracker add md --kind mcp --command "backlog mcp start" --mapping backlog
  orange tracker add here --kind board`,
	}
	f := cmd.Flags()
	f.StringVar(&cfg.Kind, "kind", "", tracker.KindNames())
	f.StringVar(&cfg.Project, "project", "", "project whose repository the issues are about (default: that of this folder)")
	f.StringVar(&cfg.Workflow, "workflow", "", "workflow of the tasks (default: the project's)")
	f.StringVar(&cfg.Harness, "harness", "", "harness of the tasks")
	f.StringVar(&cfg.Scope, "scope", "", trackerScopes())
	f.StringVar(&cfg.URL, "url", "", "address of its API, if it is not the usual one")
	f.StringVar(&command, "command", "", "mcp: the program that is the server")
	f.StringVar(&cfg.Mapping, "mapping", "", "mcp: joan, backlog, or a file")
	f.StringVar(&cfg.Token, "token", "", "where the secret is: env:NAME, file:PATH, command:..., gh")
	f.StringVar(&cfg.Webhook, "webhook-secret", "", "likewise, the secret that webhooks are signed with")
	f.StringArrayVar(&columns, "column", nil, "STATUS=COLUMN: what the tracker calls a status of the workflow")
	f.StringArrayVar(&cfg.Eligible, "eligible", nil, "column whose issues are worked on (default: where the workflow begins)")
	f.StringArrayVar(&cfg.Authors, "author", nil, "whose words count: orders in comments, and text for agents")
	f.IntVar(&cfg.Max, "max", 0, "tasks at work at the same time (default 3)")
	f.DurationVar(&cfg.Every, "every", 0, "interval at which it is read (default: only on request)")
	f.BoolVar(&cfg.Auto, "auto", false, "dispatch without being asked")
	cmd.RunE = withServer(deps, func(ctx context.Context, s session, args []string) error {
		cfg.Name = args[0]
		known, err := s.keepUnsetFlags(ctx, f.Changed, &cfg, &command, &columns)
		if err != nil {
			return err
		}
		cfg.Command = strings.Fields(command)
		for what, source := range map[string]string{"token": cfg.Token, "webhook-secret": cfg.Webhook} {
			if err := config.CheckSecret(source); err != nil {
				return usageError("--%s: %w", what, err)
			}
		}
		if cfg.Harness, err = s.resolveHarness(cfg.Harness); err != nil {
			return err
		}
		cfg.Token, cfg.Webhook = s.secretPlace(cfg.Token), s.secretPlace(cfg.Webhook)
		if cfg.Columns, err = columnNames(columns); err != nil {
			return err
		}
		if cfg.Kind == tracker.Board && len(cfg.Columns) > 0 {
			return usageError("--column is for trackers that call things differently: the local board takes the workflow's own columns")
		}
		if strings.ContainsAny(cfg.Mapping, "/.") && !filepath.IsAbs(cfg.Mapping) && !strings.HasPrefix(cfg.Mapping, "~/") {
			cfg.Mapping = filepath.Join(s.Cwd, cfg.Mapping) // the server runs in another folder
		}
		if cfg.Project == "" {
			if cfg.Project, err = s.projectHere(ctx); err != nil {
				return err
			}
		}
		done, err := s.SetTracker(ctx, cfg)
		if err != nil {
			return err
		}
		return s.showResult(map[string]any{"tracker": done}, func(w io.Writer) error {
			what := "is a tracker"
			if known {
				what = "was changed; it is a tracker"
			}
			_, err := fmt.Fprintf(w, "%s %s of project %s. See whether it answers: orange tracker test %s\n", cleanLine(done.Name), what, cleanLine(done.Project), cleanLine(done.Name))
			return err
		})
	})
	return cmd
}

// keepUnsetFlags copies the settings that no flag gives from the existing tracker of that name.
// It reports whether there is one.
func (s session) keepUnsetFlags(ctx context.Context, said func(flag string) bool, cfg *tracker.Config, command *string, columns *[]string) (known bool, err error) {
	list, err := s.ListTrackers(ctx)
	if err != nil {
		return false, err
	}
	at := slices.IndexFunc(list, func(r tracker.Reading) bool { return r.Config.Name == cfg.Name })
	if at < 0 {
		return false, nil
	}
	was := list[at].Config
	if here, err := s.projectHere(ctx); err == nil && here != was.Project && !said("project") {
		return true, usageError("%s is a tracker of project %s: choose another name, or give --project %s", cfg.Name, was.Project, was.Project)
	}
	for flag, keep := range map[string]func(){
		"kind": func() { cfg.Kind = was.Kind }, "project": func() { cfg.Project = was.Project }, "workflow": func() { cfg.Workflow = was.Workflow },
		"harness": func() { cfg.Harness = was.Harness }, "scope": func() { cfg.Scope = was.Scope }, "url": func() { cfg.URL = was.URL },
		"command": func() { *command = strings.Join(was.Command, " ") }, "mapping": func() { cfg.Mapping = was.Mapping }, "token": func() { cfg.Token = was.Token },
		"webhook-secret": func() { cfg.Webhook = was.Webhook }, "eligible": func() { cfg.Eligible = was.Eligible }, "author": func() { cfg.Authors = was.Authors },
		"max": func() { cfg.Max = was.Max }, "every": func() { cfg.Every = was.Every }, "auto": func() { cfg.Auto = was.Auto },
		"column": func() {
			for status, column := range was.Columns {
				*columns = append(*columns, status+"="+column)
			}
		},
	} {
		if !said(flag) {
			keep()
		}
	}
	return true, nil
}

// secretPlace makes the path of a secret's file absolute, because the server runs in another folder.
func (s session) secretPlace(source string) string {
	path, ok := strings.CutPrefix(source, "file:")
	if !ok || filepath.IsAbs(path) || strings.HasPrefix(path, "~/") {
		return source
	}
	return "file:" + filepath.Join(s.Cwd, path)
}

func columnNames(list []string) (map[string]string, error) {
	out := map[string]string{}
	for _, pair := range list {
		status, column, ok := strings.Cut(pair, "=")
		if !ok || strings.TrimSpace(status) == "" || strings.TrimSpace(column) == "" {
			return nil, usageError("--column %q: give STATUS=COLUMN", pair)
		}
		out[strings.TrimSpace(status)] = strings.TrimSpace(column)
	}
	return out, nil
}

func newTrackerList(deps Deps) *cobra.Command {
	return &cobra.Command{
		Use: "list", Short: "List the trackers, and when each was last read", Args: requireArguments(0, 0),
		Long:    "List the trackers with their projects, and when each was last looked at and with what result.",
		Example: "  orange tracker list",
		RunE: withServer(deps, func(ctx context.Context, s session, _ []string) error {
			list, err := s.ListTrackers(ctx)
			if err != nil {
				return err
			}
			return s.showResult(map[string]any{"trackers": list}, func(w io.Writer) error { return printTrackers(w, s.Deps, list) })
		}),
	}
}

func printTrackers(w io.Writer, deps Deps, list []tracker.Reading) error {
	if len(list) == 0 {
		_, err := fmt.Fprintln(w, "No trackers. Add one with: orange tracker add")
		return err
	}
	rows := [][]string{{"NAME", "KIND", "SCOPE", "PROJECT", "ISSUES", "TASKS", "READ", "PROBLEM"}}
	for _, r := range list {
		rows = append(rows, []string{cleanLine(r.Config.Name), r.Config.Kind, orDash(r.Config.Scope), cleanLine(r.Config.Project),
			strconv.Itoa(r.Issues), strconv.Itoa(r.Tasks), formatAgo(deps.Now(), r.At), orDash(r.Problem)})
	}
	return printTable(w, 0, rows)
}

// formatAgo formats how long ago something happened, "never" if it did not.
func formatAgo(now, at time.Time) string {
	if at.IsZero() {
		return "never"
	}
	return formatAge(now, at) + " ago"
}

func newTrackerIssues(deps Deps) *cobra.Command {
	return &cobra.Command{
		Use: "issues name", Short: "List the issues of a tracker as they were last read", Args: requireArguments(1, 1),
		Long:    "List the issues of a tracker as they were last read. The tracker itself is not read: see orange tracker sync.",
		Example: "  orange tracker issues lin --json",
		RunE: withServer(deps, func(ctx context.Context, s session, args []string) error {
			list, err := s.ListIssues(ctx, args[0])
			if err != nil {
				return err
			}
			return s.showResult(map[string]any{"issues": list}, func(w io.Writer) error {
				rows := [][]string{{"KEY", "COLUMN", "READ", "TAGS", "TITLE"}}
				for _, is := range list {
					rows = append(rows, []string{cleanLine(is.Key), cleanLine(is.Card.Column), formatAgo(s.Now(), is.ReadAt), orDash(strings.Join(is.Card.Tags, ", ")), cleanLine(is.Card.Title)})
				}
				return printTable(w, s.lineWidth(), rows)
			})
		}),
	}
}

func newTrackerSync(deps Deps) *cobra.Command {
	var fix bool
	cmd := &cobra.Command{
		Use: "sync [name]", Short: "Read one tracker or all, and pass changes on to their tasks", Args: requireArguments(0, 1),
		Long: "Read a tracker now, or all of them and pull requests. Changes become moves and orders\n" +
			"of tasks; issues that are not where their tasks say are named, and put back with --fix.",
		Example: "  orange tracker sync\n" +
			"  orange tracker sync lin --fix",
		RunE: withServer(deps, func(ctx context.Context, s session, args []string) error {
			reports, names := []tracker.Report{}, args
			var failed error
			if len(args) == 0 {
				list, err := s.ListTrackers(ctx)
				if err != nil {
					return err
				}
				for _, r := range list {
					names = append(names, r.Config.Name)
				}
				reports = append(reports, s.syncForges(ctx, &failed))
			}
			for _, name := range names {
				r, err := s.SyncTracker(ctx, name, fix)
				if err != nil {
					r = tracker.Report{Tracker: name, News: []string{}, Drift: []tracker.Drift{}, Problem: err.Error()}
					failed = exitError{code: exitFailed, shown: true, err: fmt.Errorf("%s: %w", name, err)}
				}
				reports = append(reports, r)
			}
			if err := s.showResult(map[string]any{"reports": reports}, func(w io.Writer) error { return printReports(w, reports) }); err != nil {
				return err
			}
			return failed
		}),
	}
	cmd.Flags().BoolVar(&fix, "fix", false, "put issues that drifted back where their tasks are")
	return cmd
}

// pullRequests stands in place of a tracker's name in the report about pull requests that
// belong to no tracker.
const pullRequests = "pull requests"

// syncForges checks the pull requests that belong to no tracker.
func (s session) syncForges(ctx context.Context, failed *error) tracker.Report {
	r := tracker.Report{Tracker: pullRequests, Drift: []tracker.Drift{}}
	var err error
	if r.News, err = s.SyncForges(ctx); err != nil {
		r.Problem = err.Error()
		*failed = exitError{code: exitFailed, shown: true, err: fmt.Errorf("%s: %w", r.Tracker, err)}
	}
	return r
}

func printReports(w io.Writer, reports []tracker.Report) error {
	for _, r := range reports {
		if r.Problem != "" {
			fmt.Fprintf(w, "%s: %s\n", cleanLine(r.Tracker), cleanLine(r.Problem))
			continue
		}
		if r.Tracker == pullRequests {
			if len(r.News) > 0 {
				fmt.Fprintf(w, "%s:\n", r.Tracker)
			}
		} else {
			fmt.Fprintf(w, "%s: %s, %s\n", cleanLine(r.Tracker), humanize.Plural(r.Issues, "eligible issue"), humanize.Plural(r.Tasks, "open task"))
		}
		for _, line := range r.News {
			fmt.Fprintln(w, "  "+cleanLine(line))
		}
		for _, d := range r.Drift {
			fmt.Fprintln(w, "  "+cleanLine(d.String()))
		}
	}
	return nil
}

func newTrackerTest(deps Deps) *cobra.Command {
	return &cobra.Command{
		Use: "test name", Short: "Check the connection to a tracker", Args: requireArguments(1, 1),
		Long: "Ask a tracker who Orange is there and what its columns and tags are, and say what of the workflow's\n" +
			"words is missing. The exit code is 1 if it cannot be worked with.",
		Example: "  orange tracker test lin",
		RunE: withServer(deps, func(ctx context.Context, s session, args []string) error {
			trial, err := s.TestTracker(ctx, args[0])
			if err != nil {
				return err
			}
			err = s.showResult(trial, func(w io.Writer) error {
				rows := [][]string{{"Account", cleanLine(trial.Account)}, {"Columns", cleanLine(strings.Join(trial.Columns, ", "))}, {"Tags", orDash(strings.Join(trial.Tags, ", "))}}
				if len(trial.Missing) > 0 {
					rows = append(rows, []string{"Missing", cleanLine(strings.Join(trial.Missing, ", ")) + ": add them there, or name others with orange tracker add --column"})
				}
				return printTable(w, 0, rows)
			})
			if err == nil && len(trial.Missing) > 0 {
				err = exitError{code: exitFailed, shown: true, err: fmt.Errorf("%s lacks %s", args[0], strings.Join(trial.Missing, ", "))}
			}
			return err
		}),
	}
}

func newTrackerRemove(deps Deps) *cobra.Command {
	return &cobra.Command{
		Use: "remove name", Short: "Remove a tracker and what Orange stored about it", Args: requireArguments(1, 1),
		Long:    "Forget a tracker and what was kept of its issues. Tasks that were made of them stay.",
		Example: "  orange tracker remove lin",
		RunE: withServer(deps, func(ctx context.Context, s session, args []string) error {
			if err := s.RemoveTracker(ctx, args[0]); err != nil {
				return err
			}
			return s.showResult(map[string]any{"removed": args[0]}, func(w io.Writer) error {
				_, err := fmt.Fprintf(w, "Removed the tracker %s\n", cleanLine(args[0]))
				return err
			})
		}),
	}
}

// trackerNames returns the tracker that the arguments name, or else all of them.
func (s session) trackerNames(ctx context.Context, args []string) ([]string, error) {
	if len(args) > 0 {
		return args, nil
	}
	list, err := s.ListTrackers(ctx)
	if err == nil && len(list) == 0 {
		err = exitError{code: exitFailed, err: fmt.Errorf("there are no trackers: add one with orange tracker add")}
	}
	var out []string
	for _, r := range list {
		out = append(out, r.Config.Name)
	}
	return out, err
}

func newDispatchCommand(deps Deps) *cobra.Command {
	var once, watch, dry bool
	var every time.Duration
	cmd := &cobra.Command{
		Use: "dispatch [tracker]", Short: "Create tasks for the next issues", Args: requireArguments(0, 1),
		Long: "Read a tracker and create tasks for the next issues, no more than it may have at work. An\n" +
			"issue becomes one task at most.",
		Example: "  orange dispatch lin --dry-run\n" +
			"  orange dispatch --watch --every 1m",
	}
	cmd.Flags().BoolVar(&once, "once", false, "one round (the default)")
	cmd.Flags().BoolVar(&watch, "watch", false, "continue until interrupted")
	cmd.Flags().BoolVar(&dry, "dry-run", false, "only say what would be done")
	cmd.Flags().DurationVar(&every, "every", 30*time.Second, "with --watch: how long between two rounds")
	cmd.RunE = withServer(deps, func(ctx context.Context, s session, args []string) error {
		switch {
		case once && watch:
			return usageError("--once and --watch do not go together: choose one")
		case every < time.Second:
			return usageError("--every %s: give at least 1s", every)
		}
		names, err := s.trackerNames(ctx, args)
		if err != nil {
			return err
		}
		if !watch {
			return s.dispatchRound(ctx, names, dry, nil)
		}
		shown := map[string]string{}
		for {
			s.dispatchRound(ctx, names, dry, shown) //nolint:errcheck // dispatchRound prints the error, and the next round tries again
			select {
			case <-ctx.Done():
				return nil
			case <-time.After(every):
			}
		}
	})
	return cmd
}

// dispatchRound runs one round of each tracker. told holds what was printed before; nil
// prints everything.
func (s session) dispatchRound(ctx context.Context, names []string, dry bool, shown map[string]string) error {
	rounds := []tracker.Round{}
	var failed error
	for _, name := range names {
		r, err := s.DispatchIssues(ctx, name, dry)
		if err != nil {
			r = tracker.Round{Tracker: name, Choices: []tracker.Choice{}, Report: tracker.Report{Tracker: name, News: []string{}, Drift: []tracker.Drift{}}, Problem: err.Error()}
			failed = exitError{code: exitFailed, shown: true, err: fmt.Errorf("%s: %w", name, err)}
		}
		rounds = append(rounds, r)
	}
	if err := s.showResult(map[string]any{"rounds": rounds}, func(w io.Writer) error { return printRounds(w, rounds, shown) }); err != nil {
		return err
	}
	return failed
}

// printRounds prints the result for each issue. It leaves out what was printed before.
func printRounds(w io.Writer, rounds []tracker.Round, shown map[string]string) error {
	for _, r := range rounds {
		if r.Problem != "" {
			fmt.Fprintf(w, "%s: %s\n", cleanLine(r.Tracker), cleanLine(r.Problem))
		}
		for _, line := range r.Report.News {
			fmt.Fprintln(w, cleanLine(line))
		}
		rows := [][]string{}
		for _, c := range r.Choices {
			row := choiceRow(r.Tracker, c)
			line := strings.Join(row, "\x00")
			if shown != nil && shown[r.Tracker+":"+c.Key] == line {
				continue
			}
			if shown != nil {
				shown[r.Tracker+":"+c.Key] = line
			}
			rows = append(rows, row)
		}
		if len(r.Choices) == 0 && r.Problem == "" && shown == nil {
			rows = [][]string{{cleanLine(r.Tracker) + ": no issue waits"}}
		}
		if err := printTable(w, 0, rows); err != nil {
			return err
		}
	}
	return nil
}

func choiceRow(name string, c tracker.Choice) []string {
	mark := "waits"
	switch {
	case c.Dispatch && c.Task == "":
		mark = "next" // dry run
	case c.Dispatch:
		mark = "started"
	}
	why := c.Reason
	if c.Dispatch && c.Task != "" {
		why = "task " + c.Task
	}
	return []string{mark, cleanLine(cmp.Or(c.Ref, tracker.NewRef(name, c.Key))), cleanLine(cutToWidth(c.Title, 40)), cleanLine(why)}
}

// trackerScopes describes the scope of each kind of tracker that has one.
func trackerScopes() string {
	var out []string
	for _, k := range tracker.Kinds() {
		if k.Scope != "" {
			out = append(out, k.Name+": "+k.Scope)
		}
	}
	return strings.Join(out, "; ")
}

// trackerKinds returns the kinds of trackers with their descriptions, for completion.
func trackerKinds() []string {
	var out []string
	for _, k := range tracker.Kinds() {
		out = append(out, k.Name+"\t"+k.Words)
	}
	return out
}
