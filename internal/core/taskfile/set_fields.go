package taskfile

import (
	"errors"
	"fmt"
	"slices"
	"strings"
)

// Field is one value of the frontmatter: a string, an int, a bool, nil, or Omit.
type Field struct {
	Key   string
	Value any
}

type omission string

var errNotLines = errors.New("the frontmatter is not written in lines; write one key: value per line")

// Omit as the value of a field removes its key.
const Omit omission = "omit"

// WithFields returns the document whose frontmatter has these values. It replaces only the
// bytes of values that change. A missing key is inserted after the nearest key before it in
// fields that is present, or else at the end. A document without frontmatter gets one.
func (d Document) WithFields(fields []Field) (Document, error) {
	edited := d
	for i, f := range fields {
		if err := checkField(fields[:i], f); err != nil {
			return d, err
		}
		next, err := edited.setField(f, edited.nearestPresent(fields[:i]))
		if err != nil {
			return d, fmt.Errorf("set %q in the frontmatter of TASK.md: %w", f.Key, err)
		}
		edited = next
	}
	return edited, nil
}

func checkField(before []Field, f Field) error {
	if f.Key == "" {
		return errors.New("set a field of TASK.md: it has no key; name it")
	}
	if slices.ContainsFunc(before, func(b Field) bool { return b.Key == f.Key }) {
		return fmt.Errorf("set %q in the frontmatter of TASK.md: it is given twice; give it once", f.Key)
	}
	return nil
}

// nearestPresent returns the index of the last of these fields that is present, or -1.
func (d Document) nearestPresent(before []Field) int {
	for _, f := range slices.Backward(before) {
		if i := d.keyIndex(f.Key); i >= 0 {
			return i
		}
	}
	return -1
}

func (d Document) setField(f Field, after int) (Document, error) {
	i := d.keyIndex(f.Key)
	if f.Value == Omit {
		if i < 0 {
			return d, nil
		}
		return d.removeEntry(i)
	}
	if i >= 0 && d.entries[i].value == f.Value {
		return d, nil
	}
	value, err := encodeScalar(f.Value)
	if err != nil {
		return d, err
	}
	if i >= 0 {
		return d.replaceValue(i, f, value)
	}
	return d.insertField(after, f, value)
}

func (d Document) removeEntry(i int) (Document, error) {
	s := d.entries[i].span
	if !s.known {
		return d, errNotLines
	}
	want := slices.Delete(slices.Clone(d.entries), i, i+1)
	return d.reparseMeta(d.meta[:s.line]+d.meta[s.stop:], want)
}

func (d Document) replaceValue(i int, f Field, value string) (Document, error) {
	s := d.entries[i].span
	if !s.known {
		return d, errNotLines
	}
	if s.start == s.colon {
		value = " " + value
	}
	want := slices.Clone(d.entries)
	want[i] = wantedEntry(f)
	return d.reparseMeta(d.meta[:s.start]+value+d.meta[s.end:], want)
}

func (d Document) insertField(after int, f Field, value string) (Document, error) {
	key, err := encodeScalar(f.Key)
	if err != nil {
		return d, err
	}
	d = d.withFrontmatter()
	at, index, indent := len(d.meta), len(d.entries), ""
	if index > 0 {
		s := d.entries[max(after, 0)].span
		if !s.known {
			return d, errNotLines
		}
		indent = d.meta[s.line:s.key]
	}
	if after >= 0 {
		at, index = d.entries[after].span.stop, after+1
	}
	line := indent + key + ": " + value + d.lineEnding()
	want := slices.Insert(slices.Clone(d.entries), index, wantedEntry(f))
	return d.reparseMeta(d.meta[:at]+line+d.meta[at:], want)
}

func (d Document) withFrontmatter() Document {
	if d.open == "" {
		d.open = delimiter + d.lineEnding()
		d.close = d.open
	}
	return d
}

func (d Document) lineEnding() string {
	first, _ := cutLine(d.open + d.body)
	if strings.HasSuffix(first, "\r\n") {
		return "\r\n"
	}
	return "\n"
}

// wantedEntry returns the entry that a field must parse as; it has no source to compare.
func wantedEntry(f Field) entry {
	return entry{key: f.Key, value: f.Value}
}

// reparseMeta returns d with another YAML, if that parses as wanted.
func (d Document) reparseMeta(meta string, want []entry) (Document, error) {
	entries, err := parseMeta(meta)
	if err != nil {
		return d, fmt.Errorf("the result would not read back; write one plain key: value per line: %w", err)
	}
	same := slices.EqualFunc(entries, want, func(got, want entry) bool {
		return got.key == want.key && got.value == want.value && (!want.span.known || got.raw == want.raw)
	})
	if !same {
		return d, errors.New("the result would not read back the same; write one plain key: value per line")
	}
	d.meta, d.entries = meta, entries
	return d, nil
}
