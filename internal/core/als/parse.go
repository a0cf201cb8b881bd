package als

import (
	"errors"
	"fmt"
	"strings"
)

// Parse parses a comment. It accepts any key and any intent. It ignores blank lines and white
// space around lines; an indented line continues the value above it. The links are a map if
// every link is "- key: value" with a unique key, otherwise a list. The error is one line and
// contains the line of the comment.
func Parse(text string) (Comment, error) {
	p := parser{seen: map[string]int{}}
	text = strings.TrimPrefix(strings.ToValidUTF8(text, "\uFFFD"), "\uFEFF")
	number, header, margin := 0, false, ""
	for line := range strings.SplitSeq(text, "\n") {
		number++
		trimmed := strings.TrimSpace(line)
		switch {
		case trimmed == "":
		case !header:
			if trimmed != Header {
				return Comment{}, fmt.Errorf("line %d: the first line must be %s, not %.40q", number, Header, trimmed)
			}
			header, margin = true, line[:indentWidth(line)]
		default:
			p.at = number
			if err := p.readLine(indentWidth(strings.TrimPrefix(line, margin)), trimmed); err != nil {
				return Comment{}, fmt.Errorf("line %d: %w", p.at, err)
			}
		}
	}
	if !header {
		return Comment{}, errors.New("the comment is empty: its first line must be " + Header)
	}
	if err := p.finishField(); err != nil {
		return Comment{}, fmt.Errorf("line %d: %w", p.at, err)
	}
	return p.comment, nil
}

func indentWidth(line string) int { return len(line) - len(strings.TrimLeft(line, " \t")) }

type parser struct {
	comment Comment
	seen    map[string]int // line by key
	at      int            // the line for an error
	open    *draft
}

// draft is a field that may have further lines.
type draft struct {
	key     string
	line    int
	value   []string // parts of the text after the key
	items   [][]string
	entries []entry
	keys    map[string]bool // of entries
	depth   int             // indentation of the entries
}

type entry struct {
	key   string
	parts []string
}

func (p *parser) readLine(indent int, text string) error {
	switch {
	case isBullet(text):
		return p.open.readBullet(indent, text)
	case indent > 0:
		return p.open.readInner(indent, text)
	}
	key, rest, ok := splitPair(text)
	if !ok {
		return fmt.Errorf(`%.40q is neither "key: value" nor "- item" nor an indented line`, text)
	}
	if first, twice := p.seen[key]; twice {
		return fmt.Errorf("%.40q is there already, on line %d", key, first)
	}
	if err := p.finishField(); err != nil {
		return err
	}
	p.seen[key] = p.at
	p.open = &draft{key: key, line: p.at, value: nonEmptyPart(rest), keys: map[string]bool{}}
	return nil
}

// finishField completes the present field.
func (p *parser) finishField() error {
	if p.open == nil {
		return nil
	}
	f, err := p.open.toField()
	if err != nil {
		p.at = p.open.line
		return err
	}
	p.comment.Fields = append(p.comment.Fields, f)
	p.open = nil
	return nil
}

func isBullet(text string) bool {
	return text == "-" || strings.HasPrefix(text, "- ") || strings.HasPrefix(text, "-\t")
}

func nonEmptyPart(text string) []string {
	if text = strings.TrimSpace(text); text != "" {
		return []string{text}
	}
	return nil
}

// readBullet handles a "- item" line.
func (d *draft) readBullet(indent int, text string) error {
	switch {
	case d == nil:
		return errors.New("an item before any key")
	case len(d.entries) > 0 && indent > d.depth:
		return d.readInner(indent, text)
	case len(d.entries) > 0:
		return fmt.Errorf("an item under %.40q, which is a map", d.key)
	case isText(d.key):
		return fmt.Errorf("an item under %q, which is a text", d.key)
	case len(d.value) > 0 && !isList(d.key):
		return fmt.Errorf("an item under %.40q, which has a text already", d.key)
	}
	d.items = append(d.items, nonEmptyPart(text[1:]))
	return nil
}

// readInner handles an indented line that is not a new item.
func (d *draft) readInner(indent int, text string) error {
	if d == nil {
		return errors.New("an indented line before any key")
	}
	if n := len(d.entries); n > 0 && indent > d.depth {
		d.entries[n-1].parts = append(d.entries[n-1].parts, text)
		return nil
	}
	if n := len(d.items); n > 0 {
		d.items[n-1] = append(d.items[n-1], text)
		return nil
	}
	if len(d.entries) == 0 && (len(d.value) > 0 || isText(d.key) || isList(d.key) || !isPair(text)) {
		d.value = append(d.value, text)
		return nil
	}
	return d.readEntry(indent, text)
}

func (d *draft) readEntry(indent int, text string) error {
	key, rest, ok := splitPair(text)
	if !ok {
		return fmt.Errorf(`%.40q is not "key: value", as the lines above it are`, text)
	}
	if d.keys[key] {
		return fmt.Errorf("%.40q is in %.40q already", key, d.key)
	}
	if len(d.entries) == 0 {
		d.depth = indent
	}
	d.keys[key] = true
	d.entries = append(d.entries, entry{key: key, parts: nonEmptyPart(rest)})
	return nil
}
