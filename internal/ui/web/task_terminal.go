package web

import (
	"encoding/json"
	"errors"
	"fmt"
	"net/http"
	"net/url"
	"strconv"
	"strings"
	"time"

	"orange/internal/core/task"
	"orange/internal/ui/client"
	"orange/internal/view/ansi"
	"orange/internal/view/humanize"
	"orange/internal/wire"
)

// maxTyped limits the length of a typed line, in bytes.
const maxTyped = 4 << 10

// A terminalRun is a piece of text with one style. Its class is one of a fixed set: an agent cannot
// choose it freely.
type terminalRun struct {
	Class string `json:"c,omitempty"`
	Text  string `json:"t"`
}

// terminalLines converts lines of a terminal for a page.
func terminalLines(lines []ansi.Line) [][]terminalRun {
	out := make([][]terminalRun, len(lines))
	for i, line := range lines {
		out[i] = make([]terminalRun, len(line))
		for j, run := range line {
			out[i][j] = terminalRun{Class: runClass(run.Style), Text: run.Text}
		}
	}
	return out
}

// runClass returns the CSS classes of a style. Reversed text has its colours swapped.
func runClass(s ansi.Style) string {
	var out []string
	fg, bg := colorOf(s.FG), colorOf(s.BG)
	if s.Reverse {
		fg, bg = bg, fg
		if fg == "" {
			fg = "paper"
		}
		if bg == "" {
			bg = "ink"
		}
	}
	if fg != "" {
		out = append(out, "fg-"+fg)
	}
	if bg != "" {
		out = append(out, "bg-"+bg)
	}
	for _, a := range []struct {
		on   bool
		name string
	}{{s.Bold, "bold"}, {s.Faint, "faint"}, {s.Italic, "italic"}, {s.Underline, "under"}} {
		if a.on {
			out = append(out, a.name)
		}
	}
	return strings.Join(out, " ")
}

// colorOf returns the number of a colour in the palette of 256, or "" for none. For a red, green and
// blue value it returns the nearest colour.
func colorOf(name string) string {
	if n, err := strconv.ParseUint(name, 10, 8); err == nil {
		return strconv.FormatUint(n, 10)
	}
	rgb, ok := strings.CutPrefix(name, "#")
	n, err := strconv.ParseUint(rgb, 16, 24)
	if !ok || err != nil || len(rgb) != 6 {
		return ""
	}
	want := [3]int{int(n >> 16), int(n >> 8 & 255), int(n & 255)}
	best, least := 16, 1<<30
	for i := 16; i < 256; i++ { // the first 16 differ between terminals
		have, far := paletteColor(i), 0
		for k := range 3 {
			far += (have[k] - want[k]) * (have[k] - want[k])
		}
		if far < least {
			best, least = i, far
		}
	}
	return strconv.Itoa(best)
}

// basePalette holds the 16 named colours, chosen to be readable on a dark background.
var basePalette = [16]string{
	"4b5563", "f2777a", "8fd19e", "f5c76b", "7fb2f0", "d3a0e8", "6fd3d3", "d5dbe1",
	"7b8794", "ff9a9c", "b2e6bd", "ffdc95", "a6cbff", "e6bff5", "9be9e9", "ffffff",
}

// paletteColor returns a colour of the standard palette of 256, for i from 16.
func paletteColor(i int) [3]int {
	if i >= 232 {
		v := 8 + 10*(i-232)
		return [3]int{v, v, v}
	}
	steps := [6]int{0, 95, 135, 175, 215, 255}
	i -= 16
	return [3]int{steps[i/36%6], steps[i/6%6], steps[i%6]}
}

// terminalCSS returns the palette as a stylesheet.
func terminalCSS() string {
	var b strings.Builder
	for i := range 256 {
		hex := ""
		if i < 16 {
			hex = basePalette[i]
		} else {
			c := paletteColor(i)
			hex = fmt.Sprintf("%02x%02x%02x", c[0], c[1], c[2])
		}
		fmt.Fprintf(&b, ".fg-%d{color:#%s}.bg-%d{background-color:#%s}\n", i, hex, i, hex)
	}
	return b.String()
}

// terminalView is an agent's terminal, as the page shows it.
type terminalView struct {
	Screen  wire.Screen
	Lines   [][]terminalRun
	Choices []terminalChoice
	Role    string
	Roles   []string
	Keys    []terminalKey
}

// A terminalChoice is an answer of a dialog.
type terminalChoice struct {
	Key   string `json:"key"`
	Verb  string `json:"verb"` // Allow, Deny or ""
	Class string `json:"class"`
	Label string `json:"label"`
}

// A terminalKey is a key that a person can press without a keyboard.
type terminalKey struct{ Name, Label string }

var terminalKeys = []terminalKey{{"enter", "Enter"}, {"esc", "Esc"}, {"tab", "Tab"}, {"up", "↑"}, {"down", "↓"}, {"left", "←"}, {"right", "→"}, {"ctrl-c", "Ctrl-C"}}

// terminalOf reads the terminal of a task's agent.
func (s *Site) terminalOf(r *http.Request, t *task.Task) *terminalView {
	out := &terminalView{Role: r.URL.Query().Get("role"), Keys: terminalKeys}
	for i := range t.Attempts {
		out.Roles = append(out.Roles, t.Attempts[i].Role)
	}
	var err error
	if out.Screen, err = s.o.API.ReadScreen(r.Context(), string(t.ID), out.Role); err != nil {
		out.Screen.Note = err.Error()
	}
	out.Screen.Note = ansi.OneLine(out.Screen.Note)
	out.Lines, out.Choices = terminalLines(out.Screen.Lines), choicesOf(out.Screen.Choices)
	return out
}

// choicesOf says of each choice whether it allows or denies something, where its words show that. The first that allows
// it is the main one: agents list "yes, and do not ask again" after it.
func choicesOf(list []ansi.DialogChoice) []terminalChoice {
	out, main := []terminalChoice{}, "go"
	for _, c := range list {
		one := terminalChoice{Key: c.Key, Label: ansi.OneLine(c.Label)}
		switch first, _, _ := strings.Cut(strings.ToLower(one.Label), " "); strings.Trim(first, ",.") {
		case "yes", "allow", "trust", "approve":
			one.Verb, one.Class, main = "Allow", main, ""
		case "no", "deny", "reject":
			one.Verb, one.Class = "Deny", "end"
		}
		out = append(out, one)
	}
	return out
}

// redirectToTerminal redirects to the tab with the terminal.
func (s *Site) redirectToTerminal(w http.ResponseWriter, r *http.Request) {
	q := r.URL.Query()
	q.Set("tab", tabTerminal)
	http.Redirect(w, r, "/tasks/"+url.PathEscape(r.PathValue("id"))+"?"+q.Encode(), http.StatusSeeOther)
}

// terminalEvent is the content of a terminal at one moment, for the script of the page.
type terminalEvent struct {
	Attempt int             `json:"attempt"`
	Role    string          `json:"role"`
	Alive   bool            `json:"alive"`
	Note    string          `json:"note"`
	At      time.Time       `json:"at"`
	Lines   [][]terminalRun `json:"lines"`

	Seen    string           `json:"seen"`
	Dialog  bool             `json:"dialog"`
	Choices []terminalChoice `json:"choices"`
}

// terminalEvents streams the content of a terminal, first as it is and then after every change.
func (s *Site) terminalEvents(w http.ResponseWriter, r *http.Request) {
	id := r.PathValue("id")
	out := http.NewResponseController(w)
	w.Header().Set("Content-Type", "text/event-stream")
	w.WriteHeader(http.StatusOK)
	out.Flush() //nolint:errcheck // the client left
	err := s.o.API.WatchScreen(r.Context(), id, r.URL.Query().Get("role"), func(now wire.Screen) error {
		body, err := json.Marshal(terminalEvent{now.Attempt, now.Role, now.Alive, ansi.OneLine(now.Note), now.At, terminalLines(now.Lines), now.Seen, now.Dialog, choicesOf(now.Choices)})
		if err != nil {
			return err
		}
		if _, err := fmt.Fprintf(w, "event: screen\ndata: %s\n\n", body); err != nil {
			return err
		}
		return out.Flush()
	})
	if err != nil && r.Context().Err() == nil {
		var no *client.Error
		body, _ := json.Marshal(map[string]any{"why": ansi.OneLine(humanize.Cut(err.Error(), maxMessage)), "again": !errors.As(err, &no)})
		fmt.Fprintf(w, "event: gone\ndata: %s\n\n", body)
	}
}

// typeLine types a line into an agent's terminal.
func (s *Site) typeLine(w http.ResponseWriter, r *http.Request) error {
	id := r.PathValue("id")
	if !s.o.Input {
		return newRefusal(http.StatusForbidden, "terminals are read-only here: start the server with --web-input to type into them, or use orange task attach")
	}
	text, role := r.PostFormValue("text"), r.PostFormValue("role")
	switch {
	case strings.TrimSpace(text) == "":
		return newRefusal(http.StatusBadRequest, "the line is empty: write some text")
	case len(text) > maxTyped || strings.ContainsAny(text, "\r\n"):
		return newRefusal(http.StatusBadRequest, "the input is too long: type one line of at most %d bytes", maxTyped)
	}
	if err := s.o.API.TypeText(r.Context(), id, role, text); err != nil {
		return err
	}
	s.finishForm(w, r, terminalPath(r, id, role), "typed")
	return nil
}

// terminalPath returns where to go after something was typed.
func terminalPath(r *http.Request, id, role string) string {
	if back := r.PostFormValue("back"); back != "" {
		return back
	}
	to := "/tasks/" + id + "?tab=" + tabTerminal
	if role != "" {
		to += "&role=" + url.QueryEscape(role)
	}
	return to
}

// pressKey presses a key in an agent's terminal, if the terminal still shows what the person saw. Where people may not type into terminals, they
// may still answer the dialogs of agents.
func (s *Site) pressKey(w http.ResponseWriter, r *http.Request) error {
	id, role := r.PathValue("id"), r.PostFormValue("role")
	in := wire.KeyInput{Role: role, Key: r.PostFormValue("key"), Seen: r.PostFormValue("seen"), Dialog: !s.o.Input}
	if in.Key == "" || in.Seen == "" || len(in.Key) > 20 || len(in.Seen) > 100 {
		return newRefusal(http.StatusBadRequest, "the request names no key: reload the page and try again")
	}
	if err := s.o.API.PressKey(r.Context(), id, in); err != nil {
		return err
	}
	s.finishForm(w, r, terminalPath(r, id, role), "pressed")
	return nil
}
