package main

import "context"

// announce tells people what waits for them until ctx ends. The function it returns
// waits for that.
func (s *server) announce(ctx context.Context) (ended func()) { return func() {} }
