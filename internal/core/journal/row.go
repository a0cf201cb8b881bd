package journal

import (
	"encoding/json"
	"fmt"
	"time"
)

// A Row is an entry as it is stored: numbered across all tasks, and not decoded.
type Row struct {
	ID      int64           `json:"row"`
	Entry   json.RawMessage `json:"entry"`
	Link    string          `json:"link,omitempty"`    // in hexadecimal; only where a whole journal is read
	Segment string          `json:"segment,omitempty"` // likewise
}

// Stored returns the row as its link covers it.
func (r *Row) Stored() (Stored, error) {
	var e struct {
		Task string    `json:"task"`
		Seq  int       `json:"seq"`
		At   time.Time `json:"at"`
	}
	if err := json.Unmarshal(r.Entry, &e); err != nil {
		return Stored{}, fmt.Errorf("row %d does not parse: %w", r.ID, err)
	}
	return Stored{Row: r.ID, Task: e.Task, Seq: e.Seq, At: StoredTime(e.At), Entry: r.Entry, Segment: r.Segment}, nil
}

// StoredTime formats the time of an entry as stores write it.
func StoredTime(at time.Time) string { return at.UTC().Format(time.RFC3339Nano) }
