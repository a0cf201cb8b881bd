package git

import (
	"context"
	"crypto/rand"
	"encoding/hex"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"
)

// smallDisk is the variable that names a small disk to a test program that may use it.
const smallDisk = "ORANGE_TEST_DISK"

// A disk that is full breaks a landing off. What it has written is taken back, the user's
// changes stay, and the next one works.
func TestLandOnAFullDisk(t *testing.T) {
	if disk := os.Getenv(smallDisk); disk != "" {
		landOnFullDisk(t, disk)
		return
	}
	t.Parallel()
	disk := t.TempDir()
	cmd := exec.Command("unshare", "--user", "--map-root-user", "--mount", "sh", "-c",
		`mount -t tmpfs -o size=3m none "$0" || exit 77; exec "$@"`, disk, os.Args[0], "-test.run=^TestLandOnAFullDisk$", "-test.v")
	cmd.Env = append(os.Environ(), smallDisk+"="+disk)
	said, err := cmd.CombinedOutput()
	if !strings.Contains(string(said), "RUN") {
		t.Skipf("no disk can be mounted here: %v: %s", err, said)
	}
	if err != nil {
		t.Errorf("%v:\n%s", err, said)
	}
	t.Logf("%s", said)
}

func landOnFullDisk(t *testing.T, disk string) {
	root := filepath.Join(disk, "r")
	if err := os.Mkdir(root, 0o755); err != nil {
		t.Fatal(err)
	}
	do(t, root, "init", "--quiet", "--template=", "--initial-branch=main")
	commitFile(t, root, "f", "0\n")
	commitFile(t, root, "gone", "0\n")
	commitFile(t, root, "mine", "0\n")
	do(t, root, "switch", "-q", "-c", "x")
	big := make([]byte, 200<<10)
	rand.Read(big) //nolint:errcheck // it never fails
	write(t, root, "big/one", hex.EncodeToString(big))
	write(t, root, "big/two", hex.EncodeToString(big[1:]))
	write(t, root, "f", hex.EncodeToString(big[2:]))
	do(t, root, "rm", "-q", "gone")
	do(t, root, "add", ".")
	do(t, root, "commit", "-q", "-m", "much")
	do(t, root, "switch", "-q", "main")
	write(t, root, "mine", "mine\n")
	before, status, old := content(t, root), out(t, root, "status", "--porcelain"), out(t, root, "rev-parse", "main")

	fill := filepath.Join(disk, "fill")
	file, err := os.Create(fill)
	if err != nil {
		t.Fatal(err)
	}
	for err == nil {
		_, err = file.Write(make([]byte, 4096))
	}
	size, _ := file.Seek(0, 2)
	if err := file.Truncate(size - 900<<10); err != nil { // room for the record and two of three files
		t.Fatal(err)
	}
	_, err = merge(root, "x", "main", Auto, "")
	wantError(t, err, "nothing was changed; repaired in "+root)
	t.Log(err)
	if now := content(t, root); now != before {
		t.Errorf("%d bytes of files were there, and now %d", len(before), len(now))
	}
	if now := out(t, root, "status", "--porcelain"); now != status || out(t, root, "rev-parse", "main") != old {
		t.Errorf("the checkout was %q and is %q", status, now)
	}
	if err := os.Remove(fill); err != nil {
		t.Fatal(err)
	}
	if did, err := New().RecoverLanding(context.Background(), root); did != "" || err != nil {
		t.Errorf("something was left: %q, %v", did, err)
	}
	if _, err := merge(root, "x", "main", Auto, ""); err != nil {
		t.Error(err)
	}
	if now := out(t, root, "status", "--porcelain"); now != status {
		t.Errorf("the checkout was %q and is %q", status, now)
	}
}
