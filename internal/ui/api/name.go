package api

import (
	"fmt"
	"net/http"
	"net/url"
	"strings"

	"orange/internal/core/engine"
	"orange/internal/core/journal"
	"orange/internal/core/signal"
	"orange/internal/core/task"
	"orange/internal/view/ansi"
	"orange/internal/view/humanize"
	"orange/internal/wire"
)

// maxCandidates is how many of the tasks that a name may mean an error lists.
const maxCandidates = 8

// findTask returns the task that the path of a request names.
func (s *Server) findTask(r *http.Request) (task.ID, error) {
	return s.resolveName(r, r.PathValue("id"))
}

// resolveAfter replaces the names of tasks by their ids.
func (s *Server) resolveAfter(r *http.Request, names []task.ID) error {
	for i, name := range names {
		id, err := s.resolveName(r, string(name))
		if err != nil {
			return task.Mistakef("%v", err)
		}
		names[i] = id
	}
	return nil
}

// resolveFields replaces the names of tasks in the fields of an update by their ids.
func (s *Server) resolveFields(r *http.Request, fields []signal.Field) error {
	for i := range fields {
		f := &fields[i]
		if f.Name != engine.FieldAddAfter && f.Name != engine.FieldDropAfter && f.Name != journal.FieldAfter {
			continue
		}
		names := []task.ID{task.ID(f.To)}
		if f.Name == journal.FieldAfter {
			names = task.SplitIDs(f.To)
		}
		if err := s.resolveAfter(r, names); err != nil {
			return err
		}
		f.To = task.JoinIDs(names)
	}
	return nil
}

// listSuccessors lists, by task, the open tasks that are after it.
func (s *Server) listSuccessors() map[task.ID][]task.Reference {
	if s.Successors == nil {
		return nil
	}
	return s.Successors()
}

// resolveName returns the task that a name means: its id or the beginning of it, its branch, its project and branch, or its
// summary. It is the only place where names of tasks are resolved.
func (s *Server) resolveName(r *http.Request, name string) (task.ID, error) {
	if c := callerOf(r); c != nil && string(c.Task) == name {
		return c.Task, nil
	}
	list, err := s.Tasks.NamedTasks(name)
	if err != nil {
		return "", err
	}
	found := task.ChooseNamed(name, "", list)
	if len(found) > 1 {
		found = task.ChooseNamed(name, s.projectOfCaller(r), list)
	}
	switch len(found) {
	case 0:
		return "", fmt.Errorf("%w: %q is no id, branch or summary of a task: see orange task list", task.ErrNotFound, humanize.Cut(name, 100))
	case 1:
		return found[0].ID, nil
	}
	return "", ambiguousName(name, found)
}

// projectOfCaller returns the project of the folder in which the caller works, "" if it says none.
func (s *Server) projectOfCaller(r *http.Request) string {
	folder, err := url.PathUnescape(r.Header.Get(wire.HeaderFolder))
	if err != nil || folder == "" || s.Where == nil {
		return ""
	}
	at, _ := s.Where(r.Context(), folder) // without a project, the name is ambiguous
	return at.Project
}

// ambiguousName returns an error that lists the tasks that a name may mean.
func ambiguousName(name string, found []task.Named) error {
	ids := map[string]bool{}
	for _, n := range found {
		ids[humanize.ShortID(string(n.ID))] = true
	}
	var list []string
	for _, n := range found[:min(len(found), maxCandidates)] {
		id := string(n.ID)
		if len(ids) == len(found) {
			id = humanize.ShortID(id)
		}
		list = append(list, fmt.Sprintf("%s (%s/%s, %s, %q)", id, n.Project, n.Branch, n.Status, ansi.OneLine(humanize.Cut(n.Summary, 60))))
	}
	more := ""
	if rest := len(found) - len(list); rest > 0 {
		more = fmt.Sprintf(" and %d more", rest)
	}
	return task.Mistakef("%q names %d tasks: %s%s: give the id of one", humanize.Cut(name, 100), len(found), strings.Join(list, ", "), more)
}
