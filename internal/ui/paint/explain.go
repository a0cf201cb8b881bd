package paint

import (
	"fmt"
	"time"

	"orange/internal/core/engine"
	"orange/internal/core/prose"
)

// Explain says why a task is where it is: who must act, what helps, which ways lead on
// and what holds them closed, and what the engine will do by itself.
func (t Theme) Explain(x engine.Explanation, now time.Time, width int) []string {
	if width < 1 {
		return nil
	}
	s := t.sheet(width)
	s.owner(&x, now)
	for _, r := range x.Reasons {
		s.part(oneLine(r.Heading()))
		s.lines = append(s.lines, t.Markdown(r.Text, width)...)
	}
	s.ways(x.Edges)
	s.bounds(x.Bounds)
	s.next(x.Next, now)
	s.cost(x.Cost)
	s.refusals(&x, now)
	if x.Problem != "" {
		s.part("How it came here cannot be told")
		s.wrap(indent(2), indent(2), strip{{oneLine(x.Problem), s.bad}})
	}
	return s.lines
}

// part begins a part of the explanation.
func (s *sheet) part(name string) {
	s.blank()
	s.put(strip{{name, s.title}})
}

func (s *sheet) owner(x *engine.Explanation, now time.Time) {
	var head strip
	head.add(s.strong, x.Status)
	head.addf(s.faint, " for %s, visit %d", prose.Age(now, x.Since), x.Visit)
	s.wrap(nil, nil, head)
	look := s.busy
	if x.Owner == engine.APerson {
		look = s.warn
	}
	var who strip
	who.add("", "Who must act: ")
	who.add(look+bold, x.Owner)
	s.wrap(nil, nil, who)
	s.wrap(indent(2), indent(2), strip{{oneLine(shortOf(x.Why)), s.text}})
	s.cheapest(x.Cheapest)
	if x.Confirm != "" {
		s.wrap(strip{{"Confirm: ", s.faint}}, indent(9), strip{{oneLine(x.Confirm), s.text}})
	}
	if x.Deadline != nil {
		var line strip
		label, text := x.NextTimer(now)
		line.add(s.faint, label+" ")
		line.add(s.text, oneLine(text))
		s.wrap(nil, indent(2), line)
	}
}

func (s *sheet) cheapest(u engine.Unblock) {
	say := func(label, text string, look pen) {
		if text != "" {
			s.wrap(strip{{label + " ", s.faint}}, indent(len(label)+1), strip{{oneLine(text), look}})
		}
	}
	if u.Run == "" {
		say("Wait for:", u.Opens, s.text)
		return
	}
	say("First:", u.Edit, s.text)
	say("Run:", u.Run, s.key)
	say("Then:", u.Opens, s.text)
}

func (s *sheet) bounds(list []engine.Bound) {
	if len(list) > 0 {
		s.part("Bounds")
	}
	for _, b := range list {
		s.wrap(indent(2), indent(2), strip{{oneLine(b.String()), s.text}})
	}
}

func (s *sheet) ways(edges []engine.Way) {
	if len(edges) == 0 {
		return
	}
	s.part("Ways out")
	for i := range edges {
		s.way(&edges[i])
	}
}

func (s *sheet) way(w *engine.Way) {
	mark, look := "✗ ", s.bad
	if w.Open {
		mark, look = "✓ ", s.good
	}
	var line strip
	line.add(s.strong, w.To)
	how := w.On
	if w.As != "" {
		how = w.As
	}
	line.add(s.faint, "  "+how)
	if w.By != "" {
		line.add(s.faint, " by "+w.By)
	}
	s.wrap(strip{{mark, look}}, indent(4), line)
	for _, r := range w.Reasons {
		if !r.OK {
			s.wrap(indent(4), indent(4), strip{{oneLine(fmt.Sprintf("%s: %s", r.Rule, shortOf(r.Text))), s.warn}})
		}
	}
}

func (s *sheet) next(steps []engine.Step, now time.Time) {
	s.part("What the engine does next")
	if len(steps) == 0 {
		s.put(append(indent(2), piece{"nothing by itself", s.faint}))
	}
	for _, step := range steps {
		var line strip
		line.add(s.busy, prose.When(now, step.At))
		line.add(s.text, ": "+shortOf(step.What))
		s.wrap(indent(2), indent(4), line)
	}
}

func (s *sheet) cost(list []engine.RoleCost) {
	if len(list) == 0 {
		return
	}
	s.part("Cost so far")
	for _, c := range list {
		s.wrap(indent(2), indent(4), strip{{oneLine(engine.CostText(c)), s.text}})
	}
}

// refusalsShown is how many refusals are shown, the newest.
const refusalsShown = 5

func (s *sheet) refusals(x *engine.Explanation, now time.Time) {
	n := len(x.Refusals)
	if n == 0 {
		return
	}
	s.part(fmt.Sprintf("Refused so far: %d", n))
	for _, r := range x.Refusals[max(0, n-refusalsShown):] {
		var line strip
		line.add(s.faint, prose.Age(now, r.At)+" ago ")
		line.add(s.bad, shortOf(engine.RefusalText(r)))
		s.wrap(indent(2), indent(4), line)
	}
}
