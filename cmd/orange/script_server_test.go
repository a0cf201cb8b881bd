package main

import (
	"bytes"
	"context"
	"database/sql"
	"errors"
	"fmt"
	"io"
	"net"
	"net/http"
	"net/http/cookiejar"
	"net/url"
	"os"
	"os/exec"
	"path/filepath"
	"strconv"
	"strings"
	"sync"
	"syscall"

	"github.com/rogpeppe/go-internal/testscript"

	"orange/internal/adapter/lock"
	"orange/internal/config"
	"orange/internal/core/engine"
	"orange/internal/core/signal"
	"orange/internal/ui/client"
)

// condition knows whether a story may mount a file system.
func condition(name string) (bool, error) {
	if name != "mount" {
		return false, fmt.Errorf("condition %q is not known", name)
	}
	return mayMount(), nil
}

var mayMount = sync.OnceValue(func() bool {
	dir, err := os.MkdirTemp("", "orange-mount")
	if err != nil {
		return false
	}
	defer os.Remove(dir) //nolint:errcheck // it is empty, and temporary
	return exec.Command("mount", "-t", "tmpfs", "-o", "size=64k", "none", dir).Run() == nil && exec.Command("umount", dir).Run() == nil
})

// cmdMount puts a small file system of its own where a folder is.
func cmdMount(ts *testscript.TestScript, neg bool, args []string) {
	must(ts, neg, args, 2, "mount SIZE DIR")
	ts.Check(ts.Exec("mount", "-t", "tmpfs", "-o", "mode=700,size="+args[0], "none", args[1]))
	ts.Defer(func() {
		_ = exec.Command("mount", "-o", "remount,rw", args[1]).Run()
		if err := endServer(args[1], ts.Getenv); err != nil {
			ts.Logf("end the server of %s: %v", args[1], err)
		}
		if err := exec.Command("umount", "-l", args[1]).Run(); err != nil {
			ts.Logf("unmount %s: %v", args[1], err)
		}
	})
}

// cmdRemount makes a mounted folder read-only, or writable again.
func cmdRemount(ts *testscript.TestScript, neg bool, args []string) {
	must(ts, neg, args, 2, "remount ro|rw DIR")
	ctx, cancel := context.WithTimeout(context.Background(), patience)
	defer cancel()
	if !until(ctx, func() bool { return ts.Exec("mount", "-o", "remount,"+args[0], args[1]) == nil }) {
		ts.Fatalf("%s cannot be made %s", args[1], args[0])
	}
}

// storyClient is a client of the story's server.
func storyClient(ts *testscript.TestScript) *client.Client {
	return clientOf(ts.Getenv("ORANGE_HOME"), ts.Getenv)
}

// cmdSettle waits until every effect of the tasks that can be done is done, and shown.
func cmdSettle(ts *testscript.TestScript, neg bool, args []string) {
	must(ts, neg, args, 1, "settle ID...")
	c := storyClient(ts)
	defer c.Close()
	ctx, cancel := context.WithTimeout(context.Background(), patience)
	defer cancel()
	for _, id := range args {
		if err := settle(ctx, c, id); err != nil {
			ts.Fatalf("settle %s: %v", id, err)
		}
	}
}

var errSettled = errors.New("settled")

func settle(ctx context.Context, c *client.Client, id string) error {
	look := func() error {
		v, err := c.ReadTask(ctx, id)
		if err != nil {
			return err
		}
		if e, more := engine.NextEffect(&v.Task); more && e.Tries == 0 {
			return nil
		}
		return errSettled
	}
	err := c.FollowEvents(ctx, client.EventOptions{Task: id, Opened: look}, func(client.StreamEvent) error { return look() })
	if !errors.Is(err, errSettled) {
		return err
	}
	_, err = c.SendSignal(ctx, id, signal.Signal{Kind: signal.Update}) // changes nothing, and waits for its turn
	return err
}

// cmdFill creates tasks over the API: that is faster than a process for each.
func cmdFill(ts *testscript.TestScript, neg bool, args []string) {
	must(ts, neg, args, 3, "fill PROJECT NUMBER STATUS")
	c := storyClient(ts)
	defer c.Close()
	n, err := strconv.Atoi(args[1])
	ts.Check(err)
	for i := range n {
		wish := signal.NewTask{New: signal.New{Project: args[0], Branch: fmt.Sprintf("%s/%03d", args[2], i), Summary: fmt.Sprintf("Thing %d", i), Status: args[2]}}
		if _, err := c.CreateTask(context.Background(), wish); err != nil {
			ts.Fatalf("task %d: %v", i, err)
		}
	}
}

// cmdPage prints a page of the web page, as a browser gets it that is signed in.
func cmdPage(ts *testscript.TestScript, neg bool, args []string) {
	must(ts, neg, args, 1, "page PATH")
	c := storyClient(ts)
	defer c.Close()
	at, err := c.OpenPage(context.Background())
	ts.Check(err)
	jar, err := cookiejar.New(nil)
	ts.Check(err)
	browser := &http.Client{Jar: jar}
	for _, address := range []string{at.Login, strings.TrimSuffix(at.URL, "/") + args[0]} {
		res, err := browser.Get(address)
		ts.Check(err)
		text, err := io.ReadAll(res.Body)
		res.Body.Close()
		ts.Check(err)
		if res.StatusCode != http.StatusOK {
			ts.Fatalf("%s: %s", args[0], res.Status)
		}
		if address != at.Login {
			ts.Check(os.WriteFile(ts.MkAbs("page.html"), text, 0o600))
		}
	}
}

// openStore opens the story's store beside the server, if there is one.
func openStore(ts *testscript.TestScript, mode string) *sql.DB {
	path := filepath.Join(ts.Getenv("ORANGE_HOME"), "orange.db")
	q := url.Values{"mode": {mode}, "_pragma": {"busy_timeout(5000)"}}
	if _, err := os.Stat(path + "-wal"); err != nil && mode == "ro" {
		q.Set("immutable", "1") // nobody writes it, and beside it nothing may be written
	}
	db, err := sql.Open("sqlite", (&url.URL{Scheme: "file", Path: path, RawQuery: q.Encode()}).String())
	ts.Check(err)
	return db
}

// snapshot is every task with its status and the length of its journal, as it is on
// the disk.
func snapshot(ts *testscript.TestScript) string {
	if _, err := os.Stat(filepath.Join(ts.Getenv("ORANGE_HOME"), "orange.db")); err != nil {
		return ""
	}
	db := openStore(ts, "ro")
	defer db.Close() //nolint:errcheck // it was read only
	rows, err := db.Query("SELECT id, status, deleted, (SELECT count(*) FROM journal WHERE task = id) FROM task ORDER BY n")
	ts.Check(err)
	defer rows.Close() //nolint:errcheck // its error is checked
	var b strings.Builder
	for rows.Next() {
		var id, status string
		var deleted, entries int
		ts.Check(rows.Scan(&id, &status, &deleted, &entries))
		fmt.Fprintln(&b, id, status, deleted, entries)
	}
	ts.Check(rows.Err())
	return b.String()
}

// cmdCorrupt writes garbage over one entry of a task's journal.
func cmdCorrupt(ts *testscript.TestScript, neg bool, args []string) {
	must(ts, neg, args, 2, "corrupt ID SEQ")
	db := openStore(ts, "rw")
	defer db.Close() //nolint:errcheck // the statement's error counts
	done, err := db.Exec("UPDATE journal SET entry = '{\"task\":' WHERE task = ? AND seq = ?", args[0], args[1])
	ts.Check(err)
	if n, _ := done.RowsAffected(); n != 1 {
		ts.Fatalf("task %s has no entry %s", args[0], args[1])
	}
}

// cmdKillServer kills the story's server, as a crash would.
func cmdKillServer(ts *testscript.TestScript, neg bool, args []string) {
	must(ts, neg, args, 0, "killserver")
	c := storyClient(ts)
	defer c.Close()
	ctx, cancel := context.WithTimeout(context.Background(), patience)
	defer cancel()
	hello, err := c.Hello(ctx)
	ts.Check(err)
	path := filepath.Join(ts.Getenv("ORANGE_HOME"), "server.lock")
	if hello.PID != lock.ReadHolder(ts.Getenv("ORANGE_HOME")).PID || !isOurs(hello.PID) {
		ts.Fatalf("pid %d does not hold %s", hello.PID, path)
	}
	ts.Check(syscall.Kill(hello.PID, syscall.SIGKILL))
	if !until(ctx, func() bool { return !held(path) }) {
		ts.Fatalf("pid %d is still there", hello.PID)
	}
}

// cmdAsk sends one request to the server as it is given and prints status and body.
func cmdAsk(ts *testscript.TestScript, neg bool, args []string) {
	must(ts, neg, args, 3, "ask API METHOD PATH [BODY]")
	cfg, err := config.Load(ts.Getenv, os.UserHomeDir)
	ts.Check(err)
	transport := &http.Transport{DialContext: func(ctx context.Context, _, _ string) (net.Conn, error) {
		return new(net.Dialer).DialContext(ctx, "unix", cfg.Socket)
	}}
	defer transport.CloseIdleConnections()
	body := strings.Join(args[3:], " ")
	req, err := http.NewRequest(args[1], "http://orange"+args[2], bytes.NewBufferString(body))
	ts.Check(err)
	req.Header.Set("Orange-Api", args[0])
	res, err := (&http.Client{Transport: transport, Timeout: patience}).Do(req)
	ts.Check(err)
	text, err := io.ReadAll(res.Body)
	ts.Check(errors.Join(err, res.Body.Close()))
	fmt.Fprintf(ts.Stdout(), "%d\n%s", res.StatusCode, text)
}
