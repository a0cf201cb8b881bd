package tui

import (
	"flag"
	"image/color"
	"os"
	"path/filepath"
	"testing"

	tea "charm.land/bubbletea/v2"
	"github.com/google/go-cmp/cmp"

	"orange/internal/view/overview"
)

var update = flag.Bool("update", false, "write the golden files")

func TestScreens(t *testing.T) {
	noColor := func(o *DashboardOptions) { o.NoColor = true }
	in := func(project string) func(*DashboardOptions) {
		return func(o *DashboardOptions) { o.Project = project; o.NoColor = true }
	}
	for name, tt := range map[string]struct {
		width, height int
		with          func(*DashboardOptions)
		light         bool
		do            func(*env)
	}{
		"80x24":         {width: 80, height: 24, with: noColor},
		"80x24-dark":    {width: 80, height: 24, with: func(*DashboardOptions) {}},
		"80x24-light":   {width: 80, height: 24, with: func(*DashboardOptions) {}, light: true},
		"80x24-project": {width: 80, height: 24, with: in("shop")},
		"80x24-groups":  {width: 80, height: 24, with: noColor, do: func(r *env) { r.press("g") }},
		"80x24-inbox":   {width: 80, height: 24, with: noColor, do: func(r *env) { r.press("i") }},
		"80x24-form":    {width: 80, height: 24, with: noColor, do: func(r *env) { r.press("c"); r.write("news") }},
		"80x24-requirements": {width: 80, height: 24, with: noColor, do: func(r *env) {
			r.press("c")
			r.write("news")
			r.press("tab")
			r.tell(tea.PasteMsg{Content: "Show the news on the start page.\n\n- the newest first\n- at most ten, and a link to all of them, which opens another page"})
		}},
		"80x24-refused":      {width: 80, height: 24, with: noColor, do: func(r *env) { r.api.no = errNo; r.press("c"); r.write("news"); r.press("enter") }},
		"80x24-words":        {width: 80, height: 24, with: noColor, do: func(r *env) { r.press("r"); r.write("a rounder form"); r.press("alt+enter"); r.write("and a label") }},
		"80x24-sure":         {width: 80, height: 24, with: noColor, do: func(r *env) { r.press("x") }},
		"80x24-help":         {width: 80, height: 24, with: noColor, do: func(r *env) { r.press("?") }},
		"80x24-text":         {width: 80, height: 24, with: noColor, do: func(r *env) { r.press("v") }},
		"80x24-search":       {width: 80, height: 24, with: noColor, do: func(r *env) { r.press("/"); r.write("cust") }},
		"80x24-filter":       {width: 80, height: 24, with: noColor, do: func(r *env) { r.press("/"); r.write("is:sleepy") }},
		"80x24-complete":     {width: 80, height: 24, with: noColor, do: func(r *env) { r.press(":"); r.write("land "); r.press("tab") }},
		"80x24-selected":     {width: 80, height: 24, with: noColor, do: func(r *env) { r.press("space", "space") }},
		"80x24-cancel":       {width: 80, height: 24, with: noColor, do: func(r *env) { r.press("space", "space", "space", "x") }},
		"80x24-results":      {width: 80, height: 24, with: noColor, do: func(r *env) { r.press("*", ":"); r.write("start"); r.press("enter") }},
		"80x24-folded":       {width: 80, height: 24, with: noColor, do: func(r *env) { r.press("left") }},
		"80x24-pr":           {width: 80, height: 24, with: noColor, do: func(r *env) { r.on("search"); r.press("p") }},
		"80x24-log":          {width: 80, height: 24, with: noColor, do: func(r *env) { r.press("8") }},
		"120x40-board":       {width: 120, height: 40, with: noColor, do: func(r *env) { r.addBoard(); r.press("b") }},
		"80x24-board":        {width: 80, height: 24, with: noColor, do: func(r *env) { r.addBoard(); r.press("b") }},
		"80x24-tags":         {width: 80, height: 24, with: noColor, do: func(r *env) { r.addBoard(); r.on("stars"); r.press("enter") }},
		"200x60-theme-light": {width: 200, height: 60, with: func(o *DashboardOptions) { o.Theme = "light" }},
		"80x24-lost":         {width: 80, height: 24, with: noColor, do: func(r *env) { r.tell(linkMsg{errNo}) }},
		"80x24-screen":       {width: 80, height: 24, with: noColor, do: func(r *env) { r.press("4") }},
		"80x24-nothing":      {width: 80, height: 24, with: in("nowhere")},
		"120x40":             {width: 120, height: 40, with: noColor},
		"120x40-explain":     {width: 120, height: 40, with: noColor, do: func(r *env) { r.press("3") }},
		"200x60":             {width: 200, height: 60, with: noColor},
		"200x60-dark":        {width: 200, height: 60, with: func(*DashboardOptions) {}},
		"200x60-all-by-cost": {width: 200, height: 60, with: noColor, do: func(r *env) { r.press("f", "f", "s", "s", "s", "s") }},
		"40x10":              {width: 40, height: 10, with: noColor},
		"40x10-form":         {width: 40, height: 10, with: noColor, do: func(r *env) { r.press("c") }},
		"40x10-detail":       {width: 40, height: 10, with: noColor, do: func(r *env) { r.press("tab") }},
		"250x70-graph":       {width: 250, height: 70, with: noColor, do: func(r *env) { r.press("5") }},
		"30x5":               {width: 30, height: 5, with: noColor},
	} {
		t.Run(name, func(t *testing.T) {
			r := newEnv(t, tt.width, tt.height, tt.with)
			r.m.applyFilter(func(c *overview.Choice) { c.Group = overview.TurnGroup }) // as it begins
			r.press("home")
			if tt.light {
				r.tell(tea.BackgroundColorMsg{Color: color.White})
			}
			if tt.do != nil {
				tt.do(r)
			}
			golden(t, name, r.m.View().Content+"\n")
		})
	}
}

func golden(t *testing.T, name, got string) {
	t.Helper()
	path := filepath.Join("testdata", name+".golden")
	if *update {
		if err := os.WriteFile(path, []byte(got), 0o644); err != nil {
			t.Fatal(err)
		}
		return
	}
	want, err := os.ReadFile(path)
	if err != nil {
		t.Fatal(err)
	}
	if d := cmp.Diff(string(want), got); d != "" {
		t.Errorf("%s (go test ./internal/ui/tui -update writes it):\n%s", name, d)
	}
}
