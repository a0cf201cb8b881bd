package simulate

import (
	"math"
	"time"
)

// randomSource is SplitMix64. It is a value, so that a run depends only on its number.
type randomSource struct{ state uint64 }

// newRandomSource starts the sequence of one run. It mixes seed and run, so that neighboring
// seeds and runs are unrelated.
func newRandomSource(seed uint64, run int) randomSource {
	s := randomSource{state: seed}
	s.state = s.nextUint64() + uint64(run)*0x9e3779b97f4a7c15
	s.state = s.nextUint64()
	return s
}

func (s *randomSource) nextUint64() uint64 {
	s.state += 0x9e3779b97f4a7c15
	z := s.state
	z = (z ^ z>>30) * 0xbf58476d1ce4e5b9
	z = (z ^ z>>27) * 0x94d049bb133111eb
	return z ^ z>>31
}

// nextFloat64 returns a uniform value in [0, 1).
func (s *randomSource) nextFloat64() float64 { return float64(s.nextUint64()>>11) / (1 << 53) }

// drawChance returns true with probability p: always for 1, never for 0.
func (s *randomSource) drawChance(p float64) bool { return s.nextFloat64() < p }

// nextNormal returns a standard normal value (Box-Muller).
func (s *randomSource) nextNormal() float64 {
	u, v := s.nextFloat64(), s.nextFloat64()
	return math.Sqrt(-2*math.Log(1-u)) * math.Cos(2*math.Pi*v)
}

// logNormal is a lognormal distribution.
type logNormal struct{ mu, sigma float64 }

// z95 is how many standard deviations the 95th percentile is above the median.
const z95 = 1.6448536269514722

func newLogNormal(median, p95 float64) logNormal {
	if median <= 0 {
		return logNormal{mu: math.Inf(-1)}
	}
	return logNormal{mu: math.Log(median), sigma: math.Log(p95/median) / z95}
}

func (s *randomSource) sampleFrom(c logNormal) float64 {
	if math.IsInf(c.mu, -1) {
		return 0
	}
	return math.Exp(c.mu + c.sigma*s.nextNormal())
}

// longestSample keeps samples of a wide distribution within the range of durations.
const longestSample = 10 * 365 * 24 * time.Hour

// sampleTime samples a duration, to the millisecond.
func (s *randomSource) sampleTime(c logNormal) time.Duration {
	return time.Duration(min(s.sampleFrom(c), float64(longestSample))).Round(time.Millisecond)
}
