// Package notifications sends people notifications of what waits for them, and the codes that confirm merges, by the
// channels of the configuration.
package notifications

import (
	"context"
	"crypto/rand"
	"encoding/json"
	"errors"
	"fmt"
	"log/slog"
	"runtime"
	"slices"
	"strings"
	"sync"
	"time"

	"orange/internal/adapter/notify"
	"orange/internal/atomicfile"
	"orange/internal/config"
	"orange/internal/core/explain"
	"orange/internal/core/task"
	"orange/internal/runtime/notifier"
)

// maxSingleMessages is how many items are sent one by one. More are sent as one message.
const maxSingleMessages = 5

// Channels builds the channels of the configuration.
type Channels struct {
	Config  config.Config
	Task    func(id task.ID) (task.Task, bool, error)
	Reasons func(t *task.Task) []explain.WaitReason
	SeenAt  func(id task.ID) string // returns the page of a task, or that of the inbox for ""; "": there is no page
	Log     *slog.Logger
}

// NewNotifier returns the notifier of people. It sets the channels, the log and the report of results in the given
// options.
func (s Channels) NewNotifier(o notifier.NotifierOptions) *notifier.Notifier {
	delivery := &deliveryFile{path: s.Config.NotifyResultsFile(), names: map[string]bool{}}
	var channels []notifier.Channel
	for i := range s.Config.Notify {
		n := &s.Config.Notify[i]
		delivery.names[n.Name()] = true
		channels = append(channels, s.newChannel(n))
	}
	o.Channels, o.Log = channels, s.Log
	o.Report = func(r notifier.DeliveryResult) {
		if err := delivery.recordResult(r); err != nil {
			s.Log.Warn("store the results of notifications", "component", "notifier", "error", err)
		}
	}
	return notifier.New(o)
}

// newChannel returns the notification channel that the configuration describes.
func (s Channels) newChannel(n *config.Notify) notifier.Channel {
	w := notifier.Channel{
		Name: n.Name(), Retry: n.IsRemote(), Several: maxSingleMessages,
		Wants: func(it explain.Item) bool { return n.WantsKind(string(it.Kind), it.Project) },
	}
	if n.ForProgram() {
		w.Several = 0
	}
	to := newSender(s.Config, n)
	w.Deliver = func(ctx context.Context, id string, items []explain.Item) error {
		m := notify.Message{ID: id, Items: s.withReasons(items), Brief: n.Brief}
		if len(items) == 1 {
			m.URL = s.SeenAt(items[0].Task)
		} else {
			m.URL = s.SeenAt("")
		}
		return to.SendMessage(ctx, m)
	}
	return w
}

// withReasons adds to the items why they wait.
func (s Channels) withReasons(items []explain.Item) []explain.Item {
	out := slices.Clone(items)
	for i := range out {
		if t, ok, err := s.Task(out[i].Task); err == nil && ok {
			out[i].SetReasons(s.Reasons(&t))
		}
	}
	return out
}

// A sender sends notifications.
type sender interface {
	SendMessage(ctx context.Context, m notify.Message) error
}

// newSender returns the adapter of a channel. It reads secrets for each message.
func newSender(cfg config.Config, n *config.Notify) sender {
	r := notify.Remote{Client: notify.NewClient(), URL: n.URL}
	if n.Secret != "" {
		r.Secret = func(ctx context.Context) (string, error) { return config.ReadSecret(ctx, n.Secret, config.Getenv) }
	}
	env := config.DesktopEnv(config.Environ())
	switch n.Kind {
	case "webhook":
		return notify.Webhook{Remote: r}
	case "ntfy":
		return notify.Ntfy{Remote: r}
	case "slack":
		return notify.Slack{Remote: r}
	case "bell":
		return notify.Bell{Socket: cfg.Terminal, Env: env}
	case "desktop":
		return notify.Desktop{System: runtime.GOOS, Env: env}
	}
	panic("server: channel " + n.Kind + " has no sender") // config.Notify.Check refuses other kinds
}

// SendTest sends a test notification from this process. The message says that it is a test, even if it is brief.
func SendTest(ctx context.Context, cfg config.Config, n config.Notify, kind string) error {
	it := explain.Item{Kind: explain.ItemKind(kind), Project: "orange", Branch: "test", Status: "test", Do: "orange inbox", Since: time.Now().UTC()}
	return newSender(cfg, &n).SendMessage(ctx, notify.Message{ID: "test-" + strings.ToLower(rand.Text()[:12]), Items: []explain.Item{it}, Brief: n.Brief, Test: true})
}

// Check returns how many channels worked when they were last used, or the errors of those that did not.
func (s Channels) Check(context.Context) (string, error) {
	if len(s.Config.Notify) == 0 {
		return "no channel is configured", nil
	}
	known, err := config.ReadNotifyResults(s.Config.NotifyResultsFile())
	if err != nil {
		return "", err
	}
	var bad []error
	good := 0
	for i := range s.Config.Notify {
		n := &s.Config.Notify[i]
		switch delivery, ok := known[n.Name()]; {
		case ok && delivery.Problem != "":
			bad = append(bad, fmt.Errorf("%s (number %d): %s", n.Kind, i+1, delivery.Problem))
		case ok:
			good++
		}
	}
	return fmt.Sprintf("%d channels, %d of them delivered their last message", len(s.Config.Notify), good), errors.Join(bad...)
}

// deliveryFile stores the results of notifications, for orange notify list and orange doctor.
type deliveryFile struct {
	path  string
	names map[string]bool // of the configured channels

	mu sync.Mutex
}

// recordResult stores a result. It replaces the file atomically.
func (f *deliveryFile) recordResult(r notifier.DeliveryResult) error {
	f.mu.Lock()
	defer f.mu.Unlock()
	known, _ := config.ReadNotifyResults(f.path) // replace a file that does not parse
	out := map[string]config.NotifyResult{}
	for name, delivery := range known {
		if f.names[name] {
			out[name] = delivery
		}
	}
	delivery := config.NotifyResult{At: r.At.UTC(), OK: r.At.UTC(), Problem: r.Problem}
	if r.Problem != "" {
		delivery.OK = out[r.Channel].OK
	}
	out[r.Channel] = delivery
	text, err := json.Marshal(out)
	if err != nil {
		return err
	}
	return atomicfile.Write(f.path, text, 0o600)
}
