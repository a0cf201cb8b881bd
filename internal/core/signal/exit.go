package signal

import "fmt"

// FromExitCode returns what the end of a process says about its work. It is evidence, never the
// verdict.
func FromExitCode(code int) Report {
	return Report{Protocol: ProcessExit, Outcome: Unknown, Source: FromExit, Detail: fmt.Sprintf("exit code %d", code)}
}
