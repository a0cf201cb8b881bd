package main

import (
	"bufio"
	"bytes"
	"errors"
	"fmt"
	"io"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"time"

	"orange/internal/core/signal"
)

const (
	detectSize    = 64 << 20
	detectRounds  = 9
	minDetect     = 200.0 // MB/s on one core
	maxDetectMB   = 32.0
	detectedBytes = 1 << 30
)

// sampleProse is typical output of agents: prose, code, logs and some JSON.
const sampleProse = `I looked at the failing test first and then at the code that it covers.

## What I changed

- internal/store/record.go: the record is written with a temporary name and renamed.

` + "```go\n" + `func (s *Store) write(name string, data []byte) error {
	if err := os.WriteFile(name+".tmp", data, 0o600); err != nil {
		return fmt.Errorf("write %s: %w", name, err)
	}
	return os.Rename(name+".tmp", name)
}
` + "```\n" + `
> The file must never be half written, says the design.

2026-01-02T10:11:12Z INFO  request_id=18f2 GET /v1/tasks 200 12ms <remote 127.0.0.1>
{"level":"info","ts":1735812672.1,"msg":"compiled","package":"internal/store","ok":true,"tags":["a","b"]}

---

The tests pass now, and I ran them with the race detector too. Nothing else uses the old
function, so I removed it.

`

const marker = "<!-- WORK_RESULT:passed -->\n"

// measureDetection measures how fast a text is searched for all protocols, and how much memory a very long one takes.
func measureDetection(r *report, dir, orange string) error {
	text := append(bytes.Repeat([]byte(sampleProse), detectSize/len(sampleProse)), marker...)
	best := time.Duration(0)
	for range detectRounds {
		start := time.Now()
		got, err := signal.Detect(io.NopCloser(bytes.NewReader(text)), signal.DetectOptions{Protocol: signal.AnyProtocol, WorkType: "qa"})
		if err != nil || got.Outcome != signal.Passed {
			return errors.Join(err, fmt.Errorf("the marker was not found: %+v", got))
		}
		if took := time.Since(start); best == 0 || took < best {
			best = took
		}
	}
	speed := float64(len(text)) / 1e6 / best.Seconds()
	r.addFigure(figure{
		Name: "search for all protocols", Measured: fmt.Sprintf("%.0f MB/s", speed), Target: fmt.Sprintf("%.0f MB/s or more", minDetect), Met: speed >= minDetect,
		Note: fmt.Sprintf("best of %d rounds over 64 MB of prose, code, logs and JSON, one core", detectRounds),
	})
	return detectLong(r, filepath.Join(dir, "long.txt"), orange)
}

// detectLong searches a gigabyte in a separate process.
func detectLong(r *report, path, orange string) error {
	if err := writeLong(path); err != nil {
		return err
	}
	defer os.Remove(path) //nolint:errcheck // the folder goes with it
	var out bytes.Buffer
	cmd := exec.Command(orange, "detect", "--work-type", "qa", "--json", path)
	cmd.Stdout = &out
	start := time.Now()
	if err := cmd.Start(); err != nil {
		return err
	}
	over := make(chan error, 1)
	go func() { over <- cmd.Wait() }()
	peak := 0.0
	for {
		select {
		case err := <-over:
			if err != nil || !bytes.Contains(out.Bytes(), []byte(`"outcome":"passed"`)) {
				return fmt.Errorf("orange detect: %v: %s", err, out.Bytes())
			}
			r.addFigure(figure{
				Name: "memory of orange detect, 1 GB", Measured: fmt.Sprintf("%.1f MB", peak), Target: fmt.Sprintf("under %.0f MB", maxDetectMB), Met: peak > 0 && peak < maxDetectMB,
				Note: fmt.Sprintf("greatest resident size of the process; it took %.1f s", time.Since(start).Seconds()),
			})
			return nil
		case <-time.After(10 * time.Millisecond):
			peak = max(peak, peakMemory(cmd.Process.Pid))
		}
	}
}

// peakMemory returns the peak memory of a process, in MB, or 0 if it has ended.
func peakMemory(pid int) float64 {
	status, err := os.ReadFile(fmt.Sprintf("/proc/%d/status", pid))
	if err != nil {
		return 0
	}
	for line := range strings.Lines(string(status)) {
		var kb float64
		if n, err := fmt.Sscanf(line, "VmHWM: %f kB", &kb); n == 1 && err == nil {
			return kb / 1024
		}
	}
	return 0
}

func writeLong(path string) error {
	f, err := os.Create(path)
	if err != nil {
		return err
	}
	w := bufio.NewWriterSize(f, 1<<20)
	for n := 0; n < detectedBytes && err == nil; n += len(sampleProse) {
		_, err = w.WriteString(sampleProse)
	}
	_, last := w.WriteString(marker)
	return errors.Join(err, last, w.Flush(), f.Close())
}
