package main

import (
	"errors"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
)

// A way is how a release gets onto a machine.
type way struct {
	name    string
	tool    string // that must be on this machine, "" for none
	install func(root) error
	remove  func(root) error // nil: there is no command that does
}

var ways = []way{
	{name: "tar.gz", install: installArchive},
	{name: "install.sh", install: installByScript},
	{name: "deb", tool: "dpkg", install: installDeb, remove: func(r root) error {
		return runCommand("", nil, "dpkg", "--root="+r.dir, "--log=/dev/null", "--purge", "orange")
	}},
	{name: "rpm", tool: "rpm", install: installRPM, remove: func(r root) error {
		return runCommand("", nil, "rpm", "--root="+r.dir, "--erase", "orange")
	}},
}

// try installs a release into a new root, runs it there and removes it.
func (w way) try(r root) error {
	if _, err := exec.LookPath(w.tool); w.tool != "" && err != nil {
		fmt.Printf("%s: not tested: %s is not on this machine\n", w.name, w.tool)
		return nil
	}
	if err := r.fill(); err != nil {
		return fmt.Errorf("make a root: %w", err)
	}
	if err := w.install(r); err != nil {
		return fmt.Errorf("install by %s: %w", w.name, err)
	}
	if err := r.tryOrange(); err != nil {
		return fmt.Errorf("installed by %s: %w", w.name, err)
	}
	if w.remove != nil {
		if err := w.remove(r); err != nil {
			return fmt.Errorf("remove by %s: %w", w.name, err)
		}
		if err := r.requireNothingLeft(); err != nil {
			return fmt.Errorf("removed by %s: %w", w.name, err)
		}
	}
	fmt.Printf("%s: installed and run\n", w.name)
	return nil
}

func installArchive(r root) error {
	_, err := r.run(`
cd /tmp
tar -xzf /release/orange_*_linux_*.tar.gz
cd orange_*_linux_*
ls LICENSE THIRD-PARTY-NOTICES.txt CHANGELOG.md man/man1/orange.1 completions/_orange completions/orange.bash completions/orange.fish
mv orange /usr/bin/orange`)
	return err
}

// installByScript also tries what install.sh must refuse.
func installByScript(r root) error {
	refusals := []struct{ script, says string }{
		{"cp -r /release /tmp/bad; for f in /tmp/bad/*.tar.gz; do echo x >>$f; done; sh /release/install.sh --from /tmp/bad", "nothing was installed"},
		{"cp -r /release /tmp/none; rm /tmp/none/SHA256SUMS; sh /release/install.sh --from /tmp/none", "it holds the sum"},
		{"sh /release/install.sh", "no release is published yet"},
	}
	for _, no := range refusals {
		out, err := r.run("if (" + no.script + "); then exit 3; fi; [ ! -e /usr/local/bin/orange ]")
		if err != nil {
			return err
		}
		if !strings.Contains(out, no.says) {
			return fmt.Errorf("%s: it does not say %q:\n%s", no.script, no.says, out)
		}
	}
	out, err := r.run("sh /release/install.sh --from /release")
	if err != nil {
		return err
	}
	if !strings.Contains(out, "Installed orange ") {
		return errors.New(out)
	}
	_, err = r.run("sh /release/install.sh --from /release/orange_*_linux_*.tar.gz --prefix /tmp/again; /tmp/again/bin/orange version; ls /tmp/again/share/man/man1/orange-task-create.1")
	return err
}

// installDeb installs the package into a database of the root, in which git and tmux are
// installed as they are here, so that dpkg checks what the package depends on.
func installDeb(r root) error {
	data := filepath.Join(r.dir, "var/lib/dpkg")
	for _, d := range []string{"info", "updates", "triggers"} {
		if err := os.MkdirAll(filepath.Join(data, d), 0o755); err != nil {
			return err
		}
	}
	status := ""
	for _, name := range []string{"git", "tmux"} {
		v, err := exec.Command("dpkg-query", "--showformat=${Version}", "--show", name).Output()
		if err != nil {
			return fmt.Errorf("find the version of %s: %w", name, err)
		}
		status += fmt.Sprintf("Package: %s\nStatus: install ok installed\nMaintainer: nobody\nArchitecture: all\nVersion: %s\nDescription: %s\n\n", name, v, name)
		if err := os.WriteFile(filepath.Join(data, "info", name+".list"), nil, 0o644); err != nil {
			return err
		}
	}
	if err := os.WriteFile(filepath.Join(data, "status"), []byte(status), 0o644); err != nil {
		return err
	}
	file, err := findOne(filepath.Join(r.dist, "*.deb"))
	if err != nil {
		return err
	}
	return runCommand("", nil, "dpkg", "--root="+r.dir, "--log=/dev/null", "--install", file)
}

// installRPM installs the package without looking at what it depends on: the root has no
// database of packages.
func installRPM(r root) error {
	file, err := findOne(filepath.Join(r.dist, "*.rpm"))
	if err != nil {
		return err
	}
	return runCommand("", nil, "rpm", "--root="+r.dir, "--install", "--nodeps", file)
}

func findOne(pattern string) (string, error) {
	files, err := filepath.Glob(pattern)
	if err != nil {
		return "", err
	}
	if len(files) != 1 {
		return "", fmt.Errorf("%s: %d files, want 1", pattern, len(files))
	}
	return files[0], nil
}
