package journal

import (
	"encoding/hex"
	"fmt"
	"strconv"
	"strings"
	"time"

	"orange/internal/core/signal"
	"orange/internal/core/task"
)

// MergeOf returns the commit by which the work of a task was merged into the default branch, if the entry records that:
// as the receipt of a merge, or as an event of a forge.
func MergeOf(e *Entry) (commit string, ok bool) {
	if r := e.Receipt; r != nil && r.OK && isCommit(r.Commit) {
		return r.Commit, true
	}
	h := e.Snapshot
	if h == nil || h.Word != signal.PRMerged || e.Actor != task.Tracker || e.To == "" {
		return "", false
	}
	candidates := []string{h.Merged}
	for _, ev := range h.Evidence {
		if ev.Name == factMerged && ev.Holds {
			candidates = append(candidates, ev.Head)
		}
	}
	for _, c := range append(candidates, h.Arg) {
		if isCommit(c) {
			return c, true
		}
	}
	return "", false
}

func isCommit(s string) bool {
	return (len(s) == 40 || len(s) == 64) && strings.Trim(s, "0123456789abcdef") == ""
}

// An Anchor is a link of a journal that is kept outside its store: in the repository of the project whose task was
// merged.
type Anchor struct {
	Store  string    `json:"store"` // id of the store
	Row    int64     `json:"row"`   // the row that records the merge
	Link   Link      `json:"link"`  // of the row
	Task   task.ID   `json:"task"`
	Seq    int       `json:"seq"`    // of the task's entry
	At     time.Time `json:"at"`     // of the entry
	Commit string    `json:"commit"` // the merge commit
}

// The labels of an anchor's text.
const (
	anchorStore  = "Orange-Store: "
	anchorRow    = "Orange-Row: "
	anchorLink   = "Orange-Link: "
	anchorTask   = "Orange-Task: "
	anchorEntry  = "Orange-Entry: "
	anchorTime   = "Orange-Time: "
	anchorCommit = "Orange-Commit: "
)

// CommitMessage returns the anchor as the message of a commit.
func (a *Anchor) CommitMessage() string {
	return fmt.Sprintf("journal: task %s was merged as %.12s\n\n", a.Task, a.Commit) +
		"The journal of Orange that led to this merge ended with this row. Its link is the SHA-256 of the\n" +
		"row and of all rows before it; orange doctor and orange audit compare it.\n\n" +
		anchorStore + a.Store + "\n" + anchorRow + strconv.FormatInt(a.Row, 10) + "\n" + anchorLink + a.Link.String() + "\n" +
		anchorTask + string(a.Task) + "\n" + anchorEntry + strconv.Itoa(a.Seq) + "\n" + anchorTime + StoredTime(a.At) + "\n" +
		anchorCommit + a.Commit + "\n"
}

// ParseAnchor parses what CommitMessage returns.
func ParseAnchor(text string) (Anchor, error) {
	var a Anchor
	missing := map[string]bool{anchorStore: true, anchorRow: true, anchorLink: true, anchorTask: true, anchorEntry: true, anchorTime: true, anchorCommit: true}
	for line := range strings.Lines(text) {
		line = strings.TrimRight(line, "\n")
		label, value, ok := strings.Cut(line, ": ")
		if label += ": "; !ok || !missing[label] {
			continue
		}
		delete(missing, label)
		if err := a.setLabel(label, value); err != nil {
			return a, fmt.Errorf("%s%.100q is not what an anchor says", label, value)
		}
	}
	if len(missing) > 0 {
		return a, fmt.Errorf("it is no anchor: it has no store, row, link, task, entry, time or commit")
	}
	return a, nil
}

func (a *Anchor) setLabel(label, value string) (err error) {
	switch label {
	case anchorStore:
		a.Store = value
	case anchorRow:
		a.Row, err = strconv.ParseInt(value, 10, 64)
	case anchorLink:
		return a.Link.UnmarshalText([]byte(value))
	case anchorTask:
		if a.Task = task.ID(value); !a.Task.IsValid() {
			err = fmt.Errorf("no id")
		}
	case anchorEntry:
		a.Seq, err = strconv.Atoi(value)
	case anchorTime:
		a.At, err = time.Parse(time.RFC3339Nano, value)
	case anchorCommit:
		if a.Commit = value; !isCommit(value) {
			err = fmt.Errorf("no commit")
		}
	}
	return err
}

// MarshalText implements encoding.TextMarshaler.
func (l Link) MarshalText() ([]byte, error) { return []byte(l.String()), nil }

// UnmarshalText implements encoding.TextUnmarshaler.
func (l *Link) UnmarshalText(text []byte) error {
	if len(text) != hex.EncodedLen(len(l)) {
		return fmt.Errorf("a link has %d hexadecimal digits, not %d", hex.EncodedLen(len(l)), len(text))
	}
	_, err := hex.Decode(l[:], text)
	return err
}

// A Restore is a place in a journal at which it continues from a backup.
type Restore struct {
	Row int64     // the first row written afterwards
	At  time.Time // when it was restored
}

const restoreSegment = "restore at "

// RestoreText returns the name of the segment that begins when a store is restored.
func RestoreText(at time.Time) string {
	return restoreSegment + StoredTime(at) + ": the journal goes on from a backup"
}

// RestoreOf parses the name of a segment that RestoreText returned.
func RestoreOf(row int64, segment string) (Restore, bool) {
	rest, ok := strings.CutPrefix(segment, restoreSegment)
	text, _, found := strings.Cut(rest, ": ")
	at, err := time.Parse(time.RFC3339Nano, text)
	return Restore{row, at}, ok && found && err == nil
}

// Anchored reports how a journal and its anchors agree.
type Anchored struct {
	Anchors int     `json:"anchors"`
	Agree   int     `json:"agree"`
	Lost    int     `json:"lost,omitempty"`  // number of rows that were lost when the store was restored
	Later   int     `json:"later,omitempty"` // number of rows that the journal lacks for another reason
	Last    *Anchor `json:"-"`               // the last one that agrees

	Differs *Anchor `json:"differs,omitempty"` // the first one whose row differs now
	Beyond  *Anchor `json:"beyond,omitempty"`  // the first one whose row the journal lacks
}

// CompareAnchors compares anchors, in the order in which they were created, with a journal of the given number of rows.
func CompareAnchors(anchors []Anchor, rows int64, link func(row int64) (Link, bool), restores []Restore) Anchored {
	out := Anchored{Anchors: len(anchors)}
	for i := range anchors {
		a := &anchors[i]
		have, ok := link(a.Row)
		switch {
		case ok && have == a.Link:
			out.Agree, out.Last = out.Agree+1, a
		case lostWith(restores, a):
			out.Lost++
		case a.Row > rows:
			if out.Later++; out.Beyond == nil {
				out.Beyond = a
			}
		case out.Differs == nil:
			out.Differs = a
		}
	}
	return out
}

// lostWith reports whether the row of an anchor was lost when a store was restored.
func lostWith(restores []Restore, a *Anchor) bool {
	for _, r := range restores {
		if a.Row >= r.Row && a.At.Before(r.At) {
			return true
		}
	}
	return false
}

// Err returns what is wrong, or nil. It names the first row that is known to differ.
func (a *Anchored) Err(rows int64) error {
	after := ""
	if a.Last != nil {
		after = fmt.Sprintf(" after row %d, with which its anchor agrees", a.Last.Row)
	}
	switch {
	case a.Differs != nil:
		return fmt.Errorf("row %d (entry %d of task %s) is not the row that was anchored when %.12s was merged: the journal was rewritten%s",
			a.Differs.Row, a.Differs.Seq, a.Differs.Task, a.Differs.Commit, after)
	case a.Beyond != nil:
		return fmt.Errorf("the journal ends with row %d, and row %d was anchored when task %s was merged as %.12s: the store is older than the repository, or its newest rows were cut off",
			rows, a.Beyond.Row, a.Beyond.Task, a.Beyond.Commit)
	}
	return nil
}
