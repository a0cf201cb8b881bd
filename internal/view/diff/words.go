package diff

import (
	"unicode"
	"unicode/utf8"
)

const (
	maxWords = 300 // words of a line above which words are not compared
	// leastCommon is the part of the longer line, in percent, that both lines must have in common: the words of lines that
	// have nothing to do with each other are not worth marking.
	leastCommon = 35
)

// compareWords returns the stretches of two lines that differ, in bytes. It returns nothing if the lines have little in common.
func compareWords(before, after string) (gone, added [][2]int) {
	a, b := splitWords(before), splitWords(after)
	if len(a) == 0 || len(b) == 0 || len(a) > maxWords || len(b) > maxWords {
		return nil, nil
	}
	inA, inB := commonWords(a, b)
	common := 0
	for i, both := range inA {
		if both && !isBlank(a[i]) {
			common += len(a[i])
		}
	}
	if longer := max(textSize(a), textSize(b)); common*100 < longer*leastCommon {
		return nil, nil
	}
	return differing(a, inA), differing(b, inB)
}

// splitWords splits a line into words, runs of blanks, and other characters.
func splitWords(line string) []string {
	var out []string
	kind := func(r rune) int {
		switch {
		case unicode.IsLetter(r) || unicode.IsDigit(r) || r == '_':
			return 1
		case unicode.IsSpace(r):
			return 2
		}
		return 0
	}
	start, last := 0, -1
	for i, r := range line {
		k := kind(r)
		if last >= 0 && (k != last || k == 0) {
			out = append(out, line[start:i])
			start = i
		}
		last = k
	}
	if start < len(line) {
		out = append(out, line[start:])
	}
	return out
}

func isBlank(word string) bool {
	r, _ := utf8.DecodeRuneInString(word)
	return unicode.IsSpace(r)
}

// textSize returns the size of words without blanks.
func textSize(words []string) int {
	n := 0
	for _, w := range words {
		if !isBlank(w) {
			n += len(w)
		}
	}
	return n
}

// commonWords reports which words of two lists belong to their longest common subsequence.
func commonWords(a, b []string) (inA, inB []bool) {
	inA, inB = make([]bool, len(a)), make([]bool, len(b))
	best := make([][]int, len(a)+1) // of the words from i and from j
	for i := range best {
		best[i] = make([]int, len(b)+1)
	}
	for i := len(a) - 1; i >= 0; i-- {
		for j := len(b) - 1; j >= 0; j-- {
			if best[i][j] = max(best[i+1][j], best[i][j+1]); a[i] == b[j] {
				best[i][j] = max(best[i][j], best[i+1][j+1]+1)
			}
		}
	}
	for i, j := 0, 0; i < len(a) && j < len(b); {
		switch {
		case a[i] == b[j]:
			inA[i], inB[j] = true, true
			i, j = i+1, j+1
		case best[i+1][j] >= best[i][j+1]:
			i++
		default:
			j++
		}
	}
	return inA, inB
}

// differing returns the stretches of words that are not common. A blank between two of them belongs to both.
func differing(words []string, common []bool) [][2]int {
	var out [][2]int
	at := 0
	for i, w := range words {
		end := at + len(w)
		bridge := isBlank(w) && i > 0 && i+1 < len(words) && !common[i-1] && !common[i+1]
		if !common[i] || bridge {
			if n := len(out); n > 0 && out[n-1][1] == at {
				out[n-1][1] = end
			} else {
				out = append(out, [2]int{at, end})
			}
		}
		at = end
	}
	return out
}

// markSpans splits spans at the ends of the stretches and marks what is inside.
func markSpans(spans []TextPart, marks [][2]int) []TextPart {
	var out []TextPart
	at := 0
	for _, s := range spans {
		for text := s.Text; text != ""; {
			end, marked := at+len(text), false
			for _, m := range marks {
				switch {
				case at >= m[0] && at < m[1]:
					end, marked = min(end, m[1]), true
				case m[0] > at:
					end = min(end, m[0])
				}
			}
			n := end - at
			out = append(out, TextPart{s.Class, text[:n], marked})
			text, at = text[n:], end
		}
	}
	return out
}
