package main

import (
	"bytes"
	"fmt"
	"os"
	"path/filepath"
	"runtime"
	"strconv"
	"strings"
	"time"
)

const (
	idleSettle = 3 * time.Second // lets the work of earlier requests end
	restTime   = 20 * time.Second
	restSample = 250 * time.Millisecond
	minQuiet   = 10 * time.Second
)

// measureRest observes the server while it gets no requests.
func measureRest(r *report, pid int) error {
	if runtime.GOOS != "linux" {
		r.addFigure(figure{Name: "server at rest", Measured: "not measured on " + runtime.GOOS})
		return nil
	}
	time.Sleep(idleSettle)
	seen, err := observeProcess(pid)
	if err != nil {
		return err
	}
	r.addFigure(figure{
		Name: "server at rest, processes started in " + restTime.String(), Measured: strconv.Itoa(seen.started), Target: "0", Met: seen.started == 0,
		Note: "children, and page faults of children that are gone",
	})
	r.addFigure(figure{
		Name: "server at rest, longest time without a wake-up", Measured: fmt.Sprintf("%.1f s", seen.quiet.Seconds()), Target: fmt.Sprintf("at least %.0f s", minQuiet.Seconds()), Met: seen.quiet >= minQuiet,
		Note: fmt.Sprintf("%d voluntary context switches of all threads and %s of CPU time in %s", seen.last.wakes-seen.first.wakes, seen.cpu(), restTime),
	})
	r.addFigure(figure{Name: "server at rest, memory", Measured: fmt.Sprintf("%.1f MB", float64(seen.last.rss)/1024), Note: "resident, after the lists and updates above"})
	return nil
}

// observation is the result of observing a process.
type observation struct {
	first, last processStats
	quiet       time.Duration // the longest time in which no thread woke
	started     int           // processes, at least
}

func (s observation) took() time.Duration { return s.last.at.Sub(s.first.at) }
func (s observation) cpu() time.Duration  { return s.last.cpu - s.first.cpu }

// observeProcess observes a process for the duration of the rest.
func observeProcess(pid int) (s observation, err error) {
	before, err := childProcesses(pid)
	if err != nil {
		return s, err
	}
	if s.first, err = readProcessStats(pid); err != nil {
		return s, err
	}
	if s.last, s.quiet, err = watchProcess(pid, s.first); err != nil {
		return s, err
	}
	after, err := childProcesses(pid)
	if err != nil {
		return s, err
	}
	for child := range after {
		if !before[child] {
			s.started++
		}
	}
	if s.last.childFaults != s.first.childFaults {
		s.started++ // at least one: a process that ended left its page faults
	}
	return s, nil
}

// watchProcess samples a process. It returns the last sample and the longest time in which no thread woke.
func watchProcess(pid int, first processStats) (last processStats, quiet time.Duration, err error) {
	last = first
	idleSince := first.at // since when no thread has woken
	for time.Since(first.at) < restTime {
		time.Sleep(restSample)
		now, err := readProcessStats(pid)
		if err != nil {
			return now, 0, err
		}
		if now.wakes != last.wakes {
			idleSince = now.at
		}
		last, quiet = now, max(quiet, now.at.Sub(idleSince))
	}
	return last, quiet, nil
}

// childProcesses returns the living children of a process.
func childProcesses(pid int) (map[int]bool, error) {
	all, err := filepath.Glob("/proc/[0-9]*")
	if err != nil {
		return nil, err
	}
	out := map[int]bool{}
	for _, dir := range all {
		stat, err := os.ReadFile(filepath.Join(dir, "stat"))
		if err != nil {
			continue // it ended just now
		}
		if f := statFields(stat); len(f) > 1 && f[1] == strconv.Itoa(pid) {
			child, _ := strconv.Atoi(filepath.Base(dir))
			out[child] = true
		}
	}
	return out, nil
}

// statFields returns the fields of /proc/N/stat from the third on: the second is a name in parentheses and may contain
// anything.
func statFields(stat []byte) []string {
	return strings.Fields(string(stat[bytes.LastIndexByte(stat, ')')+1:]))
}

// processStats is what /proc shows about a process.
type processStats struct {
	at          time.Time
	childFaults int // page faults of children that were waited for
	cpu         time.Duration
	wakes       int // voluntary context switches of the threads that live
	rss         int // in KB
}

// tick is the unit of CPU time in /proc.
const tick = 10 * time.Millisecond

func readProcessStats(pid int) (v processStats, err error) {
	proc := filepath.Join("/proc", strconv.Itoa(pid))
	v.at = time.Now()
	stat, err := os.ReadFile(filepath.Join(proc, "stat"))
	if err != nil {
		return v, fmt.Errorf("watch the server: %w", err)
	}
	fields := statFields(stat)
	if len(fields) < 15 {
		return v, fmt.Errorf("watch the server: %s has %d fields", filepath.Join(proc, "stat"), len(fields))
	}
	number := func(field int) int {
		n, _ := strconv.Atoi(fields[field-3])
		return n
	}
	v.childFaults, v.cpu = number(11), time.Duration(number(14)+number(15))*tick
	status, err := os.ReadFile(filepath.Join(proc, "status"))
	if err != nil {
		return v, fmt.Errorf("watch the server: %w", err)
	}
	v.rss = statusNumber(status, "VmRSS:")
	return v, v.readThreads(proc)
}

func (v *processStats) readThreads(proc string) error {
	threads, err := filepath.Glob(filepath.Join(proc, "task", "*"))
	if err != nil {
		return err
	}
	for _, dir := range threads {
		status, err := os.ReadFile(filepath.Join(dir, "status"))
		if err != nil {
			continue // it ended just now
		}
		v.wakes += statusNumber(status, "voluntary_ctxt_switches:")
	}
	if v.wakes == 0 {
		return fmt.Errorf("watch the server: %s does not count context switches", proc)
	}
	return nil
}

// statusNumber returns a number from a file of lines "name: number".
func statusNumber(text []byte, name string) int {
	for line := range strings.Lines(string(text)) {
		if rest, ok := strings.CutPrefix(line, name); ok {
			n, _ := strconv.Atoi(strings.Fields(rest)[0])
			return n
		}
	}
	return 0
}
