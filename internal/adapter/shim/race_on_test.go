//go:build race

package shim_test

// raceDetector says that processes take a multiple of their usual memory.
const raceDetector = true
