package doctor_test

import (
	"context"
	"errors"
	"testing"

	"github.com/google/go-cmp/cmp"

	"orange/internal/doctor"
)

func TestEveryCheckRunsWhateverTheEarlierOnesSay(t *testing.T) {
	type key struct{}
	ctx := context.WithValue(t.Context(), key{}, "here")
	got := doctor.Run(ctx, []doctor.Check{
		{Name: "disk", Run: func(context.Context) (string, error) { return "half", errors.New("it is full") }, Fix: "free some space"},
		{Name: "git", Run: func(ctx context.Context) (string, error) { return ctx.Value(key{}).(string), nil }, Fix: "install it"},
	})
	want := []doctor.Result{
		{Name: "disk", Detail: "it is full", Fix: "free some space"},
		{Name: "git", OK: true, Detail: "here"},
	}
	if diff := cmp.Diff(want, got); diff != "" {
		t.Errorf("- want, + got\n%s", diff)
	}
	if got := doctor.Run(ctx, nil); got == nil || len(got) != 0 {
		t.Errorf("without checks: %v", got)
	}
}
