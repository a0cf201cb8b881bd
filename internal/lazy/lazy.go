// Package lazy makes values when they are first used. Every command is a process of its own
// and needs few of the tables and regular expressions that are declared: making all of them
// was a sixth of its start. The values are made once, and are always the same, so the core,
// which has no goroutines, may declare them.
package lazy

import (
	"regexp"
	"sync"
)

// OnFirstUse returns a function that calls f the first time, and returns what f returned.
func OnFirstUse[T any](f func() T) func() T { return sync.OnceValue(f) }

// Regexp is a regular expression that the first call of a method compiles. It has the methods
// of regexp.Regexp that are called on expressions of this program.
type Regexp struct{ compiled func() *regexp.Regexp }

// NewRegexp returns the expression with this text. Its first use panics if it does not parse.
func NewRegexp(text string) *Regexp {
	return &Regexp{sync.OnceValue(func() *regexp.Regexp { return regexp.MustCompile(text) })}
}

func (r *Regexp) Match(b []byte) bool                  { return r.compiled().Match(b) }
func (r *Regexp) MatchString(s string) bool            { return r.compiled().MatchString(s) }
func (r *Regexp) FindString(s string) string           { return r.compiled().FindString(s) }
func (r *Regexp) FindStringSubmatch(s string) []string { return r.compiled().FindStringSubmatch(s) }
func (r *Regexp) FindStringSubmatchIndex(s string) []int {
	return r.compiled().FindStringSubmatchIndex(s)
}
func (r *Regexp) FindAllString(s string, n int) []string { return r.compiled().FindAllString(s, n) }
func (r *Regexp) ReplaceAllString(src, repl string) string {
	return r.compiled().ReplaceAllString(src, repl)
}

func (r *Regexp) FindAllStringSubmatch(s string, n int) [][]string {
	return r.compiled().FindAllStringSubmatch(s, n)
}

func (r *Regexp) FindAllStringSubmatchIndex(s string, n int) [][]int {
	return r.compiled().FindAllStringSubmatchIndex(s, n)
}

func (r *Regexp) ReplaceAllStringFunc(src string, repl func(string) string) string {
	return r.compiled().ReplaceAllStringFunc(src, repl)
}
