package main

import (
	"fmt"
	"path/filepath"
	"strconv"

	"orange/internal/adapter/sqlite"
	"orange/internal/adapter/taskdir"
	"orange/internal/core/journal"
	"orange/internal/core/task"
)

const (
	homeTasks   = 10_000
	homeFolders = 5 // tasks that have a folder, and are updated
)

// shownKey is the setting in which the runtime records how far the folders are written. Without it a server would write
// ten thousand of them first.
const shownKey = "taskdir.row"

// createDataFolder creates a data folder with many tasks and returns those that have a folder.
func createDataFolder(home string) ([]task.ID, error) {
	def, err := defaultWorkflow()
	if err != nil {
		return nil, err
	}
	store, err := sqlite.Open(filepath.Join(home, "orange.db"))
	if err != nil {
		return nil, err
	}
	defer store.Close()
	var shown []journal.Commit
	err = populateStore(store, def, homeTasks, func(l *life, i int) {
		playSome(l, i)
		if l.err == nil && i%10 == 8 && len(shown) < homeFolders {
			shown = append(shown, l.toCommit())
		}
	})
	if err != nil {
		return nil, err
	}
	last, err := store.LastRow()
	if err != nil {
		return nil, err
	}
	if err := store.SetSetting(shownKey, strconv.FormatInt(last, 10)); err != nil {
		return nil, err
	}
	return writeFolders(filepath.Join(home, "tasks"), shown)
}

// playSome puts the tasks of a home into the states of one that has been used for a long time.
func playSome(l *life, i int) {
	switch {
	case i < 2: // as many as there are workspaces
		l.free = project + "--" + strconv.Itoa(i+1)
		l.toReview()
	case i%10 < 6:
		l.toEnd()
	case i%10 == 6:
		l.requestMove(task.Human, "cancelled")
	case i%10 == 7:
		l.requestMove(task.Human, "clarification")
	}
}

// writeFolders writes the folders of a few tasks.
func writeFolders(root string, commits []journal.Commit) ([]task.ID, error) {
	folders := taskdir.New(root)
	var ids []task.ID
	for _, c := range commits {
		body := "## Context\n\nThe parser says only that it failed.\n"
		if err := folders.CreateFolder(c.Task.Project, c.Task.ID, []byte(body)); err != nil {
			return nil, err
		}
		if err := folders.ProjectRecord(c.Task, c.Entries); err != nil {
			return nil, err
		}
		ids = append(ids, c.Task.ID)
	}
	if len(ids) != homeFolders {
		return nil, fmt.Errorf("%d tasks have a folder instead of %d", len(ids), homeFolders)
	}
	return ids, nil
}
