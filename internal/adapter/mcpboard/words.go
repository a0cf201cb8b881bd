package mcpboard

import (
	"context"
	"fmt"
	"slices"
	"strings"

	"orange/internal/core/board"
)

// Words are the board's columns and tags, read anew. Where tags are free they are those
// that Options names and those that were seen on issues.
func (t *Tracker) Words(ctx context.Context) (board.Vocabulary, error) {
	columns, err := t.names(ctx, t.m.Columns)
	if err != nil {
		return board.Vocabulary{}, err
	}
	tags, err := t.names(ctx, t.m.Tags)
	if err != nil {
		return board.Vocabulary{}, err
	}
	t.mu.Lock()
	defer t.mu.Unlock()
	t.columns, t.tags, t.known = columns, tags, true
	return board.Vocabulary{Columns: only(columns), Tags: only(tags)}, nil
}

func only(list []named) []string {
	out := []string{}
	for _, n := range list {
		out = append(out, n.name)
	}
	return out
}

// names are the columns or tags of a board.
func (t *Tracker) names(ctx context.Context, op *Operation) (out []named, err error) {
	switch {
	case op == nil:
		return nil, nil
	case op.Schema != "":
		out, err = t.inSchema(ctx, op)
	case op.Tool != "":
		out, err = t.listed(ctx, op)
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
	return distinct(out, op.Except), nil
}

func (t *Tracker) listed(ctx context.Context, op *Operation) ([]named, error) {
	found, err := t.ask(ctx, op, nil)
	if err != nil {
		return nil, err
	}
	var out []named
	for _, r := range found {
		out = append(out, named{id: oneLine(r.first("id", "name"), maxWord), name: oneLine(r.first("name"), maxWord)})
	}
	return out, nil
}

// inSchema finds names in a tool's input schema. Servers write it when they start, so a
// session is opened for it.
func (t *Tracker) inSchema(ctx context.Context, op *Operation) ([]named, error) {
	if err := t.anew(ctx); err != nil {
		return nil, err
	}
	var out []named
	err := t.with(ctx, true, func(ctx context.Context, s *session) error {
		tools, err := s.tools(ctx)
		if err != nil {
			return err
		}
		tool := tools[op.Tool]
		if tool == nil {
			return t.trouble(troubleBroken, fmt.Sprintf("it has no tool %s", op.Tool), 0)
		}
		for _, v := range walk(tool.InputSchema, op.Schema+".*") {
			if name, ok := v.(string); ok {
				name = oneLine(name, maxWord)
				out = append(out, named{id: name, name: name})
			}
		}
		return nil
	})
	return out, err
}

// anew sees to it that the session is one that was just opened.
func (t *Tracker) anew(ctx context.Context) error {
	ctx, cancel := context.WithTimeout(ctx, callTime)
	defer cancel()
	s, fresh, err := t.hall.enter(ctx)
	if err != nil {
		return t.explain(ctx, err, nil)
	}
	t.hall.leave(s, !fresh)
	return nil
}

// distinct leaves out names that are there twice, or are none.
func distinct(list []named, except []string) []named {
	var out []named
	for _, n := range list {
		same := func(o string) bool { return strings.EqualFold(o, n.name) }
		if n.name != "" && !slices.ContainsFunc(except, same) && !slices.ContainsFunc(only(out), same) {
			out = append(out, n)
		}
	}
	return out
}
