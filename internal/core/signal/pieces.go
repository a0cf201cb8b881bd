package signal

import (
	"bytes"
	"io"
)

const (
	bufferSize = 256 << 10
	pieceSize  = 64 << 10 // a longer line comes in several pieces
	maxEmpty   = 100      // reads in a row that bring nothing
)

// A piece is a line of a text, or a part of a very long line.
type piece struct {
	text        []byte // without the line's ending; only good until the next piece
	line        int    // counted from 1
	first, last bool   // of its line
	where       place
	has         sights
}

// sights are the bytes of some note that a piece has.
type sights uint8

const (
	seesBrace     sights = 1 << iota // {
	seesAngle                        // <
	seesUnderline                    // _
	seesQ                            // q or Q
)

// telltales are the bytes that stand for each sight.
var telltales = [...]struct {
	c     byte
	sight sights
}{{'{', seesBrace}, {'<', seesAngle}, {'_', seesUnderline}, {'q', seesQ}, {'Q', seesQ}}

// outlook knows where in a buffer each telltale byte is next. To search a whole
// buffer is cheaper than to search each of its lines.
type outlook [len(telltales)]int

// over tells what is to be seen from one index of a buffer to another. Calls go forward.
func (o *outlook) over(buf []byte, from, to int) sights {
	var seen sights
	for i := range o {
		if o[i] < from {
			o[i] = len(buf)
			if n := bytes.IndexByte(buf[from:], telltales[i].c); n >= 0 {
				o[i] = from + n
			}
		}
		if o[i] < to {
			seen |= telltales[i].sight
		}
	}
	return seen
}

// read takes a text apart. The pieces depend on the text alone, not on how it arrives.
func (s *search) read(r io.Reader, buf []byte) error {
	empty, begun := 0, false
	for searched := 0; ; {
		n, err := r.Read(buf[len(buf):cap(buf)])
		buf = buf[:len(buf)+n]
		if !begun && (len(buf) >= len(byteOrderMark) || err != nil) {
			begun = true
			buf = buf[:copy(buf, bytes.TrimPrefix(buf, byteOrderMark))]
		}
		if begun {
			rest := s.split(buf, searched)
			searched = len(rest)
			if len(rest) < len(buf) {
				buf = buf[:copy(buf, rest)]
			}
		}
		if empty++; n > 0 {
			empty = 0
		}
		switch {
		case err == nil && empty < maxEmpty:
			continue
		case err == nil:
			err = io.ErrNoProgress
		case err == io.EOF:
			err = nil
		}
		if len(buf) > 0 || s.inside {
			s.take(bytes.TrimSuffix(buf, carriageReturn), ^sights(0), true)
		}
		return err
	}
}

var (
	byteOrderMark  = []byte("\xef\xbb\xbf")
	carriageReturn = []byte("\r")
	commentStart   = []byte("<!--")
	commentEnd     = []byte("-->")
)

// split takes the whole lines and the full pieces of buf, and returns what is left. Up
// to searched there is no line's end.
func (s *search) split(buf []byte, searched int) []byte {
	var ahead outlook
	for i := range ahead {
		ahead[i] = -1
	}
	for from := 0; ; {
		end := bytes.IndexByte(buf[searched:], '\n')
		whole := end >= 0
		end += searched
		if !whole {
			end = len(buf)
		}
		for end-from > pieceSize {
			n := from + cutting(buf[from:])
			s.take(buf[from:n], ahead.over(buf, from, n), false)
			from = n
		}
		if !whole {
			return buf[from:]
		}
		s.take(bytes.TrimSuffix(buf[from:end], carriageReturn), ahead.over(buf, from, end), true)
		from = end + 1
		searched = from
	}
}

// cutting is where the first piece of a long line ends: not within <!--, so that nobody
// has to look for its halves.
func cutting(buf []byte) int {
	for n := min(len(commentStart)-1, pieceSize); n > 0; n-- {
		if bytes.HasSuffix(buf[:pieceSize], commentStart[:n]) {
			return pieceSize - n
		}
	}
	return pieceSize
}
