package evidence

import (
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"orange/internal/adapter/git"
	"orange/internal/core/signal"
	"orange/internal/core/task"
	"orange/internal/core/workflow"
	"orange/internal/host"
	"orange/internal/runtime/local"
)

// asked returns a gate's question about o.md of the task t, whose attempt 1 began at began.
func asked(t *testing.T, dir string, began time.Time) (bool, string) {
	t.Helper()
	p := Source{Host: host.Evidence{
		Workspace: func(string) string { return dir },
		Began:     func(task.ID, int) (time.Time, bool) { return began, true },
	}}
	e := p.Probe(t.Context(), local.Question{
		Name: "file:out", Attempt: 1, Task: &task.Task{ID: "t", Resources: task.Resources{Workspace: "w"}, Branch: "feature/login", CurrentVisit: task.CurrentVisit{Since: began.Add(time.Hour)}},
		Gate: &workflow.Gate{Name: "out", File: "enhancements/{enhancement_name}/ag/required_output/o.md", Header: []string{"enhancement", "agent", "task_id", "timestamp", "status"}},
	})
	return e.Holds, e.Detail
}

const wantedFile = "enhancements/login/ag/required_output/o.md"

func put(t *testing.T, dir, text string, at time.Time) {
	t.Helper()
	file := filepath.Join(dir, filepath.FromSlash(wantedFile))
	check(t, os.MkdirAll(filepath.Dir(file), 0o700))
	check(t, os.WriteFile(file, []byte(text), 0o600))
	check(t, os.Chtimes(file, at, at))
}

func TestRequiredOutputIsWhatTheSessionWrote(t *testing.T) {
	const whole = "---\nenhancement: e\nagent: ag\ntask_id: t\ntimestamp: 2024-01-01T00:00:00Z\nstatus: DONE\n---\n# body"
	began := time.Now().Add(-time.Minute)
	for _, tt := range []struct {
		name, text string
		at         time.Time
		want       string // "" for good
	}{
		{"all of it", whole, began.Add(time.Second), ""},
		{"older than the session", whole, began.Add(-time.Second), "was not written in this session"},
		{"of another task", strings.Replace(whole, "task_id: t", "task_id: old", 1), began.Add(time.Second), `has task_id "old", but this is task t`},
		{"empty", "", began.Add(time.Second), "is empty"},
		{"without a header", "# body", began.Add(time.Second), "Output missing metadata header: " + wantedFile},
		{"without one of the fields", strings.Replace(whole, "status: DONE\n", "", 1), began.Add(time.Second), "Missing metadata field 'status' in: " + wantedFile},
		{"not there", "-", began, "Required output not found: " + wantedFile},
	} {
		t.Run(tt.name, func(t *testing.T) {
			dir := t.TempDir()
			if tt.text != "-" {
				put(t, dir, tt.text, tt.at)
			}
			if ok, detail := asked(t, dir, began); ok != (tt.want == "") || !strings.Contains(detail, tt.want) {
				t.Errorf("%v, %q", ok, detail)
			}
		})
	}
	dir := t.TempDir()
	check(t, os.MkdirAll(filepath.Join(dir, "enhancements/login/ag/required_output"), 0o700))
	check(t, os.Symlink("/etc/hostname", filepath.Join(dir, filepath.FromSlash(wantedFile))))
	if ok, detail := asked(t, dir, began); ok {
		t.Errorf("a link out of the worktree counts: %q", detail)
	}
}

// A reviewer commits a suggestion at the forge, or brings the branch up to date there, and
// then it is squashed: the branch here is behind what was merged, and nothing is lost.
func TestASquashOfMoreThanTheLocalBranch(t *testing.T) {
	for name, tt := range map[string]struct {
		gone   bool // the branch is deleted at the forge
		ahead  bool // the branch here has what the pull request has not
		away   bool // the forge does not answer
		commit string
		want   bool
	}{
		"the branch is there still":        {want: true},
		"the branch was deleted":           {gone: true, want: true},
		"the branch here has more":         {ahead: true},
		"the forge is away":                {away: true},
		"a commit that nobody has":         {commit: strings.Repeat("a", 40)},
		"what is no commit":                {commit: "--upload-pack=true"},
		"the merge says nothing about one": {commit: "-"},
	} {
		t.Run(name, func(t *testing.T) {
			dir := t.TempDir()
			forge, here := filepath.Join(dir, "forge"), filepath.Join(dir, "here")
			work := func(at, name, text string) string {
				check(t, os.WriteFile(filepath.Join(at, name), []byte(text), 0o600))
				gitIn(t, at, "add", ".")
				gitIn(t, at, "commit", "-qm", name)
				return gitIn(t, at, "rev-parse", "HEAD")
			}
			gitIn(t, dir, "init", "-qb", "main", forge)
			gitIn(t, forge, "config", "uploadpack.allowAnySHA1InWant", "true")
			work(forge, "a", "1")
			gitIn(t, dir, "clone", "-q", forge, here)
			gitIn(t, here, "checkout", "-qb", "feature")
			work(here, "b", "1")
			gitIn(t, here, "push", "-q", "origin", "feature")
			gitIn(t, forge, "checkout", "-q", "feature")
			head := work(forge, "b", "2")
			gitIn(t, forge, "checkout", "-q", "main")
			gitIn(t, forge, "merge", "-q", "--squash", "feature")
			gitIn(t, forge, "commit", "-qm", "squashed")
			if tt.gone {
				gitIn(t, forge, "branch", "-qD", "feature")
			}
			if tt.ahead {
				work(here, "c", "1")
			}
			if tt.away {
				check(t, os.Rename(forge, forge+"-away"))
			}
			if tt.commit != "" {
				head = strings.TrimSuffix(tt.commit, "-")
			}
			p := Source{Git: git.New()}
			q := local.Question{Project: task.Project{Path: here, DefaultBranch: "main"}, Task: &task.Task{Branch: "feature"}, Commit: head}
			for _, q.Name = range []string{workflow.Merged, workflow.NothingLost} {
				if e := p.Probe(t.Context(), q); e.Holds != tt.want {
					t.Errorf("%+v, want %v", e, tt.want)
				}
			}
		})
	}
}

// A branch that lost the commits that were handed over is where it began, and that is in the
// default branch: nothing of the task is merged.
func TestABranchThatLostItsCommitsIsNotMerged(t *testing.T) {
	t.Parallel()
	dir := t.TempDir()
	gitIn(t, dir, "init", "-qb", "main")
	gitIn(t, dir, "commit", "-q", "--allow-empty", "-m", "begin")
	base := gitIn(t, dir, "rev-parse", "HEAD")
	gitIn(t, dir, "checkout", "-qb", "feature")
	gitIn(t, dir, "commit", "-q", "--allow-empty", "-m", "work")
	head := gitIn(t, dir, "rev-parse", "HEAD")
	gitIn(t, dir, "reset", "-q", "--hard", base)
	tk := &task.Task{Branch: "feature", Results: task.Results{Work: &task.Work{Base: base, Head: head}}}
	probe := func() signal.Evidence {
		return Source{Git: git.New()}.Probe(t.Context(), local.Question{Name: workflow.Merged, Project: task.Project{Path: dir, DefaultBranch: "main"}, Task: tk})
	}
	if e := probe(); e.Holds || !e.Empty || !strings.Contains(e.Detail, "git -C "+dir+" branch -f feature "+head[:12]) {
		t.Errorf("%+v", e)
	}
	tk.Handover = &task.Handover{Nothing: true}
	if e := probe(); !e.Holds || !e.Empty {
		t.Errorf("nothing was to be changed: %+v", e)
	}
	gitIn(t, dir, "branch", "-f", "main", head)
	if e := probe(); !e.Holds || e.Empty || e.Head != head {
		t.Errorf("it was merged before: %+v", e)
	}
}

// A branch that was moved to a newer default branch is in it, and brought nothing there.
func TestABranchThatOnlyFollowedIsNotMerged(t *testing.T) {
	t.Parallel()
	dir := t.TempDir()
	tree := filepath.Join(dir, "w1")
	write := func(at, name string) string {
		check(t, os.WriteFile(filepath.Join(at, name), []byte(name), 0o600))
		gitIn(t, at, "add", ".")
		gitIn(t, at, "commit", "-qm", name)
		return gitIn(t, at, "rev-parse", "HEAD")
	}
	root := filepath.Join(dir, "root")
	gitIn(t, dir, "init", "-qb", "main", root)
	base := write(root, "begin")
	gitIn(t, root, "worktree", "add", "-qb", "feature", tree)
	tk := &task.Task{Branch: "feature", Resources: task.Resources{Workspace: "w1"}, Results: task.Results{Work: &task.Work{Base: base}}}
	probe := func() signal.Evidence {
		t.Helper()
		source := Source{Git: git.New(), Host: host.Evidence{Workspace: func(name string) string { return filepath.Join(dir, name) }}}
		return source.Probe(t.Context(), local.Question{Name: workflow.Merged, Project: task.Project{Path: root, DefaultBranch: "main"}, Task: tk})
	}
	write(root, "newer")
	gitIn(t, tree, "merge", "-q", "--ff-only", "main")
	if e := probe(); !e.Holds || !e.Empty || e.Head != "" {
		t.Errorf("nothing was committed: %+v", e)
	}
	first := write(tree, "first")
	head := write(tree, "second")
	tk.Work.Head = head
	gitIn(t, tree, "reset", "-q", "--hard", first)
	if e := probe(); e.Holds || e.Empty || len(e.LeftBehind) != 1 || e.LeftBehind[0] != head {
		t.Errorf("it has lost one of its commits: %+v", e)
	}
	write(root, "newest")
	gitIn(t, tree, "reset", "-q", "--hard", "main")
	if e := probe(); e.Holds || !e.Empty || !strings.Contains(e.Detail, "git -C "+tree+" reset --keep "+head[:12]) {
		t.Errorf("it has lost its commits: %+v", e)
	}
	gitIn(t, tree, "cherry-pick", head)
	gitIn(t, root, "merge", "-q", "--ff-only", "feature")
	if e := probe(); !e.Holds || e.Empty || e.Head == "" || len(e.LeftBehind) != 1 || e.LeftBehind[0] != first {
		t.Errorf("one of two commits is merged: %+v", e)
	}
	gitIn(t, tree, "cherry-pick", first)
	gitIn(t, root, "merge", "-q", "--ff-only", "feature")
	if e := probe(); !e.Holds || e.Empty || len(e.LeftBehind) != 0 {
		t.Errorf("both are merged: %+v", e)
	}
	gitIn(t, root, "merge", "-q", "--no-edit", head)
	gitIn(t, tree, "reset", "-q", "--hard", base)
	if e := probe(); !e.Holds || e.Empty || e.Base != base || e.Head != head {
		t.Errorf("it was merged before: %+v", e)
	}
}

// A branch that somebody made where the default branch is, and that no agent worked on, has nothing to merge.
func TestABranchThatNobodyWorkedOnIsNotMerged(t *testing.T) {
	t.Parallel()
	root := t.TempDir()
	gitIn(t, root, "init", "-qb", "main")
	gitIn(t, root, "commit", "-q", "--allow-empty", "-m", "begin")
	gitIn(t, root, "branch", "feature")
	q := local.Question{Name: workflow.Merged, Project: task.Project{Path: root, DefaultBranch: "main"}, Task: &task.Task{Branch: "feature"}}
	if e := (Source{Git: git.New()}).Probe(t.Context(), q); !e.Holds || !e.Empty || !strings.Contains(e.Detail, "there is nothing to merge") {
		t.Errorf("%+v", e)
	}
}

// Work that continues after its first part was merged is shown as a whole.
func TestTheSecondPartOfWorkKeepsTheFirst(t *testing.T) {
	t.Parallel()
	root := t.TempDir()
	gitIn(t, root, "init", "-qb", "main")
	commit := func(name string) string {
		gitIn(t, root, "commit", "-q", "--allow-empty", "-m", name)
		return gitIn(t, root, "rev-parse", "HEAD")
	}
	base := commit("begin")
	gitIn(t, root, "checkout", "-qb", "feature")
	first := commit("first")
	gitIn(t, root, "branch", "-f", "main", first)
	second := commit("second")
	q := local.Question{Name: workflow.Commits, Project: task.Project{Path: root, DefaultBranch: "main"}, Task: &task.Task{Branch: "feature", Results: task.Results{Work: &task.Work{Base: base, Head: first}}}}
	if e := (Source{Git: git.New()}).Probe(t.Context(), q); !e.Holds || e.Base != base || e.Head != second {
		t.Errorf("%+v", e)
	}
}

// gitIn runs git as somebody.
func gitIn(t *testing.T, dir string, args ...string) string {
	t.Helper()
	out, err := exec.Command("git", append([]string{"-C", dir, "-c", "user.name=a", "-c", "user.email=a@b"}, args...)...).CombinedOutput()
	if err != nil {
		t.Fatalf("git %v: %s", args, out)
	}
	return strings.TrimSpace(string(out))
}

func check(t *testing.T, err error) {
	t.Helper()
	if err != nil {
		t.Fatal(err)
	}
}
