package git

import (
	"context"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"slices"
	"strings"

	"orange/internal/lazy"
)

// A module is the repository of a submodule. It is stored in the administrative folder of the
// worktree around it and is removed together with it.
type module struct {
	git   string // its administrative folder
	path  string // path of the submodule in the worktree
	outer string // administrative folder of the repository around it
	here  string // path of the submodule in the working tree of outer
}

// A Submodule describes saved work of a submodule.
type Submodule struct {
	Path       string // in the working tree
	Repository string // where the work is saved
	Ref        string // the ref that holds it
}

// keptModules returns the repository, in the folder that all worktrees share, that keeps the
// commits of submodules. It is a separate repository, because these commits may be shallow or
// large.
func keptModules(common string) string { return filepath.Join(orangeDir(common), "submodules") }

func orangeDir(common string) string { return filepath.Join(common, "orange") }

// listModules lists the repositories of submodules below an administrative folder, including
// those that are not checked out. The worktree is at top and may no longer exist.
func (g *Git) listModules(ctx context.Context, outer, top, prefix string) ([]module, error) {
	folder := filepath.Join(outer, "modules")
	var list []module
	err := filepath.WalkDir(folder, func(at string, d fs.DirEntry, err error) error {
		switch {
		case errors.Is(err, fs.ErrNotExist) && at == folder:
			return fs.SkipAll
		case err != nil:
			return err
		case !d.IsDir() || at == folder || !pathExists(at, "HEAD") || !pathExists(at, "objects"):
			return nil
		}
		here := g.placeOf(ctx, at, filepath.Join(top, prefix))
		if here == "" {
			here, _ = filepath.Rel(folder, at) // by default, a submodule's name is its path
		}
		m := module{git: at, path: filepath.Join(prefix, here), outer: outer, here: here}
		inner, err := g.listModules(ctx, at, top, m.path)
		if err != nil {
			return err
		}
		list = append(append(list, m), inner...)
		return fs.SkipDir
	})
	if err != nil {
		return nil, fmt.Errorf("list the submodules of %s: %w", top, err)
	}
	return list, nil
}

// placeOf returns the path in a working tree at which a module is checked out, or "" if its
// configuration does not name one.
func (g *Git) placeOf(ctx context.Context, gitDir, top string) string {
	at, err := g.inModule(ctx, gitDir, "", "config", "--get", "core.worktree")
	if err != nil {
		return ""
	}
	if !filepath.IsAbs(at) {
		at = filepath.Join(gitDir, at)
	}
	rel, err := filepath.Rel(resolveParentLinks(top), at)
	if err != nil || !filepath.IsLocal(rel) || rel == "." {
		return ""
	}
	return rel
}

// inModule runs a command for a repository whose working tree may no longer exist.
func (g *Git) inModule(ctx context.Context, gitDir, input string, args ...string) (string, error) {
	env := append([]string{"GIT_DIR=" + gitDir, "GIT_WORK_TREE=" + gitDir}, literal[:]...)
	return g.runCall(ctx, call{dir: gitDir, config: quietConfig[:], args: args, env: env, input: input, timeout: checkoutTimeout})
}

// keepModules saves the commits that only the submodules of a worktree have, where the removal
// of the worktree does not reach them, and returns what it saved. With dry it only returns what
// it would save.
func (g *Git) keepModules(ctx context.Context, l layout, top, name string, dry bool) ([]Submodule, error) {
	modules, err := g.listModules(ctx, l.git, top, "")
	if err != nil || len(modules) == 0 {
		return nil, err
	}
	store := keptModules(l.common)
	kept := map[string]string{}
	if pathExists(store, "HEAD") {
		out, err := g.inModule(ctx, store, "", "for-each-ref", "--format=%(refname) %(objectname)", salvageRefs)
		if err != nil {
			return nil, err
		}
		for line := range strings.SplitSeq(out, "\n") {
			ref, commit, _ := strings.Cut(line, " ")
			kept[ref] = commit
		}
	}
	var others []string // what is saved for other tasks need not be saved again
	for ref, commit := range kept {
		if !strings.HasPrefix(ref, salvageRefs+name+"/") && commit != "" {
			others = append(others, commit)
		}
	}
	var list []Submodule
	for _, m := range modules {
		tips, err := g.onlyIn(ctx, m, others)
		var missing []string
		for _, tip := range tips {
			s := Submodule{Path: m.path, Repository: store, Ref: salvageRefs + name + "/" + tip}
			if list = append(list, s); kept[s.Ref] == "" {
				missing = append(missing, tip+":"+s.Ref)
			}
		}
		if err == nil && len(missing) > 0 && !dry {
			err = g.fetchModule(ctx, m, store, missing)
		}
		if err != nil {
			return nil, fmt.Errorf("submodule %s: %w", makePrintable(m.path), err)
		}
	}
	return list, nil
}

// moveModules saves the repositories of submodules as they are, by moving them out of the
// worktree's administrative folder.
func (g *Git) moveModules(ctx context.Context, l layout, top, name string) ([]Submodule, error) {
	modules, err := g.listModules(ctx, l.git, top, "")
	if err != nil {
		return nil, err
	}
	if err := os.MkdirAll(orangeDir(l.common), 0o755); err != nil {
		return nil, err
	}
	temp, err := os.MkdirTemp(orangeDir(l.common), name+"-")
	if err != nil {
		return nil, err
	}
	old, folder := filepath.Join(l.git, "modules"), filepath.Join(temp, "modules")
	if err := os.Rename(old, folder); err != nil {
		return nil, errors.Join(err, os.Remove(temp))
	}
	var list []Submodule
	for _, m := range modules {
		rel, err := filepath.Rel(old, m.git)
		if err != nil {
			return nil, err
		}
		moved := filepath.Join(folder, rel)
		_, _ = g.inModule(ctx, moved, "", "config", "--unset", "core.worktree") // it points to a folder that does not exist
		list = append(list, Submodule{Path: m.path, Repository: moved, Ref: "HEAD"})
	}
	return list, nil
}

// fetchModule copies commits of a module, and everything they reach, into the store.
func (g *Git) fetchModule(ctx context.Context, m module, store string, refspecs []string) error {
	if err := g.makeStore(ctx, m, store); err != nil {
		return err
	}
	args := []string{"fetch", "--quiet", "--no-tags", "--no-write-fetch-head", "--no-recurse-submodules", "--update-shallow",
		"--upload-pack=env GIT_WORK_TREE=. git upload-pack", m.git} // its working tree may no longer exist
	settings := append(slices.Clone(quietConfig[:]), "protocol.version=2", "protocol.file.allow=always", "maintenance.auto=false", "gc.auto=0",
		"fetch.fsckObjects=false", "transfer.fsckObjects=false")
	_, err := g.runCall(ctx, call{dir: store, config: settings, args: append(args, refspecs...),
		env: []string{"GIT_DIR=" + store, "GIT_ALLOW_PROTOCOL=file"}, timeout: checkoutTimeout})
	return err
}

// makeStore creates the repository that keeps the commits of submodules, atomically.
func (g *Git) makeStore(ctx context.Context, m module, store string) error {
	if pathExists(store, "HEAD") {
		return nil
	}
	format, err := g.inModule(ctx, m.git, "", "rev-parse", "--show-object-format")
	if err != nil {
		return err
	}
	if err := os.MkdirAll(filepath.Dir(store), 0o755); err != nil {
		return err
	}
	temp, err := os.MkdirTemp(filepath.Dir(store), ".making-*")
	if err != nil {
		return err
	}
	defer func() { _ = os.RemoveAll(temp) }()
	if err := os.Chmod(temp, 0o755); err != nil {
		return err
	}
	if _, err := g.runQuietly(ctx, temp, "init", "--quiet", "--bare", "--template=", "--object-format="+format, temp); err != nil {
		return err
	}
	if err := os.Rename(temp, store); err != nil && !pathExists(store, "HEAD") {
		return err
	} // another process may have created it in the meantime
	return nil
}

// onlyIn returns the commits that a module has and that neither its remotes nor the commits in
// kept contain. It considers what the module's HEAD, branches, stash and salvage refs reach,
// and what the commits and the index of the repository around it name.
func (g *Git) onlyIn(ctx context.Context, m module, kept []string) ([]string, error) {
	tips, err := g.refsOf(ctx, m, "refs/heads/", salvageRefs)
	if err != nil {
		return nil, err
	}
	if head, err := g.inModule(ctx, m.git, "", "rev-parse", "--verify", "--quiet", "HEAD^{commit}"); err == nil {
		tips = append([]string{head}, tips...)
	}
	for _, put := range readLog(m.git, "refs/stash") {
		tips = append(tips, put.commit)
	}
	elsewhere, err := g.refsOf(ctx, m, "refs/remotes/")
	if err != nil {
		return nil, err
	}
	log := readLog(m.git, "HEAD")
	elsewhere = slices.Concat(elsewhere, kept, fetchedCommits(log))
	lost, err := g.commitsBeyond(ctx, m, tips, elsewhere)
	if err != nil {
		return nil, err
	}
	once := make([]string, len(log))
	for i, entry := range log {
		once[i] = entry.commit
	}
	more, err := g.commitsBeyond(ctx, m, once, append(elsewhere, tips...))
	if err != nil {
		return nil, err
	}
	if len(more) > 0 {
		named, err := g.namedAround(ctx, m)
		if err != nil {
			return nil, err
		}
		for _, commit := range named {
			if more[commit] {
				tips, lost[commit] = append(tips, commit), true
			}
		}
	}
	tips = slices.DeleteFunc(tips, func(tip string) bool { return !lost[tip] })
	return g.independentCommits(ctx, m, tips)
}

func (g *Git) refsOf(ctx context.Context, m module, under ...string) ([]string, error) {
	out, err := g.inModule(ctx, m.git, "", append([]string{"for-each-ref", "--format=%(objectname)"}, under...)...)
	return strings.Fields(out), err
}

// commitsBeyond returns the commits that tips reach and others do not. It ignores those of the
// others that the module does not have.
func (g *Git) commitsBeyond(ctx context.Context, m module, tips, others []string) (map[string]bool, error) {
	found := map[string]bool{}
	if len(tips) == 0 {
		return found, nil
	}
	input := strings.Join(tips, "\n") + "\n"
	for _, other := range others {
		input += "^" + other + "\n"
	}
	out, err := g.inModule(ctx, m.git, input, "rev-list", "--ignore-missing", "--stdin")
	for commit := range strings.FieldsSeq(out) {
		found[commit] = true
	}
	return found, err
}

// independentCommits drops the commits that other commits in the list reach.
func (g *Git) independentCommits(ctx context.Context, m module, commits []string) ([]string, error) {
	if len(commits) < 2 {
		return commits, nil
	}
	out, err := g.inModule(ctx, m.git, "", append([]string{"merge-base", "--independent"}, commits...)...)
	if err != nil {
		return nil, err
	}
	apart, list := strings.Fields(out), []string(nil)
	for _, commit := range commits {
		if slices.Contains(apart, commit) && !slices.Contains(list, commit) {
			list = append(list, commit)
		}
	}
	return list, nil
}

// namedAround returns the commits of a module that the repository around it names, on any
// branch or in its index.
func (g *Git) namedAround(ctx context.Context, m module) ([]string, error) {
	args := []string{"log", "--format=", "--raw", "-m", "--no-renames", "--no-abbrev", "--branches", "--glob=refs/orange/*"}
	if _, err := g.inModule(ctx, m.outer, "", "rev-parse", "--verify", "--quiet", "HEAD^{commit}"); err == nil {
		args = append(args, "HEAD")
	}
	log, err := g.inModule(ctx, m.outer, "", append(args, "--", m.here)...)
	if err != nil {
		return nil, err
	}
	index, err := g.inModule(ctx, m.outer, "", "ls-files", "--stage", "--", m.here)
	if err != nil {
		return nil, err
	}
	return hashes.FindAllString(log+"\n"+index, -1), nil
}

var hashes = lazy.NewRegexp(`\b(?:[0-9a-f]{64}|[0-9a-f]{40})\b`)

// A logEntry is a line of a reflog.
type logEntry struct{ commit, did string }

// readLog reads the reflog of a ref. A missing reflog is empty.
func readLog(gitDir, ref string) []logEntry {
	text, err := os.ReadFile(filepath.Join(gitDir, "logs", ref))
	if err != nil {
		return nil
	}
	var list []logEntry
	for line := range strings.SplitSeq(string(text), "\n") {
		about, did, _ := strings.Cut(line, "\t")
		if fields := strings.Fields(about); len(fields) > 1 && isHash(fields[1]) && strings.Trim(fields[1], "0") != "" {
			list = append(list, logEntry{commit: fields[1], did: did})
		}
	}
	return list
}

// fetchedCommits returns the commits in a reflog that were cloned, or checked out by hash as git
// does for submodules, and that no other line of the log created. They came from elsewhere,
// even if no remote branch has them, as with a tag or a shallow clone.
func fetchedCommits(log []logEntry) (list []string) {
	made := map[string]bool{}
	for _, entry := range log {
		if !fromElsewhere.MatchString(entry.did) {
			made[entry.commit] = true
		}
	}
	for _, entry := range log {
		if !made[entry.commit] {
			list = append(list, entry.commit)
		}
	}
	return list
}

var fromElsewhere = lazy.NewRegexp(`^clone: from |^checkout: moving from .* to (?:[0-9a-f]{64}|[0-9a-f]{40})$`)
