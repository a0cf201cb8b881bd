//go:build !linux

package taskdir

import "os"

// exchangeFiles moves temp to path and returns the new name of the file that was at path.
func exchangeFiles(temp, path string) (old string, err error) { return exchangeByLink(temp, path) }

// beingWritten always returns false: this system cannot tell whether a program has the file
// open for writing.
func beingWritten(*os.File) bool { return false }
