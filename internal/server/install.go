package server

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"strings"

	"orange/internal/adapter/harness"
	"orange/internal/atomicfile"
	"orange/internal/config"
	"orange/internal/core/agent"
	"orange/internal/core/prompt"
	"orange/internal/ui/cli"
)

// InstallSkill writes the skill into the skill folders of the harnesses that are named, or of all that are installed. It
// does not replace another skill of the same name.
func InstallSkill(_ context.Context, wanted []string, dry bool) ([]cli.Installed, error) {
	home, err := os.UserHomeDir()
	if err != nil {
		return nil, err
	}
	dirs := harness.SkillDirs(home, config.Getenv)
	if len(wanted) == 0 {
		for _, name := range agent.HarnessNames() {
			if found, err := harness.Find(name); err == nil && inPATH(found.Program()) {
				wanted = append(wanted, name)
			}
		}
	}
	if len(wanted) == 0 {
		return nil, fmt.Errorf("no coding agent is installed: install one of %s, or name one with --harness", strings.Join(agent.HarnessNames(), ", "))
	}
	var out []cli.Installed
	for _, name := range wanted {
		dir, ok := dirs[name]
		if !ok {
			return out, fmt.Errorf("harness %q has no skills folder: use %s", name, strings.Join(agent.HarnessNames(), ", "))
		}
		one := cli.Installed{Harness: name, Path: filepath.Join(dir, "orange", "SKILL.md")}
		if one.Status, err = putSkill(one.Path, dry); err != nil {
			return out, err
		}
		out = append(out, one)
	}
	return out, nil
}

func inPATH(program string) bool {
	_, err := exec.LookPath(program)
	return program != "" && err == nil
}

// putSkill writes the skill unless the file is up to date, and returns what it did.
func putSkill(path string, dry bool) (status string, err error) {
	have, err := os.ReadFile(path)
	switch {
	case err == nil && string(have) == prompt.Skill:
		return "up to date", nil
	case err == nil && !bytes.Contains(have, []byte("\nname: orange\n")):
		return "", fmt.Errorf("%s is another skill: move it to another folder", path)
	case err != nil && !errors.Is(err, os.ErrNotExist):
		return "", err
	}
	status = "written"
	if have != nil {
		status = "updated"
	}
	if dry {
		return "would be " + status, nil
	}
	if err := os.MkdirAll(filepath.Dir(path), 0o755); err != nil {
		return "", err
	}
	return status, atomicfile.Write(path, []byte(prompt.Skill), 0o644)
}
