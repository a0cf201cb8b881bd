// Package taskfile parses and edits TASK.md: the frontmatter that Orange owns, and the sections
// of the body that agents write and gates read. Edits replace single values and leave every
// other byte unchanged. The package does not know which fields a task has or which gates exist,
// and it does no I/O.
package taskfile

import (
	"bytes"
	"errors"
	"fmt"
	"slices"
	"strings"
	"unicode/utf8"
)

// Limits of a TASK.md. Files that people and agents write are far below them; a larger file
// would cost the server too much.
const (
	MaxSize     = 4 << 20 // bytes
	maxLines    = 200_000
	maxSections = 10_000 // lines that look like the heading of a section, including in code
)

const (
	byteOrderMark = "\ufeff"
	delimiter     = "---"
)

// Document is a TASK.md: frontmatter and body, both kept as their exact bytes.
type Document struct {
	mark    string // byte order mark, if any
	open    string // first delimiter with its line ending; empty without frontmatter
	meta    string // the YAML between the delimiters
	close   string // second delimiter with its line ending
	body    string
	entries []entry
}

// Parse parses a TASK.md. A file without frontmatter is valid.
func Parse(src []byte) (Document, error) {
	if len(src) > MaxSize {
		return Document{}, fmt.Errorf("parse TASK.md: it has %d bytes and %d are allowed; shorten it", len(src), MaxSize)
	}
	if err := checkText(src); err != nil {
		return Document{}, err
	}
	if err := checkBounds(src); err != nil {
		return Document{}, err
	}
	var d Document
	rest, marked := strings.CutPrefix(string(src), byteOrderMark)
	if marked {
		d.mark = byteOrderMark
	}
	if !opensFrontmatter(rest) {
		d.body = rest
		return d, nil
	}
	if err := d.splitFrontmatter(rest); err != nil {
		return Document{}, err
	}
	entries, err := parseMeta(d.meta)
	if err != nil {
		return Document{}, fmt.Errorf("parse TASK.md: %w", err)
	}
	d.entries = entries
	return d, nil
}

// Bytes returns the whole file; for a parsed document, exactly the bytes that were parsed.
func (d Document) Bytes() []byte {
	return []byte(d.headText() + d.body)
}

// Body returns what follows the frontmatter.
func (d Document) Body() []byte {
	return []byte(d.body)
}

// WithBody returns the document with another body. If the body itself would parse as
// frontmatter, WithBody adds empty frontmatter before it.
func (d Document) WithBody(body []byte) Document {
	d.body = string(body)
	if d.open == "" && opensFrontmatter(strings.TrimPrefix(d.body, byteOrderMark)) {
		d.open, d.close = delimiter+"\n", delimiter+"\n"
	}
	return d
}

// Get returns the value of a frontmatter key as string, int, bool or nil. Any other value, such
// as a timestamp, a fraction or a list, is returned as its text.
func (d Document) Get(key string) (any, bool) {
	i := d.keyIndex(key)
	if i < 0 {
		return nil, false
	}
	return d.entries[i].value, true
}

func (d Document) keyIndex(key string) int {
	return slices.IndexFunc(d.entries, func(e entry) bool { return e.key == key })
}

func (d Document) headText() string {
	return d.mark + d.open + d.meta + d.close
}

func (d *Document) splitFrontmatter(text string) error {
	first, rest := cutLine(text)
	d.open = first
	for at := 0; at < len(rest); {
		line, _ := cutLine(rest[at:])
		if isDelimiter(line) {
			d.meta, d.close, d.body = rest[:at], line, rest[at+len(line):]
			return nil
		}
		at += len(line)
	}
	return errors.New(`parse TASK.md: the frontmatter opened on line 1 is never closed; end it with a line "---"`)
}

func opensFrontmatter(text string) bool {
	first, _ := cutLine(text)
	return isDelimiter(first)
}

func isDelimiter(line string) bool {
	return strings.HasPrefix(line, delimiter) && strings.TrimRight(line, " \t\r\n") == delimiter
}

// cutLine splits after the first line, which keeps its line ending.
func cutLine(text string) (line, rest string) {
	end := strings.IndexByte(text, '\n') + 1
	if end == 0 {
		end = len(text)
	}
	return text[:end], text[end:]
}

func checkText(src []byte) error {
	if at := bytes.IndexByte(src, 0); at >= 0 {
		line := lineNumber(src, at)
		return fmt.Errorf("parse TASK.md: not a text file, line %d has a NUL byte; save it as UTF-8 text", line)
	}
	if utf8.Valid(src) {
		return nil
	}
	at := 0
	for at < len(src) {
		r, size := utf8.DecodeRune(src[at:])
		if r == utf8.RuneError && size == 1 {
			break
		}
		at += size
	}
	return fmt.Errorf("parse TASK.md: not a text file, line %d is not UTF-8; save it as UTF-8 text", lineNumber(src, at))
}

// checkBounds counts what makes a file expensive, without parsing it as Markdown.
func checkBounds(src []byte) error {
	lines, sections := 0, 0
	for line := range bytes.Lines(src) {
		lines++
		if looksLikeSection(line) {
			sections++
		}
	}
	switch {
	case lines > maxLines:
		return fmt.Errorf("parse TASK.md: it has %d lines and %d are allowed; shorten it", lines, maxLines)
	case sections > maxSections:
		return fmt.Errorf("parse TASK.md: it has %d headings of sections and %d are allowed; remove some", sections, maxSections)
	}
	return nil
}

// looksLikeSection reports whether a line begins a section, or underlines its heading, unless
// it is in code.
func looksLikeSection(line []byte) bool {
	line = bytes.TrimRight(bytes.TrimLeft(line, " \t"), " \t\r\n")
	rest, ok := bytes.CutPrefix(line, []byte("##"))
	return ok && !bytes.HasPrefix(rest, []byte("#")) || len(line) > 0 && len(bytes.Trim(line, "-")) == 0
}

func lineNumber(src []byte, offset int) int {
	return 1 + bytes.Count(src[:offset], []byte("\n"))
}
