package gittrust

import (
	"testing"

	"orange/internal/core/task"
)

// Two projects may be worktrees of one repository. What is trusted in one of them is trusted in
// both, whichever is found first, and in their submodules.
func TestProjectsOfOneRepositoryTrustTogether(t *testing.T) {
	t.Parallel()
	program := func(key string) task.GitProgram { return task.GitProgram{Kind: task.GitFilter, Key: key} }
	g := &Trust{projects: map[string]trustedProject{
		"b": {common: "/r/.git", programs: []task.GitProgram{program("filter.b.clean"), program("filter.ab.clean")}},
		"a": {common: "/r/.git", programs: []task.GitProgram{program("filter.a.clean"), program("filter.ab.clean")}},
		"c": {common: "/other/.git", programs: []task.GitProgram{program("filter.c.clean")}},
		"d": {},
	}}
	for common, want := range map[string]string{
		"/r/.git": "a: filter.a.clean filter.ab.clean filter.b.clean", "/r/.git/modules/m": "a: filter.a.clean filter.ab.clean filter.b.clean",
		"/other/.git": "c: filter.c.clean", "/r/.gitx": ":",
	} {
		for range 20 { // the order of a map differs
			project, programs := g.trustedPrograms(common)
			got := project + ":"
			for _, p := range programs {
				got += " " + p.Key
			}
			if got != want {
				t.Fatalf("%s: %s, not %s", common, got, want)
			}
		}
	}
}
