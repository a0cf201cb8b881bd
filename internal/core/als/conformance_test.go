package als_test

import (
	"encoding/json"
	"errors"
	"io/fs"
	"os"
	"testing"

	"github.com/google/go-cmp/cmp"

	"orange/internal/core/als"
)

const conformanceFile = "../../../../shared/conformance/joan.json"

func TestConformance(t *testing.T) {
	raw, err := os.ReadFile(conformanceFile)
	if errors.Is(err, fs.ErrNotExist) {
		t.Skip("the shared conformance file is not here")
	}
	if err != nil {
		t.Fatal(err)
	}
	var rows []struct {
		Suite, Name     string
		Input, Expected json.RawMessage
	}
	if err := json.Unmarshal(raw, &rows); err != nil {
		t.Fatal(err)
	}
	ran := 0
	for _, row := range rows {
		if row.Suite != "als_parse" {
			continue
		}
		ran++
		t.Run(row.Name, func(t *testing.T) {
			var input string
			var want, got map[string]any
			unmarshal(t, row.Input, &input)
			unmarshal(t, row.Expected, &want)
			c, err := als.Parse(input)
			if err != nil {
				t.Fatal(err)
			}
			text, err := json.Marshal(c)
			if err != nil {
				t.Fatal(err)
			}
			unmarshal(t, text, &got)
			for key, value := range want {
				if diff := cmp.Diff(value, got[key]); diff != "" {
					t.Errorf("%s: -want +got\n%s", key, diff)
				}
			}
			if c.String() != input {
				t.Errorf("it is written as\n%s", c)
			}
		})
	}
	if ran == 0 {
		t.Error("no case ran")
	}
}

func unmarshal(t *testing.T, text []byte, into any) {
	t.Helper()
	if err := json.Unmarshal(text, into); err != nil {
		t.Fatal(err)
	}
}
