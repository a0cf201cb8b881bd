package cli_test

import (
	"encoding/json"
	"errors"
	"strings"
	"testing"

	"orange/internal/ui/cli"
)

func TestSchemasArePrintedWithoutAServer(t *testing.T) {
	for _, name := range []string{"workflow", "worker-result", "handoff", "openapi"} {
		t.Run(name, func(t *testing.T) {
			w := newEnv(t)
			w.server.Close()
			w.OpenAPI = func() (any, error) { return map[string]string{"openapi": "3.1.0"}, nil }
			if code := cli.Run(t.Context(), w.Deps, []string{"schema", name}); code != 0 || !json.Valid(w.out.Bytes()) {
				t.Errorf("%d %s %s", code, w.out.String(), w.err.String())
			}
		})
	}
	w := newEnv(t)
	w.OpenAPI = func() (any, error) { return nil, errors.New("describe it: no") }
	if code := cli.Run(t.Context(), w.Deps, []string{"schema", "openapi"}); code == 0 || !strings.Contains(w.err.String(), "print the schema: describe it: no") {
		t.Errorf("%d %s", code, w.err.String())
	}
}
