package engine

import (
	"fmt"
	"strings"
	"time"

	"orange/internal/core/journal"
	"orange/internal/core/prose"
	"orange/internal/core/signal"
)

// textWidth is the width of an explanation's lines.
const textWidth = 80

// Text is the explanation in words, the same for every surface. Some of the words come
// from agents and trackers: a surface takes out what it must not show.
func (x Explanation) Text(now time.Time) string {
	p := &paper{now: now}
	p.line("%s is %s for %s, since %s (visit %d)", prose.Short(string(x.Task)), x.Status, prose.Age(now, x.Since), prose.Clock(now, x.Since), x.Visit)
	p.line("")
	p.line("Who must act: %s", x.Owner)
	p.wrapped("  ", x.Why)
	p.reasons(x.Reasons)
	p.cheapest(x.Cheapest)
	if x.Confirm != "" {
		p.wrapped("", "Confirm: "+x.Confirm)
	}
	if x.Deadline != nil {
		label, text := x.NextTimer(now)
		p.WriteString(strings.Replace(prose.Wrap(label+" "+text, "  ", textWidth), "  ", "", 1) + "\n")
	}
	p.ways(&x)
	p.bounds(x.Bounds)
	p.next(x.Next)
	p.past(&x)
	return p.String()
}

// paper is what the text is written on.
type paper struct {
	strings.Builder
	now time.Time
}

func (p *paper) line(format string, args ...any) {
	p.WriteString(fmt.Sprintf(format, args...) + "\n")
}

func (p *paper) wrapped(indent, text string) {
	if text != "" {
		p.WriteString(prose.Wrap(text, indent, textWidth) + "\n")
	}
}

// heading begins a part of the text.
func (p *paper) heading(format string, args ...any) { p.line("\n"+format, args...) }

// cheapest says the least that helps. A command stands on a line of its own, so that
// it can be copied.
func (p *paper) cheapest(u Unblock) {
	if u.Run == "" {
		if u.Opens == "" {
			return
		}
		p.wrapped("", "Wait for: "+u.Opens)
		return
	}
	if u.Edit != "" {
		p.wrapped("", "First: "+u.Edit)
	}
	p.line("Run: %s", u.Run)
	p.wrapped("  ", "then: "+u.Opens)
}

// reasons shows why the task waits. Its lines stay lines: lists are in it.
func (p *paper) reasons(list []WaitReason) {
	for _, r := range list {
		p.line("%s:", r.Heading())
		for line := range strings.Lines(r.Text) {
			p.line("%s", strings.TrimRight("  | "+line, " \n"))
		}
	}
}

func (p *paper) ways(x *Explanation) {
	if len(x.Edges) > 0 {
		p.heading("Ways out, by workflow %s", x.Workflow)
	}
	for i := range x.Edges {
		p.way(&x.Edges[i])
	}
}

// way shows an edge and every rule that was weighed for it.
func (p *paper) way(e *Way) {
	const indent = "          "
	mark := "closed"
	if e.Open {
		mark = "open"
	}
	p.line("  %-6s  -> %s  (line %d)", mark, e.To, e.Line)
	how := "on " + e.On + ", by " + e.By
	if e.As != "" {
		how = "as " + e.As + ", " + how
	}
	p.wrapped(indent, how)
	for _, r := range e.Reasons {
		verb := "holds"
		if !r.OK {
			verb = "fails"
		}
		p.wrapped(indent, fmt.Sprintf("%s %s: %s", r.Rule, verb, r.Text))
	}
}

func (p *paper) bounds(list []Bound) {
	if len(list) > 0 {
		p.heading("Bounds")
	}
	for _, b := range list {
		p.wrapped("  ", b.String())
	}
}

func (p *paper) next(steps []Step) {
	p.heading("What the engine does next")
	for _, s := range steps {
		p.wrapped("  ", prose.When(p.now, s.At)+": "+s.What)
	}
	if len(steps) == 0 {
		p.line("  nothing by itself")
	}
}

func (p *paper) past(x *Explanation) {
	if x.Problem != "" {
		p.heading("How it came here cannot be told")
		p.wrapped("  ", x.Problem)
	}
	if len(x.Chain) > 0 {
		p.heading("How it came here")
	}
	for i := range x.Chain {
		p.cause(&x.Chain[i])
	}
	if len(x.Cost) > 0 {
		p.heading("Cost so far")
	}
	for _, c := range x.Cost {
		p.wrapped("  ", CostText(c))
	}
	if len(x.Refusals) > 0 {
		p.heading("Refused so far: %d", len(x.Refusals))
	}
	for _, r := range x.Refusals[max(0, len(x.Refusals)-refusalsTold):] {
		p.wrapped("  ", prose.Clock(p.now, r.At)+" "+RefusalText(r))
	}
}

// refusalsTold is how many refusals the text shows, the newest.
const refusalsTold = 5

// RefusalText says who asked for what, and why it was refused.
func RefusalText(r journal.Refusal) string {
	return strings.TrimSpace(string(r.Kind)+" "+r.Asked) + by(string(r.Actor), r.Attempt) + ": " + r.Why + via(r.Via)
}

func (p *paper) cause(c *Cause) {
	const indent = "        "
	head := fmt.Sprintf("%s %s%s", prose.Clock(p.now, c.At), c.Signal, by(string(c.Actor), c.Attempt))
	what := string(c.Type)
	if c.To != "" {
		what = c.To
		if c.From != "" {
			what = c.From + " -> " + c.To
		}
	}
	p.line("  #%-4d %s", c.Seq, strings.TrimSpace(prose.Wrap(head+": "+what, indent, textWidth)))
	var rule []string
	if c.Line > 0 {
		rule = append(rule, fmt.Sprintf("line %d", c.Line))
	}
	for _, text := range []string{c.Reason, c.Note} {
		if text != "" {
			rule = append(rule, text)
		}
	}
	p.wrapped(indent, strings.Join(rule, ": "))
	for _, d := range c.Effects {
		p.wrapped(indent, "do "+deedText(d))
	}
}

func by(actor string, attempt int) string {
	switch {
	case actor == "":
		return ""
	case attempt > 0:
		return fmt.Sprintf(" by %s (attempt %d)", actor, attempt)
	}
	return " by " + actor
}

// via says where an action came from, to be put behind who asked.
func via(v *signal.Via) string {
	if v == nil {
		return ""
	}
	return " (" + v.String() + ")"
}

func deedText(d Deed) string {
	text := strings.TrimSpace(d.Do+" "+d.Role) + ": " + string(d.Ended)
	if d.Tries > 1 {
		text += fmt.Sprintf(" after %d tries", d.Tries)
	}
	if d.Error != "" {
		text += " (" + d.Error + ")"
	}
	return text
}

// CostText says what a role's agents took so far.
func CostText(c RoleCost) string {
	tries := "attempts"
	if c.Attempts == 1 {
		tries = "attempt"
	}
	text := fmt.Sprintf("%s: %d %s, %s at work", c.Role, c.Attempts, tries, prose.Span(time.Duration(c.Seconds)*time.Second))
	if c.Living > 0 {
		text += fmt.Sprintf(", %d living", c.Living)
	}
	return text
}
