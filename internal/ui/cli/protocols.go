package cli

import (
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"path/filepath"
	"slices"
	"strings"

	"github.com/spf13/cobra"

	"orange/internal/core/als"
	"orange/internal/core/handoff"
	"orange/internal/core/signal"
	"orange/internal/core/taskfile"
	"orange/internal/core/workflow"
)

// detectFlags are the flags of detect.
type detectFlags struct {
	looking  signal.DetectOptions
	protocol string
	section  string // the section to read, for protocol artifacts
	code     int    // the exit code, for protocol exit
}

// detectable lists the protocols that detect can search a text for.
var detectable = []signal.Protocol{signal.WorkResult, signal.CompletionBlock, signal.WorkerResult, signal.TaskSections, signal.ProcessExit, signal.AnyProtocol}

func newDetectCommand(deps Deps) *cobra.Command {
	var f detectFlags
	cmd := needsNoServer(&cobra.Command{
		Use: "detect [FILE|-]", Args: requireArguments(0, 1),
		Short: "Print the outcome that an agent's text reports",
		Long: "Say which outcome a text of an agent reports, and what in it does not count and why.\n\n" +
			"Without a file the text comes from standard input. The exit code is 0 whenever the\n" +
			"text could be read, whatever it says. For artifacts the file is a TASK.md; for exit\n" +
			"nothing is read.",
		Example: "  orange detect --work-type qa report.md\n" +
			"  orange detect --protocol completion-block --task T1 --agent tester --json < answer.txt",
		RunE: func(cmd *cobra.Command, args []string) error {
			report, err := f.detectReport(deps, slices.Concat(args, []string{"-"})[0])
			if err != nil {
				return err
			}
			return showResult(cmd, report, func(w io.Writer) error { return printReport(w, report) })
		},
	})
	flags := cmd.Flags()
	flags.StringVar(&f.protocol, "protocol", string(signal.AnyProtocol), "what to look for: "+protocolList())
	flags.StringVar(&f.looking.WorkType, "work-type", "", "`type` of work, such as qa: which words count without a marker")
	flags.StringVar(&f.looking.Task, "task", "", "`id` of the task: a report of another does not count")
	flags.StringVar(&f.looking.Agent, "agent", "", "`name` of the agent: a report of another does not count")
	flags.StringVar(&f.looking.Nonce, "nonce", "", "`mark` that the prompt handed out: a report without it does not count")
	flags.BoolVar(&f.looking.OwnStream, "own-stream", false, "the text is all the agent's own: the mark may be missing, not be another")
	flags.StringVar(&f.section, "section", "Review", "artifacts: `name` of the section")
	flags.IntVar(&f.code, "exit-code", 0, "exit: `code` that the process ended with")
	flags.BoolVar(&f.looking.Parity, "parity", false, "read work-result as the system it comes from, to compare")
	return cmd
}

func protocolList() string {
	var names []string
	for _, p := range detectable {
		names = append(names, string(p))
	}
	return strings.Join(names, ", ")
}

func (f *detectFlags) detectReport(deps Deps, file string) (signal.Report, error) {
	f.looking.Protocol = signal.Protocol(f.protocol)
	if !slices.Contains(detectable, f.looking.Protocol) {
		return signal.Report{}, usageError("--protocol %s is not known: use %s", f.protocol, protocolList())
	}
	switch f.looking.Protocol {
	case signal.ProcessExit:
		return signal.FromExitCode(f.code), nil
	case signal.TaskSections:
		sections, err := readSections(deps, file)
		return signal.FromSection(sections, f.section), err
	}
	in, err := deps.openText(file, "a text of an agent")
	if err != nil {
		return signal.Report{}, err
	}
	defer in.Close()
	report, err := signal.Detect(in, f.looking)
	if err != nil {
		return signal.Report{}, fmt.Errorf("read the text: %w", err)
	}
	return report, nil
}

func printReport(w io.Writer, r signal.Report) error {
	var b strings.Builder
	switch {
	case r.Source == signal.NoSource:
		fmt.Fprintf(&b, "%s: nothing counts (%s)\n", r.Outcome, r.Protocol)
	default:
		fmt.Fprintf(&b, "%s: %s, from %s\n", r.Outcome, r.Protocol, r.Source)
	}
	for _, line := range [][2]string{{"code", r.Code}, {"detail", r.Detail}, {"nonce", r.Nonce}} {
		if line[1] != "" {
			fmt.Fprintf(&b, "  %s: %s\n", line[0], cutToWidth(cleanLine(line[1]), 500))
		}
	}
	if r.Consult != nil {
		fmt.Fprintf(&b, "  asks: %s\n", cleanLine(r.Consult.Role+", "+r.Consult.Context.Reason))
	}
	if r.Handoff != nil {
		fmt.Fprintf(&b, "  handoff: %s -> %s\n", cleanLine(r.Handoff.From), cleanLine(r.Handoff.To))
	}
	if r.Diagnosis != "" {
		fmt.Fprintf(&b, "  diagnosis: %s\n", cleanLine(r.Diagnosis))
	}
	_, err := io.WriteString(w, b.String())
	return err
}

func newHandoffCommand(deps Deps) *cobra.Command {
	var format, as string
	cmd := needsNoServer(&cobra.Command{
		Use: "handoff [FILE|-]", Short: "Check a handoff between stages and print it in another form", Args: requireArguments(0, 1),
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
			return showResult(cmd, answer, func(w io.Writer) error {
				_, err := fmt.Fprintln(w, strings.TrimSuffix(answer["text"], "\n"))
				return err
			})
		},
	})
	cmd.Flags().StringVar(&format, "from-format", "auto", "`FORM` in which it is written: json, als, section or auto")
	cmd.Flags().StringVar(&as, "as", "json", "`FORM` in which it is printed: json, als, section or prompt")
	return cmd
}

// handoffFormats lists the formats in which handoff reads a handoff.
var handoffFormats = []string{"json", "als", "section", "auto"}

// handoffForms maps the formats in which handoff prints a handoff to their functions. JSON
// has none because it is written elsewhere.
var handoffForms = map[string]func(handoff.Handoff) string{
	"json":    nil,
	"als":     func(h handoff.Handoff) string { return h.ALS().String() },
	"section": handoff.Handoff.Section,
	"prompt":  handoff.Handoff.Prompt,
}

// readHandoff reads a handoff in the given format. The format auto detects it from the text.
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
			return h, errors.New("the comment is not a handoff: it needs intent: handoff, action: context-handoff, from_stage and to_stage")
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

// readHandoffSection reads the ## Handoff section of a task file, or a text that is only the
// body of such a section. guessed means that the format was detected, so the text may not be
// a handoff at all.
func readHandoffSection(text string, guessed bool) (handoff.Handoff, error) {
	if doc, err := taskfile.Parse([]byte(text)); err == nil {
		if s, ok := taskfile.FindSection(doc.Sections(), "Handoff"); ok {
			text, guessed = s.Text, false
		}
	}
	h, err := handoff.ParseSection(text)
	if guessed && errors.Is(err, handoff.ErrNoLabel) {
		return h, errors.New("the text is not a handoff: give JSON that begins with {, an ALS/1 comment, or a ## Handoff section with DONE: and DECISIONS: in it")
	}
	return h, err
}

func newALSCommand(deps Deps) *cobra.Command {
	return needsNoServer(&cobra.Command{
		Use: "als [FILE|-]", Short: "Read an ALS/1 comment and print it in its normal form", Args: requireArguments(0, 1),
		Long: "Read an ALS/1 comment from a file or from standard input and print it in its\n" +
			"normal form, or with --json as an object. The exit code is 1 if it is not a handoff.",
		Example: "  orange als comment.txt --json\n  printf 'ALS/1\\nactor: dev\\nintent: status\\n' | orange als",
		RunE: func(cmd *cobra.Command, args []string) error {
			text, err := readNote(deps, args, "an ALS/1 comment")
			if err != nil {
				return err
			}
			c, err := als.Parse(text)
			if err != nil {
				return err
			}
			return showResult(cmd, c, func(w io.Writer) error {
				_, err := fmt.Fprintln(w, c)
				return err
			})
		},
	})
}

// maxNote is the maximum size of an agent's note, in bytes.
const maxNote = 1 << 20

// openText opens the file that an argument names, standard input for "-". what describes the
// expected content, for error messages.
func (d Deps) openText(file, what string) (io.ReadCloser, error) {
	if file == "-" {
		return io.NopCloser(d.Stdin), nil
	}
	at := file
	if !filepath.IsAbs(at) {
		at = filepath.Join(d.Cwd, at)
	}
	f, err := os.Open(at)
	switch {
	case errors.Is(err, fs.ErrNotExist):
		return nil, fmt.Errorf("there is no file %s: give the path of %s, or - for standard input", file, what)
	case err != nil:
		return nil, fmt.Errorf("read %s: %w", what, err)
	}
	return f, nil
}

// readNote reads the file that the argument names, or standard input without an argument.
func readNote(deps Deps, args []string, what string) (string, error) {
	in, err := deps.openText(slices.Concat(args, []string{"-"})[0], what)
	if err != nil {
		return "", err
	}
	defer in.Close()
	text, err := io.ReadAll(io.LimitReader(in, maxNote+1))
	if err != nil {
		return "", fmt.Errorf("read %s: %w", what, err)
	}
	if len(text) > maxNote {
		return "", errors.New("the text is larger than 1 MiB: give a smaller one")
	}
	return string(text), nil
}

func newSchemaCommand(deps Deps) *cobra.Command {
	return groupCommand("schema", "Print JSON Schemas, for editors and programs",
		schemaCommand("workflow", "the JSON Schema of workflow files", func() (any, error) { return workflow.Schema(), nil }),
		schemaCommand("worker-result", "the JSON Schema of what a worker answers", func() (any, error) { return signal.WorkerResultSchema(), nil }),
		schemaCommand("handoff", "the JSON Schema of what one stage of work passes to the next", func() (any, error) { return handoff.Schema(), nil }),
		schemaCommand("openapi", "the OpenAPI description of the HTTP API", deps.OpenAPI))
}

func schemaCommand(name, what string, schema func() (any, error)) *cobra.Command {
	return needsNoServer(&cobra.Command{
		Use: name, Short: "Print " + what, Args: requireArguments(0, 0),
		Long: "Print " + what + ", made from the program's own types and words. No server is needed.", Example: "  orange schema " + name,
		RunE: func(cmd *cobra.Command, _ []string) error {
			value, err := schema()
			if err != nil {
				return fmt.Errorf("print the schema: %w", err)
			}
			text, err := json.MarshalIndent(value, "", "  ")
			if err != nil {
				return fmt.Errorf("print the schema: %w", err)
			}
			_, err = fmt.Fprintln(cmd.OutOrStdout(), string(text))
			return err
		},
	})
}
