package signal

import (
	"errors"
	"io"
	"strings"
)

// A form is one form of a report.
type form struct {
	protocol Protocol
	source   Source
	finder   func(DetectOptions, *notes) finder
}

// precedence orders the forms: if several are found, the first counts.
var precedence = [...]form{
	{WorkerResult, FromJSON, newResultFinder},
	{CompletionBlock, FromBlock, newBlockFinder},
	{WorkResult, FromMarker, newMarkerFinder},
	{CompletionBlock, FromLegacy, newLegacyFinder},
	{WorkResult, FromHeuristic, newHeuristicFinder},
}

// A finder searches for one form in a text that it receives in pieces.
type finder interface {
	takePiece(p *piece)
	foundReport() (Report, bool) // called after the last piece
}

// Detect searches a text for an agent's report about its work. It reads the text once and keeps
// little of it in memory. The error is that of reading.
func Detect(r io.Reader, l DetectOptions) (Report, error) {
	s := newSearch(l)
	if err := s.readText(r, make([]byte, 0, bufferSize)); err != nil {
		return s.bestReport(), err
	}
	return s.bestReport(), nil
}

// DetectText is Detect for a string.
func DetectText(text string, l DetectOptions) Report {
	s := newSearch(l)
	r := strings.NewReader(text)
	if err := s.readText(r, make([]byte, 0, min(bufferSize, len(text)+1))); err != nil && !errors.Is(err, io.EOF) {
		s.notes.add(0, err.Error())
	}
	return s.bestReport()
}

// search is one pass over a text.
type search struct {
	options DetectOptions
	notes   notes
	quotes  quotation
	forms   []form
	finders []finder
	line    int  // of the next piece
	inside  bool // the next piece continues a line
	piece   piece
}

func newSearch(l DetectOptions) *search {
	if l.Protocol == "" {
		l.Protocol = AnyProtocol
	}
	s := &search{options: l, line: 1}
	for _, f := range precedence {
		if l.Protocol == AnyProtocol || l.Protocol == f.protocol {
			s.forms = append(s.forms, f)
			s.finders = append(s.finders, f.finder(l, &s.notes))
		}
	}
	return s
}

// takePiece passes one piece of a line to every finder.
func (s *search) takePiece(text []byte, has seenBytes, last bool) {
	p := &s.piece
	p.text, p.has, p.line, p.first, p.last = text, has, s.line, !s.inside, last
	if p.first {
		p.where = s.quotes.placeOf(text)
	} else if s.quotes.html.kind != noHTML {
		s.quotes.html.followLine(text)
	}
	for _, f := range s.finders {
		f.takePiece(p)
	}
	s.inside = !last
	if last {
		s.line++
	}
}

// bestReport returns the most trusted report that was found.
func (s *search) bestReport() Report {
	out := Report{Protocol: s.options.Protocol, Outcome: Unknown}
	counts := false
	for i, f := range s.finders {
		r, ok := f.foundReport()
		if !ok {
			continue
		}
		r.Protocol, r.Source = s.forms[i].protocol, s.forms[i].source
		switch {
		case !counts:
			out, counts = r, true
		case r.Outcome != out.Outcome:
			s.notes.add(0, "a "+string(r.Source)+" says "+string(r.Outcome)+", and a "+string(out.Source)+" counts before it")
		}
	}
	out.Diagnosis = s.notes.joinNotes()
	return out
}

// describeNonceRefusal returns why a report with this nonce does not count, or "" if it does.
func (l DetectOptions) describeNonceRefusal(nonce string) string {
	switch {
	case l.Nonce == "" || nonce == l.Nonce:
		return ""
	case nonce != "":
		return "with nonce=" + quoteOddWord(nonce) + ", and the prompt gave " + quoteOddWord(l.Nonce)
	case !l.OwnStream:
		return "without nonce=" + quoteOddWord(l.Nonce) + ", which the prompt gave"
	}
	return ""
}
