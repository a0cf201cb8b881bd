package wire

import "orange/internal/doctor"

// A Hello identifies a server.
type Hello struct {
	API     int    `json:"api"`
	Home    string `json:"home"`
	PID     int    `json:"pid"`
	Version string `json:"version"`
}

// PauseState says whether all tasks are paused.
type PauseState struct {
	Paused bool `json:"paused"`
}

// A HealthReport is the result of the server's checks of itself.
type HealthReport struct {
	Checks []doctor.Result `json:"checks"`
}

// An ImportRequest names a folder that the server can read.
type ImportRequest struct {
	Path string `json:"path"`
}

// Imported says what an import added.
type Imported struct {
	Tasks    int      `json:"tasks"`
	Projects int      `json:"projects"`
	Skipped  []string `json:"skipped"`
}

// A PageAddress is where the web page is.
type PageAddress struct {
	URL   string `json:"url"`   // does not sign in
	Login string `json:"login"` // signs in once, within a minute
}

// A PageToken is the token of the web page, for programs.
type PageToken struct {
	URL   string `json:"url"`
	Token string `json:"token"` // never expires: do not put it on command lines
}

// Stopped confirms that the server stops.
type Stopped struct {
	Stopped bool `json:"stopped"`
}
