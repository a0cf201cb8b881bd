package trackertest_test

import (
	"cmp"
	"crypto/hmac"
	"crypto/sha256"
	"encoding/hex"
	"errors"
	"fmt"
	"net/http"
	"slices"
	"strconv"
	"sync"
	"testing"
	"time"

	"orange/internal/core/tracker"
	"orange/internal/runtime/trackers"
	"orange/internal/trackertest"
)

const secret = "s3cret-of-the-memory"

// memory is a tracker in memory that calls columns and tags by ids, as most do.
type memory struct {
	mistake string // of its clients
	trims   bool   // blanks around a description

	mu         sync.Mutex
	columns    []named
	tags       []named
	issues     []*issue
	ids        int
	fault      trackertest.Fault
	writes     int
	deliveries []trackertest.Delivery
}

type named struct{ id, name string }

type issue struct {
	tracker.Issue
	column string   // id
	tags   []string // ids
}

func newMemory(mistake string) *memory {
	m := &memory{mistake: mistake}
	for _, name := range trackertest.Columns {
		m.columns = append(m.columns, named{m.id(), name})
	}
	for _, name := range trackertest.Tags {
		m.tags = append(m.tags, named{m.id(), name})
	}
	return m
}

func (m *memory) id() string {
	m.ids++
	return fmt.Sprint("id", m.ids)
}

func (m *memory) Secret() string { return secret }

func (m *memory) OpenClient(testing.TB) trackers.Backend {
	return &client{server: m, mistake: m.mistake}
}

func idOf(list []named, name string) string {
	for _, n := range list {
		if n.name == name {
			return n.id
		}
	}
	return ""
}

func nameOf(list []named, id string) string {
	for _, n := range list {
		if n.id == id {
			return n.name
		}
	}
	return ""
}

func (m *memory) find(key string) *issue {
	for _, is := range m.issues {
		if is.Key == key {
			return is
		}
	}
	return nil
}

// act changes an issue at the server, and sends deliveries of it.
func (m *memory) act(key string, do func(*issue)) {
	m.mu.Lock()
	defer m.mu.Unlock()
	is := m.find(key)
	do(is)
	is.Card.UpdatedAt = time.Now()
	m.run(key)
}

func (m *memory) run(key string) {
	body := fmt.Appendf(nil, "%s changed %s", key, m.id())
	sum := hmac.New(sha256.New, []byte(secret))
	sum.Write(body)
	m.deliveries = append(m.deliveries, trackertest.Delivery{Body: body, Header: http.Header{
		"X-Signature": {hex.EncodeToString(sum.Sum(nil))}, "X-Delivery": {m.id()},
	}})
}

func (m *memory) AddIssue(_ testing.TB, draft tracker.Issue) string {
	m.mu.Lock()
	defer m.mu.Unlock()
	is := &issue{Issue: draft, column: idOf(m.columns, draft.Card.Column)}
	is.Key = strconv.Itoa(len(m.issues) + 1)
	is.Card.CreatedAt = time.Now()
	is.Card.UpdatedAt = is.Card.CreatedAt
	for _, tag := range draft.Card.Tags {
		is.tags = append(is.tags, idOf(m.tags, tag))
	}
	m.issues = append(m.issues, is)
	m.run(is.Key)
	return is.Key
}

func (m *memory) MoveIssue(_ testing.TB, key, column string) {
	m.act(key, func(is *issue) { is.column = idOf(m.columns, column) })
}

func (m *memory) TagIssue(_ testing.TB, key string, add, remove []string) {
	m.act(key, func(is *issue) {
		for _, tag := range add {
			is.tag(idOf(m.tags, tag), true)
		}
		for _, tag := range remove {
			is.tag(idOf(m.tags, tag), false)
		}
	})
}

func (is *issue) tag(id string, on bool) {
	is.tags = slices.DeleteFunc(is.tags, func(have string) bool { return have == id })
	if on {
		is.tags = append(is.tags, id)
	}
}

func (m *memory) CommentIssue(_ testing.TB, key, author, text string) {
	m.act(key, func(is *issue) { m.say(is, author, text) })
}

func (m *memory) say(is *issue, author, text string) {
	is.Comments = append(is.Comments, tracker.Comment{ID: m.id(), Author: author, At: time.Now(), Text: text})
}

func (m *memory) DescribeIssue(_ testing.TB, key, text string) {
	m.act(key, func(is *issue) { is.Card.Description = text })
}

func (m *memory) LinkPull(_ testing.TB, key string, pr tracker.PR) {
	m.act(key, func(is *issue) { is.PRs = append(is.PRs, pr) })
}

func (m *memory) ReadIssue(_ testing.TB, key string) tracker.Issue {
	m.mu.Lock()
	defer m.mu.Unlock()
	return m.shown(m.find(key))
}

// shown returns an issue with the names of now.
func (m *memory) shown(is *issue) tracker.Issue {
	out := is.Issue
	out.Comments, out.Children, out.BlockedBy = slices.Clone(is.Comments), nil, nil
	out.Card.Column, out.Card.Tags = nameOf(m.columns, is.column), []string{}
	for _, id := range is.tags {
		out.Card.Tags = append(out.Card.Tags, nameOf(m.tags, id))
	}
	for _, l := range is.BlockedBy {
		out.BlockedBy = append(out.BlockedBy, m.link(l.Key))
	}
	for _, other := range m.issues {
		if other.Parent == is.Key {
			out.Children = append(out.Children, m.link(other.Key))
		}
	}
	return out
}

func (m *memory) link(key string) tracker.Link {
	column := nameOf(m.columns, m.find(key).column)
	return tracker.Link{Key: key, Column: column, Closed: column == "Accepted" || column == "Canceled"}
}

func (m *memory) RenameColumn(_ testing.TB, from, to string) {
	m.mu.Lock()
	defer m.mu.Unlock()
	at := slices.IndexFunc(m.columns, func(n named) bool { return n.name == from })
	m.columns[at].name = to
}

func (m *memory) DeleteTag(_ testing.TB, name string) {
	m.mu.Lock()
	defer m.mu.Unlock()
	id := idOf(m.tags, name)
	m.tags = slices.DeleteFunc(m.tags, func(n named) bool { return n.id == id })
	for _, is := range m.issues {
		is.tag(id, false)
	}
}

func (m *memory) InjectFault(f trackertest.Fault) {
	m.mu.Lock()
	defer m.mu.Unlock()
	m.fault = f
}

func (m *memory) CountWrites() int {
	m.mu.Lock()
	defer m.mu.Unlock()
	return m.writes
}

func (m *memory) TakeDeliveries(testing.TB) []trackertest.Delivery {
	m.mu.Lock()
	defer m.mu.Unlock()
	out := m.deliveries
	m.deliveries = nil
	return out
}

var errNoAnswer = errors.New("the server gives no answer")

// request lets the server do something, unless it fails.
func (m *memory) request(write bool, do func() error) error {
	m.mu.Lock()
	defer m.mu.Unlock()
	if write {
		m.writes++
	}
	kind := ""
	if m.fault.Times > 0 && (write || !m.fault.Writes) {
		m.fault.Times--
		kind = m.fault.Kind
	}
	switch kind {
	case trackertest.Broken, trackertest.Limited:
		return errNoAnswer
	case trackertest.Denied:
		return errors.New("the secret is not good: see orange tracker test")
	case trackertest.Lost:
		return cmp.Or(do(), errNoAnswer)
	}
	return do()
}

var (
	_ trackertest.World  = (*memory)(nil)
	_ trackertest.Sender = (*memory)(nil)
	_ trackertest.Linker = (*memory)(nil)
	_ trackertest.Keeper = (*memory)(nil)
)
