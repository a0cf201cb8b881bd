package web

import (
	"crypto/sha256"
	"crypto/subtle"
	"sync"
	"time"
)

// A login code opens the page once, within a minute. Browsers are started with one: other
// users of the machine can read command lines, and a code that they read was used, or is
// worth nothing a minute later.
const (
	codeLife = time.Minute
	maxCodes = 16 // that are good at the same time; the oldest makes room
)

// Codes are the login codes that were given out and not used. They are safe for concurrent
// use, and end with the process.
type Codes struct {
	now  func() time.Time
	mu   sync.Mutex
	open []loginCode // oldest first
}

type loginCode struct {
	sum  [sha256.Size]byte
	ends time.Time
}

// NewCodes makes an empty set. A nil clock is time.Now.
func NewCodes(now func() time.Time) *Codes {
	if now == nil {
		now = time.Now
	}
	return &Codes{now: now}
}

// New gives a code out.
func (c *Codes) New() string {
	code := randomName(16)
	c.mu.Lock()
	defer c.mu.Unlock()
	c.dropExpired()
	if len(c.open) == maxCodes {
		c.open = c.open[1:]
	}
	c.open = append(c.open, loginCode{sha256.Sum256([]byte(code)), c.now().Add(codeLife)})
	return code
}

// redeemCode says whether a code is good, which it is only once. How long that takes does not
// depend on the code.
func (c *Codes) redeemCode(code string) bool {
	sum := sha256.Sum256([]byte(code))
	c.mu.Lock()
	defer c.mu.Unlock()
	c.dropExpired()
	found := -1
	for i := range c.open {
		found = subtle.ConstantTimeSelect(subtle.ConstantTimeCompare(sum[:], c.open[i].sum[:]), i, found)
	}
	if found < 0 {
		return false
	}
	c.open = append(c.open[:found:found], c.open[found+1:]...)
	return true
}

// dropExpired forgets codes that are over. The lock is held.
func (c *Codes) dropExpired() {
	now := c.now()
	for len(c.open) > 0 && !now.Before(c.open[0].ends) {
		c.open = c.open[1:]
	}
}
