package web_test

import (
	"os"
	"path/filepath"
	"regexp"
	"strings"
	"testing"

	"orange/internal/ui/web"
)

// Every icon that a template or a script shows exists.
func TestIconsExist(t *testing.T) {
	sprite := readFile(t, "static/icons.svg")
	used := regexp.MustCompile(`\{\{-?\s*icon "([^"]*)"|icon\("([^"]*)"\)`)
	files, _ := filepath.Glob("templates/*.html")
	scripts, _ := filepath.Glob("static/*.js")
	for _, file := range append(files, scripts...) {
		for _, m := range used.FindAllStringSubmatch(readFile(t, file), -1) {
			if name := m[1] + m[2]; !strings.Contains(sprite, `<symbol id="`+name+`"`) {
				t.Errorf("%s shows an icon %q that does not exist", file, name)
			}
		}
	}
}

// Every colour, size and space that a stylesheet uses is a token of app.css.
func TestStylesheetsUseTokens(t *testing.T) {
	tokens := readFile(t, "static/app.css")
	files, _ := filepath.Glob("static/*.css")
	for _, file := range files {
		text := readFile(t, file)
		for _, m := range regexp.MustCompile(`var\((--[a-z0-9-]+)`).FindAllStringSubmatch(text, -1) {
			if !strings.Contains(tokens, m[1]+":") && !strings.Contains(text, m[1]+":") {
				t.Errorf("%s uses %s, which nobody defines", file, m[1])
			}
		}
	}
}

func TestComponentsAreShownToDevelopersOnly(t *testing.T) {
	h := newEnv(t, newBoardBackend(t))
	if res, _ := h.visitor(t).get("/style"); res.StatusCode != 404 {
		t.Errorf("without the option: %d", res.StatusCode)
	}
	h = newEnv(t, newBoardBackend(t), func(o *web.SiteOptions) { o.Dev = true })
	res, body := h.visitor(t).get("/style")
	if res.StatusCode != 200 {
		t.Fatalf("with the option: %d", res.StatusCode)
	}
	for _, want := range []string{"Action chip", "State pill", "Stepper", "Two panes", "Toast", `icons.svg#inbox`, `class="card`} {
		if !strings.Contains(body, want) {
			t.Errorf("the page does not show %q", want)
		}
	}
}

func readFile(t *testing.T, name string) string {
	t.Helper()
	text, err := os.ReadFile(name)
	if err != nil {
		t.Fatal(err)
	}
	return string(text)
}
