package render

import (
	"fmt"
	"time"

	"orange/internal/core/explain"
	"orange/internal/view/humanize"
	"orange/internal/view/narrate"
)

// RenderExplanation renders why a task is in its state: who must act, what helps, which edges lead on and what keeps
// them closed, and what the engine will do by itself.
func (t Theme) RenderExplanation(x explain.Explanation, now time.Time, width int) []string {
	if width < 1 {
		return nil
	}
	s := t.newSheet(width)
	s.putOwner(&x, now)
	for _, r := range x.Reasons {
		s.beginPart(oneLine(narrate.DescribeReason(r)))
		s.lines = append(s.lines, t.RenderMarkdown(r.Text, width)...)
	}
	s.putWays(x.Edges)
	s.putBounds(x.Bounds)
	s.putNextSteps(x.Next, now)
	s.putCosts(x.Cost)
	s.putRefusals(&x, now)
	if x.Problem != "" {
		s.beginPart("How it came here cannot be told")
		s.putWrapped(indentStrip(2), indentStrip(2), strip{{oneLine(x.Problem), s.bad}})
	}
	return s.lines
}

// beginPart begins a part of the explanation.
func (s *sheet) beginPart(name string) {
	s.putBlank()
	s.putLine(strip{{name, s.title}})
}

func (s *sheet) putOwner(x *explain.Explanation, now time.Time) {
	var head strip
	head.addText(s.strong, x.Status)
	head.addTextf(s.faint, " for %s, visit %d", humanize.FormatAge(now, x.Since), x.Visit)
	s.putWrapped(nil, nil, head)
	style := s.busy
	if x.Owner == explain.APerson {
		style = s.warn
	}
	var who strip
	who.addText("", "Who must act: ")
	who.addText(style+bold, x.Owner)
	s.putWrapped(nil, nil, who)
	s.putWrapped(indentStrip(2), indentStrip(2), strip{{oneLine(shortOf(x.Why)), s.text}})
	s.putCheapest(x.Cheapest)
	if x.Confirm != "" {
		s.putWrapped(strip{{"Confirm: ", s.faint}}, indentStrip(9), strip{{oneLine(x.Confirm), s.text}})
	}
	if x.Deadline != nil {
		var line strip
		label, text := narrate.DescribeTimer(x.Deadline, now)
		line.addText(s.faint, label+" ")
		line.addText(s.text, oneLine(text))
		s.putWrapped(nil, indentStrip(2), line)
	}
}

func (s *sheet) putCheapest(u explain.Unblock) {
	say := func(label, text string, style pen) {
		if text != "" {
			s.putWrapped(strip{{label + " ", s.faint}}, indentStrip(len(label)+1), strip{{oneLine(text), style}})
		}
	}
	if u.Action.Verb == "" {
		say("Wait for:", u.Opens, s.text)
		return
	}
	say("First:", u.Edit, s.text)
	say("Run:", narrate.FormatCommand(u.Action), s.key)
	say("Then:", u.Opens, s.text)
}

func (s *sheet) putBounds(list []explain.Bound) {
	if len(list) > 0 {
		s.beginPart("Bounds")
	}
	for _, b := range list {
		s.putWrapped(indentStrip(2), indentStrip(2), strip{{oneLine(narrate.DescribeBound(b)), s.text}})
	}
}

func (s *sheet) putWays(edges []explain.Way) {
	if len(edges) == 0 {
		return
	}
	s.beginPart("Ways out")
	for i := range edges {
		s.putWay(&edges[i])
	}
}

func (s *sheet) putWay(w *explain.Way) {
	mark, style := "✗ ", s.bad
	if w.Open {
		mark, style = "✓ ", s.good
	}
	var line strip
	line.addText(s.strong, w.To)
	how := w.On
	if w.As != "" {
		how = w.As
	}
	line.addText(s.faint, "  "+how)
	if w.By != "" {
		line.addText(s.faint, " by "+w.By)
	}
	s.putWrapped(strip{{mark, style}}, indentStrip(4), line)
	for _, r := range w.Reasons {
		if !r.OK {
			s.putWrapped(indentStrip(4), indentStrip(4), strip{{oneLine(fmt.Sprintf("%s: %s", r.Rule, shortOf(r.Text))), s.warn}})
		}
	}
}

func (s *sheet) putNextSteps(steps []explain.Step, now time.Time) {
	s.beginPart("What the engine does next")
	if len(steps) == 0 {
		s.putLine(append(indentStrip(2), piece{"nothing by itself", s.faint}))
	}
	for _, step := range steps {
		var line strip
		line.addText(s.busy, humanize.DescribeUntil(now, step.At))
		line.addText(s.text, ": "+shortOf(step.What))
		s.putWrapped(indentStrip(2), indentStrip(4), line)
	}
}

func (s *sheet) putCosts(list []explain.RoleCost) {
	if len(list) == 0 {
		return
	}
	s.beginPart("Cost so far")
	for _, c := range list {
		s.putWrapped(indentStrip(2), indentStrip(4), strip{{oneLine(narrate.DescribeCost(c)), s.text}})
	}
}

// refusalsShown is how many refusals are shown; the newest are.
const refusalsShown = 5

func (s *sheet) putRefusals(x *explain.Explanation, now time.Time) {
	n := len(x.Refusals)
	if n == 0 {
		return
	}
	s.beginPart(fmt.Sprintf("Refused so far: %d", n))
	for _, r := range x.Refusals[max(0, n-refusalsShown):] {
		var line strip
		line.addText(s.faint, humanize.FormatAge(now, r.At)+" ago ")
		line.addText(s.bad, shortOf(narrate.DescribeRefusal(r)))
		s.putWrapped(indentStrip(2), indentStrip(4), line)
	}
}
