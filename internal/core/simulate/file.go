package simulate

import (
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"maps"
	"slices"
	"strings"

	"orange/internal/core/workflow"
)

// profileFile is a profile file. What it does not mention stays unchanged.
type profileFile struct {
	Roles   map[string]json.RawMessage `json:"roles"` // for every state of the role
	States  map[string]json.RawMessage `json:"states"`
	Human   json.RawMessage            `json:"human"`
	Effects json.RawMessage            `json:"effects"`
	Checks  json.RawMessage            `json:"checks"`
}

// WithFile returns the profile changed by a profile file (JSON): first by its roles, then by
// its states. The errors are one line.
func (p Profile) WithFile(def *workflow.Definition, text []byte) (Profile, error) {
	def = def.ForTask(nil)
	var f profileFile
	if err := decodeStrict(text, &f); err != nil {
		return Profile{}, err
	}
	out := p.clone()
	for _, role := range slices.Sorted(maps.Keys(f.Roles)) {
		if _, ok := def.RoleNamed(role); !ok {
			return Profile{}, fmt.Errorf("role %q is not declared: workflow %s has %s", role, def.Name, roleList(def))
		}
		for _, state := range statesOfRole(def, role, out) {
			if err := out.overlayState(state, f.Roles[role]); err != nil {
				return Profile{}, fmt.Errorf("role %s: %w", role, err)
			}
		}
	}
	for _, state := range slices.Sorted(maps.Keys(f.States)) {
		if _, ok := out.States[state]; !ok {
			return Profile{}, fmt.Errorf("state %q has no agent: use %s", state, strings.Join(slices.Sorted(maps.Keys(out.States)), ", "))
		}
		if err := out.overlayState(state, f.States[state]); err != nil {
			return Profile{}, fmt.Errorf("state %s: %w", state, err)
		}
	}
	if err := decodeNamed(f.Human, "human", &out.Human); err != nil {
		return Profile{}, err
	}
	if err := decodeNamed(f.Effects, "effects", &out.Effects); err != nil {
		return Profile{}, err
	}
	if len(f.Checks) > 0 {
		checks := DefaultChecks()
		if out.Checks != nil {
			checks = *out.Checks
		}
		if err := decodeNamed(f.Checks, "checks", &checks); err != nil {
			return Profile{}, err
		}
		out.Checks = &checks
	}
	return out, out.checkAgainst(def)
}

// overlayState applies changes to the habits of one state.
func (p *Profile) overlayState(state string, raw json.RawMessage) error {
	h := p.States[state]
	if err := decodeStrict(raw, &h); err != nil {
		return err
	}
	p.States[state] = h
	return nil
}

// statesOfRole returns the states of a role, in file order.
func statesOfRole(def *workflow.Definition, role string, p Profile) []string {
	var out []string
	for i := range def.States {
		if _, ok := p.States[def.States[i].Name]; ok && def.States[i].Role == role {
			out = append(out, def.States[i].Name)
		}
	}
	return out
}

func decodeNamed(raw json.RawMessage, what string, into any) error {
	if len(raw) == 0 {
		return nil
	}
	if err := decodeStrict(raw, into); err != nil {
		return fmt.Errorf("%s: %w", what, err)
	}
	return nil
}

// decodeStrict decodes one JSON value and rejects unknown keys.
func decodeStrict(text []byte, into any) error {
	dec := json.NewDecoder(bytes.NewReader(text))
	dec.DisallowUnknownFields()
	err := dec.Decode(into)
	var bad *json.UnmarshalTypeError
	switch {
	case errors.As(err, &bad):
		return fmt.Errorf("%s: expected %s, found %s: fix it", orElse(bad.Field, "the value"), describeKind(bad), bad.Value)
	case err != nil:
		return fmt.Errorf("%s: fix the JSON", strings.TrimPrefix(err.Error(), "json: "))
	}
	if _, err := dec.Token(); err != io.EOF {
		return errors.New("there is more than one value: keep one object")
	}
	return nil
}

func describeKind(e *json.UnmarshalTypeError) string {
	switch e.Type.Kind().String() {
	case "float64":
		return "a number"
	case "int64", "string":
		return "text"
	}
	return "an object"
}

func orElse(s, otherwise string) string {
	if s == "" {
		return otherwise
	}
	return s
}

func roleList(def *workflow.Definition) string {
	if len(def.Roles) == 0 {
		return "none"
	}
	names := make([]string, len(def.Roles))
	for i := range def.Roles {
		names[i] = def.Roles[i].Name
	}
	return strings.Join(names, ", ")
}
