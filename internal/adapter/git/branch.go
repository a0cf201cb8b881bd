package git

import (
	"fmt"
	"strings"
	"unicode"
	"unicode/utf8"
)

// CheckBranch returns an error if name is not a valid branch name. Git never takes a valid name
// for an option, a revision or a pattern.
func CheckBranch(name string) error {
	if validBranch(name) {
		return nil
	}
	return fmt.Errorf("branch %q is not a name git accepts: use letters, digits, dashes and single slashes, and do not begin with a dash", name)
}

func validBranch(s string) bool {
	if s == "" || s == "@" || s == "HEAD" || len(s) > 255 || s[0] == '-' || strings.HasSuffix(s, ".") || !utf8.ValidString(s) {
		return false
	}
	if strings.ContainsAny(s, " ~^:?*[\\") || strings.Contains(s, "..") || strings.Contains(s, "@{") {
		return false
	}
	if strings.ContainsFunc(s, func(r rune) bool { return !unicode.IsPrint(r) }) {
		return false
	}
	for part := range strings.SplitSeq(s, "/") {
		if part == "" || part[0] == '.' || strings.HasSuffix(part, ".lock") {
			return false
		}
	}
	return true
}

func checkBranches(names ...string) error {
	for _, name := range names {
		if err := CheckBranch(name); err != nil {
			return err
		}
	}
	return nil
}
