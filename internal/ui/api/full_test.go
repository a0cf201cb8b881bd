package api_test

import (
	"context"
	"errors"
	"strings"
	"sync"
	"testing"

	"orange/internal/core/board"
	"orange/internal/core/explain"
	"orange/internal/core/task"
	"orange/internal/view/ansi"
	"orange/internal/view/diff"
	"orange/internal/view/overview"
	"orange/internal/wire"
)

// full is a server that has everything: boards, trackers, agents, screens, a page.
func full(t testing.TB) *env {
	t.Helper()
	r := open(t)
	must(t, r.stop())
	g := &guests{r: r}
	r.server.Identity, r.server.Origins, r.server.Attempts, r.server.Boards, r.server.Trackers = g, g, g, &shelf{store: r.store}, &fakeTrackers{}
	r.server.Workspaces, r.server.Screens, r.server.Changes = pool{}, newTheatre(), hunks{}
	r.server.Library, r.server.Page, r.server.Measurements = books{}, page{}, newGlasses()
	r.server.Inbox = func(context.Context, string) ([]explain.Item, error) {
		return []explain.Item{{Kind: explain.ItemPaused, Text: "everything is paused", Do: "orange resume"}}, nil
	}
	must(t, r.store.SetBoard("p", board.Vocabulary{Columns: []string{"To Do", "Done"}, Tags: []string{"Ready"}}))
	_, err := r.store.AddCard(board.Card{Project: "p", Title: "Cart", Description: "words"}, morning)
	must(t, err)
	r.listen(r.server.Home + "/f")
	return r
}

type pool struct{}

func (pool) ListWorkspaces(context.Context) ([]wire.Workspace, error) {
	return []wire.Workspace{{Name: "p--1", Project: "p", Path: "/w", Exists: true}}, nil
}

func (p pool) InitPool(ctx context.Context, _ string, _ int) ([]wire.Workspace, error) {
	return p.ListWorkspaces(ctx)
}

func (pool) CleanWorkspaces(context.Context, wire.CleanRequest) (removed, kept []wire.CleanedWorkspace, err error) {
	return nil, []wire.CleanedWorkspace{{Name: "p--1", Why: "a task works there"}}, nil
}

func (pool) ListSalvages(context.Context, string) ([]wire.Salvage, error) {
	return []wire.Salvage{{Ref: "refs/orange/salvage/1", Project: "p", At: morning, Commit: "abc", Files: 2,
		Staged: "def", Submodules: []wire.SalvagedSubmodule{{Path: "lib", Repository: "/r", Ref: "refs/x"}}}}, nil
}

type hunks struct{}

func (hunks) TaskDiff(_ context.Context, t task.Task) (diff.Comparison, error) {
	if t.Branch == "lost" {
		return diff.Comparison{}, errors.New("the branch is gone")
	}
	files := diff.Parse("diff --git a/x b/x\n--- a/x\n+++ b/x\n@@ -1 +1,2 @@\n-a\n+b\n+c\n")
	return diff.Comparison{Base: "abc", Files: files, Cut: true, Worktree: "/w", Problem: "p"}, nil
}

func (hunks) TaskFile(_ context.Context, _ task.Task, path string, old bool) (content []byte, cut bool, err error) {
	if path != "x" {
		return nil, false, task.Mistakef("no such file: %s", path)
	}
	if old {
		return []byte("a\n"), false, nil
	}
	return []byte("b\nc\n"), true, nil
}

type books struct{}

func (books) ListWorkflows(context.Context) ([]wire.WorkflowInfo, error) {
	return []wire.WorkflowInfo{{Name: "orange", Hash: "abc", Origin: "built-in", File: "orange.yaml", Tasks: 1}}, nil
}

type page struct{}

func (page) OpenPage(context.Context) (wire.PageAddress, error) {
	return wire.PageAddress{URL: "http://127.0.0.1:1/", Login: "http://127.0.0.1:1/?code=x"}, nil
}

func (page) PageToken(context.Context) (wire.PageToken, error) {
	return wire.PageToken{URL: "http://127.0.0.1:1/", Token: "x"}, nil
}

// theatre has a screen for every task, on which lines are put.
type theatre struct {
	mu     sync.Mutex
	shows  map[task.ID]string
	typed  []string
	wrote  map[task.ID]chan struct{}
	looks  int
	ends   chan struct{} // an Output has ended
	broken error
}

func newTheatre() *theatre {
	return &theatre{shows: map[task.ID]string{}, wrote: map[task.ID]chan struct{}{}, ends: make(chan struct{}, 9)}
}

func (h *theatre) ReadScreen(_ context.Context, t task.Task, role string) (wire.Screen, error) {
	h.mu.Lock()
	defer h.mu.Unlock()
	h.looks++
	if h.broken != nil {
		return wire.Screen{}, h.broken
	}
	out := wire.Screen{Role: role, Harness: "pi", Alive: true, At: morning.Add(1)}
	if len(t.Attempts) > 0 {
		out.Attempt = t.Attempts[0].Number
	}
	if text := h.shows[t.ID]; text != "" {
		out.Lines = ansi.ParseLines(text)
	}
	return out, nil
}

func (h *theatre) WatchOutput(ctx context.Context, t task.Task, _ string) (<-chan struct{}, error) {
	h.mu.Lock()
	defer h.mu.Unlock()
	ch := make(chan struct{}, 1)
	h.wrote[t.ID] = ch
	go func() {
		<-ctx.Done()
		h.ends <- struct{}{}
	}()
	return ch, nil
}

func (h *theatre) PressKey(_ context.Context, t task.Task, in wire.KeyInput) error {
	h.mu.Lock()
	defer h.mu.Unlock()
	if in.Seen != "now" {
		return task.Mistakef("the terminal shows something else now: look at it again")
	}
	h.typed = append(h.typed, strings.Join([]string{string(t.ID), in.Role, "key " + in.Key}, " "))
	return nil
}

func (h *theatre) TypeText(_ context.Context, t task.Task, role, text string) error {
	h.mu.Lock()
	defer h.mu.Unlock()
	if text == "" {
		return task.Mistakef("nothing is to be typed: give a text")
	}
	h.typed = append(h.typed, strings.Join([]string{string(t.ID), role, text}, " "))
	return nil
}

// put shows a text and says so.
func (h *theatre) put(id task.ID, text string) {
	h.mu.Lock()
	defer h.mu.Unlock()
	h.shows[id] = text
	select {
	case h.wrote[id] <- struct{}{}:
	default:
	}
}

// looked says how often somebody looked.
func (h *theatre) looked() int {
	h.mu.Lock()
	defer h.mu.Unlock()
	return h.looks
}

// glasses returns the facts that a test sets.
type glasses struct {
	mu    sync.Mutex
	works map[task.ID]overview.Work
	marks map[task.ID]int64
	mark  int64
	more  chan struct{}
}

func newGlasses() *glasses {
	return &glasses{works: map[task.ID]overview.Work{}, marks: map[task.ID]int64{}, more: make(chan struct{})}
}

func (g *glasses) AbsentAttempts(t *task.Task) []int { return g.TaskFacts(t).Absent }

func (g *glasses) TaskFacts(t *task.Task) overview.Facts {
	g.mu.Lock()
	defer g.mu.Unlock()
	if w, ok := g.works[t.ID]; ok {
		return overview.Facts{Work: &w}
	}
	return overview.Facts{}
}

func (g *glasses) ChangedSince(mark int64) ([]task.ID, int64, <-chan struct{}) {
	g.mu.Lock()
	defer g.mu.Unlock()
	var ids []task.ID
	for id, at := range g.marks {
		if at > mark {
			ids = append(ids, id)
		}
	}
	return ids, g.mark, g.more
}

// see notes how many commits a task has.
func (g *glasses) see(id task.ID, commits int) {
	g.mu.Lock()
	defer g.mu.Unlock()
	g.mark++
	g.works[id], g.marks[id] = overview.Work{Commits: commits}, g.mark
	close(g.more)
	g.more = make(chan struct{})
}
