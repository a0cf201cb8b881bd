package fakelinear

import (
	"encoding/json"
	"fmt"
	"net/http"
)

// A problem is an error as Linear tells it.
type problem struct {
	Message     string
	Type        string
	Code        string
	Presentable string
	Path        []any
}

// invalidRequest returns a request that the server does not understand.
func invalidRequest(format string, args ...any) *problem {
	return &problem{Message: fmt.Sprintf(format, args...), Type: "graphql error", Code: "INVALID_INPUT"}
}

// validationProblem returns one that does not fit the schema.
func validationProblem(err error) *problem {
	return &problem{Message: err.Error(), Type: "graphql error", Code: "GRAPHQL_VALIDATION_FAILED"}
}

// wrongInput returns a value that Linear does not take.
func wrongInput(why string) *problem {
	return &problem{Message: "Argument Validation Error", Type: "invalid input", Code: "INVALID_INPUT", Presentable: why}
}

// notFound returns a reference to something that is not there.
func notFound(kind, more string) *problem {
	return &problem{
		Message: "Entity not found: " + kind + more, Type: "invalid input", Code: "INPUT_ERROR",
		Presentable: "Could not find referenced " + kind + ".",
	}
}

// conflictProblem is something that is there already.
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
	// Who asked may be gone; nothing can be done about it here.
	_ = json.NewEncoder(w).Encode(body)
}
