package task_test

import (
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"orange/internal/core/task"
)

func TestANameMeansTheTasksThatPeopleMeanByIt(t *testing.T) {
	list := []task.Named{
		{ID: "AbcdefghijklmnopqrstA", Project: "shop", Branch: "fix-login", Summary: "Fix the login bug"},
		{ID: "AbcxefghijklmnopqrstB", Project: "web", Branch: "fix-login", Summary: "Log in again"},
		{ID: "QrsdefghijklmnopqrstC", Project: "shop", Branch: "feature/Cart", Summary: "Añadir el carrito"},
		{ID: "QrtdefghijklmnopqrstD", Project: "shop", Branch: "old", Summary: "Fix the login bug", Over: true},
		{ID: "ZzzdefghijklmnopqrstE", Project: "shop", Branch: "Qrsd", Summary: "A trap"},
		{ID: "YyydefghijklmnopqrstF", Project: "web", Branch: "again", Summary: "first", Over: true},
		{ID: "XxxdefghijklmnopqrstG", Project: "web", Branch: "again", Summary: "second", Over: true},
		{ID: "WwwdefghijklmnopqrstH", Project: "q", Branch: "shop/fix-login", Summary: "odd"},
	}
	for name, tc := range map[string]struct {
		project, want string // the last letters of the ids
	}{
		"AbcdefghijklmnopqrstA": {"", "A"},
		"Abc":                   {"", "AB"},
		"Abcd":                  {"", "A"},
		"abcD":                  {"", "A"},
		"ABCDEFGHIJKLMNOPQRSTA": {"", "A"},
		"abc":                   {"shop", "AB"}, // the project does not choose between ids
		"fix-login":             {"", "AB"},
		"web/fix-login":         {"", "B"},
		"WEB/Fix-Login":         {"", "B"},
		"shop/fix-login":        {"", "AH"},
		"feature/Cart":          {"", "C"},
		"feature/cart":          {"", "C"},
		"añadir-el-carrito":     {"", "C"},
		"Fix the login bug!":    {"", "A"},  // the other one is over
		"Qrsd":                  {"", "CE"}, // a branch does not hide an id
		"again":                 {"shop", "FG"},
		"nothing":               {"", ""},
		"":                      {"", ""},
		"-":                     {"", ""},
	} {
		got := ""
		for _, n := range task.ChooseNamed(name, tc.project, list) {
			got += string(n.ID[len(n.ID)-1])
		}
		if diff := cmp.Diff(tc.want, got); diff != "" {
			t.Errorf("%q in %q (-want +got)\n%s", name, tc.project, diff)
		}
	}
	for project, want := range map[string]task.ID{"shop": list[0].ID, "web": list[1].ID} {
		if got := task.ChooseNamed("fix-login", project, list); len(got) != 1 || got[0].ID != want {
			t.Errorf("in %s fix-login is %v", project, got)
		}
	}
}

func TestBranchNameFromASummary(t *testing.T) {
	for text, want := range map[string]string{
		"Fix the login bug":        "fix-the-login-bug",
		"  Fix: `login` (again)! ": "fix-login-again",
		"Añadir búsqueda":          "añadir-búsqueda",
		"...":                      "",
		"":                         "",
		"Let customers log in with their address and a code that is sent": "let-customers-log-in-with-their-address-and-a",
		strings.Repeat("x", 60): strings.Repeat("x", 48),
		strings.Repeat("é", 60): strings.Repeat("é", 24),
	} {
		if got := task.BranchFromWords(text, 1); got != want {
			t.Errorf("%q: %q, want %q", text, got, want)
		}
	}
	if got := task.BranchFromWords("Fix it", 3); got != "fix-it-3" {
		t.Error(got)
	}
}
