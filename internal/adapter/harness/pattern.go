package harness

import (
	"regexp"
	"sync"
)

// lazyPattern is a regular expression that is compiled when it is first needed: most starts
// of the program need none.
func lazyPattern(text string) func() *regexp.Regexp {
	return sync.OnceValue(func() *regexp.Regexp { return regexp.MustCompile(text) })
}
