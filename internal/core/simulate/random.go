package simulate

import (
	"math"
	"time"
)

// simRand is SplitMix64: a value, so that a run depends on nothing but its number.
type simRand struct{ state uint64 }

// newSimRand begins the sequence of one run. Seed and run are mixed apart, so that
// neighbouring seeds and runs have nothing in common.
func newSimRand(seed uint64, run int) simRand {
	s := simRand{state: seed}
	s.state = s.next() + uint64(run)*0x9e3779b97f4a7c15
	s.state = s.next()
	return s
}

func (s *simRand) next() uint64 {
	s.state += 0x9e3779b97f4a7c15
	z := s.state
	z = (z ^ z>>30) * 0xbf58476d1ce4e5b9
	z = (z ^ z>>27) * 0x94d049bb133111eb
	return z ^ z>>31
}

// unit is uniform in [0, 1).
func (s *simRand) unit() float64 { return float64(s.next()>>11) / (1 << 53) }

// chance says yes with probability p: always for 1, never for 0.
func (s *simRand) chance(p float64) bool { return s.unit() < p }

// normal is standard normal, by Box and Muller.
func (s *simRand) normal() float64 {
	u, v := s.unit(), s.unit()
	return math.Sqrt(-2*math.Log(1-u)) * math.Cos(2*math.Pi*v)
}

// simCurve is a lognormal distribution.
type simCurve struct{ mu, sigma float64 }

// z95 is how many standard deviations the 95th percentile lies above the median.
const z95 = 1.6448536269514722

func newSimCurve(median, p95 float64) simCurve {
	if median <= 0 {
		return simCurve{mu: math.Inf(-1)}
	}
	return simCurve{mu: math.Log(median), sigma: math.Log(p95/median) / z95}
}

func (s *simRand) sample(c simCurve) float64 {
	if math.IsInf(c.mu, -1) {
		return 0
	}
	return math.Exp(c.mu + c.sigma*s.normal())
}

// longestSample keeps a sample of a wide curve from leaving the range of times.
const longestSample = 10 * 365 * 24 * time.Hour

// time samples a curve of times, to the millisecond.
func (s *simRand) time(c simCurve) time.Duration {
	return time.Duration(min(s.sample(c), float64(longestSample))).Round(time.Millisecond)
}
