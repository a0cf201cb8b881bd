package mcp

import (
	"bufio"
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"sync"

	"github.com/modelcontextprotocol/go-sdk/jsonrpc"
)

// lineReader passes on the lines of an input that are messages, one at a time. It answers every other
// line with an error and reads on, because the library would stop at it.
type lineReader struct {
	in     *bufio.Reader
	closer io.Closer
	out    *output
	max    int // length of a line, in bytes

	rest []byte // of the line that is being passed on
}

func newLineReader(in io.ReadCloser, out *output, most int) *lineReader {
	return &lineReader{in: bufio.NewReaderSize(in, 64<<10), closer: in, out: out, max: most}
}

// inputError is why no more input can be read.
type inputError struct{ err error }

func (e *inputError) Error() string { return e.err.Error() }
func (e *inputError) Unwrap() error { return e.err }

// Read implements io.Reader.
func (l *lineReader) Read(p []byte) (int, error) {
	for len(l.rest) == 0 {
		text, err := l.readLine()
		if err == io.EOF {
			return 0, io.EOF
		}
		if err == nil {
			err = l.checkLine(text)
		}
		if err != nil {
			return 0, &inputError{err}
		}
	}
	n := copy(p, l.rest)
	l.rest = l.rest[n:]
	return n, nil
}

// Close implements io.Closer.
func (l *lineReader) Close() error { return l.closer.Close() }

// checkLine passes a line on if it is a message, and answers it with an error if not.
func (l *lineReader) checkLine(text []byte) error {
	message := bytes.TrimSpace(text)
	switch wrong, id := l.findFault(text, message); {
	case wrong != nil:
		return l.out.writeError(id, wrong)
	case len(message) > 0:
		l.rest = append(message, '\n')
	}
	return nil
}

// findFault returns what is wrong with a line, and the id of the request to answer.
func (l *lineReader) findFault(text, message []byte) (*jsonrpc.Error, json.RawMessage) {
	switch {
	case len(text) > l.max:
		return &jsonrpc.Error{Code: jsonrpc.CodeInvalidRequest, Message: fmt.Sprintf("the line is longer than %d bytes: send a shorter message", l.max)}, nil
	case len(message) == 0:
		return nil, nil
	case !json.Valid(message):
		return &jsonrpc.Error{Code: jsonrpc.CodeParseError, Message: "the line is not JSON: send one message on each line"}, nil
	case message[0] == '[': // a batch: the library decides whether it is allowed
		return nil, nil
	}
	if _, err := jsonrpc.DecodeMessage(message); err != nil {
		return &jsonrpc.Error{Code: jsonrpc.CodeInvalidRequest, Message: "the line is not a JSON-RPC 2.0 message: " + cutLine(err.Error(), maxLine)}, idOf(message)
	}
	return nil, nil
}

// idOf returns the id of a malformed request, or nil if it has no valid id.
func idOf(message []byte) json.RawMessage {
	var q struct {
		ID json.RawMessage `json:"id"`
	}
	if json.Unmarshal(message, &q) != nil || len(q.ID) == 0 || len(q.ID) > maxLine || bytes.ContainsRune([]byte("{[tfn"), rune(q.ID[0])) {
		return nil
	}
	return q.ID
}

// readLine reads a line. Of a line that is too long it keeps only enough to tell that it is.
func (l *lineReader) readLine() ([]byte, error) {
	var text []byte
	for {
		part, err := l.in.ReadSlice('\n')
		if keep := l.max + 1 - len(text); keep > 0 {
			text = append(text, part[:min(keep, len(part))]...)
		}
		switch {
		case errors.Is(err, bufio.ErrBufferFull):
		case err == io.EOF && len(text) > 0:
			return text, nil // the last line has no line end
		default:
			return text, err
		}
	}
}

// output writes messages, each with one call of Write.
type output struct {
	mu sync.Mutex
	io.WriteCloser
}

// Write implements io.Writer.
func (o *output) Write(p []byte) (int, error) {
	o.mu.Lock()
	defer o.mu.Unlock()
	return o.WriteCloser.Write(p)
}

// writeError answers a message that cannot be read. If there is no id it sends null, which the library
// would leave out.
func (o *output) writeError(id json.RawMessage, wrong *jsonrpc.Error) error {
	if id == nil {
		id = json.RawMessage("null")
	}
	text, err := json.Marshal(struct {
		Version string          `json:"jsonrpc"`
		ID      json.RawMessage `json:"id"`
		Error   *jsonrpc.Error  `json:"error"`
	}{"2.0", id, wrong})
	if err != nil {
		return err
	}
	_, err = o.Write(append(text, '\n'))
	return err
}
