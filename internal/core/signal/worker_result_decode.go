package signal

import (
	"errors"
	"fmt"

	"orange/internal/core/handoff"
)

// decodeStrict decodes one JSON value and keeps numbers as they are written. A duplicate key is
// an error.
func decodeStrict(text []byte) (any, error) {
	value, err := handoff.DecodeStrict(text, maxResultDepth)
	var twice *handoff.TwiceError
	if errors.As(err, &twice) {
		return nil, fmt.Errorf("the key %s is there twice", quoteOddWord(twice.Key))
	}
	return value, err
}

// withoutNulls removes the keys whose value is null, which means the same as no key.
func withoutNulls(value any) any {
	switch v := value.(type) {
	case map[string]any:
		for key, x := range v {
			if x == nil {
				delete(v, key)
				continue
			}
			v[key] = withoutNulls(x)
		}
	case []any:
		for i := range v {
			v[i] = withoutNulls(v[i])
		}
	}
	return value
}
