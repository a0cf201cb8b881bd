package taskdir

import (
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"path/filepath"
	"strings"
	"time"

	"orange/internal/core/journal"
	"orange/internal/core/task"
)

// A Found is the folder of a task that was committed: it has a history.jsonl.
type Found struct {
	Project string
	ID      task.ID
	Written time.Time // when its history.jsonl was last written
}

// ListFolders lists the folders of all tasks that were committed, whether or not the store
// knows the tasks.
func (d *Dir) ListFolders() ([]Found, error) {
	projects, err := os.ReadDir(d.root)
	if errors.Is(err, fs.ErrNotExist) {
		return nil, nil
	}
	if err != nil {
		return nil, fmt.Errorf("list the folders of tasks: %w", err)
	}
	var list []Found
	for _, p := range projects {
		if !p.IsDir() {
			continue
		}
		tasks, err := os.ReadDir(filepath.Join(d.root, p.Name()))
		if err != nil {
			return nil, fmt.Errorf("list the folders of tasks: %w", err)
		}
		for _, t := range tasks {
			id := task.ID(t.Name())
			if !id.IsValid() {
				continue
			}
			info, err := os.Lstat(filepath.Join(d.Path(p.Name(), id), historyName))
			if err == nil && info.Mode().IsRegular() && info.Size() > 0 {
				list = append(list, Found{p.Name(), id, info.ModTime()})
			}
		}
	}
	return list, nil
}

// A History is what history.jsonl shows of a task.
type History struct {
	Created Shown    // the event of its creation
	Status  string   // the last status
	Last    Shown    // the newest event
	Lines   []string // by number of entry, from 0: the line for it, "" if there is none
}

// A Shown is one event, parsed from history.jsonl.
type Shown struct {
	Type      journal.Type `json:"type"`
	Timestamp string       `json:"timestamp"`
	Seq       int          `json:"seq"`
	Project   string       `json:"project"`
	Branch    string       `json:"branch"`
	Summary   string       `json:"summary"`
	Status    string       `json:"status"`
	From      string       `json:"from"`
	To        string       `json:"to"`
	Reason    string       `json:"reason"`
	Effect    string       `json:"effect"`
	Tracker   string       `json:"tracker"`
	Parent    task.ID      `json:"parent"`
	Delivery  string       `json:"delivery"`
	Base      string       `json:"base"`
}

// String returns the event in one line.
func (e Shown) String() string {
	text := string(e.Type) + " " + e.Timestamp
	if e.To != "" {
		text += " " + e.From + " -> " + e.To
	}
	if more := strings.TrimSpace(e.Effect + " " + e.Reason); more != "" {
		text += ": " + more
	}
	return text
}

// ReadHistory reads history.jsonl. It skips lines that do not parse.
func (d *Dir) ReadHistory(project string, id task.ID) (History, error) {
	var h History
	dir, err := d.checkedPath(project, id)
	if err != nil {
		return h, fmt.Errorf("read the folder of a task: %w", err)
	}
	path := filepath.Join(dir, historyName)
	f, _, err := openRegular(path, os.O_RDONLY)
	if err != nil {
		return h, err
	}
	text, err := io.ReadAll(f)
	if err = errors.Join(err, f.Close()); err != nil {
		return h, fmt.Errorf("read %s: %w", path, err)
	}
	for line := range bytes.Lines(text) {
		var e Shown
		if json.Unmarshal(line, &e) != nil || e.Seq <= 0 || e.Seq > len(h.Lines)+maxGap {
			continue
		}
		h.addEvent(e)
	}
	return h, nil
}

// maxGap limits how far a number may be above the previous one.
const maxGap = 1000

func (h *History) addEvent(e Shown) {
	for len(h.Lines) <= e.Seq {
		h.Lines = append(h.Lines, "")
	}
	if h.Lines[e.Seq] != "" {
		h.Lines[e.Seq] += "; "
	}
	h.Lines[e.Seq] += e.String()
	h.Last = e
	switch {
	case e.Type == journal.TaskCreated:
		h.Created, h.Status = e, e.Status
	case e.Type == journal.TaskRestored:
		h.Status = e.From
	case e.To != "":
		h.Status = e.To
	}
}
