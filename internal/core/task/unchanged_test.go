package task

import (
	"strings"
	"testing"
)

func TestPathPatternsAreThoseOfGitignore(t *testing.T) {
	for _, tt := range []struct {
		pattern, path string
		want          bool
	}{
		{"Makefile", "Makefile", true},
		{"Makefile", "sub/Makefile", true},
		{"Makefile", "Makefile.inc", false},
		{"/Makefile", "sub/Makefile", false},
		{"/Makefile", "Makefile", true},
		{"*.lock", "a/b/yarn.lock", true},
		{".github/", ".github/workflows/ci.yml", true},
		{".github/**", ".github/workflows/ci.yml", true},
		{".github/**", ".github", false},
		{"migrations/*.sql", "migrations/1.sql", true},
		{"migrations/*.sql", "migrations/old/1.sql", false},
		{"migrations/**/*.sql", "migrations/old/1.sql", true},
		{"**/testdata", "a/testdata/x", true},
		{"src/auth", "src/auth/key.go", true},
		{"src/auth", "src/authors.go", false},
		{"src/auth", "lib/src/auth/key.go", false},
	} {
		if got := (PathPatterns{tt.pattern}).Match(tt.path); got != tt.want {
			t.Errorf("%s names %s: %v", tt.pattern, tt.path, got)
		}
	}
}

func TestPathPatternsAreAddedAndRemoved(t *testing.T) {
	l, err := PathPatterns(nil).WithChanges([]string{"Makefile", ".github/**", "Makefile"})
	if err != nil || len(l) != 2 {
		t.Fatal(l, err)
	}
	if l, err = l.WithChanges([]string{"!Makefile"}); err != nil || strings.Join(l, " ") != ".github/**" {
		t.Error(l, err)
	}
	if _, err = l.WithChanges([]string{"!docs"}); err == nil || !strings.Contains(err.Error(), "is not one of the project's: it has .github/**") {
		t.Error(err)
	}
	for _, bad := range []string{"", "/", "[", "../x", "a/./b", strings.Repeat("x", 501), "a\nb"} {
		if _, err := PathPatterns(nil).WithChanges([]string{bad}); err == nil {
			t.Errorf("%.20q is taken", bad)
		}
	}
}

func TestAnApprovalIsForAContent(t *testing.T) {
	one, again := PathChange{Path: "Makefile", Blob: "100644 a"}, PathChange{Path: "Makefile", Blob: "100644 b"}
	record := &Task{}
	record.ProtectedChanges, record.ApprovedChanges = []PathChange{one}, []PathChange{one}
	if got := record.UnapprovedChanges(); len(got) != 0 {
		t.Error(got)
	}
	record.ProtectedChanges = []PathChange{again, {Path: "old"}}
	if got := PathsOf(record.UnapprovedChanges()); strings.Join(got, " ") != "Makefile old" {
		t.Error(got)
	}
}
