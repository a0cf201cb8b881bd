package fakelinear

import (
	"encoding/json"
	"io"
	"math"
	"net/http"
	"strconv"
	"strings"
	"time"

	"github.com/vektah/gqlparser/v2"
	"github.com/vektah/gqlparser/v2/ast"
	"github.com/vektah/gqlparser/v2/validator"
	"github.com/vektah/gqlparser/v2/validator/rules"

	"orange/internal/trackertest"
)

// request is one valid operation.
type request struct {
	op   *ast.OperationDefinition
	vars map[string]any
}

func (r *request) isWrite() bool { return r != nil && r.op.Operation == ast.Mutation }

// parseRequest parses a request and checks all of it, including values, against the schema.
func (s *FakeServer) parseRequest(body []byte) (*request, *problem) {
	var in struct {
		Query         string         `json:"query"`
		OperationName string         `json:"operationName"`
		Variables     map[string]any `json:"variables"`
	}
	if err := json.Unmarshal(body, &in); err != nil {
		return nil, invalidRequest("the request is not JSON: %v", err)
	}
	doc, errs := gqlparser.LoadQueryWithRules(s.opts.Schema.Schema, in.Query, rules.NewDefaultRules())
	if len(errs) > 0 {
		return nil, validationProblem(errs[0])
	}
	op := doc.Operations.ForName(in.OperationName)
	if op == nil {
		return nil, invalidRequest("there is no operation %q", in.OperationName)
	}
	for name := range in.Variables {
		if op.VariableDefinitions.ForName(name) == nil {
			return nil, invalidRequest("variable %q is not declared", name)
		}
	}
	vars, err := validator.VariableValues(s.opts.Schema.Schema, op, in.Variables)
	if err != nil {
		return nil, validationProblem(err)
	}
	return &request{op: op, vars: vars}, nil
}

// serveGraphQL handles one request, or fails on demand.
func (s *FakeServer) serveGraphQL(w http.ResponseWriter, r *http.Request) {
	body, err := io.ReadAll(io.LimitReader(r.Body, 4<<20))
	if err != nil {
		return
	}
	s.mu.Lock()
	defer s.mu.Unlock()
	req, bad := s.parseRequest(body)
	how := s.nextFault(req.isWrite())
	switch {
	case how == trackertest.Broken:
		http.Error(w, "<html>something went wrong</html>", http.StatusInternalServerError)
		return
	case how == trackertest.Limited:
		s.refuseOverLimit(w)
		return
	case how == trackertest.Denied || !s.acceptsToken(r.Header.Get("Authorization")):
		replyProblem(w, http.StatusUnauthorized, problem{Message: "Authentication required, not authenticated", Type: "authentication error", Code: "AUTHENTICATION_ERROR"})
		return
	case bad != nil:
		replyProblem(w, http.StatusBadRequest, *bad)
		return
	}
	s.runRequest(w, req, how == trackertest.Lost)
}

// runRequest executes a request. If lost is set, it executes it and sends no response.
func (s *FakeServer) runRequest(w http.ResponseWriter, req *request, lost bool) {
	cost := requestComplexity(req)
	w.Header().Set("X-Complexity", strconv.Itoa(cost))
	if cost > maxComplexity {
		replyProblem(w, http.StatusBadRequest, problem{Message: "Query too complex", Type: "invalid input", Code: "INPUT_ERROR", Presentable: "The query is too complex."})
		return
	}
	data, bad := s.executeRequest(req)
	if bad == nil && req.isWrite() {
		if err := s.saveState(); err != nil {
			http.Error(w, err.Error(), http.StatusInternalServerError)
			return
		}
	}
	if lost {
		hangUp(w)
		return
	}
	if bad != nil {
		replyProblem(w, http.StatusOK, *bad)
		return
	}
	replyJSON(w, http.StatusOK, map[string]any{"data": data})
}

// hangUp closes the connection without a response.
func hangUp(w http.ResponseWriter) {
	if conn, _, err := http.NewResponseController(w).Hijack(); err == nil {
		conn.Close()
	}
}

func (s *FakeServer) acceptsToken(authorization string) bool {
	if s.opts.Token == "" {
		return authorization != ""
	}
	want := "Bearer " + s.opts.Token
	if strings.HasPrefix(s.opts.Token, "lin_api_") {
		want = s.opts.Token
	}
	return authorization == want
}

// refuseOverLimit refuses a request because of a limit, in one of the two ways that Linear
// uses.
func (s *FakeServer) refuseOverLimit(w http.ResponseWriter) {
	s.limits++
	status := http.StatusBadRequest
	if s.limits%2 == 0 {
		status = http.StatusTooManyRequests
		w.Header().Set("Retry-After", "0")
	}
	w.Header().Set("X-RateLimit-Requests-Limit", "2500")
	w.Header().Set("X-RateLimit-Requests-Remaining", "0")
	w.Header().Set("X-RateLimit-Requests-Reset", strconv.FormatInt(s.opts.Now().Add(20*time.Millisecond).UnixMilli(), 10))
	replyProblem(w, status, problem{Message: "Rate limit exceeded", Type: "ratelimited", Code: "RATELIMITED"})
}

// maxComplexity is the most that one request may cost.
const maxComplexity = 10_000

// requestComplexity returns the cost of a request by Linear's rules.
func requestComplexity(req *request) int {
	return int(math.Ceil(selectionCost(req, req.op.SelectionSet)))
}

func selectionCost(req *request, set ast.SelectionSet) float64 {
	var sum float64
	for _, sel := range set {
		switch sel := sel.(type) {
		case *ast.FragmentSpread:
			sum += selectionCost(req, sel.Definition.SelectionSet)
		case *ast.InlineFragment:
			sum += selectionCost(req, sel.SelectionSet)
		case *ast.Field:
			switch {
			case len(sel.SelectionSet) == 0:
				sum += 0.1
			case strings.HasSuffix(sel.Definition.Type.Name(), "Connection"):
				sum += float64(pageSize(sel.ArgumentMap(req.vars))) * selectionCost(req, sel.SelectionSet)
			default:
				sum += 1 + selectionCost(req, sel.SelectionSet)
			}
		}
	}
	return sum
}
