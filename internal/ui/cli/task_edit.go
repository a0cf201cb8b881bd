package cli

import (
	"context"
	"errors"
	"fmt"
	"os"
	"strings"

	"github.com/spf13/cobra"

	"orange/internal/config"
	"orange/internal/core/engine"
	"orange/internal/core/prompt"
	"orange/internal/core/signal"
	"orange/internal/core/task"
	"orange/internal/core/taskfile"
	"orange/internal/ui/editor"
	"orange/internal/wire"
)

func newTaskEdit(deps Deps) *cobra.Command {
	var summary, file string
	cmd := &cobra.Command{
		Use: "edit <id>", Short: "Change the summary or the requirements of a task", Args: requireArguments(1, 1),
		Long: "Change the summary of a task, its ## Requirements in TASK.md, or both. Without a flag both are opened in\n" +
			"the editor that VISUAL or EDITOR names: the first line is the summary. The agent of the state is told\n" +
			"if it lives; the output says so.",
		Example: "  orange task edit fix-login\n" +
			"  orange task edit fix-login --summary \"Let customers log in by mail\"\n" +
			"  orange task edit fix-login --requirements-file - <requirements.md",
	}
	cmd.Flags().StringVar(&summary, "summary", "", "new summary")
	cmd.Flags().StringVar(&file, "requirements-file", "", "file with the new requirements; - reads them from standard input")
	given := cmd.Flags().Changed
	cmd.PreRunE = func(*cobra.Command, []string) error {
		switch {
		case given("summary") && strings.TrimSpace(summary) == "":
			return usageError("--summary is empty: give one")
		case given("requirements-file") && file == "":
			return usageError("--requirements-file is empty: give one")
		case !given("summary") && !given("requirements-file") && !deps.IsTerminal:
			return errors.New("standard input is not a terminal, so no editor can run: give --summary or --requirements-file")
		}
		return nil
	}
	cmd.RunE = withServer(deps, func(ctx context.Context, s session, args []string) error {
		if err := s.personOnly(); err != nil {
			return err
		}
		v, err := s.ReadTask(ctx, args[0])
		if err != nil {
			return err
		}
		requirements := ""
		switch {
		case !given("summary") && !given("requirements-file"):
			if summary, requirements, err = s.editInEditor(ctx, &v); err != nil {
				return err
			}
		case given("requirements-file"):
			if requirements, err = s.readNewRequirements(file); err != nil {
				return err
			}
		}
		sig := signal.Signal{Kind: signal.Request, Verb: engine.VerbEdit, Note: requirements}
		if summary != "" {
			sig.Fields = []signal.Field{{Name: "summary", To: summary}}
		}
		a, err := s.sendSignal(ctx, string(v.Task.ID), sig)
		if err != nil {
			return err
		}
		if len(a.Decision.Entries) == 0 {
			return s.sayLine(a, "%s: nothing changed", shortID(string(a.Task.ID)))
		}
		return s.sayLine(a, "%s", describeAnswer(a))
	})
	return cmd
}

// readNewRequirements reads the requirements from a file or from standard input.
func (s session) readNewRequirements(file string) (string, error) {
	text := ""
	if file == "-" {
		text, file = "-", ""
	}
	text, err := s.readRequirements(text, file)
	if text = strings.TrimSpace(text); err == nil && text == "" {
		err = errors.New("the requirements are empty: give some words")
	}
	return text, err
}

// editInEditor opens the summary and the requirements of a task in the person's editor. What did not change is "".
func (s session) editInEditor(ctx context.Context, v *wire.TaskDetails) (summary, requirements string, err error) {
	doc, err := taskfile.Parse([]byte(v.Body))
	if err != nil {
		return "", "", fmt.Errorf("read TASK.md: %w", err)
	}
	had, _ := prompt.ReadGiven(doc.Sections())
	had = strings.TrimSpace(had)
	draft, err := editor.NewDraft(config.Environ(), "TASK.md", v.Task.Summary+"\n\n"+had+"\n", "give --summary or --requirements-file")
	if err != nil {
		return "", "", err
	}
	run := draft.Command(ctx)
	run.Stdin, run.Stdout, run.Stderr = os.Stdin, os.Stdout, os.Stderr
	text, err := draft.Finish(run.Run())
	if err != nil {
		return "", "", err
	}
	first, rest, _ := strings.Cut(strings.TrimSpace(text), "\n")
	return changedText(&v.Task, strings.TrimSpace(first), strings.TrimSpace(rest), had)
}

// changedText returns what differs from the task.
func changedText(t *task.Task, summary, requirements, had string) (newSummary, newRequirements string, err error) {
	switch {
	case summary == "":
		return "", "", errors.New("the summary is empty, nothing changed: its place is the first line")
	case requirements == "" && had != "":
		return "", "", errors.New("the requirements are empty, nothing changed: write at least a line")
	}
	if summary != t.Summary {
		newSummary = summary
	}
	if requirements != had {
		newRequirements = requirements
	}
	return newSummary, newRequirements, nil
}
