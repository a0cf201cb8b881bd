package backoff

import (
	"context"
	"errors"
	"testing"
	"testing/synctest"
	"time"
)

func TestDelayDoublesUpToMost(t *testing.T) {
	b := Backoff{First: time.Second, Most: 10 * time.Second}
	for n, want := range map[int]time.Duration{-1: 1, 0: 1, 1: 2, 2: 4, 3: 8, 4: 10, 5: 10, 5000: 10} {
		if got := b.Delay(n); got != want*time.Second {
			t.Errorf("after try %d: %s, want %s", n, got, want*time.Second)
		}
	}
}

func TestWaitEndsWithItsContext(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		b := Backoff{First: time.Second, Most: time.Minute}
		begin := time.Now()
		if err := b.Wait(t.Context(), 2); err != nil || time.Since(begin) != 4*time.Second {
			t.Errorf("%v after %s, want nil after 4s", err, time.Since(begin))
		}
		ctx, cancel := context.WithCancel(t.Context())
		cancel()
		if err := b.Wait(ctx, 2); !errors.Is(err, context.Canceled) {
			t.Errorf("%v, want that the context ended", err)
		}
	})
}
