package shim

import (
	"bufio"
	"encoding/json"
	"os"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"orange/internal/core/agent"
)

// between are the fields between the group and the start time.
const between = " 100 100 0 -1 4194560 0 0 0 0 0 0 0 20 0 1 0 "

func TestAProcessIsReadWhateverItsNameIs(t *testing.T) {
	want := row{Process: Process{PID: 7, Start: 4242}, parent: 3, group: 5}
	for _, name := range []string{"sh", "", "a b", ") Z 1 1 (", "((", "))", "\n"} {
		text := "7 (" + name + ") S 3 5" + between + "4242 0 0"
		got, err := parseStat(7, text)
		if err != nil || got != want {
			t.Errorf("%q: %+v, %v", text, got, err)
		}
	}
	if got, err := parseStat(7, "7 (sh) Z 3 5"+between+"4242"); err != nil || !got.zombie {
		t.Errorf("a zombie: %+v, %v", got, err)
	}
	for _, text := range []string{"", "7 (sh)", "7 (sh) S 3", "7 (sh) S x 5" + between + "4242", "7 (sh) S 3 5" + between + "x"} {
		if got, err := parseStat(7, text); err == nil {
			t.Errorf("%q was read as %+v", text, got)
		}
	}
}

func FuzzAProcessOfAnyNameIsRead(f *testing.F) {
	f.Add("sh")
	f.Add(") Z 1 1 1")
	f.Fuzz(func(t *testing.T, name string) {
		got, err := parseStat(1, "1 ("+name+") R 0 1"+between+"9 0")
		if err != nil || got.Start != 9 || got.zombie {
			t.Fatalf("%q: %+v, %v", name, got, err)
		}
	})
}

func TestDescendantsAreFoundAtAnyDepth(t *testing.T) {
	at := func(pid, parent int) row { return row{Process: Process{PID: pid}, parent: parent} }
	dead := at(5, 2)
	dead.zombie = true
	rows := []row{at(9, 6), at(1, 0), at(2, 1), at(3, 2), at(4, 3), dead, at(6, 5), at(7, 1), at(8, 8)}
	var pids []int
	found, _ := descendantsOf(rows, func(Process) bool { return false }, func(r row) bool { return r.PID == 2 || r.PID == 8 })
	for _, p := range found {
		pids = append(pids, p.PID)
	}
	slices.Sort(pids)
	if want := []int{2, 3, 4, 6, 8, 9}; !slices.Equal(pids, want) {
		t.Errorf("found %v, want %v", pids, want)
	}
}

func TestAGroupWhoseNumberWasGivenAgainIsNotOurs(t *testing.T) {
	child := Process{PID: 50, Start: 7}
	s := Started{Child: child, PGID: 50}
	other := row{Process: Process{PID: 51}, group: 50}
	cases := []struct {
		what string
		rows []row
		want bool
	}{
		{"the agent leads it", []row{{Process: child, group: 50}, other}, true},
		{"the agent has ended", []row{other}, true},
		{"another process has its pid", []row{{Process: Process{PID: 50, Start: 8}, group: 50}, other}, false},
	}
	for _, c := range cases {
		if got := s.inGroup(c.rows); got != c.want {
			t.Errorf("%s: %v", c.what, got)
		}
	}
	if (Started{}).inGroup([]row{other}) {
		t.Error("no group is somebody's")
	}
}

func TestOnlyUnchangedCodeIsGivenBack(t *testing.T) {
	maps := `00400000-00500000 r-xp 00000000 fe:00 12 /bin/orange
Rss: 100 kB
Anonymous: 0 kB
VmFlags: rd ex
00500000-00600000 r--p 00100000 fe:00 12 /bin/orange
Anonymous: 4 kB
00600000-00700000 rw-p 00200000 fe:00 12 /bin/orange
Anonymous: 0 kB
c000000000-c000400000 rw-p 00000000 00:00 0 [heap]
Anonymous: 0 kB
7f0000000000-7f0000001000 r--p 00000000 fe:00 13 /lib/other
Anonymous: 0 kB
00700000-00800000 r--p 00300000 fe:00 12 /bin/orange
Anonymous: 0 kB
`
	got := unchangedMappings(bufio.NewScanner(strings.NewReader(maps)), "/bin/orange")
	want := []mapping{{0x400000, 0x500000}, {0x700000, 0x800000}}
	if !slices.Equal(got, want) {
		t.Errorf("got %x, want %x", got, want)
	}
	dropCode() // this process survives it
	if !myProcess(t).Alive() {
		t.Error("this process is not found")
	}
}

func myProcess(t *testing.T) Process {
	t.Helper()
	r, err := readProcess(os.Getpid())
	if err != nil {
		t.Fatal(err)
	}
	return r.Process
}

func FuzzOrdersComeBack(f *testing.F) {
	f.Add("sh", "A=1", "/", true, int64(5))
	f.Add("\xff\x00", "\u2028", "\"", false, int64(-1))
	f.Fuzz(func(t *testing.T, arg, variable, dir string, headless bool, grace int64) {
		want := Orders{Orders: agent.Orders{Argv: []string{arg, ""}, Env: []string{variable}, Dir: dir}, Grace: time.Duration(grace), Socket: arg, Wake: []string{dir, arg}}
		if !headless {
			want.Window = new(agent.Window)
		}
		text, err := json.Marshal(want)
		if err != nil {
			t.Fatal(err)
		}
		var got Orders
		if err := json.Unmarshal(text, &got); err != nil {
			t.Fatal(err)
		}
		if diff := cmp.Diff(want, got); diff != "" {
			t.Fatal(diff)
		}
	})
}

func TestTerminalsHaveTheirNames(t *testing.T) {
	for device, want := range map[int]string{
		0: "", 136<<8 | 3: "pts/3", 137<<8 | 1: "pts/257", 136<<8 | 0x100000: "pts/256", 4<<8 | 1: "tty1", 4<<8 | 65: "ttyS1", 5<<8 | 1: "tty 5:1",
	} {
		if got := terminalName(device); got != want {
			t.Errorf("%#x is %q, want %q", device, got, want)
		}
	}
}
