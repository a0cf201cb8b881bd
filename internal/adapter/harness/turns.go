package harness

import (
	"bytes"
	"encoding/json"
	"fmt"
	"strings"
	"time"

	"orange/internal/core/agent"
	"orange/internal/core/transcript"
	"orange/internal/view/ansi"
	words "orange/internal/view/humanize"
)

// Limits for reading a conversation.
const (
	maxTurns        = 4 << 20   // bytes of a file that one call reads; of a larger file, the end
	maxTurnText     = 256 << 10 // bytes of one message that are kept
	maxToolArgument = 200       // bytes of what a tool is called with
)

// A source is a file in which a conversation is kept.
type source struct {
	path string
	// read parses one line. It returns false if it does not know the line; a known line may
	// contain no turn.
	read func(line []byte) (turns []piece, known bool)
}

// A piece is a turn, or a part of one that the next line may continue.
type piece struct {
	transcript.Turn
	part bool
}

func singlePiece(t transcript.Turn) []piece { return []piece{{Turn: t}} }

// ReadConversation reads the conversation of an attempt, beginning at the position that an
// earlier call returned as Next; "" reads everything that fits. It reads the first of the
// harness's files that contains a turn. Files that grow, shrink or contain unknown lines are
// not errors.
func ReadConversation(h Harness, o Output, after string) agent.Conversation {
	sources := h.turnSources(o)
	var place int
	var offset int64
	if n, err := fmt.Sscanf(after, "%d:%d", &place, &offset); err == nil && n == 2 && place >= 0 && place < len(sources) && offset >= 0 {
		return sources[place].readTurns(o, place, offset)
	}
	var out agent.Conversation
	for i, s := range sources {
		c := s.readTurns(o, i, 0)
		if len(c.Turns) > 0 {
			return c
		}
		if out.Next == "" {
			out = c
		}
	}
	return out
}

// readTurns reads a part of the file.
func (s source) readTurns(o Output, place int, from int64) agent.Conversation {
	var out agent.Conversation
	f, size := openOutput(s.path)
	if f == nil {
		return out
	}
	defer f.Close()
	switch {
	case from > size: // it was replaced
		from = 0
	case from == 0 && size > maxTurns:
		from, out.Cut = size-maxTurns, true
	}
	text := readPart(f, from, min(size-from, maxTurns))
	if out.Cut { // the first line is incomplete
		n := bytes.IndexByte(text, '\n') + 1
		from, text = from+int64(n), text[n:]
	}
	var pieces []piece
	open := int64(-1) // where a turn begins that may not be complete yet
	for len(text) > 0 {
		n := bytes.IndexByte(text, '\n') + 1
		if n == 0 {
			if n = len(text); !o.Over && n < maxTurns && !json.Valid(text) {
				break // it is being written
			}
		}
		found, known := s.readLine(text[:n])
		if !known {
			out.Skipped++
		}
		if len(found) > 0 {
			last := found[len(found)-1]
			switch {
			case !last.part:
				open = -1
			case open < 0:
				open = from
			}
		}
		pieces = append(pieces, found...)
		from, text = from+int64(n), text[n:]
	}
	if open >= 0 && !o.Over {
		from = open
		for len(pieces) > 0 && pieces[len(pieces)-1].part {
			pieces = pieces[:len(pieces)-1]
		}
	}
	out.Turns, out.Next = o.joinTurns(pieces), fmt.Sprintf("%d:%d", place, from)
	return out
}

// readLine parses one line. Blank lines contain nothing.
func (s source) readLine(line []byte) ([]piece, bool) {
	line = bytes.TrimSpace(line)
	if len(line) == 0 {
		return nil, true
	}
	if line[0] != '{' {
		return nil, false
	}
	return s.read(line)
}

// joinTurns joins the parts of turns, drops what other attempts said, and cleans the text.
func (o Output) joinTurns(pieces []piece) []transcript.Turn {
	out := []transcript.Turn{}
	part := false
	for _, p := range pieces {
		if !p.At.IsZero() && (p.At.Before(o.Since) || !o.Until.IsZero() && !p.At.Before(o.Until)) {
			continue
		}
		if n := len(out); part && p.part && n > 0 && out[n-1].Who == p.Who {
			out[n-1].Text += p.Text
			continue
		}
		out, part = append(out, p.Turn), p.part
	}
	kept := out[:0]
	for _, t := range transcript.LatestTurns(out) {
		if t = cleanTurn(t); t.Text != "" || t.Tool != "" || t.Who == transcript.Tool {
			kept = append(kept, t)
		}
	}
	return kept
}

func cleanTurn(t transcript.Turn) transcript.Turn {
	t.ID, t.Tool, t.Argument = oneLine(t.ID, 100), oneLine(t.Tool, 60), oneLine(t.Argument, maxToolArgument)
	if t.Who == transcript.Tool {
		t.Text, t.More = transcript.ShortenAnswer(t.Text)
		return t
	}
	t.Text = words.Cut(t.Text, maxTurnText)
	t.Text = strings.Trim(ansi.SafeText(t.Text), "\n")
	return t
}

// oneLine returns a text as one line of at most limit bytes, without control sequences.
func oneLine(text string, limit int) string {
	return cutText(strings.Join(strings.Fields(ansi.SafeText(text)), " "), limit)
}

// toolCall returns the call of a tool.
func toolCall(id string, at time.Time, name string, input json.RawMessage) piece {
	if id != "" {
		id += "/call"
	}
	return piece{Turn: transcript.Turn{ID: id, At: at, Who: transcript.Agent, Tool: orWord(name, "tool"), Argument: toolArgument(input)}}
}

// toolAnswer returns the result of a tool call.
func toolAnswer(id string, at time.Time, text string, failed bool) piece {
	if id != "" {
		id += "/answer"
	}
	return piece{Turn: transcript.Turn{ID: id, At: at, Who: transcript.Tool, Text: text, Failed: failed}}
}

func orWord(word, otherwise string) string {
	if word == "" {
		return otherwise
	}
	return word
}

// toolArgument returns one line about a tool's arguments: the most informative value, or all of
// them.
func toolArgument(input json.RawMessage) string {
	var whole string
	if json.Unmarshal(input, &whole) == nil { // JSON within a string, or a text
		if !json.Valid([]byte(whole)) {
			return oneLine(whole, maxToolArgument)
		}
		input = json.RawMessage(whole)
	}
	var fields map[string]any
	if json.Unmarshal(input, &fields) != nil {
		return oneLine(string(input), maxToolArgument)
	}
	for _, name := range []string{"command", "cmd", "file_path", "filePath", "absolute_path", "path", "pattern", "query", "url", "skill", "description", "prompt", "input"} {
		switch v := fields[name].(type) {
		case string:
			if v != "" {
				return oneLine(v, maxToolArgument)
			}
		case []any:
			words := make([]string, 0, len(v))
			for _, w := range v {
				words = append(words, fmt.Sprint(w))
			}
			if len(words) > 0 {
				return oneLine(strings.Join(words, " "), maxToolArgument)
			}
		}
	}
	if len(fields) == 0 {
		return ""
	}
	return oneLine(string(input), maxToolArgument)
}

// anyText is the text of a value that may be a string, a list of parts with text, or an
// object with one.
type anyText string

// UnmarshalJSON implements json.Unmarshaler. Any other value has no text.
func (t *anyText) UnmarshalJSON(text []byte) error {
	var v any
	if json.Unmarshal(text, &v) == nil {
		*t = anyText(textWithin(v, 6))
	}
	return nil
}

// textWithin finds the text in a decoded value, at most levels levels deep.
func textWithin(v any, levels int) string {
	if levels == 0 {
		return ""
	}
	switch v := v.(type) {
	case string:
		return v
	case []any:
		var words []string
		for _, part := range v {
			if text := textWithin(part, levels-1); text != "" {
				words = append(words, text)
			}
		}
		return strings.Join(words, "\n")
	case map[string]any:
		for _, name := range []string{"text", "output", "content", "error", "message", "functionResponse", "response"} {
			if text := textWithin(v[name], levels-1); text != "" {
				return text
			}
		}
	}
	return ""
}

// decodeLine decodes a line into a T, and reports whether that is possible.
func decodeLine[T any](line []byte) (T, bool) {
	list := decodeLines[T](line)
	if len(list) != 1 {
		var none T
		return none, false
	}
	return list[0], true
}
