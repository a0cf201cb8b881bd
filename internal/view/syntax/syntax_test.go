package syntax

import (
	"fmt"
	"os"
	"strings"
	"testing"
	"time"
)

// marked writes spans as text, with the class of each before it.
func marked(lines [][]Span) string {
	var out []string
	for _, line := range lines {
		var b strings.Builder
		for _, s := range line {
			if s.Class == "" {
				b.WriteString(s.Text)
				continue
			}
			fmt.Fprintf(&b, "[%s %s]", strings.TrimPrefix(s.Class, "hl-"), s.Text)
		}
		out = append(out, b.String())
	}
	return strings.Join(out, "\n")
}

func TestHighlight(t *testing.T) {
	for _, c := range []struct{ file, text, want string }{
		{"a/main.go", "func main() { return nil } // end", "[keyword func] [function main]() { [keyword return] [constant nil] } [comment // end]"},
		{"main.go", "x := `a\nb` + \"c\\\"d\" + 0x1f", "x := [string `a]\n[string b`] + [string \"c\\\"d\"] + [number 0x1f]"},
		{"main.go", "/* a\n * b */ var returned int", "[comment /* a]\n[comment  * b */] [keyword var] returned [type int]"},
		{"x.py", "def f(a):\n    \"\"\"Say\n    it.\"\"\"\n    return None # no", "[keyword def] [function f](a):\n    [string \"\"\"Say]\n[string     it.\"\"\"]\n    [keyword return] [constant None] [comment # no]"},
		{"x.tsx", "const a: string = 'b' // c", "[keyword const] a: [type string] = [string 'b'] [comment // c]"},
		{"lib.rs", "fn f<'a>(x: &'a str) { println!(\"{}\", x); }", "[keyword fn] f<[attribute 'a]>(x: &[attribute 'a] [type str]) { [function println!]([string \"{}\"], x); }"},
		{"a.sql", "SELECT 'it' FROM t -- all", "[keyword SELECT] [string 'it'] [keyword FROM] t [comment -- all]"},
		{"a.json", `{"a": "b", "c": true}`, `{[attribute "a"]: [string "b"], [attribute "c"]: [constant true]}`},
		{"a.yaml", "name: x # why\nurl: http://a#b", "[attribute name]: x [comment # why]\n[attribute url]: http://a#b"},
		{"a.html", `<p class="x">a &amp; b</p><!-- c -->`, `[tag <p] [attribute class]=[string "x"][tag >]a [constant &amp;] b[tag </p>][comment <!-- c -->]`},
		{"a.css", ".a { color: #fff; }", "[tag .a] { [attribute color]: [number #fff]; }"},
		{"README.md", "# Title\n\n- `code` and\n```go\nx\n```\nend", "[heading # Title]\n\n[keyword -] [string `code`] and\n[string ```go]\n[string x]\n[string ```]\nend"},
		{"Makefile", "check: build\n\tgo test $(FLAGS)", "[function check]: build\n\tgo test [attribute $(FLAGS)]"},
		{"a.sh", "if true; then echo \"$HOME\"; fi", "[keyword if] true; [keyword then] echo [string \"$HOME\"]; [keyword fi]"},
		{"Dockerfile", "FROM a\nRUN b", "[keyword FROM] a\n[keyword RUN] b"},
	} {
		if got := marked(Highlight(c.file, c.text)); got != c.want {
			t.Errorf("%s:\n got %s\nwant %s", c.file, got, c.want)
		}
	}
}

func TestHighlightUnknown(t *testing.T) {
	if got := Highlight("notes.zzz", "func main()"); got != nil {
		t.Errorf("a file of an unknown language has spans: %v", got)
	}
	if got := Highlight("big.go", strings.Repeat("x\n", MaxText)); got != nil {
		t.Error("a file that is too long has spans")
	}
}

// TestWholeText checks that no language loses, adds or changes a character, in its own files and in hostile ones.
func TestWholeText(t *testing.T) {
	own, err := os.ReadFile("rules.go")
	if err != nil {
		t.Fatal(err)
	}
	texts := []string{string(own[:6000]), "", "\n", "a\n", "\"\\", "'", "/*", "<!--", "<a b='", "`", "\"\"\"x", "{{ a }", "\x00\xff\u202e", strings.Repeat(`"\`, 300), strings.Repeat("<", 500), strings.Repeat("(", 500),
		strings.Repeat("{{", 300), strings.Repeat("a-", 300), strings.Repeat("/*", 300), strings.Repeat(" \t", 300), strings.Repeat("a:", 300)}
	for _, l := range languages() {
		name := strings.ReplaceAll(strings.Fields(l.files)[0], "*", "x")
		begun := time.Now()
		for _, text := range texts {
			lines := Highlight(name, text)
			if got := strings.ToValidUTF8(plain(lines), "\uFFFD"); got != strings.ToValidUTF8(text, "\uFFFD") {
				t.Errorf("%s: %.40q has become %.40q", l.name, text, got)
			}
		}
		t.Logf("%s: %v", l.name, time.Since(begun))
	}
}

func plain(lines [][]Span) string {
	var out []string
	for _, line := range lines {
		var b strings.Builder
		for _, s := range line {
			b.WriteString(s.Text)
		}
		out = append(out, b.String())
	}
	return strings.Join(out, "\n")
}

func TestClasses(t *testing.T) {
	known := map[string]bool{"": true}
	for _, c := range Classes() {
		known[c] = true
	}
	for _, l := range languages() {
		for _, line := range l.lines(t) {
			for _, s := range line {
				if !known[s.Class] {
					t.Errorf("%s uses the class %q, which is not listed", l.name, s.Class)
				}
			}
		}
	}
}

func (l *language) lines(t *testing.T) [][]Span {
	t.Helper()
	return Highlight(strings.ReplaceAll(strings.Fields(l.files)[0], "*", "x"), "if <a b=\"c\"> { return 1 } // # -- x\n@a $b\n")
}

func BenchmarkHighlight(b *testing.B) {
	own, err := os.ReadFile("rules.go")
	if err != nil {
		b.Fatal(err)
	}
	text := strings.Repeat(string(own), 4)
	b.SetBytes(int64(len(text)))
	for b.Loop() {
		Highlight("x.go", text)
	}
}
