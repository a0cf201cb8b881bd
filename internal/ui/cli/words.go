package cli

import (
	"errors"
	"fmt"
	"io"
	"strings"
	"unicode/utf8"
)

// maxWords bounds what a person says to an agent, in bytes.
const maxWords = 64 << 10

// said is what a person says: the text itself, or standard input for "-".
func (d Deps) said(text string) (string, error) {
	from := io.Reader(strings.NewReader(text))
	if text == "-" {
		from = d.Stdin
	}
	all, err := io.ReadAll(io.LimitReader(from, maxWords+1))
	switch {
	case err != nil:
		return "", fmt.Errorf("read the message: %w", err)
	case len(all) > maxWords:
		return "", errors.New("the message is longer than 64 KB: put it into a file of the repository and name that")
	case !utf8.Valid(all):
		return "", errors.New("the message is not text: give UTF-8")
	}
	return strings.TrimSpace(string(all)), nil
}
