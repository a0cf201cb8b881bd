package harness

import (
	"bytes"
	"context"
	"io"
	"strings"
	"unicode/utf8"
)

// Sequences that switch bracketed paste on and off, and that surround a paste.
const (
	pasteOn    = "\x1b[?2004h"
	pasteOff   = "\x1b[?2004l"
	pasteBegin = "\x1b[200~"
	pasteEnd   = "\x1b[201~"
)

// maxMessage limits what is typed before Enter, in bytes.
const maxMessage = 1 << 20

// keyboard reads messages that are typed or pasted.
type keyboard struct {
	in   io.Reader
	more chan []byte // input as it is read; closed at the end
	rest []byte      // input that no message has consumed yet
}

// enterRawMode makes a terminal pass on every key, and bracket pastes.
func (k *keyboard) enterRawMode(out io.Writer) (restore func()) {
	f, ok := k.in.(interface{ Fd() uintptr })
	if !ok {
		return func() {}
	}
	cooked, ok := everyKey(int(f.Fd()))
	if !ok {
		return func() {}
	}
	_, _ = io.WriteString(out, pasteOn)
	return func() {
		_, _ = io.WriteString(out, pasteOff)
		cooked()
	}
}

// startReading starts to read. A read of a terminal cannot be interrupted, so the reader ends
// with its input or with the process.
func (k *keyboard) startReading() {
	if k.more != nil {
		return
	}
	k.more = make(chan []byte)
	go func() {
		defer close(k.more)
		if k.in == nil {
			return
		}
		for {
			buf := make([]byte, 4096)
			n, err := k.in.Read(buf)
			if n > 0 {
				k.more <- buf[:n]
			}
			if err != nil {
				return
			}
		}
	}()
}

// awaitMessage waits for the next message. At the end of the input it returns io.EOF.
func (k *keyboard) awaitMessage(ctx context.Context) (string, error) {
	k.startReading()
	for {
		if text, used, ok := nextMessage(k.rest); ok {
			k.rest = k.rest[used:]
			return text, nil
		}
		select {
		case more, open := <-k.more:
			if !open {
				return "", io.EOF
			}
			k.rest = append(k.rest, more...)
			if len(k.rest) > maxMessage {
				k.rest = k.rest[len(k.rest)-maxMessage:]
			}
		case <-ctx.Done():
			return "", ctx.Err()
		}
	}
}

// nextMessage finds a complete message. Enter sends it, except within a paste. Keys that
// produce no text are left out.
func nextMessage(keys []byte) (text string, used int, ok bool) {
	var said strings.Builder
	for i := 0; i < len(keys); {
		rest := keys[i:]
		switch c := rest[0]; {
		case bytes.HasPrefix(rest, []byte(pasteBegin)):
			end := bytes.Index(rest, []byte(pasteEnd))
			if end < 0 {
				return "", 0, false
			}
			said.Write(bytes.ReplaceAll(rest[len(pasteBegin):end], []byte("\r"), []byte("\n")))
			i += end + len(pasteEnd)
		case c == '\r' || c == '\n':
			return said.String(), i + 1, true
		case c == 0x7f || c == '\b':
			before := said.String()
			_, size := utf8.DecodeLastRuneInString(before)
			said.Reset()
			said.WriteString(before[:len(before)-size])
			i++
		case c == 0x1b:
			size := len(escapes().Find(rest))
			if strings.HasPrefix(pasteBegin, string(rest)) {
				return "", 0, false // a paste may be coming
			}
			i += max(1, size)
		case c < ' ' && c != '\t':
			i++
		default:
			said.WriteByte(c)
			i++
		}
	}
	return "", 0, false
}
