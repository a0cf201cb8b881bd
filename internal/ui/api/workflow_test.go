package api_test

import (
	"errors"
	"log/slog"
	"net/http"
	"net/http/httptest"
	"strings"
	"testing"

	"orange/internal/ui/api"
)

type pinned struct{}

func (pinned) Workflow(hash string) (name, file, text string, ok bool, err error) {
	switch hash {
	case "abc":
		return "orange", "orange.yaml", "name: orange\n", true, nil
	case "broken":
		return "", "", "", false, errors.New("read the store: it is damaged")
	}
	return "", "", "", false, nil
}

func TestThePinnedWorkflowCanBeRead(t *testing.T) {
	s := &api.Server{Workflows: pinned{}, Log: slog.New(slog.DiscardHandler)}
	tests := []struct {
		hash string
		code int
		body string
	}{
		{"abc", http.StatusOK, `{"file":"orange.yaml","hash":"abc","name":"orange","text":"name: orange\n"}`},
		{"ab", http.StatusNotFound, `{"error":"no task is pinned to a workflow \"ab\": give a whole workflow_hash"}`},
		{"broken", http.StatusInternalServerError, `{"error":"read the store: it is damaged"}`},
	}
	for _, tt := range tests {
		w := httptest.NewRecorder()
		s.Handler().ServeHTTP(w, httptest.NewRequest(http.MethodGet, "/v1/workflows/"+tt.hash, nil))
		if got := strings.TrimSpace(w.Body.String()); w.Code != tt.code || got != tt.body {
			t.Errorf("%s: %d %s", tt.hash, w.Code, got)
		}
	}
}
