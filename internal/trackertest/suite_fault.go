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
		{"too many requests are made a moment later", limitedWrites},
		{"too many reads are made a moment later", limitedReads},
		{"a bad secret is an error that does not tell it", deniedSecret},
	}
}

func brokenOnce(s *env)  { brokenWrites(s, 1) }
func brokenTwice(s *env) { brokenWrites(s, 2) }

func brokenWrites(s *env, times int) {
	s.requireSupport(Broken)
	key := s.addPlainIssue()
	s.InjectFault(Fault{Kind: Broken, Times: times, Writes: true})
	s.retryChange(key, everyKind("broken/1"))
	s.isEveryKind(key)
	s.retryChange(key, everyKind("broken/1"))
	s.isEveryKind(key)
}

func brokenReads(s *env) {
	s.requireSupport(Broken)
	key := s.addPlainIssue()
	s.InjectFault(Fault{Kind: Broken, Times: 2})
	for range tries {
		_, err := s.client.ReadIssue(s.newContext(), key)
		if errors.Is(err, tracker.ErrNotFound) {
			s.Fatalf("a server that fails: %v", err)
		}
		if err == nil {
			break
		}
		s.oneLine(err)
	}
	s.InjectFault(Fault{Kind: Broken, Times: 2})
	s.retryChange(key, everyKind("broken/2"))
	s.isEveryKind(key)
}

func lostComment(s *env) {
	s.requireSupport(Lost)
	key := s.addPlainIssue()
	s.InjectFault(Fault{Kind: Lost, Times: 1, Writes: true})
	s.retryChange(key, board.Change{Key: "lost/1", Comment: "Only once."})
	s.requirePostedOnce(key, "Only once.")
	s.retryChange(key, board.Change{Key: "lost/1", Comment: "Only once."})
	s.requirePostedOnce(key, "Only once.")
}

func lostPart(s *env) {
	s.requireSupport(Lost)
	key, long := s.addPlainIssue(), linesOfSize(30<<10)
	lost := false
	s.port.before = func(nth int, _ board.Change) {
		if nth == 2 && !lost {
			lost = true
			s.InjectFault(Fault{Kind: Lost, Times: 1, Writes: true})
		}
	}
	s.retryChange(key, board.Change{Key: "lost/2", Comment: long})
	s.holdsAll(key, long)
}

func lostState(s *env) {
	s.requireSupport(Lost)
	for i, c := range []board.Change{
		{Column: "Finished"}, {AddTags: []string{"Ready"}}, {RemoveTags: []string{"Planned"}}, {Title: "Another"}, {Description: textPointer("Another.")},
	} {
		key := s.addPlainIssue()
		c.Key = fmt.Sprint("lost/state/", i)
		s.InjectFault(Fault{Kind: Lost, Times: 1, Writes: true})
		s.retryChange(key, c)
		is := s.ReadIssue(s.T, key)
		if why := board.MissingEffect(is.Card, c); why != "" || len(is.Comments) != 0 {
			s.Errorf("%+v: %s, %d comments", c, why, len(is.Comments))
		}
	}
}

func lostAll(s *env) {
	s.requireSupport(Lost)
	key := s.addPlainIssue()
	s.InjectFault(Fault{Kind: Lost, Times: 3, Writes: true})
	s.retryChange(key, everyKind("lost/all"))
	s.isEveryKind(key)
}

func limitedWrites(s *env) {
	s.requireSupport(Limited)
	key := s.addPlainIssue()
	s.InjectFault(Fault{Kind: Limited, Times: 2, Writes: true})
	s.retryChange(key, everyKind("limited/1"))
	s.isEveryKind(key)
}

func limitedReads(s *env) {
	s.requireSupport(Limited)
	key := s.addPlainIssue()
	s.InjectFault(Fault{Kind: Limited, Times: 2})
	s.retryChange(key, everyKind("limited/2"))
	s.isEveryKind(key)
}

func deniedSecret(s *env) {
	s.requireSupport(Denied)
	key := s.addPlainIssue()
	if _, err := s.client.ReadVocabulary(s.newContext()); err != nil {
		s.Fatal(err)
	}
	before := s.realFacts(key)
	s.InjectFault(Fault{Kind: Denied, Times: 1000})
	stranger, _ := s.newClient()
	_, apply := s.client.Apply(s.newContext(), key, everyKind("denied/1"))
	_, read := s.client.ReadIssue(s.newContext(), key)
	_, list := s.client.ListIssues(s.newContext(), tracker.Query{})
	_, words := stranger.ReadVocabulary(s.newContext())
	_, name := stranger.AccountName(s.newContext())
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
	if after := s.realFacts(key); before != after {
		s.Errorf("before\n%s\nafter\n%s", before, after)
	}
}
