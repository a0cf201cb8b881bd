// Package question detects whether an agent asks a person something. Agents mostly ask by
// ending their turn with a question in prose, and no CLI reports that as an event.
package question

import (
	"strings"
	"unicode"

	"orange/internal/lazy"
	"orange/internal/view/markdown"
)

// maxRead is how much of the end of a message is examined, in bytes. Questions are at the end.
const maxRead = 16 << 10

// lastParts is how many parts at the end of a message are examined: agents put a list of
// choices, or a sentence about what they would do, below a question.
const lastParts = 3

// AsksReader reports whether a message ends by asking the reader for something that its author
// needs to continue. A polite offer at the end of finished work is not a question, and neither
// is a question that the message itself answers.
func AsksReader(message string) bool {
	if len(message) > maxRead {
		message = message[len(message)-maxRead:]
	}
	parts := partsOf(markdown.ParseBlocks(strings.ToValidUTF8(message, "")))
	for len(parts) > 0 && isPolite(parts[len(parts)-1].text) { // the question is above it
		parts = parts[:len(parts)-1]
	}
	if len(parts) > lastParts {
		parts = parts[len(parts)-lastParts:]
	}
	for i, p := range parts {
		if asksSomething(p, i == len(parts)-1) {
			return true
		}
	}
	return false
}

// A part is a paragraph, a heading, or all items of a list.
type part struct {
	text string
	list bool
}

// partsOf returns what the author says in its own words: no code, no quotations, no tables.
func partsOf(blocks []markdown.Block) []part {
	var out []part
	for i := range blocks {
		switch b := &blocks[i]; b.Kind {
		case markdown.Heading, markdown.Paragraph:
			out = append(out, part{text: plainText(b.Text)})
		case markdown.List:
			var points []string
			for _, item := range b.Items {
				for _, p := range partsOf(item.Blocks) {
					points = append(points, p.text)
				}
			}
			out = append(out, part{text: strings.Join(points, "\n"), list: true})
		}
	}
	return out
}

func plainText(spans []markdown.Span) string {
	var b strings.Builder
	for _, s := range spans {
		if s.Raw {
			b.WriteString("code")
			continue
		}
		b.WriteString(s.Text)
	}
	return b.String()
}

var (
	// sentence matches text up to the punctuation that ends it.
	sentence = lazy.NewRegexp(`[^.!?？。\n]*(?:[.!?？。]+|\n|$)`)

	// politeEnd matches a polite end of finished work.
	politeEnd = lazy.NewRegexp(`(?i)\b(anything else|any (other )?questions|any (further|other|more) (changes|questions|adjustments|help)|further (help|assistance)|help (you )?with (anything|something)|` +
		`(else|more) (i can|can i) (do|help)|if you('d| would)? (like|want|need|prefer|have|run into|hit)|feel free|happy to (help|make|adjust|explain|walk))\b`)

	// farewell matches words of parting.
	farewell = lazy.NewRegexp(`(?i)\blet me know how (it|that|this|things) (go|goes|went|works?|looks?)\b|^\W*(thanks|thank you|cheers|danke)\b[^.!?]*`)

	// approval matches a request without a question mark that looks like a polite offer.
	approval = lazy.NewRegexp(`(?i)\b(let me know|tell me|say so|confirm) (if|whether|when) you('d| would)? (like|want) me to (proceed|continue|go (on|ahead)|start|begin|implement|merge|push|delete|do (it|that|this))\b`)

	// addressed matches a question that only the reader can answer, anywhere in the last parts.
	addressed = lazy.NewRegexp(`(?i)\b(should|shall|may|can|could|do|must) (i|we)\b|\b(do|would|could|can|should|did|are|have|will) you\b|\bwhich (one|option|approach|of|way|do|would|should)\b|` +
		`\b(what|how|where|when) (would|do|should|did|exactly do|exactly should) (you|i|we)\b|\bis (it|that|this) (ok|okay|fine|correct|right|acceptable|what you|intended)\b|\b(ok|okay|good) to (go|proceed|continue|merge|delete|commit)\b|` +
		`\byour (preference|choice|call|decision|thoughts)\b|\b(soll|darf|kann|möchtest|wollen|willst|welche[rsn]?)\b`)

	// request matches a sentence without a question mark that waits for the reader.
	request = lazy.NewRegexp(`(?i)\b(please|kindly) (confirm|advise|clarify|choose|decide|provide|specify|tell me|let me know|approve|answer|pick|select|share|review and (confirm|approve)|respond|reply)\b|` +
		`\blet me know (which|what|how|whether|when|where|your|once|if (i should|it'?s (ok|fine)|that'?s (ok|fine)|this is (ok|fine)|you approve|i may|i can))\b|` +
		`\b(tell me|i need to know) (which|what|how|whether|when|where|if)\b|` +
		`\b(i('m| am)? )?(am |will be |'ll )?(wait|waiting|await|awaiting) (for )?(your|a|an|the|further)? ?(answer|reply|response|input|decision|confirmation|approval|go-ahead|guidance|instructions|clarification|feedback|credentials)\b|` +
		`\bi('ll| will)? need (your|a|an|you to|some|more)\b.*\b(answer|input|decision|confirmation|approval|permission|access|credentials|token|key|clarification|information|details|guidance|choose|decide|confirm|provide|tell)\b|` +
		`\b(before|until) (i|we) (can )?(proceed|continue|go on|start|begin|change|touch|implement)\b.*\b(you|your|confirm|approval|answer)\b|\bonce you('ve| have)? (confirm|decide|approve|answer|choose|let me know|reply|provide)|` +
		`\b(say|reply|answer|type|respond with) ["'“‘]?(yes|no|y|go|ok|proceed|continue|approve)\b|` +
		`\bbitte (bestätig|entscheid|sag|teil|wähl|antwort)`)
)

// asksSomething reports whether one part of a message asks something. The last part may end
// with any question; in earlier parts only a question to the reader counts.
func asksSomething(p part, last bool) bool {
	p.text = farewell.ReplaceAllString(p.text, "")
	if approval.MatchString(p.text) {
		return true
	}
	if request.MatchString(p.text) && !politeEnd.MatchString(request.FindString(p.text)) {
		return true
	}
	if p.list && onlyQuestions(p.text) { // below it the author may describe what it does in the meantime
		return true
	}
	sentences := sentence.FindAllString(p.text, -1)
	final := -1
	for i, s := range sentences {
		if strings.ContainsFunc(s, func(r rune) bool { return r > ' ' && !strings.ContainsRune(`.)"'”’»*_…`, r) }) {
			final = i
		}
	}
	for i, s := range sentences {
		if !isQuestion(s) || politeEnd.MatchString(s) {
			continue
		}
		if addressed.MatchString(s) || last && (i == final || p.list) {
			return true
		}
	}
	return false
}

// onlyQuestions reports whether every line of a text is a question.
func onlyQuestions(text string) bool {
	for line := range strings.Lines(text) {
		if !isQuestion(line) || politeEnd.MatchString(line) {
			return false
		}
	}
	return text != ""
}

// isPolite reports whether a text is only a polite end.
func isPolite(text string) bool {
	for _, s := range sentence.FindAllString(farewell.ReplaceAllString(text, ""), -1) {
		words := strings.ContainsFunc(s, unicode.IsLetter)
		if words && (!politeEnd.MatchString(s) || approval.MatchString(s)) {
			return false
		}
	}
	return true
}

func isQuestion(s string) bool {
	s = strings.TrimRight(s, " \t\n")
	return strings.HasSuffix(strings.TrimRight(s, "!"), "?") || strings.HasSuffix(s, "？")
}
