package cli

import (
	"fmt"
	"io"
	"slices"
	"strings"

	"github.com/spf13/cobra"

	"orange/internal/core/signal"
)

// detectFlags is the command line of detect.
type detectFlags struct {
	looking  signal.Looking
	protocol string
	section  string // of artifacts
	code     int    // of exit
}

// detectable are the protocols that a text can be searched for.
var detectable = []signal.Protocol{signal.WorkResult, signal.CompletionBlock, signal.WorkerResult, signal.TaskSections, signal.ProcessExit, signal.AnyProtocol}

func newDetectCommand(deps Deps) *cobra.Command {
	var f detectFlags
	cmd := pure(&cobra.Command{
		Use: "detect [FILE|-]", Args: arguments(0, 1),
		Short: "Say which outcome a text of an agent reports",
		Long: "Say which outcome a text of an agent reports, and what in it does not count and why.\n\n" +
			"Without a file the text comes from standard input. The exit code is 0 whenever the\n" +
			"text could be read, whatever it says. For artifacts the file is a TASK.md; for exit\n" +
			"nothing is read.",
		Example: "  orange detect --work-type qa report.md\n" +
			"  orange detect --protocol completion-block --task T1 --agent tester --json < answer.txt",
		RunE: func(cmd *cobra.Command, args []string) error {
			report, err := f.detect(deps, slices.Concat(args, []string{"-"})[0])
			if err != nil {
				return err
			}
			return show(cmd, report, func(w io.Writer) error { return printReport(w, report) })
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

func (f *detectFlags) detect(deps Deps, file string) (signal.Report, error) {
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
	case r.Source == signal.FromNowhere:
		fmt.Fprintf(&b, "%s: nothing counts (%s)\n", r.Outcome, r.Protocol)
	default:
		fmt.Fprintf(&b, "%s: %s, from %s\n", r.Outcome, r.Protocol, r.Source)
	}
	for _, line := range [][2]string{{"code", r.Code}, {"detail", r.Detail}, {"nonce", r.Nonce}} {
		if line[1] != "" {
			fmt.Fprintf(&b, "  %s: %s\n", line[0], cut(cleanLine(line[1]), 500))
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
