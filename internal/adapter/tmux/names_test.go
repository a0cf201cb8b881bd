package tmux

import (
	"strings"
	"testing"
)

func TestSessionNamesAreSafeAndDistinct(t *testing.T) {
	cases := []struct{ what, project, branch, want string }{
		{"plain", "orange", "fix-1", "orange/fix-1"},
		{"a branch with folders", "orange", "feature/a+b/c_d", "orange/feature/a+b/c_d"},
		{"dots and colons", "my.app", "v1.2:3", "my%2Eapp/v1%2E2%3A3"},
		{"a command in a format", "app", "#(touch x)", "app/%23%28touch%20x%29"},
		{"a slash in the project", "a/b", "c", "a%2Fb/c"},
		{"the escape itself", "a%2Fb", "100%", "a%252Fb/100%25"},
		{"letters of other scripts", "проект", "größe/日本", "проект/größe/日本"},
		{"a letter beyond the basic plane", "p", "𐐷", "p/%F0%90%90%B7"},
		{"what is no letter", "p", "a🙂é", "p/a%F0%9F%99%82é"},
		{"a combining accent", "p", "e\u0301", "p/e%CC%81"},
		{"bytes that are no text", "p", "\xff\xfe", "p/%FF%FE"},
		{"the sign for bad text", "p", "\uFFFD", "p/%EF%BF%BD"},
		{"a shell's signs", "p", "$HOME`x`'\"", "p/%24HOME%60x%60%27%22"},
		{"nothing", "", "", "/"},
	}
	for _, c := range cases {
		t.Run(c.what, func(t *testing.T) {
			got := SessionName(c.project, c.branch)
			if got != c.want {
				t.Errorf("SessionName(%q, %q) = %q, want %q", c.project, c.branch, got, c.want)
			}
			if project, branch := parseSessionName(got); project != c.project || branch != c.branch {
				t.Errorf("%q is read back as %q, %q", got, project, branch)
			}
		})
	}
}

func TestWindowNamesAreNeverNumbersOrOffsets(t *testing.T) {
	cases := map[string]string{
		"worker": "worker", "review-1": "review-1", "5": "%35", "12": "%312", "2nd": "2nd",
		"-1": "%2D1", "+": "%2B", "a.b": "a%2Eb", "a/b": "a%2Fb", "!": "%21", "{end}": "%7Bend%7D",
	}
	for name, want := range cases {
		got := windowName(name)
		if got != want {
			t.Errorf("windowName(%q) = %q, want %q", name, got, want)
		}
		if decodeName(got) != name {
			t.Errorf("decode(%q) = %q, want %q", got, decodeName(got), name)
		}
	}
}

func FuzzSessionNamesComeBack(f *testing.F) {
	f.Add("orange", "main")
	f.Add("a/b", "c%2F.:#(x)")
	f.Add("\xff", "ü\n;")
	f.Fuzz(func(t *testing.T, project, branch string) {
		name := SessionName(project, branch)
		if p, b := parseSessionName(name); p != project || b != branch {
			t.Fatalf("%q, %q became %q and came back as %q, %q", project, branch, name, p, b)
		}
		if strings.ContainsAny(name, ".:#;'\"`$(){}[]*?!@=,~\\ \t\r\n\x00\x1b") {
			t.Fatalf("%q is not safe", name)
		}
		if w := windowName(branch); decodeName(w) != branch {
			t.Fatalf("window %q became %q and came back as %q", branch, w, decodeName(w))
		}
	})
}

func TestVersions(t *testing.T) {
	for version, want := range map[string]bool{
		"3.2": true, "3.2a": true, "3.3a": true, "3.4": true, "3.6": true, "3.10": true, "4.0": true,
		"next-3.6": true, "3.5-rc1": true, "master": true,
		"3.1c": false, "2.9": false, "next-3.1": false, "1.8": false, "": false, "openbsd-7.4": false, "3": false, "3.x": false,
	} {
		if got := IsSupported(version); got != want {
			t.Errorf("Supported(%q) = %v, want %v", version, got, want)
		}
	}
}

func TestWhatIsPastedIsOnlyText(t *testing.T) {
	cases := map[string]string{
		"two\nlines\tand a tab": "two\nlines\tand a tab",
		"end\x1b[201~\rrm\r\n":  "end[201~rm\n",
		"\x00\x07\x08\x7f":      "",
		"c1 \u009b31m":          "c1 31m",
		"not text \xff\x9b":     "not text \uFFFD",
		"ünïcödé 🙂":             "ünïcödé 🙂",
	}
	for text, want := range cases {
		if got := stripControls(text); got != want {
			t.Errorf("visible(%q) = %q, want %q", text, got, want)
		}
	}
}

// parseSessionName undoes SessionName.
func parseSessionName(name string) (project, branch string) {
	first, second, _ := strings.Cut(name, "/")
	return decodeName(first), decodeName(second)
}
