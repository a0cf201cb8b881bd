package journal

import (
	"crypto/sha256"
	"encoding/binary"
	"encoding/hex"
	"fmt"
	"hash"
)

// A Link is the hash of a row of the journal and of all rows before it: changing, removing or inserting a row changes
// every later link.
type Link [sha256.Size]byte

func (l Link) String() string { return hex.EncodeToString(l[:]) }

// A Stored row is what a link covers: the bytes of a row as the store keeps them.
type Stored struct {
	Row     int64
	Task    string
	Seq     int
	At      string
	Entry   []byte
	Segment string // what begins with this row, for instance an import; usually empty
}

// NextLink returns the link of the row that follows the row of l.
func (l Link) NextLink(r *Stored) Link {
	h := sha256.New()
	h.Write(l[:])
	writeNumber(h, uint64(r.Row))
	writeNumber(h, uint64(r.Seq))
	for _, field := range [...]string{r.Task, r.At, r.Segment} {
		writeNumber(h, uint64(len(field)))
		h.Write([]byte(field))
	}
	h.Write(r.Entry)
	var next Link
	h.Sum(next[:0])
	return next
}

func writeNumber(h hash.Hash, n uint64) {
	var b [8]byte
	binary.BigEndian.PutUint64(b[:], n)
	h.Write(b[:])
}

// Chain follows the rows of a journal in order and compares each with its link. The zero value is before the first row.
type Chain struct {
	Rows int64 // number of rows followed
	Head Link  // link of the last row followed
}

// A Broken row differs from what was written.
type Broken struct {
	Row  int64  `json:"row"`
	Task string `json:"task,omitempty"`
	Seq  int    `json:"seq,omitempty"`
	What string `json:"what"` // what differs
}

// Error implements error.
func (b *Broken) Error() string {
	if b.Task == "" {
		return b.What
	}
	return fmt.Sprintf("row %d (entry %d of task %s) is not what was written: %s", b.Row, b.Seq, b.Task, b.What)
}

// FollowRow checks the next row. The error is a *Broken that names the row that differs from what was written.
func (c *Chain) FollowRow(r *Stored, link []byte) error {
	if r.Row != c.Rows+1 {
		return &Broken{Row: r.Row, What: fmt.Sprintf("row %d follows row %d: rows were removed or inserted there", r.Row, c.Rows)}
	}
	next := c.Head.NextLink(r)
	if string(link) != string(next[:]) {
		return &Broken{Row: r.Row, Task: r.Task, Seq: r.Seq, What: whatDiffers(r, link)}
	}
	c.Rows, c.Head = r.Row, next
	return nil
}

// whatDiffers describes a change of a row as far as the row itself shows it.
func whatDiffers(r *Stored, link []byte) string {
	row := Row{ID: r.Row, Entry: r.Entry}
	entry, err := row.Stored()
	switch {
	case len(link) != sha256.Size:
		return "its link is missing"
	case err != nil:
		return "its entry does not parse"
	case entry.Task != r.Task || entry.Seq != r.Seq:
		return fmt.Sprintf("its entry says that it is entry %d of task %.40q", entry.Seq, entry.Task)
	case entry.At != r.At:
		return fmt.Sprintf("its time is %s, and its entry says %s", r.At, entry.At)
	}
	return "its bytes, or the rows before it, are not those of its link"
}
