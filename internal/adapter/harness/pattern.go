package harness

import (
	"regexp"
	"sync"
)

// lazyPattern returns a regular expression that is compiled on first use, because most runs of
// the program need none.
func lazyPattern(text string) func() *regexp.Regexp {
	return sync.OnceValue(func() *regexp.Regexp { return regexp.MustCompile(text) })
}
