package server

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"path/filepath"
	"reflect"
	"slices"
	"strings"
	"time"

	"orange/internal/adapter/filewatch"
	"orange/internal/adapter/harness"
	"orange/internal/adapter/pathwatch"
	"orange/internal/config"
	"orange/internal/runtime/local"
	"orange/internal/runtime/notifier"
)

// settleTime is how long to wait after a change of config.json, so that one edit is read once.
const settleTime = 50 * time.Millisecond

// settings returns the settings that are in use. They follow config.json, except those that fixedKeys
// names.
func (s *Server) settings() *config.Config { return s.live.Load() }

// fixedKeys returns the keys of config.json whose values differ and that a server reads only when it
// starts.
func fixedKeys(was, now *config.Config) (changed []string) {
	for _, key := range []struct {
		name string
		same bool
	}{
		{"sessions", was.Sessions == now.Sessions},
		{"idle_exit", was.IdleExit == now.IdleExit},
		{"hooks", was.Hooks == now.Hooks},
		{"web", was.Web == now.Web},
		{"web_input", was.WebInput == now.WebInput},
		{"editor_link", was.EditorLink == now.EditorLink},
		{"metrics", was.Metrics == now.Metrics},
		{"effects", was.Record == now.Record},
		{"agent_env", !slices.ContainsFunc(now.AgentEnv, func(name string) bool {
			return !slices.Contains(was.AgentEnv, name) && config.Getenv(name) == "" // the server was started without it
		})},
	} {
		if !key.same {
			changed = append(changed, key.name)
		}
	}
	return changed
}

// watchSettings reads config.json whenever it changes, until ctx ends.
func (s *Server) watchSettings(ctx context.Context) {
	for ctx.Err() == nil {
		s.awaitSettings(ctx)
		select {
		case <-ctx.Done():
		case <-time.After(settleTime):
		}
	}
}

// awaitSettings reads config.json and returns when it may have changed.
func (s *Server) awaitSettings(ctx context.Context) {
	file := s.cfg.File()
	changed, cancel := context.WithCancel(ctx)
	defer cancel()
	watch, err := pathwatch.Open(file) // it and its folders may be made, removed and replaced
	if err != nil {
		s.log.Warn("watch config.json: run orange restart after a change", "component", "serve", "error", err)
		<-ctx.Done()
		return
	}
	defer watch.Close()
	if written, err := filepath.EvalSymlinks(file); err == nil {
		stop, err := s.host.Watcher.Add(filewatch.Watch{Folder: filepath.Dir(written), Names: []string{filepath.Base(written)}, Changed: cancel})
		if err == nil {
			defer stop()
		}
	}
	s.readSettings()
	if err := watch.Wait(changed); err != nil && changed.Err() == nil {
		s.log.Warn("watch config.json", "component", "serve", "error", err)
		<-ctx.Done()
	}
}

// readSettings reads config.json and uses what may change while the server runs.
func (s *Server) readSettings() {
	next, err := s.cfg.Reload(config.Getenv)
	if err = cmp.Or(err, next.Unsafe); err != nil {
		if was := s.unread.Swap(&err); was == nil || (*was).Error() != err.Error() {
			s.log.Error("config.json cannot be read, and the settings stay as they are", "component", "serve", "error", err)
		}
		return
	}
	s.unread.Store(nil)
	was := s.live.Swap(&next)
	if sameSettings(was, &next) {
		return
	}
	for _, p := range next.Problems {
		s.log.Warn("a key of config.json is ignored", "component", "serve", "key", p.Key, "error", p.Err)
	}
	s.level.Set(parseLogLevel(next.LogLevel))
	if !reflect.DeepEqual(was.Notify, next.Notify) {
		select {
		case s.channelsChanged <- struct{}{}:
		default: // it was already notified
		}
	}
	s.log.Info("read config.json", "component", "serve", "needs_restart", strings.Join(fixedKeys(&s.cfg, &next), ", "))
}

func sameSettings(a, b *config.Config) bool {
	x, y := *a, *b
	texts := func(list []config.Problem) (out string) {
		for _, p := range list {
			out += p.Err.Error() + "\n"
		}
		return out
	}
	same := texts(x.Problems) == texts(y.Problems)
	x.Problems, y.Problems = nil, nil
	return same && reflect.DeepEqual(x, y)
}

// checkSettings reports whether the server uses what config.json says.
func (s *Server) checkSettings(context.Context) (string, error) {
	if err := s.unread.Load(); err != nil {
		return "", *err
	}
	if changed := fixedKeys(&s.cfg, s.settings()); len(changed) > 0 {
		return "", fmt.Errorf("changed since the server started, and read only then: %s", strings.Join(changed, ", "))
	}
	if problems := s.settings().Problems; len(problems) > 0 {
		var wrong []error
		for _, p := range problems {
			wrong = append(wrong, p.Err)
		}
		return "", errors.Join(wrong...)
	}
	return "as in " + s.cfg.File(), nil
}

// defaults returns what tasks get that name nothing else.
func (s *Server) defaults() local.Defaults {
	now := s.settings()
	out := local.Defaults{Workflow: now.Workflow, Harness: cmp.Or(now.Harness, "claude"), Review: now.ReviewHarness}
	if s.cfg.Record {
		out.Review = cmp.Or(out.Review, "claude")
		return out
	}
	if first, ok := harness.FirstInstalled(now.FindProgram); ok {
		out.Harness = cmp.Or(now.Harness, first)
	}
	return out
}

// newNotifier returns a notifier for the present channels.
func (s *Server) newNotifier() *notifier.Notifier {
	return s.notifications().NewNotifier(notifier.NotifierOptions{Journal: s.runtime, Tasks: s.store, Notes: s.store, Definition: s.runtime.Definition})
}

// runNotifier notifies people until ctx ends. When the channels change, another notifier continues
// where the last one stopped: what it announced is in the store.
func (s *Server) runNotifier(ctx context.Context) {
	for ctx.Err() == nil {
		running, stop := context.WithCancel(ctx)
		done := make(chan struct{})
		go func() {
			defer close(done)
			s.notifier.Load().Run(running)
		}()
		select {
		case <-ctx.Done():
			<-done
		case <-s.channelsChanged:
			stop()
			<-done
			s.notifier.Store(s.newNotifier())
		}
		stop()
	}
}
