package tracker

import (
	"crypto/hmac"
	"crypto/sha256"
	"encoding/hex"
)

// SignatureForm reports whether a text has the form of a signature: 64 hexadecimal digits. Other texts are rejected
// before the secret is read.
func SignatureForm(signature string) bool {
	if len(signature) != 2*sha256.Size {
		return false
	}
	_, err := hex.DecodeString(signature)
	return err == nil
}

// SignedBy reports whether signature is the HMAC-SHA256 of body under secret, in hexadecimal digits of either case and
// without any prefix. It takes the same time for every signature of the right form. With an empty secret it returns
// false, so that a webhook without a secret accepts nothing.
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
