package main

import (
	"database/sql"
	"encoding/json"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"orange/internal/adapter/git"
	"orange/internal/core/journal"
	"orange/internal/core/task"
	"orange/internal/server"
)

// openMerging is a shop whose tasks only wait to be merged.
func openMerging(t *testing.T, branches ...string) (*env, []task.ID) {
	t.Helper()
	s := openEnv(t, "headless")
	s.write("shop/.git/info/exclude", "/.orange\n")
	s.write("shop/.orange/workflows/merge-only.yaml", mergeOnly)
	var ids []task.ID
	for _, branch := range branches {
		s.git(s.repo, "switch", "-q", "-c", branch, "main")
		for _, text := range []string{"one", "two"} {
			s.write("shop/of-"+branch, text+"\n")
			s.git(s.repo, "add", "of-"+branch)
			s.git(s.repo, "commit", "-qm", text+" of "+branch)
		}
		s.git(s.repo, "switch", "-q", "main")
		ids = append(ids, s.create(branch, idle, "--workflow", "merge-only"))
	}
	return s, ids
}

// anchors are those of the shop's store, oldest first.
func (s *env) anchors() []journal.Anchor {
	s.t.Helper()
	ref := strings.TrimSpace(s.git(s.repo, "for-each-ref", "--format=%(refname)", "refs/orange/journal/"))
	if ref == "" {
		return nil
	}
	list, err := server.NewRepository().ReadAnchors(s.t.Context(), s.repo, strings.TrimPrefix(ref, git.AnchorRef("")))
	check(s.t, err)
	return list
}

// anchored waits until so many merges are anchored.
func (s *env) anchored(n int) []journal.Anchor {
	s.t.Helper()
	s.eventually("the merges are anchored", func() bool { return len(s.anchors()) >= n })
	list := s.anchors()
	if len(list) != n {
		s.t.Fatalf("%d anchors, want %d: %+v", len(list), n, list)
	}
	return list
}

// checkup is what orange doctor says about one thing.
func (s *env) checkup(name string) (ok bool, detail string) {
	s.t.Helper()
	out, _, _ := s.run("doctor", "--json")
	var all struct {
		Checks []struct {
			Name, Detail string
			OK           bool
		}
	}
	check(s.t, json.Unmarshal([]byte(out), &all))
	for _, c := range all.Checks {
		if c.Name == name {
			return c.OK, c.Detail
		}
	}
	s.t.Fatalf("no check %s in %s", name, out)
	return false, ""
}

// expectCheck compares a check of orange doctor.
func (s *env) expectCheck(name string, ok bool, words string) {
	s.t.Helper()
	if good, detail := s.checkup(name); good != ok || !strings.Contains(detail, words) {
		s.t.Errorf("%s: %v, %s; want %v, %s", name, good, detail, ok, words)
	}
}

// auditOf is what orange audit says, and whether it is content.
func (s *env) auditOf(args ...string) (text string, ok bool) {
	s.t.Helper()
	out, said, err := s.run(append([]string{"audit", "--repo", s.repo}, args...)...)
	return out + said, err == nil
}

// mergedCommit is the commit that the journal records of a task's merge.
func (s *env) mergedCommit(id task.ID) string {
	s.t.Helper()
	var commit string
	s.eventually("the merge is recorded", func() bool {
		for _, e := range s.journal(id) {
			if c, ok := journal.MergeOf(&e); ok {
				commit = c
			}
		}
		return commit != ""
	})
	return commit
}

// changeStore changes the store behind the back of Orange.
func (s *env) changeStore(statements ...string) {
	s.t.Helper()
	s.orange("stop")
	s.eventually("the server has left", func() bool { return !held(filepath.Join(s.home, "server.lock")) })
	db, err := sql.Open("sqlite", storePath(s.home))
	check(s.t, err)
	for _, text := range statements {
		_, err := db.Exec(text)
		check(s.t, err)
	}
	check(s.t, db.Close())
}

// forgeLinks computes every link again, as somebody would who knows how.
func (s *env) forgeLinks() {
	s.t.Helper()
	db, err := sql.Open("sqlite", storePath(s.home))
	check(s.t, err)
	rows, err := db.Query("SELECT journal.row, task, seq, at, entry, coalesce(text, '') FROM journal LEFT JOIN journal_segment USING (row) ORDER BY 1")
	check(s.t, err)
	var all []journal.Stored
	for rows.Next() {
		var r journal.Stored
		check(s.t, rows.Scan(&r.Row, &r.Task, &r.Seq, &r.At, &r.Entry, &r.Segment))
		all = append(all, r)
	}
	check(s.t, rows.Err())
	var head journal.Link
	for i := range all {
		head = head.NextLink(&all[i])
		_, err := db.Exec("UPDATE journal SET link = ? WHERE row = ?", head[:], all[i].Row)
		check(s.t, err)
	}
	check(s.t, db.Close())
}

// Every merge is anchored, as a fast-forward and as a merge commit, and every commit of both
// tasks leads to its task.
func TestMergesAreAnchoredAndAudited(t *testing.T) {
	t.Parallel()
	s, ids := openMerging(t, "a", "b")
	status := s.git(s.repo, "status", "--porcelain")
	for _, id := range ids {
		s.orange("task", "merge", string(id))
		s.reaches(id, "done")
	}
	list := s.anchored(2)
	for i, branch := range []string{"a", "b"} {
		commit := s.mergedCommit(ids[i])
		if list[i].Task != ids[i] || list[i].Commit != commit || s.git(s.repo, "merge-base", "--is-ancestor", branch, commit) != "" {
			t.Errorf("%+v", list[i])
		}
		for words, name := range map[string]string{"is the merge of the task": commit, "is a commit of the task's branch": branch + "~1", string(ids[i]): commit[:7]} {
			text, ok := s.auditOf(name)
			if !ok || !strings.Contains(text, words) || !strings.Contains(text, string(ids[i])) || !strings.Contains(text, "this merge is covered") || !strings.Contains(text, "): equal") {
				t.Errorf("audit %s: %v\n%s\nwant %s", name, ok, text, words)
			}
		}
	}
	if a := s.git(s.repo, "rev-parse", "a"); list[0].Commit != strings.TrimSpace(a) {
		t.Errorf("the fast-forward is %s, not %s", list[0].Commit, a)
	}
	for name, words := range map[string]string{"a~2": "nothing is known of commit ", "beef00": "nothing is known of commit beef00", "no such": "no commit"} {
		if text, ok := s.auditOf(name); ok || !strings.Contains(text, words) || strings.Count(text, "\n") != 1 {
			t.Errorf("audit %s: %v, %s", name, ok, text)
		}
	}
	s.expectCheck("anchors", true, "2 merges are anchored in 1 repository,")
	s.git(s.repo, "fsck", "--strict")
	if now := s.git(s.repo, "status", "--porcelain"); now != status {
		t.Errorf("the checkout was %q and is %q", status, now)
	}
}

// A server that is killed between a landing and its anchor leaves the anchor to the next one,
// wherever it is killed; no merge is anchored twice.
func TestAServerIsKilledBetweenAMergeAndItsAnchor(t *testing.T) {
	t.Parallel()
	for _, point := range []string{"effect.after", "anchor.before", "anchor.after"} {
		t.Run(point, func(t *testing.T) {
			t.Parallel()
			s, ids := openMerging(t, "a")
			server := s.crashingServer(1, point)
			s.run("task", "merge", string(ids[0]), "--no-wait") //nolint:errcheck // its server may be gone
			server.Wait()                                       //nolint:errcheck // it was killed
			s.git(s.repo, "merge-base", "--is-ancestor", "a", "main")
			want := 0
			if point == "anchor.after" {
				want = 1
			}
			if n := len(s.anchors()); n != want {
				t.Errorf("%d anchors before the next server", n)
			}
			s.reaches(ids[0], "done")
			if list := s.anchored(1); list[0].Commit != s.mergedCommit(ids[0]) {
				t.Errorf("%+v", list)
			}
			s.expectCheck("anchors", true, "1 merge is anchored in 1 repository,")
			s.orange("stop")
			s.orange("task", "list")
			s.expectCheck("anchors", true, "1 merge is anchored in 1 repository,")
			s.anchored(1)
		})
	}
}

// An anchor that cannot be written undoes no merge, is reported, and is written later.
func TestAnAnchorThatCannotBeWritten(t *testing.T) {
	t.Parallel()
	s, ids := openMerging(t, "a", "b")
	s.write("shop/.git/refs/orange", "in the way\n")
	s.orange("task", "merge", string(ids[0]))
	s.reaches(ids[0], "done")
	s.mergedCommit(ids[0])
	s.expectCheck("anchors", false, "the merge of task "+string(ids[0])+" as ")
	if got := s.task(ids[0]); got.Attention != "" {
		t.Errorf("%+v", got)
	}
	s.orange("stop")
	s.expectCheck("anchors", false, "is not anchored: write refs/orange/journal/")
	check(t, os.Remove(filepath.Join(s.repo, ".git", "refs", "orange")))
	s.orange("task", "merge", string(ids[1]))
	s.reaches(ids[1], "done")
	list := s.anchored(2)
	if list[0].Task != ids[0] || list[1].Task != ids[1] {
		t.Errorf("%+v", list)
	}
	s.expectCheck("anchors", true, "2 merges are anchored")
	s.git(s.repo, "update-ref", "-d", git.AnchorRef(list[0].Store))
	s.expectCheck("anchors", false, "does not have it: fetch the ref")
}

// Whoever changes a row and computes the whole chain again is found by the anchors, and by
// nothing else.
func TestARewrittenJournalIsFoundByItsAnchors(t *testing.T) {
	t.Parallel()
	s, ids := openMerging(t, "a", "b")
	s.orange("task", "merge", string(ids[0]))
	s.anchored(1)
	s.orange("task", "update", string(ids[1]), "--summary", "honest")
	s.orange("task", "merge", string(ids[1]))
	s.reaches(ids[1], "done")
	list := s.anchored(2)
	s.expectCheck("chain", true, "")
	export := filepath.Join(s.dir, "honest.jsonl")
	s.orange("export", export)
	s.changeStore("UPDATE journal SET entry = replace(entry, 'honest', 'forged')", "UPDATE task SET fold = replace(fold, 'honest', 'forged')")
	s.forgeLinks()
	s.expectCheck("chain", true, "")
	s.expectCheck("journal", true, "")
	s.orange("task", "replay", string(ids[1]))
	s.expectCheck("anchors", false, "is not the row that was anchored when "+list[1].Commit[:12]+" was merged: the journal was rewritten after row ")
	if text, ok := s.auditOf(list[1].Commit); ok || !strings.Contains(text, "NOT AS IT WAS: row ") {
		t.Errorf("%v\n%s", ok, text)
	}
	if text, ok := s.auditOf(list[1].Commit, "--from", export); !ok || !strings.Contains(text, "honest") || !strings.Contains(text, "2 anchors in") {
		t.Errorf("%v\n%s", ok, text)
	}
}

// A row that was changed is named by replay, doctor and audit.
func TestAChangedRowIsNamed(t *testing.T) {
	t.Parallel()
	s, ids := openMerging(t, "a", "b")
	s.orange("task", "merge", string(ids[0]))
	commit := s.anchored(1)[0].Commit
	s.changeStore("UPDATE journal SET entry = replace(entry, '\"line\":', '\"line\": ') WHERE row = 2")
	words := "row 2 (entry 1 of task " + string(ids[1]) + ") is not what was written"
	s.expectCheck("chain", false, words)
	s.expectCheck("anchors", true, "1 merge is anchored")
	for _, args := range [][]string{{"task", "replay", string(ids[1])}, {"task", "replay", string(ids[0])}, {"task", "replay", string(ids[0]), "--at", "1"}, {"audit", commit, "--repo", s.repo}} {
		if out, said, err := s.run(args...); err == nil || !strings.Contains(out+said, words) {
			t.Errorf("%v: %v\n%s%s", args, err, out, said)
		}
	}
}

// A store that is older than an anchor is distinguished from one that was rewritten, and once it was
// restored the anchors of what was lost are explained.
func TestARestoredStoreIsDistinguishedFromARewrittenOne(t *testing.T) {
	t.Parallel()
	s, ids := openMerging(t, "a", "b", "c")
	s.orange("task", "merge", string(ids[0]))
	s.anchored(1)
	s.orange("stop")
	s.eventually("the server has left", func() bool { return !held(filepath.Join(s.home, "server.lock")) })
	old, err := os.ReadFile(storePath(s.home))
	check(t, err)
	s.orange("task", "merge", string(ids[1]))
	s.reaches(ids[1], "done")
	s.anchored(2)
	s.orange("stop")
	s.eventually("the server has left", func() bool { return !held(filepath.Join(s.home, "server.lock")) })
	check(t, os.WriteFile(storePath(s.home), old, 0o600))
	check(t, os.RemoveAll(filepath.Join(s.home, "tasks"))) // nothing else knows more
	check(t, os.RemoveAll(backupFolder(s.home)))
	s.expectCheck("anchors", false, "the store is older than the repository")
	if _, detail := s.checkup("anchors"); strings.Contains(detail, "rewritten") {
		t.Error(detail)
	}
	s.orange("stop")
	s.eventually("the server has left", func() bool { return !held(filepath.Join(s.home, "server.lock")) })
	s.orange("doctor", "--restore")
	s.expectCheck("anchors", true, "but for 1 of rows that were lost when the store was restored")
	s.orange("task", "merge", string(ids[2]))
	s.reaches(ids[2], "done")
	s.anchored(3)
	s.expectCheck("anchors", true, "but for 1 of rows that were lost when the store was restored")
	s.expectCheck("chain", true, "")
}

// auditsForgeMerge makes sure that a merge by a forge is anchored and leads to its task: by the
// commit that the forge names, which may be a squash, and need not be here.
func (s *env) auditsForgeMerge(id task.ID) {
	s.t.Helper()
	commit := s.mergedCommit(id)
	if list := s.anchored(1); list[0].Task != id || list[0].Commit != commit {
		s.t.Errorf("%+v", list)
	}
	for _, name := range []string{commit, commit[:10], s.task(id).Work.Head} {
		if text, ok := s.auditOf(name); !ok || !strings.Contains(text, string(id)) || !strings.Contains(text, " as "+commit) {
			s.t.Errorf("audit %s: %v\n%s", name, ok, text)
		}
	}
}
