package client

import (
	"bufio"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"net/http"
	"net/url"
	"strconv"
	"strings"
	"time"

	"orange/internal/backoff"
	"orange/internal/core/journal"
	"orange/internal/wire"
)

const (
	maxEventLine  = 16 << 20
	retriesInARow = 8
)

// reconnects are the waits before a stream that broke is opened again.
var reconnects = backoff.Backoff{First: 50 * time.Millisecond, Most: 2 * time.Second}

// A StreamEvent is one entry of the journal and its place in the stream.
type StreamEvent struct {
	Row   int64
	Entry journal.Entry
}

// EventOptions selects events.
type EventOptions struct {
	After  int64        // row after which to begin
	Task   string       // "" for every task
	Opened func() error // called when the stream is open, again after each reconnect; may be nil
}

// FollowEvents calls each for every committed entry, in order and once, until ctx ends or each or Opened returns an
// error. A broken stream is resumed where it broke; after several failures in a row the last error is returned.
func (c *Client) FollowEvents(ctx context.Context, w EventOptions, each func(StreamEvent) error) error {
	q := call{method: http.MethodGet, path: wire.PathEvents, query: url.Values{wire.ParamAfter: {strconv.FormatInt(w.After, 10)}}}
	if w.Task != "" {
		q.query.Set(wire.ParamTask, w.Task)
	}
	s := stream{client: c, call: q, opened: w.Opened, deliver: func(b block) error {
		if b.event != wire.EventEntry {
			return nil
		}
		var e StreamEvent
		if err := b.decodeData(&e.Entry); err != nil {
			return err
		}
		e.Row, _ = strconv.ParseInt(b.id, 10, 64)
		return each(e)
	}}
	return s.followStream(ctx)
}

// ownError marks an error of the caller's functions, which ends the stream.
type ownError struct{ error }

// stream is a stream of events that is resumed where it breaks.
type stream struct {
	client  *Client
	call    call
	opened  func() error      // may be nil
	lost    func(error)       // nil: several failures in a row end the stream; else called for each, and the stream continues
	deliver func(block) error // its error ends the stream
	last    string            // id of the last event, "" before the first
}

// followStream reads until ctx ends or a function returns an error.
func (s *stream) followStream(ctx context.Context) error {
	failed := 0
	for {
		progress, err := s.readConnection(ctx)
		var own ownError
		var no *Error
		switch {
		case errors.As(err, &own):
			return own.error
		case ctx.Err() != nil:
			return ctx.Err()
		case errors.As(err, &no) && no.Status < 500:
			return err
		}
		if progress {
			failed = 0
		}
		if s.lost != nil {
			s.lost(err)
		} else if failed >= retriesInARow {
			return fmt.Errorf("follow the events: %w", err)
		}
		if err := reconnects.Wait(ctx, failed); err != nil {
			return err
		}
		failed++
	}
}

// readConnection reads one connection to its end. It reports whether an event arrived.
func (s *stream) readConnection(ctx context.Context) (progress bool, err error) {
	q := s.call
	q.header = http.Header{"Accept": {wire.TypeEventStream}}
	if s.last != "" {
		q.header.Set(wire.HeaderLastEventID, s.last)
	}
	res, err := s.client.sendOnce(ctx, q) // a watcher must not start a stopped server
	if err != nil {
		return false, err
	}
	defer res.Body.Close()
	if s.opened != nil {
		if err := s.opened(); err != nil {
			return false, ownError{err}
		}
	}
	return s.readBlocks(res.Body)
}

// readBlocks reads blocks of "name: value" lines; a blank line ends a block.
func (s *stream) readBlocks(body io.Reader) (progress bool, err error) {
	in := bufio.NewScanner(body)
	in.Buffer(nil, maxEventLine)
	var b block
	for in.Scan() {
		name, value, _ := strings.Cut(in.Text(), ":")
		value = strings.TrimPrefix(value, " ")
		switch {
		case in.Text() == "":
			if err := s.deliver(b); err != nil {
				return progress, ownError{err}
			}
			if b.id != "" {
				s.last = b.id
			}
			progress = progress || b.event != ""
			b = block{}
		case name == "id":
			b.id = value
		case name == "event":
			b.event = value
		case name == "data":
			b.data = append(b.data, value)
		}
	}
	if err := in.Err(); err != nil {
		return progress, err
	}
	return progress, io.ErrUnexpectedEOF
}

// block is one message of the stream.
type block struct {
	id, event string
	data      []string
}

// decodeData reads the data of a message.
func (b *block) decodeData(into any) error {
	if err := json.Unmarshal([]byte(strings.Join(b.data, "\n")), into); err != nil {
		return fmt.Errorf("read event %s: %w", b.id, err)
	}
	return nil
}
