package client

import (
	"encoding/json"
	"errors"

	"orange/internal/core/engine"
	"orange/internal/wire"
)

// NeedsCode reports whether a request was refused because it needs the code from a notification.
func NeedsCode(err error) bool {
	var no *Error
	if !errors.As(err, &no) {
		return false
	}
	var said wire.Answer
	if json.Unmarshal(no.Body, &said) != nil {
		return false
	}
	for _, r := range said.Decision.Reasons {
		if r.Rule == engine.RuleConfirm {
			return true
		}
	}
	return false
}
