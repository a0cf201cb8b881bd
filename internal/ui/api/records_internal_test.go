package api

import (
	"fmt"
	"testing"
)

// TestKeptRecordsAreTheStoredOnes asks a cache for more records than it keeps, twice, and for
// changed ones.
func TestKeptRecordsAreTheStoredOnes(t *testing.T) {
	var c recordCache
	for round := range 2 {
		for i := range 3 * recordsKept {
			summary := fmt.Sprintf("%d, version %d", i, (round*i)%2)
			got, err := c.decodeRecord(fmt.Appendf(nil, `{"id":"x","summary":%q}`, summary))
			if err != nil || got.Summary != summary {
				t.Fatalf("got %q, %v, want %q", got.Summary, err, summary)
			}
		}
	}
	if n := len(c.young) + len(c.old); n > 2*recordsKept {
		t.Errorf("%d records are kept, want at most %d", n, 2*recordsKept)
	}
	if _, err := c.decodeRecord([]byte("{")); err == nil {
		t.Error("a record that is no JSON was decoded")
	}
	fold := []byte(`{"id":"x","summary":"the same"}`)
	first, _ := c.decodeRecord(fold)
	if again, _ := c.decodeRecord(fold); again != first {
		t.Error("a kept record was decoded again")
	}
}
