package transport

import "time"

// A bucket gives out turns: so many a second, and a few at once after a pause. Without a
// rate it never makes anybody wait.
type bucket struct {
	rate  float64
	burst int
	used  bool
	left  float64 // turns; below 0 they are promised to those who wait
	at    time.Time
}

// reserveTurn reserves a turn and says how long to wait for it.
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

// giveBack returns a turn that nobody took.
func (b *bucket) giveBack() {
	if b.rate > 0 {
		b.left = min(float64(b.burst), b.left+1)
	}
}
