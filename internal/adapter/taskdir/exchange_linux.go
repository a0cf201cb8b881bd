package taskdir

import (
	"errors"
	"os"

	"golang.org/x/sys/unix"
)

// exchangeFiles swaps two files atomically and returns the new name of the file that was at
// path.
func exchangeFiles(temp, path string) (old string, err error) {
	err = unix.Renameat2(unix.AT_FDCWD, temp, unix.AT_FDCWD, path, unix.RENAME_EXCHANGE)
	if errors.Is(err, unix.ENOSYS) || errors.Is(err, unix.EINVAL) {
		return exchangeByLink(temp, path)
	}
	return temp, err
}

// beingWritten reports whether a program has the file open for writing: only then does the
// kernel refuse a read lease with EAGAIN. It returns false where leases do not work.
func beingWritten(f *os.File) bool {
	if _, err := unix.FcntlInt(f.Fd(), unix.F_SETLEASE, unix.F_RDLCK); err != nil {
		return errors.Is(err, unix.EAGAIN)
	}
	_, _ = unix.FcntlInt(f.Fd(), unix.F_SETLEASE, unix.F_UNLCK)
	return false
}
