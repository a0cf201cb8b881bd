// Package mcpboard connects to boards that are MCP servers: Joan, Backlog.md, and any other
// server with tools for issues, columns, tags and comments. A Mapping, which is data, describes
// which tool does what and how to parse its answer, so that another board needs only another
// file. The package implements the protocol, over a program's standard input and output or over
// HTTP, and knows nothing about particular boards.
//
// It parses answers in plain text strictly: an answer that does not match the mapping is an
// error, never data, and if the text of a comment imitates another comment, no comment gets an
// author. MCP boards send no webhooks, so they are polled.
package mcpboard

import (
	"context"
	"errors"
	"fmt"
	"net/http"
	"net/url"
	"path/filepath"
	"slices"
	"strings"
	"sync"
	"time"

	"github.com/modelcontextprotocol/go-sdk/mcp"

	"orange/internal/core/tracker"
)

// BoardOptions describe where a board is and how to connect to it: with a Command or a URL.
type BoardOptions struct {
	Command []string // a program that communicates over its standard input and output
	Env     []string // its whole environment
	Dir     string

	URL   string                                    // over streamable HTTP
	Token func(ctx context.Context) (string, error) // sent as a bearer token; nil for none
	HTTP  *http.Client                              // nil for a new client

	Scope   string // the project's id at the board, if it has projects
	Mapping Mapping
	Tags    []string         // if any text can be a tag: those that are known in advance
	Closed  []string         // columns in which no work is left, besides the mapping's
	Pause   time.Duration    // before a call is repeated because the board was too busy; 0 for a second
	Now     func() time.Time // nil for the clock
}

// A Tracker is one board. It is safe for concurrent use; Close ends what it started.
type Tracker struct {
	o      BoardOptions
	m      Mapping
	where  string // for messages
	shared *sharedSession

	writing sync.Mutex // boards made of files lose concurrent writes

	mu      sync.Mutex
	columns []named
	tags    []named
	known   bool     // columns and tags were read
	seen    []string // tags on issues, if any text can be a tag
	token   string   // as last sent, to keep it out of messages
}

// A named thing has an id at the board. If it has none, the name is the id.
type named struct{ id, name string }

// New returns a board. It starts nothing before it is used.
func New(o BoardOptions) (*Tracker, error) {
	if o.Pause <= 0 {
		o.Pause = time.Second
	}
	if o.Now == nil {
		o.Now = time.Now
	}
	t := &Tracker{o: o, m: o.Mapping}
	t.m.Closed = slices.Concat(t.m.Closed, o.Closed)
	if err := t.m.check(); err != nil {
		return nil, fmt.Errorf("mapping %s: %w", oneLine(t.m.Name, 60), err)
	}
	switch {
	case len(o.Command) > 0 && o.URL != "":
		return nil, errors.New("a board has a command or a URL, not both: give one of them")
	case len(o.Command) > 0 && o.Command[0] != "":
		t.where = oneLine(filepath.Base(o.Command[0]), 60)
		t.shared = newSharedSession(t.startProgram)
		return t, nil
	case o.URL == "":
		return nil, errors.New("a board needs a command or a URL: give one of them")
	}
	to, err := url.Parse(o.URL)
	if err != nil || to.Host == "" || to.Scheme != "http" && to.Scheme != "https" {
		return nil, errors.New("the URL of a board must be like https://host/mcp")
	}
	if to.User != nil {
		return nil, errors.New("the URL of a board must not contain a password: give it as the tracker's token")
	}
	t.where = oneLine(to.Host, 100)
	client := httpClient(o.HTTP, to, t.rememberToken(o.Token))
	t.shared = newSharedSession(func(ctx context.Context) (*session, error) { return t.dialHTTP(ctx, client) })
	return t, nil
}

// Close ends the session, and the program if there is one.
func (t *Tracker) Close() error {
	t.shared.close()
	return nil
}

func (t *Tracker) newClient() *mcp.Client {
	return mcp.NewClient(&mcp.Implementation{Name: "orange", Version: "1"}, &mcp.ClientOptions{Capabilities: &mcp.ClientCapabilities{}})
}

func (t *Tracker) startProgram(ctx context.Context) (*session, error) {
	p := newProgram(t.o)
	s, err := t.newClient().Connect(ctx, &mcp.CommandTransport{Command: p.cmd, TerminateDuration: endTime}, nil)
	if err != nil {
		p.killGroup()
		return nil, fmt.Errorf("%w%s", err, p.lastOutput())
	}
	return &session{ClientSession: s, program: p}, nil
}

func (t *Tracker) dialHTTP(ctx context.Context, client *http.Client) (*session, error) {
	s, err := t.newClient().Connect(ctx, &mcp.StreamableClientTransport{
		Endpoint: t.o.URL, HTTPClient: client, MaxRetries: -1, DisableStandaloneSSE: true, MaxEventSize: maxBody,
	}, nil)
	if err != nil {
		return nil, err
	}
	return &session{ClientSession: s}, nil
}

func (t *Tracker) rememberToken(token func(ctx context.Context) (string, error)) func(ctx context.Context) (string, error) {
	if token == nil {
		return nil
	}
	return func(ctx context.Context) (string, error) {
		s, err := token(ctx)
		t.mu.Lock()
		t.token = s
		t.mu.Unlock()
		return s, err
	}
}

// knownSecrets returns what messages must not contain.
func (t *Tracker) knownSecrets() []string {
	t.mu.Lock()
	defer t.mu.Unlock()
	var out []string
	if t.token != "" {
		out = append(out, t.token)
	}
	for _, e := range t.o.Env {
		if _, v, _ := strings.Cut(e, "="); len(v) >= 8 {
			out = append(out, v)
		}
	}
	return out
}

// callAndRead calls a tool and parses its answer.
func (t *Tracker) callAndRead(ctx context.Context, op *Operation, vars map[string]any) ([]record, error) {
	a, err := t.callTool(ctx, op, vars, true)
	if err != nil {
		return nil, err
	}
	out, err := op.Read.readAnswer(a)
	if err != nil && !errors.Is(err, errForged) {
		return nil, fmt.Errorf("the answer of %s cannot be parsed: %w (it begins: %s)", op.Tool, err, t.cleanMessage(a.text))
	}
	return out, err
}

// ReadIssue reads one issue with all its data.
func (t *Tracker) ReadIssue(ctx context.Context, key string) (tracker.Issue, error) {
	is, err := t.readIssue(ctx, key)
	if err != nil {
		return is, err
	}
	if err := t.nameColumns(ctx, []*tracker.Issue{&is}); err != nil {
		return is, err
	}
	if t.m.Comments != nil {
		said, err := t.callAndRead(ctx, t.m.Comments, map[string]any{"id": idOf(is)})
		forged := errors.Is(err, errForged)
		if err != nil && !forged {
			return is, asNotFound(err)
		}
		is.Comments = t.m.parseComments(said, forged)
	}
	return is, nil
}

// readIssue reads an issue without comments; the column may be an id.
func (t *Tracker) readIssue(ctx context.Context, key string) (tracker.Issue, error) {
	if t.m.Key != nil && !t.m.Key.matches(key) {
		return tracker.Issue{}, tracker.ErrNotFound
	}
	found, err := t.callAndRead(ctx, t.m.Issue, map[string]any{"id": key})
	if err != nil {
		return tracker.Issue{}, asNotFound(err)
	}
	if len(found) == 0 {
		return tracker.Issue{}, tracker.ErrNotFound
	}
	return t.issueFromRecord(found[0])
}

// issueFromRecord returns the issue in a record, if it belongs to this project.
func (t *Tracker) issueFromRecord(r record) (tracker.Issue, error) {
	is := t.m.parseIssue(r)
	if is.Key == "" || is.Card.Title == "" {
		return is, fmt.Errorf("the board at %s shows an issue without id or title: check the mapping", t.where)
	}
	if of := r.firstValue("project"); of != "" && t.o.Scope != "" && of != t.o.Scope {
		return tracker.Issue{}, tracker.ErrNotFound
	}
	if is.Card.Column == "" {
		is.Card.Column = columnID + r.firstValue("column_id")
	}
	is.ReadAt = t.o.Now()
	t.rememberTags(is.Card.Tags)
	return is, nil
}

// columnID marks a column of which only the id is known.
const columnID = "\x00"

// nameColumns replaces the ids of columns with names. It reads the columns again, because a
// column may have been renamed.
func (t *Tracker) nameColumns(ctx context.Context, list []*tracker.Issue) error {
	if !slices.ContainsFunc(list, func(is *tracker.Issue) bool { return strings.HasPrefix(is.Card.Column, columnID) }) {
		return nil
	}
	columns, err := t.readNames(ctx, t.m.Columns)
	if err != nil {
		return err
	}
	t.mu.Lock()
	t.columns = columns
	t.mu.Unlock()
	for _, is := range list {
		if id, ok := strings.CutPrefix(is.Card.Column, columnID); ok {
			is.Card.Column = ""
			if i := slices.IndexFunc(columns, func(c named) bool { return c.id == id }); i >= 0 {
				is.Card.Column = columns[i].name
			}
		}
	}
	return nil
}

func idOf(is tracker.Issue) string {
	if is.ID != "" {
		return is.ID
	}
	return is.Key
}

// asNotFound converts the error for something that a board does not have to
// tracker.ErrNotFound.
func asNotFound(err error) error {
	if kindOf(err) == kindMissing {
		return tracker.ErrNotFound
	}
	return err
}

// rememberTags records tags that are in use, for boards that have no list of them.
func (t *Tracker) rememberTags(tags []string) {
	if t.m.Tags == nil || !t.m.Tags.Free {
		return
	}
	t.mu.Lock()
	defer t.mu.Unlock()
	for _, tag := range tags {
		if len(t.seen) < 500 && !slices.Contains(t.seen, tag) {
			t.seen = append(t.seen, tag)
		}
	}
}

// AccountName checks that the board answers and has the tools of the mapping, and returns the
// name that the mapping selects, or that of the server.
func (t *Tracker) AccountName(ctx context.Context) (string, error) {
	name := t.where
	err := t.withSession(ctx, true, func(ctx context.Context, s *session) error {
		tools, err := s.listAllTools(ctx)
		if err != nil {
			return err
		}
		if info := s.InitializeResult(); info != nil && info.ServerInfo != nil {
			name = oneLine(info.ServerInfo.Name, maxWord)
		}
		if lack := t.m.missingTools(tools); len(lack) > 0 {
			return &boardError{kind: kindBroken, text: fmt.Sprintf("the board at %s has no %s: check mapping %s", t.where, strings.Join(lack, ", "), t.m.Name)}
		}
		return nil
	})
	if err != nil || t.m.Whoami == nil {
		return name, err
	}
	found, err := t.callAndRead(ctx, t.m.Whoami, nil)
	if err != nil {
		return "", err
	}
	if len(found) > 0 && found[0].firstValue("name") != "" {
		name = oneLine(found[0].firstValue("name"), maxWord)
	}
	return name, nil
}

// missingTools returns what a mapping uses and a server does not have.
func (m *Mapping) missingTools(tools map[string]*mcp.Tool) []string {
	var out []string
	for _, u := range m.operationUses() {
		if u.op == nil || u.op.Tool == "" {
			continue
		}
		tool := tools[u.op.Tool]
		if tool == nil {
			out = append(out, "tool "+u.op.Tool)
			continue
		}
		properties := followPath(tool.InputSchema, "properties")
		for arg := range u.op.Args {
			if len(properties) == 1 && len(followPath(properties[0], arg)) == 0 {
				out = append(out, fmt.Sprintf("argument %s of tool %s", arg, u.op.Tool))
			}
		}
	}
	slices.Sort(out)
	return slices.Compact(out)
}
