package cli

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"path/filepath"
	"slices"
	"strings"

	"github.com/spf13/cobra"

	"orange/internal/atomicfile"
	"orange/internal/config"
	"orange/internal/core/task"
	"orange/internal/wire"
)

// A setup is what orange init found, and what it will write. Nothing is written before every question is answered.
type setup struct {
	session
	project  task.Project // as it is, or as it will be registered
	known    bool         // the project is registered
	remote   string       // address of origin, "" if there is none
	agents   AgentsReport // nothing before they were looked for
	searched bool         // agents were looked for
	tests    []string     // commands that test the repository
	change   wire.ProjectChange
	settings map[string]any // keys of config.json to set
	said     []setupAnswer
}

// A setupAnswer is what is set for one question.
type setupAnswer struct {
	Name    string `json:"name"`
	Value   string `json:"value"`
	Changed bool   `json:"changed"`
}

func newInitCommand(deps Deps) *cobra.Command {
	var yes bool
	questions := setupQuestions()
	given := make([]string, len(questions))
	cmd := &cobra.Command{
		Use: "init", Short: "Set up Orange for this repository, with a few questions", Args: requireArguments(0, 0),
		Long: "Set up Orange for the git repository of this folder: look for agents and whether they are logged in,\n" +
			"ask a few questions, and write the answers to the project and to config.json. Enter keeps the present value, or\n" +
			"takes the default. A flag answers its question. Without a terminal, or with --yes, questions that no flag\n" +
			"answers keep the present value, or use the default. Nothing is written before the last answer: Ctrl-C changes\n" +
			"nothing. It can be run again at any time.",
		Example: "  orange init\n" +
			"  orange init --yes --harness codex --tests \"make test\" --delivery pr --notify desktop",
	}
	for i, q := range questions {
		cmd.Flags().StringVar(&given[i], q.flag, "", q.usage)
	}
	cmd.Flags().BoolVarP(&yes, "yes", "y", false, "ask nothing")
	cmd.PreRunE = func(*cobra.Command, []string) error { return deps.personOnly() }
	cmd.RunE = withServer(deps, func(ctx context.Context, s session, _ []string) error {
		u, err := s.findSetup(ctx)
		if err != nil {
			return err
		}
		asks := s.IsTerminal && !yes && !wantsJSON(cmd)
		for i, q := range questions {
			err := u.settleQuestion(ctx, q, given[i], asks && !cmd.Flags().Changed(q.flag))
			if ctx.Err() != nil {
				fmt.Fprintln(s.Stderr, "\norange: init: interrupted: nothing was written")
				return exitError{code: exitInterrupted, shown: true, err: ctx.Err()}
			}
			if err != nil {
				return err
			}
		}
		return u.write(ctx)
	})
	return cmd
}

// findSetup finds out what is set for the repository of this folder.
func (s session) findSetup(ctx context.Context) (*setup, error) {
	at, err := s.FindPlace(ctx, s.Cwd)
	if err != nil {
		return nil, err
	}
	if at.GitRoot == "" {
		return nil, fmt.Errorf("%s is not a git repository: run git init there, or go to one", s.Cwd)
	}
	u := &setup{session: s, settings: map[string]any{}, known: at.Project != ""}
	if u.known {
		if u.project, err = s.findProject(ctx, at.Project); err != nil {
			return nil, err
		}
	} else {
		u.project = s.newProject(at.GitRoot)
		if u.project.DefaultBranch, err = s.Repository.DefaultBranch(ctx, at.GitRoot); err != nil {
			return nil, err
		}
	}
	u.remote, _ = s.Repository.RemoteURL(ctx, at.GitRoot, "origin") // a repository may have none
	return u, nil
}

// settleQuestion answers a question: by its flag, by the person, or with what is set or the default.
func (u *setup) settleQuestion(ctx context.Context, q setupQuestion, given string, ask bool) error {
	have := q.have(u)
	value := cmp.Or(given, have, q.fallback)
	if ask {
		if q.prepare != nil {
			if err := q.prepare(ctx, u); err != nil {
				return err
			}
			value = cmp.Or(have, q.suggest(u))
		}
		for {
			answer, err := u.askQuestion(ctx, q, value)
			if err != nil {
				return err
			}
			answer = cmp.Or(answer, value)
			if answer == have {
				value = answer
				break
			}
			if err = q.check(ctx, u, answer); err == nil {
				value = answer
				break
			}
			fmt.Fprintln(u.Stdout, "  "+cleanLine(err.Error()))
		}
	} else {
		if q.prepare != nil && given == "" && have == "" {
			if err := q.prepare(ctx, u); err != nil {
				return err
			}
			value = q.defaultUnasked(u)
		}
		if value != have {
			if err := q.check(ctx, u, value); err != nil {
				return usageError("--%s: %w", q.flag, err)
			}
		}
	}
	changed := value != have && (have != "" || value != noAnswer)
	if changed {
		q.set(u, value)
	}
	u.said = append(u.said, setupAnswer{q.flag, value, changed})
	return nil
}

// askQuestion shows a question with what Enter means, and reads one line.
func (u *setup) askQuestion(ctx context.Context, q setupQuestion, value string) (string, error) {
	fmt.Fprintln(u.Stdout)
	for _, line := range q.explain(u) {
		fmt.Fprintln(u.Stdout, cleanText(line))
	}
	fmt.Fprintf(u.Stdout, "%s [%s]: ", q.ask, cleanLine(cmp.Or(value, "none")))
	line, err := u.readTyped(ctx)
	if err != nil && !errors.Is(err, io.EOF) {
		return "", err
	}
	if errors.Is(err, io.EOF) && line == "" {
		return "", errors.New("the input ended: nothing was written")
	}
	return line, nil
}

// readTyped reads a line from the terminal until ctx ends.
func (s session) readTyped(ctx context.Context) (string, error) {
	typed := make(chan typedLine, 1)
	go func() { // nothing can end a read of a terminal: after Ctrl-C it is left behind
		text, err := readLine(s.Stdin)
		typed <- typedLine{strings.TrimSpace(text), err}
	}()
	select {
	case <-ctx.Done():
		return "", ctx.Err()
	case line := <-typed:
		return line.text, line.err
	}
}

// write registers or changes the project, and writes config.json. It ends a server that has other settings.
func (u *setup) write(ctx context.Context) error {
	path := filepath.Join(u.Config.ConfigDir, "config.json")
	if len(u.settings) > 0 { // first: what can fail there fails before the project is changed
		if err := editConfig(path, u.settings); err != nil {
			return err
		}
	}
	var err error
	switch {
	case !u.known:
		var added wire.ProjectDetails
		if added, err = u.AddProject(ctx, u.project); err == nil {
			u.project = added.Project
		}
	case !u.change.IsEmpty():
		var changed wire.ProjectDetails
		if changed, err = u.UpdateProject(ctx, u.project.Name, u.change); err == nil {
			u.project = changed.Project
		}
	}
	if err != nil {
		return err
	}
	if len(u.settings) > 0 {
		if _, err := stopServer(ctx, u.Deps); err != nil { // the next command starts one with the new settings; agents continue
			return err
		}
	}
	const next = `orange run "Fix the login bug"`
	result := struct {
		Project task.Project  `json:"project"`
		Answers []setupAnswer `json:"answers"`
		Config  string        `json:"config"`
		Next    string        `json:"next"`
	}{u.project, u.said, path, next}
	return u.showResult(result, func(w io.Writer) error {
		fmt.Fprintln(w)
		rows := [][]string{}
		for _, a := range u.said {
			how := ""
			if a.Changed {
				how = "(new)"
			}
			rows = append(rows, []string{"  " + a.Name, cleanLine(cmp.Or(a.Value, "none")), how})
		}
		if err := printTable(w, 0, rows); err != nil {
			return err
		}
		what := "Changed"
		switch {
		case !u.known:
			what = "Added"
		case !slices.ContainsFunc(u.said, func(a setupAnswer) bool { return a.Changed }):
			what = "Nothing changed in"
		}
		_, err := fmt.Fprintf(w, "\n%s project %s (%s). Try it:\n\n  %s\n", what, u.project.Name, cleanLine(u.project.Path), next)
		return err
	})
}

// editConfig sets keys of config.json. The file keeps its mode, its other keys and, if it is a link, its place.
func editConfig(path string, set map[string]any) error {
	if real, err := filepath.EvalSymlinks(path); err == nil {
		path = real
	}
	mode := fs.FileMode(0o600)
	text, err := os.ReadFile(path)
	switch {
	case errors.Is(err, fs.ErrNotExist):
		if err := os.MkdirAll(filepath.Dir(path), 0o700); err != nil {
			return fmt.Errorf("write the configuration: %w", err)
		}
	case err != nil:
		return fmt.Errorf("read the configuration: %w", err)
	default:
		info, err := os.Stat(path)
		if err != nil {
			return fmt.Errorf("read the configuration: %w", err)
		}
		mode = info.Mode().Perm()
	}
	next, err := config.EditFile(text, set)
	if err != nil {
		return fmt.Errorf("%s: %w", path, err)
	}
	if err := atomicfile.Write(path, next, mode); err != nil {
		return fmt.Errorf("write the configuration: %w", err)
	}
	return nil
}
