package cli

import (
	"context"
	"errors"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"strings"

	"github.com/spf13/cobra"

	"orange/internal/core/engine"
	"orange/internal/core/journal"
)

// Repository looks into git repositories.
type Repository interface {
	Root(ctx context.Context, dir string) (string, error)
	// ResolveCommit is the whole name of a commit, "" if the repository does not have it.
	ResolveCommit(ctx context.Context, root, revision string) (string, error)
	// Descendants are the commits that contain a commit, and the commit itself.
	Descendants(ctx context.Context, root, commit string) (map[string]bool, error)
	// Anchors are those of a store, oldest first.
	Anchors(ctx context.Context, root, store string) ([]journal.Anchor, error)
}

func newAuditCommand(deps Deps) *cobra.Command {
	var repo, from string
	cmd := &cobra.Command{
		Use: "audit <commit>", Short: "Say who and what led to a merged commit, and decide it again", Args: arguments(1, 1),
		Long: "Find the task whose merge brought a commit into the default branch: the merge itself, or a commit\n" +
			"of the task's branch. Say every step that led there, who took it, which gates were open and by\n" +
			"what; whether the journal is what was written, and agrees with its anchors in the repository; and\n" +
			"whether every decision, made again under the pinned workflow, is the same.\n\n" +
			"With --from, everything is read from a file that orange export wrote; no server and no data folder\n" +
			"is needed. The exit code is 1 if nothing is known of the commit, or if anything is not as it was.",
		Example: "  orange audit 3f2a91c\n" +
			"  orange audit HEAD~2 --json\n" +
			"  orange audit 3f2a91c --from export.jsonl --repo ~/src/shop",
	}
	cmd.Flags().StringVar(&repo, "repo", "", "look for the commit and for anchors in the repository at `PATH`; without it, in the one here")
	cmd.Flags().StringVar(&from, "from", "", "read a `FILE` that orange export wrote instead of asking a server")
	cmd.Annotations = map[string]string{needsNothing: "yes"} // with --from there need be no data folder
	cmd.RunE = func(cmd *cobra.Command, args []string) error {
		a := auditor{Deps: deps, cmd: cmd, asked: args[0]}
		if repo != "" {
			root, err := deps.Repository.Root(cmd.Context(), a.absolute(repo))
			if err != nil {
				root = a.absolute(repo) // it may be one without files
				if head, no := deps.Repository.ResolveCommit(cmd.Context(), root, "HEAD"); no != nil || head == "" {
					return err
				}
			}
			a.repos = []string{root}
		} else if root, err := deps.Repository.Root(cmd.Context(), deps.Cwd); err == nil {
			a.repos = []string{root}
		}
		if from != "" {
			a.open = func() (io.ReadCloser, error) { return os.Open(a.absolute(from)) }
			return a.run(cmd.Context())
		}
		if deps.ConfigErr != nil {
			return deps.ConfigErr
		}
		a.online = repo == ""
		return withServer(deps, func(ctx context.Context, s session, _ []string) error {
			a.open = func() (io.ReadCloser, error) {
				r, w := io.Pipe()
				go func() { w.CloseWithError(s.Export(ctx, w)) }()
				return r, nil
			}
			a.stored = func(id string) error {
				chain, err := s.Chain(ctx, id)
				if err == nil && chain.Broken != nil {
					return chain.Broken
				}
				return err
			}
			return a.run(ctx)
		})(cmd, args)
	}
	return cmd
}

// auditor is one run of orange audit.
type auditor struct {
	Deps
	cmd    *cobra.Command
	asked  string                        // the commit
	open   func() (io.ReadCloser, error) // the export, each time from its beginning
	repos  []string                      // where the commit is looked for
	stored func(id string) error         // whether the rows that led to a task are stored as they were written; nil: nobody can tell
	online bool                          // the repositories of registered projects count, too
}

func (a *auditor) absolute(path string) string {
	if filepath.IsAbs(path) {
		return path
	}
	return filepath.Join(a.Cwd, path)
}

// audited is what orange audit prints.
type audited struct {
	Commit string `json:"commit"`
	How    string `json:"how"` // merge, head or branch: what the commit is of the task
	engine.Audited
	Row     int64 `json:"row"` // that records the merge
	Journal struct {
		OK      bool         `json:"ok"`
		Rows    int64        `json:"rows"` // that are what was written
		Head    journal.Link `json:"head"` // of the last of them
		Problem string       `json:"problem,omitempty"`
	} `json:"journal"`
	Anchors auditAnchors `json:"anchors"`
	OK      bool         `json:"ok"` // everything is as it was
}

// auditAnchors says how the journal and the anchors in a repository agree.
type auditAnchors struct {
	Repository string `json:"repository,omitempty"` // that was looked at
	Store      string `json:"store,omitempty"`
	journal.Anchored
	This    bool   `json:"this"` // the merge itself is anchored
	Problem string `json:"problem,omitempty"`
}

// read reads the export once.
func (a *auditor) read(take func(io.Reader) error) error {
	in, err := a.open()
	if err != nil {
		return err
	}
	return errors.Join(take(in), in.Close())
}

func (a *auditor) run(ctx context.Context) error {
	var j *auditJournal
	err := a.read(func(in io.Reader) (err error) {
		j, err = readAuditJournal(in)
		return err
	})
	if err != nil {
		return err
	}
	if a.online {
		for _, p := range j.projects {
			a.repos = append(a.repos, p.Path)
		}
	}
	commit, root, err := a.resolve(ctx)
	if err != nil {
		return err
	}
	m, how, err := a.find(ctx, j, commit, root)
	if err != nil {
		return err
	}
	var entries []journal.Entry
	err = a.read(func(in io.Reader) (err error) {
		entries, err = taskEntries(in, m.task)
		return err
	})
	if err != nil {
		return err
	}
	out := audited{Commit: commit, How: how, Row: m.row}
	def, err := j.definition(entries[0].Hash)
	if err != nil {
		return err
	}
	if out.Audited, err = engine.Audit(def, entries, m.seq, m.commit()); err != nil {
		return err
	}
	out.Journal.OK, out.Journal.Rows, out.Journal.Head = j.broken == nil, j.chain.Rows, j.chain.Head
	if j.broken == nil && a.stored != nil { // an export does not have every byte of a row
		j.broken = a.stored(string(m.task))
		out.Journal.OK = j.broken == nil
	}
	if j.broken != nil {
		out.Journal.Problem = j.broken.Error()
	}
	out.Anchors = a.compareAnchors(ctx, j, m, root, out.Project)
	out.OK = out.Journal.OK && out.Anchors.Problem == "" && out.Redecided.Same
	if err := show(a.cmd, out, func(w io.Writer) error { return a.print(w, &out) }); err != nil {
		return err
	}
	return replayResult(out.OK, "what led to %.12s is not as it was", commit)
}

// resolve finds the whole name of the commit, and a repository that has it, "" if none does.
func (a *auditor) resolve(ctx context.Context) (commit, root string, err error) {
	for _, root := range a.repos {
		commit, err := a.Repository.ResolveCommit(ctx, root, a.asked)
		if err == nil && commit != "" {
			return commit, root, nil
		}
	}
	commit = strings.ToLower(a.asked)
	if len(commit) < 4 || len(commit) > 64 || strings.Trim(commit, "0123456789abcdef") != "" {
		return "", "", fmt.Errorf("no commit %.80q is in the repository: give its name, at least four hexadecimal digits, or the repository with --repo", cleanLine(a.asked))
	}
	return commit, "", nil
}

// find finds the merge that a commit belongs to.
func (a *auditor) find(ctx context.Context, j *auditJournal, commit, root string) (m *auditMerge, how string, err error) {
	var contains map[string]bool
	if root != "" {
		if contains, err = a.Repository.Descendants(ctx, root, commit); err != nil {
			return nil, "", err
		}
	}
	m, how, err = j.find(commit, contains)
	if err == nil && m == nil {
		err = fmt.Errorf("nothing is known of commit %.12s: no task of this journal was merged with it", commit)
		if root == "" {
			err = fmt.Errorf("%w; it is in none of the repositories that were looked at, give another with --repo", err)
		}
	}
	return m, how, err
}

// compareAnchors compares the journal with its anchors in the repository of the commit, or in
// that of the task's project.
func (a *auditor) compareAnchors(ctx context.Context, j *auditJournal, m *auditMerge, root, project string) auditAnchors {
	for _, p := range j.projects {
		if root == "" && a.online && p.Name == project {
			root = p.Path
		}
	}
	if root == "" && len(a.repos) > 0 && !a.online {
		root = a.repos[0]
	}
	out := auditAnchors{Repository: root, Store: j.store}
	if root == "" || j.store == "" {
		return out
	}
	list, err := a.Repository.Anchors(ctx, root, j.store)
	if err == nil {
		out.Anchored = journal.CompareAnchors(list, j.chain.Rows, j.link, j.restores)
		for i := range list {
			link, ok := j.link(list[i].Row)
			out.This = out.This || ok && link == list[i].Link && list[i].Row >= m.row
		}
		if err = out.Err(j.chain.Rows); out.Differs == nil && (j.broken != nil || a.stored == nil) {
			err = nil // rows behind a broken one were not followed, and an export may be older than the repository
		}
	}
	if err != nil {
		out.Problem = err.Error()
	}
	return out
}
