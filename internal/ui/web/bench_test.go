package web_test

import (
	"fmt"
	"net/http"
	"net/http/httptest"
	"testing"

	"orange/internal/core/task"
	"orange/internal/ui/web"
	"orange/internal/view/overview"
)

// crowd fills a backend with a thousand tasks.
func crowd(w *backend) {
	for i := range 1000 {
		id := task.ID(fmt.Sprintf("A%020d", i))
		w.setFacts(id, overview.Facts{Work: &overview.Work{Commits: 2, Added: 10, Deleted: 3}})
		w.add(task.Task{ID: id, Project: "shop", Branch: fmt.Sprintf("task-%d", i), Summary: "Make the search of the shop faster when there are many results", Status: []string{"pending", "working", "reviewing"}[i%3]})
	}
}

func BenchmarkBoardOfAThousand(b *testing.B) {
	w := newBackend(b)
	crowd(w)
	h := &env{backend: w, addr: "127.0.0.1:1"}
	h.opts = options(h, w)
	handler := web.New(h.opts).Handler()
	for b.Loop() {
		r := httptest.NewRequest("GET", "http://127.0.0.1:1/", nil)
		r.Header.Set("Authorization", "Bearer "+token)
		rec := httptest.NewRecorder()
		handler.ServeHTTP(rec, r)
		if rec.Code != http.StatusOK {
			b.Fatal(rec.Code)
		}
	}
}
