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

// crowd fills a world with a thousand tasks.
func crowd(w *world) {
	for i := range 1000 {
		w.add(overview.Row{ID: task.ID(fmt.Sprintf("A%020d", i)), Project: "shop", Branch: fmt.Sprintf("task-%d", i), Summary: "Make the search of the shop faster when there are many results",
			Status: []string{"pending", "working", "reviewing"}[i%3], Work: &overview.Work{Commits: 2, Added: 10, Deleted: 3}})
	}
}

func BenchmarkBoardOfAThousand(b *testing.B) {
	w := &world{more: make(chan struct{})}
	w.begin(b)
	crowd(w)
	h := &env{world: w, addr: "127.0.0.1:1"}
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
