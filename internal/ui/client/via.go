package client

import (
	"context"
	"encoding/json"

	"orange/internal/core/signal"
)

type viaKey struct{}

// WithVia returns a context whose requests say where they come from.
func WithVia(ctx context.Context, v signal.Via) context.Context {
	text, err := json.Marshal(v.SanitizedCopy())
	if err != nil { // it has texts and a number only
		return ctx
	}
	return context.WithValue(ctx, viaKey{}, string(text))
}

// ViaHeader is the value of HeaderVia for requests of ctx, "" if there is none.
func ViaHeader(ctx context.Context) string {
	text, _ := ctx.Value(viaKey{}).(string)
	return text
}
