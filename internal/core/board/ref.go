package board

import (
	"strconv"
	"strings"
)

const refPrefix = "board:"

// Ref returns the name of a card among trackers of all kinds: board:shop/3.
func Ref(project string, number int) string {
	return refPrefix + project + "/" + strconv.Itoa(number)
}

// ParseRef parses what Ref returns.
func ParseRef(ref string) (project string, number int, ok bool) {
	rest, isBoard := strings.CutPrefix(ref, refPrefix)
	if !isBoard {
		return "", 0, false
	}
	return ParsePath(rest)
}

// ParsePath parses the name of a card without its prefix: shop/3.
func ParsePath(path string) (project string, number int, ok bool) {
	project, digits, found := strings.Cut(path, "/")
	number, ok = ParseNumber(digits)
	if !found || project == "" || !ok {
		return "", 0, false
	}
	return project, number, true
}

// ParseNumber parses the number of a card. It accepts only the canonical form.
func ParseNumber(digits string) (int, bool) {
	n, err := strconv.Atoi(digits)
	return n, err == nil && n > 0 && strconv.Itoa(n) == digits
}
