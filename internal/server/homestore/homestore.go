// Package homestore opens the store of a data folder, unless the folder shows that there was a newer one, and copies it
// every day.
package homestore

import (
	"context"
	"errors"
	"fmt"
	"io/fs"
	"log/slog"
	"os"
	"path/filepath"
	"sync"
	"sync/atomic"
	"time"

	"orange/internal/adapter/sqlite"
	"orange/internal/adapter/taskdir"
	"orange/internal/host"
)

// Path returns the path of a data folder's store.
func Path(home string) string { return filepath.Join(home, "orange.db") }

// BackupFolder returns the folder of a data folder that holds the copies of its store.
func BackupFolder(home string) string { return filepath.Join(home, "backups") }

// traces counts what a data folder contains that only a store can have led to.
type traces struct {
	tasks, attempts, workspaces, backups int
}

func tracesIn(home string) (found traces, err error) {
	folders, err := taskdir.New(host.TasksFolder(home)).ListFolders()
	if err != nil {
		return found, err
	}
	backups, err := sqlite.ListBackups(BackupFolder(home))
	if err != nil {
		return found, err
	}
	count := func(name string) int { return len(GlobIn(home, name+"/[^.]*")) }
	return traces{len(folders), count("attempts"), count("workspaces"), len(backups)}, nil
}

// GlobIn lists the paths below a folder that match a pattern. The path of the folder is not part of the pattern.
func GlobIn(folder, pattern string) []string {
	found, _ := fs.Glob(os.DirFS(folder), pattern) // a folder that cannot be read counts as empty
	for i := range found {
		found[i] = filepath.Join(folder, found[i])
	}
	return found
}

// Open opens the store of a data folder. It makes an empty one only if nothing shows that there was another.
func Open(home string) (*sqlite.Store, error) {
	path := Path(home)
	store, err := sqlite.OpenExisting(path)
	if errors.Is(err, sqlite.ErrEmpty) {
		return openEmpty(home, path)
	}
	if err != nil {
		return nil, err
	}
	ahead, err := FoldersAhead(store, taskdir.New(host.TasksFolder(home)))
	if err == nil && len(ahead) > 0 {
		err = fmt.Errorf("open the store %s: it is older than the task folders (tasks that show more: %d, the first is %s); run orange doctor --restore, or put the newer store back",
			path, len(ahead), ahead[0].ID)
	}
	if err != nil {
		return nil, errors.Join(err, store.Close())
	}
	return store, nil
}

// openEmpty makes a store in a new data folder. It returns an error if the folder contains traces of another store.
func openEmpty(home, path string) (*sqlite.Store, error) {
	found, err := tracesIn(home)
	if err != nil {
		return nil, err
	}
	if found == (traces{}) {
		return sqlite.Open(path)
	}
	state := "is missing"
	if _, err := os.Stat(path); err == nil {
		state = "is empty"
	}
	return nil, fmt.Errorf("open the store %s: it %s, though there are task folders (%d) and backups (%d); run orange doctor --restore, or move %s away to begin with an empty one",
		path, state, found.tasks, found.backups, home)
}

// clockSlack is how far a clock may have been set back between two entries.
const clockSlack = time.Hour

// AheadFolder is a task's folder that shows entries which the store does not have.
type AheadFolder struct {
	taskdir.Found
	Known bool // the store has the task
	Seq   int  // last entry of the store
	Last  int  // last entry that history.jsonl shows
}

// FoldersAhead lists the folders that show more entries than the store has. A missing entry was decided after the newest
// one in the store, so FoldersAhead skips histories that were not written since.
func FoldersAhead(store *sqlite.Store, dir *taskdir.Dir) ([]AheadFolder, error) {
	folders, err := dir.ListFolders()
	if err != nil {
		return nil, err
	}
	seqs, err := store.LastSequences()
	if err != nil {
		return nil, err
	}
	newest, err := store.LastWritten()
	if err != nil {
		return nil, err
	}
	var out []AheadFolder
	for _, f := range folders {
		seq, known := seqs[f.ID]
		if known && f.Written.Before(newest.Add(-clockSlack)) {
			continue
		}
		if last, err := dir.LastSeq(f.Project, f.ID); err == nil && last > seq { // a history that cannot be read shows nothing
			out = append(out, AheadFolder{f, known, seq, last})
		}
	}
	return out, nil
}

// backupEvery is how long a server waits until it copies the store again.
const backupEvery = 24 * time.Hour

// backupRetry is how long it waits after a copy that failed.
const backupRetry = time.Hour

// Backups copies a store.
type Backups struct {
	store *sqlite.Store
	home  string
	log   *slog.Logger
	first chan struct{}         // closed when the first backup was made or failed
	last  atomic.Pointer[error] // error of the last backup
	mu    sync.Mutex            // held while copying

	rescued time.Time // when Rescue last copied a store that is not in its place; only the watch and Close call it, one after the other
}

// NewBackups returns the backups of a data folder's store. It copies nothing.
func NewBackups(store *sqlite.Store, home string, log *slog.Logger) *Backups {
	return &Backups{store: store, home: home, log: log, first: make(chan struct{})}
}

// Run copies the store now and every day, until ctx ends.
func (b *Backups) Run(ctx context.Context) {
	first := sync.Once{}
	for ctx.Err() == nil {
		next := backupEvery
		made, err := b.copyStore(ctx)
		first.Do(func() { close(b.first) })
		switch {
		case ctx.Err() != nil:
		case err != nil:
			next = backupRetry
			b.log.Error("back up the store", "component", "serve", "error", err)
		case made:
			b.log.Info("backed up the store", "component", "serve")
		}
		select {
		case <-ctx.Done():
		case <-time.After(next):
		}
	}
}

func (b *Backups) copyStore(ctx context.Context) (made bool, err error) {
	b.mu.Lock()
	defer b.mu.Unlock()
	made, err = b.store.WriteBackup(ctx, BackupFolder(b.home), time.Now())
	b.last.Store(&err)
	return made, err
}

// rescueEvery is the least time between two copies of a store that is no longer in its place: writers wait while it is
// copied.
const rescueEvery = time.Minute

// Rescue copies a store that is no longer in its place, which ends with the server that has it open. It copies nothing if
// the store is in its place, was copied so a moment ago and the server goes on, or is the same as its newest copy.
func (b *Backups) Rescue(ctx context.Context, ends bool) error {
	lost := b.store.CheckPlace()
	if lost == nil || !ends && time.Since(b.rescued) < rescueEvery {
		return nil
	}
	made, err := b.copyStore(ctx)
	if err != nil {
		return fmt.Errorf("%w; no copy could be made: %w", lost, err)
	}
	b.rescued = time.Now()
	if made {
		b.log.Error("the store is not in its place: copied it", "component", "serve", "folder", BackupFolder(b.home), "error", lost)
	}
	return nil
}

// Check returns how many backups there are, or the error of the last one. It waits for the first backup.
func (b *Backups) Check(ctx context.Context) (string, error) {
	select {
	case <-b.first:
	case <-ctx.Done():
	}
	if err := b.last.Load(); err != nil && *err != nil {
		return "", *err
	}
	list, err := sqlite.ListBackups(BackupFolder(b.home))
	if err != nil || len(list) == 0 {
		return "there is none", err
	}
	return fmt.Sprintf("%d kept, the newest of %s", len(list), list[0].At.Format(time.DateTime)+" UTC"), nil
}
