package transport

import (
	"fmt"
	"strings"
	"time"
)

// BreakerState is the state of a breaker.
type BreakerState string

// The states of a breaker.
const (
	Closed   BreakerState = "closed"    // requests pass
	Open     BreakerState = "open"      // no request passes
	HalfOpen BreakerState = "half-open" // one request passes, and decides
)

// A Breaker stops a program from sending requests with credentials that are refused, because
// some servers react by locking the account. It opens after some refusals without a success in
// between; when its time is over it lets one request through, and if that is refused too, it
// stays open longer. It is a value: it reads no clock and needs a lock if several goroutines
// use it. The zero value is closed.
type Breaker struct {
	After  int           // refusals until it opens: 2
	Reset  time.Duration // how long it is open at first: 60 s
	Most   time.Duration // how long it is open at most: 300 s
	Factor float64       // by which that time grows: 2

	failures int
	open     bool
	probing  bool
	last     time.Duration // how long it is open this time
	until    time.Time
}

func (b *Breaker) failureLimit() int         { return orDefault(b.After, 2) }
func (b *Breaker) resetDelay() time.Duration { return orDefault(b.Reset, time.Minute) }
func (b *Breaker) maxDelay() time.Duration {
	return max(b.resetDelay(), orDefault(b.Most, 5*time.Minute))
}
func (b *Breaker) delayFactor() float64 { return max(1, orDefault(b.Factor, 2)) }
func orDefault[T int | float64 | time.Duration](v, usual T) T {
	if v > 0 {
		return v
	}
	return usual
}

// State returns the state at a time.
func (b *Breaker) State(now time.Time) BreakerState {
	switch {
	case !b.open:
		return Closed
	case now.Before(b.until):
		return Open
	}
	return HalfOpen
}

// Allow reports whether a request may be sent. While the breaker is half-open, one may; its
// result must be reported with RecordFailure, RecordSuccess or ReleaseProbe.
func (b *Breaker) Allow(now time.Time) bool {
	switch b.State(now) {
	case Closed:
		return true
	case Open:
		return false
	}
	if b.probing {
		return false
	}
	b.probing = true
	return true
}

// RecordFailure records that the credentials were refused. While the breaker is open, a refusal
// of a request that was sent before is only counted.
func (b *Breaker) RecordFailure(now time.Time) {
	b.failures++
	switch state := b.State(now); {
	case state == HalfOpen:
		b.last = min(b.maxDelay(), time.Duration(float64(b.last)*b.delayFactor()))
	case state == Closed && b.failures >= b.failureLimit():
		b.last = b.resetDelay()
	default:
		return
	}
	b.open, b.probing, b.until = true, false, now.Add(b.last)
}

// RecordSuccess records that the credentials were accepted, and resets the breaker.
func (b *Breaker) RecordSuccess() {
	b.failures, b.open, b.probing, b.last, b.until = 0, false, false, 0, time.Time{}
}

// ReleaseProbe records that a request ended without a result about the credentials, so that
// another request may try.
func (b *Breaker) ReleaseProbe() { b.probing = false }

// Failures returns how often the credentials were refused since they were last accepted.
func (b *Breaker) Failures() int { return b.failures }

// OpenUntil returns when a request is let through again, or zero if all are.
func (b *Breaker) OpenUntil() time.Time { return b.until }

// A LockedOut is the error of a request that was not sent because the credentials were refused
// before.
type LockedOut struct {
	Name   string // of the tracker
	Secret string // where its secret comes from
	Times  int
	Until  time.Time
}

func (l *LockedOut) Error() string {
	var out strings.Builder
	if l.Name != "" {
		fmt.Fprintf(&out, "%s: ", l.Name)
	}
	fmt.Fprintf(&out, "the credentials were refused %d times: check ", l.Times)
	if l.Secret == "" {
		out.WriteString("its token")
	} else {
		fmt.Fprintf(&out, "the secret in %s", l.Secret)
	}
	fmt.Fprintf(&out, "; no request is sent before %s", l.Until.UTC().Format(time.RFC3339))
	return out.String()
}

// lockedOutError returns the error of a request that is not sent. While another request probes
// the credentials, its time is now.
func (t *Transport) lockedOutError(now time.Time) error {
	until := t.breaker.OpenUntil()
	if until.Before(now) {
		until = now
	}
	return &LockedOut{Name: t.o.Name, Secret: t.o.Secret, Times: t.breaker.Failures(), Until: until}
}
