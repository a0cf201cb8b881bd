package api

import (
	"cmp"
	"context"
	"net/http"
	"time"

	"orange/internal/core/stats"
	"orange/internal/core/task"
	"orange/internal/wire"
)

// Statistics sums up what became of tasks.
type Statistics interface {
	Report(ctx context.Context, q wire.StatsQuery) (wire.Stats, error)
}

func (s *Server) readStats(r *http.Request) (wire.Stats, error) {
	q := r.URL.Query()
	want := wire.StatsQuery{By: stats.By(cmp.Or(q.Get(wire.ParamBy), string(stats.ByHarness))), Project: q.Get(wire.ParamProject)}
	if !want.By.Valid() {
		return wire.Stats{}, task.Mistakef("by=%q is not known: use %s", want.By, stats.GroupingNames())
	}
	if text := q.Get(wire.ParamSince); text != "" {
		at, err := time.Parse(time.RFC3339, text)
		if err != nil {
			return wire.Stats{}, task.Mistakef("since=%q is not a time: give one such as 2026-11-17T12:00:00Z", text)
		}
		want.Since = at
	}
	return s.Statistics.Report(r.Context(), want)
}
