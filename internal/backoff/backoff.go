// Package backoff says how long to wait before something that failed is tried again.
package backoff

import (
	"context"
	"time"
)

// A Backoff is a wait that doubles from try to try: First, then twice that, up to Most.
type Backoff struct{ First, Most time.Duration }

// Delay returns the wait after try n, counted from 0.
func (b Backoff) Delay(n int) time.Duration {
	d := b.First
	for ; n > 0 && d < b.Most; n-- {
		d *= 2
	}
	return min(d, b.Most)
}

// Wait waits after try n, counted from 0. It returns early, with the reason, when ctx ends.
func (b Backoff) Wait(ctx context.Context, n int) error {
	t := time.NewTimer(b.Delay(n))
	defer t.Stop()
	select {
	case <-ctx.Done():
		return ctx.Err()
	case <-t.C:
		return nil
	}
}
