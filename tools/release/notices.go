package main

import (
	"bytes"
	"debug/buildinfo"
	"encoding/json"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"runtime/debug"
	"strings"
)

const noticesName = "THIRD-PARTY-NOTICES.txt"

// licenceName matches the files that hold the terms of a module, such as LICENSE,
// LICENSE-GO, SQLITE-LICENSE, COPYING.md, NOTICE and PATENTS.
var licenceName = regexp.MustCompile(`(?i)^([a-z0-9.-]*-)?(licen[cs]es?|copying|notice|patents|unlicense|copyright)([.-][a-z0-9.-]*)?$`)

func isLicence(name string) bool {
	return licenceName.MatchString(name) && filepath.Ext(name) != ".go"
}

// notices is where the licences of what is in the program for t are written.
func (r release) notices(t target) string {
	return filepath.Join(filepath.Dir(r.program(t)), noticesName)
}

// writeNotices collects, for every target, the licence files of Go and of every module in the
// program. A module without one must not be shipped.
func (r release) writeNotices() error {
	root, err := r.runGo("env", "GOROOT")
	if err != nil {
		return err
	}
	for _, t := range r.targets {
		info, err := buildinfo.ReadFile(r.program(t))
		if err != nil {
			return err
		}
		var text bytes.Buffer
		text.WriteString("Orange contains the Go standard library and the modules below. Their licences follow.\n")
		if err := appendLicences(&text, "The Go standard library", strings.TrimSpace(string(root))); err != nil {
			return err
		}
		for _, m := range info.Deps { // sorted by path
			if m.Replace != nil {
				m = m.Replace
			}
			dir, err := r.findModule(m)
			if err != nil {
				return err
			}
			if err := appendLicences(&text, m.Path+" "+m.Version, dir); err != nil {
				return err
			}
		}
		if err := os.WriteFile(r.notices(t), text.Bytes(), 0o644); err != nil {
			return err
		}
	}
	return nil
}

// findModule returns the folder of a module in the module cache.
func (r release) findModule(m *debug.Module) (string, error) {
	out, err := r.runGo("mod", "download", "-json", m.Path+"@"+m.Version)
	if err != nil {
		return "", err
	}
	var found struct{ Dir string }
	if err := json.Unmarshal(out, &found); err != nil {
		return "", fmt.Errorf("find module %s: %w", m.Path, err)
	}
	return found.Dir, nil
}

// appendLicences writes the licence files in dir below a heading.
func appendLicences(text *bytes.Buffer, heading, dir string) error {
	entries, err := os.ReadDir(dir)
	if err != nil {
		return err
	}
	rule := strings.Repeat("=", 80)
	fmt.Fprintf(text, "\n%s\n%s\n%s\n", rule, heading, rule)
	n := 0
	for _, e := range entries {
		if !e.Type().IsRegular() || !isLicence(e.Name()) {
			continue
		}
		content, err := os.ReadFile(filepath.Join(dir, e.Name()))
		if err != nil {
			return err
		}
		fmt.Fprintf(text, "\n--- %s\n\n%s\n", e.Name(), bytes.TrimSpace(bytes.ReplaceAll(content, []byte("\r\n"), []byte("\n"))))
		n++
	}
	if n == 0 {
		return fmt.Errorf("%s has no licence file in %s: it must not be part of a release", heading, dir)
	}
	return nil
}

func (r release) runGo(args ...string) ([]byte, error) {
	cmd := exec.Command("go", args...)
	cmd.Dir, cmd.Stderr = r.repo, os.Stderr
	cmd.Env = append(os.Environ(), "GOFLAGS=-mod=mod", "GOWORK=off")
	out, err := cmd.Output()
	if err != nil {
		return nil, fmt.Errorf("go %s: %w", strings.Join(args, " "), err)
	}
	return out, nil
}
