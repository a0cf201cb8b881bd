package main

import (
	"bufio"
	"context"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"runtime"
	"slices"
	"strings"
	"time"

	"orange/internal/config"
	"orange/internal/core/signal"
	"orange/internal/core/task"
	"orange/internal/ui/client"
)

const (
	seenTasks  = 1000
	seenAgents = 200
	seenRounds = 31
	maxSeen    = 50 * time.Millisecond
	maxIdle    = 0.2 // per cent of a core

	changedLines = 5000 // of one task, in files of 8 to 242 lines
	changedFiles = 40
)

// displayEnv is an installation for measuring displays: many tasks, many of them with an agent that the server assumes
// to live, and a server that only records effects.
type displayEnv struct {
	*program
	client *client.Client
	shown  task.ID // a task on the first screen
	large  task.ID // a task whose branch changes many lines
}

// measureDisplays measures displays: how soon they show a change, and what they cost while idle.
func measureDisplays(r *report, dir, orange string) (err error) {
	g := &displayEnv{program: newProgram(orange, dir)}
	g.env = append(g.env, "XDG_RUNTIME_DIR="+dir, "TMUX=", "TERM=xterm-256color")
	_, stop, err := g.startServer()
	if err != nil {
		return err
	}
	defer func() { err = errors.Join(err, stop()) }()
	ctx, cancel := context.WithTimeout(context.Background(), 8*time.Minute)
	defer cancel()
	if err := g.createTasks(ctx); err != nil {
		return fmt.Errorf("make %d tasks: %w", seenTasks, err)
	}
	defer g.client.Close()
	return errors.Join(g.measureCommands(r), g.measureDashboard(ctx, r), g.measurePage(ctx, r))
}

// createTasks creates the tasks.
func (g *displayEnv) createTasks(ctx context.Context) error {
	cfg, err := config.Load(g.getenv, os.UserHomeDir)
	if err != nil {
		return err
	}
	g.client = client.New(cfg.Socket)
	repo := filepath.Join(g.dir, "gallery")
	if err := os.MkdirAll(repo, 0o755); err != nil {
		return err
	}
	git := g.newCommand("git", "init", "-q", "-b", "main", repo)
	if out, err := git.CombinedOutput(); err != nil {
		return fmt.Errorf("git init: %w: %s", err, out)
	}
	if err := g.commitLines(repo); err != nil {
		return err
	}
	if _, err := g.client.AddProject(ctx, task.Project{Name: "gallery", Path: repo, PoolSize: seenAgents}); err != nil {
		return err
	}
	for i := range seenTasks {
		a, err := g.client.CreateTask(ctx, signal.NewTask{Actor: task.Human, New: signal.New{
			Project: "gallery", Branch: fmt.Sprintf("branch-%04d", i), Summary: fmt.Sprintf("Task number %d of many", i), Spawn: i < seenAgents,
		}})
		if err != nil {
			return err
		}
		switch i {
		case 0:
			g.shown = a.Task.ID
		case seenAgents:
			g.large = a.Task.ID
			if out, err := g.newCommand("git", "-C", repo, "branch", a.Task.Branch, "lines").CombinedOutput(); err != nil {
				return fmt.Errorf("git branch: %w: %s", err, out)
			}
		}
	}
	return waitUntil(ctx, fmt.Sprintf("%d agents live", seenAgents), 200*time.Millisecond, func() (bool, error) {
		s, err := g.client.ReadState(ctx, client.StateQuery{})
		living := 0
		for i := range s.Tasks {
			living += min(len(s.Tasks[i].Attempts), 1)
		}
		return living >= seenAgents, err
	})
}

// commitLines makes the first commit of a repository, and the branch lines, which adds as many lines as a large change
// has.
func (g *displayEnv) commitLines(repo string) error {
	commit := []string{"-c", "user.name=Gallery", "-c", "user.email=gallery@example.com", "commit", "-q", "--allow-empty", "-m", "begin"}
	for _, args := range [][]string{commit, {"checkout", "-q", "-b", "lines"}, {"add", "."}, commit, {"checkout", "-q", "main"}} {
		if args[0] == "add" {
			for file := range changedFiles {
				text := []byte("package gallery\n\n")
				for line := range 6 * (file + 1) {
					text = fmt.Appendf(text, "const picture%dOf%d = \"a picture with a frame\" // line %d\n", line, file, line)
				}
				if err := os.WriteFile(filepath.Join(repo, fmt.Sprintf("gallery%02d.go", file)), text, 0o600); err != nil {
					return err
				}
			}
		}
		if out, err := g.newCommand("git", append([]string{"-C", repo}, args...)...).CombinedOutput(); err != nil {
			return fmt.Errorf("git %s: %w: %s", args[len(args)-1], err, out)
		}
	}
	return nil
}

// renameTask sets a new summary of the shown task, and returns when it sent the request.
func (g *displayEnv) renameTask(ctx context.Context, summary string) (time.Time, error) {
	began := time.Now()
	_, err := g.client.SendSignal(ctx, string(g.shown), signal.Signal{Kind: signal.Update, Actor: task.Human, Fields: []signal.Field{{Name: "summary", To: summary}}})
	return began, err
}

// freshSummary returns a summary that differs in every letter from that of the round before, and has no letter twice in
// a row: terminals encode both in fewer bytes.
func freshSummary(round int) string {
	out := make([]byte, 24)
	for i := range out {
		out[i] = byte('A' + (3*i+5*round)%26)
	}
	return string(out)
}

// measureDashboard measures the dashboard in a real tmux terminal.
func (g *displayEnv) measureDashboard(ctx context.Context, r *report) (err error) {
	socket := filepath.Join(g.dir, "t")
	tmux := func(args ...string) error {
		if out, err := g.newCommand("tmux", append([]string{"-S", socket, "-f", "/dev/null"}, args...)...).CombinedOutput(); err != nil {
			return fmt.Errorf("tmux %s: %w: %s", args[0], err, out)
		}
		return nil
	}
	pipe := filepath.Join(g.dir, "screen")
	if err := os.WriteFile(pipe, nil, 0o600); err != nil {
		return err
	}
	if err := tmux("new-session", "-d", "-s", "seen", "-x", "160", "-y", "48", g.path, "dashboard", "--all"); err != nil {
		return err
	}
	defer func() { err = errors.Join(err, tmux("kill-server")) }()
	screen := &growingFile{path: pipe}
	if err := tmux("pipe-pane", "-O", "-t", "seen", "exec cat >> "+pipe); err != nil {
		return err
	}
	out, err := g.newCommand("tmux", "-S", socket, "display-message", "-p", "-t", "seen", "#{pane_pid}").Output()
	if err != nil {
		return err
	}
	var pid int
	if _, err := fmt.Sscan(string(out), &pid); err != nil {
		return err
	}
	if err := g.awaitFollowing(ctx, screen); err != nil {
		return err
	}
	var took []time.Duration
	for round := range seenRounds {
		began, err := g.renameTask(ctx, freshSummary(round))
		if err != nil {
			return err
		}
		at, err := screen.awaitWords(ctx, freshSummary(round)[:8])
		if err != nil {
			return fmt.Errorf("the dashboard does not show a change: %w", err)
		}
		took = append(took, at.Sub(began))
		time.Sleep(150 * time.Millisecond) // until it is idle again
	}
	slices.Sort(took)
	p95 := took[len(took)*95/100]
	r.addFigure(figure{
		Name: "event to the dashboard's screen, 1,000 tasks, p95", Measured: formatMillis(p95), Target: "under " + formatMillis(maxSeen), Met: p95 < maxSeen,
		Note: fmt.Sprintf("from before the request that changes a task to its bytes behind tmux; median %s of %d, %d agents", formatMillis(took[len(took)/2]), len(took), seenAgents),
	})
	return errors.Join(measureKeys(ctx, r, tmux, screen), dashboardIdle(r, pid))
}

// measureKeys measures how soon the dashboard shows a key: letters of a filter, each of which searches all tasks and draws
// the list again.
func measureKeys(ctx context.Context, r *report, tmux func(...string) error, screen *growingFile) error {
	press := func(args ...string) error { return tmux(append([]string{"send-keys", "-t", "seen"}, args...)...) }
	if err := press("/"); err != nil {
		return err
	}
	if _, err := screen.awaitWords(ctx, "show all"); err != nil {
		return fmt.Errorf("the dashboard shows no line for a filter: %w", err)
	}
	var took []time.Duration
	for round := range seenRounds {
		letter := string(rune(0x400 + round)) // in the text of no task
		began := time.Now()
		if err := press("-l", letter); err != nil {
			return err
		}
		at, err := screen.awaitWords(ctx, letter)
		if err != nil {
			return fmt.Errorf("the dashboard does not show a key: %w", err)
		}
		took = append(took, at.Sub(began))
		if err := press("C-u"); err != nil {
			return err
		}
		time.Sleep(150 * time.Millisecond) // until it is idle again
	}
	slices.Sort(took)
	p95 := took[len(took)*95/100]
	r.addFigure(figure{
		Name: "key to the dashboard's screen, 1,000 tasks, p95", Measured: formatMillis(p95), Target: "under " + formatMillis(maxSeen), Met: p95 < maxSeen,
		Note: fmt.Sprintf("a letter of a filter, from before tmux send-keys is started to its bytes behind tmux; median %s of %d", formatMillis(took[len(took)/2]), len(took)),
	})
	return press("Escape")
}

// awaitFollowing waits until the dashboard follows changes.
func (g *displayEnv) awaitFollowing(ctx context.Context, screen *growingFile) error {
	for try := range 20 {
		text := strings.ToLower(freshSummary(try))
		if _, err := g.renameTask(ctx, text); err != nil {
			return err
		}
		short, cancel := context.WithTimeout(ctx, time.Second)
		_, err := screen.awaitWords(short, text[:8])
		cancel()
		if err == nil {
			return nil
		}
	}
	out, _ := g.newCommand("tmux", "-S", filepath.Join(g.dir, "t"), "capture-pane", "-p", "-t", "seen").CombinedOutput()
	return fmt.Errorf("the dashboard shows nothing of it: %.400s", out)
}

// dashboardIdle observes the idle dashboard.
func dashboardIdle(r *report, pid int) error {
	if runtime.GOOS != "linux" {
		r.addFigure(figure{Name: "dashboard at rest", Measured: "not measured on " + runtime.GOOS})
		return nil
	}
	time.Sleep(idleSettle)
	first, err := readProcessStats(pid)
	if err != nil {
		return err
	}
	last, quiet, err := watchProcess(pid, first)
	if err != nil {
		return err
	}
	used := float64(last.cpu-first.cpu) / float64(last.at.Sub(first.at)) * 100
	r.addFigure(figure{
		Name: "dashboard at rest, CPU", Measured: fmt.Sprintf("%.2f %%", used), Target: fmt.Sprintf("under %.1f %%", maxIdle), Met: used < maxIdle,
		Note: fmt.Sprintf("of one core, %s in %s, 1,000 tasks; longest time without a wake-up %.1f s; resident %.1f MB", last.cpu-first.cpu, restTime, quiet.Seconds(), float64(last.rss)/1024),
	})
	return nil
}

// growingFile is a file that another process appends to.
type growingFile struct {
	path string
	read int64
}

// awaitWords waits until the words are appended, and returns when that was.
func (f *growingFile) awaitWords(ctx context.Context, words string) (time.Time, error) {
	file, err := os.Open(f.path)
	if err != nil {
		return time.Time{}, err
	}
	defer file.Close()
	if _, err := file.Seek(f.read, 0); err != nil {
		return time.Time{}, err
	}
	in, seen := bufio.NewReader(file), ""
	for ctx.Err() == nil {
		part := make([]byte, 64<<10)
		n, _ := in.Read(part)
		f.read += int64(n)
		seen += string(part[:n])
		if strings.Contains(seen, words) {
			return time.Now(), nil
		}
		if n == 0 {
			time.Sleep(200 * time.Microsecond)
		}
		seen = seen[max(0, len(seen)-4096):]
	}
	return time.Time{}, ctx.Err()
}
