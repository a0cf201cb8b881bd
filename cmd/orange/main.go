// Command orange runs coding agents through a workflow that is a file.
package main

import "os"

func main() {
	os.Exit(run(os.Args[1:]))
}
