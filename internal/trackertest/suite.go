package trackertest

import (
	"context"
	"encoding/json"
	"errors"
	"slices"
	"strings"
	"sync"
	"testing"
	"time"

	"orange/internal/core/board"
	"orange/internal/core/tracker"
	"orange/internal/runtime/trackers"
)

// A story is one thing that every tracker can do.
type story struct {
	name string
	run  func(s *env)
}

// RunTracker tests everything that a tracker must be able to do, each story with a new world.
// It works like Orange, through a trackers.Client, and checks the result in the world.
func RunTracker(t *testing.T, open func(t *testing.T) World) {
	for _, st := range slices.Concat(readStories(), changeStories(), faultStories(), meanwhileStories(), textStories(), webhookStories()) {
		t.Run(st.name, func(t *testing.T) {
			w := open(t)
			s := &env{T: t, World: w}
			s.client, s.port = s.newClient()
			st.run(s)
		})
	}
}

// env is a world with one client.
type env struct {
	*testing.T
	World
	client *trackers.Client
	port   *observedPort // below the client
}

// newClient returns another client without any state.
func (s *env) newClient() (*trackers.Client, *observedPort) {
	port := &observedPort{Backend: s.OpenClient(s.T)}
	if local, ok := port.Backend.(trackers.LocalBoard); ok {
		return trackers.NewClient(observedBoard{port, local.LearnVocabulary}), port
	}
	return trackers.NewClient(port), port
}

// observedBoard is an observedPort of a local board.
type observedBoard struct {
	*observedPort
	learn func(v board.Vocabulary) error
}

// LearnVocabulary implements trackers.LocalBoard.
func (b observedBoard) LearnVocabulary(v board.Vocabulary) error { return b.learn(v) }

// knowsWords reports whether clients cache the tracker's vocabulary. Clients of the local board do
// not.
func (s *env) knowsWords() bool {
	_, local := s.port.Backend.(trackers.LocalBoard)
	return !local
}

// observedPort is a backend that records calls, and lets the test act before a write.
type observedPort struct {
	trackers.Backend
	before func(nth int, c board.Change) // called before the nth write, counted from 1; nil for none
	fail   func(nth int) error           // replaces the write; nil for never

	mu     sync.Mutex
	writes int
	words  int // how often the vocabulary was read
}

func (p *observedPort) countCall(n *int) int {
	p.mu.Lock()
	defer p.mu.Unlock()
	*n++
	return *n
}

// ReadVocabulary implements trackers.Backend.
func (p *observedPort) ReadVocabulary(ctx context.Context) (board.Vocabulary, error) {
	p.countCall(&p.words)
	return p.Backend.ReadVocabulary(ctx)
}

// WriteChange implements trackers.Backend.
func (p *observedPort) WriteChange(ctx context.Context, was tracker.Issue, c board.Change) (*tracker.Issue, error) {
	nth := p.countCall(&p.writes)
	if p.before != nil {
		p.before(nth, c)
	}
	if p.fail != nil {
		if err := p.fail(nth); err != nil {
			return nil, err
		}
	}
	return p.Backend.WriteChange(ctx, was, c)
}

// callTimeout limits one call.
const callTimeout = 30 * time.Second

func (s *env) newContext() context.Context {
	ctx, cancel := context.WithTimeout(s.Context(), callTimeout)
	s.Cleanup(cancel)
	return ctx
}

// requireSupport skips a story that the world does not support.
func (s *env) requireSupport(what ...string) {
	s.Helper()
	limit, is := s.World.(Limit)
	for _, w := range what {
		if is && !limit.CanDo(w) {
			s.Skipf("this world cannot do %q", w)
		}
	}
}

// addPlainIssue creates an ordinary issue.
func (s *env) addPlainIssue() string {
	s.Helper()
	return s.AddIssue(s.T, draftIssue("A plain issue", "Backlog", "Planned"))
}

func draftIssue(title, column string, tags ...string) tracker.Issue {
	return tracker.Issue{Card: board.Card{Title: title, Author: "alice", Description: "What is to be done.", Column: column, Tags: tags}}
}

// applyChange makes a change that must succeed.
func (s *env) applyChange(key string, c board.Change) tracker.Issue {
	s.Helper()
	is, err := s.client.Apply(s.newContext(), key, c)
	if err != nil {
		s.Fatalf("apply %+v: %v", c, err)
	}
	return is
}

// tries is how often a failing change is repeated.
const tries = 10

// retryChange repeats a change until it succeeds.
func (s *env) retryChange(key string, c board.Change) {
	s.Helper()
	var err error
	for range tries {
		if _, err = s.client.Apply(s.newContext(), key, c); err == nil {
			return
		}
		s.oneLine(err)
		var no *board.Refusal
		if errors.As(err, &no) {
			s.Fatalf("what would work is refused: %v", err)
		}
	}
	s.Fatalf("after %d tries: %v", tries, err)
}

// requireRefused makes a change that must be refused and have no effect.
func (s *env) requireRefused(key string, c board.Change, parts ...string) {
	s.Helper()
	before := s.realFacts(key)
	_, err := s.client.Apply(s.newContext(), key, c)
	s.isRefusal(err, parts...)
	if after := s.realFacts(key); before != after {
		s.Errorf("refused with %v, and yet\n%s\nis now\n%s", err, before, after)
	}
}

func (s *env) isRefusal(err error, parts ...string) {
	s.Helper()
	var no *board.Refusal
	if !errors.As(err, &no) {
		s.Fatalf("the error is %T, not a refusal: %v", err, err)
	}
	s.oneLine(err)
	for _, part := range parts {
		if !strings.Contains(err.Error(), part) {
			s.Errorf("the refusal %q does not say %q", err, part)
		}
	}
}

func (s *env) oneLine(err error) {
	s.Helper()
	if text := err.Error(); text == "" || strings.ContainsAny(text, "\r\n") || len(text) > 2000 {
		s.Errorf("an error is one line of moderate length: %.3000q", text)
	}
	s.noSecret(err.Error())
}

func (s *env) noSecret(text string) {
	s.Helper()
	if k, ok := s.World.(Keeper); ok && k.Secret() != "" && strings.Contains(text, k.Secret()) {
		s.Error("the secret is in the text of an error") // which then is not shown
	}
}

// view is the part of an issue on which both sides must agree.
type view struct {
	Key, Title, Author, Description, Column, Parent string
	Tags                                            []string
	Priority                                        tracker.Priority
	Children, BlockedBy                             []string
	Comments                                        []remark
}

type remark struct{ Author, Text string }

func viewIssue(is tracker.Issue) view {
	v := view{
		Key: is.Key, Title: is.Card.Title, Author: is.Card.Author, Description: is.Card.Description, Column: is.Card.Column, Parent: is.Parent,
		Tags: slices.Sorted(slices.Values(is.Card.Tags)), Priority: is.Priority, Children: linkTexts(is.Children), BlockedBy: linkTexts(is.BlockedBy),
	}
	for _, c := range is.Comments {
		v.Comments = append(v.Comments, remark{c.Author, c.Text})
	}
	return v
}

func linkTexts(list []tracker.Link) []string {
	var out []string
	for _, l := range list {
		text := l.Key
		if l.Closed {
			text += " (closed)"
		}
		out = append(out, text)
	}
	slices.Sort(out)
	return out
}

func (v view) String() string {
	text, err := json.MarshalIndent(v, "", " ")
	if err != nil {
		return err.Error()
	}
	return string(text)
}

// realFacts returns everything that the world has about an issue, for comparison.
func (s *env) realFacts(key string) string {
	s.Helper()
	return viewIssue(s.ReadIssue(s.T, key)).String()
}

// requireReadAsReal checks that an issue was read as it is in the world.
func (s *env) requireReadAsReal(got tracker.Issue) {
	s.Helper()
	if want := s.realFacts(got.Key); viewIssue(got).String() != want {
		s.Errorf("the issue is\n%s\nand was read as\n%s", want, viewIssue(got))
	}
}

// requireColumnAndTags checks column and tags in the world.
func (s *env) requireColumnAndTags(key, column string, tags ...string) {
	s.Helper()
	got := viewIssue(s.ReadIssue(s.T, key))
	slices.Sort(tags)
	if got.Column != column || !slices.Equal(got.Tags, tags) {
		s.Errorf("the issue is in %s with %q, want %s with %q", got.Column, got.Tags, column, tags)
	}
}

// countComments returns the number of comments of an issue that contain a text.
func (s *env) countComments(key, text string) (n int) {
	s.Helper()
	for _, c := range s.ReadIssue(s.T, key).Comments {
		if strings.Contains(c.Text, text) {
			n++
		}
	}
	return n
}

func (s *env) requirePostedOnce(key string, texts ...string) {
	s.Helper()
	for _, text := range texts {
		if n := s.countComments(key, text); n != 1 {
			s.Errorf("%.80q was said %d times", text, n)
		}
	}
}
