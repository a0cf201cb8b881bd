package mcpboard

import (
	"context"
	"fmt"
	"slices"
	"strings"

	"orange/internal/core/board"
)

// ReadVocabulary reads the board's columns and tags. If any text can be a tag, the tags are
// those in Options and those that were seen on issues.
func (t *Tracker) ReadVocabulary(ctx context.Context) (board.Vocabulary, error) {
	columns, err := t.readNames(ctx, t.m.Columns)
	if err != nil {
		return board.Vocabulary{}, err
	}
	tags, err := t.readNames(ctx, t.m.Tags)
	if err != nil {
		return board.Vocabulary{}, err
	}
	t.mu.Lock()
	defer t.mu.Unlock()
	t.columns, t.tags, t.known = columns, tags, true
	return board.Vocabulary{Columns: namesOnly(columns), Tags: namesOnly(tags)}, nil
}

func namesOnly(list []named) []string {
	out := []string{}
	for _, n := range list {
		out = append(out, n.name)
	}
	return out
}

// readNames returns the columns or tags of a board.
func (t *Tracker) readNames(ctx context.Context, op *Operation) (out []named, err error) {
	switch {
	case op == nil:
		return nil, nil
	case op.Schema != "":
		out, err = t.inSchema(ctx, op)
	case op.Tool != "":
		out, err = t.listNames(ctx, op)
	}
	if err != nil {
		return nil, err
	}
	if op.Free {
		t.mu.Lock()
		for _, name := range slices.Concat(t.o.Tags, t.seen) {
			out = append(out, named{id: name, name: name})
		}
		t.mu.Unlock()
	}
	return distinctNames(out, op.Except), nil
}

func (t *Tracker) listNames(ctx context.Context, op *Operation) ([]named, error) {
	found, err := t.callAndRead(ctx, op, nil)
	if err != nil {
		return nil, err
	}
	var out []named
	for _, r := range found {
		out = append(out, named{id: oneLine(r.firstValue("id", "name"), maxWord), name: oneLine(r.firstValue("name"), maxWord)})
	}
	return out, nil
}

// inSchema finds names in a tool's input schema. Servers write the schema when they start, so
// inSchema opens a new session.
func (t *Tracker) inSchema(ctx context.Context, op *Operation) ([]named, error) {
	if err := t.reopenSession(ctx); err != nil {
		return nil, err
	}
	var out []named
	err := t.withSession(ctx, true, func(ctx context.Context, s *session) error {
		tools, err := s.listAllTools(ctx)
		if err != nil {
			return err
		}
		tool := tools[op.Tool]
		if tool == nil {
			return t.newBoardError(kindBroken, fmt.Sprintf("it has no tool %s", op.Tool), 0)
		}
		for _, v := range followPath(tool.InputSchema, op.Schema+".*") {
			if name, ok := v.(string); ok {
				name = oneLine(name, maxWord)
				out = append(out, named{id: name, name: name})
			}
		}
		return nil
	})
	return out, err
}

// reopenSession replaces the session with a new one.
func (t *Tracker) reopenSession(ctx context.Context) error {
	ctx, cancel := context.WithTimeout(ctx, callTime)
	defer cancel()
	s, fresh, err := t.shared.acquireSession(ctx)
	if err != nil {
		return t.explainError(ctx, err, nil)
	}
	t.shared.releaseSession(s, !fresh)
	return nil
}

// distinctNames drops duplicates and names in except.
func distinctNames(list []named, except []string) []named {
	var out []named
	for _, n := range list {
		same := func(o string) bool { return strings.EqualFold(o, n.name) }
		if n.name != "" && !slices.ContainsFunc(except, same) && !slices.ContainsFunc(namesOnly(out), same) {
			out = append(out, n)
		}
	}
	return out
}
