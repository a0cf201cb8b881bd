package cli_test

import (
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"

	"github.com/spf13/cobra"

	"orange/internal/ui/cli"
)

func TestEveryCommandHasAManualPage(t *testing.T) {
	w := newEnv(t)
	w.Cwd = t.TempDir()
	if code := w.run(t, "man", "pages"); code != 0 || !strings.HasPrefix(w.out.String(), "Wrote ") {
		t.Fatal(code, w.out.String(), w.err.String())
	}
	n := 0
	var visit func(cmd *cobra.Command)
	visit = func(cmd *cobra.Command) {
		if !cmd.IsAvailableCommand() && cmd.HasParent() {
			return
		}
		n++
		name := strings.ReplaceAll(cmd.CommandPath(), " ", "-")
		text, err := os.ReadFile(filepath.Join(w.Cwd, "pages", name+".1"))
		if err != nil {
			t.Error(err)
			return
		}
		for _, section := range []string{`.SH "NAME"`, `.SH "SYNOPSIS"`, `.SH "DESCRIPTION"`} {
			if !strings.Contains(string(text), section) {
				t.Errorf("%s has no section %s", name, section)
			}
		}
		if cmd.HasAvailableSubCommands() != strings.Contains(string(text), `.SH "COMMANDS"`) {
			t.Errorf("%s: the commands below it", name)
		}
		for _, c := range cmd.Commands() {
			visit(c)
		}
	}
	visit(cli.New(w.Deps))
	if pages, _ := filepath.Glob(filepath.Join(w.Cwd, "pages", "*.1")); len(pages) != n || n < 60 {
		t.Errorf("%d pages for %d commands", len(pages), n)
	}
	w.run(t, "man")
	first := w.out.String()
	if w.run(t, "man"); w.out.String() != first || !strings.Contains(first, `.SH "EXIT STATUS"`) || !strings.Contains(first, "ORANGE_HOME") {
		t.Errorf("the page of orange: %s", first)
	}
}

func TestManualPagesHaveNoWarnings(t *testing.T) {
	w := newEnv(t)
	w.Cwd = t.TempDir()
	w.run(t, "man", ".")
	pages, _ := filepath.Glob(filepath.Join(w.Cwd, "*.1"))
	for _, check := range [][]string{{"groff", "-man", "-Tutf8", "-ww", "-z"}, {"mandoc", "-Tlint", "-W", "warning"}} {
		program, err := exec.LookPath(check[0])
		if err != nil {
			t.Log(err)
			continue
		}
		if out, err := exec.Command(program, append(check[1:], pages...)...).CombinedOutput(); err != nil || len(out) > 0 {
			t.Errorf("%s: %v\n%s", check[0], err, out)
		}
	}
}

func TestCommandsSayMoreThanTheirName(t *testing.T) {
	var visit func(cmd *cobra.Command)
	visit = func(cmd *cobra.Command) {
		if cmd.IsAvailableCommand() && !cmd.HasSubCommands() && (cmd.Long == "" || cmd.Example == "") {
			t.Errorf("%s: say at length what it does, and give an example", cmd.CommandPath())
		}
		for _, c := range cmd.Commands() {
			visit(c)
		}
	}
	visit(cli.New(newEnv(t).Deps))
}

// The argument is a folder: the name of a command creates no folder of that name by accident.
func TestManWritesNoFolderNamedLikeACommand(t *testing.T) {
	w := newEnv(t)
	w.Cwd = t.TempDir()
	for name, command := range map[string]string{"task-verdict": "orange task verdict", "orange-task-verdict": "orange task verdict", "task": "orange task", "orange": "orange"} {
		code := w.run(t, "man", name)
		if want := "the argument is a folder for the pages of all commands, and " + name + " is a command: read " + command + " --help"; code != 2 || !strings.Contains(w.err.String(), want) {
			t.Errorf("%s: exit %d: %s", name, code, w.err.String())
		}
		if _, err := os.Stat(filepath.Join(w.Cwd, name)); err == nil {
			t.Errorf("the folder %s was made", name)
		}
	}
	for range 2 { // the second time the folder is there
		if code := w.run(t, "man", "./task-verdict"); code != 0 {
			t.Errorf("exit %d: %s", code, w.err.String())
		}
	}
	if code := w.run(t, "man", "task-verdict"); code != 0 {
		t.Errorf("a folder that is there: exit %d: %s", code, w.err.String())
	}
}
