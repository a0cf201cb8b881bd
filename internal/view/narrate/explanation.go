package narrate

import (
	"fmt"
	"strings"
	"time"

	"orange/internal/core/engine"
	"orange/internal/core/explain"
	"orange/internal/core/journal"
	"orange/internal/core/signal"
	"orange/internal/core/task"
	"orange/internal/core/workflow"
	"orange/internal/view/humanize"
)

// textWidth is the width of an explanation's lines.
const textWidth = 80

// DescribeExplanation describes an explanation, in the same words for every surface. Some of the words
// come from agents and trackers: a surface must remove what it cannot show safely.
func DescribeExplanation(x explain.Explanation, now time.Time) string {
	p := &textWriter{now: now}
	p.writeLine("%s is %s for %s, since %s (visit %d)", humanize.ShortID(string(x.Task)), x.Status, humanize.FormatAge(now, x.Since), humanize.FormatTime(now, x.Since), x.Visit)
	p.writeLine("")
	p.writeLine("Who must act: %s", x.Owner)
	p.writeWrapped("  ", x.Why)
	p.writeReasons(x.Reasons)
	p.writeCheapest(x.Cheapest)
	if x.Confirm != "" {
		p.writeWrapped("", "Confirm: "+x.Confirm)
	}
	if x.Deadline != nil {
		label, text := DescribeTimer(x.Deadline, now)
		p.WriteString(strings.Replace(humanize.Wrap(label+" "+text, "  ", textWidth), "  ", "", 1) + "\n")
	}
	p.writeDependencies(&x)
	p.writeWays(&x)
	p.writeBounds(x.Bounds)
	p.writeNextSteps(x.Next)
	p.writePast(&x)
	return p.String()
}

// textWriter builds the text of an explanation.
type textWriter struct {
	strings.Builder
	now time.Time
}

func (p *textWriter) writeLine(format string, args ...any) {
	p.WriteString(fmt.Sprintf(format, args...) + "\n")
}

func (p *textWriter) writeWrapped(indent, text string) {
	if text != "" {
		p.WriteString(humanize.Wrap(text, indent, textWidth) + "\n")
	}
}

// writeHeading starts a section of the text.
func (p *textWriter) writeHeading(format string, args ...any) { p.writeLine("\n"+format, args...) }

// writeCheapest writes the least that helps. A command gets its own line, so that it can be copied.
func (p *textWriter) writeCheapest(u explain.Unblock) {
	if u.Action.Verb == "" {
		if u.Opens == "" {
			return
		}
		p.writeWrapped("", "Wait for: "+u.Opens)
		return
	}
	if u.Edit != "" {
		p.writeWrapped("", "First: "+u.Edit)
	}
	p.writeLine("Run: %s", FormatCommand(u.Action))
	p.writeWrapped("  ", "then: "+u.Opens)
}

// writeReasons writes why the task waits. It keeps line breaks, because the text may contain lists.
func (p *textWriter) writeReasons(list []explain.WaitReason) {
	for _, r := range list {
		p.writeLine("%s:", DescribeReason(r))
		for line := range strings.Lines(r.Text) {
			p.writeLine("%s", strings.TrimRight("  | "+line, " \n"))
		}
	}
}

// writeDependencies writes which tasks the task is after, and which are after it.
func (p *textWriter) writeDependencies(x *explain.Explanation) {
	if text := ListPredecessors(x.After); text != "" {
		p.writeWrapped("", "After: "+text)
	}
	if text := ListReferences(x.Unblocks); text != "" {
		p.writeWrapped("", "Unblocks: "+text)
	}
}

func (p *textWriter) writeWays(x *explain.Explanation) {
	if len(x.Edges) > 0 {
		p.writeHeading("Ways out, by workflow %s", x.Workflow)
	}
	for i := range x.Edges {
		p.writeWay(&x.Edges[i])
	}
}

// writeWay writes an edge and every rule that was checked for it.
func (p *textWriter) writeWay(e *explain.Way) {
	const indent = "          "
	mark := "closed"
	if e.Open {
		mark = "open"
	}
	p.writeLine("  %-6s  -> %s  (line %d)", mark, e.To, e.Line)
	how := "on " + e.On + ", by " + e.By
	if e.As != "" {
		how = "as " + e.As + ", " + how
	}
	p.writeWrapped(indent, how)
	for _, r := range e.Reasons {
		verb := "holds"
		if !r.OK {
			verb = "fails"
		}
		p.writeWrapped(indent, fmt.Sprintf("%s %s: %s", r.Rule, verb, r.Text))
	}
}

func (p *textWriter) writeBounds(list []explain.Bound) {
	if len(list) > 0 {
		p.writeHeading("Bounds")
	}
	for _, b := range list {
		p.writeWrapped("  ", DescribeBound(b))
	}
}

func (p *textWriter) writeNextSteps(steps []explain.Step) {
	p.writeHeading("What the engine does next")
	for _, s := range steps {
		p.writeWrapped("  ", humanize.DescribeUntil(p.now, s.At)+": "+s.What)
	}
	if len(steps) == 0 {
		p.writeLine("  nothing by itself")
	}
}

func (p *textWriter) writePast(x *explain.Explanation) {
	if x.Problem != "" {
		p.writeHeading("How it came here cannot be told")
		p.writeWrapped("  ", x.Problem)
	}
	if len(x.Chain) > 0 {
		p.writeHeading("How it came here")
	}
	for i := range x.Chain {
		p.writeCause(&x.Chain[i])
	}
	if len(x.Cost) > 0 {
		p.writeHeading("Cost so far")
	}
	for _, c := range x.Cost {
		p.writeWrapped("  ", DescribeCost(c))
	}
	if len(x.Refusals) > 0 {
		p.writeHeading("Refused so far: %d", len(x.Refusals))
	}
	for _, r := range x.Refusals[max(0, len(x.Refusals)-maxRefusals):] {
		p.writeWrapped("  ", humanize.FormatTime(p.now, r.At)+" "+DescribeRefusal(r))
	}
}

// maxRefusals limits how many refusals the text shows. It shows the newest.
const maxRefusals = 5

// DescribeRefusal describes who asked for what, and why it was refused.
func DescribeRefusal(r journal.Refusal) string {
	return strings.TrimSpace(string(r.Kind)+" "+r.Asked) + describeActor(string(r.Actor), r.Attempt) + ": " + r.Why + describeVia(r.Via)
}

func (p *textWriter) writeCause(c *explain.Cause) {
	const indent = "        "
	head := fmt.Sprintf("%s %s%s", humanize.FormatTime(p.now, c.At), c.Signal, describeActor(string(c.Actor), c.Attempt))
	what := string(c.Type)
	if c.To != "" {
		what = c.To
		if c.From != "" {
			what = c.From + " -> " + c.To
		}
	}
	p.writeLine("  #%-4d %s", c.Seq, strings.TrimSpace(humanize.Wrap(head+": "+what, indent, textWidth)))
	var rule []string
	if c.Line > 0 {
		rule = append(rule, fmt.Sprintf("line %d", c.Line))
	}
	for _, text := range []string{c.Reason, c.Note} {
		if text != "" {
			rule = append(rule, text)
		}
	}
	p.writeWrapped(indent, strings.Join(rule, ": "))
	for _, d := range c.Effects {
		p.writeWrapped(indent, "do "+DescribeEffect(d))
	}
}

func describeActor(actor string, attempt int) string {
	switch {
	case actor == "":
		return ""
	case attempt > 0:
		return fmt.Sprintf(" by %s (attempt %d)", actor, attempt)
	}
	return " by " + actor
}

// describeVia describes where an action came from. The text follows the name of the actor.
func describeVia(v *signal.Via) string {
	if v == nil {
		return ""
	}
	return " (" + v.String() + ")"
}

// DescribeEffect describes how an effect ended. It names the effect as workflow files do.
func DescribeEffect(d explain.EffectOutcome) string {
	return effectText(strings.TrimSpace(d.Do+" "+d.Role), d)
}

// DescribeEffectInWords describes how an effect ended, without names of workflow files.
func DescribeEffectInWords(d explain.EffectOutcome) string {
	name := d.Do
	switch info, known := workflow.EffectNamed(d.Do); {
	case info.Kills && d.Role == "":
		name = "end all agents"
	case info.Kills:
		name = "end the " + d.Role
	case info.Spawns:
		name = "start the " + d.Role
	case info.Notifies:
		name = "tell the " + d.Role
	case known:
		name, _, _ = strings.Cut(info.Describe, ",")
	}
	return effectText(name, d)
}

func effectText(name string, d explain.EffectOutcome) string {
	text := name + ": " + string(d.Ended)
	if d.Tries > 1 {
		text += fmt.Sprintf(" after %d tries", d.Tries)
	}
	if d.Error != "" {
		text += " (" + d.Error + ")"
	}
	return text
}

// DescribeCost describes what a role's agents have used so far.
func DescribeCost(c explain.RoleCost) string {
	tries := "attempts"
	if c.Attempts == 1 {
		tries = "attempt"
	}
	text := fmt.Sprintf("%s: %d %s, %s at work", c.Role, c.Attempts, tries, humanize.FormatDuration(time.Duration(c.Seconds)*time.Second))
	if c.Living > 0 {
		text += fmt.Sprintf(", %d living", c.Living)
	}
	return text
}

// DescribeBound describes the value of a counter and what happens at its bound.
func DescribeBound(b explain.Bound) string {
	where := ""
	if b.PerState {
		where = " in this state"
	}
	if b.ByPerson {
		where = " since a person last decided"
	}
	return fmt.Sprintf("%s is %d of %d%s: at %d %s", b.Counter, b.Value, b.Max, where, b.Max, b.Then)
}

// DescribeTimer returns the name of a timer as a label, and when it is due and what happens then as
// text.
func DescribeTimer(tm *engine.Timer, now time.Time) (label, text string) {
	label = map[string]string{engine.Deadline: "Deadline:", engine.Respawn: "Next start:", engine.LimitEnd: "Limit:"}[tm.Name]
	switch {
	case tm.Cooldown:
		label = "Cooldown:"
	case label == "":
		label = "Timer " + tm.Name + ":"
	}
	return label, humanize.DescribeUntil(now, tm.At) + ": " + tm.What
}

// DescribeReason returns the title of a reason, and who gave it.
func DescribeReason(r explain.WaitReason) string {
	switch r.By {
	case "":
		return r.Kind.Title()
	case string(task.Human):
		return r.Kind.Title() + " (" + explain.APerson + ")"
	}
	return r.Kind.Title() + " (" + r.By + ")"
}
