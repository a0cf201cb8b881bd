package mcpboard

import (
	"bytes"
	"embed"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"maps"
	"regexp"
	"slices"
	"strings"
)

// A Mapping describes how to use a board's tools: for each operation on a board the tool, its
// arguments and how to parse its answer. It is data, so that another board needs only another
// file. Tags are changed with AddTag and RemoveTag if a board has both, otherwise with SetTags,
// which also overwrites what someone else did at the same moment.
type Mapping struct {
	Name  string `json:"name"`
	About string `json:"about,omitempty"`

	List      *Operation `json:"list"`
	Issue     *Operation `json:"issue"`
	Comments  *Operation `json:"comments,omitempty"` // if the issue's answer does not contain them
	Columns   *Operation `json:"columns"`
	Tags      *Operation `json:"tags,omitempty"`
	AddTag    *Operation `json:"add_tag,omitempty"`
	RemoveTag *Operation `json:"remove_tag,omitempty"`
	SetTags   *Operation `json:"set_tags,omitempty"`
	Move      *Operation `json:"move"`
	Title     *Operation `json:"title,omitempty"`
	Describe  *Operation `json:"describe,omitempty"`
	Comment   *Operation `json:"comment"`
	Whoami    *Operation `json:"whoami,omitempty"`

	Key        *Pattern          `json:"key,omitempty"` // the form of keys; anything else is not an issue
	Errors     []ErrorPattern    `json:"errors,omitempty"`
	Priorities map[string]string `json:"priorities,omitempty"` // the board's word: urgent, high, medium or low
	Times      []string          `json:"times,omitempty"`      // layouts of Go's time package, besides RFC 3339; UTC unless they contain a zone
	Closed     []string          `json:"closed,omitempty"`     // columns or states of linked issues in which no work is left
}

// An Operation is one use of a tool. In arguments, "{name}" stands for a value, and "{name?}"
// for one that is left out if it is empty: project and id always; column and column_id for
// move; tag and tag_id for add_tag and remove_tag; tags and tag_ids, which are lists, for
// set_tags; text, texts (a list of parts of at most max characters) and author for title,
// describe and comment; part for by.
type Operation struct {
	Tool string         `json:"tool,omitempty"`
	Args map[string]any `json:"args,omitempty"`

	Read *Reading `json:"read,omitempty"` // of a read
	OK   *Pattern `json:"ok,omitempty"`   // of a write: matches the answer of a successful one

	Full int      `json:"full,omitempty"` // list: an answer with this many items may be incomplete
	By   []string `json:"by,omitempty"`   // list: values of {part}, requested one by one if an answer was full
	Each bool     `json:"each,omitempty"` // list: read every issue, because the list does not contain all data

	Schema string   `json:"schema,omitempty"` // columns, tags: where the tool's input schema lists the names
	Except []string `json:"except,omitempty"` // columns, tags: names that are not columns or tags
	Free   bool     `json:"free,omitempty"`   // tags: any text can be a tag

	Min   int               `json:"min,omitempty"` // texts: characters, as JavaScript counts them
	Max   int               `json:"max,omitempty"`
	Not   *Pattern          `json:"not,omitempty"`   // texts: matches what the board would not store unchanged
	Lines map[string]string `json:"lines,omitempty"` // texts: lines that the board does not accept, and their replacements
}

// A Reading describes how to parse an answer.
type Reading struct {
	As     string               `json:"as,omitempty"`    // json (the text is JSON), structured or text
	Items  string               `json:"items,omitempty"` // json: path of the list; "" if it is a single item
	Parts  *Pattern             `json:"parts,omitempty"` // text: splits the answer, with a named group for each part
	In     string               `json:"in,omitempty"`    // text: the part to parse
	Item   *Pattern             `json:"item,omitempty"`  // text: matches the beginning of an item; named groups are its fields
	Body   *Pattern             `json:"body,omitempty"`  // text: the same for what follows up to the next item
	Count  *Pattern             `json:"count,omitempty"` // text: matches the number of items that the answer states
	None   *Pattern             `json:"none,omitempty"`  // text: matches an answer without items
	Fields map[string]FieldRule `json:"fields,omitempty"`
	// Lists are lists within an item: comments, children, blocked_by.
	Lists map[string]*Reading `json:"lists,omitempty"`
}

// A FieldRule describes where a value is. In JSON it is a path: names separated by dots, * for each
// item of a list, | between alternatives, of which the first with a value counts. In text it is
// a pattern with one group.
type FieldRule struct {
	Path    string   `json:"path,omitempty"`
	In      string   `json:"in,omitempty"`
	Pattern *Pattern `json:"pattern,omitempty"`
	Split   string   `json:"split,omitempty"` // separator of the values of a list
	None    string   `json:"none,omitempty"`  // the text that means no value
}

// UnmarshalJSON decodes a field; a string is a path or a pattern, depending on the Reading.
func (f *FieldRule) UnmarshalJSON(data []byte) error {
	var short string
	if json.Unmarshal(data, &short) == nil {
		f.Path = short
		return nil
	}
	type plain FieldRule
	return decodeStrict(data, (*plain)(f))
}

// Kinds of trouble.
const (
	kindMissing = "missing" // there is no such issue, column or tag
	kindDenied  = "denied"  // the secret is not accepted
	kindLimited = "limited" // too many requests
	kindRefused = "refused" // it can never be done
	kindDone    = "done"    // it is already done
	kindBroken  = "broken"  // the board failed
)

// A Trouble matches answers that are errors. Boards often report them in plain text.
type ErrorPattern struct {
	Match *Pattern `json:"match"`
	Is    string   `json:"is"` // missing, denied, limited, refused, done or broken
}

// A Pattern is a regular expression in Go's syntax.
type Pattern struct{ *regexp.Regexp }

// UnmarshalText compiles a pattern.
func (p *Pattern) UnmarshalText(text []byte) (err error) {
	p.Regexp, err = regexp.Compile(string(text))
	return err
}

// matches reports whether a text matches the pattern. A nil pattern matches nothing.
func (p *Pattern) matches(text string) bool { return p != nil && p.MatchString(text) }

//go:embed mappings/*.json
var shipped embed.FS

// ShippedMappings returns the mappings that are part of Orange, by name.
func ShippedMappings() map[string]Mapping {
	out := map[string]Mapping{}
	files, _ := shipped.ReadDir("mappings")
	for _, f := range files {
		text, _ := shipped.ReadFile("mappings/" + f.Name())
		if m, err := ParseMapping(text); err == nil {
			out[m.Name] = m
		}
	}
	return out
}

// ParseMapping parses a mapping. The error is one line.
func ParseMapping(text []byte) (Mapping, error) {
	var m Mapping
	if err := decodeStrict(text, &m); err != nil {
		return m, fmt.Errorf("mapping: %s", oneLine(err.Error(), 300))
	}
	if err := m.check(); err != nil {
		return m, fmt.Errorf("mapping %s: %w", oneLine(m.Name, 60), err)
	}
	return m, nil
}

func decodeStrict(text []byte, to any) error {
	d := json.NewDecoder(bytes.NewReader(text))
	d.DisallowUnknownFields()
	if err := d.Decode(to); err != nil {
		return err
	}
	if _, err := d.Token(); !errors.Is(err, io.EOF) {
		return errors.New("there is more after the end")
	}
	return nil
}

// An operationUse is an operation with what it may contain.
type operationUse struct {
	name   string
	op     *Operation
	needed bool
	write  bool
	vars   []string // besides project and id
	fields []string
	lists  map[string][]string
}

// operationUses returns the operations of a mapping, in the order in which errors name them.
func (m *Mapping) operationUses() []operationUse {
	issue := []string{"id", "key", "project", "url", "title", "description", "column", "column_id", "tags", "author", "assignee", "priority", "parent", "created", "updated"}
	said := []string{"id", "author", "text", "at"}
	link := []string{"key", "column", "state"}
	parts := map[string][]string{"comments": said, "children": link, "blocked_by": link}
	named := []string{"id", "name"}
	return []operationUse{
		{name: "list", op: m.List, needed: true, vars: []string{"part"}, fields: issue, lists: parts},
		{name: "issue", op: m.Issue, needed: true, fields: issue, lists: parts},
		{name: "comments", op: m.Comments, fields: said},
		{name: "columns", op: m.Columns, needed: true, fields: named},
		{name: "tags", op: m.Tags, fields: named},
		{name: "add_tag", op: m.AddTag, write: true, vars: []string{"tag", "tag_id"}},
		{name: "remove_tag", op: m.RemoveTag, write: true, vars: []string{"tag", "tag_id"}},
		{name: "set_tags", op: m.SetTags, write: true, vars: []string{"tags", "tag_ids"}},
		{name: "move", op: m.Move, needed: true, write: true, vars: []string{"column", "column_id"}},
		{name: "title", op: m.Title, write: true, vars: []string{"text", "texts", "author"}},
		{name: "describe", op: m.Describe, write: true, vars: []string{"text", "texts", "author"}},
		{name: "comment", op: m.Comment, needed: true, write: true, vars: []string{"text", "texts", "author"}},
		{name: "whoami", op: m.Whoami, fields: named},
	}
}

func (m *Mapping) check() error {
	if m.Name == "" {
		return errors.New("it needs a name")
	}
	for _, u := range m.operationUses() {
		if u.op == nil && u.needed {
			return fmt.Errorf("%s is missing: give the tool that does it", u.name)
		}
		if u.op == nil {
			continue
		}
		if err := u.check(); err != nil {
			return fmt.Errorf("%s: %w", u.name, err)
		}
	}
	if (m.AddTag == nil) != (m.RemoveTag == nil) {
		return errors.New("add_tag and remove_tag go together: give both, or set_tags")
	}
	for _, e := range m.Errors {
		if e.Match == nil || !slices.Contains([]string{kindMissing, kindDenied, kindLimited, kindRefused, kindDone, kindBroken}, e.Is) {
			return fmt.Errorf("errors: %q is not a kind of error: give match, and is as missing, denied, limited, refused, done or broken", oneLine(e.Is, 40))
		}
	}
	for word, p := range m.Priorities {
		if priorities[p] == 0 {
			return fmt.Errorf("priorities: %q is %q: give urgent, high, medium or low", oneLine(word, 40), oneLine(p, 40))
		}
	}
	return nil
}

func (u *operationUse) check() error {
	op := u.op
	if op.Free && u.name == "tags" && op.Tool == "" {
		return nil
	}
	if op.Tool == "" {
		return errors.New("it names no tool")
	}
	for _, arg := range slices.Sorted(maps.Keys(op.Args)) {
		for _, v := range templateVariables(op.Args[arg]) {
			if !slices.Contains(append([]string{"project", "id"}, u.vars...), v) {
				return fmt.Errorf("argument %s: {%s} is not known here", oneLine(arg, 40), oneLine(v, 40))
			}
		}
	}
	switch {
	case u.write && op.OK == nil:
		return errors.New("it needs ok: how the answer looks when it was done")
	case u.write || op.Schema != "":
		return nil
	case op.Read == nil:
		return errors.New("it needs read: how the answer is read")
	}
	return op.Read.completeAndCheck(op.Read.As, u.fields, u.lists)
}

// completeAndCheck checks a reading and fills in its defaults.
func (r *Reading) completeAndCheck(as string, fields []string, lists map[string][]string) error {
	if r.As == "" {
		r.As = as
	}
	if r.As != "json" && r.As != "structured" && r.As != "text" {
		return fmt.Errorf("read: as is %q: give json, structured or text", oneLine(r.As, 40))
	}
	for name, f := range r.Fields {
		if !slices.Contains(fields, name) {
			return fmt.Errorf("read: field %s is not known: use %s", oneLine(name, 40), strings.Join(fields, ", "))
		}
		if r.As == "text" && f.Pattern == nil {
			p := &Pattern{}
			if err := p.UnmarshalText([]byte(f.Path)); err != nil {
				return fmt.Errorf("read: field %s: %s", name, oneLine(err.Error(), 200))
			}
			f.Pattern, f.Path = p, ""
			r.Fields[name] = f
		}
		if r.As == "text" && f.Pattern.NumSubexp() != 1 {
			return fmt.Errorf("read: field %s: the pattern needs one group", name)
		}
	}
	if err := r.checkGroups(fields); err != nil {
		return err
	}
	for name, l := range r.Lists {
		if lists[name] == nil || l == nil {
			return fmt.Errorf("read: list %s is not known: use comments, children or blocked_by", oneLine(name, 40))
		}
		if err := l.completeAndCheck(r.As, lists[name], nil); err != nil {
			return fmt.Errorf("%s: %w", name, err)
		}
	}
	return nil
}

func (r *Reading) checkGroups(fields []string) error {
	for _, p := range []*Pattern{r.Item, r.Body} {
		if p == nil {
			continue
		}
		for _, g := range p.SubexpNames() {
			if g != "" && !slices.Contains(fields, g) {
				return fmt.Errorf("read: group %s is not known: use %s", g, strings.Join(fields, ", "))
			}
		}
	}
	if r.Count != nil && r.Count.NumSubexp() != 1 {
		return errors.New("read: count needs one group, the number")
	}
	return nil
}
