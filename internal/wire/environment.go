package wire

import "time"

// An Environment is the part of a client's environment that agents may have. It may hold secrets.
type Environment struct {
	Since     time.Time `json:"since"`     // when the client began; of two clients the later one counts
	Variables []string  `json:"variables"` // NAME=VALUE
}
