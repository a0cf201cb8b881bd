package trackertest

import (
	"errors"
	"net/http"
	"slices"
	"strings"

	"orange/internal/core/tracker"
	"orange/internal/runtime/trackers"
)

func webhookStories() []story {
	return []story{
		{"genuine deliveries name the issue", genuineDeliveries},
		{"forged deliveries are refused", forgedDeliveries},
		{"deliveries that come twice are the same", doubledDeliveries},
		{"deliveries in the wrong order lead to the real state", reorderedDeliveries},
	}
}

// senderAndParser returns a world that sends deliveries, and a client that parses them.
func (s *env) senderAndParser() (Sender, trackers.WebhookParser) {
	s.Helper()
	sender, sends := s.World.(Sender)
	parser, hears := s.port.Backend.(trackers.WebhookParser)
	if sends != hears {
		s.Fatalf("the world sends deliveries: %v; the client parses them: %v", sends, hears)
	}
	if !sends {
		s.Skip("this tracker sends no webhooks")
	}
	sender.TakeDeliveries(s.T) // earlier deliveries do not matter
	return sender, parser
}

// makeDeliveries returns several deliveries about an issue.
func (s *env) makeDeliveries(from Sender) (key string, list []Delivery) {
	s.Helper()
	key = s.addPlainIssue()
	s.MoveIssue(s.T, key, "Started")
	s.TagIssue(s.T, key, []string{"bug"}, nil)
	s.CommentIssue(s.T, key, "bob", "News!")
	if list = from.TakeDeliveries(s.T); len(list) < 2 {
		s.Fatalf("%d deliveries about an issue that came, went and was talked about", len(list))
	}
	return key, list
}

func genuineDeliveries(s *env) {
	from, parser := s.senderAndParser()
	key, list := s.makeDeliveries(from)
	named := 0
	var seen []string
	for _, d := range list {
		e, err := parser.ParseWebhook(d.Header, d.Body)
		if err != nil {
			s.Errorf("genuine delivery: %v", err)
			continue
		}
		if e.Delivery == "" || slices.Contains(seen, e.Delivery) {
			s.Errorf("delivery %q has no name of its own", e.Delivery)
		}
		seen = append(seen, e.Delivery)
		if slices.Contains(e.Keys, key) {
			named++
		}
	}
	if named < 2 {
		s.Errorf("%d of %d deliveries name the issue %s", named, len(list), key)
	}
	if more := from.TakeDeliveries(s.T); len(more) != 0 {
		s.Errorf("%d deliveries about nothing", len(more))
	}
}

func forgedDeliveries(s *env) {
	from, parser := s.senderAndParser()
	_, list := s.makeDeliveries(from)
	first, last := list[0], list[len(list)-1]
	changed := slices.Clone(first.Body)
	changed[len(changed)/2] ^= 1
	for name, d := range map[string]Delivery{
		"no headers":            {http.Header{}, first.Body},
		"a letter is changed":   {first.Header, changed},
		"something is added":    {first.Header, append(slices.Clone(first.Body), ' ')},
		"nothing is left":       {first.Header, nil},
		"the words of another":  {first.Header, last.Body},
		"signatures are empty":  {replaceSignatures(first.Header, func(string) string { return "" }), first.Body},
		"signatures are cut":    {replaceSignatures(first.Header, func(v string) string { return v[:max(0, len(v)-2)] }), first.Body},
		"signatures are noise":  {replaceSignatures(first.Header, func(v string) string { return strings.Repeat("\x00é", 5000) }), first.Body},
		"signed with no secret": {replaceSignatures(first.Header, func(v string) string { return "sha256=" + strings.Repeat("0", 64) }), first.Body},
	} {
		e, err := parser.ParseWebhook(d.Header, d.Body)
		if !errors.Is(err, tracker.ErrForged) {
			s.Errorf("%s: %+v, %v", name, e, err)
			continue
		}
		s.oneLine(err)
	}
	if _, err := parser.ParseWebhook(first.Header, first.Body); err != nil {
		s.Errorf("after all of this the genuine one: %v", err)
	}
}

// replaceSignatures changes every header that may be a signature.
func replaceSignatures(h http.Header, to func(string) string) http.Header {
	out := h.Clone()
	for name := range out {
		if strings.Contains(strings.ToLower(name), "signature") {
			out.Set(name, to(out.Get(name)))
		}
	}
	return out
}

func doubledDeliveries(s *env) {
	from, parser := s.senderAndParser()
	_, list := s.makeDeliveries(from)
	for _, d := range list {
		once, err := parser.ParseWebhook(d.Header, d.Body)
		twice, again := parser.ParseWebhook(d.Header, d.Body)
		if err != nil || again != nil || once.Delivery != twice.Delivery || !slices.Equal(once.Keys, twice.Keys) {
			s.Errorf("%+v, %v is %+v, %v the second time", once, err, twice, again)
		}
	}
}

func reorderedDeliveries(s *env) {
	from, parser := s.senderAndParser()
	key, list := s.makeDeliveries(from)
	s.MoveIssue(s.T, key, "Finished")
	list = append(list, from.TakeDeliveries(s.T)...)
	slices.Reverse(list)
	for _, d := range list {
		e, err := parser.ParseWebhook(d.Header, d.Body)
		if err != nil {
			s.Fatal(err)
		}
		for _, k := range e.Keys { // the issue is read, whatever the delivery contains
			got, err := s.client.ReadIssue(s.newContext(), k)
			if err != nil {
				s.Fatal(err)
			}
			s.requireReadAsReal(got)
		}
	}
	s.requireColumnAndTags(key, "Finished", "Planned", "bug")
}
