package markdown

import (
	"fmt"
	"regexp"
	"slices"
	"strings"
	"testing"

	"orange/internal/view/ansi"
)

func TestHTML(t *testing.T) {
	tests := map[string]struct{ in, want string }{
		"nothing":                 {"", ""},
		"a paragraph":             {"a\nb", "<p>a b</p>\n"},
		"a hard line break":       {"a  \nb", "<p>a<br>\nb</p>\n"},
		"labels of TASK.md":       {"DONE: a\nREMAINING: b", "<p>DONE: a<br>\nREMAINING: b</p>\n"},
		"headings":                {"# a\n###### b", "<h2>a</h2>\n<h6>b</h6>\n"},
		"emphasis":                {"*a* **b** ***c*** ~~d~~ `e`", "<p><em>a</em> <strong>b</strong> <strong><em>c</em></strong> <del>d</del> <code>e</code></p>\n"},
		"HTML":                    {`<script>alert("x")</script>`, "<p>&lt;script&gt;alert(&#34;x&#34;)&lt;/script&gt;</p>\n"},
		"HTML in a line":          {"a <b onclick=x>b</b>", "<p>a &lt;b onclick=x&gt;b&lt;/b&gt;</p>\n"},
		"a comment":               {"<!-- a -->", "<p>&lt;!-- a --&gt;</p>\n"},
		"our mark":                {"## Answer\n\n<!-- AbC0d1234567890123456/20/0 -->\n> words", "<h3>Answer</h3>\n<blockquote>\n<p>words</p>\n</blockquote>\n"},
		"our mark, then words":    {"## Answer\n\n<!-- AbC0d1234567890123456/20/0 -->\ngreen and *blue*", "<h3>Answer</h3>\n<p>green and <em>blue</em></p>\n"},
		"our mark, then a style":  {"<!-- AbC0d1234567890123456/20/0 -->\n*green*", "<p><em>green</em></p>\n"},
		"our mark with words":     {"<!-- AbC0d1234567890123456/20/0 --> and", "<p>&lt;!-- AbC0d1234567890123456/20/0 --&gt; and</p>\n"},
		"nearly our mark":         {"<!-- AbC0d1234567890123456/20/0 x -->\n\n<!-- AbC/20/0 -->\n\n<!-- a/b/c -->", "<p>&lt;!-- AbC0d1234567890123456/20/0 x --&gt;</p>\n<p>&lt;!-- AbC/20/0 --&gt;</p>\n<p>&lt;!-- a/b/c --&gt;</p>\n"},
		"our mark in code":        {"`<!-- AbC0d1234567890123456/20/0 -->`\n\n    <!-- AbC0d1234567890123456/20/0 -->", "<p><code>&lt;!-- AbC0d1234567890123456/20/0 --&gt;</code></p>\n<pre><code>&lt;!-- AbC0d1234567890123456/20/0 --&gt;</code></pre>\n"},
		"entities":                {"&lt;b&gt; &amp; \\* &copy; &nope;", "<p>&lt;b&gt; &amp; * © &amp;nope;</p>\n"},
		"an escaped entity":       {`\&lt;`, "<p>&amp;lt;</p>\n"},
		"an escape in disguise":   {"&#27;[31m &#x202e;a", "<p>[31m a</p>\n"},
		"escapes":                 {"a\x1b[31mb\u202ec\x00", "<p>abc</p>\n"},
		"a link":                  {"[a *b*](https://x.example/?a=1&b=\"2\")", `<p><a href="https://x.example/?a=1&amp;b=%222%22" rel="noreferrer noopener">a <em>b</em></a></p>` + "\n"},
		"mail":                    {"<a@b.example>", `<p><a href="mailto:a@b.example" rel="noreferrer noopener">a@b.example</a></p>` + "\n"},
		"a bare link":             {"see https://x.example/a_b_c.", `<p>see <a href="https://x.example/a_b_c" rel="noreferrer noopener">https://x.example/a_b_c</a>.</p>` + "\n"},
		"a script":                {"[a](javascript:alert(1))", "<p>a</p>\n"},
		"a script in capitals":    {"[a](JaVaScRiPt:alert(1))", "<p>a</p>\n"},
		"a script in disguise":    {"[a](&#106;avascript:alert(1)) [b](java\\script:x) [c]( javascript:x)", "<p>a b c</p>\n"},
		"data":                    {"[a](data:text/html,x)", "<p>a</p>\n"},
		"another scheme":          {"[a](ftp://x) <ssh://x> [b](//x.example)", "<p>a ssh://x b (//x.example)</p>\n"},
		"a path":                  {"[a](docs/a.md) [b](#c) [d]()", "<p>a (docs/a.md) b d</p>\n"},
		"a picture":               {"![a](https://x.example/y.png)", `<p><a href="https://x.example/y.png" rel="noreferrer noopener">a</a></p>` + "\n"},
		"a picture in a link":     {"[![a](http://x.example/i)](http://y.example)", `<p><a href="http://y.example" rel="noreferrer noopener">a</a></p>` + "\n"},
		"a picture without words": {"![](http://x.example/i)", `<p><a href="http://x.example/i" rel="noreferrer noopener">http://x.example/i</a></p>` + "\n"},
		"a definition":            {"[a]: http://x 'hidden'", "<p>[a]: http://x &#39;hidden&#39;</p>\n"},
		"a list":                  {"- a\n- b\n  - c", "<ul>\n<li>a\n</li>\n<li>b\n<ul>\n<li>c\n</li>\n</ul>\n</li>\n</ul>\n"},
		"a loose list":            {"3. a\n\n4. b", "<ol start=\"3\">\n<li><p>a</p>\n</li>\n<li><p>b</p>\n</li>\n</ol>\n"},
		"things to do":            {"- [ ] a\n- [x] b", "<ul>\n<li class=\"todo\"><input type=\"checkbox\" disabled aria-label=\"Done\"> a\n</li>\n<li class=\"todo\"><input type=\"checkbox\" checked disabled aria-label=\"Done\"> b\n</li>\n</ul>\n"},
		"a quote":                 {"> a\n\n---", "<blockquote>\n<p>a</p>\n</blockquote>\n<hr>\n"},
		"code":                    {"```go\na < b\n```", "<pre><code class=\"language-go\">a &lt; b</code></pre>\n"},
		"an odd language":         {"```\"><script>\na\n```", "<pre><code>a</code></pre>\n"},
		"indented code":           {"    a\n\n    b", "<pre><code>a\n\nb</code></pre>\n"},
		"a table": {"|a|b|\n|-|-:|\n|`c\\|d`|e|", "<table>\n<thead>\n<tr><th>a</th><th class=\"right\">b</th></tr>\n</thead>\n<tbody>\n" +
			"<tr><td><code>c|d</code></td><td class=\"right\">e</td></tr>\n</tbody>\n</table>\n"},
	}
	for name, tt := range tests {
		t.Run(name, func(t *testing.T) {
			got := RenderHTML(tt.in)
			if got != tt.want {
				t.Errorf("got\n%s\nwant\n%s", got, tt.want)
			}
			if err := safe(got); err != nil {
				t.Error(err)
			}
		})
	}
}

// allowed are the elements and attributes that a page may get from a text.
var allowed = map[string][]string{
	"p": nil, "h2": nil, "h3": nil, "h4": nil, "h5": nil, "h6": nil, "ul": nil, "ol": {"start"}, "li": {"class"}, "input": {"type", "checked", "disabled", "aria-label"},
	"blockquote": nil, "pre": nil, "code": {"class"}, "hr": nil, "br": nil, "table": nil, "thead": nil, "tbody": nil, "tr": nil,
	"th": {"class"}, "td": {"class"}, "a": {"href", "rel"}, "strong": nil, "em": nil, "del": nil,
}

var (
	tag       = regexp.MustCompile(`^<(/?)([a-z0-9]+)((?: [a-z-]+(?:="[^"<>]*")?)*)>`)
	attribute = regexp.MustCompile(` ([a-z-]+)(?:="([^"<>]*)")?`)
	entity    = regexp.MustCompile(`^&(?:lt|gt|amp|#34|#39);`)
	class     = regexp.MustCompile(`^(todo|left|center|right|language-[A-Za-z0-9_+#.-]+)$`)
	link      = regexp.MustCompile(`(?i)^(https?://|mailto:)[!-~]+$`)
)

// safe reads HTML strictly: every element is closed in order, and nothing is there that
// is not allowed.
func safe(page string) error {
	var open []string
	for page != "" {
		switch page[0] {
		case '<':
			m := tag.FindStringSubmatch(page)
			if m == nil {
				return fmt.Errorf("no element: %.40q", page)
			}
			attrs, known := allowed[m[2]]
			if !known {
				return fmt.Errorf("element %q", m[2])
			}
			switch {
			case m[1] == "/":
				if len(open) == 0 || open[len(open)-1] != m[2] || m[3] != "" {
					return fmt.Errorf("%q is closed within %q", m[2], open)
				}
				open = open[:len(open)-1]
			case m[2] != "br" && m[2] != "hr" && m[2] != "input":
				open = append(open, m[2])
			}
			for _, a := range attribute.FindAllStringSubmatch(m[3], -1) {
				if !slices.Contains(attrs, a[1]) || !fine(a[1], a[2]) {
					return fmt.Errorf("attribute %q of %q", a[0], m[2])
				}
			}
			page = page[len(m[0]):]
		case '>', '"', '\'':
			return fmt.Errorf("not escaped: %.40q", page)
		case '&':
			m := entity.FindString(page)
			if m == "" {
				return fmt.Errorf("no entity: %.40q", page)
			}
			page = page[len(m):]
		default:
			next := strings.IndexAny(page, "<>&\"'")
			if next < 0 {
				next = len(page)
			}
			page = page[next:]
		}
	}
	if len(open) > 0 {
		return fmt.Errorf("%q is not closed", open)
	}
	return nil
}

func fine(name, value string) bool {
	switch name {
	case "class":
		return class.MatchString(value)
	case "href":
		return link.MatchString(value)
	case "rel":
		return value == "noreferrer noopener"
	case "type":
		return value == "checkbox"
	case "aria-label":
		return value == "Done"
	}
	return true
}

func FuzzHTMLIsSafe(f *testing.F) {
	for _, s := range []string{
		"# a\n\n- [x] b\n\n> c", "[a](javascript:x)", "<javascript:x>", "|a|b|\n|-|-|\n|c|d|", "```\"x\n<\n```", "![a](http://b 'c\"')", "http://a.example/\"><script>",
		"[a](<http://b\n>)", "&#x22;&lt;&quot;", "*a **b `c* d** e`", "[a](http://b&quot;c)", "<http://a\"b>", "www.x.example\"onclick=x", "- a\n\n      b\n1. c", "a\\\nb", "\x1b[31m\xff\u202e",
		"[a](http://x.example/\u202e)", "[ja\tva](java\tscript:alert)", "<a@b.example\">", "DONE: x\nLEFT: y",
	} {
		f.Add(s)
	}
	f.Fuzz(func(t *testing.T, s string) {
		page := RenderHTML(s)
		if err := safe(page); err != nil {
			t.Errorf("%q: %v\n%s", s, err, page)
		}
		if ansi.SafeText(page) != page {
			t.Errorf("%q is not clean: %q", s, page)
		}
	})
}

// Texts that take a parser long if it is not bounded. Nothing is timed here: one that is
// not bounded takes minutes for some of them.
func TestHostileTextsAreRead(t *testing.T) {
	const n = maxSize / 4
	staircase := func() string {
		var b strings.Builder
		for i := 0; b.Len() < n; i++ {
			b.WriteString(strings.Repeat(" ", i*2) + "- a\n")
		}
		return b.String()
	}
	for name, s := range map[string]string{
		"quotes": strings.Repeat(">", n), "lists": strings.Repeat("- ", n/2), "both": strings.Repeat("> - ", n/4), "numbers": strings.Repeat("1. ", n/3),
		"staircase": staircase(), "lazy lines": strings.Repeat("> a\nb\n", n/6), "brackets": strings.Repeat("[", n), "links": strings.Repeat("[a](", n/4),
		"parentheses": strings.Repeat("[a](((((", n/8), "angles": strings.Repeat("[a](<b", n/6), "pictures": strings.Repeat("![", n/2),
		"emphasis": strings.Repeat("*a _b ", n/6), "open and close": strings.Repeat("*a ", n/6) + strings.Repeat("a* ", n/6), "closers": strings.Repeat("a_ ", n/3),
		"underlined": strings.Repeat("*a _b \n", n/7) + "===\n", "code": strings.Repeat("`a", n/2), "addresses": strings.Repeat("<http:", n/6),
		"wide table": strings.Repeat("|a", n/8) + "\n" + strings.Repeat("|-", n/8) + "\n" + strings.Repeat("|\n", n/4),
		"bars":       "|a|b|\n|-|-|\n" + strings.Repeat("|`\\|`|`\\|`|\n", n/11), "entities": strings.Repeat("&#27;", n/5), "5 MB": strings.Repeat("word ", 1<<20),
	} {
		t.Run(name, func(t *testing.T) {
			page := RenderHTML(s)
			if err := safe(page); err != nil {
				t.Error(err)
			}
			if len(page) > 16*n {
				t.Errorf("%d bytes became %d", len(s), len(page))
			}
			if got := strings.Contains(page, tooLong); got != (len(s) > maxSize) {
				t.Errorf("says that it was cut: %v", got)
			}
		})
	}
}
