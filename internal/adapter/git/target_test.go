package git

import "testing"

// A server may end after the remote took a push and before it recorded that. It pushes again, and finds what it pushed.
func TestAPushThatLandedIsFoundAgain(t *testing.T) {
	t.Parallel()
	for name, tc := range map[string]struct {
		strategy string
		forward  bool // the target has no commit of its own
		goesOn   bool // a person has pushed a change of the same file since
		pulled   bool // and has brought it here
	}{
		"a squash":                                  {strategy: Squash},
		"a squash, and the target went on":          {strategy: Squash, goesOn: true},
		"a squash, and the branch here went on too": {strategy: Squash, goesOn: true, pulled: true},
		"a rebase, and the target went on":          {strategy: Rebase, goesOn: true},
		"a rebase that rewrites nothing":            {strategy: Rebase, forward: true, goesOn: true},
		"a merge commit, and the target went on":    {strategy: MergeCommit, goesOn: true},
		"a merge commit, and the branch here too":   {strategy: MergeCommit, goesOn: true, pulled: true},
		"a fast-forward, and the target went on":    {strategy: Auto, forward: true, goesOn: true},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			g, root := diverged(t)
			if tc.forward {
				do(t, root, "reset", "-q", "--hard", "main~1")
			}
			remote, person := withRemote(t, root)
			c, _, err := g.BuildCandidate(t.Context(), root, Merging{Branch: "b", Into: "main", Strategy: tc.strategy, Remote: "origin"})
			check(t, err)
			check(t, g.PushLanding(t.Context(), root, "origin", "main", c.Commit))
			if tc.goesOn {
				do(t, person, "pull", "-q")
				commitFile(t, person, "two", "changed upon it\n")
				do(t, person, "push", "-q")
			}
			if tc.pulled {
				do(t, root, "pull", "-q", "origin", "main")
			}
			theirs, here := out(t, remote, "rev-parse", "main"), out(t, root, "rev-parse", "main")
			if err := g.PushLanding(t.Context(), root, "origin", "main", c.Commit); err != nil {
				t.Fatal(err)
			}
			if got := out(t, remote, "rev-parse", "main"); got != theirs || out(t, root, "rev-parse", "main") != here {
				t.Errorf("a branch moved: %s", got)
			}
			check(t, g.FollowLanding(t.Context(), root, "origin", Landing{Target: "main", What: "b", New: c.Commit}))
			want := c.Commit
			if tc.pulled {
				want = theirs
			}
			if got := out(t, root, "rev-parse", "main"); got != want || out(t, root, "status", "--porcelain") != "" {
				t.Errorf("main here is at %s, not at %s", got, want)
			}
		})
	}
}

// A person may commit to the branch here while the work is checked. It stays, and the advice says how both come together.
func TestABranchWithCommitsOfItsOwnDoesNotFollow(t *testing.T) {
	t.Parallel()
	g, root := diverged(t)
	remote, _ := withRemote(t, root)
	c, _, err := g.BuildCandidate(t.Context(), root, Merging{Branch: "b", Into: "main", Strategy: Squash, Remote: "origin"})
	check(t, err)
	commitFile(t, root, "mine", "m\n")
	check(t, g.PushLanding(t.Context(), root, "origin", "main", c.Commit))
	here := out(t, root, "rev-parse", "main")
	err = g.FollowLanding(t.Context(), root, "origin", Landing{Target: "main", What: "b", New: c.Commit})
	wantError(t, err, "bring them together with git pull --no-rebase origin main in a checkout of main")
	if out(t, root, "rev-parse", "main") != here {
		t.Error("main here moved")
	}
	do(t, root, "pull", "-q", "--no-rebase", "--no-edit", "origin", "main")
	do(t, root, "merge-base", "--is-ancestor", out(t, remote, "rev-parse", "main"), "main")
}
