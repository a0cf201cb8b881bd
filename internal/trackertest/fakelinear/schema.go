package fakelinear

import (
	_ "embed"
	"fmt"
	"os"

	"github.com/vektah/gqlparser/v2"
	"github.com/vektah/gqlparser/v2/ast"
)

//go:embed schema.graphql
var ownSchema string

// A Schema describes the valid requests. Every request is checked against it before it is
// executed.
type Schema struct{ *ast.Schema }

// OwnSchema returns the part of Linear's schema that the server implements.
func OwnSchema() (*Schema, error) { return loadSchema("schema.graphql", ownSchema) }

// ReadSchema reads the schema that Linear publishes, from a file.
func ReadSchema(file string) (*Schema, error) {
	text, err := os.ReadFile(file)
	if err != nil {
		return nil, fmt.Errorf("read the schema: %w", err)
	}
	return loadSchema(file, string(text))
}

func loadSchema(name, text string) (*Schema, error) {
	s, err := gqlparser.LoadSchema(&ast.Source{Name: name, Input: text})
	if err != nil {
		return nil, fmt.Errorf("read the schema %s: %w", name, err)
	}
	return &Schema{s}, nil
}
