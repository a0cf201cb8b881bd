package socket_test

import (
	"errors"
	"net"
	"os"
	"path/filepath"
	"testing"

	"orange/internal/adapter/socket"
)

func place(t *testing.T) string {
	t.Helper()
	dir, err := os.MkdirTemp("", "s") // a socket's path may have 108 bytes
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { os.RemoveAll(dir) })
	return filepath.Join(dir, "run", "s")
}

func listen(t *testing.T, paths ...string) *socket.Listener {
	t.Helper()
	l, err := socket.Listen(paths...)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { l.Remove() })
	return l
}

func dial(t *testing.T, path string) net.Conn {
	t.Helper()
	c, err := net.Dial("unix", path)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { c.Close() })
	return c
}

func accept(t *testing.T, l *socket.Listener) {
	t.Helper()
	c, err := l.Accept()
	if err != nil {
		t.Fatal(err)
	}
	c.Close()
}

func TestALostSocketIsMadeAgain(t *testing.T) {
	path := place(t)
	l := listen(t, path)
	for _, lose := range []func() error{
		func() error { return os.Remove(path) },
		func() error { return os.RemoveAll(filepath.Dir(path)) },
		func() error { return errors.Join(os.Remove(path), os.WriteFile(path, nil, 0o600)) },
	} {
		dial(t, path) // is not accepted yet
		if err := lose(); err != nil || !l.IsLost() {
			t.Fatalf("lost %v, %v", l.IsLost(), err)
		}
		if again, err := l.EnsureListening(); !again || err != nil || l.IsLost() {
			t.Fatalf("again %v, lost %v, %v", again, l.IsLost(), err)
		}
		dial(t, path)
		accept(t, l)
		accept(t, l)
	}
	if again, err := l.EnsureListening(); again || err != nil {
		t.Errorf("nothing was lost: %v, %v", again, err)
	}
	info, err := os.Lstat(path)
	if err != nil || info.Mode().Perm() != 0o600 {
		t.Errorf("%v, %v", info, err)
	}
	if err := l.Remove(); err != nil {
		t.Error(err)
	}
	if _, err := os.Lstat(path); !errors.Is(err, os.ErrNotExist) {
		t.Errorf("the socket is left: %v", err)
	}
	if _, err := l.Accept(); !errors.Is(err, net.ErrClosed) {
		t.Errorf("closed: %v", err)
	}
}

func TestASocketOfAnotherIsLeftAlone(t *testing.T) {
	path, spare := place(t), place(t)
	other := listen(t, path)
	if _, err := socket.Listen(path); !errors.Is(err, socket.ErrTaken) {
		t.Errorf("got %v", err)
	}
	l := listen(t, path, spare)
	if l.Path() != spare {
		t.Errorf("it listens at %s", l.Path())
	}
	if again, err := l.EnsureListening(); again || !errors.Is(err, socket.ErrTaken) {
		t.Errorf("again %v, %v", again, err)
	}
	if err := other.Remove(); err != nil {
		t.Fatal(err)
	}
	if again, err := l.EnsureListening(); !again || err != nil || l.Path() != path {
		t.Errorf("again %v, %v, at %s", again, err, l.Path())
	}
	if _, err := os.Lstat(spare); !errors.Is(err, os.ErrNotExist) {
		t.Errorf("the spare socket is left: %v", err)
	}
	dial(t, path)
	accept(t, l)
}

func TestWhatADeadServerLeftIsCleared(t *testing.T) {
	path := place(t)
	l := listen(t, path)
	if err := l.Close(); err != nil {
		t.Fatal(err)
	}
	if _, err := os.Lstat(path); err != nil {
		t.Errorf("closing removed the socket: %v", err)
	}
	listen(t, path)
	if err := l.Remove(); err != nil {
		t.Error(err)
	}
	dial(t, path) // the other's was not removed
}

func TestAFolderThatIsOpenToOthersIsRefused(t *testing.T) {
	path := place(t)
	if err := errors.Join(os.Mkdir(filepath.Dir(path), 0o700), os.Chmod(filepath.Dir(path), 0o777)); err != nil {
		t.Fatal(err)
	}
	if _, err := socket.Listen(path); err == nil {
		t.Error("it listens there")
	}
}
