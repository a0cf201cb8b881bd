package harness

import (
	"regexp"
	"sync"
)

// pattern is a regular expression that is compiled when it is first needed: most starts
// of the program need none.
func pattern(text string) func() *regexp.Regexp {
	return sync.OnceValue(func() *regexp.Regexp { return regexp.MustCompile(text) })
}
