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
	"orange/internal/runtime/track"
)

// A story is one thing that every tracker can do.
type story struct {
	name string
	tell func(s *stage)
}

// Run plays everything that a tracker must be able to do, each on a world of its own. It
// works as Orange does, through a desk, and looks at the world to see what came of it.
func Run(t *testing.T, open func(t *testing.T) World) {
	for _, st := range slices.Concat(readStories(), changeStories(), faultStories(), meanwhileStories(), textStories(), newsStories()) {
		t.Run(st.name, func(t *testing.T) {
			w := open(t)
			s := &stage{T: t, World: w}
			s.desk, s.port = s.client()
			st.tell(s)
		})
	}
}

// stage is a world with one client at work.
type stage struct {
	*testing.T
	World
	desk *track.Client
	port *watched // under the desk
}

// client opens another one, which knows nothing yet.
func (s *stage) client() (*track.Client, *watched) {
	port := &watched{Backend: s.Open(s.T)}
	return track.NewClient(port), port
}

// watched is a port that is watched, and that lets somebody else act before a write.
type watched struct {
	track.Backend
	before func(nth int, c board.Change) // of the writes, counted from 1; nil: nobody acts
	fail   func(nth int) error           // instead of the write; nil: never

	mu     sync.Mutex
	writes int
	words  int // how often they were read
}

func (p *watched) count(n *int) int {
	p.mu.Lock()
	defer p.mu.Unlock()
	*n++
	return *n
}

// Words implements track.Backend.
func (p *watched) Words(ctx context.Context) (board.Vocabulary, error) {
	p.count(&p.words)
	return p.Backend.Words(ctx)
}

// Write implements track.Backend.
func (p *watched) Write(ctx context.Context, was tracker.Issue, c board.Change) error {
	nth := p.count(&p.writes)
	if p.before != nil {
		p.before(nth, c)
	}
	if p.fail != nil {
		if err := p.fail(nth); err != nil {
			return err
		}
	}
	return p.Backend.Write(ctx, was, c)
}

// patience bounds one call, however it fails.
const patience = 30 * time.Second

func (s *stage) ctx() context.Context {
	ctx, cancel := context.WithTimeout(s.Context(), patience)
	s.Cleanup(cancel)
	return ctx
}

// needs skips a story that the world cannot play.
func (s *stage) needs(what ...string) {
	s.Helper()
	limit, is := s.World.(Limit)
	for _, w := range what {
		if is && !limit.Can(w) {
			s.Skipf("this world cannot do %q", w)
		}
	}
}

// plain is an issue with nothing special about it.
func (s *stage) plain() string {
	s.Helper()
	return s.Add(s.T, draft("A plain issue", "Backlog", "Planned"))
}

func draft(title, column string, tags ...string) tracker.Issue {
	return tracker.Issue{Card: board.Card{Title: title, Author: "alice", Description: "What is to be done.", Column: column, Tags: tags}}
}

// apply makes a change that must come out right.
func (s *stage) apply(key string, c board.Change) tracker.Issue {
	s.Helper()
	is, err := s.desk.Apply(s.ctx(), key, c)
	if err != nil {
		s.Fatalf("apply %+v: %v", c, err)
	}
	return is
}

// tries is how often a change that fails is made again.
const tries = 10

// insist makes a change again, as it is, until it comes out right.
func (s *stage) insist(key string, c board.Change) {
	s.Helper()
	var err error
	for range tries {
		if _, err = s.desk.Apply(s.ctx(), key, c); err == nil {
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

// refused makes a change that must be refused, and leaves nothing behind.
func (s *stage) refused(key string, c board.Change, parts ...string) {
	s.Helper()
	before := s.facts(key)
	_, err := s.desk.Apply(s.ctx(), key, c)
	s.isRefusal(err, parts...)
	if after := s.facts(key); before != after {
		s.Errorf("refused with %v, and yet\n%s\nis now\n%s", err, before, after)
	}
}

func (s *stage) isRefusal(err error, parts ...string) {
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

func (s *stage) oneLine(err error) {
	s.Helper()
	if text := err.Error(); text == "" || strings.ContainsAny(text, "\r\n") || len(text) > 2000 {
		s.Errorf("an error is one line of moderate length: %.3000q", text)
	}
	s.noSecret(err.Error())
}

func (s *stage) noSecret(text string) {
	s.Helper()
	if k, ok := s.World.(Keeper); ok && k.Secret() != "" && strings.Contains(text, k.Secret()) {
		s.Error("the secret is in the text of an error") // which is not shown, then
	}
}

// view is what of an issue both sides must agree on.
type view struct {
	Key, Title, Author, Description, Column, Parent string
	Tags                                            []string
	Priority                                        tracker.Priority
	Children, BlockedBy                             []string
	Comments                                        []remark
}

type remark struct{ Author, Text string }

func look(is tracker.Issue) view {
	v := view{
		Key: is.Key, Title: is.Card.Title, Author: is.Card.Author, Description: is.Card.Description, Column: is.Card.Column, Parent: is.Parent,
		Tags: slices.Sorted(slices.Values(is.Card.Tags)), Priority: is.Priority, Children: links(is.Children), BlockedBy: links(is.BlockedBy),
	}
	for _, c := range is.Comments {
		v.Comments = append(v.Comments, remark{c.Author, c.Text})
	}
	return v
}

func links(list []tracker.Link) []string {
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

// facts are all that the world knows about an issue, to be compared.
func (s *stage) facts(key string) string {
	s.Helper()
	return look(s.Real(s.T, key)).String()
}

// agrees checks that an issue was read as it is.
func (s *stage) agrees(got tracker.Issue) {
	s.Helper()
	if want := s.facts(got.Key); look(got).String() != want {
		s.Errorf("the issue is\n%s\nand was read as\n%s", want, look(got))
	}
}

// has checks column and tags at the world.
func (s *stage) has(key, column string, tags ...string) {
	s.Helper()
	got := look(s.Real(s.T, key))
	slices.Sort(tags)
	if got.Column != column || !slices.Equal(got.Tags, tags) {
		s.Errorf("the issue is in %s with %q, want %s with %q", got.Column, got.Tags, column, tags)
	}
}

// said counts the comments of an issue that hold a text.
func (s *stage) said(key, text string) (n int) {
	s.Helper()
	for _, c := range s.Real(s.T, key).Comments {
		if strings.Contains(c.Text, text) {
			n++
		}
	}
	return n
}

func (s *stage) saidOnce(key string, texts ...string) {
	s.Helper()
	for _, text := range texts {
		if n := s.said(key, text); n != 1 {
			s.Errorf("%.80q was said %d times", text, n)
		}
	}
}
