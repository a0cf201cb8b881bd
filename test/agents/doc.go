// Package agents holds tests of the whole product with the real agent CLIs against a scripted model. They need the build
// tag agents: see make test-agents.
package agents
