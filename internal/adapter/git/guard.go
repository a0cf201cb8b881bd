package git

import (
	"bytes"
	"context"
	"crypto/sha256"
	"encoding/hex"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"sync"
	"time"

	"golang.org/x/sys/unix"

	"orange/internal/core/task"
	"orange/internal/lazy"
)

// A Guard stops git from running programs that nobody has trusted. Before each command it
// compares the programs in git's configuration with the trusted ones, and passes settings that
// stop git from running the others. It reads the configuration from git again only if a file
// that the configuration, a hook or a program consists of has changed.
type Guard struct {
	// Hooks is the folder in which Orange keeps hooks that call the trusted ones.
	Hooks string
	// Trusted returns the project of a repository, given by its common git folder, and the
	// programs that are trusted there. A repository without a project has no trusted programs.
	Trusted func(common string) (project string, programs []task.GitProgram)

	mu          sync.Mutex
	inspections map[string]*inspection
}

// An inspection is the result of looking for programs at one place.
type inspection struct {
	settings []setting
	programs []task.GitProgram
	finder   programFinder
	stats    map[string]fileStat
	settled  bool // no file had changed just before it was read
}

// WithGuard returns a copy of g that runs only the programs that the guard allows.
func (g *Git) WithGuard(guard *Guard) *Git {
	other := *g
	other.guard = guard
	return &other
}

// ListPrograms lists the programs that git would run in the working tree at dir.
func (g *Git) ListPrograms(ctx context.Context, dir string) ([]task.GitProgram, error) {
	guard := g.guard
	if guard == nil {
		guard = &Guard{}
	}
	found, err := guard.inspectPrograms(ctx, g, call{dir: dir})
	if err != nil {
		return nil, err
	}
	return slices.Clone(found.programs), nil
}

// UntrustedPrograms lists the programs that the guard keeps git from running in the working tree at
// dir.
func (g *Git) UntrustedPrograms(ctx context.Context, dir string) ([]task.GitProgram, error) {
	if g.guard == nil {
		return nil, nil
	}
	found, err := g.guard.inspectPrograms(ctx, g, call{dir: dir})
	if err != nil {
		return nil, err
	}
	_, trusted := g.guard.Trusted(found.finder.common)
	return task.UntrustedGitPrograms(found.programs, trusted), nil
}

// A ruling is a guard's decision about one command.
type ruling struct {
	project  string
	settings []setting // settings to pass to git
	withheld []task.GitProgram
	ssh      bool // commits are signed with ssh
	keys     bool // the command may use keys and passwords
}

// ruleOnCall returns the ruling on a command.
func (r *Guard) ruleOnCall(ctx context.Context, g *Git, c call) (*ruling, error) {
	found, err := r.inspectPrograms(ctx, g, c)
	if err != nil {
		return nil, err
	}
	project, trusted := r.Trusted(found.finder.common)
	out := &ruling{project: project, withheld: task.UntrustedGitPrograms(found.programs, trusted)}
	out.settings = []setting{
		{key: "core.fsmonitor", value: "false"}, {key: "log.showSignature", value: "false"},
		{key: "submodule.recurse", value: "false"}, {key: "fetch.recurseSubmodules", value: "false"},
		{key: "credential.helper"}, // clears the helpers of the configuration
	}
	pass := func(list ...setting) { out.settings = append(out.settings, list...) }
	hooks := map[string]string{} // trusted hooks, and the commands that run them
	hooksPath, named := "", false
	fetches := false // files may be missing here and are fetched when they are written
	for _, s := range found.settings {
		switch {
		case s.key == "core.hookspath":
			hooksPath, named = s.value, true
		case s.key == "gpg.format":
			out.ssh = s.value == "ssh"
		case s.key == "extensions.partialclone", strings.HasPrefix(s.key, "remote.") && strings.HasSuffix(s.key, ".promisor") && s.value != "false":
			fetches = true
		case s.key == "push.recursesubmodules" && (s.value == "on-demand" || s.value == "only"):
			pass(setting{key: "push.recurseSubmodules", value: "check"})
		}
	}
	programs := found.programs
	for _, dir := range c.inside {
		untrusted, err := g.UntrustedPrograms(ctx, dir)
		if err != nil {
			return nil, err
		}
		programs, out.withheld = append(slices.Clone(programs), untrusted...), append(out.withheld, untrusted...)
	}
	fetches = fetches || slices.ContainsFunc(programs, func(p task.GitProgram) bool { return p.Kind == task.GitFilter && !strings.HasSuffix(p.Key, ".clean") })
	out.keys = c.network || fetches && len(out.withheld) == 0 && (c.writesFiles() || slices.Contains(c.args, "--filters"))
	run, _ := found.finder.hooksFolder(hooksPath, named)
	for _, p := range programs {
		untrusted := slices.ContainsFunc(out.withheld, p.SameAs)
		switch {
		case p.Kind == task.GitHook && !untrusted:
			hooks[p.Key] = run + "/" + p.Key
		case p.Kind == task.GitCredential && !untrusted && out.keys:
			pass(setting{key: p.Key, value: p.Command})
		case p.Kind == task.GitHook || p.Kind == task.GitCredential:
		case untrusted:
			pass(switchedOff(p.Key)...)
			if name, ok := filterName(p); ok { // git then refuses to write a file that needs the filter
				pass(setting{key: "filter." + name + ".required", value: fmt.Sprint(c.writesFiles())})
			}
		}
	}
	folder, err := r.hooksFor(hooks)
	pass(setting{key: "core.hooksPath", value: folder})
	return out, err
}

// filterName returns the name of the filter that a program is part of.
func filterName(p task.GitProgram) (string, bool) {
	_, name, _ := setting{key: p.Key}.splitKey()
	return name, p.Kind == task.GitFilter
}

// writesFiles reports whether a command writes files of a working tree, or a merge, from what
// the repository contains. Such a command must not run without a filter that its files need.
func (c call) writesFiles() bool {
	switch c.args[0] {
	case "switch", "checkout", "checkout-index", "reset", "merge", "merge-tree", "bisect":
		return true
	case "worktree":
		return len(c.args) > 1 && c.args[1] == "add"
	}
	return false
}

// makesSignature reports whether a command signs.
func (c call) makesSignature() bool { return slices.Contains(c.args, "-S") }

// hooksFor returns a folder with one script per hook; each script calls its hook. A hook that
// appears next to the trusted ones is not in it. Without hooks, hooksFor creates no folder and
// returns "".
func (r *Guard) hooksFor(hooks map[string]string) (string, error) {
	if len(hooks) == 0 || r.Hooks == "" {
		return os.DevNull, nil
	}
	scripts := make(map[string][]byte, len(hooks))
	var all bytes.Buffer
	for _, name := range hookNames {
		if path, ok := hooks[name]; ok {
			scripts[name] = []byte("#!/bin/sh\nexec '" + strings.ReplaceAll(path, "'", `'\''`) + "' \"$@\"\n")
			fmt.Fprintf(&all, "%s\x00%s\x00", name, scripts[name])
		}
	}
	sum := sha256.Sum256(all.Bytes())
	folder := filepath.Join(r.Hooks, hex.EncodeToString(sum[:8]))
	r.mu.Lock()
	defer r.mu.Unlock()
	if hasExactly(folder, scripts) {
		return folder, nil
	}
	err := errors.Join(os.MkdirAll(r.Hooks, 0o700), os.RemoveAll(folder))
	temp, tempErr := os.MkdirTemp(r.Hooks, ".making-*")
	if err = errors.Join(err, tempErr); err != nil {
		return "", fmt.Errorf("create the folder for git hooks: %w", err)
	}
	for name, text := range scripts {
		err = errors.Join(err, os.WriteFile(filepath.Join(temp, name), text, 0o700))
	}
	if err == nil {
		err = os.Rename(temp, folder)
	}
	if err != nil {
		err = errors.Join(fmt.Errorf("create the folder for git hooks: %w", err), os.RemoveAll(temp))
		if hasExactly(folder, scripts) { // another process has created it in the meantime
			return folder, nil
		}
		return "", err
	}
	return folder, nil
}

// hasExactly reports whether a folder contains these files and no others.
func hasExactly(folder string, files map[string][]byte) bool {
	entries, err := os.ReadDir(folder)
	if err != nil || len(entries) != len(files) {
		return false
	}
	for _, e := range entries {
		text, err := os.ReadFile(filepath.Join(folder, e.Name()))
		if want, ok := files[e.Name()]; err != nil || !ok || !bytes.Equal(text, want) {
			return false
		}
	}
	return true
}

// refusalReason returns why a command must not run at all, or "" if it may: it would connect
// and needs a program that is withheld, or it would skip a hook that may reject it. Such
// programs cannot be switched off by settings, because git uses the first value of some
// settings.
func (r *ruling) refusalReason(c call) string {
	hook := c.decidingHook()
	needed := slices.DeleteFunc(slices.Clone(r.withheld), func(p task.GitProgram) bool {
		return !(c.network && p.Kind == task.GitTransport) && !(p.Kind == task.GitHook && p.Key == hook)
	})
	if len(needed) == 0 {
		return ""
	}
	return notTrusted(r.project, needed)
}

// decidingHook returns the hook that may reject a command, or "" if there is none.
func (c call) decidingHook() string {
	switch {
	case c.args[0] == "push":
		return "pre-push"
	case c.args[0] == "hook" && len(c.args) > 2:
		if i := slices.IndexFunc(c.args[2:], func(arg string) bool { return !strings.HasPrefix(arg, "-") }); i >= 0 {
			return c.args[2+i]
		}
	}
	return ""
}

func (r *ruling) withholdsKind(kind task.GitProgramKind) bool {
	return slices.ContainsFunc(r.withheld, func(p task.GitProgram) bool { return p.Kind == kind })
}

// explainFailure returns why a command failed if it needed a program that is withheld, and ""
// otherwise.
func (r *ruling) explainFailure(c call, stderr string) string {
	if r == nil {
		return ""
	}
	var needed []task.GitProgram
	for _, p := range r.withheld {
		name, isFilter := filterName(p)
		switch {
		case isFilter && slices.ContainsFunc(filterFailed.FindAllStringSubmatch(stderr, -1), func(m []string) bool { return m[1] == name }),
			p.Kind == task.GitMerge && strings.Contains(stderr, driverMark),
			p.Kind == task.GitSign && c.makesSignature(),
			p.Kind == task.GitCredential && c.network:
			needed = append(needed, p)
		}
	}
	if len(needed) == 0 {
		return ""
	}
	return notTrusted(r.project, needed)
}

var filterFailed = lazy.NewRegexp(`(?:clean|smudge) filter '?(.+?)'? failed`)

// notTrusted returns a message that names the programs git may not run and what the user can
// do.
func notTrusted(project string, programs []task.GitProgram) string {
	var keys []string
	for _, p := range programs {
		if p.Kind == task.GitHook {
			keys = append(keys, "the hook "+p.Key)
			continue
		}
		keys = append(keys, p.Key)
	}
	if project == "" {
		return fmt.Sprintf("Orange does not run %s, because this repository belongs to no project: use the project's own repository", someNames(keys))
	}
	if !slices.ContainsFunc(programs, func(p task.GitProgram) bool { return !isAddress(p) }) {
		return fmt.Sprintf("Orange does not connect to the folder or command that %s names, which nobody has trusted: review it, then run orange project update %s --trust-git", someNames(keys), project)
	}
	return fmt.Sprintf("Orange does not run %s, which nobody has trusted: review it, then run orange project update %s --trust-git", someNames(keys), project)
}

// A fileStat identifies a version of a file. It includes the change time, which programs cannot
// set.
type fileStat struct {
	there         bool
	dev, ino      uint64
	size          int64
	mode          uint32
	mtime, change int64
}

func statOf(path string) fileStat {
	var s unix.Stat_t
	if unix.Stat(path, &s) != nil {
		return fileStat{}
	}
	return fileStat{there: true, dev: uint64(s.Dev), ino: s.Ino, size: s.Size, mode: uint32(s.Mode), mtime: s.Mtim.Nano(), change: s.Ctim.Nano()}
}

// timeResolution is an upper bound for the resolution of file times.
const timeResolution = 50 * time.Millisecond

// inspectPrograms finds the programs at the place where a command runs. An earlier inspection
// is valid as long as none of its files has changed.
func (r *Guard) inspectPrograms(ctx context.Context, g *Git, c call) (*inspection, error) {
	l, top := layoutFor(c)
	place := c.dir + "\x00" + l.git
	r.mu.Lock()
	known := r.inspections[place]
	r.mu.Unlock()
	if known != nil && known.settled && known.isUnchanged() {
		return known, nil
	}
	found, err := g.inspectConfig(ctx, c, l, top)
	if err != nil {
		return nil, err
	}
	r.mu.Lock()
	defer r.mu.Unlock()
	if r.inspections == nil || len(r.inspections) > maxInspections {
		r.inspections = map[string]*inspection{}
	}
	r.inspections[place] = found
	return found, nil
}

// maxInspections is the number of places that are cached.
const maxInspections = 4096

func (l *inspection) isUnchanged() bool {
	for path, before := range l.stats {
		if statOf(path) != before {
			return false
		}
	}
	return true
}

// layoutFor returns the layout that a command works with and the top of the working tree. Both
// are zero where there is no repository.
func layoutFor(c call) (l layout, top string) {
	for _, v := range c.env {
		if dir, ok := strings.CutPrefix(v, "GIT_DIR="); ok {
			l.git, l.common = dir, dir
			if common, err := readPath(filepath.Join(dir, "commondir"), "", dir); err == nil {
				l.common = common
			}
			return l, c.dir
		}
	}
	l, err := layoutOf(c.dir)
	if err != nil {
		if pathExists(c.dir, "HEAD") && pathExists(c.dir, "objects") {
			return layout{git: c.dir, common: c.dir}, c.dir
		}
		return layout{}, c.dir
	}
	return l, c.dir
}

// inspectConfig reads git's configuration and finds the programs in it.
func (g *Git) inspectConfig(ctx context.Context, c call, l layout, top string) (*inspection, error) {
	began := time.Now()
	out, err := g.runOnce(ctx, call{dir: c.dir, args: []string{"config", "--null", "--list", "--show-origin"}, env: c.env, search: c.search, free: true})
	if err != nil {
		return nil, err
	}
	found := &inspection{stats: map[string]fileStat{}, settled: true}
	stat := func(path string) {
		if _, done := found.stats[path]; done {
			return
		}
		s := statOf(path)
		found.stats[path] = s
		found.settled = found.settled && time.Unix(0, s.change).Before(began.Add(-timeResolution))
	}
	env := envOf(g.callEnvironment(call{}))
	found.finder = programFinder{top: top, common: l.common, home: env["HOME"], path: filepath.SplitList(env["PATH"]), stat: func(path string) os.FileInfo {
		stat(path)
		info, err := os.Stat(path)
		if err != nil {
			return nil
		}
		return info
	}}
	found.settings = parseSettings(out, c.dir)
	found.programs = found.finder.findPrograms(found.settings)
	for _, path := range configFiles(env, l) {
		stat(path)
	}
	for _, s := range found.settings {
		stat(s.file)
		section, condition, name := s.splitKey()
		if (section != "include" && section != "includeif") || name != "path" {
			continue
		}
		switch path := s.value; {
		case strings.HasPrefix(path, "~/"):
			stat(filepath.Join(env["HOME"], path[2:]))
		case filepath.IsAbs(path):
			stat(path)
		case strings.HasPrefix(path, "~"), strings.HasPrefix(path, "%"):
			found.settled = false
		default:
			stat(filepath.Join(filepath.Dir(s.file), path))
		}
		if strings.HasPrefix(condition, "onbranch:") {
			stat(filepath.Join(l.git, "HEAD"))
		}
	}
	return found, nil
}

// configFiles returns the paths from which git reads its configuration, whether or not the
// files exist.
func configFiles(env map[string]string, l layout) []string {
	list := []string{"/etc/gitconfig", "/usr/local/etc/gitconfig", "/opt/homebrew/etc/gitconfig"}
	if file, ok := env["GIT_CONFIG_GLOBAL"]; ok {
		list = append(list, file)
	} else {
		config := env["XDG_CONFIG_HOME"]
		if config == "" {
			config = filepath.Join(env["HOME"], ".config")
		}
		list = append(list, filepath.Join(env["HOME"], ".gitconfig"), filepath.Join(config, "git", "config"))
	}
	if l.git != "" {
		list = append(list, filepath.Join(l.common, "config"), filepath.Join(l.git, "config.worktree"), filepath.Join(l.git, "commondir"))
	}
	return list
}

// parseSettings parses the output of git config --null --list --show-origin.
func parseSettings(out, dir string) (list []setting) {
	items := strings.Split(out, "\x00")
	for i := 0; i+1 < len(items); i += 2 {
		file, ok := strings.CutPrefix(items[i], "file:")
		if ok && !filepath.IsAbs(file) {
			file = filepath.Join(dir, file)
		}
		key, value, _ := strings.Cut(items[i+1], "\n")
		list = append(list, setting{key: key, value: value, file: file})
	}
	return list
}

func envOf(list []string) map[string]string {
	out := make(map[string]string, len(list))
	for _, v := range list {
		name, value, _ := strings.Cut(v, "=")
		out[name] = value
	}
	return out
}
