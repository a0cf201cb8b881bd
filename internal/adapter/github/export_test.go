package github

import "time"

// Hasten removes the pauses between checks.
func Hasten(f *Forge) {
	for i := range f.pauses {
		f.pauses[i] = time.Microsecond
	}
}
