package local_test

import (
	"strings"
	"testing"
	"time"

	"orange/internal/core/signal"
	"orange/internal/core/task"
	"orange/internal/runtime/local"
)

// Git cannot hold branch a beside a/b. While one of two such branches is given to a task, the other waits and is then refused.
func TestOneOfTwoBranchesThatExcludeEachOther(t *testing.T) {
	create := func(f *relationsEnv, branch string) (task.ID, error) {
		a, err := f.Create(t.Context(), signal.NewTask{Actor: task.Human, New: signal.New{Project: "p", Summary: "s", Branch: branch}})
		return a.Task.ID, err
	}
	for name, take := range map[string]func(f *relationsEnv, other task.ID) error{
		"create": func(f *relationsEnv, _ task.ID) error {
			_, err := create(f, "a")
			return err
		},
		"rename": func(f *relationsEnv, other task.ID) error {
			_, err := f.Submit(t.Context(), other, signal.Signal{Kind: signal.Update, Actor: task.Human, Fields: []signal.Field{{Name: "branch", To: "a"}}})
			return err
		},
	} {
		t.Run(name, func(t *testing.T) {
			f := newRelationsEnv(t, "chain")
			second := make(chan error, 1)
			f.anew(func(o *local.RuntimeOptions) {
				o.Library = library(func(n string) (string, bool) { return chainFlow, n == "chain" })
				o.Branch = func(_ task.Project, branch string) error {
					if branch != "a" {
						return nil
					}
					go func() {
						_, err := create(f, "a/b")
						second <- err
					}()
					select {
					case err := <-second: // it did not have to wait
						second <- err
					case <-time.After(50 * time.Millisecond):
					}
					return nil
				}
			})
			other, err := create(f, "other")
			if err == nil {
				err = take(f, other)
			}
			if err != nil {
				t.Errorf("the first: %v", err)
			}
			if err := <-second; err == nil || !strings.Contains(err.Error(), "cannot be made beside the branch of task") {
				t.Errorf("the second: %v", err)
			}
		})
	}
}
