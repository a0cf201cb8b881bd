package als

import (
	"strings"

	"orange/internal/lazy"
)

var (
	bareKey = lazy.NewRegexp(`^[A-Za-z0-9_][A-Za-z0-9_.-]*$`)
	inlined = lazy.NewRegexp(`^\[[^\[\]]*\]$|^\{\}$`)
)

// The quoting rules by position.
var (
	plainText = Quoting(func(string) bool { return false })             // unambiguous here
	extraText = Quoting(inlined.MatchString)                            // it could be a list or an empty map
	linkItem  = Quoting(func(text string) bool { return isPair(text) }) // it could be a pair
)

// String returns the comment as text, without a line break at the end.
func (c Comment) String() string {
	var b strings.Builder
	b.WriteString(Header)
	for _, f := range c.Fields {
		f.writeTo(&b)
	}
	return strings.ToValidUTF8(b.String(), "\uFFFD")
}

func (f Field) writeTo(b *strings.Builder) {
	b.WriteString("\n" + writeKey(f.Key) + ":")
	switch {
	case f.Kind == Map && len(f.Map) == 0:
		b.WriteString(" {}")
	case f.Kind == Map:
		lead := "\n  "
		if f.Key == Links {
			lead = "\n- "
		}
		for _, p := range f.Map {
			b.WriteString(lead + writeKey(p.Key) + ": " + plainText.Write(p.Value))
		}
	case f.Kind == List && (isTags(f.Key) || len(f.List) == 0):
		b.WriteString(" " + writeInline(f.List))
	case f.Kind == List:
		for _, item := range f.List {
			b.WriteString("\n- " + f.itemQuoting().Write(item))
		}
	default:
		b.WriteString(" " + textQuoting(f.Key).Write(f.Text))
	}
}

func (f Field) itemQuoting() Quoting {
	if f.Key == Links {
		return linkItem
	}
	return plainText
}

func textQuoting(key string) Quoting {
	if isText(key) {
		return plainText
	}
	return extraText
}

func writeKey(key string) string {
	if bareKey.MatchString(key) {
		return key
	}
	return Quote(key)
}

// inlineItem quotes texts that would end an item of an inline list.
var inlineItem = Quoting(func(text string) bool { return strings.ContainsAny(text, `,[]"`) })

func writeInline(list []string) string {
	items := make([]string, len(list))
	for i, item := range list {
		items[i] = inlineItem.Write(item)
	}
	return "[" + strings.Join(items, ", ") + "]"
}
