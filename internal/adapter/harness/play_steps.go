package harness

import (
	"context"
	"errors"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"syscall"
	"time"

	"orange/internal/core/taskfile"
)

// step is one step of a script.
type step struct {
	name    string
	text    string // the argument of the step
	section string // section: its name
	file    string // commit
	message string // commit
	span    time.Duration
	code    int  // exit
	must    bool // run: a failure ends the script
	stay    bool // limit: wait for its end
	usage   spent
	act     func(context.Context, *player, step) (exit int, over bool)
}

func playSection(_ context.Context, p *player, s step) (int, bool) {
	if err := p.writeSection(p.fillPlaces(s.section), p.fillPlaces(s.text)); err != nil {
		p.reportFailure(s, err)
		return 1, true
	}
	return 0, false
}

func playRun(ctx context.Context, p *player, s step) (int, bool) {
	err := p.Run(ctx, p.Dir, "sh", "-c", p.fillPlaces(s.text))
	if err != nil {
		p.reportFailure(s, err)
	}
	return 1, err != nil && s.must
}

func playPrint(_ context.Context, p *player, s step) (int, bool) {
	p.printText(p.fillPlaces(s.text))
	return 0, false
}

func playSay(_ context.Context, p *player, s step) (int, bool) {
	p.sayText(p.fillPlaces(s.text))
	return 0, false
}

func playSleep(ctx context.Context, _ *player, s step) (int, bool) {
	pauseFor(ctx, s.span)
	return 0, false
}

// playCommit writes a file and commits it under a fixed author, because the repository may have
// none.
func playCommit(ctx context.Context, p *player, s step) (int, bool) {
	name := p.fillPlaces(s.file)
	err := func() error {
		if !filepath.IsLocal(name) {
			return fmt.Errorf("%q is not a file of the worktree", cleanLine(name, 80))
		}
		path := filepath.Join(p.Dir, name)
		if err := os.MkdirAll(filepath.Dir(path), 0o755); err != nil {
			return err
		}
		if err := os.WriteFile(path, []byte(p.fillPlaces(s.text)), 0o644); err != nil {
			return err
		}
		if err := p.Run(ctx, p.Dir, "git", "add", "--", name); err != nil {
			return err
		}
		return p.Run(ctx, p.Dir, "git", "-c", "user.name=Script", "-c", "user.email=script@orange.invalid", "-c", "commit.gpgsign=false",
			"commit", "--quiet", "--message", p.fillPlaces(s.message), "--", name)
	}()
	if err != nil {
		p.reportFailure(s, err)
		return 1, true
	}
	return 0, false
}

// playWait waits for a message. Without a terminal there is none.
func playWait(ctx context.Context, p *player, _ step) (int, bool) {
	text, err := p.awaitMessage(ctx, scriptIdle, p.lastMessage())
	switch {
	case errors.Is(err, io.EOF):
		return 0, true
	case err != nil:
		return exitEnded, true
	}
	p.callHook(scriptPrompted, scriptEvent{})
	p.showText(text)
	return 0, false
}

// playAsk waits for an answer of one line; without a terminal, it waits forever.
func playAsk(ctx context.Context, p *player, s step) (int, bool) {
	p.printText(p.fillPlaces(s.text))
	if _, err := p.awaitMessage(ctx, scriptPermission, p.printed); err != nil {
		return waitForever(ctx)
	}
	p.callHook(scriptRunning, scriptEvent{})
	return 0, false
}

func playLimit(ctx context.Context, p *player, s step) (int, bool) {
	until := time.Now().Add(s.span)
	line := limitLine + until.UTC().Format(time.RFC3339Nano)
	p.printText(line)
	p.callHook(scriptLimit, scriptEvent{Text: line, Until: until})
	if !s.stay {
		return 1, true
	}
	pauseFor(ctx, s.span)
	p.callHook(scriptRunning, scriptEvent{})
	return 0, false
}

func playExit(_ context.Context, _ *player, s step) (int, bool) { return s.code, true }

// playDie ends this process with a signal, as a crash does.
func playDie(ctx context.Context, p *player, s step) (int, bool) {
	if err := syscall.Kill(os.Getpid(), deathSignals()[s.text]); err != nil {
		p.reportFailure(s, err)
		return 1, true
	}
	return waitForever(ctx)
}

// deathSignals returns the signals that a script can die from.
func deathSignals() map[string]syscall.Signal {
	return map[string]syscall.Signal{
		"KILL": syscall.SIGKILL, "TERM": syscall.SIGTERM, "INT": syscall.SIGINT, "HUP": syscall.SIGHUP,
		"ABRT": syscall.SIGABRT, "SEGV": syscall.SIGSEGV, "QUIT": syscall.SIGQUIT,
	}
}

func playDaemon(_ context.Context, p *player, s step) (int, bool) {
	if err := p.startDaemon(p.fillPlaces(s.text)); err != nil {
		p.reportFailure(s, err)
	}
	return 0, false
}

func playIdle(ctx context.Context, p *player, _ step) (int, bool) {
	p.callHook(scriptIdle, scriptEvent{Text: p.lastMessage()})
	return waitForever(ctx)
}

func playUsage(_ context.Context, p *player, s step) (int, bool) {
	p.noteTranscript(scriptNote{Type: scriptUsage, Usage: &s.usage})
	p.callHook(scriptUsage, scriptEvent{Usage: &s.usage})
	return 0, false
}

// writeSection writes or replaces a section of TASK.md. It writes in place, through the link by
// which the worktree sees the file.
func (p *player) writeSection(name, text string) error {
	f, err := os.OpenFile(p.TaskFile, os.O_RDWR|os.O_CREATE, 0o644)
	if err != nil {
		return err
	}
	defer f.Close() //nolint:errcheck // its last write was synced
	src, err := io.ReadAll(io.LimitReader(f, taskfile.MaxSize+1))
	if err != nil {
		return err
	}
	edited, err := withSection(src, name, text)
	if err != nil {
		return err
	}
	if _, err := f.WriteAt(edited, 0); err != nil {
		return err
	}
	return errors.Join(f.Truncate(int64(len(edited))), f.Sync())
}
