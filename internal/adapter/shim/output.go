package shim

import (
	"errors"
	"io"
	"os"
	"time"

	"golang.org/x/sys/unix"

	"orange/internal/outputlog"
)

// A recorder copies the output of an agent into its log, which is bounded.
type recorder struct {
	pipe *os.File // where it is read
	log  *outputlog.Writer
	done chan struct{} // closed when nothing more is copied
}

// newRecorder begins to copy into a log. The agent writes to the returned file.
func newRecorder(path string) (*recorder, *os.File, error) {
	log, err := outputlog.Append(path)
	if err != nil {
		return nil, nil, err
	}
	pipe, into, err := os.Pipe()
	if err != nil {
		log.Close() //nolint:errcheck // nothing was written
		return nil, nil, err
	}
	r := &recorder{pipe: pipe, log: log, done: make(chan struct{})}
	go func() {
		defer close(r.done)
		copyOutput(log, pipe)
	}()
	return r, into, nil
}

// copyOutput copies until the end of the pipe. It leaves out what cannot be written, because an agent must not wait for
// a full disk.
func copyOutput(log *outputlog.Writer, from io.Reader) {
	buffer := make([]byte, 64<<10)
	for {
		n, err := from.Read(buffer)
		log.Write(buffer[:n]) //nolint:errcheck // the log shows that something is missing
		if err != nil {
			return
		}
	}
}

// finishLog copies what is left in the pipe and closes the log. It does not wait for the end of the pipe, because a
// process that is not the agent's may still hold it.
func (r *recorder) finishLog() {
	_ = r.pipe.SetReadDeadline(time.Now())
	<-r.done
	if raw, err := r.pipe.SyscallConn(); err == nil {
		_ = raw.Control(func(fd uintptr) { copyOutput(r.log, io.LimitReader(unread(fd), 1<<20)) })
	}
	r.pipe.Close() //nolint:errcheck // it was only read
	r.log.Close()  //nolint:errcheck // it has what was written to it
}

// unread reads the available bytes of a pipe, without waiting for more.
type unread int

// Read implements io.Reader.
func (fd unread) Read(p []byte) (int, error) {
	for {
		n, err := unix.Read(int(fd), p)
		switch {
		case errors.Is(err, unix.EINTR):
		case err != nil:
			return 0, err
		case n == 0:
			return 0, io.EOF
		default:
			return n, nil
		}
	}
}

// RecordMain copies its standard input into the log at path until that ends. tmux runs it
// for each window. It returns the exit code of its process.
func RecordMain(path string) int {
	log, err := outputlog.Append(path)
	if err != nil {
		printNotice("cannot record the output: %v", err)
		return 1
	}
	shrinkMemory()
	copyOutput(log, os.Stdin)
	if err := log.Close(); err != nil {
		return 1
	}
	return 0
}
