package signal

import "fmt"

// FromExitCode returns the report of a process that ended. It is evidence, never the verdict.
func FromExitCode(code int) Report {
	return Report{Protocol: ProcessExit, Outcome: Unknown, Source: FromExit, Detail: fmt.Sprintf("exit code %d", code)}
}
