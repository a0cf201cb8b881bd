// Package tracking connects to trackers, registers them, receives their webhooks, and checks the cards of their boards.
package tracking

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"log/slog"
	"net/http"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"time"

	"orange/internal/adapter/github"
	"orange/internal/adapter/linear"
	"orange/internal/adapter/mcpboard"
	"orange/internal/adapter/sqlite"
	"orange/internal/config"
	"orange/internal/core/agent"
	"orange/internal/core/task"
	"orange/internal/core/tracker"
	"orange/internal/runtime/local"
	"orange/internal/runtime/trackers"
	"orange/internal/server/boards"
	"orange/internal/server/forges"
	"orange/internal/transport"
	"orange/internal/ui/api"
)

// Connector opens the adapters of trackers.
type Connector struct {
	Store   *sqlite.Store
	Runtime *local.Runtime
	Boards  boards.Boards
	Log     *slog.Logger
}

// Connect opens the adapter of a tracker. It sends no request.
func (c Connector) Connect(cfg tracker.Config) (trackers.Backend, error) {
	var hooks func(context.Context) (string, error)
	if cfg.Webhook != "" {
		hooks = config.KeepSecret(forges.SecretReader(cfg.Webhook), hookSecretEvery, time.Now)
	}
	switch cfg.Kind {
	case tracker.Board:
		if cfg.Name != tracker.Board { // it was registered as a tracker, so its cards are polled
			if err := c.Boards.LearnVocabulary(cfg.Project, cfg.Workflow); err != nil {
				return nil, err
			}
		}
		return c.Store.ProjectTracker(cfg.Project, time.Now), nil
	case tracker.Linear:
		source := cmp.Or(cfg.Token, "env:LINEAR_API_KEY")
		calls := forges.NewHTTPClient(c.Log, transport.ClientOptions{Name: cfg.Name, Secret: source,
			Limited: func(r *http.Response) bool { return linear.IsRateLimited(transport.PeekBody(r, maxFault)) },
			Denied:  func(r *http.Response) bool { return linear.IsDenied(transport.PeekBody(r, maxFault)) },
			Resets:  func(r *http.Response) time.Time { return linear.ResetTime(r.Header) },
		})
		return linear.New(linear.TrackerOptions{URL: cfg.URL, Scope: cfg.Scope, Token: forges.SecretReader(source), WebhookSecret: hooks, HTTP: calls, Reads: transport.MarkSafe}), nil
	case tracker.GitHub:
		t, _, err := github.New(github.RepositoryOptions{
			URL: cfg.URL, Scope: cfg.Scope, Token: forges.GitHubSecret(cfg.Token, hostOfAPI(cfg.URL)), WebhookSecret: hooks, HTTP: forges.NewHTTPClient(c.Log, transport.ClientOptions{Name: cfg.Name, Secret: cmp.Or(cfg.Token, "gh"), Forbids: true}),
		})
		return t, err
	case tracker.MCP:
		return c.connectMCP(cfg)
	}
	return nil, task.Mistakef("tracker %s is of kind %q: use %s", cfg.Name, cfg.Kind, tracker.KindNames())
}

// hookSecretEvery is the least time between two reads of a webhook's secret.
const hookSecretEvery = time.Minute

// maxFault bounds how much of a response is read to find out what is wrong, in bytes.
const maxFault = 4 << 10

// hostOfAPI returns the host whose token gh has.
func hostOfAPI(url string) string {
	host := github.HostOf(url)
	if host == "api.github.com" {
		return "github.com"
	}
	return host
}

func (c Connector) connectMCP(cfg tracker.Config) (trackers.Backend, error) {
	m, err := loadMapping(cfg.Mapping)
	if err != nil {
		return nil, err
	}
	o := mcpboard.BoardOptions{URL: cfg.URL, Command: cfg.Command, Scope: cfg.Scope, Mapping: m, HTTP: forges.NewHTTPClient(c.Log, transport.ClientOptions{Name: cfg.Name, Secret: cfg.Token})}
	if p, ok := c.Runtime.Project(cfg.Project); ok {
		o.Dir = p.Path
	}
	if cfg.Token != "" {
		o.Token = forges.SecretReader(cfg.Token)
	}
	if len(cfg.Command) > 0 {
		o.HTTP, o.Env = nil, c.boardEnv(cfg)
	}
	if def, err := c.Runtime.ChooseWorkflow(cfg.Workflow, cfg.Project); err == nil {
		if def.Board != nil {
			o.Tags = def.Board.Vocabulary().Tags
		}
		for _, p := range def.Projections {
			if def.IsTerminal(p.State) {
				o.Closed = append(o.Closed, cfg.ColumnName(p.Status))
			}
		}
	}
	return mcpboard.New(o)
}

// boardEnv returns the environment of a board's program: what a tool needs, and the variable that holds its secret.
func (c Connector) boardEnv(cfg tracker.Config) []string {
	env := config.ToolEnv(config.Environ())
	if name, ok := strings.CutPrefix(cfg.Token, "env:"); ok {
		env = append(env, name+"="+config.Getenv(name))
	}
	return env
}

// loadMapping returns a mapping that comes with Orange, or reads one from a file.
func loadMapping(name string) (mcpboard.Mapping, error) {
	known := mcpboard.ShippedMappings()
	if m, ok := known[name]; ok {
		return m, nil
	}
	text, err := os.ReadFile(name)
	if err != nil {
		var names []string
		for n := range known {
			names = append(names, n)
		}
		slices.Sort(names)
		return mcpboard.Mapping{}, task.Mistakef("mapping %q is neither one of %s nor a file: %v", name, strings.Join(names, ", "), err)
	}
	return mcpboard.ParseMapping(text)
}

// Registry implements api.Trackers.
type Registry struct {
	*trackers.Service
	Connector    Connector
	CheckHarness func(agent.Terms) error // nil: no agents run
	Changed      func()                  // called after the list of trackers changed
}

var _ api.Trackers = Registry{}

// SaveTracker implements api.Trackers. It sends no request to the tracker; orange tracker test does.
func (t Registry) SaveTracker(_ context.Context, cfg tracker.Config) (tracker.Config, error) {
	kind, known := tracker.FindKind(cfg.Kind)
	switch {
	case !known:
		return cfg, task.Mistakef("kind %q is not known: give %s", cfg.Kind, tracker.KindNames())
	case kind.NeedsScope != "" && cfg.Scope == "":
		return cfg, task.Mistakef("%s", kind.NeedsScope)
	case cfg.Kind == tracker.Linear && cfg.URL != "" && !strings.HasPrefix(cfg.URL, "http://") && !strings.HasPrefix(cfg.URL, "https://"):
		return cfg, task.Mistakef("the address of the API is not valid: give https://HOST/graphql")
	case cfg.Max < 0 || cfg.Every < 0:
		return cfg, task.Mistakef("--max and --every must not be negative")
	case cfg.Every > 0 && cfg.Every < 5*time.Second:
		return cfg, task.Mistakef("--every %s is too often: give at least 5s", cfg.Every)
	}
	if _, ok := t.Connector.Runtime.Project(cfg.Project); !ok {
		return cfg, task.Mistakef("project %q is not registered: see orange project list", cfg.Project)
	}
	if _, err := t.Connector.Runtime.ChooseWorkflow(cfg.Workflow, cfg.Project); err != nil {
		return cfg, err
	}
	for _, source := range []string{cfg.Token, cfg.Webhook} {
		if err := config.CheckSecret(source); err != nil {
			return cfg, task.Mistakef("%v", err)
		}
	}
	if cfg.Harness != "" && t.CheckHarness != nil {
		if err := t.CheckHarness(agent.Terms{Harness: cfg.Harness}); err != nil {
			return cfg, task.Mistakef("%v", err)
		}
	}
	if err := t.requireDistinct(&cfg); err != nil {
		return cfg, err
	}
	if path, ok := strings.CutPrefix(cfg.Mapping, "~/"); ok {
		cfg.Mapping = filepath.Join(config.Getenv("HOME"), path)
	}
	port, err := t.Connector.Connect(cfg)
	if err != nil {
		return cfg, task.Mistakef("%v", err)
	}
	if c, ok := port.(interface{ Close() error }); ok {
		c.Close() //nolint:errcheck // nothing was sent
	}
	if err := t.Connector.Store.SetTracker(cfg); err != nil {
		return cfg, err
	}
	t.Changed()
	return cfg, nil
}

// requireDistinct returns an error if another tracker has the same issues, or if the change would point a tracker with open
// tasks to other issues.
func (t Registry) requireDistinct(cfg *tracker.Config) error {
	list, err := t.Connector.Store.Trackers()
	if err != nil {
		return err
	}
	for _, o := range list {
		same := o.Kind == cfg.Kind && o.URL == cfg.URL && strings.EqualFold(o.Scope, cfg.Scope) && slices.Equal(o.Command, cfg.Command)
		if cfg.Kind == tracker.Board {
			same = o.Kind == cfg.Kind && o.Project == cfg.Project
		}
		switch {
		case same && o.Name != cfg.Name:
			return task.Mistakef("tracker %s already has these issues: change that tracker, or remove it first", o.Name)
		case o.Name != cfg.Name || same && o.Project == cfg.Project:
			continue
		}
		if id, err := t.findBusyTask(&o); err != nil || id != "" {
			return cmp.Or(err, task.Mistakef("task %s works on an issue of %s, which would become another tracker: end the task first, or choose another name", id, o.Name))
		}
	}
	return nil
}

// findBusyTask returns a task that still works on an issue of a tracker or has a pending change for it, or "" if there is
// none.
func (t Registry) findBusyTask(cfg *tracker.Config) (task.ID, error) {
	tasks, err := t.Connector.Store.TrackedTasks(cfg.IssueRef(""))
	for i := range tasks {
		o := &tasks[i]
		def, wrong := t.Connector.Runtime.Definition(o)
		hasPending := slices.ContainsFunc(o.Pending, func(e task.Effect) bool { return e.NonBlocking })
		if wrong == nil && !o.Deleted && (!def.IsTerminal(o.Status) || hasPending) {
			return o.ID, nil
		}
	}
	return "", err
}

// RemoveTracker implements api.Trackers. It refuses a tracker with issues of open tasks.
func (t Registry) RemoveTracker(_ context.Context, name string) error {
	cfg, err := t.Config(name)
	if err != nil {
		return err
	}
	if cfg.Kind != tracker.Board { // its cards stay
		if id, err := t.findBusyTask(&cfg); err != nil || id != "" {
			return cmp.Or(err, task.Mistakef("task %s works on an issue of %s or has a pending change for it: end or cancel the task first, and send pending changes with orange tracker sync %s", id, name, name))
		}
	}
	if err := t.Connector.Store.RemoveTracker(name); err != nil {
		return err
	}
	t.Changed()
	return nil
}

// ListIssues implements api.Trackers.
func (t Registry) ListIssues(name string) ([]tracker.Issue, error) {
	if _, err := t.Config(name); err != nil {
		return nil, err
	}
	return t.Connector.Store.KeptIssues(name)
}

// Check names the trackers that do not respond and the issues that drifted.
func Check(s *trackers.Service) (string, error) {
	list, err := s.List()
	if err != nil {
		return "", err
	}
	var wrong []string
	for _, r := range list {
		if r.Problem != "" {
			wrong = append(wrong, r.Config.Name+": "+r.Problem)
		}
	}
	drifts, err := s.Drifts()
	if err != nil {
		return "", err
	}
	for _, d := range drifts {
		wrong = append(wrong, d.String())
	}
	if len(wrong) > 0 {
		return "", errors.New(strings.Join(wrong, "; "))
	}
	return fmt.Sprintf("%d, none drifted", len(list)), nil
}
