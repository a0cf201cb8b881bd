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
	"orange/internal/view/humanize"
)

// decideOnCard takes the first edge whose card trigger matches the card. If none matches, it records the card's
// snapshot. While effects on the card are pending, a change by others does not count until the card is read again.
func (d *decider) decideOnCard(f *board.Snapshot) Verdict {
	if d.byAgent() {
		return d.refuse("an agent may not report the state of a card: Orange reads it from the board")
	}
	if d.sig.Actor != task.Engine && d.hasPendingCardRead() {
		return d.readAgain(f)
	}
	if d.sig.Actor == task.Engine && d.t.Attention != "" { // a person must act first
		return d.recordCard(f)
	}
	for _, i := range d.def.EdgesFrom(d.t.Status) {
		e := &d.def.Edges[i]
		if !e.MatchesCard(f) || !d.checkSource(workflow.OnBoard, e) || !d.checkGuard(e) || !d.checkGates(e) {
			continue
		}
		entry := d.newEntry(journal.AutoAdvanced)
		entry.Reason = "the card is in " + CardPlaceText(f)
		return d.takeEdgeWith(entry, e, Advance)
	}
	return d.recordCard(f)
}

// recordCard records the card's snapshot if it changed.
func (d *decider) recordCard(f *board.Snapshot) Verdict {
	if d.t.CardSnapshot != nil && d.t.CardSnapshot.SameAs(*f) {
		return Stay
	}
	e := d.newEntry(journal.CardSeen)
	e.CardSnapshot, e.Reason = f, "the card is in "+CardPlaceText(f)
	return d.finishWith(e, Record)
}

// readAgain handles a change to a card while Orange still has effects on it pending. The card is read after those
// effects. If a read is running, another one follows, because the order of the read and the change is unknown.
func (d *decider) readAgain(f *board.Snapshot) Verdict {
	d.reasons = append(d.reasons, Reason{From: d.t.Status, Rule: RuleEdge, Text: "the card is being changed: it is read again when that is done"})
	reads := 0
	for i := range d.t.Pending {
		if d.t.Pending[i].Do == workflow.ReadCard {
			reads++
		}
	}
	e := d.newEntry(journal.CardSeen)
	switch soon := d.t.Pending[0].Do != workflow.ReadCard || reads > 1; {
	case soon && len(d.reset) == 0:
		return Stay
	case soon:
		e.Reason = "a person changed the card"
		return d.finishWith(e, Record)
	}
	e.CardSnapshot, e.Reason = f, "the card is in "+CardPlaceText(f)
	d.newPlan(&e).onCard(workflow.Effect{Name: workflow.ReadCard}, task.ByState)
	return d.finishWith(e, Record)
}

// hasPendingCardRead reports whether effects on the card are pending and a read follows them.
func (d *decider) hasPendingCardRead() bool {
	return slices.ContainsFunc(d.t.Pending, func(e task.Effect) bool { return e.Do == workflow.ReadCard && !e.GivenUp })
}

// CardPlaceText describes a card's column and tags.
func CardPlaceText(f *board.Snapshot) string {
	if len(f.Tags) == 0 {
		return f.Column + ", without tags"
	}
	return f.Column + " with " + strings.Join(f.Tags, ", ")
}

// onCard plans an effect on the task's card. An effect that the worker's result fills in becomes several.
func (p *plan) onCard(w workflow.Effect, by string) {
	if p.trackerRef() == "" {
		return
	}
	switch w.Name {
	case workflow.ApplyActions:
		p.applyWorkerActions(by)
	case workflow.PostResult:
		p.postResult(by)
	case workflow.TagCard:
		p.appendEffect(task.Effect{Do: workflow.TagCard, By: by, Tags: []string{p.tagName(w.Word)}})
	case workflow.UntagCard:
		p.appendEffect(task.Effect{Do: workflow.TagCard, By: by, Untags: []string{p.tagName(w.Word)}})
	case workflow.MoveCard:
		p.appendEffect(task.Effect{Do: workflow.MoveCard, By: by, Arg: w.Word})
	case workflow.ClaimCard, workflow.ReleaseCard:
		role, _ := p.d.def.RoleNamed(p.roleAt(w.Name))
		arg := ""
		if role != nil {
			arg = role.Claim
		}
		p.appendEffect(task.Effect{Do: w.Name, By: by, Arg: arg})
	default:
		p.appendEffect(task.Effect{Do: w.Name, By: by})
	}
}

// roleAt returns the role that a claim is for: that of the state being entered, or that of the state being left.
func (p *plan) roleAt(do string) string {
	name := p.d.t.Status
	if do == workflow.ClaimCard {
		name = p.stateName()
	}
	s, ok := p.d.def.StateNamed(name)
	if !ok {
		return ""
	}
	return s.Role
}

func (p *plan) tagName(name string) string {
	tag, ok := p.d.def.Board.TagNamed(name)
	if !ok {
		return name
	}
	return tag.Name
}

func (p *plan) trackerRef() string {
	if n := p.e.New; n != nil {
		return n.TrackerRef
	}
	return p.d.t.TrackerRef
}

// appendEffect appends an effect with its id.
func (p *plan) appendEffect(e task.Effect) {
	e.ID = task.EffectID(p.e.Task, p.e.Seq, len(p.e.Effects))
	p.e.Effects = append(p.e.Effects, e)
}

// commentAsRequester posts an agent's text on the task's card, if the task has one.
func (p *plan) commentAsRequester(text string) { p.postComment(p.requesterRole(), text) }

// commentAsOrange posts a comment by Orange itself.
func (p *plan) commentAsOrange(text string) { p.postComment("", text) }

func (p *plan) postComment(role, text string) {
	if p.trackerRef() != "" && strings.TrimSpace(text) != "" {
		p.appendEffect(task.Effect{Do: workflow.CommentCard, By: task.ByState, Role: role, Text: humanize.Prefix(text, maxComment), NonBlocking: p.isNonBlocking()})
	}
}

// isNonBlocking reports whether effects on the tracker block nothing: the workflow does not read its cards to decide
// what comes next.
func (p *plan) isNonBlocking() bool { return p.d.def.Board == nil }

// showColumn moves the issue to the tracker's column for the state being entered, if that differs from the column
// before.
func (p *plan) showColumn(s *workflow.State) {
	if p.trackerRef() == "" {
		return
	}
	column := p.d.def.ProjectedColumn(s.Name)
	if column == "" || column == p.shownColumn() {
		return
	}
	p.appendEffect(task.Effect{Do: workflow.MoveCard, By: task.ByState, Arg: column, NonBlocking: true})
}

// shownColumn returns the column in which the tracker shows the task so far. A state without a column, such as a halt,
// leaves the issue where it was.
func (p *plan) shownColumn() string {
	if p.d.t.Seq == 0 {
		return ""
	}
	if column := p.d.def.ProjectedColumn(p.d.t.Status); column != "" {
		return column
	}
	return p.d.def.ProjectedColumn(p.d.t.ReturnTo)
}

func (p *plan) requesterRole() string {
	if p.e.LastReport != nil {
		return p.e.LastReport.Role
	}
	return ""
}

// maxComment is the maximum size of a comment, in bytes.
const maxComment = 16 << 10

// applyWorkerActions plans the board actions in a worker's result that the file permits its role: tags, comment,
// column, description, in that order. It records each action that it leaves out, with the reason.
func (p *plan) applyWorkerActions(by string) {
	r := p.d.attemptReport()
	if r == nil || r.Actions == nil {
		return
	}
	a := r.Actions
	add, remove := append(p.allowedTags(a.AddTags), p.needsPerson(a)...), p.knownTags(a.RemoveTags)
	remove = slices.DeleteFunc(remove, func(tag string) bool { return slices.Contains(add, tag) })
	if len(add)+len(remove) > 0 {
		p.appendEffect(task.Effect{Do: workflow.TagCard, By: by, Tags: add, Untags: remove})
	}
	column := p.allowedColumn(a.Column)
	p.checkGitClaims(a.Git)
	if r.Handoff != nil && p.e.Handoff == nil {
		p.rejectAction("stage_context is not the %s's own, or too long: it is not kept", p.requesterRole())
	}
	p.commentAsRequester(p.statusComment(r, add, remove))
	if h := p.e.Handoff; h != nil {
		p.commentAsRequester(h.ALS().String())
	}
	if column != "" {
		p.appendEffect(task.Effect{Do: workflow.MoveCard, By: by, Arg: column})
	}
	if len(a.Description) > board.MaxDescription {
		p.rejectAction("update_description has %d bytes and the limit is %d", len(a.Description), board.MaxDescription)
	} else if a.Description != "" {
		p.appendEffect(task.Effect{Do: workflow.DescribeCard, By: by, Text: a.Description, Arg: p.shownDescription()})
	}
}

// postResult posts an agent's last report on the board. For a worker's result it posts the comment and the errors, and
// performs none of the actions.
func (p *plan) postResult(by string) {
	r := p.d.attemptReport()
	if r == nil || r.Actions == nil {
		p.d.quotesFinal = true
		p.commentAsRequester(p.d.sig.Final)
		return
	}
	if flag := p.needsPerson(r.Actions); len(flag) > 0 {
		p.appendEffect(task.Effect{Do: workflow.TagCard, By: by, Tags: flag})
	}
	p.commentAsRequester(p.statusComment(r, nil, nil))
}

// needsPerson asks for a person if the worker requested one, and returns its flag.
func (p *plan) needsPerson(a *signal.Actions) []string {
	if a.NeedsHuman == "" {
		return nil
	}
	p.e.Attention = fmt.Sprintf("the %s needs a person: %s", p.requesterRole(), clipWords(a.NeedsHuman))
	role, _ := p.d.def.RoleNamed(p.requesterRole())
	if role == nil || role.Flag == "" {
		return nil
	}
	return []string{role.Flag}
}

// allowedColumn returns the column to which a worker may move the card, or "" if it may not.
func (p *plan) allowedColumn(name string) string {
	if name == "" {
		return ""
	}
	column, ok := p.d.def.Board.ColumnNamed(name)
	switch {
	case !ok:
		p.rejectAction("column %q is not known on this board: the card is not moved", clipWords(name))
	case !slices.Contains(column.By, task.Actor(p.requesterRole())):
		p.rejectAction("moving a card to %s is not the %s's to ask for", column.Name, p.requesterRole())
	default:
		return column.Name
	}
	return ""
}

// shownDescription returns the fingerprint of the description that the worker was shown.
func (p *plan) shownDescription() string {
	if p.d.t.CardSnapshot == nil {
		return ""
	}
	return p.d.t.CardSnapshot.Described
}

func (p *plan) rejectAction(format string, args ...any) {
	p.e.Rejected = append(p.e.Rejected, fmt.Sprintf(format, args...))
}

// allowedTags returns the tags that the role may set, in the board's spelling.
func (p *plan) allowedTags(names []string) []string {
	var out []string
	for _, name := range names {
		tag, ok := p.d.def.Board.TagNamed(name)
		switch {
		case !ok:
			p.rejectAction("tag %q is not known on this board: it is not set", clipWords(name))
		case !slices.Contains(tag.By, task.Actor(p.requesterRole())):
			p.rejectAction("tag %s is not the %s's to set", tag.Name, p.requesterRole())
		case !slices.Contains(out, tag.Name):
			out = append(out, tag.Name)
		}
	}
	return out
}

func (p *plan) knownTags(names []string) []string {
	var out []string
	for _, name := range names {
		tag, ok := p.d.def.Board.TagNamed(name)
		switch {
		case !ok:
			p.rejectAction("tag %q is not known on this board: it is not taken off", clipWords(name))
		case tag.OnlyPeople():
			if f := p.d.t.CardSnapshot; f != nil && slices.Contains(f.Tags, tag.Name) {
				p.rejectAction("tag %s is a person's: it is not taken off", tag.Name)
			}
		case !slices.Contains(out, tag.Name):
			out = append(out, tag.Name)
		}
	}
	return out
}

// checkGitClaims compares what a worker claims it did to the repository with what was measured, and links its pull
// request.
func (p *plan) checkGitClaims(g *signal.GitActions) {
	if g == nil {
		return
	}
	for _, e := range p.d.sig.Evidence {
		if e.Name == workflow.ClaimsFact && !e.Holds {
			p.rejectAction("what it says about the repository does not hold: %s", clipWords(e.Detail))
			return
		}
	}
	if g.PR != nil && strings.HasPrefix(g.PR.URL, "https://") && g.PR.URL != p.d.t.PRURL {
		p.e.Fields = append(p.e.Fields, signal.Field{Name: "pr_url", From: p.d.t.PRURL, To: clipWords(g.PR.URL)})
	}
}

// statusComment returns the worker's comment in ALS/1. Orange fills in the author and the tag changes, whatever the
// worker wrote.
func (p *plan) statusComment(r *signal.Report, add, remove []string) string {
	c, err := als.Parse(r.Actions.Comment)
	if err != nil {
		c = als.Comment{}.WithField(textField(als.Actor, "")).WithField(textField(als.Intent, "status")).WithField(textField(als.Action, p.d.t.Status)).
			WithField(listField(als.TagsAdd, nil)).WithField(listField(als.TagsRemove, nil)).WithField(textField(als.Summary, clipWords(r.Detail)))
		for line := range strings.Lines(humanize.Prefix(r.Actions.Comment, 4096)) {
			if line = strings.TrimSpace(line); line != "" {
				c = c.WithField(listField(als.Details, append(c.List(als.Details), line)))
			}
		}
	}
	c = c.WithField(textField(als.Actor, p.requesterRole())).WithField(listField(als.TagsAdd, add)).WithField(listField(als.TagsRemove, remove))
	if why := r.Actions.NeedsHuman; why != "" {
		c = c.WithField(listField(als.Details, append(c.List(als.Details), "needs a person: "+clipWords(why))))
	}
	for _, why := range r.Actions.Errors {
		c = c.WithField(listField(als.Details, append(c.List(als.Details), "error: "+clipWords(why))))
	}
	for _, why := range p.e.Rejected {
		c = c.WithField(listField(als.Details, append(c.List(als.Details), "not done: "+why)))
	}
	return c.String()
}

func textField(key, text string) als.Field { return als.Field{Key: key, Kind: als.Text, Text: text} }

func listField(key string, list []string) als.Field {
	return als.Field{Key: key, Kind: als.List, List: list}
}
