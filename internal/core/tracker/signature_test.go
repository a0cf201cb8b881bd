package tracker_test

import (
	"strings"
	"testing"

	"orange/internal/core/tracker"
)

func TestSignedBy(t *testing.T) {
	// The example GitHub documents for its webhooks.
	const secret, body = "It's a Secret to Everybody", "Hello, World!"
	const right = "757107ea0eb2509fc211221cce984b8a37570b6d7586c22c46f4379c8b043e17"
	tests := map[string]struct {
		secret, body, signature string
		want                    bool
	}{
		"right":                {secret, body, right, true},
		"upper case":           {secret, body, strings.ToUpper(right), true},
		"letters of all kinds": {"pepper", `{"text":"naïve Größe – 🍊"}`, "58007f6340f77fb3c1a1fd2028401a1fbc8e8899a463d1a47f453f52324e25cc", true},
		"nothing, signed":      {"pepper", "", "83be6d3a18e430703da8ce9e3f44ed8b20f835c7535e1343b191332cbaef9192", true},
		"nothing, not signed":  {"pepper", "", "unsigned", false},
		"another body":         {secret, body + " ", right, false},
		"another secret":       {"x", body, right, false},
		"no secret":            {"", body, right, false},
		"no secret, its own":   {"", "", "b613679a0814d9ec772f95d778c35fc5ff1697c493715653c6c712144292c5ad", false},
		"no signature":         {secret, body, "", false},
		"too short":            {secret, body, right[:62], false},
		"odd length":           {secret, body, right[:63], false},
		"too long":             {secret, body, right + "00", false},
		"no digits":            {secret, body, strings.Repeat("zz", 32), false},
		"a prefix":             {secret, body, "sha256=" + right, false},
		"a space":              {secret, body, right + " ", false},
	}
	for name, tt := range tests {
		t.Run(name, func(t *testing.T) {
			if form := tracker.SignatureForm(tt.signature); tt.want && !form || form && strings.Trim(tt.signature, "0123456789abcdefABCDEF") != "" {
				t.Errorf("SignatureForm = %v", form)
			}
			if got := tracker.SignedBy(tt.secret, []byte(tt.body), tt.signature); got != tt.want {
				t.Errorf("SignedBy = %v, want %v", got, tt.want)
			}
		})
	}
}
