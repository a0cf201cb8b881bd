package server

import (
	"context"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"sync"
	"time"

	"orange/internal/adapter/sqlite"
	"orange/internal/adapter/taskdir"
	"orange/internal/host"
)

func storePath(home string) string    { return filepath.Join(home, "orange.db") }
func backupFolder(home string) string { return filepath.Join(home, "backups") }

// traces is what a data folder holds that only a store can have led to.
type traces struct {
	tasks, attempts, workspaces, backups int
}

func tracesIn(home string) (found traces, err error) {
	folders, err := taskdir.New(host.TasksFolder(home)).ListFolders()
	if err != nil {
		return found, err
	}
	backups, err := sqlite.ListBackups(backupFolder(home))
	if err != nil {
		return found, err
	}
	count := func(name string) int { return len(globIn(home, name+"/[^.]*")) }
	return traces{len(folders), count("attempts"), count("workspaces"), len(backups)}, nil
}

// globIn lists what matches a pattern below a folder, whose own path is no part of the pattern.
func globIn(folder, pattern string) []string {
	found, _ := fs.Glob(os.DirFS(folder), pattern) // what cannot be read has no entries
	for i := range found {
		found[i] = filepath.Join(folder, found[i])
	}
	return found
}

// openHomeStore opens the store of a data folder. An empty one is made only where nothing shows that
// there was another.
func openHomeStore(home string) (*sqlite.Store, error) {
	path := storePath(home)
	store, err := sqlite.OpenExisting(path)
	if errors.Is(err, sqlite.ErrEmpty) {
		return openEmpty(home, path)
	}
	if err != nil {
		return nil, err
	}
	ahead, err := foldersAhead(store, taskdir.New(host.TasksFolder(home)))
	if err == nil && len(ahead) > 0 {
		err = fmt.Errorf("open the store %s: it is older than the task folders (tasks that show more: %d, the first is %s); run orange doctor --restore, or put the newer store back",
			path, len(ahead), ahead[0].ID)
	}
	if err != nil {
		return nil, errors.Join(err, store.Close())
	}
	return store, nil
}

// openEmpty makes a store in a new data folder.
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

// clockSlack is how much a clock may have been put back between two entries.
const clockSlack = time.Hour

// an aheadFolder is a task's folder that shows entries which the store does not have.
type aheadFolder struct {
	taskdir.Found
	known bool
	seq   int // last entry of the store
	last  int // last entry that history.jsonl shows
}

// foldersAhead lists the folders that show more than the store knows. An entry that is missing was
// decided after the newest that is there: a history that was not written since need not be read.
func foldersAhead(store *sqlite.Store, dir *taskdir.Dir) ([]aheadFolder, error) {
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
	var out []aheadFolder
	for _, f := range folders {
		seq, known := seqs[f.ID]
		if known && f.Written.Before(newest.Add(-clockSlack)) {
			continue
		}
		if last, err := dir.LastSeq(f.Project, f.ID); err == nil && last > seq { // what cannot be read shows nothing
			out = append(out, aheadFolder{f, known, seq, last})
		}
	}
	return out, nil
}

// backupEvery is how long a server waits until it copies the store again.
const backupEvery = 24 * time.Hour

// backupRetry is how long it waits after a copy that failed.
const backupRetry = time.Hour

// backUp copies the store now and every day, until ctx ends.
func (s *Server) backUp(ctx context.Context) {
	first := sync.Once{}
	for ctx.Err() == nil {
		next := backupEvery
		made, err := s.store.WriteBackup(ctx, backupFolder(s.cfg.Home), time.Now())
		s.backupErr.Store(&err)
		first.Do(func() { close(s.backedUp) })
		switch {
		case ctx.Err() != nil:
		case err != nil:
			next = backupRetry
			s.log.Error("back up the store", "component", "serve", "error", err)
		case made:
			s.log.Info("backed up the store", "component", "serve")
		}
		sleepContext(ctx, next)
	}
}

// checkBackups says which backups there are, and why the last one failed.
func (s *Server) checkBackups(ctx context.Context) (string, error) {
	select {
	case <-s.backedUp:
	case <-ctx.Done():
	}
	if err := s.backupErr.Load(); err != nil && *err != nil {
		return "", *err
	}
	list, err := sqlite.ListBackups(backupFolder(s.cfg.Home))
	if err != nil || len(list) == 0 {
		return "there is none", err
	}
	return fmt.Sprintf("%d kept, the newest of %s", len(list), list[0].At.Format(time.DateTime)+" UTC"), nil
}
