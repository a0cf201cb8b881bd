// Package filewatch says when something in a folder changed. One watcher serves many
// folders and many who want to know. It tells that something happened, not what: whoever
// is told looks for themselves. It knows nothing about what the files are.
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

// ErrClosed says that the watcher was closed.
var ErrClosed = errors.New("nothing is watched any more")

// ErrFull says that so many folders are watched that another would cost too much.
var ErrFull = errors.New("too many folders are watched")

// maxFolders is how many folders are watched. Where the system wants a file to be open for each
// file in them there are few, so that enough are left for other things.
func maxFolders() int {
	if runtime.GOOS == "linux" {
		return 4000
	}
	return 100
}

// A Watch is what somebody wants to know about a folder.
type Watch struct {
	Folder  string
	Names   []string      // of files in it, as path.Match reads them; none for all
	Pause   time.Duration // after a change, until it is told; what happens meanwhile is told with it
	Changed func()        // must be quick, may call the watcher, and may be called while it runs
	Lost    func()        // is called once, when the folder is not there any more; may be nil
}

// Watcher watches folders. Nothing is started before the first one is. Its methods may be
// called at the same time.
type Watcher struct {
	mu      sync.Mutex
	start   func() (*fsnotify.Watcher, error)
	most    int
	system  *fsnotify.Watcher // nil before the first watch
	folders map[string]*folder
	closed  bool
	wait    sync.WaitGroup
}

// folder is one that is watched. It is asleep while everybody waits to be told already, for
// a long time: the system is spared what would change nothing.
type folder struct {
	subscriptions []*subscription
	asleep        bool
}

// long is the least pause for which a folder falls asleep.
const long = time.Second

// subscription is a watch that is kept.
type subscription struct {
	Watch
	timer *time.Timer // nil while there is nothing to tell
	gone  bool
}

// New returns a watcher of nothing.
func New() *Watcher {
	return &Watcher{start: fsnotify.NewWatcher, most: maxFolders(), folders: map[string]*folder{}}
}

// Add begins to watch a folder, which must exist. The error says that no more of them are
// watched, by the system or by us, or that it is not there. After stop there are no more
// calls, save one that is under way.
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

// Len is how many folders are being watched.
func (w *Watcher) Len() int {
	w.mu.Lock()
	defer w.mu.Unlock()
	return len(w.folders)
}

// removeSubscription forgets a watch, and its folder if nobody else is interested.
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

// cancelSubscription takes back what is to be told. The caller holds the lock.
func (w *Watcher) cancelSubscription(e *subscription) {
	e.gone = true
	if e.timer != nil && e.timer.Stop() {
		w.wait.Done()
	}
}

// listenForEvents hears the system until the watcher is closed.
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
			w.scheduleCalls() // too much happened at once: nobody knows what
		}
	}
}

// handleEvent tells those who are interested. That a file has another mode or owner is no change.
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

// matchesName says whether a file is one of those that somebody wants to know about.
func (w *Watch) matchesName(file string) bool {
	return slices.ContainsFunc(w.Names, func(pattern string) bool {
		ok, err := path.Match(pattern, file)
		return ok && err == nil
	})
}

// suspendIfIdle puts a folder to sleep if all who are interested wait already. The caller holds the
// lock.
func (w *Watcher) suspendIfIdle(name string, f *folder) {
	if f.asleep || slices.ContainsFunc(f.subscriptions, func(e *subscription) bool { return e.timer == nil || e.Pause < long }) {
		return
	}
	f.asleep = w.system.Remove(name) == nil
}

// forgetLost forgets a folder that is not there any more, and returns whom to tell. The caller
// holds the lock.
func (w *Watcher) forgetLost(name string) []*subscription {
	name = filepath.Clean(name)
	f, ok := w.folders[name]
	if !ok {
		return nil
	}
	delete(w.folders, name)
	_ = w.system.Remove(name) // one that was moved is still watched
	for _, e := range f.subscriptions {
		w.cancelSubscription(e)
	}
	return f.subscriptions
}

// scheduleCalls tells everybody.
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

// scheduleCall adds whom to tell at once, or sees to it that they are told later. The caller
// holds the lock.
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

// callAfterPause tells what happened in a pause. Before it does the folder is awake again: what
// happens from now on is told again.
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

// callLost tells those whose folder is not there any more.
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

// Close stops watching and waits until nobody is being told any more.
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
