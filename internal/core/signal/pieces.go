package signal

import (
	"bytes"
	"io"
)

const (
	bufferSize = 256 << 10
	pieceSize  = 64 << 10 // a longer line comes in several pieces
	maxEmpty   = 100      // consecutive reads that return nothing
)

// A piece is a line of a text, or a part of a very long line.
type piece struct {
	text        []byte // without the line's ending; valid only until the next piece
	line        int    // counted from 1
	first, last bool   // of its line
	where       place
	has         seenBytes
}

// seenBytes are the significant bytes that a piece contains.
type seenBytes uint8

const (
	seenBrace     seenBytes = 1 << iota // {
	seenAngle                           // <
	seenUnderline                       // _
	seenQ                               // q or Q
)

// indexedBytes are the bytes for each bit of seenBytes.
var indexedBytes = [...]struct {
	c       byte
	present seenBytes
}{{'{', seenBrace}, {'<', seenAngle}, {'_', seenUnderline}, {'q', seenQ}, {'Q', seenQ}}

// byteIndex is the next position of each significant byte in a buffer. Searching a whole buffer
// is cheaper than searching each of its lines.
type byteIndex [len(indexedBytes)]int

// bytesBetween returns which significant bytes a range of a buffer contains. Ranges must be
// ascending.
func (o *byteIndex) bytesBetween(buf []byte, from, to int) seenBytes {
	var seen seenBytes
	for i := range o {
		if o[i] < from {
			o[i] = len(buf)
			if n := bytes.IndexByte(buf[from:], indexedBytes[i].c); n >= 0 {
				o[i] = from + n
			}
		}
		if o[i] < to {
			seen |= indexedBytes[i].present
		}
	}
	return seen
}

// readText splits a text into pieces. The pieces depend only on the text, not on how it
// arrives.
func (s *search) readText(r io.Reader, buf []byte) error {
	empty, begun := 0, false
	for searched := 0; ; {
		n, err := r.Read(buf[len(buf):cap(buf)])
		buf = buf[:len(buf)+n]
		if !begun && (len(buf) >= len(byteOrderMark) || err != nil) {
			begun = true
			buf = buf[:copy(buf, bytes.TrimPrefix(buf, byteOrderMark))]
		}
		if begun {
			rest := s.splitPieces(buf, searched)
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
			s.takePiece(bytes.TrimSuffix(buf, carriageReturn), ^seenBytes(0), true)
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

// splitPieces processes the complete lines and the full pieces of buf, and returns the rest.
// There is no line ending before searched.
func (s *search) splitPieces(buf []byte, searched int) []byte {
	var ahead byteIndex
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
			n := from + firstPieceEnd(buf[from:])
			s.takePiece(buf[from:n], ahead.bytesBetween(buf, from, n), false)
			from = n
		}
		if !whole {
			return buf[from:]
		}
		s.takePiece(bytes.TrimSuffix(buf[from:end], carriageReturn), ahead.bytesBetween(buf, from, end), true)
		from = end + 1
		searched = from
	}
}

// firstPieceEnd returns where the first piece of a long line ends: not within <!--, so that no
// finder has to join its halves.
func firstPieceEnd(buf []byte) int {
	for n := min(len(commentStart)-1, pieceSize); n > 0; n-- {
		if bytes.HasSuffix(buf[:pieceSize], commentStart[:n]) {
			return pieceSize - n
		}
	}
	return pieceSize
}
