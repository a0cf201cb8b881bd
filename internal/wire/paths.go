package wire

import (
	"net/url"
	"strings"
)

// Paths below Root, as patterns of http.ServeMux.
const (
	PathTasks            = "/tasks"
	PathTask             = "/tasks/{id}"
	PathTaskHistory      = "/tasks/{id}/history"
	PathTaskJournal      = "/tasks/{id}/journal"
	PathTaskChain        = "/tasks/{id}/chain"
	PathTaskExplain      = "/tasks/{id}/explain"
	PathTaskSignals      = "/tasks/{id}/signals"
	PathTaskFork         = "/tasks/{id}/fork"
	PathTaskDiff         = "/tasks/{id}/diff"
	PathTaskFile         = "/tasks/{id}/file"
	PathTaskAttempts     = "/tasks/{id}/attempts"
	PathTaskLog          = "/tasks/{id}/log"
	PathTaskOutput       = "/tasks/{id}/output"
	PathTaskAttach       = "/tasks/{id}/attach"
	PathTaskScreen       = "/tasks/{id}/screen"
	PathTaskScreenEvents = "/tasks/{id}/screen/events"
	PathTaskType         = "/tasks/{id}/type"
	PathTaskKeys         = "/tasks/{id}/keys"
	PathInbox            = "/inbox"
	PathHooks            = "/hooks"

	PathState        = "/state"
	PathStateSummary = "/state/summary"
	PathStateMoves   = "/state/moves"
	PathStateTasks   = "/state/tasks"
	PathStateEvents  = "/state/events"
	PathEvents       = "/events"
	PathStats        = "/stats"

	PathWorkflows = "/workflows"
	PathWorkflow  = "/workflows/{hash}"

	PathProjects = "/projects"
	PathProject  = "/projects/{name}"
	PathWhere    = "/where"

	PathBoards      = "/boards/" // prefix of the paths of boards
	PathBoard       = PathBoards + "{project}"
	PathCards       = PathBoards + "{project}/cards"
	PathCard        = PathBoards + "{project}/cards/{number}"
	PathCardHistory = PathBoards + "{project}/cards/{number}/history"

	PathTrackers        = "/trackers"
	PathTracker         = "/trackers/{name}"
	PathTrackerIssues   = "/trackers/{name}/issues"
	PathTrackerSync     = "/trackers/{name}/sync"
	PathTrackerTest     = "/trackers/{name}/test"
	PathTrackerDispatch = "/trackers/{name}/dispatch"
	PathForgesSync      = "/forges/sync"
	PathDoctorBoard     = "/doctor/board"

	PathWorkspaces     = "/workspaces"
	PathWorkspacesInit = "/workspaces/init"
	PathWorkspacesGC   = "/workspaces/gc"
	PathSalvages       = "/salvages"

	PathHello    = "/hello"
	PathOpenAPI  = "/openapi.json"
	PathPause    = "/pause"
	PathResume   = "/resume"
	PathDoctor   = "/doctor"
	PathRepair   = "/repair"
	PathExport   = "/export"
	PathImport   = "/import"
	PathWeb      = "/web"
	PathWebToken = "/web/token"
	PathStop     = "/stop"
)

// FillPath returns a path with its placeholders replaced, in order, by the
// escaped values.
func FillPath(pattern string, values ...string) string {
	var out strings.Builder
	for _, v := range values {
		before, rest, _ := strings.Cut(pattern, "{")
		_, pattern, _ = strings.Cut(rest, "}")
		out.WriteString(before + url.PathEscape(v))
	}
	return out.String() + pattern
}
