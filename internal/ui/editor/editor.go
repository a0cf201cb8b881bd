// Package editor lets a person write a text in their own editor, the one that VISUAL or EDITOR names. It is for the
// command line and the dashboard; it starts nothing itself.
package editor

import (
	"context"
	"errors"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"unicode/utf8"
)

// Find returns the command of the person's editor. The error says what else to do.
func Find(environ []string, otherwise string) (string, error) {
	for _, name := range []string{"VISUAL=", "EDITOR="} {
		for _, kv := range environ {
			if value, ok := strings.CutPrefix(kv, name); ok && strings.TrimSpace(value) != "" {
				return strings.TrimSpace(value), nil
			}
		}
	}
	return "", errors.New("no editor is set: set VISUAL or EDITOR, as in VISUAL=vim, or " + otherwise)
}

// CommandLine returns the arguments that open a path in an editor. The variable may have arguments of its own.
func CommandLine(editor, path string) []string {
	return []string{"sh", "-c", editor + ` "$@"`, editor, path}
}

// Draft is a text in a temporary file for an editor.
type Draft struct {
	editor, dir, path string
	environ           []string
}

// NewDraft writes a text into a temporary file of its own, which Finish removes.
func NewDraft(environ []string, name, text, otherwise string) (*Draft, error) {
	editor, err := Find(environ, otherwise)
	if err != nil {
		return nil, err
	}
	dir, err := os.MkdirTemp("", "orange-edit-")
	if err != nil {
		return nil, fmt.Errorf("make a file for the editor: %w", err)
	}
	d := &Draft{editor, dir, filepath.Join(dir, name), environ}
	if err := os.WriteFile(d.path, []byte(text), 0o600); err != nil {
		d.remove()
		return nil, fmt.Errorf("make a file for the editor: %w", err)
	}
	return d, nil
}

// Command returns the command that opens the file. It has the person's environment and no input or output yet.
func (d *Draft) Command(ctx context.Context) *exec.Cmd {
	argv := CommandLine(d.editor, d.path)
	cmd := exec.CommandContext(ctx, argv[0], argv[1:]...)
	cmd.Env = d.environ
	return cmd
}

// Finish returns what was written, and removes the file. failed is the error of the command.
func (d *Draft) Finish(failed error) (string, error) {
	defer d.remove()
	if failed != nil {
		return "", fmt.Errorf("the editor %s failed, nothing changed: %w", d.editor, failed)
	}
	text, err := os.ReadFile(d.path)
	switch {
	case err != nil:
		return "", fmt.Errorf("read what was edited: %w", err)
	case !utf8.Valid(text):
		return "", errors.New("what was edited is not text: give UTF-8")
	}
	return string(text), nil
}

func (d *Draft) remove() { os.RemoveAll(d.dir) } //nolint:errcheck // a temporary folder
