package verify_test

import (
	"reflect"
	"sync"
	"testing"

	"orange/internal/core/verify"
	"orange/internal/core/verifytest"
	"orange/internal/testneeds"
)

func share(parts int, work func(int)) {
	var all sync.WaitGroup
	for part := range parts {
		all.Go(func() { work(part) })
	}
	all.Wait()
}

// The report, including counterexamples, does not depend on how the work is shared.
func TestAReportDoesNotDependOnHowTheWorkIsShared(t *testing.T) {
	names := []string{"solo", "endless-steps"}
	if _, ok := testneeds.SoakSeed(t); ok {
		names = append(names, "literal-002", "orange-direct")
	}
	for _, name := range names {
		for _, full := range []bool{false, true} {
			def := load(t, name)
			want := verify.Verify(def, verify.SearchOptions{PendingLimit: 1, Full: full})
			for _, workers := range []int{2, 5} {
				got := verify.Verify(def, verify.SearchOptions{PendingLimit: 1, Full: full, Workers: workers, Share: share})
				if !reflect.DeepEqual(got, want) {
					t.Errorf("%s, full %v, %d workers: %d states, %d violations; alone %d and %d", name, full, workers, got.States, len(got.Violations), want.States, len(want.Violations))
				}
			}
		}
	}
}

// Each persistent role multiplies the worlds of a full search, and adds to the others.
func TestPersistentRolesDoNotMultiplyTheStates(t *testing.T) {
	var reduced, all [4]int
	for persistent := range 4 {
		def, err := verifytest.StagesWorkflow(3, persistent)
		if err != nil {
			t.Fatal(err)
		}
		full, less, ok := judged(t, def, verify.SearchOptions{PendingLimit: 1})
		if !ok || !full.OK {
			t.Errorf("%d persistent roles: complete %v\n%s", persistent, full.Complete, story(full))
		}
		reduced[persistent], all[persistent] = less.States, full.States
	}
	t.Logf("states %v, in full %v", reduced, all)
	if 2*reduced[3] > all[3] {
		t.Errorf("with three persistent roles %d states are left of %d", reduced[3], all[3])
	}
}
