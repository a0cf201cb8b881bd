package git

import (
	"crypto/sha256"
	"encoding/hex"
	"io"
	"os"
	"path/filepath"
	"slices"
	"strings"

	"orange/internal/core/task"
)

// A setting is one line of git's configuration.
type setting struct {
	key   string // section and name in lower case
	value string
	file  string // the file it is in
}

// splitKey splits the key of a setting: section, subsection, name.
func (s setting) splitKey() (section, sub, name string) {
	section, rest, _ := strings.Cut(s.key, ".")
	if i := strings.LastIndex(rest, "."); i >= 0 {
		return section, rest[:i], rest[i+1:]
	}
	return section, "", rest
}

// kindOf returns what git runs the value of a setting for, or "" if git does not run it. It
// ignores programs that Orange's git never runs: programs for a terminal, external diffs,
// textconv and fsmonitor are switched off in every call.
func (s setting) kindOf() task.GitProgramKind {
	section, sub, name := s.splitKey()
	switch section + "." + name {
	case "filter.clean", "filter.smudge", "filter.process":
		return task.GitFilter
	case "merge.driver":
		return task.GitMerge
	case "gpg.program", "gpg.defaultkeycommand":
		return task.GitSign
	case "credential.helper":
		return task.GitCredential
	case "core.sshcommand", "core.gitproxy", "remote.uploadpack", "remote.receivepack", "remote.vcs":
		return task.GitTransport
	case "remote.url", "remote.pushurl":
		if runsHere(s.value) {
			return task.GitTransport
		}
	case "url.insteadof", "url.pushinsteadof":
		if runsHere(sub) {
			return task.GitTransport
		}
	case "protocol.allow":
		if s.value == "never" {
			return ""
		}
		if sub == "" || sub == "ext" { // a setting that allows ext:: lets an address name a program
			return task.GitTransport
		}
	case "core.alternaterefscommand", "uploadpack.packobjectshook", "hook.command":
		return task.GitOther
	case "lfs.path", "lfs.args", "lfs.standalonetransferagent", "lfs.clean", "lfs.smudge": // of transfer agents and extensions
		return task.GitOther
	}
	return ""
}

// switchedOff returns the settings that stop git from running the program that a setting names.
func switchedOff(key string) []setting {
	s := setting{key: key}
	section, sub, name := s.splitKey()
	switch section + "." + name {
	case "filter.clean", "filter.smudge", "filter.process": // git does not use one part of a filter without the others
		var out []setting
		for _, part := range [...]string{"clean", "smudge", "process"} {
			out = append(out, setting{key: "filter." + sub + "." + part})
		}
		return out
	case "merge.driver":
		return []setting{{key: key, value: "echo " + driverMark + " >&2; exit 1"}}
	case "protocol.allow", "remote.url", "remote.pushurl", "url.insteadof", "url.pushinsteadof":
		return []setting{{key: "protocol.ext.allow", value: "never"}}
	case "remote.vcs":
		return []setting{{key: key, value: "orange-does-not-run-it"}}
	case "core.alternaterefscommand":
		return []setting{{key: key, value: "true"}}
	case "uploadpack.packobjectshook":
		return []setting{{key: key, value: "env"}} // env runs the command that it is given
	case "hook.command":
		return []setting{{key: "hook." + sub + ".enabled", value: "false"}}
	}
	return []setting{{key: key, value: "false"}}
}

// extPrefix is the prefix of an address that is a command.
const extPrefix = "ext::"

// runsHere reports whether an address, or an address that begins with it, makes git run a
// program on this machine: a command, or the hooks of a repository in a folder.
func runsHere(address string) bool {
	scheme, _, ok := strings.Cut(address, ":")
	return !ok || strings.Contains(scheme, "/") || scheme == "ext" || scheme == "file"
}

// isAddress reports whether a program is named by an address.
func isAddress(p task.GitProgram) bool {
	section, _, name := setting{key: p.Key}.splitKey()
	return p.Kind == task.GitTransport && (section == "url" || section == "remote" && strings.HasSuffix(name, "url"))
}

// driverMark is the output of a merge driver that is switched off. The merge then has a
// conflict.
const driverMark = "orange-does-not-run-this-merge-driver"

// hookNames are the hooks that git runs in a repository that people work in. Orange's git runs
// no others: server hooks belong to the repository that receives a push.
var hookNames = [...]string{
	"applypatch-msg", "pre-applypatch", "post-applypatch", "pre-commit", "pre-merge-commit", "prepare-commit-msg", "commit-msg",
	"post-commit", "pre-rebase", "post-checkout", "post-merge", "pre-push", "reference-transaction", "pre-auto-gc", "post-rewrite",
	"post-index-change", "push-to-checkout",
}

// Limits for reading the files beside a hook.
const (
	maxBeside     = 64
	maxBesideSize = 1 << 20
)

// A programFinder finds programs and the files that they consist of. It records every path that
// it checks, including paths that do not exist: if none of them changes, the programs are the
// same.
type programFinder struct {
	top    string // of the working tree
	common string
	home   string
	path   []string
	stat   func(path string) os.FileInfo // returns nil if nothing exists
}

// findPrograms returns the programs of a configuration, in its order, and the hooks. For a
// setting that git uses once, the last value counts.
func (f *programFinder) findPrograms(settings []setting) []task.GitProgram {
	var out []task.GitProgram
	hooksPath, named := "", false
	for _, s := range settings {
		if s.key == "core.hookspath" {
			hooksPath, named = s.value, true
		}
		kind := s.kindOf()
		if kind == "" {
			continue
		}
		if kind == task.GitCredential {
			if s.value == "" { // an empty value clears all helpers before it
				out = slices.DeleteFunc(out, func(p task.GitProgram) bool { return p.Kind == kind })
				continue
			}
		} else if !isAddress(task.GitProgram{Kind: kind, Key: s.key}) {
			out = slices.DeleteFunc(out, func(p task.GitProgram) bool { return p.Key == s.key })
			if s.value == "" {
				continue
			}
		}
		p := task.GitProgram{Kind: kind, Key: s.key, Command: s.value}
		if !isAddress(p) || strings.HasPrefix(s.value, extPrefix) { // a folder is not a program, and its content changes
			p.Files = f.filesOf(kind, s.value)
		}
		out = append(out, p)
	}
	return append(out, f.findHooks(hooksPath, named)...)
}

// isCopy reports whether a file beside hooks is a sample that git installs or a backup that an
// editor leaves.
func isCopy(name string) bool {
	return slices.ContainsFunc([]string{".sample", "~", ".bak", ".old", ".orig", ".swp"}, func(end string) bool { return strings.HasSuffix(name, end) })
}

// hooksFolder returns where the hooks are: the path by which git runs a hook in it, and the
// folder.
func (f *programFinder) hooksFolder(hooksPath string, named bool) (run, folder string) {
	switch {
	case !named:
		folder = filepath.Join(f.common, "hooks")
		return folder, folder
	case strings.HasPrefix(hooksPath, "~/"):
		folder = filepath.Join(f.home, hooksPath[2:])
		return folder, folder
	case filepath.IsAbs(hooksPath):
		return hooksPath, hooksPath
	}
	return "./" + filepath.Clean(hooksPath), filepath.Join(f.top, hooksPath)
}

// findHooks lists the hooks in a folder. A hook may need the other files there, so they belong
// to it; with husky, the file of the same name in the parent folder belongs to it as well.
func (f *programFinder) findHooks(hooksPath string, named bool) (out []task.GitProgram) {
	if f.common == "" {
		return nil
	}
	_, folder := f.hooksFolder(hooksPath, named)
	as := hooksPath
	if !named {
		as = ".git/hooks"
	}
	f.stat(folder)
	entries, err := os.ReadDir(folder)
	if err != nil {
		return nil
	}
	var hooks, beside []string
	for _, e := range entries {
		name := e.Name()
		if isCopy(name) {
			continue
		}
		switch info := f.stat(filepath.Join(folder, name)); {
		case info == nil || !info.Mode().IsRegular():
		case slices.Contains(hookNames[:], name):
			if info.Mode()&0o111 != 0 {
				hooks = append(hooks, name)
			}
		case len(beside) < maxBeside && info.Size() <= maxBesideSize:
			beside = append(beside, name)
		}
	}
	for _, name := range hooks {
		p := task.GitProgram{Kind: task.GitHook, Key: name, Command: hooksPath}
		names := append([]string{name}, beside...)
		if filepath.Base(folder) == "_" {
			if info := f.stat(filepath.Join(folder, "..", name)); info != nil && info.Mode().IsRegular() {
				names = append(names, filepath.Join("..", name))
			}
		}
		for _, n := range names {
			p.Files = append(p.Files, task.GitFile{Path: filepath.Join(as, n), SHA256: sumOf(filepath.Join(folder, n))})
		}
		out = append(out, p)
	}
	return out
}

// filesOf returns the files that a command names: the program, and every other word that is the
// name of a file, such as the script that an interpreter runs. It does not know what those run
// in turn.
func (f *programFinder) filesOf(kind task.GitProgramKind, command string) (out []task.GitFile) {
	add := func(name string) bool {
		file := name
		if !filepath.IsAbs(name) {
			file = filepath.Join(f.top, name)
		}
		info := f.stat(file)
		if info == nil || !info.Mode().IsRegular() {
			return false
		}
		if !slices.ContainsFunc(out, func(g task.GitFile) bool { return g.Path == name }) {
			out = append(out, task.GitFile{Path: name, SHA256: sumOf(file)})
		}
		return true
	}
	if filepath.IsAbs(command) && add(command) {
		return out
	}
	command, shell := strings.CutPrefix(command, "!")
	if kind == task.GitCredential {
		switch {
		case shell:
		case !filepath.IsAbs(command):
			command = "git-credential-" + command
		}
	}
	words := shellWords(strings.TrimPrefix(command, extPrefix))
	if kind == task.GitCredential && !shell { // its arguments are data, such as the file in which it keeps passwords
		words = words[:min(1, len(words))]
	}
	for len(words) > 0 && strings.Contains(words[0], "=") && !strings.Contains(words[0], "/") { // FOO=bar program
		words = words[1:]
	}
	for i, word := range words {
		word = os.Expand(word, func(name string) string {
			if name == "HOME" {
				return f.home
			}
			return "$" + name
		})
		switch {
		case strings.HasPrefix(word, "~/"):
			add(filepath.Join(f.home, word[2:]))
		case filepath.IsAbs(word):
			add(word)
		case strings.Contains(word, "/") || i > 0 && strings.Contains(word, "."):
			add(filepath.Clean(word))
		case i == 0:
			f.inPath(word, add)
		case i == 1 && filepath.Base(words[0]) == "git":
			f.inPath("git-"+word, add)
		}
	}
	return out
}

// inPath adds the file that a name without a folder refers to.
func (f *programFinder) inPath(name string, add func(string) bool) {
	for _, folder := range f.path {
		file := filepath.Join(folder, name)
		if info := f.stat(file); info != nil && info.Mode().IsRegular() && info.Mode()&0o111 != 0 {
			add(file)
			return
		}
	}
}

// shellWords splits a command into words, roughly as a shell does: quotes keep a word together,
// and operators end one.
func shellWords(text string) (words []string) {
	var word strings.Builder
	open, quote := false, rune(0)
	end := func() {
		if open {
			words = append(words, word.String())
		}
		word.Reset()
		open = false
	}
	escaped := false
	for _, r := range text {
		switch {
		case escaped:
			word.WriteRune(r)
			escaped = false
		case r == '\\' && quote != '\'':
			open, escaped = true, true
		case quote != 0 && r == quote:
			quote = 0
		case quote != 0:
			word.WriteRune(r)
		case r == '\'' || r == '"':
			open, quote = true, r
		case strings.ContainsRune(" \t\n;|&()<>`", r):
			end()
		default:
			open = true
			word.WriteRune(r)
		}
	}
	end()
	return words
}

// sumOf returns the SHA-256 of a file.
func sumOf(path string) string {
	file, err := os.Open(path)
	if err != nil {
		return task.Unreadable
	}
	defer file.Close() //nolint:errcheck // it was only read
	sum := sha256.New()
	if _, err := io.Copy(sum, file); err != nil {
		return task.Unreadable
	}
	return hex.EncodeToString(sum.Sum(nil))
}
