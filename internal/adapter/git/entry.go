package git

import (
	"context"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"strings"
)

// entryNote is the line of a salvage's message that names the folder of an entry that git could
// not read, by its path in Orange's folder.
const entryNote = "The worktree's entry, which git could not read: %q"

// moveEntry saves what it can of a worktree whose administrative folder git cannot read, and moves
// that folder to Orange's folder as it is. This also ends the registration.
func (g *Git) moveEntry(ctx context.Context, root string, l layout, name string, notes []string) (ref, moved string, err error) {
	if err := os.MkdirAll(orangeDir(l.common), 0o755); err != nil {
		return "", "", err
	}
	temp, err := os.MkdirTemp(orangeDir(l.common), name+"-")
	if err != nil {
		return "", "", err
	}
	moved = filepath.Join(temp, "worktree")
	ref, err = g.keepRemains(ctx, root, l, name, append(notes, fmt.Sprintf(entryNote, filepath.Join(filepath.Base(temp), "worktree"))))
	if err == nil {
		err = os.Rename(l.git, moved)
	}
	if err != nil {
		return ref, "", errors.Join(err, os.Remove(temp))
	}
	return ref, moved, nil
}

// keepRemains saves the commits that a damaged administrative folder still names. It does not look
// at earlier salvages, which may be damaged too.
func (g *Git) keepRemains(ctx context.Context, root string, l layout, name string, notes []string) (string, error) {
	s, err := g.surveyRemains(ctx, root, l)
	if err != nil {
		return "", err
	}
	commit, err := g.commitSurvey(ctx, root, name, s, notes)
	if err != nil {
		return "", err
	}
	return g.writeSalvageRef(ctx, root, name, commit)
}

// surveyRemains is surveyGone for a damaged administrative folder: it leaves out what git cannot
// read. If HEAD names no commit, the last one in its reflog counts.
func (g *Git) surveyRemains(ctx context.Context, dir string, l layout) (s survey, err error) {
	var named []string
	if text, err := os.ReadFile(filepath.Join(l.git, "HEAD")); err == nil {
		head := strings.TrimSpace(string(text))
		branch, on := strings.CutPrefix(head, "ref: "+heads)
		switch {
		case on && validBranch(branch):
			s.branch, named = branch, append(named, heads+branch)
		case isHash(head):
			named = append(named, head)
		}
	}
	if log := readLog(l.git, "HEAD"); len(log) > 0 {
		named = append(named, log[len(log)-1].commit)
	}
	for _, commit := range named {
		if s.head, err = g.resolveRevision(ctx, dir, commit); err == nil && s.head != "" {
			break
		}
		if s.branch = ""; err != nil && !isRefusal(err) {
			return survey{}, err
		}
	}
	s.headTree, err = g.treeOf(ctx, dir, s.head)
	if isRefusal(err) {
		s.head, s.branch = "", ""
		s.headTree, err = g.treeOf(ctx, dir, "")
	}
	if err != nil {
		return survey{}, err
	}
	s.tree = s.headTree
	if s.extras, err = g.unfinishedCommits(ctx, dir, l); isRefusal(err) {
		s.extras, err = nil, nil
	}
	return s, err
}
