package cli

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"slices"
	"strings"

	"github.com/spf13/cobra"

	"orange/internal/core/engine"
	"orange/internal/core/journal"
	"orange/internal/core/signal"
	"orange/internal/core/task"
	"orange/internal/core/workflow"
)

// A Repository reads git repositories.
type Repository interface {
	FindRoot(ctx context.Context, dir string) (string, error)
	DefaultBranch(ctx context.Context, root string) (string, error)
	RemoteURL(ctx context.Context, root, remote string) (string, error)
	// ResolveCommit returns the full name of a commit, "" if the repository does not have it.
	ResolveCommit(ctx context.Context, root, revision string) (string, error)
	// CommitsContaining returns the commits that contain a commit, including the commit itself.
	CommitsContaining(ctx context.Context, root, commit string) (map[string]bool, error)
	// ReadAnchors returns the anchors of a store, oldest first.
	ReadAnchors(ctx context.Context, root, store string) ([]journal.Anchor, error)
}

func newAuditCommand(deps Deps) *cobra.Command {
	var repo, from string
	cmd := &cobra.Command{
		Use: "audit <commit>", Short: "Explain who and what led to a merged commit, and verify it", Args: requireArguments(1, 1),
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
	cmd.Annotations = map[string]string{needsNothing: "yes"} // --from works without a data folder
	cmd.RunE = func(cmd *cobra.Command, args []string) error {
		a := auditor{Deps: deps, cmd: cmd, asked: args[0]}
		if repo != "" {
			root, err := deps.Repository.FindRoot(cmd.Context(), a.absolutePath(repo))
			if err != nil {
				root = a.absolutePath(repo) // a bare repository has no root
				if head, no := deps.Repository.ResolveCommit(cmd.Context(), root, "HEAD"); no != nil || head == "" {
					return err
				}
			}
			a.repos = []string{root}
		} else if root, err := deps.Repository.FindRoot(cmd.Context(), deps.Cwd); err == nil {
			a.repos = []string{root}
		}
		if from != "" {
			a.open = func() (io.ReadCloser, error) { return os.Open(a.absolutePath(from)) }
			return a.runAudit(cmd.Context())
		}
		if deps.ConfigErr != nil {
			return deps.ConfigErr
		}
		a.online = repo == ""
		return withServer(deps, func(ctx context.Context, s session, _ []string) error {
			a.open = func() (io.ReadCloser, error) {
				r, w := io.Pipe()
				go func() { w.CloseWithError(s.ExportAll(ctx, w)) }()
				return r, nil
			}
			a.stored = func(id string) error {
				chain, err := s.VerifyChain(ctx, id)
				if err == nil && chain.Broken != nil {
					return chain.Broken
				}
				return err
			}
			return a.runAudit(ctx)
		})(cmd, args)
	}
	return cmd
}

// An auditor is one run of orange audit.
type auditor struct {
	Deps
	cmd    *cobra.Command
	asked  string                        // the commit as given on the command line
	open   func() (io.ReadCloser, error) // opens the export at its beginning
	repos  []string                      // the repositories to search for the commit
	stored func(id string) error         // checks that the rows of a task are stored as they were written; nil if that cannot be checked
	online bool                          // also search the repositories of registered projects
}

func (a *auditor) absolutePath(path string) string {
	if filepath.IsAbs(path) {
		return path
	}
	return filepath.Join(a.Cwd, path)
}

// audited is the output of orange audit.
type audited struct {
	Commit string `json:"commit"`
	How    string `json:"how"` // how the commit belongs to the task: merge, head or branch
	engine.Audited
	Row     int64 `json:"row"` // the row that records the merge
	Journal struct {
		OK      bool         `json:"ok"`
		Rows    int64        `json:"rows"` // how many rows are as they were written
		Head    journal.Link `json:"head"` // the link of the last such row
		Problem string       `json:"problem,omitempty"`
	} `json:"journal"`
	Anchors auditAnchors `json:"anchors"`
	OK      bool         `json:"ok"` // the journal, the anchors and the decisions all agree
}

// auditAnchors reports how the journal and the anchors in a repository agree.
type auditAnchors struct {
	Repository string `json:"repository,omitempty"` // the repository whose anchors were read
	Store      string `json:"store,omitempty"`
	journal.Anchored
	This    bool   `json:"this"` // the merge itself is anchored
	Problem string `json:"problem,omitempty"`
}

// readExport opens the export, passes it to take and closes it.
func (a *auditor) readExport(take func(io.Reader) error) error {
	in, err := a.open()
	if err != nil {
		return err
	}
	return errors.Join(take(in), in.Close())
}

func (a *auditor) runAudit(ctx context.Context) error {
	var j *auditJournal
	err := a.readExport(func(in io.Reader) (err error) {
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
	commit, root, err := a.resolveCommit(ctx)
	if err != nil {
		return err
	}
	m, how, err := a.findMerge(ctx, j, commit, root)
	if err != nil {
		return err
	}
	var entries []journal.Entry
	err = a.readExport(func(in io.Reader) (err error) {
		entries, err = taskEntries(in, m.task)
		return err
	})
	if err != nil {
		return err
	}
	out := audited{Commit: commit, How: how, Row: m.row}
	def, err := j.parsePinned(entries[0].WorkflowHash)
	if err != nil {
		return err
	}
	if out.Audited, err = engine.Audit(def, entries, m.seq, m.knownCommit()); err != nil {
		return err
	}
	out.Journal.OK, out.Journal.Rows, out.Journal.Head = j.broken == nil, j.chain.Rows, j.chain.Head
	if j.broken == nil && a.stored != nil { // an export lacks some bytes of a row; the store has them all
		j.broken = a.stored(string(m.task))
		out.Journal.OK = j.broken == nil
	}
	if j.broken != nil {
		out.Journal.Problem = j.broken.Error()
	}
	out.Anchors = a.compareAnchors(ctx, j, m, root, out.Project)
	out.OK = out.Journal.OK && out.Anchors.Problem == "" && out.Redecided.Same
	if err := showResult(a.cmd, out, func(w io.Writer) error { return a.printAudit(w, &out) }); err != nil {
		return err
	}
	return replayResult(out.OK, "what led to %.12s is not as it was", commit)
}

// resolveCommit returns the full name of the commit and a repository that has it. root is ""
// if no repository has the commit.
func (a *auditor) resolveCommit(ctx context.Context) (commit, root string, err error) {
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

// findMerge returns the merge that a commit belongs to. It returns an error if there is none.
func (a *auditor) findMerge(ctx context.Context, j *auditJournal, commit, root string) (m *auditMerge, how string, err error) {
	var contains map[string]bool
	if root != "" {
		if contains, err = a.Repository.CommitsContaining(ctx, root, commit); err != nil {
			return nil, "", err
		}
	}
	m, how, err = j.findMerge(commit, contains)
	if err == nil && m == nil {
		err = fmt.Errorf("nothing is known of commit %.12s: no task of this journal was merged with it", commit)
		if root == "" {
			err = fmt.Errorf("%w; none of the searched repositories has it: give another one with --repo", err)
		}
	}
	return m, how, err
}

// compareAnchors compares the journal with its anchors in the repository of the commit, or in
// the repository of the task's project.
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
	list, err := a.Repository.ReadAnchors(ctx, root, j.store)
	if err == nil {
		out.Anchored = journal.CompareAnchors(list, j.chain.Rows, j.rowLink, j.restores)
		for i := range list {
			link, ok := j.rowLink(list[i].Row)
			out.This = out.This || ok && link == list[i].Link && list[i].Row >= m.row
		}
		if err = out.Err(j.chain.Rows); out.Differs == nil && (j.broken != nil || a.stored == nil) {
			err = nil // rows after a broken row are not followed, and an export may be older than the repository
		}
	}
	if err != nil {
		out.Problem = err.Error()
	}
	return out
}

// auditJournal is what an audit reads from an export: everything except the entries.
type auditJournal struct {
	store     string
	chain     journal.Chain
	links     []journal.Link // the links of the rows that were followed
	broken    error          // the first row that is not as it was written
	restores  []journal.Restore
	projects  []task.Project
	workflows map[string]journal.ExportLine // keyed by the hash of the text
	merges    []auditMerge
	work      map[task.ID]task.Work // the last commits of each task
}

// An auditMerge is an entry that records a merge, or that finds the work already merged.
type auditMerge struct {
	task       task.ID
	seq        int
	row        int64
	landed     string // the commit that merged the work, "" if it was not recorded
	base, head string // the commit that the work started from and its last commit, "" if unknown
}

// knownCommit returns the commit that merged the work, or else the task's last commit.
func (m *auditMerge) knownCommit() string {
	if m.landed != "" {
		return m.landed
	}
	return m.head
}

// eachExportLine calls yield for each line of an export.
func eachExportLine(in io.Reader, yield func(l *journal.ExportLine) error) error {
	dec := json.NewDecoder(in)
	for n := 1; ; n++ {
		var l journal.ExportLine
		err := dec.Decode(&l)
		switch {
		case errors.Is(err, io.EOF) && n > 1:
			return nil
		case err != nil:
			return fmt.Errorf("line %d of the export does not parse: %w", n, err)
		case (n == 1) != (l.Kind == journal.ExportBegin) || l.Version > journal.ExportVersion:
			return fmt.Errorf("line %d: this is not an export that this version understands", n)
		}
		if err := yield(&l); err != nil {
			return err
		}
	}
}

// readAuditJournal follows the chain of an export and finds the merges in it.
func readAuditJournal(in io.Reader) (*auditJournal, error) {
	j := &auditJournal{workflows: map[string]journal.ExportLine{}, work: map[task.ID]task.Work{}}
	err := eachExportLine(in, func(l *journal.ExportLine) error {
		switch l.Kind {
		case journal.ExportBegin:
			j.store = l.Store
		case journal.ExportProject:
			if l.Project != nil {
				j.projects = append(j.projects, *l.Project)
			}
		case journal.ExportWorkflow:
			j.workflows[workflow.HashOf(l.Text)] = *l
		case journal.ExportEntry:
			return j.addEntry(l)
		}
		return nil
	})
	return j, err
}

func (j *auditJournal) addEntry(l *journal.ExportLine) error {
	if j.broken == nil {
		if j.broken = l.FollowChain(&j.chain); j.broken == nil {
			j.links = append(j.links, j.chain.Head)
			if r, ok := journal.RestoreOf(l.Row, l.Segment); ok {
				j.restores = append(j.restores, r)
			}
		}
	}
	if !mayRecordMerge(l.Entry) {
		return nil
	}
	e, err := journal.Decode(l.Entry)
	if err != nil {
		return fmt.Errorf("row %d of the export does not parse: %w", l.Row, err)
	}
	j.noteCommits(&e, l.Row)
	return nil
}

// mayRecordMerge reports whether an entry may record a merge or the commits of a task. It is
// a quick test that never misses such an entry, but may report true for others.
func mayRecordMerge(entry []byte) bool {
	return slices.ContainsFunc([]string{`"commit":"`, signal.PRMerged, `"name":"merged"`, `"name":"commits"`}, func(text string) bool {
		return bytes.Contains(entry, []byte(text))
	})
}

// noteCommits records what an entry says about the commits of its task. When Orange merges a
// branch, the journal first records that the work was found merged; the receipt that follows
// names the commit and replaces that record.
func (j *auditJournal) noteCommits(e *journal.Entry, row int64) {
	found := false
	if e.Snapshot != nil {
		for _, ev := range e.Snapshot.Evidence {
			if !ev.Holds || ev.Head == "" || ev.Head == ev.Base {
				continue
			}
			if ev.Name == workflow.Commits || ev.Name == workflow.Merged {
				j.work[e.Task] = task.Work{Base: ev.Base, Head: ev.Head}
			}
			found = found || ev.Name == workflow.Merged && e.To != ""
		}
	}
	landed, merged := journal.MergeOf(e)
	if !found && !merged {
		return
	}
	w := j.work[e.Task]
	m := auditMerge{task: e.Task, seq: e.Seq, row: row, landed: landed, base: w.Base, head: w.Head}
	if n := len(j.merges); merged && e.Receipt != nil {
		for i := n - 1; i >= 0; i-- {
			if last := &j.merges[i]; last.task == e.Task && last.landed == "" && last.head == w.Head {
				*last = m
				return
			}
		}
	}
	j.merges = append(j.merges, m)
}

// How a commit belongs to a merge.
const (
	auditMerged = "merge"  // the commit that merged the work
	auditHead   = "head"   // the last commit of the task
	auditBranch = "branch" // another commit of the task
)

// findMerge returns the first merge that a commit belongs to, nil if there is none. The
// commit may be abbreviated. contains holds the commits known to contain it.
func (j *auditJournal) findMerge(commit string, contains map[string]bool) (m *auditMerge, how string, err error) {
	if m, err = j.findByPrefix(commit, func(m *auditMerge) string { return m.landed }); m != nil || err != nil {
		return m, auditMerged, err
	}
	if m, err = j.findByPrefix(commit, func(m *auditMerge) string { return m.head }); m != nil || err != nil {
		return m, auditHead, err
	}
	for i := range j.merges {
		if m := &j.merges[i]; m.base != "" && contains[m.head] && !contains[m.base] {
			return m, auditBranch, nil
		}
	}
	return nil, "", nil
}

// findByPrefix returns the first merge for which of returns a commit that begins with the
// given prefix. It returns an error if the prefix is ambiguous.
func (j *auditJournal) findByPrefix(commit string, of func(*auditMerge) string) (found *auditMerge, err error) {
	for i := range j.merges {
		m := &j.merges[i]
		switch {
		case !strings.HasPrefix(of(m), commit):
		case found == nil:
			found = m
		case of(found) != of(m):
			return nil, fmt.Errorf("%s is the beginning of several commits that were merged: give more of it", commit)
		}
	}
	return found, nil
}

// taskEntries returns the journal entries of a task.
func taskEntries(in io.Reader, id task.ID) ([]journal.Entry, error) {
	var out []journal.Entry
	own := []byte(`"` + string(id) + `"`)
	err := eachExportLine(in, func(l *journal.ExportLine) error {
		if l.Kind != journal.ExportEntry || !bytes.Contains(l.Entry, own) {
			return nil
		}
		e, err := journal.Decode(l.Entry)
		if err == nil && e.Task == id {
			out = append(out, e)
		}
		return err
	})
	return out, err
}

// parsePinned returns the workflow that a task is pinned to.
func (j *auditJournal) parsePinned(hash string) (*workflow.Definition, error) {
	l, ok := j.workflows[hash]
	if !ok {
		return nil, fmt.Errorf("the export does not have the workflow that the task is pinned to, with SHA-256 %.40s: its text was changed or left out", hash)
	}
	return workflow.Parse(l.File, l.Text)
}

// rowLink returns the link of a row. It returns false if the row was not followed.
func (j *auditJournal) rowLink(row int64) (journal.Link, bool) {
	if row < 1 || row > int64(len(j.links)) {
		return journal.Link{}, false
	}
	return j.links[row-1], true
}

// printAudit prints the result of an audit.
func (a *auditor) printAudit(out io.Writer, r *audited) error {
	w := &lineWriter{w: out}
	fact := func(name, format string, args ...any) { w.writeLine("%-10s "+format, append([]any{name}, args...)...) }
	switch r.How {
	case auditMerged:
		fact("Commit", "%s is the merge of the task", r.Commit)
	case auditHead:
		fact("Commit", "%s is the last commit of the task", r.Commit)
	default:
		fact("Commit", "%s is a commit of the task's branch", r.Commit)
	}
	fact("Task", "%s  %s", r.Task, r.Summary)
	fact("Project", "%s, branch %s", r.Project, r.Branch)
	if r.Head != "" {
		fact("Work", "%s, begun at %s", r.Head, r.Base)
	}
	fact("Merged", "%s as %s (entry %d, row %d)", formatClock(a.Now(), r.At), r.Merged, r.Seq, r.Row)
	if r.PRURL != "" {
		fact("Request", "%s", r.PRURL)
	}
	fact("Workflow", "%s, SHA-256 %s", r.Workflow, r.Hash)
	w.writeLine("")
	for i := range r.Steps {
		a.printStep(w, &r.Steps[i])
	}
	w.writeLine("")
	if r.Journal.OK {
		fact("Journal", "%s are what was written, the last link is %.16s", formatCount(int(r.Journal.Rows), "row", "rows"), r.Journal.Head)
	} else {
		fact("Journal", "NOT VERIFIED: %s", r.Journal.Problem)
	}
	fact("Anchors", "%s", describeAnchors(&r.Anchors))
	again := fmt.Sprintf("re-decided %s (%s): ", formatCount(r.Redecided.Entries, "entry", "entries"), formatCount(r.Redecided.Decisions, "decision", "decisions"))
	if n := r.Redecided.Older; n > 0 {
		again += fmt.Sprintf("%d decisions by the rules of another version differ, which is expected; the others: ", n)
	}
	if r.Redecided.Same {
		fact("Decisions", "%sequal", again)
		return w.err
	}
	fact("Decisions", "%s%d NOT equal", again, r.Redecided.Differ)
	if r.Redecided.First != nil && w.err == nil {
		t := timeline{now: a.Now()}
		t.writeDivergence(r.Redecided.First)
		_, w.err = io.WriteString(out, t.String())
	}
	return w.err
}

// printStep prints one entry as task history does, with the actor and the gates that let it pass.
func (a *auditor) printStep(w *lineWriter, s *engine.AuditStep) {
	for i, e := range s.Events {
		text, err := e.MarshalJSON()
		if err != nil {
			continue
		}
		row := historyRow(a.Now(), text)
		number := ""
		if i == 0 {
			number = fmt.Sprintf("#%d", s.Seq)
			if s.Who != "" {
				row[2] = s.Who + ": " + row[2]
			}
			if s.Harness != "" {
				row[2] += "  harness=" + s.Harness
			}
		}
		w.writeLine("%-5s %s  %s  %s", number, row[0], row[1], row[2])
	}
	for _, gate := range s.Gates {
		w.writeIndented(gate)
	}
	if len(s.Effects) > 0 {
		w.writeIndented("asks for " + strings.Join(s.Effects, ", "))
	}
}

// writeIndented writes a line indented below the previous one.
func (l *lineWriter) writeIndented(text string) {
	if l.err == nil {
		_, l.err = fmt.Fprintln(l.w, "        "+cleanLine(text))
	}
}

// describeAnchors describes what an audit found about anchors.
func describeAnchors(a *auditAnchors) string {
	switch {
	case a.Store == "":
		return "not compared: the export does not say which store it is of"
	case a.Repository == "":
		return "not compared: no repository was given, use --repo"
	case a.Problem != "":
		return "NOT AS IT WAS: " + a.Problem
	case a.Anchors == 0:
		return "none in " + a.Repository + ": fetch refs/orange/journal/" + a.Store + " from where it was published"
	}
	var parts []string
	parts = append(parts, fmt.Sprintf("%s in %s compared, and the journal agrees", formatCount(a.Agree, "anchor", "anchors"), a.Repository))
	if a.Lost > 0 {
		parts = append(parts, fmt.Sprintf("%d of rows that were lost when the store was restored", a.Lost))
	}
	if a.Later > 0 {
		parts = append(parts, fmt.Sprintf("%d of later rows", a.Later))
	}
	if a.This {
		parts = append(parts, "this merge is covered")
	} else {
		parts = append(parts, "this merge is not covered yet")
	}
	return strings.Join(parts, "; ")
}
