package workflow

import (
	"encoding/json"
	"errors"
	"path"
	"strings"
	"unicode/utf8"
)

// JSONProblem returns why a file that should be JSON cannot be parsed, and where. It returns
// nil if the file can be parsed or should not be JSON.
func JSONProblem(file, text string) error {
	r := &reader{file: file}
	if _, ok := r.openRoot(text); ok && r.json {
		r.failJSON(text)
	}
	if r.json && r.err != nil {
		return r.err
	}
	return nil
}

// inJSON reports whether a text should be JSON: by the name of its file, or else by how it
// begins.
func inJSON(file, text string) bool {
	name, _, _ := strings.Cut(path.Base(file), "#")
	switch strings.ToLower(path.Ext(name)) {
	case ".json":
		return true
	case ".yaml", ".yml":
		return false
	}
	return strings.HasPrefix(strings.TrimSpace(text), "{")
}

// failJSON reports what is wrong with a text that is not JSON.
func (r *reader) failJSON(text string) {
	var syntax *json.SyntaxError
	if err := json.Unmarshal([]byte(text), &json.RawMessage{}); !errors.As(err, &syntax) {
		return
	}
	at := max(0, min(int(syntax.Offset), len(text))-1)
	before := strings.TrimRight(text[:at], " \t\r\n")
	begins := strings.TrimLeft(text, " \t\r\n")
	switch bad := text[at:]; {
	case begins == "" || !strings.ContainsAny(begins[:1], "{["):
		r.failAt(placeOf(text, len(text)-len(begins)), "the file does not begin with {: write it as JSON, or call it .yaml if it is YAML")
	case strings.HasPrefix(syntax.Error(), "unexpected end"):
		r.failAt(placeOf(text, len(strings.TrimRight(text, " \t\r\n"))), "the JSON ends too early: close what is open, with }, ] or a quote")
	case strings.HasSuffix(before, ",") && strings.ContainsAny(bad[:1], "}]"):
		r.failAt(placeOf(text, len(before)-1), "a comma before %s is not JSON: remove it", bad[:1])
	default:
		r.failAt(placeOf(text, at), "%s: fix the JSON here", syntax)
	}
}

// placeOf returns the position of a byte of a text.
func placeOf(text string, offset int) Pos {
	before := text[:offset]
	return Pos{
		Line:   1 + strings.Count(before, "\n"),
		Column: 1 + utf8.RuneCountInString(before[strings.LastIndexByte(before, '\n')+1:]),
	}
}
