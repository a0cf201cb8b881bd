package engine

import (
	"fmt"
	"slices"
	"strings"

	"orange/internal/core/als"
	"orange/internal/core/board"
	"orange/internal/core/journal"
	"orange/internal/core/signal"
	"orange/internal/core/task"
	"orange/internal/core/workflow"
)

// card takes the first edge that waits for a card that looks like this. If none does,
// how it looks is written down. What others do to a card while Orange has still
// something to do to it counts when it is read again.
func (x *decider) card(f *board.Face) Verdict {
	if x.byAgent() {
		return x.refuse("an agent does not say how a card looks: it is read from the board")
	}
	if x.sig.Actor != task.Engine && x.changing() {
		return x.readAgain(f)
	}
	if x.sig.Actor == task.Engine && x.t.Attention != "" { // a person looks first
		return x.looks(f)
	}
	for _, i := range x.def.EdgesFrom(x.t.Status) {
		e := &x.def.Edges[i]
		if !e.Sees(f) || !x.mayTell(workflow.OnBoard, e) || !x.guard(e) || !x.gates(e) {
			continue
		}
		entry := x.entry(journal.AutoAdvanced)
		entry.Reason = "the card is in " + faceText(f)
		return x.takeWith(entry, e, Advance)
	}
	return x.looks(f)
}

// looks writes down how the card looks, if that is new.
func (x *decider) looks(f *board.Face) Verdict {
	if x.t.Face != nil && x.t.Face.Is(*f) {
		return Stay
	}
	e := x.entry(journal.CardSeen)
	e.Face, e.Reason = f, "the card is in "+faceText(f)
	return x.last(e, Record)
}

// readAgain is somebody else's change of a card to which Orange has still something to
// do. The card is read when that is done. If it is being read at this moment it is read
// once more: nobody knows which came first.
func (x *decider) readAgain(f *board.Face) Verdict {
	x.reasons = append(x.reasons, Reason{From: x.t.Status, Rule: RuleEdge, Text: "the card is being changed: it is read again when that is done"})
	reads := 0
	for i := range x.t.Pending {
		if x.t.Pending[i].Do == workflow.ReadCard {
			reads++
		}
	}
	e := x.entry(journal.CardSeen)
	switch soon := x.t.Pending[0].Do != workflow.ReadCard || reads > 1; {
	case soon && len(x.back) == 0:
		return Stay
	case soon:
		e.Reason = "a person changed the card"
		return x.last(e, Record)
	}
	e.Face, e.Reason = f, "the card is in "+faceText(f)
	x.plan(&e).onCard(workflow.Effect{Name: workflow.ReadCard}, task.ByState)
	return x.last(e, Record)
}

// changing says that something is still to be done to the card, and that it is read then.
func (x *decider) changing() bool {
	return slices.ContainsFunc(x.t.Pending, func(e task.Effect) bool { return e.Do == workflow.ReadCard && !e.GivenUp })
}

func faceText(f *board.Face) string {
	if len(f.Tags) == 0 {
		return f.Column + ", without tags"
	}
	return f.Column + " with " + strings.Join(f.Tags, ", ")
}

// onCard plans an effect on the task's card. Those that the worker's result fills in
// become several.
func (p *plan) onCard(w workflow.Effect, by string) {
	if p.tracker() == "" {
		return
	}
	switch w.Name {
	case workflow.ApplyActions:
		p.actions(by)
	case workflow.PostResult:
		p.postResult(by)
	case workflow.TagCard:
		p.put(task.Effect{Do: workflow.TagCard, By: by, Tags: []string{p.tag(w.Word)}})
	case workflow.UntagCard:
		p.put(task.Effect{Do: workflow.TagCard, By: by, Untags: []string{p.tag(w.Word)}})
	case workflow.MoveCard:
		p.put(task.Effect{Do: workflow.MoveCard, By: by, Arg: w.Word})
	case workflow.ClaimCard, workflow.ReleaseCard:
		role, _ := p.x.def.Role(p.roleAt(w.Name))
		arg := ""
		if role != nil {
			arg = role.Claim
		}
		p.put(task.Effect{Do: w.Name, By: by, Arg: arg})
	default:
		p.put(task.Effect{Do: w.Name, By: by})
	}
}

// roleAt is whose claim it is: of the state that is entered, or of the one that is left.
func (p *plan) roleAt(do string) string {
	name := p.x.t.Status
	if do == workflow.ClaimCard {
		name = p.state()
	}
	s, ok := p.x.def.State(name)
	if !ok {
		return ""
	}
	return s.Role
}

func (p *plan) tag(name string) string {
	tag, ok := p.x.def.Board.Tag(name)
	if !ok {
		return name
	}
	return tag.Name
}

func (p *plan) tracker() string {
	if n := p.e.New; n != nil {
		return n.TrackerRef
	}
	return p.x.t.TrackerRef
}

// put appends an effect with its id.
func (p *plan) put(e task.Effect) {
	e.ID = task.EffectID(p.e.Task, p.e.Seq, len(p.e.Effects))
	p.e.Effects = append(p.e.Effects, e)
}

// comment posts an agent's words on the task's card, if it is on a board.
func (p *plan) comment(text string) { p.say(p.speaker(), text) }

// remark posts words of Orange's own.
func (p *plan) remark(text string) { p.say("", text) }

func (p *plan) say(role, text string) {
	if p.tracker() != "" && strings.TrimSpace(text) != "" {
		p.put(task.Effect{Do: workflow.CommentCard, By: task.ByState, Role: role, Text: cut(text, maxComment), Aside: p.aside()})
	}
}

// aside says that nothing waits for what is written to the tracker: the workflow does
// not read its cards to see what comes next.
func (p *plan) aside() bool { return p.x.def.Board == nil }

// project shows the state that is entered as the tracker's column for it, where that is
// another one than before.
func (p *plan) project(s *workflow.State) {
	if p.tracker() == "" {
		return
	}
	column := p.x.def.Projected(s.Name)
	if column == "" || column == p.shown() {
		return
	}
	p.put(task.Effect{Do: workflow.MoveCard, By: task.ByState, Arg: column, Aside: true})
}

// shown is the column in which the tracker was to show the task so far. A state without
// one, such as a halt, leaves the issue where it was.
func (p *plan) shown() string {
	if p.x.t.Seq == 0 {
		return ""
	}
	if column := p.x.def.Projected(p.x.t.Status); column != "" {
		return column
	}
	return p.x.def.Projected(p.x.t.ReturnTo)
}

func (p *plan) speaker() string {
	if p.e.Said != nil {
		return p.e.Said.Role
	}
	return ""
}

// maxComment bounds a comment, in bytes.
const maxComment = 16 << 10

// actions plans what a worker's result wants done on the board, as far as the file lets
// its role: tags, comment, column, description, in that order. What is not done is
// written down with the reason.
func (p *plan) actions(by string) {
	r := p.x.report()
	if r == nil || r.Actions == nil {
		return
	}
	a := r.Actions
	add, remove := append(p.allowedTags(a.AddTags), p.needsPerson(a)...), p.knownTags(a.RemoveTags)
	remove = slices.DeleteFunc(remove, func(tag string) bool { return slices.Contains(add, tag) })
	if len(add)+len(remove) > 0 {
		p.put(task.Effect{Do: workflow.TagCard, By: by, Tags: add, Untags: remove})
	}
	column := p.allowedColumn(a.Column)
	p.claims(a.Git)
	if r.Handoff != nil && p.e.Handoff == nil {
		p.reject("stage_context is not the %s's own, or too long: it is not kept", p.speaker())
	}
	p.comment(p.statusComment(r, add, remove))
	if h := p.e.Handoff; h != nil {
		p.comment(h.ALS().String())
	}
	if column != "" {
		p.put(task.Effect{Do: workflow.MoveCard, By: by, Arg: column})
	}
	if len(a.Description) > board.MaxDescription {
		p.reject("update_description has %d bytes and the limit is %d", len(a.Description), board.MaxDescription)
	} else if a.Description != "" {
		p.put(task.Effect{Do: workflow.DescribeCard, By: by, Text: a.Description, Arg: p.described()})
	}
}

// postResult tells the board what an agent said at its end. Of a worker's result it is
// the comment and the errors; none of its wishes is done.
func (p *plan) postResult(by string) {
	r := p.x.report()
	if r == nil || r.Actions == nil {
		p.comment(p.x.sig.Final)
		return
	}
	if flag := p.needsPerson(r.Actions); len(flag) > 0 {
		p.put(task.Effect{Do: workflow.TagCard, By: by, Tags: flag})
	}
	p.comment(p.statusComment(r, nil, nil))
}

// needsPerson calls a person if the worker asks for one, and returns its flag.
func (p *plan) needsPerson(a *signal.Actions) []string {
	if a.NeedsHuman == "" {
		return nil
	}
	p.e.Attention = fmt.Sprintf("the %s needs a person: %s", p.speaker(), clip(a.NeedsHuman))
	role, _ := p.x.def.Role(p.speaker())
	if role == nil || role.Flag == "" {
		return nil
	}
	return []string{role.Flag}
}

// allowedColumn is the column that a worker may move the card to, "" if it may not.
func (p *plan) allowedColumn(name string) string {
	if name == "" {
		return ""
	}
	column, ok := p.x.def.Board.Column(name)
	switch {
	case !ok:
		p.reject("column %q is not known on this board: the card is not moved", clip(name))
	case !slices.Contains(column.By, task.Actor(p.speaker())):
		p.reject("moving a card to %s is not the %s's to ask for", column.Name, p.speaker())
	default:
		return column.Name
	}
	return ""
}

// described is the description that the worker was shown, as a fingerprint.
func (p *plan) described() string {
	if p.x.t.Face == nil {
		return ""
	}
	return p.x.t.Face.Described
}

func (p *plan) reject(format string, args ...any) {
	p.e.Rejected = append(p.e.Rejected, fmt.Sprintf(format, args...))
}

// allowedTags keeps those tags that the role may set, in the board's spelling.
func (p *plan) allowedTags(names []string) []string {
	var out []string
	for _, name := range names {
		tag, ok := p.x.def.Board.Tag(name)
		switch {
		case !ok:
			p.reject("tag %q is not known on this board: it is not set", clip(name))
		case !slices.Contains(tag.By, task.Actor(p.speaker())):
			p.reject("tag %s is not the %s's to set", tag.Name, p.speaker())
		case !slices.Contains(out, tag.Name):
			out = append(out, tag.Name)
		}
	}
	return out
}

func (p *plan) knownTags(names []string) []string {
	var out []string
	for _, name := range names {
		tag, ok := p.x.def.Board.Tag(name)
		switch {
		case !ok:
			p.reject("tag %q is not known on this board: it is not taken off", clip(name))
		case tag.OnlyPeople():
			if f := p.x.t.Face; f != nil && slices.Contains(f.Tags, tag.Name) {
				p.reject("tag %s is a person's: it is not taken off", tag.Name)
			}
		case !slices.Contains(out, tag.Name):
			out = append(out, tag.Name)
		}
	}
	return out
}

// claims compares what a worker says it did to the repository with what was found, and
// links its pull request.
func (p *plan) claims(g *signal.GitActions) {
	if g == nil {
		return
	}
	for _, e := range p.x.sig.Evidence {
		if e.Name == workflow.ClaimsFact && !e.Holds {
			p.reject("what it says about the repository does not hold: %s", clip(e.Detail))
			return
		}
	}
	if g.PR != nil && strings.HasPrefix(g.PR.URL, "https://") && g.PR.URL != p.x.t.PRURL {
		p.e.Fields = append(p.e.Fields, signal.Field{Name: "pr_url", From: p.x.t.PRURL, To: clip(g.PR.URL)})
	}
}

// statusComment is the worker's comment in ALS/1. Who it is from and which tags change
// is Orange's to say, whatever the worker wrote.
func (p *plan) statusComment(r *signal.Report, add, remove []string) string {
	c, err := als.Parse(r.Actions.Comment)
	if err != nil {
		c = als.Comment{}.With(textField(als.Actor, "")).With(textField(als.Intent, "status")).With(textField(als.Action, p.x.t.Status)).
			With(listField(als.TagsAdd, nil)).With(listField(als.TagsRemove, nil)).With(textField(als.Summary, clip(r.Detail)))
		for line := range strings.Lines(cut(r.Actions.Comment, 4096)) {
			if line = strings.TrimSpace(line); line != "" {
				c = c.With(listField(als.Details, append(c.List(als.Details), line)))
			}
		}
	}
	c = c.With(textField(als.Actor, p.speaker())).With(listField(als.TagsAdd, add)).With(listField(als.TagsRemove, remove))
	if why := r.Actions.NeedsHuman; why != "" {
		c = c.With(listField(als.Details, append(c.List(als.Details), "needs a person: "+clip(why))))
	}
	for _, why := range r.Actions.Errors {
		c = c.With(listField(als.Details, append(c.List(als.Details), "error: "+clip(why))))
	}
	for _, why := range p.e.Rejected {
		c = c.With(listField(als.Details, append(c.List(als.Details), "not done: "+why)))
	}
	return c.String()
}

func textField(key, text string) als.Field { return als.Field{Key: key, Kind: als.Text, Text: text} }

func listField(key string, list []string) als.Field {
	return als.Field{Key: key, Kind: als.List, List: list}
}

// cut keeps the beginning of a text, and whole characters of it.
func cut(s string, most int) string {
	if len(s) <= most {
		return s
	}
	return strings.ToValidUTF8(s[:most], "")
}
