package fakejoan

import (
	_ "embed" // tools.json
	"encoding/json"
	"fmt"
	"regexp"

	"github.com/google/jsonschema-go/jsonschema"
)

// A tool is offered with a schema, and checks its arguments.
type tool struct {
	Name        string             `json:"name"`
	Description string             `json:"description"`
	InputSchema *jsonschema.Schema `json:"inputSchema"`
	resolved    *jsonschema.Resolved
}

// toolsJSON describes the tools of Joan that a mapping uses, with the arguments that it gives.
//
//go:embed tools.json
var toolsJSON []byte

// offeredTools returns the tools of the fake.
func offeredTools() ([]*tool, error) {
	var out []*tool
	if err := json.Unmarshal(toolsJSON, &out); err != nil {
		return nil, fmt.Errorf("read tools.json: %w", err)
	}
	for _, t := range out {
		r, err := t.InputSchema.Resolve(nil)
		if err != nil {
			return nil, fmt.Errorf("schema of %s: %w", t.Name, err)
		}
		t.resolved = r
	}
	return out, nil
}

var uuid = regexp.MustCompile(`^[0-9a-f]{8}(-[0-9a-f]{4}){3}-[0-9a-f]{12}$`)

// checkArguments returns an error if a call's arguments are not valid.
func (t *tool) checkArguments(a args) error {
	if err := t.resolved.Validate(map[string]any(a)); err != nil {
		return err
	}
	for name, s := range t.InputSchema.Properties {
		if v, ok := a[name].(string); ok && s.Format == "uuid" && !uuid.MatchString(v) {
			return fmt.Errorf("%s is no UUID: %.60q", name, v)
		}
	}
	return nil
}
