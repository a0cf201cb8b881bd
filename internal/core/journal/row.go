package journal

import "encoding/json"

// A Row is an entry as it is stored: numbered across all tasks, and not decoded.
type Row struct {
	ID    int64           `json:"row"`
	Entry json.RawMessage `json:"entry"`
}
