// Package boards lets people read and change the boards of projects.
package boards

import (
	"cmp"
	"context"
	"encoding/json"
	"errors"
	"log/slog"
	"slices"
	"sync"
	"time"

	"orange/internal/adapter/sqlite"
	"orange/internal/core/board"
	"orange/internal/core/signal"
	"orange/internal/core/task"
	"orange/internal/core/workflow"
	"orange/internal/core/workflow/builtin"
	"orange/internal/runtime/local"
	"orange/internal/ui/api"
	"orange/internal/wire"
)

// Boards implements api.Boards. It makes a missing board with the columns and tags of its project's workflow.
type Boards struct {
	store      *sqlite.Store
	runtime    *local.Runtime
	project    func(name string) (task.Project, bool)
	vocabulary func(project, workflow string) (board.Vocabulary, error) // of a workflow; "" means the project's
	now        func() time.Time

	// changed is called for every effective change by a person, in the order of the changes; it may be nil.
	changed func(ctx context.Context, card board.Card)
	// confirm checks a person's code before a card lets a merge happen; nil: no code is needed.
	confirm func(ctx context.Context, card board.Card, workflow, code string) error
	warn    func(msg string, args ...any)
	order   *sync.Mutex // held from a change until changed has returned
	// added makes the task of a new card; nil: cards get no task.
	added func(ctx context.Context, card board.Card, w signal.NewTask) (task.ID, error)
}

// New returns the boards of a store. Tasks of r are notified of changes.
func New(store *sqlite.Store, r *local.Runtime, log *slog.Logger) Boards {
	b := Boards{
		store: store, runtime: r, project: r.Project, now: time.Now, warn: log.Warn, confirm: r.ConfirmCard,
		changed: func(ctx context.Context, card board.Card) { r.CardChanged(card, api.ViaOf(ctx)) }, order: &sync.Mutex{},
		added: func(ctx context.Context, _ board.Card, w signal.NewTask) (task.ID, error) {
			a, err := r.Create(ctx, w)
			if err == nil && a.Decision.Refused != "" {
				err = task.Mistakef("%s", a.Decision.Refused)
			}
			return a.Task.ID, err
		},
	}
	b.vocabulary = b.loadVocabulary
	return b
}

// CatchUp notifies tasks of changes that an earlier server did not report to them.
func (b Boards) CatchUp(readCard func(ctx context.Context, t task.Task) (*board.Snapshot, error)) {
	b.runtime.CatchUp(b.loadWaitingTasks, func(t *task.Task, tell func(board.Snapshot)) {
		if _, _, ok := board.ParseRef(t.TrackerRef); !ok {
			return // the next poll of the tracker reports it
		}
		b.order.Lock()
		defer b.order.Unlock()
		if card, err := readCard(context.Background(), *t); err == nil {
			tell(*card)
		}
	})
}

// loadWaitingTasks returns the tasks that wait for a change of a card or of child tasks.
func (b Boards) loadWaitingTasks() ([]task.Task, error) {
	var out []task.Task
	err := b.store.EachTask(task.Filter{}, func(fold []byte) error {
		var t task.Task
		if json.Unmarshal(fold, &t) != nil {
			return nil // orange doctor reports it
		}
		if def, err := b.runtime.Definition(&t); err == nil && (def.WatchesBoard(t.Status) || def.WaitsForChildren(t.Status)) {
			out = append(out, t)
		}
		return nil
	})
	return out, err
}

// loadVocabulary returns the columns and tags of a project's board: those of the named workflow, or else of the
// project's workflow, or else the usual ones.
func (b Boards) loadVocabulary(project, name string) (board.Vocabulary, error) {
	if p, ok := b.runtime.Project(project); ok && name == "" && p.Workflow == "" {
		return usualVocabulary(), nil
	}
	def, err := b.runtime.ChooseWorkflow(name, project)
	if err != nil {
		return board.Vocabulary{}, err
	}
	return vocabularyOf(def), nil
}

// vocabularyOf returns the columns and tags that a workflow needs: those of its board, or else the columns in which it
// shows its states, or else the usual ones.
func vocabularyOf(def *workflow.Definition) board.Vocabulary {
	if def.Board != nil {
		return def.Board.Vocabulary()
	}
	v := usualVocabulary()
	if len(def.Projections) == 0 {
		return v
	}
	v.Columns = nil
	for _, p := range def.Projections {
		if !slices.Contains(v.Columns, p.Status) {
			v.Columns = append(v.Columns, p.Status)
		}
	}
	return v
}

// usualVocabulary returns the default columns and tags of a board: those of the built-in workflow joan-board.
var usualVocabulary = sync.OnceValue(func() board.Vocabulary {
	const name = "joan-board"
	text, _ := builtin.Text(name)
	def, err := workflow.Parse(builtin.File(name), text)
	if err != nil {
		panic("a built-in workflow does not parse: " + err.Error()) // its tests check that it does
	}
	return def.Board.Vocabulary()
})

// learnVocabulary adds the columns and tags of a project to its board, and makes the board if there is none.
func (b Boards) learnVocabulary(project string) error { return b.LearnVocabulary(project, "") }

// LearnVocabulary adds the columns and tags of a workflow to a project's board, and makes the board if there is none.
func (b Boards) LearnVocabulary(project, workflow string) error {
	if err := b.RequireRegistered(project); err != nil {
		return err
	}
	v, err := b.vocabulary(project, workflow)
	if err != nil {
		return err
	}
	return b.store.SetBoard(project, v)
}

// RequireRegistered returns an error if a project is not registered.
func (b Boards) RequireRegistered(project string) error {
	if _, ok := b.project(project); !ok {
		return task.Mistakef("project %q is not registered: see orange project list", project)
	}
	return nil
}

// explainMissing returns err, or the error that the project is not registered if that is why a card was not found.
func (b Boards) explainMissing(project string, err error) error {
	if errors.Is(err, board.ErrNotFound) {
		return cmp.Or(b.RequireRegistered(project), err)
	}
	return err
}

// ReadBoard implements api.Boards.
func (b Boards) ReadBoard(_ context.Context, project string) (board.Vocabulary, []board.Card, error) {
	v, cards, err := b.store.Board(project)
	if !errors.Is(err, board.ErrNotFound) {
		return v, cards, err
	}
	if err := b.learnVocabulary(project); err != nil {
		return v, nil, err
	}
	return b.store.Board(project)
}

// AddCard implements api.Boards.
func (b Boards) AddCard(ctx context.Context, project string, n wire.NewCard) (out wire.AddedCard, err error) {
	if err := b.LearnVocabulary(project, n.Workflow); err != nil {
		return out, err
	}
	if b.confirm != nil {
		if err := b.confirm(ctx, board.Card{Project: project, Title: n.Title, Column: n.Column, Tags: n.Tags}, n.Workflow, n.Code); err != nil {
			return out, err
		}
	}
	out.Card, err = b.store.AddCard(board.Card{
		Project: project, Title: n.Title, Author: string(task.Human), Column: n.Column, Tags: n.Tags, Description: n.Description,
	}, b.now())
	if err != nil || n.NoTask || b.added == nil {
		return out, err
	}
	out.Task, err = b.added(ctx, out.Card, signal.NewTask{
		New: signal.New{
			Project: project, Branch: n.Branch, Summary: out.Card.Title, Harness: n.Harness, TrackerRef: board.Ref(project, out.Card.Number), Spawn: true,
		},
		Workflow: n.Workflow, Context: out.Card.Description, Actor: task.Human, Via: api.ViaOf(ctx),
	})
	if err != nil {
		out.Warning = "the card is on the board, but it has no task: " + err.Error()
	}
	return out, nil
}

// ReadCard implements api.Boards.
func (b Boards) ReadCard(_ context.Context, project string, number int) (board.Card, []board.Comment, error) {
	card, comments, err := b.store.Card(project, number)
	return card, comments, b.explainMissing(project, err)
}

// ChangeCard implements api.Boards.
func (b Boards) ChangeCard(ctx context.Context, project string, number int, c board.Change, code string) (board.Card, bool, error) {
	have, _, err := b.store.Card(project, number)
	if err != nil {
		return board.Card{}, false, b.explainMissing(project, err)
	}
	if err := b.learnVocabulary(project); err != nil { // the board works with the columns and tags that it has
		b.warn("add the columns and tags of a project to its board", "component", "boards", "project", project, "error", err)
	}
	if err := b.confirmChange(ctx, have, c, code); err != nil {
		return have, false, err
	}
	b.order.Lock()
	defer b.order.Unlock()
	card, changed, err := b.store.ChangeCard(project, number, c, b.now())
	if err == nil && changed && b.changed != nil {
		b.changed(ctx, card)
	}
	return card, changed, err
}

// confirmChange checks the code if the change lets a merge happen. A change of neither tags nor column never does.
func (b Boards) confirmChange(ctx context.Context, have board.Card, c board.Change, code string) error {
	if b.confirm == nil || len(c.AddTags) == 0 && len(c.RemoveTags) == 0 && c.Column == "" {
		return nil
	}
	v, _, err := b.store.Board(have.Project)
	if err != nil {
		return err
	}
	next, _, err := board.Apply(have, c, v, b.now())
	if err != nil {
		return err
	}
	return b.confirm(ctx, next, "", code)
}

// BoardMark implements api.Boards.
func (b Boards) BoardMark(project string) int64 { return b.store.BoardMark(project) }

// NextBoardChange implements api.Boards.
func (b Boards) NextBoardChange() <-chan struct{} { return b.store.NextBoardChange() }

// CardHistory implements api.Boards.
func (b Boards) CardHistory(_ context.Context, project string, number int) ([]board.Event, error) {
	events, err := b.store.CardHistory(project, number)
	return events, b.explainMissing(project, err)
}
