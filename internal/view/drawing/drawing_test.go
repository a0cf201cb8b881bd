package drawing

import (
	"encoding/xml"
	"errors"
	"io"
	"orange/internal/core/workflow"
	"regexp"
	"strings"
	"testing"
)

// inDrawing lists the classes of every element of a drawing.
func inDrawing(t *testing.T, text string) []string {
	t.Helper()
	var out []string
	for dec := xml.NewDecoder(strings.NewReader(text)); ; {
		tok, err := dec.Token()
		if errors.Is(err, io.EOF) {
			return out
		} else if err != nil {
			t.Fatalf("%v in %s", err, text)
		}
		e, ok := tok.(xml.StartElement)
		if !ok {
			continue
		}
		if e.Name.Local == "style" || e.Name.Local == "script" {
			t.Errorf("there is a %s", e.Name.Local)
		}
		for _, a := range e.Attr {
			if a.Name.Local == "style" || strings.HasPrefix(a.Name.Local, "on") {
				t.Errorf("%s has %s", e.Name.Local, a.Name.Local)
			}
			if a.Name.Local == "class" {
				out = append(out, a.Value)
			}
		}
	}
}

func count(list []string, word string) int {
	n := 0
	for _, s := range list {
		for _, w := range strings.Fields(s) {
			if w == word {
				n++
			}
		}
	}
	return n
}

func TestDrawing(t *testing.T) {
	d, err := workflow.Parse("orange.yaml", builtinFile(t, "../../core/workflow/builtin/orange.yaml"))
	if err != nil {
		t.Fatal(err)
	}
	tests := map[string]struct {
		marks                       Marks
		here, visited, taken, links int
		says                        []string
	}{
		"nothing is marked":      {says: []string{`role="img"`, `class="drawing"`, "Workflow orange. new leads to pending"}},
		"one that just began":    {marks: Marks{Path: []string{"pending"}}, here: 1, visited: 1, taken: 1, says: []string{"walked", "The task is in pending."}},
		"one that went back":     {marks: Marks{Path: []string{"pending", "planning", "working", "agent-review", "working"}, Live: true}, here: 1, visited: 4, taken: 5, says: []string{"wf-live", ">2×</text>"}},
		"one that took a note":   {marks: Marks{Path: []string{"pending", "planning", "cancelled"}}, here: 1, visited: 3, taken: 3, says: []string{"then cancelled"}},
		"states are links":       {marks: Marks{Path: []string{"pending"}, Links: "#s-"}, here: 1, visited: 1, taken: 1, links: 9, says: []string{`role="group"`, `href="#s-agent-review"`, "the task is here"}},
		"a state that is gone":   {marks: Marks{Path: []string{"pending", `<b>"x"`}}, visited: 1, taken: 1, says: []string{"&lt;b&gt;&#34;x&#34;"}},
		"a link that is hostile": {marks: Marks{Links: `"><script>`}, links: 9, says: []string{"&#34;&gt;&lt;script&gt;pending"}},
	}
	for name, tt := range tests {
		t.Run(name, func(t *testing.T) {
			d := d.ForTask(nil)
			text := RenderPage(d, tt.marks)
			classes := inDrawing(t, text)
			labels := 0
			for _, c := range classes {
				if strings.Contains(c, "wf-small") && strings.Contains(c, "wf-taken") {
					labels++
				}
			}
			if got := [4]int{count(classes, "wf-here"), count(classes, "wf-visited"), count(classes, "wf-taken") - labels, strings.Count(text, "<a ")}; got != [4]int{tt.here, tt.visited, tt.taken, tt.links} {
				t.Errorf("here, visited, taken, links: %v", got)
			}
			for _, s := range tt.says {
				if !strings.Contains(text, s) {
					t.Errorf("it does not say %q", s)
				}
			}
			if RenderPage(d, tt.marks) != text {
				t.Error("it is different the second time")
			}
		})
	}
}

func TestALongPathIsShortened(t *testing.T) {
	d, err := workflow.Parse("orange.yaml", builtinFile(t, "../../core/workflow/builtin/orange.yaml"))
	if err != nil {
		t.Fatal(err)
	}
	path := []string{"pending"}
	for range 500 {
		path = append(path, "working", "agent-review")
	}
	if said := describeDrawing(d, Marks{Path: path}); len(said) > 400 || !strings.Contains(said, "The end of its way was") {
		t.Errorf("%d bytes: %.200s", len(said), said)
	}
}

func TestADrawingOfTooMuchSaysSo(t *testing.T) {
	d, err := workflow.Parse("r.yaml", ring(200))
	if err != nil {
		t.Fatal(err)
	}
	text := RenderPage(d, Marks{Path: []string{"s1"}})
	inDrawing(t, text)
	if !strings.Contains(text, "too many states") {
		t.Error(text)
	}
}

func TestTheLooksOfDrawingsTouchNothingElse(t *testing.T) {
	css := CSS()
	d, err := workflow.Parse("orange.yaml", builtinFile(t, "../../core/workflow/builtin/orange.yaml"))
	if err != nil {
		t.Fatal(err)
	}
	for rule := range strings.Lines(css) {
		if strings.HasPrefix(rule, "@") || strings.HasPrefix(rule, "}") {
			continue
		}
		selectors, _, ok := strings.Cut(rule, " {")
		if !ok {
			t.Errorf("no rule: %q", rule)
		}
		for s := range strings.SplitSeq(selectors, ", ") {
			if !strings.HasPrefix(s, ".drawing") {
				t.Errorf("%q is about more than drawings", s)
			}
		}
	}
	known := regexp.MustCompile(`\.wf-[a-z]+`).FindAllString(css, -1)
	for _, c := range inDrawing(t, RenderPage(d, Marks{Path: []string{"pending", "planning", "working", "agent-review", "working"}, Live: true})) {
		for _, name := range strings.Fields(c) {
			unstyled := name == "wf-here" || name == "drawing"
			if !unstyled && count(known, "."+name) == 0 {
				t.Errorf("class %s has no look", name)
			}
		}
	}
	if !strings.Contains(css, "prefers-reduced-motion") || !strings.Contains(css, "prefers-color-scheme: dark") {
		t.Error("it does not ask what people prefer")
	}
}
