package web

import (
	"cmp"
	"net/http"
	"net/url"
	"path/filepath"
	"strconv"
	"strings"

	coreagent "orange/internal/core/agent"
	"orange/internal/core/signal"
	"orange/internal/core/task"
	"orange/internal/ui/client"
	"orange/internal/view/ansi"
	"orange/internal/view/humanize"
	"orange/internal/view/narrate"
)

func (s *Site) createRoutes(mux *http.ServeMux) {
	mux.HandleFunc("GET /new", func(w http.ResponseWriter, r *http.Request) {
		s.serveNewTask(w, r, http.StatusOK, filledForm{Values: r.URL.Query()})
	})
	mux.HandleFunc("POST /new", s.refillHandler(s.createTask, s.serveNewTask))
	mux.HandleFunc("GET /projects/new", func(w http.ResponseWriter, r *http.Request) {
		s.serveNewProject(w, r, http.StatusOK, filledForm{})
	})
	mux.HandleFunc("POST /projects/new", s.refillHandler(s.addProject, s.serveNewProject))
}

// A filledForm is what a person wrote into a form, and why the form was refused.
type filledForm struct {
	Values  url.Values
	Problem string
}

// Field returns what was written into a field.
func (f filledForm) Field(name string) string { return ansi.SafeText(f.Values.Get(name)) }

// refillHandler is like formHandler, but it shows a refused form again with everything that the person wrote. Scripts
// get JSON, because their page still has the form.
func (s *Site) refillHandler(h func(http.ResponseWriter, *http.Request) error, show func(http.ResponseWriter, *http.Request, int, filledForm)) http.HandlerFunc {
	return func(w http.ResponseWriter, r *http.Request) {
		err := parseForm(r)
		if err == nil {
			err = h(w, r)
		}
		switch {
		case err == nil:
		case wantsJSON(r) || r.PostForm == nil || client.NeedsCode(err) || statusOf(err) >= 500:
			s.writeError(w, r, err)
		default:
			show(w, r, statusOf(err), filledForm{Values: r.PostForm, Problem: ansi.OneLine(humanize.Cut(err.Error(), maxMessage))})
		}
	}
}

type newData struct {
	page
	filledForm
	Projects  []string
	Workflows []string
	Harnesses []string
}

// serveNewTask serves the form that creates a task.
func (s *Site) serveNewTask(w http.ResponseWriter, r *http.Request, status int, form filledForm) {
	d := newData{page: s.newPage(r), filledForm: form, Harnesses: coreagent.HarnessNames()}
	d.Path = "/new"
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
	s.renderPage(w, r, status, "new", d)
}

// createTask creates the task that a form describes.
func (s *Site) createTask(w http.ResponseWriter, r *http.Request) error {
	requirements, err := noteOf(r)
	if err != nil {
		return err
	}
	field := func(name string) string { return strings.TrimSpace(r.PostForm.Get(name)) }
	request := signal.NewTask{Workflow: field("workflow"), Context: requirements, Actor: task.Human}
	request.Project, request.Branch, request.Summary, request.Harness = field("project"), field("branch"), field("summary"), field("harness")
	request.BaseBranch, request.Model = field("base"), field("model")
	request.After = task.SplitIDs(field("after"))
	request.Spawn = r.PostForm.Get("wait") == ""
	if request.Project == "" {
		return newRefusal(http.StatusBadRequest, "a task belongs to a project: choose one")
	}
	if request.Summary == "" && strings.TrimSpace(requirements) == "" {
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

type newProjectData struct {
	page
	filledForm
}

// serveNewProject serves the form that adds a project.
func (s *Site) serveNewProject(w http.ResponseWriter, r *http.Request, status int, form filledForm) {
	d := newProjectData{page: s.newPage(r), filledForm: form}
	d.Path = "/projects/new"
	s.renderPage(w, r, status, "project", d)
}

// addProject registers the repository that a form names.
func (s *Site) addProject(w http.ResponseWriter, r *http.Request) error {
	field := func(name string) string { return strings.TrimSpace(r.PostForm.Get(name)) }
	given := field("path")
	if !filepath.IsAbs(given) {
		return newRefusal(http.StatusBadRequest, "the path is not absolute: give the whole path of the repository, beginning with /")
	}
	p := task.Project{Name: field("name"), DefaultBranch: field("base")}
	if text := field("pool"); text != "" {
		var err error
		if p.PoolSize, err = strconv.Atoi(text); err != nil || p.PoolSize < 1 {
			return newRefusal(http.StatusBadRequest, "the number of workspaces is %q: give a positive integer", text)
		}
	}
	at, err := s.o.API.FindPlace(r.Context(), given)
	if err != nil {
		return err
	}
	if p.Path = at.GitRoot; p.Path == "" {
		return newRefusal(http.StatusBadRequest, "%s is not a git repository: run git init there, or give another path", given)
	}
	p.Name = cmp.Or(p.Name, filepath.Base(p.Path))
	added, err := s.o.API.AddProject(r.Context(), p)
	if err != nil {
		return err
	}
	said := "Added project " + added.Project.Name + " with " + humanize.Plural(added.Project.PoolSize, "workspace") + "."
	if len(added.Git) > 0 {
		said += " Git would run programs there that nobody has trusted: see the inbox."
	}
	s.finishForm(w, r, "/new?project="+url.QueryEscape(added.Project.Name), said)
	return nil
}
