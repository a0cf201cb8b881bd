package cli

import (
	"errors"
	"fmt"
	"io"
	"slices"
	"strings"

	"github.com/spf13/cobra"

	"orange/internal/core/als"
	"orange/internal/core/handoff"
	"orange/internal/core/taskfile"
)

func newHandoffCommand(deps Deps) *cobra.Command {
	var format, as string
	cmd := pure(&cobra.Command{
		Use: "handoff [FILE|-]", Short: "Check a handoff between stages and print it in another form", Args: arguments(0, 1),
		Long: "Read a handoff from a file or from standard input, check its limits and print it in\n" +
			"another form: as JSON, as an ALS/1 comment, as a section of TASK.md or as a part of\n" +
			"the next stage's prompt. The exit code is 1 if it breaks a limit.",
		Example: "  orange handoff context.json --as als\n  orange handoff TASK.md --from-format section --as prompt",
		RunE: func(cmd *cobra.Command, args []string) error {
			write, ok := handoffForms[as]
			if !ok {
				return usageError("--as %s is not known: use json, als, section or prompt", as)
			}
			text, err := readNote(deps, args, "a handoff")
			if err != nil {
				return err
			}
			if strings.TrimSpace(text) == "" && slices.Contains(handoffFormats, format) {
				return errors.New("the text is empty: give a handoff as JSON, as an ALS/1 comment or as a ## Handoff section")
			}
			h, err := readHandoff(text, format)
			if err != nil {
				return err
			}
			if found := h.Check(); len(found) > 0 {
				return errors.New(strings.Join(found, "; "))
			}
			if as == "json" {
				return printJSON(cmd.OutOrStdout(), h)
			}
			answer := map[string]string{"as": as, "text": write(h)}
			return show(cmd, answer, func(w io.Writer) error {
				_, err := fmt.Fprintln(w, strings.TrimSuffix(answer["text"], "\n"))
				return err
			})
		},
	})
	cmd.Flags().StringVar(&format, "from-format", "auto", "`FORM` in which it is written: json, als, section or auto")
	cmd.Flags().StringVar(&as, "as", "json", "`FORM` in which it is printed: json, als, section or prompt")
	return cmd
}

// handoffFormats are the forms in which a handoff is read.
var handoffFormats = []string{"json", "als", "section", "auto"}

// handoffForms are the forms in which a handoff is printed; JSON is written elsewhere.
var handoffForms = map[string]func(handoff.Handoff) string{
	"json":    nil,
	"als":     func(h handoff.Handoff) string { return h.ALS().String() },
	"section": handoff.Handoff.Section,
	"prompt":  handoff.Handoff.Prompt,
}

// readHandoff reads a handoff that is written in a format, or in the one it looks like.
func readHandoff(text, format string) (handoff.Handoff, error) {
	guessed := format == "auto"
	if guessed {
		format = formatOf(text)
	}
	switch format {
	case "json":
		return handoff.FromJSON([]byte(text))
	case "als":
		c, err := als.Parse(text)
		if err != nil {
			return handoff.Handoff{}, err
		}
		h, ok := handoff.FromALS(c)
		if !ok {
			return h, errors.New("the comment is no handoff: it needs intent: handoff, action: context-handoff, from_stage and to_stage")
		}
		return h, nil
	case "section":
		return readHandoffSection(text, guessed)
	}
	return handoff.Handoff{}, usageError("--from-format %s is not known: use json, als, section or auto", format)
}

func formatOf(text string) string {
	switch text = strings.TrimSpace(strings.TrimPrefix(text, "\uFEFF")); {
	case strings.HasPrefix(text, "{"):
		return "json"
	case strings.HasPrefix(text, "ALS/"):
		return "als"
	}
	return "section"
}

// readHandoffSection reads the ## Handoff of a task file, or a text that is only its
// body. One that was only taken for a section may be none at all.
func readHandoffSection(text string, guessed bool) (handoff.Handoff, error) {
	if doc, err := taskfile.Parse([]byte(text)); err == nil {
		if s, ok := taskfile.Find(doc.Sections(), "Handoff"); ok {
			text, guessed = s.Text, false
		}
	}
	h, err := handoff.ParseSection(text)
	if guessed && errors.Is(err, handoff.ErrNoLabel) {
		return h, errors.New("the text is no handoff: give JSON that begins with {, an ALS/1 comment, or a ## Handoff section with DONE: and DECISIONS: in it")
	}
	return h, err
}
