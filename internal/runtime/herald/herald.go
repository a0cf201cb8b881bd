// Package herald tells people that something waits for them: it follows the journal, and
// announces each item of the inbox once. How people are told is the adapters' affair.
package herald
