package git

import (
	"os/exec"
	"strings"
	"testing"
	"unicode"
	"unicode/utf8"
)

func TestCheckBranch(t *testing.T) {
	for name, ok := range map[string]bool{
		"main": true, "a/b/c": true, "fix-ä日本": true, `x#$()'"%;&`: true, "a.b": true, "x@y": true,
		"": false, "-x": false, "--help": false, "@": false, "HEAD": false, "a b": false, "a..b": false, "a@{1}": false, "a~1": false,
		"a^": false, "a:b": false, "a*": false, "a?": false, "a[b": false, `a\b`: false, "/a": false, "a/": false, "a//b": false,
		".a": false, "a/.b": false, "a.lock": false, "a.lock/b": false, "a.": false, "a\nb": false, "a\x1b[31m": false, "a\u009b31m": false,
		"\xff": false, strings.Repeat("a", 256): false,
	} {
		if err := CheckBranch(name); (err == nil) != ok {
			t.Errorf("%q: %v", name, err)
		} else if err != nil {
			wantError(t, err, "is not a name git accepts")
		}
	}
}

// Whatever passes here passes git, and what git takes is refused here only for a reason.
func FuzzCheckBranch(f *testing.F) {
	for _, name := range []string{"main", "a/b", "-x", "a.lock", "ä#$()", "a..b", "@{u}", "HEAD"} {
		f.Add(name)
	}
	f.Fuzz(func(t *testing.T, name string) {
		if strings.ContainsRune(name, 0) {
			return // cannot be an argument
		}
		ours := CheckBranch(name) == nil
		gits := exec.Command("git", "check-ref-format", "refs/heads/"+name).Run() == nil
		if ours && !gits {
			t.Errorf("%q passes here and not in git", name)
		}
		odd := strings.HasPrefix(name, "-") || name == "HEAD" || name == "@" || len(name) > 255 || !utf8.ValidString(name) ||
			strings.ContainsFunc(name, func(r rune) bool { return !unicode.IsPrint(r) })
		if gits && !ours && !odd {
			t.Errorf("%q passes in git and not here", name)
		}
	})
}
