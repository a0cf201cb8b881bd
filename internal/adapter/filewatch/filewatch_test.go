package filewatch

import (
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"github.com/fsnotify/fsnotify"

	"orange/internal/wait"
)

// longest bounds every wait for something that must come.
const longest = 30 * time.Second

func check(t *testing.T, err error) {
	t.Helper()
	if err != nil {
		t.Fatal(err)
	}
}

func write(t *testing.T, dir, name, text string) {
	t.Helper()
	f, err := os.OpenFile(filepath.Join(dir, name), os.O_APPEND|os.O_CREATE|os.O_WRONLY, 0o600)
	check(t, err)
	_, err = f.WriteString(text)
	check(t, errors.Join(err, f.Close()))
}

func opened(t *testing.T) *Watcher {
	t.Helper()
	w := New()
	t.Cleanup(func() { check(t, w.Close()) })
	return w
}

// told counts calls, and can be waited for.
type told struct {
	t     *testing.T
	count atomic.Int64
	calls chan struct{}
}

func counter(t *testing.T) *told { return &told{t: t, calls: make(chan struct{}, 1)} }

func (c *told) changed() {
	c.count.Add(1)
	select {
	case c.calls <- struct{}{}:
	default:
	}
}

// comes waits for a call that was not waited for yet.
func (c *told) comes() {
	c.t.Helper()
	select {
	case <-c.calls:
	case <-time.After(longest):
		c.t.Fatal("nobody was told")
	}
}

func add(t *testing.T, w *Watcher, watch Watch) (stop func()) {
	t.Helper()
	stop, err := w.Add(watch)
	check(t, err)
	return stop
}

// settle makes sure that everything that happened before was handled: events are in order.
func settle(t *testing.T, w *Watcher, dir string) {
	t.Helper()
	end := counter(t)
	stop := add(t, w, Watch{Folder: dir, Names: []string{"end"}, Changed: end.changed})
	defer stop()
	write(t, dir, "end", "x")
	end.comes()
}

func TestChangesAreReported(t *testing.T) {
	for name, change := range map[string]func(dir string) error{
		"a new file":          func(dir string) error { return os.WriteFile(filepath.Join(dir, "new"), nil, 0o600) },
		"more of a file":      func(dir string) error { return os.WriteFile(filepath.Join(dir, "file"), []byte("more"), 0o600) },
		"a file is gone":      func(dir string) error { return os.Remove(filepath.Join(dir, "file")) },
		"a file is moved":     func(dir string) error { return os.Rename(filepath.Join(dir, "file"), filepath.Join(dir, "other")) },
		"one takes its place": func(dir string) error { return os.Rename(filepath.Join(dir, "draft"), filepath.Join(dir, "file")) },
	} {
		t.Run(name, func(t *testing.T) {
			w, dir := opened(t), t.TempDir()
			write(t, dir, "file", "x")
			write(t, dir, "draft", "x")
			now, later := counter(t), counter(t)
			add(t, w, Watch{Folder: dir + "/.", Changed: now.changed})
			add(t, w, Watch{Folder: dir, Pause: time.Millisecond, Changed: later.changed})
			check(t, change(dir))
			now.comes()
			later.comes()
		})
	}
}

func TestNamesMayBePatterns(t *testing.T) {
	w, dir := opened(t), t.TempDir()
	told := counter(t)
	add(t, w, Watch{Folder: dir, Names: []string{"output.log*"}, Changed: told.changed})
	for _, name := range []string{"output.log", "output.log.4194304"} {
		write(t, dir, name, "x")
		told.comes()
	}
}

func TestOnlyConfiguredKindsAreSent(t *testing.T) {
	w, dir, elsewhere := opened(t), t.TempDir(), t.TempDir()
	write(t, dir, "file", "x")
	quiet := counter(t)
	add(t, w, Watch{Folder: dir, Names: []string{"file", "absent", "[", "f*.log"}, Changed: quiet.changed})
	write(t, dir, "other", "x")
	write(t, elsewhere, "file", "x")
	check(t, os.Chmod(filepath.Join(dir, "file"), 0o400))
	if _, err := os.ReadFile(filepath.Join(dir, "file")); err != nil {
		t.Fatal(err)
	}
	settle(t, w, dir)
	if n := quiet.count.Load(); n != 0 {
		t.Errorf("told %d times", n)
	}
}

func TestItemsOfAPauseAreSentOnce(t *testing.T) {
	w, dir := opened(t), t.TempDir()
	patient := counter(t)
	stop := add(t, w, Watch{Folder: dir, Pause: time.Hour, Changed: patient.changed})
	for range 100 {
		write(t, dir, "file", "x")
	}
	settle(t, w, dir)
	if n := patient.count.Load(); n != 0 {
		t.Errorf("told %d times", n)
	}
	passHour(t, w, dir)
	patient.comes()
	write(t, dir, "file", "x")
	settle(t, w, dir)
	stop() // with something left to tell
	stop()
	if n := patient.count.Load(); n != 1 {
		t.Errorf("told %d times", n)
	}
}

// passHour waits until a call is scheduled, and lets an hour pass.
func passHour(t *testing.T, w *Watcher, dir string) {
	t.Helper()
	var e *subscription
	wait.Until(t, "a call is scheduled", func() bool {
		w.mu.Lock()
		defer w.mu.Unlock()
		e = w.folders[dir].subscriptions[0]
		return e.timer != nil && e.timer.Stop()
	})
	w.callAfterPause(e)
}

func TestAFolderSleepsWhileAllWaitAlready(t *testing.T) {
	w, dir := opened(t), t.TempDir()
	c := counter(t)
	add(t, w, Watch{Folder: dir, Pause: time.Hour, Changed: c.changed})
	asleep := func() bool {
		w.mu.Lock()
		defer w.mu.Unlock()
		return w.folders[dir].asleep && len(w.system.WatchList()) == 0
	}
	falls := func() {
		t.Helper()
		write(t, dir, "file", "x")
		wait.Until(t, "the folder sleeps", asleep)
	}
	falls()
	passHour(t, w, dir)
	c.comes()
	if asleep() {
		t.Error("it sleeps on")
	}
	falls()
	other := counter(t)
	stop := add(t, w, Watch{Folder: dir, Changed: other.changed}) // wakes it up
	write(t, dir, "file", "x")
	other.comes()
	stop()
	falls()
	lost := counter(t)
	add(t, w, Watch{Folder: dir, Pause: time.Hour, Changed: c.changed, Lost: lost.changed})
	falls()
	check(t, os.RemoveAll(dir))
	passHour(t, w, dir)
	lost.comes()
	if n := c.count.Load(); n != 1 || w.Len() != 0 {
		t.Errorf("told %d times, %d folders are left", n, w.Len())
	}
}

func TestAStoppedSubscriberGetsNothing(t *testing.T) {
	w, dir := opened(t), t.TempDir()
	one, two := counter(t), counter(t)
	stop := add(t, w, Watch{Folder: dir, Changed: one.changed})
	stopTwo := add(t, w, Watch{Folder: dir, Changed: two.changed})
	stop()
	write(t, dir, "file", "x")
	two.comes()
	if n := one.count.Load(); n != 0 {
		t.Errorf("told %d times", n)
	}
	stopTwo()
	if w.Len() != 0 || len(w.system.WatchList()) != 0 {
		t.Error("it is still watched")
	}
	add(t, w, Watch{Folder: dir, Changed: one.changed})
	write(t, dir, "file", "x")
	one.comes()
}

func TestARemovedFolderIsReportedAndForgotten(t *testing.T) {
	for name, away := range map[string]func(dir string) error{
		"removed": os.RemoveAll,
		"moved":   func(dir string) error { return os.Rename(dir, dir+"2") },
	} {
		t.Run(name, func(t *testing.T) {
			w, dir := opened(t), filepath.Join(t.TempDir(), "d")
			check(t, os.Mkdir(dir, 0o700))
			c := counter(t)
			stop := add(t, w, Watch{Folder: dir, Names: []string{"file"}, Pause: time.Hour, Changed: func() { t.Error("something changed") }, Lost: c.changed})
			add(t, w, Watch{Folder: dir, Names: []string{"file"}, Changed: func() { t.Error("something changed") }})
			check(t, away(dir))
			c.comes()
			if w.Len() != 0 {
				t.Error("it is still watched")
			}
			stop()
			check(t, os.Mkdir(dir, 0o700))
			add(t, w, Watch{Folder: dir, Changed: c.changed})
			write(t, dir, "file", "x")
			c.comes()
		})
	}
}

func TestWhatCannotBeWatchedIsAnError(t *testing.T) {
	w := opened(t)
	if _, err := w.Add(Watch{Folder: filepath.Join(t.TempDir(), "gone"), Changed: func() {}}); err == nil || strings.Contains(err.Error(), "\n") {
		t.Error(err)
	}
	if w.Len() != 0 {
		t.Error("it is watched")
	}
	full := opened(t)
	full.most = 1
	one := t.TempDir()
	add(t, full, Watch{Folder: one, Changed: func() {}})
	add(t, full, Watch{Folder: one, Changed: func() {}})
	if _, err := full.Add(Watch{Folder: t.TempDir(), Changed: func() {}}); !errors.Is(err, ErrFull) {
		t.Error(err)
	}
	exhausted := opened(t)
	exhausted.start = func() (*fsnotify.Watcher, error) { return nil, errors.New("too many open files") }
	if _, err := exhausted.Add(Watch{Folder: t.TempDir(), Changed: func() {}}); err == nil || !strings.Contains(err.Error(), "too many open files") {
		t.Error(err)
	}
	exhausted.start = fsnotify.NewWatcher // others let go of theirs
	add(t, exhausted, Watch{Folder: t.TempDir(), Changed: func() {}})
}

func TestAnOverflowIsReportedToEveryStream(t *testing.T) {
	w := opened(t)
	one, two := counter(t), counter(t)
	add(t, w, Watch{Folder: t.TempDir(), Names: []string{"file"}, Changed: one.changed})
	add(t, w, Watch{Folder: t.TempDir(), Pause: time.Millisecond, Changed: two.changed})
	w.system.Errors <- fsnotify.ErrEventOverflow
	one.comes()
	two.comes()
}

func TestNothingIsSentAfterClose(t *testing.T) {
	w, dir := New(), t.TempDir()
	c := counter(t)
	stop := add(t, w, Watch{Folder: dir, Pause: time.Hour, Changed: c.changed})
	write(t, dir, "file", "x")
	settle(t, w, dir)
	check(t, w.Close())
	check(t, w.Close())
	stop()
	write(t, dir, "file", "x")
	if n := c.count.Load(); n != 0 {
		t.Errorf("told %d times", n)
	}
	if _, err := w.Add(Watch{Folder: dir, Changed: c.changed}); !errors.Is(err, ErrClosed) {
		t.Error(err)
	}
	check(t, New().Close())
}

func TestManyConcurrently(t *testing.T) {
	w, root := New(), t.TempDir()
	var wait sync.WaitGroup
	for i := range 8 {
		dir := filepath.Join(root, fmt.Sprint(i%4))
		check(t, os.MkdirAll(dir, 0o700))
		wait.Go(func() {
			for j := range 50 {
				stop, err := w.Add(Watch{Folder: dir, Pause: time.Duration(j%2) * time.Millisecond, Changed: func() { w.Len() }})
				if err != nil {
					t.Error(err)
					return
				}
				write(t, dir, "file", "x")
				stop()
			}
		})
	}
	wait.Wait()
	if w.Len() != 0 {
		t.Errorf("%d are left", w.Len())
	}
	check(t, w.Close())
}
