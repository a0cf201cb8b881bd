package taskfile

import (
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
)

const sample = `---
# owned by Orange
id: fix-login   # never changes
status: working

review_round: 1
summary: 'it''s broken'
created_at: 2026-01-02T03:04:05Z
workspace: ~
auto: true
---

## Plan

APPROACH: JWT
`

func mustParse(t testing.TB, src string) Document {
	t.Helper()
	d, err := Parse([]byte(src))
	if err != nil {
		t.Fatalf("Parse: %v", err)
	}
	return d
}

func TestRoundTripIsByteExact(t *testing.T) {
	for name, src := range map[string]string{
		"empty file":                       "",
		"no frontmatter":                   "## Plan\n",
		"frontmatter and body":             sample,
		"windows line endings":             strings.ReplaceAll(sample, "\n", "\r\n"),
		"byte order mark":                  "\ufeff" + sample,
		"byte order mark, no frontmatter":  "\ufeff## Plan\n",
		"empty frontmatter":                "---\n---\nbody",
		"frontmatter of comments":          "---\n# nothing\n\n---\nbody",
		"no line ending at the end":        "---\na: 1\n---",
		"white space behind the delimiter": "---  \na: 1\n--- \t\nbody\n",
		"a rule inside the body":           "---\na: 1\n---\ntext\n\n---\n\nmore\n",
		"mixed line endings":               "---\r\na: 1\nb: 2\r\n---\nbody\r\n",
		"delimiter inside a block scalar":  "---\na: |\n  ---\n  x\nb: 1\n---\nbody\n",
		"a long dash line opens nothing":   "----\na: 1\n----\n",
	} {
		t.Run(name, func(t *testing.T) {
			if got := string(mustParse(t, src).Bytes()); got != src {
				t.Errorf("got %q, want %q", got, src)
			}
		})
	}
}

func TestGet(t *testing.T) {
	src := "---\ns: text\nq: \"a: b\"\nn: 3\nneg: -3\nt: true\nz: ~\nnone:\nat: 2026-01-02T03:04:05Z\nday: 2026-01-02\n" +
		"f: 1.50\nbig: 99999999999999999999\nyes: yes\nblock: |\n  a\n  b\nfold: >-\n  a\n  b\nlist: [a, b]\nitems:\n- a\n- b\n" +
		"\"odd key\": 1\n7: seven\n---\n"
	for _, ending := range []string{"\n", "\r\n"} {
		d := mustParse(t, strings.ReplaceAll(src, "\n", ending))
		want := []Field{
			{"s", "text"}, {"q", "a: b"}, {"n", 3}, {"neg", -3}, {"t", true}, {"z", nil}, {"none", nil},
			{"at", "2026-01-02T03:04:05Z"}, {"day", "2026-01-02"}, {"f", "1.50"}, {"big", "99999999999999999999"},
			{"yes", "yes"}, {"block", "a\nb\n"}, {"fold", "a b"}, {"list", "[a, b]"},
			{"items", strings.ReplaceAll("- a\n- b", "\n", ending)}, {"odd key", 1}, {"7", "seven"},
		}
		var got []Field
		for _, e := range d.entries {
			value, _ := d.Get(e.key)
			got = append(got, Field{e.key, value})
		}
		if diff := cmp.Diff(want, got); diff != "" {
			t.Errorf("line ending %q: (-want +got)\n%s", ending, diff)
		}
		if _, ok := d.Get("missing"); ok {
			t.Error("a missing key was found")
		}
	}
}

func TestParseRefuses(t *testing.T) {
	for name, tc := range map[string]struct{ src, want string }{
		"a file too large":         {strings.Repeat("x", MaxSize+1), "shorten it"},
		"a NUL byte":               {"a\nb\x00", "not a text file, line 2 has a NUL byte"},
		"bytes that are not UTF-8": {"a\n\nb\xff", "not a text file, line 3 is not UTF-8"},
		"frontmatter never closed": {"---\na: 1\n", `end it with a line "---"`},
		"a list":                   {"---\n- a\n---\n", "line 2:1: it is not a mapping"},
		"a bare word":              {"---\nhello\n---\n", "line 2:1: it is not a mapping"},
		"broken YAML":              {"---\na: 1\nb: [1\n---\n", "line 3:"},
		"a duplicate key":          {"---\na: 1\nb: 2\na: 3\n---\n", `line 4:1: key "a" is there twice; keep one`},
		"a quoted duplicate":       {"---\na: 1\n\"a\": 3\n---\n", `key "a" is there twice`},
		"a duplicate by number":    {"---\n1: a\n\"1\": b\n---\n", "twice"},
		"an anchor":                {"---\na: &x 1\n---\n", "line 2:4: anchors, aliases"},
		"an alias":                 {"---\na: 1\nb: [*x]\n---\n", "anchors, aliases"},
		"a merge key":              {"---\n<<: {a: 1}\n---\n", "merge keys"},
		"two documents":            {"---\na: 1\n...\nb: 2\n---\n", "several YAML documents"},
		"a complex key":            {"---\n? a\n: b\n---\n", "a key must be a plain word"},
		"a frontmatter too large":  {"---\na: " + strings.Repeat("x", maxMeta) + "\n---\n", "move text to the body"},
		"brackets without end":     {"---\na: " + strings.Repeat("[", 60000) + "\n---\n", "brackets"},
		"lists without end":        {"---\n" + strings.Repeat("- ", 30000) + "\n---\n", "nested deeper"},
	} {
		t.Run(name, func(t *testing.T) {
			_, err := Parse([]byte(tc.src))
			if err == nil {
				t.Fatal("no error")
			}
			if !strings.Contains(err.Error(), tc.want) || strings.Contains(err.Error(), "\n") {
				t.Errorf("got %q, want one line with %q", err, tc.want)
			}
			if !strings.HasPrefix(err.Error(), "parse TASK.md: ") || !strings.Contains(err.Error(), "; ") {
				t.Errorf("%q does not say what was done and what to do", err)
			}
		})
	}
}

func TestWithBody(t *testing.T) {
	for name, tc := range map[string]struct{ src, body, want string }{
		"keeps the frontmatter":               {"---\na: 1 # c\n---\nold", "new\n", "---\na: 1 # c\n---\nnew\n"},
		"without frontmatter":                 {"old", "new", "new"},
		"a body that looks like frontmatter":  {"old", "---\nx\n", "---\n---\n---\nx\n"},
		"a rule first, frontmatter before it": {"---\na: 1\n---\n", "---\nx\n", "---\na: 1\n---\n---\nx\n"},
	} {
		t.Run(name, func(t *testing.T) {
			got := mustParse(t, tc.src).WithBody([]byte(tc.body))
			if string(got.Bytes()) != tc.want {
				t.Errorf("got %q, want %q", got.Bytes(), tc.want)
			}
			if again := mustParse(t, string(got.Bytes())); string(again.Body()) != tc.body {
				t.Errorf("body reads back as %q, want %q", again.Body(), tc.body)
			}
		})
	}
}

// TestFilesThatAreTooLarge checks that the error names the exceeded limit in one sentence.
func TestFilesThatAreTooLarge(t *testing.T) {
	for name, tc := range map[string]struct{ src, want string }{
		"bytes":               {strings.Repeat("x", MaxSize+1), "it has 4194305 bytes and 4194304 are allowed; shorten it"},
		"lines":               {strings.Repeat("\n", maxLines+1), "it has 200001 lines and 200000 are allowed; shorten it"},
		"sections":            {strings.Repeat("## x\n", maxSections+1), "it has 10001 headings of sections and 10000 are allowed; remove some"},
		"underlined sections": {strings.Repeat("x\n---\n\n", maxSections+1), "it has 10001 headings of sections and 10000 are allowed; remove some"},
		"4 MiB of headings":   {strings.Repeat("## x\n", MaxSize/5), "lines and 200000 are allowed"},
	} {
		if _, err := Parse([]byte(tc.src)); err == nil || !strings.Contains(err.Error(), tc.want) || strings.Contains(err.Error(), "\n") {
			t.Errorf("%s: %v", name, err)
		}
	}
	d, err := Parse([]byte(strings.Repeat("## x\n", maxSections)))
	if err != nil || len(d.Sections()) != maxSections {
		t.Errorf("as many sections as are allowed: %v", err)
	}
	if d, err = Parse([]byte("## x\n" + strings.Repeat("y\n", maxLines-1))); err != nil || len(d.Sections()) != 1 {
		t.Errorf("as many lines as are allowed: %v", err)
	}
}
