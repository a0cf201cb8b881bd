package tracker

import (
	"crypto/hmac"
	"crypto/sha256"
	"encoding/hex"
)

// SignedBy reports whether signature is the HMAC-SHA256 of body under secret, in
// hexadecimal digits of either case and without any prefix. It takes the same time for
// every signature of the right form. Without a secret nothing is signed, so that one
// nobody set up lets nothing in.
func SignedBy(secret string, body []byte, signature string) bool {
	if secret == "" || signature == "" {
		return false
	}
	given, err := hex.DecodeString(signature)
	if err != nil {
		return false
	}
	mac := hmac.New(sha256.New, []byte(secret))
	mac.Write(body)
	return hmac.Equal(given, mac.Sum(nil))
}
