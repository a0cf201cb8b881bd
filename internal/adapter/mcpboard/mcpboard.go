// Package mcpboard reaches boards that are MCP servers: Joan, Backlog.md, and whatever
// else has tools for issues, columns, tags and comments. Which tool does what, and how
// its answer is read, is data (a Mapping), so that another board is another file. The
// package knows the protocol, over a program's standard input and output or over HTTP,
// and nothing about any one board.
//
// Answers in plain words are read strictly: an answer that does not look as the mapping
// says is an error, never data, and where a comment's text pretends to be another
// comment, no author is believed. MCP boards send no news, so they are looked at.
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

// Options say where a board is and how it is spoken to: a Command or a URL.
type Options struct {
	Command []string // a program that speaks over its standard input and output
	Env     []string // all of its environment
	Dir     string

	URL   string                                    // over streamable HTTP
	Token func(ctx context.Context) (string, error) // shown as a bearer token; nil for none
	HTTP  *http.Client                              // nil for one of its own

	Scope   string // the project's id at the board, if it has projects
	Mapping Mapping
	Tags    []string         // where tags are free: those that are known before anybody used them
	Closed  []string         // columns where nothing is left to do, besides the mapping's
	Pause   time.Duration    // before a call that the board was too busy for is made again; 0 for a second
	Now     func() time.Time // nil for the clock
}

// A Tracker is one board. It is safe for concurrent use; Close ends what it started.
type Tracker struct {
	o      Options
	m      Mapping
	where  string // for messages
	shared *sharedSession

	writing sync.Mutex // boards of files lose what is written at once

	mu      sync.Mutex
	columns []named
	tags    []named
	known   bool     // columns and tags were read
	seen    []string // tags on issues, where tags are free
	token   string   // as last shown, to keep it out of messages
}

// A named thing has an id at the board; where it has none, the name is the id.
type named struct{ id, name string }

// New returns a board. Nothing is started before it is used.
func New(o Options) (*Tracker, error) {
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
		return nil, errors.New("the URL of a board is to be like https://host/mcp")
	}
	if to.User != nil {
		return nil, errors.New("the URL of a board holds no password: give it as the tracker's token")
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

// knownSecrets are what is not to be in a message.
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

// callAndRead uses a tool and reads its answer.
func (t *Tracker) callAndRead(ctx context.Context, op *Operation, vars map[string]any) ([]record, error) {
	a, err := t.callTool(ctx, op, vars, true)
	if err != nil {
		return nil, err
	}
	out, err := op.Read.readAnswer(a)
	if err != nil && !errors.Is(err, errForged) {
		return nil, fmt.Errorf("the answer of %s cannot be read: %w (it begins: %s)", op.Tool, err, t.cleanMessage(a.text))
	}
	return out, err
}

// ReadIssue reads one issue whole.
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

// readIssue reads one without comments; the column may be an id.
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

// issueFromRecord is an issue of this project, as an answer shows it.
func (t *Tracker) issueFromRecord(r record) (tracker.Issue, error) {
	is := t.m.parseIssue(r)
	if is.Key == "" || is.Card.Title == "" {
		return is, fmt.Errorf("the board at %s shows an issue without id or title: look at the mapping", t.where)
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

// columnID marks a column that is known by its id only.
const columnID = "\x00"

// nameColumns names the columns of issues that are known by id. They are read anew: a column
// may have got another name.
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

// asNotFound makes tracker.ErrNotFound of what a board does not have.
func asNotFound(err error) error {
	if kindOf(err) == troubleMissing {
		return tracker.ErrNotFound
	}
	return err
}

// rememberTags remembers tags that are in use, for boards that have no list of them.
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

// AccountName shows that the board answers and that its tools are those of the mapping, and
// names what the mapping says, or the server.
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
			return &troubleError{kind: troubleBroken, text: fmt.Sprintf("the board at %s has no %s: look at mapping %s", t.where, strings.Join(lack, ", "), t.m.Name)}
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

// missingTools lists what a mapping uses and a server does not have.
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
