// Package wire declares the HTTP API of the server: the types of requests and responses, the paths,
// and the names of headers, query parameters and events. The server and its clients both use it, so that they
// cannot disagree.
package wire

// Version is the version of the API. It changes when an old client would
// misunderstand a new server.
const Version = 1

// Root is the prefix of every path of the API. Alias is another prefix for the
// same paths.
const (
	Root  = "/v1"
	Alias = "/api/v1"
)

// Headers of requests and responses.
const (
	HeaderAPI         = "Orange-Api"     // Version of the client, or of the server
	HeaderVersion     = "Orange-Version" // version of the server program
	HeaderToken       = "Orange-Token"   // identifies the attempt that sends the request
	HeaderFolder      = "Orange-Folder"  // folder of the caller, escaped as in a path; its project decides what an ambiguous name of a task means
	HeaderLastEventID = "Last-Event-ID"  // resumes a stream after this event

	// HeaderEnvironment holds an Environment as JSON: the variables of a person's terminal that agents may have. The
	// server keeps them in memory only, and takes none from an attempt.
	HeaderEnvironment = "Orange-Environment"

	// HeaderVia holds a signal.Via as JSON: on whose behalf the web page or MCP over HTTP
	// sends a request. The server trusts all of it if its own process sent it. Another
	// client may only say that it speaks MCP.
	HeaderVia = "Orange-Via"
)

// Parameters of queries.
const (
	ParamAfter   = "after"   // continue after this row, entry or position
	ParamAll     = "all"     // "1": include finished tasks; Recent: those that finished lately
	ParamAt      = "at"      // the state after this row of the journal
	ParamAttempt = "attempt" // number of an attempt
	ParamBy      = "by"      // how statistics are grouped
	ParamCode    = "code"    // from the notification, if an action is confirmed by a code
	ParamPath    = "path"    // of a folder or a file
	ParamProject = "project" // name of a project
	ParamRole    = "role"    // of an agent
	ParamSide    = "side"    // of a diff: "old", or the new one without it
	ParamSince   = "since"   // statistics from this time on
	ParamStatus  = "status"  // of a task
	ParamTask    = "task"    // id of a task
)

// Recent is a value of ParamAll: include tasks that finished in the last RecentDays days.
const (
	Recent     = "recent"
	RecentDays = 7
)

// SideOld is the value of ParamSide for the side before the changes.
const SideOld = "old"

// Content types besides application/json.
const (
	TypeJSONLines   = "application/jsonl"
	TypeEventStream = "text/event-stream"
)

// Names of the events of streams.
const (
	EventEntry  = "entry"  // of PathEvents; the data is a journal.Entry
	EventChange = "change" // of PathStateEvents; the data is an overview.Change
	EventScreen = "screen" // of PathTaskScreenEvents; the data is a Screen
)

// A Failure is the response to a request that failed.
type Failure struct {
	Error string `json:"error"` // one line
}
