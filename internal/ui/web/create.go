package web

import (
	"net/http"
	"strings"

	coreagent "orange/internal/core/agent"
	"orange/internal/core/signal"
	"orange/internal/core/task"
	"orange/internal/view/narrate"
)

func (s *Site) createRoutes(mux *http.ServeMux) {
	mux.HandleFunc("GET /new", s.newTask)
	mux.HandleFunc("POST /new", s.formHandler(s.createTask))
}

type newData struct {
	page
	Projects  []string
	Project   string
	Workflows []string
	Harnesses []string
}

// newTask serves the form that creates a task.
func (s *Site) newTask(w http.ResponseWriter, r *http.Request) {
	d := newData{page: s.newPage(r), Project: r.URL.Query().Get("project"), Harnesses: coreagent.HarnessNames()}
	projects, err := s.o.API.ListProjects(r.Context())
	if err != nil {
		s.writeError(w, r, err)
		return
	}
	for _, p := range projects {
		d.Projects = append(d.Projects, p.Name)
	}
	seen := map[string]bool{}
	if list, err := s.o.API.ListWorkflows(r.Context()); err == nil { // a task can be created without the list
		for _, f := range list {
			if !seen[f.Name] {
				d.Workflows = append(d.Workflows, f.Name)
			}
			seen[f.Name] = true
		}
	}
	s.renderPage(w, r, http.StatusOK, "new", d)
}

// createTask creates the task that a form describes.
func (s *Site) createTask(w http.ResponseWriter, r *http.Request) error {
	context, err := noteOf(r)
	if err != nil {
		return err
	}
	field := func(name string) string { return strings.TrimSpace(r.PostForm.Get(name)) }
	request := signal.NewTask{Workflow: field("workflow"), Context: context, Actor: task.Human}
	request.Project, request.Branch, request.Summary, request.Harness = field("project"), field("branch"), field("summary"), field("harness")
	request.BaseBranch, request.Model = field("base"), field("model")
	request.After = task.SplitIDs(field("after"))
	request.Spawn = r.PostForm.Get("wait") == ""
	if request.Project == "" {
		return newRefusal(http.StatusBadRequest, "a task belongs to a project: choose one")
	}
	if request.Summary == "" && strings.TrimSpace(context) == "" {
		return newRefusal(http.StatusBadRequest, "the task has no summary: say in one line what to do")
	}
	a, err := s.o.API.CreateTask(r.Context(), request)
	if err != nil {
		return err
	}
	said := "Created " + a.Task.Project + "/" + a.Task.Branch + "."
	if waits, ok := strings.CutPrefix(narrate.DescribeQueue(&a.Task), "it "); ok {
		said += " It " + waits + "."
	}
	if a.Warning != "" {
		said += " " + a.Warning
	}
	for _, line := range a.Notes {
		said += " Note: " + line + "."
	}
	s.finishForm(w, r, "/tasks/"+string(a.Task.ID), said)
	return nil
}
