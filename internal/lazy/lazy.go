// Package lazy creates values when they are first used. Every command is a separate process that needs
// few of the declared tables and regular expressions; creating all of them took a sixth of its
// start-up time. Each value is created once and is always the same, so the core, which has no
// goroutines, may declare lazy values.
package lazy

import (
	"regexp"
	"sync"
)

// OnFirstUse returns a function that calls f the first time it is called, and always returns the
// result of that call.
func OnFirstUse[T any](f func() T) func() T { return sync.OnceValue(f) }

// Regexp is a regular expression that is compiled by the first call of a method. It has those methods
// of regexp.Regexp that this program calls.
type Regexp struct{ compiled func() *regexp.Regexp }

// NewRegexp returns the expression with the given text. Its first use panics if the text does not
// parse.
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
