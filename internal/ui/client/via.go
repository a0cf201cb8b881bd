package client

import (
	"context"
	"encoding/json"

	"orange/internal/core/signal"
)

type viaKey struct{}

// WithVia returns a context whose requests name their origin.
func WithVia(ctx context.Context, v signal.Via) context.Context {
	text, err := json.Marshal(v.SanitizedCopy())
	if err != nil { // impossible: it has only texts and a number
		return ctx
	}
	return context.WithValue(ctx, viaKey{}, string(text))
}

// ViaHeader returns the value of HeaderVia for requests of ctx, or "".
func ViaHeader(ctx context.Context) string {
	text, _ := ctx.Value(viaKey{}).(string)
	return text
}
