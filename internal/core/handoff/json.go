package handoff

import (
	"encoding/json"
	"errors"
	"fmt"
)

// FromJSON reads a handoff from JSON. Keys that are not known are left out, and null
// means that nothing is given. It does not check the bounds.
func FromJSON(data []byte) (Handoff, error) {
	var h *Handoff
	err := json.Unmarshal(data, &h)
	var wrong *json.UnmarshalTypeError
	switch {
	case errors.As(err, &wrong) && wrong.Field != "":
		return Handoff{}, fmt.Errorf("%s: a JSON %s does not fit", wrong.Field, wrong.Value)
	case errors.As(err, &wrong):
		return Handoff{}, fmt.Errorf("a handoff is an object: a JSON %s does not fit", wrong.Value)
	case err != nil:
		return Handoff{}, fmt.Errorf("this is not JSON: %w", err)
	case h == nil:
		return Handoff{}, errors.New("a handoff is an object: null does not fit")
	}
	return *h, nil
}
