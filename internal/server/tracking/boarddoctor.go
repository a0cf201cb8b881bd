package tracking

import (
	"context"
	"fmt"
	"slices"
	"strings"
	"time"

	"orange/internal/core/board"
	"orange/internal/core/boardcheck"
	"orange/internal/core/task"
	"orange/internal/core/tracker"
	"orange/internal/wire"
)

// cardCheck is a card to check, with functions that read and change it.
type cardCheck struct {
	ref    string
	key    string
	card   board.Card
	since  map[string]time.Time                          // when its tags were set, if known
	read   func(ctx context.Context) (board.Card, error) // reads the present card; nil if card is up to date
	change func(ctx context.Context, c board.Change) (board.Card, error)
}

// maxFixes bounds the fixes of one card in one check, so that the check ends.
const maxFixes = 5

// CheckBoard implements api.Trackers. It checks the cards of a board as they are stored here, and fixes what it can if
// x.Fix is set.
func (t Registry) CheckBoard(ctx context.Context, x wire.BoardCheckRequest) ([]boardcheck.Finding, error) {
	cards, tasks, err := t.loadCards(ctx, x)
	if err != nil {
		return nil, err
	}
	if i := strings.LastIndexByte(x.Key, '/'); i >= 0 && x.Tracker == "" { // shop/3, board:shop/3
		x.Key = x.Key[i+1:]
	} else if name, key, ok := tracker.ParseRef(x.Key); ok && name == x.Tracker {
		x.Key = key
	}
	if x.Key != "" && !slices.ContainsFunc(cards, func(p cardCheck) bool { return p.key == x.Key }) {
		return nil, task.Mistakef("there is no card %q on the board, as far as it was read", x.Key)
	}
	var out []boardcheck.Finding
	for i := range cards {
		p := &cards[i]
		if x.Key == "" || x.Key == p.key {
			out = append(out, t.checkCard(ctx, p, tasks, x.Fix)...)
		}
	}
	return out, nil
}

func (t Registry) loadCards(ctx context.Context, x wire.BoardCheckRequest) ([]cardCheck, []task.Task, error) {
	if x.Tracker != "" {
		return t.remoteCards(ctx, x)
	}
	boards := t.Connector.Boards
	if err := boards.RequireRegistered(x.Project); err != nil {
		return nil, nil, err
	}
	_, cards, err := boards.ReadBoard(ctx, x.Project)
	if err != nil {
		return nil, nil, err
	}
	var out []cardCheck
	for _, card := range cards {
		number := card.Number
		events, err := t.Connector.Store.CardHistory(x.Project, number)
		if err != nil {
			return nil, nil, err
		}
		out = append(out, cardCheck{ref: board.Ref(x.Project, number), key: fmt.Sprint(number), card: card, since: lastTagTimes(events), change: func(ctx context.Context, c board.Change) (board.Card, error) {
			after, _, err := boards.ChangeCard(ctx, x.Project, number, c, "")
			return after, err
		}})
	}
	tasks, err := t.Connector.Store.TrackedTasks(tracker.NewRef(tracker.Board, x.Project+"/"))
	return out, tasks, err
}

// remoteCards returns the issues of a tracker as cards. It polls the tracker first if the cards are to be fixed.
func (t Registry) remoteCards(ctx context.Context, x wire.BoardCheckRequest) ([]cardCheck, []task.Task, error) {
	if x.Fix {
		if _, err := t.Sync(ctx, x.Tracker, false); err != nil {
			return nil, nil, err
		}
	}
	issues, err := t.ListIssues(x.Tracker)
	if err != nil {
		return nil, nil, err
	}
	if at, _, err := t.Connector.Store.LastSync(x.Tracker); err == nil && at.IsZero() && len(issues) == 0 {
		return nil, nil, task.Mistakef("tracker %s was not read yet: run orange tracker sync %s", x.Tracker, x.Tracker)
	}
	cfg, err := t.Config(x.Tracker)
	if err != nil {
		return nil, nil, err
	}
	var out []cardCheck
	for _, is := range issues {
		read := func(ctx context.Context) (board.Card, error) {
			now, err := t.ReadIssue(ctx, x.Tracker, is.Key)
			return now.Card, err
		}
		out = append(out, cardCheck{ref: cfg.IssueRef(is.Key), key: is.Key, card: is.Card, read: read, change: func(ctx context.Context, c board.Change) (board.Card, error) {
			after, err := t.ChangeIssue(ctx, x.Tracker, is.Key, c)
			return after.Card, err
		}})
	}
	tasks, err := t.Connector.Store.TrackedTasks(cfg.IssueRef(""))
	return out, tasks, err
}

// checkCard returns what is wrong with a card. It checks the card again after each fix, because a fix may reveal another
// problem.
func (t Registry) checkCard(ctx context.Context, p *cardCheck, tasks []task.Task, fix bool) (out []boardcheck.Finding) {
	facts := t.cardFacts(p, tasks)
	if fix && p.read != nil && len(boardcheck.CheckCard(p.card, facts, t.Now())) > 0 { // it may have changed since
		now, err := p.read(ctx)
		if err != nil {
			return []boardcheck.Finding{{Card: p.ref, Title: p.card.Title, Problem: err.Error()}}
		}
		p.card, facts = now, t.cardFacts(&cardCheck{ref: p.ref, card: now, since: p.since}, tasks)
	}
	for range maxFixes {
		found := boardcheck.CheckCard(p.card, facts, t.Now())
		fixed := false
		for _, a := range found {
			if !fix || a.Fix == nil || fixed {
				continue
			}
			f := t.applyFix(ctx, p, a)
			out, fixed = append(out, f), f.Fixed
			if f.Problem != "" {
				return out
			}
		}
		if fixed {
			continue
		}
		for _, a := range found {
			out = append(out, boardcheck.Finding{Card: p.ref, Title: p.card.Title, Anomaly: a})
		}
		return out
	}
	return out
}

func (t Registry) applyFix(ctx context.Context, p *cardCheck, a boardcheck.Anomaly) boardcheck.Finding {
	f := boardcheck.Finding{Card: p.ref, Title: p.card.Title, Anomaly: a}
	c := *a.Fix
	c.Author = "doctor"
	after, err := p.change(ctx, c)
	if err != nil {
		f.Problem = err.Error()
		return f
	}
	p.card, f.Fixed = after, true
	return f
}

// cardFacts returns the facts for a check that a card itself does not show.
func (t Registry) cardFacts(p *cardCheck, tasks []task.Task) boardcheck.Facts {
	f := boardcheck.Facts{Planned: hasPlan(p.card.Description), Since: p.since}
	for i := range tasks {
		if o := &tasks[i]; o.TrackerRef == p.ref && !o.Deleted {
			f.PR = o.PRState
			f.Busy = f.Busy || len(o.Attempts) > 0 || len(o.Pending) > 0
		}
	}
	return f
}

// lastTagTimes returns when each tag was last set.
func lastTagTimes(events []board.Event) map[string]time.Time {
	out := map[string]time.Time{}
	for _, e := range events {
		for _, tag := range e.Change.AddTags {
			out[tag] = e.At
		}
		if c := e.Change.Claim; c != nil && c.Tag != "" {
			out[c.Tag] = e.At
		}
	}
	return out
}

// hasPlan reports whether a description has a heading for a plan.
func hasPlan(description string) bool {
	for line := range strings.Lines(strings.ToLower(description)) {
		if strings.HasPrefix(strings.TrimSpace(line), "#") && slices.Contains(strings.Fields(strings.Trim(line, "# :*\r\n")), "plan") {
			return true
		}
	}
	return false
}
