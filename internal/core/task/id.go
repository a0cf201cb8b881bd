package task

import (
	"crypto/sha256"
	"encoding/binary"
	"strconv"
)

const (
	idLength   = 21
	idAlphabet = "0123456789ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz"
)

// NewID derives an id from entropy; the caller supplies at least 16 random bytes. An id never contains a dash, so that
// it can always be a command-line argument.
func NewID(entropy []byte) ID {
	out := make([]byte, 0, idLength)
	for block := uint32(0); len(out) < idLength; block++ {
		sum := sha256.Sum256(binary.BigEndian.AppendUint32(append([]byte(nil), entropy...), block))
		for _, b := range sum {
			if int(b) < 4*len(idAlphabet) && len(out) < idLength { // avoids a bias towards early letters
				out = append(out, idAlphabet[int(b)%len(idAlphabet)])
			}
		}
	}
	return ID(out)
}

// IsValid reports whether id has the form of a task id.
func (id ID) IsValid() bool { return len(id) == idLength && isAlphanumeric(string(id)) }

// ValidPrefix reports whether s could be the beginning of a task id.
func ValidPrefix(s string) bool {
	return len(s) > 0 && len(s) <= idLength && isAlphanumeric(s)
}

func isAlphanumeric(s string) bool {
	for _, c := range []byte(s) {
		if (c < '0' || c > '9') && (c < 'A' || c > 'Z') && (c < 'a' || c > 'z') {
			return false
		}
	}
	return true
}

// EffectID returns the id of the index-th effect of entry seq of a task.
func EffectID(id ID, seq, index int) string {
	return string(id) + "/" + strconv.Itoa(seq) + "/" + strconv.Itoa(index)
}
