package main

import (
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"runtime"
	"slices"
)

// program is where the program for t is built.
func (r release) program(t target) string {
	return filepath.Join(r.work, t.os+"_"+t.arch, "orange")
}

// hostProgram is a program that runs here.
func (r release) hostProgram() string {
	return r.program(target{runtime.GOOS, runtime.GOARCH})
}

// buildPrograms builds the program for every target, and for this machine: it writes its own
// manual.
func (r release) buildPrograms() error {
	targets := r.targets
	if host := (target{runtime.GOOS, runtime.GOARCH}); !slices.Contains(targets, host) {
		targets = append(slices.Clone(targets), host)
	}
	for _, t := range targets {
		fmt.Println("building", t)
		if err := r.buildProgram(t); err != nil {
			return err
		}
	}
	return nil
}

// buildProgram leaves nothing of the machine in the program: no folder, no C library, no
// settings of the user, no feature level of the processor.
func (r release) buildProgram(t target) error {
	cmd := exec.Command("go", "build", "-trimpath", "-buildvcs=false",
		"-ldflags", "-s -w -buildid= -X main.version="+r.version+" -X main.commit="+r.commit,
		"-o", r.program(t), "./cmd/orange")
	cmd.Dir, cmd.Stdout, cmd.Stderr = r.repo, os.Stdout, os.Stderr
	cmd.Env = append(os.Environ(), "CGO_ENABLED=0", "GOOS="+t.os, "GOARCH="+t.arch, "GOAMD64=v1", "GOARM64=v8.0",
		"GOFLAGS=", "GOEXPERIMENT=", "GOWORK=off", "GOFIPS140=off")
	if err := cmd.Run(); err != nil {
		return fmt.Errorf("build for %s: %w", t, err)
	}
	return nil
}

// completions are the files that the program writes for shells.
var completions = []struct{ shell, file string }{{"bash", "orange.bash"}, {"zsh", "_orange"}, {"fish", "orange.fish"}}

// writeManual lets the program write its manual pages and the completion of three shells.
func (r release) writeManual() error {
	home := filepath.Join(r.work, "home")
	run := func(args ...string) ([]byte, error) {
		cmd := exec.Command(r.hostProgram(), args...)
		cmd.Env = []string{"HOME=" + home, "PATH=" + os.Getenv("PATH"), "LC_ALL=C"}
		cmd.Dir, cmd.Stderr = r.work, os.Stderr
		return cmd.Output()
	}
	if _, err := run("man", filepath.Join(r.work, "man1")); err != nil {
		return fmt.Errorf("write the manual: %w", err)
	}
	if err := os.MkdirAll(filepath.Join(r.work, "completions"), 0o755); err != nil {
		return err
	}
	for _, c := range completions {
		text, err := run("completion", c.shell)
		if err != nil {
			return fmt.Errorf("write the completion for %s: %w", c.shell, err)
		}
		if err := os.WriteFile(filepath.Join(r.work, "completions", c.file), text, 0o644); err != nil {
			return err
		}
	}
	return nil
}
