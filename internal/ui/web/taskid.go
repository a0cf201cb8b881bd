package web

import (
	"net/http"

	"orange/internal/core/task"
)

// idOf returns the task id, or the prefix of one, in the path of a request.
func idOf(r *http.Request) (string, error) {
	id := r.PathValue("id")
	if !task.ValidPrefix(id) {
		return "", newRefusal(http.StatusNotFound, "this is not the id of a task: go to the board")
	}
	return id, nil
}
