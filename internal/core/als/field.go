package als

import (
	"errors"
	"strings"

	"orange/internal/lazy"
)

// toField converts the lines of a draft to a field.
func (d *draft) toField() (Field, error) {
	value := strings.Join(d.value, " ")
	switch {
	case isText(d.key):
		return Field{Key: d.key, Kind: Text, Text: plainText.Read(value)}, nil
	case isList(d.key):
		return d.readList(value)
	case len(d.entries) > 0:
		return d.readMapping(), nil
	case d.key == Links && len(d.value) == 0:
		return d.readLinks(), nil
	case len(d.items) > 0:
		return Field{Key: d.key, Kind: List, List: d.itemTexts(plainText)}, nil
	case value == "{}":
		return Field{Key: d.key, Kind: Map}, nil
	case inlined.MatchString(value):
		return Field{Key: d.key, Kind: List, List: splitInline(value[1 : len(value)-1])}, nil
	}
	return Field{Key: d.key, Kind: Text, Text: extraText.Read(value)}, nil
}

// readList reads a key that always has a list. Tags may be written without brackets.
func (d *draft) readList(value string) (Field, error) {
	f := Field{Key: d.key, Kind: List}
	switch {
	case value == "":
	case inlined.MatchString(value) && value != "{}":
		f.List = splitInline(value[1 : len(value)-1])
	case !isTags(d.key):
		f.List = []string{plainText.Read(value)}
	case !strings.HasPrefix(value, "["):
		f.List = splitInline(value)
	case strings.HasSuffix(value, "]"):
		f.List = splitInline(value[1 : len(value)-1])
	default:
		return f, errors.New("the list has no ] at its end")
	}
	f.List = append(f.List, d.itemTexts(plainText)...)
	return f, nil
}

func (d *draft) readMapping() Field {
	f := Field{Key: d.key, Kind: Map}
	for _, e := range d.entries {
		f.Map = append(f.Map, Pair{Key: e.key, Value: plainText.Read(strings.Join(e.parts, " "))})
	}
	return f
}

// readLinks returns a map if that loses nothing.
func (d *draft) readLinks() Field {
	f := Field{Key: d.key, Kind: Map}
	seen := map[string]bool{}
	for _, parts := range d.items {
		key, rest, ok := splitPair(strings.Join(parts, " "))
		if !ok || seen[key] {
			return Field{Key: d.key, Kind: List, List: d.itemTexts(linkItem)}
		}
		seen[key] = true
		f.Map = append(f.Map, Pair{Key: key, Value: plainText.Read(strings.TrimSpace(rest))})
	}
	return f
}

func (d *draft) itemTexts(q Quoting) []string {
	var list []string
	for _, parts := range d.items {
		list = append(list, q.Read(strings.Join(parts, " ")))
	}
	return list
}

var pairLine = lazy.NewRegexp(`^([A-Za-z0-9_][A-Za-z0-9_.-]*):(.*)$`)

// splitPair splits "key: value". A URL is not a pair.
func splitPair(text string) (key, rest string, ok bool) {
	if n := stringLength(text); n > 0 {
		key, ok = Unquote(text[:n])
		rest, colon := strings.CutPrefix(text[n:], ":")
		return key, rest, ok && colon && !strings.HasPrefix(rest, "//")
	}
	m := pairLine.FindStringSubmatch(text)
	if m == nil || strings.HasPrefix(m[2], "//") {
		return "", "", false
	}
	return m[1], m[2], true
}

func isPair(text string) bool {
	_, _, ok := splitPair(text)
	return ok
}

// splitInline splits the inside of [a, "b, c"].
func splitInline(inside string) []string {
	var list []string
	for inside != "" {
		inside = strings.TrimSpace(inside)
		if n := stringLength(inside); n > 0 {
			rest := strings.TrimSpace(inside[n:])
			if item, ok := Unquote(inside[:n]); ok && (rest == "" || rest[0] == ',') {
				list = append(list, item)
				inside = strings.TrimPrefix(rest, ",")
				continue
			}
		}
		item, rest, _ := strings.Cut(inside, ",")
		if item = strings.TrimSpace(item); item != "" {
			list = append(list, item)
		}
		inside = rest
	}
	return list
}

// stringLength returns the length of the quoted string at the beginning of a text, or 0 if
// there is none.
func stringLength(text string) int {
	if !strings.HasPrefix(text, `"`) {
		return 0
	}
	for i := 1; i < len(text); i++ {
		switch text[i] {
		case '\\':
			i++
		case '"':
			return i + 1
		}
	}
	return 0
}
