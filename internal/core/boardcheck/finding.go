package boardcheck

// A Finding is an anomaly of one card of a board, and what was done about it.
type Finding struct {
	Card  string `json:"card"` // its ref
	Title string `json:"title"`
	Anomaly
	Fixed   bool   `json:"fixed,omitempty"`
	Problem string `json:"problem,omitempty"` // why it could not be fixed
}
