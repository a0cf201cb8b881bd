package server

import (
	"slices"
	"strings"
	"sync"
	"time"

	"orange/internal/config"
	"orange/internal/wire"
)

// environment is the environment of the server, with what people's clients have sent since it started. It is in memory
// only.
type environment struct {
	mu      sync.Mutex
	since   time.Time         // when the client began whose values count
	renewed map[string]string // by name
}

// keep takes the variables that agents may have from a client, unless a client that began later has sent its own. A
// variable that the client does not have keeps its value.
func (e *environment) keep(from wire.Environment, more []string) {
	e.mu.Lock()
	defer e.mu.Unlock()
	if from.Since.Before(e.since) {
		return
	}
	e.since = from.Since
	if e.renewed == nil {
		e.renewed = map[string]string{}
	}
	for _, kv := range config.RenewedEnv(from.Variables, more...) {
		name, value, _ := strings.Cut(kv, "=")
		if name != "" && !strings.ContainsRune(kv, 0) {
			e.renewed[name] = value
		}
	}
}

// variables returns the environment: that of this process, with what was kept in place of older values.
func (e *environment) variables() []string {
	e.mu.Lock()
	defer e.mu.Unlock()
	out := slices.DeleteFunc(config.Environ(), func(kv string) bool {
		name, _, _ := strings.Cut(kv, "=")
		_, newer := e.renewed[name]
		return newer
	})
	for name, value := range e.renewed {
		out = append(out, name+"="+value)
	}
	return out
}
