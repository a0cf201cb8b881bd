// Package filewatch reports when something in a folder changes. One watcher serves many folders
// and many subscribers. It reports that something happened, not what: subscribers check for
// themselves. It knows nothing about the content of the files.
package filewatch

import (
	"errors"
	"fmt"
	"path"
	"path/filepath"
	"runtime"
	"slices"
	"sync"
	"time"

	"github.com/fsnotify/fsnotify"
)

// ErrClosed means that the watcher was closed.
var ErrClosed = errors.New("the file watcher is closed")

// ErrFull means that the limit of watched folders is reached.
var ErrFull = errors.New("too many folders are watched")

// maxFolders returns how many folders may be watched. The number is low where the system needs
// an open file for each file in them, so that enough are left for other uses.
func maxFolders() int {
	if runtime.GOOS == "linux" {
		return 4000
	}
	return 100
}

// A Watch describes which changes of a folder a subscriber wants to know about.
type Watch struct {
	Folder  string
	Names   []string      // patterns of path.Match for files in the folder; none for all
	Pause   time.Duration // delay between a change and the call, which also covers further changes in that time
	Changed func()        // must be quick, may call the watcher, and may be called again while it runs
	Lost    func()        // called once, when the folder no longer exists; may be nil
}

// Watcher watches folders. It starts nothing before the first Add. Its methods are safe for
// concurrent use.
type Watcher struct {
	mu      sync.Mutex
	start   func() (*fsnotify.Watcher, error)
	most    int
	system  *fsnotify.Watcher // nil before the first watch
	folders map[string]*folder
	closed  bool
	wait    sync.WaitGroup
}

// folder is one watched folder. It is asleep while all its subscribers already wait for a call
// with a long delay: until then, events would change nothing.
type folder struct {
	subscriptions []*subscription
	asleep        bool
}

// long is the least delay for which a folder falls asleep.
const long = time.Second

// subscription is an active Watch.
type subscription struct {
	Watch
	timer *time.Timer // nil while no call is pending
	gone  bool
}

// New returns a watcher without folders.
func New() *Watcher {
	return &Watcher{start: fsnotify.NewWatcher, most: maxFolders(), folders: map[string]*folder{}}
}

// Add starts to watch a folder, which must exist. It returns an error if the limit of the
// system or of this package is reached, or if the folder does not exist. After stop there are
// no more calls, except one that already runs.
func (w *Watcher) Add(watch Watch) (stop func(), err error) {
	watch.Folder = filepath.Clean(watch.Folder)
	e := &subscription{Watch: watch}
	w.mu.Lock()
	defer w.mu.Unlock()
	if w.closed {
		return nil, ErrClosed
	}
	if err := w.openSystem(); err != nil {
		return nil, err
	}
	f := w.folders[watch.Folder]
	if f == nil && len(w.folders) >= w.most {
		return nil, fmt.Errorf("watch %s: %w", watch.Folder, ErrFull)
	}
	if f == nil || f.asleep {
		if err := w.system.Add(watch.Folder); err != nil {
			return nil, fmt.Errorf("watch %s: %w", watch.Folder, err)
		}
	}
	if f == nil {
		f = &folder{}
		w.folders[watch.Folder] = f
	}
	f.subscriptions, f.asleep = append(f.subscriptions, e), false
	return func() { w.removeSubscription(e) }, nil
}

// openSystem starts the system's watcher. The caller holds the lock.
func (w *Watcher) openSystem() error {
	if w.system != nil {
		return nil
	}
	system, err := w.start()
	if err != nil {
		return fmt.Errorf("watch files: %w", err)
	}
	w.system = system
	w.wait.Go(func() { w.listenForEvents(system) })
	return nil
}

// Len returns the number of watched folders.
func (w *Watcher) Len() int {
	w.mu.Lock()
	defer w.mu.Unlock()
	return len(w.folders)
}

// removeSubscription removes a subscription, and its folder if it was the last one.
func (w *Watcher) removeSubscription(e *subscription) {
	w.mu.Lock()
	defer w.mu.Unlock()
	if e.gone {
		return
	}
	w.cancelSubscription(e)
	f := w.folders[e.Folder]
	f.subscriptions = slices.DeleteFunc(f.subscriptions, func(other *subscription) bool { return other == e })
	if len(f.subscriptions) > 0 {
		return
	}
	delete(w.folders, e.Folder)
	if w.system != nil {
		_ = w.system.Remove(e.Folder) // it may be gone, or asleep
	}
}

// cancelSubscription cancels a pending call. The caller holds the lock.
func (w *Watcher) cancelSubscription(e *subscription) {
	e.gone = true
	if e.timer != nil && e.timer.Stop() {
		w.wait.Done()
	}
}

// listenForEvents handles events of the system until the watcher is closed.
func (w *Watcher) listenForEvents(system *fsnotify.Watcher) {
	for {
		select {
		case event, ok := <-system.Events:
			if !ok {
				return
			}
			w.handleEvent(event)
		case _, ok := <-system.Errors:
			if !ok {
				return
			}
			w.scheduleCalls() // too many events: the system dropped some
		}
	}
}

// handleEvent notifies the subscribers of a changed file. A change of mode or owner does not
// count.
func (w *Watcher) handleEvent(event fsnotify.Event) {
	if event.Op == fsnotify.Chmod {
		return
	}
	var now, lost []*subscription
	w.mu.Lock()
	dir, name := filepath.Split(event.Name)
	if f := w.folders[filepath.Clean(dir)]; f != nil {
		for _, e := range f.subscriptions {
			if len(e.Names) == 0 || e.matchesName(name) {
				now = w.scheduleCall(e, now)
			}
		}
		w.suspendIfIdle(filepath.Clean(dir), f)
	}
	if event.Has(fsnotify.Remove) || event.Has(fsnotify.Rename) {
		lost = w.forgetLost(event.Name)
	}
	w.mu.Unlock()
	callChanged(now)
	callLost(lost)
}

// matchesName reports whether a file matches the names of a watch.
func (w *Watch) matchesName(file string) bool {
	return slices.ContainsFunc(w.Names, func(pattern string) bool {
		ok, err := path.Match(pattern, file)
		return ok && err == nil
	})
}

// suspendIfIdle puts a folder to sleep if all subscribers already wait. The caller holds the
// lock.
func (w *Watcher) suspendIfIdle(name string, f *folder) {
	if f.asleep || slices.ContainsFunc(f.subscriptions, func(e *subscription) bool { return e.timer == nil || e.Pause < long }) {
		return
	}
	f.asleep = w.system.Remove(name) == nil
}

// forgetLost removes a folder that no longer exists, and returns its subscribers. The caller
// holds the lock.
func (w *Watcher) forgetLost(name string) []*subscription {
	name = filepath.Clean(name)
	f, ok := w.folders[name]
	if !ok {
		return nil
	}
	delete(w.folders, name)
	_ = w.system.Remove(name) // a folder that was moved is still watched
	for _, e := range f.subscriptions {
		w.cancelSubscription(e)
	}
	return f.subscriptions
}

// scheduleCalls notifies all subscribers.
func (w *Watcher) scheduleCalls() {
	var now []*subscription
	w.mu.Lock()
	for _, f := range w.folders {
		for _, e := range f.subscriptions {
			now = w.scheduleCall(e, now)
		}
	}
	w.mu.Unlock()
	callChanged(now)
}

// scheduleCall appends e to now if it must be called immediately, and otherwise schedules the
// call. The caller holds the lock.
func (w *Watcher) scheduleCall(e *subscription, now []*subscription) []*subscription {
	switch {
	case e.Pause <= 0:
		return append(now, e)
	case e.timer == nil:
		w.wait.Add(1)
		e.timer = time.AfterFunc(e.Pause, func() { w.callAfterPause(e) })
	}
	return now
}

// callAfterPause calls a subscriber after the delay. It wakes the folder first, so that later
// changes are noticed.
func (w *Watcher) callAfterPause(e *subscription) {
	defer w.wait.Done()
	w.mu.Lock()
	if e.gone {
		w.mu.Unlock()
		return
	}
	e.timer = nil
	var lost []*subscription
	if f := w.folders[e.Folder]; f.asleep {
		f.asleep = false
		if w.system.Add(e.Folder) != nil {
			lost = w.forgetLost(e.Folder)
		}
	}
	w.mu.Unlock()
	if lost == nil {
		e.Changed()
	}
	callLost(lost)
}

// callLost notifies the subscribers of a folder that no longer exists.
func callLost(list []*subscription) {
	for _, e := range list {
		if e.Lost != nil {
			e.Lost()
		}
	}
}

func callChanged(list []*subscription) {
	for _, e := range list {
		e.Changed()
	}
}

// Close stops watching and waits until all calls have returned.
func (w *Watcher) Close() error {
	w.mu.Lock()
	system := w.system
	w.system, w.closed = nil, true
	for _, f := range w.folders {
		for _, e := range f.subscriptions {
			w.cancelSubscription(e)
		}
	}
	clear(w.folders)
	w.mu.Unlock()
	var err error
	if system != nil {
		err = system.Close()
	}
	w.wait.Wait()
	return err
}
