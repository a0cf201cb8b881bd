package sqlite

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"path/filepath"
	"slices"
	"syscall"
	"time"

	"orange/internal/atomicfile"
)

const (
	keptBackups  = 3
	backupApart  = 24 * time.Hour
	backupLayout = "orange-20060102T150405.000Z.db"
	backupTemp   = "orange-*.tmp"
)

// A Backup is a consistent copy of a store.
type Backup struct {
	Path string
	At   time.Time // when the copy was begun
}

// ListBackups lists the backups in a folder, newest first.
func ListBackups(dir string) ([]Backup, error) {
	entries, err := os.ReadDir(dir)
	if err != nil && !errors.Is(err, fs.ErrNotExist) {
		return nil, fmt.Errorf("list the backups: %w", err)
	}
	var list []Backup
	for _, e := range entries {
		if at, err := time.Parse(backupLayout, e.Name()); err == nil && e.Type().IsRegular() {
			list = append(list, Backup{filepath.Join(dir, e.Name()), at})
		}
	}
	slices.SortFunc(list, func(a, b Backup) int { return b.At.Compare(a.At) })
	return list, nil
}

// WriteBackup copies the store into a folder, as of one moment, and reports whether it did: it drops a copy that equals
// the newest one. The copy gets its name only once it is on disk. Writers do not wait for it while the store is in its
// place. At most two older backups stay.
func (s *Store) WriteBackup(ctx context.Context, dir string, now time.Time) (made bool, err error) {
	made, err = s.writeBackup(ctx, dir, now.UTC().Truncate(time.Millisecond))
	if err != nil {
		if advice := adviceFor(err); advice != "" {
			err = &problem{doing: "back up", path: s.path, advice: advice, err: err}
		} else {
			err = fmt.Errorf("back up the store %s: %w", s.path, err)
		}
	}
	return made, err
}

func (s *Store) writeBackup(ctx context.Context, dir string, now time.Time) (bool, error) {
	if err := os.MkdirAll(dir, 0o700); err != nil {
		return false, err
	}
	left, _ := fs.Glob(os.DirFS(dir), backupTemp+"*") // left by a server that died, with SQLite's journal
	for _, name := range left {
		if err := os.Remove(filepath.Join(dir, name)); err != nil {
			return false, err
		}
	}
	list, err := ListBackups(dir)
	if err != nil {
		return false, err
	}
	if err := s.checkFreeSpace(ctx, dir); err != nil {
		return false, err
	}
	temp, err := s.vacuumInto(ctx, dir)
	if err != nil {
		return false, err
	}
	defer os.Remove(temp) //nolint:errcheck // a copy that was kept has been renamed
	if len(list) > 0 {
		if same, err := sameFile(temp, list[0].Path); same || err != nil {
			return false, err
		}
		if !now.After(list[0].At) { // the clock was set back
			now = list[0].At.Add(time.Millisecond)
		}
	}
	made := Backup{filepath.Join(dir, now.Format(backupLayout)), now}
	if err := os.Rename(temp, made.Path); err != nil {
		return false, err
	}
	if err := atomicfile.SyncFolder(dir); err != nil {
		return false, err
	}
	return true, pruneBackups(append([]Backup{made}, list...))
}

// checkFreeSpace refuses a copy that would leave the store itself no room to grow.
func (s *Store) checkFreeSpace(ctx context.Context, dir string) error {
	var size int64
	err := s.read.QueryRowContext(ctx, "SELECT page_count * page_size FROM pragma_page_count(), pragma_page_size()").Scan(&size)
	if err != nil {
		return err
	}
	var disk syscall.Statfs_t
	if err := syscall.Statfs(dir, &disk); err != nil {
		return err
	}
	if free := int64(disk.Bavail) * int64(disk.Bsize); free < 2*size { //nolint:unconvert // the types differ between systems
		return fmt.Errorf("%w: %d KiB are free and the copy, with room for the store to grow, needs %d", syscall.ENOSPC, free>>10, 2*size>>10)
	}
	return nil
}

// vacuumInto writes a copy next to the backups. The copy is on disk when vacuumInto returns.
func (s *Store) vacuumInto(ctx context.Context, dir string) (path string, err error) {
	f, err := os.CreateTemp(dir, backupTemp) // mode 0600
	if err != nil {
		return "", err
	}
	defer func() {
		err = errors.Join(err, f.Close())
		if err != nil {
			_ = os.Remove(f.Name())
		}
	}()
	if err = s.copyTo(ctx, f.Name()); err != nil {
		return "", err
	}
	return f.Name(), f.Sync()
}

// copyTo writes a copy of the store into an empty file. Only a store that is no longer in its place keeps writers waiting:
// another connection would open what is in its place now.
func (s *Store) copyTo(ctx context.Context, path string) error {
	const copying = "VACUUM INTO ?"
	if s.CheckPlace() != nil {
		s.read.SetMaxOpenConns(max(1, s.read.Stats().OpenConnections)) // likewise
		s.mu.Lock()
		defer s.mu.Unlock()
		_, err := s.write.ExecContext(ctx, copying, path)
		return err
	}
	db, err := connectPool(s.path, 1, "")
	if err != nil {
		return err
	}
	_, err = db.ExecContext(ctx, copying, path)
	return errors.Join(err, db.Close())
}

// pruneBackups removes surplus backups. It keeps the newest, and two older ones that are a day apart,
// so that a server that starts often does not displace older backups.
func pruneBackups(list []Backup) error {
	for len(list) > keptBackups {
		drop := len(list) - 1
		if len(list) == keptBackups+1 && list[1].At.Sub(list[2].At) < backupApart {
			drop = 1
		}
		if err := os.Remove(list[drop].Path); err != nil {
			return err
		}
		list = slices.Delete(list, drop, drop+1)
	}
	return nil
}

func sameFile(a, b string) (bool, error) {
	x, err := os.Open(a)
	if err != nil {
		return false, err
	}
	defer x.Close() //nolint:errcheck // only read
	y, err := os.Open(b)
	if err != nil {
		return false, err
	}
	defer y.Close() //nolint:errcheck // only read
	left, right := make([]byte, 1<<16), make([]byte, 1<<16)
	for {
		n, err := io.ReadFull(x, left)
		m, again := io.ReadFull(y, right)
		switch {
		case !bytes.Equal(left[:n], right[:m]):
			return false, nil
		case errors.Is(err, io.EOF), errors.Is(err, io.ErrUnexpectedEOF):
			return true, nil
		case err != nil || again != nil:
			return false, errors.Join(err, again)
		}
	}
}
