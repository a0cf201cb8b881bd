package trackertest

import (
	"errors"
	"fmt"
	"strings"

	"orange/internal/core/board"
	"orange/internal/core/tracker"
)

func faultStories() []story {
	return []story{
		{"a server that fails once does it in the end", brokenOnce},
		{"a server that fails twice does it in the end", brokenTwice},
		{"a server that fails when it is read is no issue that is gone", brokenReads},
		{"a comment whose answer is lost is said once", lostComment},
		{"a part of a long comment whose answer is lost is said once", lostPart},
		{"a change of state whose answer is lost is made", lostState},
		{"all kinds of changes survive answers that are lost", lostAll},
		{"too many requests are made a moment later", limited},
		{"too many reads are made a moment later", limitedReads},
		{"a bad secret is an error that does not tell it", denied},
	}
}

func brokenOnce(s *stage)  { broken(s, 1) }
func brokenTwice(s *stage) { broken(s, 2) }

func broken(s *stage, times int) {
	s.needs(Broken)
	key := s.plain()
	s.Fail(Fault{Kind: Broken, Times: times, Writes: true})
	s.insist(key, everyKind("broken/1"))
	s.isEveryKind(key)
	s.insist(key, everyKind("broken/1"))
	s.isEveryKind(key)
}

func brokenReads(s *stage) {
	s.needs(Broken)
	key := s.plain()
	s.Fail(Fault{Kind: Broken, Times: 2})
	for range tries {
		_, err := s.desk.Issue(s.ctx(), key)
		if errors.Is(err, tracker.ErrNotFound) {
			s.Fatalf("a server that fails: %v", err)
		}
		if err == nil {
			break
		}
		s.oneLine(err)
	}
	s.Fail(Fault{Kind: Broken, Times: 2})
	s.insist(key, everyKind("broken/2"))
	s.isEveryKind(key)
}

func lostComment(s *stage) {
	s.needs(Lost)
	key := s.plain()
	s.Fail(Fault{Kind: Lost, Times: 1, Writes: true})
	s.insist(key, board.Change{Key: "lost/1", Comment: "Only once."})
	s.saidOnce(key, "Only once.")
	s.insist(key, board.Change{Key: "lost/1", Comment: "Only once."})
	s.saidOnce(key, "Only once.")
}

func lostPart(s *stage) {
	s.needs(Lost)
	key, long := s.plain(), lines(30<<10)
	lost := false
	s.port.before = func(nth int, _ board.Change) {
		if nth == 2 && !lost {
			lost = true
			s.Fail(Fault{Kind: Lost, Times: 1, Writes: true})
		}
	}
	s.insist(key, board.Change{Key: "lost/2", Comment: long})
	s.holdsAll(key, long)
}

func lostState(s *stage) {
	s.needs(Lost)
	for i, c := range []board.Change{
		{Column: "Finished"}, {AddTags: []string{"Ready"}}, {RemoveTags: []string{"Planned"}}, {Title: "Another"}, {Description: text("Another.")},
	} {
		key := s.plain()
		c.Key = fmt.Sprint("lost/state/", i)
		s.Fail(Fault{Kind: Lost, Times: 1, Writes: true})
		s.insist(key, c)
		is := s.Real(s.T, key)
		if why := board.MissingEffect(is.Card, c); why != "" || len(is.Comments) != 0 {
			s.Errorf("%+v: %s, %d comments", c, why, len(is.Comments))
		}
	}
}

func lostAll(s *stage) {
	s.needs(Lost)
	key := s.plain()
	s.Fail(Fault{Kind: Lost, Times: 3, Writes: true})
	s.insist(key, everyKind("lost/all"))
	s.isEveryKind(key)
}

func limited(s *stage) {
	s.needs(Limited)
	key := s.plain()
	s.Fail(Fault{Kind: Limited, Times: 2, Writes: true})
	s.insist(key, everyKind("limited/1"))
	s.isEveryKind(key)
}

func limitedReads(s *stage) {
	s.needs(Limited)
	key := s.plain()
	s.Fail(Fault{Kind: Limited, Times: 2})
	s.insist(key, everyKind("limited/2"))
	s.isEveryKind(key)
}

func denied(s *stage) {
	s.needs(Denied)
	key := s.plain()
	if _, err := s.desk.Words(s.ctx()); err != nil {
		s.Fatal(err)
	}
	before := s.facts(key)
	s.Fail(Fault{Kind: Denied, Times: 1000})
	stranger, _ := s.client()
	_, apply := s.desk.Apply(s.ctx(), key, everyKind("denied/1"))
	_, read := s.desk.Issue(s.ctx(), key)
	_, list := s.desk.List(s.ctx(), tracker.Query{})
	_, words := stranger.Words(s.ctx())
	_, name := stranger.Whoami(s.ctx())
	for what, err := range map[string]error{"apply": apply, "read": read, "list": list, "words": words, "whoami": name} {
		var no *board.Refusal
		switch {
		case err == nil:
			s.Errorf("%s: no error", what)
			continue
		case errors.As(err, &no) || errors.Is(err, tracker.ErrNotFound) || errors.Is(err, tracker.ErrStale):
			s.Errorf("%s: a bad secret is taken for something else: %v", what, err)
		}
		s.oneLine(err)
		for _, part := range []string{"Bearer ", "Authorization:", "://orange:"} {
			if strings.Contains(err.Error(), part) {
				s.Errorf("%s: the error shows %q", what, part)
			}
		}
	}
	if after := s.facts(key); before != after {
		s.Errorf("before\n%s\nafter\n%s", before, after)
	}
}
