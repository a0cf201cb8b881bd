// Package als parses and writes ALS/1 comments: short structured notes that agents
// leave on a task.
//
//	ALS/1
//	actor: dev
//	intent: status
//	action: dev-complete
//	tags.add: [Dev-Complete]
//	summary: The form is done
//	details:
//	- five files changed
//	links:
//	- pr: https://example.org/pull/1
//
// A value is one line. A text that cannot be written on a line unchanged (it has a line
// break, a control character or white space at an end, or it would parse as something
// else) is written between double quotes, with the escapes of JSON, so that no text can
// forge a key. Quotes around a text that needs none belong to the text.
//
// The package does not interpret comments: a comment triggers nothing.
package als

import "slices"

// Header is the first line of every comment.
const Header = "ALS/1"

// A Comment is an ALS/1 comment: its fields, in the order in which they are written. Every key
// occurs at most once.
type Comment struct {
	Fields []Field
}

// A Field is one key and its value.
type Field struct {
	Key  string
	Kind Kind
	Text string   // of a Text
	List []string // of a List
	Map  []Pair   // of a Map; every key at most once
}

// Kind is which part of a field holds its value.
type Kind string

// The kinds of fields.
const (
	Text Kind = "text"
	List Kind = "list"
	Map  Kind = "map"
)

// A Pair is one entry of a map.
type Pair struct{ Key, Value string }

// The keys that have a meaning in every comment. New fields with these keys are inserted in
// this order; any other key keeps its position.
const (
	Actor      = "actor"
	Intent     = "intent"
	Action     = "action"
	TagsAdd    = "tags.add"
	TagsRemove = "tags.remove"
	Summary    = "summary"
	Details    = "details"
	Links      = "links"
)

var knownKeys = [...]string{Actor, Intent, Action, TagsAdd, TagsRemove, Summary, Details, Links}

// isText reports whether a key always has a text, isList whether it always has a list.
func isText(key string) bool { return key == Actor || key == Intent || key == Action || key == Summary }
func isList(key string) bool { return isTags(key) || key == Details }
func isTags(key string) bool { return key == TagsAdd || key == TagsRemove }

// FieldOf returns the field with a key.
func (c Comment) FieldOf(key string) (Field, bool) {
	for _, f := range c.Fields {
		if f.Key == key {
			return f, true
		}
	}
	return Field{}, false
}

// Text returns the text of a key, or "" if it has none.
func (c Comment) Text(key string) string {
	f, _ := c.FieldOf(key)
	return f.Text
}

// List returns the list of a key. A text counts as a list of one, a map as a list of its
// entries.
func (c Comment) List(key string) []string {
	f, _ := c.FieldOf(key)
	switch {
	case f.Kind == Text && f.Text != "":
		return []string{f.Text}
	case f.Kind == Map:
		var list []string
		for _, p := range f.Map {
			list = append(list, p.Key+": "+p.Value)
		}
		return list
	}
	return f.List
}

// Map returns the map of a key, or nil if it has none.
func (c Comment) Map(key string) []Pair {
	f, _ := c.FieldOf(key)
	return f.Map
}

// WithField returns the comment with f in place of the field with the same key. A new field is
// inserted at its position among the known keys, any other at the end.
func (c Comment) WithField(f Field) Comment {
	fields := slices.Clone(c.Fields)
	if i := slices.IndexFunc(fields, func(old Field) bool { return old.Key == f.Key }); i >= 0 {
		fields[i] = f
		return Comment{Fields: fields}
	}
	at := len(fields)
	if rank := slices.Index(knownKeys[:], f.Key); rank >= 0 {
		at = 0
		for i, old := range fields {
			if r := slices.Index(knownKeys[:], old.Key); r >= 0 && r < rank {
				at = i + 1
			}
		}
	}
	return Comment{Fields: slices.Insert(fields, at, f)}
}
