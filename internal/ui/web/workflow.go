package web

import (
	"context"
	"errors"
	"fmt"
	"html/template"
	"net/http"
	"strconv"
	"strings"
	"sync"
	"time"

	"orange/internal/core/simulate"
	"orange/internal/core/verify"
	"orange/internal/core/workflow"
	"orange/internal/core/workflow/builtin"
	"orange/internal/ui/client"
	"orange/internal/view/ansi"
	"orange/internal/view/chart"
	"orange/internal/view/drawing"
	"orange/internal/view/humanize"
	"orange/internal/wire"
)

// Limits of the work done for a page, because the machine has other work.
const (
	maxSearched   = 300_000 // states of a search
	searchTime    = 2 * time.Minute
	maxPlayed     = 20_000 // tasks in a simulation
	playedAtOnce  = 200    // tasks between two checks for cancellation
	maxKept       = 32     // number of reports and simulations
	maxShownLines = 5000   // of a workflow file
)

// workflowPages serves the pages of workflows and holds their reports.
type workflowPages struct {
	*Site
	turn    chan struct{} // held while computing: one computation at a time
	mu      sync.Mutex
	reports map[string]*workflowReport // by hash
	plays   map[string]*workflowPlay
}

// workflowRoutes registers the pages of workflows. Viewing a page starts no slow computation.
func (s *Site) workflowRoutes(mux *http.ServeMux) {
	p := &workflowPages{Site: s, turn: make(chan struct{}, 1), reports: map[string]*workflowReport{}, plays: map[string]*workflowPlay{}}
	mux.HandleFunc("GET /workflows", p.serveList)
	mux.HandleFunc("GET /workflows/{hash}", p.serveWorkflow)
	mux.HandleFunc("POST /workflows/{hash}/verify", s.formHandler(p.verifyWorkflow))
	mux.HandleFunc("POST /workflows/{hash}/simulate", s.formHandler(p.simulateWorkflow))
	mux.HandleFunc("GET /static/chart.css", stylesheetHandler(themed(chart.CSS())))
}

// workflowList is the data of the list of workflows.
type workflowList struct {
	page
	List []wire.WorkflowInfo
}

func (p *workflowPages) serveList(w http.ResponseWriter, r *http.Request) {
	list, err := p.o.API.ListWorkflows(r.Context())
	if err != nil {
		p.writeError(w, r, err)
		return
	}
	for i := range list {
		one := &list[i]
		one.Name, one.Origin, one.File = ansi.OneLine(one.Name), ansi.OneLine(one.Origin), ansi.OneLine(one.File)
	}
	p.renderPage(w, r, http.StatusOK, "workflows", workflowList{page: p.newPage(r), List: list})
}

// workflowPage is the data of a workflow's page.
type workflowPage struct {
	page
	Hash, Name, File string
	Problem          string               // why the file cannot be read
	Def              *workflow.Definition // nil if it cannot be read
	Describe         string
	Drawing          template.HTML
	States           []workflowState
	Edges            []workflowEdge
	Findings         []workflow.Finding
	Lines            []workflowLine
	More             int // number of lines that are not shown
	Report           *workflowReport
	Play             *workflowPlay
	Runs             string // value of the field in the simulation form
	Seed             string
	MaxRuns          int
}

func (p *workflowPages) serveWorkflow(w http.ResponseWriter, r *http.Request) {
	data, err := p.workflowData(r)
	if err != nil {
		p.writeError(w, r, err)
		return
	}
	p.renderPage(w, r, http.StatusOK, "workflow", data)
}

// workflowData collects the data of a workflow's page.
func (p *workflowPages) workflowData(r *http.Request) (*workflowPage, error) {
	got, err := p.findWorkflow(r)
	if err != nil {
		return nil, err
	}
	out := &workflowPage{page: p.newPage(r), Hash: got.Hash, Name: ansi.OneLine(got.Name), File: ansi.OneLine(got.File), Runs: "2000", Seed: "1", MaxRuns: maxPlayed}
	out.Lines, out.More = workflowLines(got.Text)
	def, err := workflow.Parse(got.File, got.Text)
	if err != nil {
		out.Problem = ansi.OneLine(err.Error())
		return out, nil
	}
	out.Def, out.Describe, out.Findings = def, ansi.OneLine(def.Describe), def.Check()
	out.Drawing = template.HTML(drawing.RenderPage(def, drawing.Marks{Links: "#state-"})) //nolint:gosec // made and escaped by us
	out.States, out.Edges = workflowStates(def), workflowEdges(def)
	p.mu.Lock()
	defer p.mu.Unlock()
	out.Report, out.Play = p.reports[def.Hash], p.plays[def.Hash]
	if out.Play != nil {
		out.Runs, out.Seed = strconv.Itoa(out.Play.Runs), strconv.FormatUint(out.Play.Seed, 10)
	}
	return out, nil
}

// findWorkflow returns the workflow with the hash in the path: a pinned one or a built-in one.
func (p *workflowPages) findWorkflow(r *http.Request) (wire.WorkflowText, error) {
	hash := r.PathValue("hash")
	got, err := p.o.API.ReadWorkflow(r.Context(), hash)
	var no *client.Error
	if err == nil || !errors.As(err, &no) || no.Status != http.StatusNotFound {
		return got, err
	}
	for _, name := range builtin.Names() {
		text, ok := builtin.Text(name)
		if def, broken := workflow.Parse(builtin.File(name), text); ok && broken == nil && def.Hash == hash {
			return wire.WorkflowText{Hash: hash, Name: name, File: builtin.File(name), Text: text}, nil
		}
	}
	return got, newRefusal(http.StatusNotFound, "no task uses this workflow: see the list of workflows, or orange workflow show")
}

// computeInTurn calls do once no other computation runs. It gives up when the request ends, or after
// searchTime.
func (p *workflowPages) computeInTurn(r *http.Request, do func(context.Context, *workflow.Definition) error) error {
	got, err := p.findWorkflow(r)
	if err != nil {
		return err
	}
	def, err := workflow.Parse(got.File, got.Text)
	if err != nil {
		return newRefusal(http.StatusConflict, "the workflow cannot be read: %v", err)
	}
	ctx, cancel := context.WithTimeout(r.Context(), searchTime)
	defer cancel()
	select {
	case p.turn <- struct{}{}:
		defer func() { <-p.turn }()
	case <-ctx.Done():
		return newRefusal(http.StatusServiceUnavailable, "another workflow is being verified: try again in a minute")
	}
	return do(ctx, def)
}

// searchHere searches in this process. It is the default of SiteOptions.Verify.
func searchHere(ctx context.Context, def *workflow.Definition, maxStates int) (verify.Report, error) {
	return verify.Verify(def, verify.SearchOptions{MaxStates: maxStates, Stop: func() bool { return ctx.Err() != nil }}), nil
}

// verifyWorkflow searches all states that tasks of a workflow can reach.
func (p *workflowPages) verifyWorkflow(w http.ResponseWriter, r *http.Request) error {
	hash := r.PathValue("hash")
	err := p.computeInTurn(r, func(ctx context.Context, def *workflow.Definition) error {
		p.mu.Lock()
		known := p.reports[def.Hash]
		p.mu.Unlock()
		if known != nil { // another request has already searched it
			return nil
		}
		began := p.o.Now()
		found, err := p.o.Verify(ctx, def, maxSearched)
		if ctx.Err() != nil {
			return newRefusal(http.StatusServiceUnavailable, "the search was stopped after %s: use orange workflow verify", p.o.Now().Sub(began).Round(time.Second))
		}
		if err != nil {
			return err
		}
		report := reportOf(found)
		report.Took = p.o.Now().Sub(began).Round(100 * time.Millisecond).String()
		p.mu.Lock()
		defer p.mu.Unlock()
		if len(p.reports) >= maxKept {
			clear(p.reports)
		}
		p.reports[def.Hash] = report
		return nil
	})
	if err != nil {
		return err
	}
	p.finishForm(w, r, "/workflows/"+hash, "Verified. See the report.")
	return nil
}

// simulateWorkflow simulates tasks of a workflow.
func (p *workflowPages) simulateWorkflow(w http.ResponseWriter, r *http.Request) error {
	hash := r.PathValue("hash")
	runs, err := strconv.Atoi(strings.TrimSpace(r.PostFormValue("runs")))
	if err != nil || runs < 1 || runs > maxPlayed {
		return newRefusal(http.StatusBadRequest, "the number of tasks is out of range: enter one from 1 to %d", maxPlayed)
	}
	seed, err := strconv.ParseUint(strings.TrimSpace(r.PostFormValue("seed")), 10, 64)
	if err != nil {
		return newRefusal(http.StatusBadRequest, "the seed is not a number: enter one from 0")
	}
	err = p.computeInTurn(r, func(ctx context.Context, def *workflow.Definition) error {
		result, err := playTasks(ctx, def, simulate.RunOptions{Profile: simulate.DefaultProfile(def), Seed: seed}, runs)
		if err != nil {
			return err
		}
		play := playOf(def, result, runs, seed)
		p.mu.Lock()
		defer p.mu.Unlock()
		if len(p.plays) >= maxKept {
			clear(p.plays)
		}
		p.plays[def.Hash] = play
		return nil
	})
	if err != nil {
		return err
	}
	p.finishForm(w, r, "/workflows/"+hash, fmt.Sprintf("%s simulated.", humanize.Plural(runs, "task")))
	return nil
}

// playTasks simulates in steps, so that it can be cancelled.
func playTasks(ctx context.Context, def *workflow.Definition, o simulate.RunOptions, runs int) (simulate.Result, error) {
	var all simulate.Result
	for first := 0; first < runs; first += playedAtOnce {
		if ctx.Err() != nil {
			return all, newRefusal(http.StatusServiceUnavailable, "the simulation was stopped: simulate fewer tasks")
		}
		part, err := simulate.Run(def, o, first, min(playedAtOnce, runs-first))
		if err != nil {
			return all, err
		}
		all.Merge(part)
	}
	return all, nil
}
