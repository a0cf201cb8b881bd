package release

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"os/exec"
	"path"
	"path/filepath"
	"runtime"
	"strings"
	"syscall"
	"time"

	"orange/internal/atomicfile"
)

// answerTime is how long a new program may take to say its version.
const answerTime = 30 * time.Second

// An Upgrade is a program that is ready to take the place of the installed one.
type Upgrade struct {
	Program string // the installed program
	Same    bool   // the installed program is the same, byte for byte
	source  *Source
	staged  string // beside the installed program
}

// Prepare copies the program of a source beside the installed one. The caller must call Discard.
func (s *Source) Prepare(ctx context.Context, program string) (*Upgrade, error) {
	program, err := filepath.EvalSymlinks(program)
	if err != nil {
		return nil, fmt.Errorf("find the installed program: %w", err)
	}
	if err := requireNoPackage(ctx, program); err != nil {
		return nil, err
	}
	old, err := os.ReadFile(program)
	if err != nil {
		return nil, fmt.Errorf("read the installed program: %w", err)
	}
	u := &Upgrade{Program: program, source: s, Same: bytes.Equal(old, s.program)}
	if u.staged, err = stage(program, s.program); err != nil {
		return nil, err
	}
	return u, nil
}

// stage writes a program into the folder of another, with its mode and owner.
func stage(program string, text []byte) (string, error) {
	f, err := os.CreateTemp(filepath.Dir(program), ".orange-new-*")
	if err != nil {
		return "", fmt.Errorf("write beside the installed program: %w: run install.sh of the release with the rights that its folder needs, such as sudo, and then orange restart", err)
	}
	_, err = f.Write(text)
	info, statErr := os.Stat(program)
	if err = errors.Join(err, statErr); err == nil {
		err = f.Chmod(info.Mode().Perm() | 0o500)
	}
	if err == nil {
		if was, ok := info.Sys().(*syscall.Stat_t); ok && os.Getuid() == 0 {
			err = f.Chown(int(was.Uid), int(was.Gid))
		}
	}
	if err = errors.Join(err, f.Sync(), f.Close()); err != nil {
		return "", errors.Join(fmt.Errorf("write beside the installed program: %w", err), os.Remove(f.Name()))
	}
	return f.Name(), nil
}

// AskVersion runs the new program and returns what it prints about its version, as JSON.
func (u *Upgrade) AskVersion(ctx context.Context) ([]byte, error) {
	ctx, cancel := context.WithTimeout(ctx, answerTime)
	defer cancel()
	cmd := exec.CommandContext(ctx, u.staged, "version", "--json")
	cmd.Env, cmd.Dir, cmd.WaitDelay = []string{"ORANGE_HOME=/nonexistent", "HOME=/nonexistent"}, "/", time.Second
	out, err := cmd.Output()
	switch {
	case errors.Is(err, syscall.ENOEXEC):
		return nil, fmt.Errorf("%s is not a program for this machine, %s/%s", u.source.File, runtime.GOOS, runtime.GOARCH)
	case err != nil:
		return nil, fmt.Errorf("%s does not run here: %w", u.source.File, err)
	}
	return out, nil
}

// previous is the name of the old program while the new one is tried.
func (u *Upgrade) previous() string { return u.Program + ".previous" }

// Replace puts the new program in place and keeps the old one beside it. At every moment one of them
// is in place, whole.
func (u *Upgrade) Replace() error {
	if err := os.Remove(u.previous()); err != nil && !errors.Is(err, fs.ErrNotExist) {
		return fmt.Errorf("keep the old program: %w", err)
	}
	if err := os.Link(u.Program, u.previous()); err != nil {
		return fmt.Errorf("keep the old program: %w", err)
	}
	if err := os.Rename(u.staged, u.Program); err != nil {
		return errors.Join(fmt.Errorf("replace the program: %w", err), os.Remove(u.previous()))
	}
	return atomicfile.SyncFolder(filepath.Dir(u.Program))
}

// Undo puts the old program back.
func (u *Upgrade) Undo() error {
	if err := os.Rename(u.previous(), u.Program); err != nil {
		return fmt.Errorf("put the old program back: %w: it is %s", err, u.previous())
	}
	return atomicfile.SyncFolder(filepath.Dir(u.Program))
}

// Finish removes the old program, and replaces the manual pages, completions and documents that
// install.sh put beside it.
func (u *Upgrade) Finish() error {
	err := os.Remove(u.previous())
	prefix := filepath.Dir(filepath.Dir(u.Program))
	for name, text := range u.source.others {
		file := filepath.Join(prefix, shared(name))
		if _, statErr := os.Stat(filepath.Dir(file)); shared(name) == "" || statErr != nil || !u.isInstalled(prefix) {
			continue
		}
		err = errors.Join(err, atomicfile.Write(file, text, 0o644))
	}
	return err
}

// isInstalled reports whether install.sh put the files of a release below prefix.
func (u *Upgrade) isInstalled(prefix string) bool {
	_, err := os.Stat(filepath.Join(prefix, shared("CHANGELOG.md")))
	return err == nil && filepath.Base(filepath.Dir(u.Program)) == "bin"
}

// shared returns where install.sh puts a file of an archive, below its prefix; "" if nowhere.
func shared(name string) string {
	switch dir, base := path.Split(name); {
	case name == "completions/orange.bash":
		return "share/bash-completion/completions/orange"
	case name == "completions/_orange":
		return "share/zsh/site-functions/_orange"
	case name == "completions/orange.fish":
		return "share/fish/vendor_completions.d/orange.fish"
	case dir == "man/man1/" && strings.HasSuffix(base, ".1"):
		return "share/" + name
	case dir == "":
		return "share/doc/orange/" + name
	}
	return ""
}

// Discard removes what Prepare wrote, if it was not put in place.
func (u *Upgrade) Discard() {
	os.Remove(u.staged) //nolint:errcheck // it may be in place
}

// requireNoPackage returns an error if a package manager owns a program: replaced behind its back,
// the next update of packages would bring an older program.
func requireNoPackage(ctx context.Context, program string) error {
	if strings.Contains(program, "/Cellar/") {
		return fmt.Errorf("%s belongs to Homebrew: run brew upgrade orange, and then orange restart", program)
	}
	for _, manager := range []struct {
		name, update string
		query        []string
	}{
		{"dpkg", "sudo dpkg -i FILE.deb", []string{"dpkg-query", "--search"}},
		{"rpm", "sudo rpm -U FILE.rpm", []string{"rpm", "--query", "--file"}},
	} {
		cmd := exec.CommandContext(ctx, manager.query[0], append(manager.query[1:], program)...)
		cmd.WaitDelay = time.Second
		if out, err := cmd.Output(); err == nil {
			owner, _, _ := strings.Cut(strings.TrimSpace(string(out)), "\n")
			return fmt.Errorf("%s belongs to a package of %s (%.80s): run %s, and then orange restart", program, manager.name, owner, manager.update)
		}
	}
	return nil
}
