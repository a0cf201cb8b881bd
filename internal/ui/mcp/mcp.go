// Package mcp offers Orange to agents and their people as tools of the Model Context
// Protocol. It is a client like every other: who may do what, the server says.
package mcp
