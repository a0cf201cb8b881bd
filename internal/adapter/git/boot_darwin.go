package git

import "golang.org/x/sys/unix"

// bootID returns an id that differs after every start of the machine, or "" if it is unknown.
func bootID() string {
	id, err := unix.Sysctl("kern.bootsessionuuid")
	if err != nil {
		return ""
	}
	return id
}
