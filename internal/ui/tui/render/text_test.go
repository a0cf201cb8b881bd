package render

import (
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"orange/internal/core/journal"
	"orange/internal/view/ansi"
	"orange/internal/view/diff"
)

func TestFit(t *testing.T) {
	tests := map[string]struct {
		text  string
		width int
		want  string
	}{
		"filled up":                {"ab", 4, "ab  "},
		"as long as it may be":     {"abcd", 4, "abcd"},
		"cut":                      {"abcde", 4, "abc…"},
		"one column":               {"abc", 1, "…"},
		"no column":                {"abc", 0, ""},
		"wide":                     {"日本語", 6, "日本語"},
		"a wide one does not fit":  {"日本語", 4, "日… "},
		"a mark stays with it":     {"e\u0301e\u0301e\u0301", 2, "e\u0301…"},
		"marks that are piled up":  {"e" + strings.Repeat("\u0301", 50), 2, "e" + strings.Repeat("\u0301", 4) + " "},
		"a family is three people": {"👩\u200d👩\u200d👧", 6, "👩👩👧"},
		"a flag":                   {"🇩🇪!", 3, "🇩🇪!"},
		"a choice of looks":        {"❤\ufe0f", 2, "❤ "},
		"escapes":                  {"\x1b[31mred\x1b[0m\x1b]0;title\x07", 5, "red  "},
		"lines":                    {" a\nb\tc ", 6, "a b c "},
		"no text":                  {"\xff", 2, "\ufffd "},
	}
	for name, tt := range tests {
		t.Run(name, func(t *testing.T) {
			if got := FitWidth(tt.text, tt.width); got != tt.want {
				t.Errorf("got %q, want %q", got, tt.want)
			}
		})
	}
}

func TestBroken(t *testing.T) {
	red := pen("red")
	tests := map[string]struct {
		text        strip
		first, rest int
		want        []string
	}{
		"nothing":                      {nil, 5, 5, []string{""}},
		"fits":                         {strip{{"a b", ""}}, 3, 3, []string{"a b"}},
		"between words":                {strip{{"one two three", ""}}, 7, 7, []string{"one two", "three"}},
		"a shorter first line":         {strip{{"one two three", ""}}, 3, 9, []string{"one", "two three"}},
		"within a word":                {strip{{"abcdefgh", ""}}, 3, 3, []string{"abc", "def", "gh"}},
		"a word of two pieces":         {strip{{"ab cd", ""}, {"ef", red}}, 5, 5, []string{"ab", "cdef"}},
		"spaces at the end of a line":  {strip{{"ab    cd", ""}}, 3, 3, []string{"ab", "cd"}},
		"spaces at the beginning":      {strip{{"  ab", ""}}, 9, 9, []string{"  ab"}},
		"wide characters":              {strip{{"日本語日本語", ""}}, 5, 5, []string{"日本", "語日", "本語"}},
		"wider than a line":            {strip{{"日本", ""}}, 1, 1, []string{"日", "本"}},
		"no room at all":               {strip{{"ab", ""}}, -3, 0, []string{"a", "b"}},
		"a long word after a short on": {strip{{"a bcdefg", ""}}, 4, 4, []string{"a", "bcde", "fg"}},
	}
	for name, tt := range tests {
		t.Run(name, func(t *testing.T) {
			var got []string
			for _, l := range breakLines(tt.text, tt.first, tt.rest) {
				text := ""
				for _, p := range l {
					text += p.text
				}
				got = append(got, text)
			}
			if d := cmp.Diff(tt.want, got); d != "" {
				t.Error(d)
			}
		})
	}
}

func TestAStripIsCut(t *testing.T) {
	s := strip{{"one ", ""}, {"two", bold}, {" three", ""}}
	for width, want := range map[int]string{
		13: "one \x1b[1mtwo\x1b[m three", 8: "one \x1b[1mtwo\x1b[m…", 7: "one \x1b[1mtw…\x1b[m", 4: "one…", 1: "…",
	} {
		got := s.cutTo(width)
		if got.columnCount() > width {
			t.Errorf("%d: %q is too wide", width, got)
		}
		if got.String() != want {
			t.Errorf("%d: got %q, want %q", width, got, want)
		}
	}
}

func TestTheLowerPartOfAScreenIsShown(t *testing.T) {
	lines := ansi.ParseLines("one\ntwo\n\nthree\n \n\n")
	if d := cmp.Diff([]string{"", "three"}, NewTheme(true, true).RenderScreen(lines, 10, 2)); d != "" {
		t.Error(d)
	}
	if got := NewTheme(true, true).RenderScreen(nil, 10, 2); len(got) != 0 {
		t.Errorf("nothing shows as %q", got)
	}
}

func TestALongDiffIsCutAndSaysSo(t *testing.T) {
	hunk := diff.Hunk{}
	for i := range maxDiffLines {
		hunk.Lines = append(hunk.Lines, diff.Line{Kind: "+", New: i + 1, Text: "x"})
	}
	got := NewTheme(true, false).RenderDiff([]diff.File{{Path: "a", Hunks: []diff.Hunk{hunk}}, {Path: "b", Hunks: []diff.Hunk{hunk}}}, 60)
	if last := got[len(got)-1]; !strings.Contains(last, "3000 more lines are not shown") || len(got) > maxDiffLines+12 {
		t.Errorf("%d lines, the last is %q", len(got), last)
	}
	if !strings.Contains(strings.Join(got, "\n"), "b") {
		t.Error("the second file is not named")
	}
}

func TestALongTimelineIsCutAndSaysSo(t *testing.T) {
	list := make([]journal.Entry, maxEvents+7)
	for i := range list {
		list[i] = journal.Entry{Seq: i + 1, Type: journal.TaskPaused, At: played}
	}
	got := NewTheme(true, false).RenderTimeline(list, played, 80)
	if !strings.Contains(got[0], "7 earlier things are not shown") || len(got) != maxEvents+1 {
		t.Errorf("%d lines, the first is %q", len(got), got[0])
	}
}

func TestMarksDifferWithoutColour(t *testing.T) {
	list, at := walk([]string{"pending", "planning", "working"})
	text := strings.Join(NewTheme(true, false).RenderGraph(definition(t, "orange"), at, list, 60), "\n")
	for _, want := range []string{"▶ ", "● ", "○ ", "┃", "│", "↩"} {
		if !strings.Contains(text, want) {
			t.Errorf("%q is not there:\n%s", want, text)
		}
	}
}

func TestAStateThatTheWorkflowDoesNotKnow(t *testing.T) {
	list, _ := walk([]string{"pending", "gone"})
	text := strings.Join(NewTheme(true, false).RenderGraph(definition(t, "orange"), "gone", list, 60), "\n")
	if !strings.Contains(text, "is not in this workflow") || !strings.Contains(text, "pending") {
		t.Error(text)
	}
}

func FuzzMarkdown(f *testing.F) {
	f.Add(document, 60)
	for _, s := range nasty {
		f.Add(s, 10)
	}
	f.Fuzz(func(t *testing.T, text string, width int) {
		width = min(width, 200)
		if wrong := sound(NewTheme(true, true).RenderMarkdown(text, width), width, true); wrong != "" {
			t.Errorf("in %d columns: %q", width, wrong)
		}
	})
}

func FuzzScreen(f *testing.F) {
	f.Add(captured, 20)
	f.Fuzz(func(t *testing.T, text string, width int) {
		width = min(width, 200)
		if wrong := sound(NewTheme(true, true).RenderScreen(ansi.ParseLines(text), width, 20), width, true); wrong != "" {
			t.Errorf("in %d columns: %q", width, wrong)
		}
	})
}

func FuzzDiff(f *testing.F) {
	f.Add(changes, 60)
	f.Fuzz(func(t *testing.T, text string, width int) {
		width = min(width, 200)
		if wrong := sound(NewTheme(true, true).RenderDiff(diff.Parse(text), width), width, true); wrong != "" {
			t.Errorf("in %d columns: %q", width, wrong)
		}
	})
}
