package fakelinear

import (
	"encoding/json"
	"fmt"
	"net/http"
)

// A problem is an error in Linear's form.
type problem struct {
	Message     string
	Type        string
	Code        string
	Presentable string
	Path        []any
}

// invalidRequest returns the problem of a request that the server does not understand.
func invalidRequest(format string, args ...any) *problem {
	return &problem{Message: fmt.Sprintf(format, args...), Type: "graphql error", Code: "INVALID_INPUT"}
}

// validationProblem returns the problem of a request that does not match the schema.
func validationProblem(err error) *problem {
	return &problem{Message: err.Error(), Type: "graphql error", Code: "GRAPHQL_VALIDATION_FAILED"}
}

// wrongInput returns the problem of a value that Linear does not accept.
func wrongInput(why string) *problem {
	return &problem{Message: "Argument Validation Error", Type: "invalid input", Code: "INVALID_INPUT", Presentable: why}
}

// notFound returns the problem of a reference to something that does not exist.
func notFound(kind, more string) *problem {
	return &problem{
		Message: "Entity not found: " + kind + more, Type: "invalid input", Code: "INPUT_ERROR",
		Presentable: "Could not find referenced " + kind + ".",
	}
}

// conflictProblem returns the problem of something that already exists.
func conflictProblem(kind, id string) *problem {
	return &problem{
		Message: "conflict on insert of " + kind, Type: "invalid input", Code: "INPUT_ERROR",
		Presentable: "Entity " + kind + " with id " + id + " already exists.",
	}
}

func replyProblem(w http.ResponseWriter, status int, p problem) {
	e := map[string]any{
		"message":    p.Message,
		"extensions": map[string]any{"type": p.Type, "code": p.Code, "userError": true, "userPresentableMessage": p.Presentable},
	}
	if p.Path != nil {
		e["path"] = p.Path
	}
	replyJSON(w, status, map[string]any{"errors": []any{e}, "data": nil})
}

func replyJSON(w http.ResponseWriter, status int, body any) {
	w.Header().Set("Content-Type", "application/json")
	w.WriteHeader(status)
	// The client may be gone, which does not matter here.
	_ = json.NewEncoder(w).Encode(body)
}
