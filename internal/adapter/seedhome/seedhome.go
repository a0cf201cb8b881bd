// Package seedhome reads the data folder of the earlier orange: projects.json and
// tasks/<project>/<id>/TASK.md. It changes nothing there.
package seedhome

import (
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"path/filepath"
	"slices"
	"time"

	"orange/internal/core/signal"
	"orange/internal/core/task"
	"orange/internal/core/taskfile"
)

// Home is the content of the folder.
type Home struct {
	Projects []task.Project
	Tasks    []Task
	Problems []string // what could not be read, and why
}

// A Task is one TASK.md.
type Task struct {
	New  signal.New
	Body []byte
}

// ReadHome reads the folder at root.
func ReadHome(root string) (Home, error) {
	text, err := os.ReadFile(filepath.Join(root, "projects.json"))
	if errors.Is(err, fs.ErrNotExist) {
		return Home{}, fmt.Errorf("%s has no projects.json: give the folder of an earlier orange, or a file made by orange export", root)
	}
	if err != nil {
		return Home{}, err
	}
	var h Home
	if err := json.Unmarshal(text, &h.Projects); err != nil {
		return Home{}, fmt.Errorf("%s does not parse: %w", filepath.Join(root, "projects.json"), err)
	}
	for i := range h.Projects {
		if h.Projects[i].PoolSize == 0 {
			h.Projects[i].PoolSize = task.DefaultPoolSize
		}
		h.readTasks(root, h.Projects[i].Name)
	}
	slices.SortStableFunc(h.Tasks, func(a, b Task) int { return a.New.CreatedAt.Compare(b.New.CreatedAt) })
	return h, nil
}

func (h *Home) readTasks(root, project string) {
	dir := filepath.Join(root, "tasks", project)
	entries, err := os.ReadDir(dir)
	if err != nil && !errors.Is(err, fs.ErrNotExist) {
		h.Problems = append(h.Problems, err.Error())
	}
	for _, e := range entries {
		if !e.IsDir() {
			continue
		}
		t, err := readTask(filepath.Join(dir, e.Name(), "TASK.md"), project)
		if err != nil {
			h.Problems = append(h.Problems, fmt.Sprintf("task %s: %v", e.Name(), err))
			continue
		}
		h.Tasks = append(h.Tasks, t)
	}
}

func readTask(path, project string) (Task, error) {
	f, err := os.Open(path)
	if err != nil {
		return Task{}, err
	}
	defer f.Close()
	src, err := io.ReadAll(io.LimitReader(f, taskfile.MaxSize+1))
	if err != nil {
		return Task{}, err
	}
	doc, err := taskfile.Parse(src)
	if err != nil {
		return Task{}, err
	}
	text := func(key string) string {
		v, _ := doc.Get(key)
		s, _ := v.(string)
		return s
	}
	n := signal.New{
		ID: task.ID(text("id")), Project: project, Branch: text("branch"), Summary: text("summary"), Status: text("status"),
		Harness: text("harness"), ReviewHarness: text("review_harness"), Effort: text("effort"), ReviewEffort: text("review_effort"),
		PRURL: text("pr_url"), PRState: text("pr_state"),
	}
	if at, err := time.Parse(time.RFC3339Nano, text("created_at")); err == nil {
		n.CreatedAt = at.UTC()
	}
	for _, name := range []string{"review_round", "crash_count"} {
		if v, ok := doc.Get(name); ok {
			count, _ := v.(int)
			n.Counters = append(n.Counters, task.Counter{Name: name, Value: max(count, 0)})
		}
	}
	return Task{New: n, Body: doc.Body()}, nil
}
