package cli

import (
	"cmp"
	"context"
	"fmt"
	"io"
	"slices"
	"strconv"
	"strings"

	"github.com/spf13/cobra"

	"orange/internal/core/engine"
	"orange/internal/core/signal"
	"orange/internal/core/task"
	"orange/internal/wire"
)

func newLandCommand(deps Deps) *cobra.Command {
	return groupCommand("land", "Show and control the queues in which finished work waits to be merged",
		newLandList(deps), newLandHold(deps, true), newLandHold(deps, false), newLandRemove(deps))
}

// A landingRow is one task of a landing queue.
type landingRow struct {
	Project  string  `json:"project"`
	Target   string  `json:"target"`
	Position int     `json:"position"`
	Task     task.ID `json:"task"`
	Branch   string  `json:"branch"`
	Summary  string  `json:"summary"`
	State    string  `json:"state"`
}

func newLandList(deps Deps) *cobra.Command {
	cmd := &cobra.Command{
		Use: "list [project]", Aliases: []string{"ls"}, Short: "List the landing queues",
		Long: "List the tasks whose work waits to be merged, in the order in which they land. There is one queue for each\n" +
			"project and target branch, and one task of a queue lands at a time.",
		Example: "  orange land list\n  orange land list shop --json",
		Args:    requireArguments(0, 1),
	}
	cmd.RunE = withServer(deps, func(ctx context.Context, s session, args []string) error {
		list, err := s.TaskList(ctx, task.Filter{Project: strings.Join(args, "")})
		if err != nil {
			return err
		}
		projects, err := s.ListProjects(ctx)
		if err != nil {
			return err
		}
		rows := landingRows(list, projects)
		if err := s.addMerging(ctx, rows); err != nil {
			return err
		}
		return s.showResult(map[string]any{"landings": rows}, func(w io.Writer) error {
			if len(rows) == 0 {
				_, err := fmt.Fprintln(w, "No work waits to be merged.")
				return err
			}
			table := [][]string{{"TARGET", "#", "TASK", "STATE", "SUMMARY"}}
			for _, r := range rows {
				table = append(table, []string{cleanLine(r.Project + "/" + r.Target), strconv.Itoa(r.Position), shortID(string(r.Task)), cleanLine(r.State), cleanLine(r.Summary)})
			}
			return printTable(w, 0, table)
		})
	})
	return cmd
}

// landingRows returns the landing queues of tasks, each in the order in which its tasks land.
func landingRows(list []task.Task, projects []task.Project) []landingRow {
	list = slices.DeleteFunc(list, func(t task.Task) bool { return t.MergeEffect() == nil })
	slices.SortFunc(list, func(a, b task.Task) int {
		x, _ := a.LandingPlace()
		y, _ := b.LandingPlace()
		return x.Compare(y)
	})
	rows := []landingRow{}
	last := map[string]int{}
	for i := range list {
		t := &list[i]
		at := slices.IndexFunc(projects, func(p task.Project) bool { return p.Name == t.Project })
		r := landingRow{Project: t.Project, Task: t.ID, Branch: t.Branch, Summary: t.Summary, State: t.DescribeLanding()}
		if at >= 0 {
			r.Target = projects[at].ForTask(t).DefaultBranch
			switch {
			case t.Paused:
				r.State = "paused: orange resume " + string(t.ID)
			case projects[at].HoldLanding && !t.Landing.InProgress():
				r.State = "held: orange land resume " + t.Project
			}
		}
		last[r.Project+"/"+r.Target]++
		r.Position = last[r.Project+"/"+r.Target]
		rows = append(rows, r)
	}
	slices.SortStableFunc(rows, func(a, b landingRow) int {
		return cmp.Or(strings.Compare(a.Project, b.Project), strings.Compare(a.Target, b.Target))
	})
	return rows
}

// addMerging says which tasks are merged at this moment. Only the first of a queue can be.
func (s session) addMerging(ctx context.Context, rows []landingRow) error {
	for i := range rows {
		if rows[i].Position != 1 {
			continue
		}
		v, err := s.ReadTask(ctx, string(rows[i].Task))
		if err != nil {
			return err
		}
		if at := v.Queue; at != nil && at.Merging != "" {
			rows[i].State = v.Task.DescribeLandingAt(task.QueuePlace{Merging: at.Merging})
		}
	}
	return nil
}

func newLandHold(deps Deps, hold bool) *cobra.Command {
	use, short, long, done := "resume", "Let the work of a project land again", "Let the work in the landing queues of a project land again, in its order.", "The landing queues of %s go on"
	if hold {
		use, short, long, done = "pause", "Let no work of a project land", "Let no more work of a project land. The task that lands now is not interrupted; the others keep their places.", "No work of %s lands until orange land resume %[1]s"
	}
	cmd := &cobra.Command{Use: use + " [project]", Short: short, Long: long, Example: "  orange land " + use + " shop", Args: requireArguments(0, 1)}
	cmd.RunE = withServer(deps, func(ctx context.Context, s session, args []string) error {
		project, err := s.projectOf(ctx, args)
		if err != nil {
			return err
		}
		details, err := s.UpdateProject(ctx, project, wire.ProjectChange{HoldLanding: &hold})
		if err != nil {
			return err
		}
		return s.sayLine(details, done, project)
	})
	return cmd
}

func newLandRemove(deps Deps) *cobra.Command {
	cmd := &cobra.Command{
		Use: "remove <task>", Aliases: []string{"rm"}, Short: "Take a task out of its landing queue",
		Long:    "Take a task out of its landing queue. A check that runs on its merged work is ended. The task stays in its state.",
		Example: "  orange land remove MFTsZyeO",
		Args:    requireArguments(1, 1),
	}
	cmd.RunE = withServer(deps, func(ctx context.Context, s session, args []string) error {
		a, err := s.sendSignal(ctx, args[0], signal.Signal{Kind: signal.Request, Verb: engine.VerbUnland})
		if err != nil {
			return err
		}
		return s.sayLine(a, "%s is out of its landing queue, and stays %s", shortID(string(a.Task.ID)), a.Task.Status)
	})
	return cmd
}
