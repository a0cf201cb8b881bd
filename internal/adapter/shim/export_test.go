package shim

import "time"

// AttendBriefly returns Main with less patience for its orders.
func AttendBriefly(dir string, within time.Duration) int {
	return runShim(Folder(dir), DataFolder{}, within)
}
