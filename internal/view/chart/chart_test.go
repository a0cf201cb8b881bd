package chart_test

import (
	"encoding/xml"
	"errors"
	"io"
	"regexp"
	"strings"
	"testing"

	"orange/internal/core/simulate"
	"orange/internal/core/workflow"
	"orange/internal/core/workflow/builtin"
	"orange/internal/view/chart"
)

// played simulates a workflow that comes with the program.
func played(t *testing.T, runs int) chart.Variant {
	t.Helper()
	text, _ := builtin.Text("orange")
	def, err := workflow.Parse("orange.yaml", text)
	if err != nil {
		t.Fatal(err)
	}
	if runs == 0 {
		return chart.Variant{}
	}
	r, err := simulate.Run(def, simulate.RunOptions{Profile: simulate.DefaultProfile(def), Seed: 1}, 0, runs)
	if err != nil {
		t.Fatal(err)
	}
	return chart.Variant{Result: r, Summary: r.Summary(def)}
}

func wellFormed(t *testing.T, text string) {
	t.Helper()
	for dec := xml.NewDecoder(strings.NewReader(text)); ; {
		if _, err := dec.Token(); errors.Is(err, io.EOF) {
			return
		} else if err != nil {
			t.Fatal(err)
		}
	}
}

func TestDrawings(t *testing.T) {
	one := played(t, 300)
	two := played(t, 100)
	two.Changes = `review_round = <b>"3"`
	tests := map[string]struct {
		variants []chart.Variant
		says     []string
		never    string
	}{
		"one variant":    {[]chart.Variant{one}, []string{"300 runs, seed 1", "P95", "cost in dollars"}, "what if"},
		"two variants":   {[]chart.Variant{one, two}, []string{"as is", "what if review_round = &lt;b&gt;&#34;3&#34;", "curve v1"}, ""},
		"one run":        {[]chart.Variant{played(t, 1)}, []string{"P50"}, "NaN"},
		"no run at all":  {[]chart.Variant{played(t, 0)}, []string{"it is always nothing"}, "NaN"},
		"nothing at all": {nil, []string{"it is always nothing"}, "NaN"},
	}
	for name, tt := range tests {
		t.Run(name, func(t *testing.T) {
			s := chart.Simulation{Workflow: "<x>\x07", Runs: 300, Seed: 1, Variants: tt.variants}
			alone, inPage := s.SVG(), s.InlineSVG()
			wellFormed(t, alone)
			wellFormed(t, inPage)
			for _, says := range tt.says {
				if !strings.Contains(alone, says) {
					t.Errorf("it does not say %q", says)
				}
			}
			if tt.never != "" && strings.Contains(alone, tt.never) {
				t.Errorf("it says %q", tt.never)
			}
			if strings.Contains(inPage, "<style") || strings.Contains(inPage, " style=") || !strings.Contains(inPage, `class="plot-title"`) || !strings.Contains(inPage, "&lt;x&gt; ") {
				t.Errorf("in a page: %.300s", inPage)
			}
		})
	}
}

func TestTheLooksOfDrawingsTouchNothingElse(t *testing.T) {
	css := chart.CSS()
	for rule := range strings.Lines(css) {
		if !strings.HasPrefix(rule, ".chart") && !strings.HasPrefix(rule, "@media") && rule != "}\n" {
			t.Errorf("%q is about more than drawings", rule)
		}
	}
	s := chart.Simulation{Variants: []chart.Variant{played(t, 50), played(t, 40)}}
	for _, attribute := range regexp.MustCompile(`class="[^"]*"`).FindAllString(s.InlineSVG(), -1) {
		for name := range strings.FieldsSeq(strings.TrimSuffix(strings.TrimPrefix(attribute, `class="`), `"`)) {
			if name != "chart" && !strings.Contains(css, "."+name+" ") {
				t.Errorf("%q has no look", name)
			}
		}
	}
}

func TestTexts(t *testing.T) {
	tests := map[string][2]string{
		"seconds":          {chart.FormatQuantity(59, simulate.Seconds, false), "59s"},
		"minutes":          {chart.FormatDuration(61), "1m01s"},
		"hours":            {chart.FormatDuration(3600 * 26), "26h00m"},
		"days":             {chart.FormatDuration(3600 * 50), "2d02h"},
		"dollars":          {chart.FormatQuantity(1.239, simulate.Dollars, false), "$1.24"},
		"tokens":           {chart.FormatQuantity(1234567, simulate.Tokens, false), "1.23M"},
		"a count":          {chart.FormatQuantity(3, simulate.Count, false), "3"},
		"a mean count":     {chart.FormatQuantity(3, simulate.Count, true), "3.00"},
		"a part":           {chart.FormatPercent(0.125), "12.5%"},
		"less":             {chart.FormatSigned(-2, chart.FormatDuration), "-2s"},
		"more":             {chart.FormatSigned(2, chart.FormatDuration), "+2s"},
		"no difference":    {chart.FormatSigned(-0.2, chart.FormatDuration), "0s"},
		"a number of many": {chart.FormatGrouped(1234567), "1,234,567"},
		"a number of few":  {chart.FormatGrouped(12), "12"},
	}
	for name, tt := range tests {
		if tt[0] != tt[1] {
			t.Errorf("%s: got %q, want %q", name, tt[0], tt[1])
		}
	}
}
