package web

import (
	"crypto/sha256"
	"crypto/subtle"
	"sync"
	"time"
)

// A login code opens the page once, within a minute. Browsers are started with a code instead of the
// token because other users of the machine can read command lines: by the time they read a code it has
// been used, or it expires within a minute.
const (
	codeLife = time.Minute
	maxCodes = 16 // valid at the same time; a new code replaces the oldest
)

// Codes holds the login codes that were issued and not yet used. It is safe for concurrent use. Codes
// do not outlive the process.
type Codes struct {
	now  func() time.Time
	mu   sync.Mutex
	open []loginCode // oldest first
}

type loginCode struct {
	sum  [sha256.Size]byte
	ends time.Time
}

// NewCodes returns an empty set of codes. If now is nil, it uses time.Now.
func NewCodes(now func() time.Time) *Codes {
	if now == nil {
		now = time.Now
	}
	return &Codes{now: now}
}

// New issues a login code.
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

// redeemCode reports whether a code is valid, and uses it up. Its running time does not depend on the
// code.
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

// dropExpired removes expired codes. The caller holds the lock.
func (c *Codes) dropExpired() {
	now := c.now()
	for len(c.open) > 0 && !now.Before(c.open[0].ends) {
		c.open = c.open[1:]
	}
}
