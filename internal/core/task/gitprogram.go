package task

import (
	"cmp"
	"crypto/sha256"
	"encoding/hex"
	"slices"
	"strings"
)

// A GitProgram is a program that git runs because of its configuration: a hook, a filter, a merge driver, or a program
// that signs, connects or provides passwords.
type GitProgram struct {
	Kind    GitProgramKind `json:"kind"`
	Key     string         `json:"key"`             // of the configuration; for a hook its name
	Command string         `json:"command"`         // as configured, or sealed; for a hook the value of core.hooksPath
	Files   []GitFile      `json:"files,omitempty"` // files that the command names, the program first
}

// A GitFile is a file as it was when it was read. A relative path is relative to the top of the working tree.
type GitFile struct {
	Path   string `json:"path"`
	SHA256 string `json:"sha256"`
}

// GitProgramKind is the purpose for which git runs a program.
type GitProgramKind string

// The kinds of programs.
const (
	GitHook       GitProgramKind = "hook"
	GitFilter     GitProgramKind = "filter"       // converts files when they are read and written
	GitMerge      GitProgramKind = "merge-driver" // merges files
	GitSign       GitProgramKind = "signing"
	GitTransport  GitProgramKind = "transport" // connects to a remote
	GitCredential GitProgramKind = "credential"
	GitOther      GitProgramKind = "other"
)

// Unreadable replaces the checksum of what cannot be read: a file of a program, which is then never trusted, or a
// section of TASK.md.
const Unreadable = "unreadable"

// SameAs reports whether two programs are equal, including their files.
func (p GitProgram) SameAs(q GitProgram) bool {
	return p.Kind == q.Kind && p.Key == q.Key && p.Command == q.Command && slices.Equal(p.Files, q.Files)
}

// WithoutSecret returns the program in the form that may be stored and shown. The command of a credential helper may
// hold a password: its checksum and its program replace it.
func (p GitProgram) WithoutSecret() GitProgram {
	if p.Kind != GitCredential || strings.HasPrefix(p.Command, sealed) {
		return p
	}
	sum := sha256.Sum256([]byte(p.Command))
	program := "a shell command"
	if words := strings.Fields(p.Command); !strings.HasPrefix(p.Command, "!") && len(words) > 0 {
		program = words[0]
	} else if len(p.Files) > 0 {
		program = p.Files[0].Path
	}
	p.Command = sealed + hex.EncodeToString(sum[:]) + " " + program
	return p
}

// DisplayCommand returns the command as people read it.
func (p GitProgram) DisplayCommand() string {
	p = p.WithoutSecret()
	if text, ok := strings.CutPrefix(p.Command, sealed); ok && p.Kind == GitCredential {
		_, text, _ = strings.Cut(text, " ")
		return text
	}
	return p.Command
}

// sealed begins a command that is stored only as its checksum. No configuration may have it.
const sealed = "sha256:"

// GitProgramsWithoutSecrets applies WithoutSecret to a list.
func GitProgramsWithoutSecrets(list []GitProgram) []GitProgram {
	out := make([]GitProgram, 0, len(list))
	for _, p := range list {
		out = append(out, p.WithoutSecret())
	}
	return out
}

// UntrustedGitPrograms returns the programs that are not in trusted.
func UntrustedGitPrograms(programs, trusted []GitProgram) (out []GitProgram) {
	for _, p := range programs {
		unreadable := slices.ContainsFunc(p.Files, func(f GitFile) bool { return f.SHA256 == Unreadable })
		posing := p.Kind == GitCredential && strings.HasPrefix(p.Command, sealed)
		if unreadable || posing || !slices.ContainsFunc(trusted, func(q GitProgram) bool { return p.WithoutSecret().SameAs(q.WithoutSecret()) }) {
			out = append(out, p)
		}
	}
	return out
}

// UniteGitPrograms merges lists of programs, each program once, ordered by kind and key.
func UniteGitPrograms(lists ...[]GitProgram) (out []GitProgram) {
	for _, list := range lists {
		for _, p := range list {
			if !slices.ContainsFunc(out, p.SameAs) {
				out = append(out, p)
			}
		}
	}
	slices.SortStableFunc(out, func(a, b GitProgram) int {
		return cmp.Or(cmp.Compare(a.Kind, b.Kind), cmp.Compare(a.Key, b.Key), cmp.Compare(a.Command, b.Command))
	})
	return out
}
