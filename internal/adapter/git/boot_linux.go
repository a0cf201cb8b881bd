package git

import (
	"os"
	"strings"
)

// bootID returns an id that differs after every start of the machine, or "" if it is unknown.
func bootID() string {
	text, err := os.ReadFile("/proc/sys/kernel/random/boot_id")
	if err != nil {
		return ""
	}
	return strings.TrimSpace(string(text))
}
