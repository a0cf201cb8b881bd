package transport

import "time"

// A bucket limits the rate of requests: a number per second, and a burst after a pause.
// Without a rate, nobody waits.
type bucket struct {
	rate  float64
	burst int
	used  bool
	left  float64 // available requests; negative if they are reserved by waiting callers
	at    time.Time
}

// reserveTurn reserves a request and returns how long to wait for it.
func (b *bucket) reserveTurn(now time.Time) time.Duration {
	if b.rate <= 0 {
		return 0
	}
	if !b.used {
		b.used, b.left, b.at = true, float64(b.burst), now
	}
	if passed := now.Sub(b.at); passed > 0 {
		b.left = min(float64(b.burst), b.left+passed.Seconds()*b.rate)
		b.at = now
	}
	b.left--
	if b.left >= 0 {
		return 0
	}
	return time.Duration(-b.left / b.rate * float64(time.Second))
}

// giveBack returns a reservation that was not used.
func (b *bucket) giveBack() {
	if b.rate > 0 {
		b.left = min(float64(b.burst), b.left+1)
	}
}
