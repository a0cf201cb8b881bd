package api

import (
	"fmt"
	"reflect"
	"slices"

	"orange/internal/core/journal"
	"orange/internal/view/overview"
	"orange/internal/wire"
)

// allRoutes lists every route. The server and its description are built from this list only.
func allRoutes() []route {
	return slices.Concat(
		assignGroup("tasks", taskRoutes()), assignGroup("attempts", attemptRoutes()), assignGroup("state", stateRoutes()), assignGroup("workflows", workflowRoutes()),
		assignGroup("projects", projectRoutes()), assignGroup("boards", boardRoutes()), assignGroup("trackers", trackerRoutes()),
		assignGroup("workspaces", workspaceRoutes()), assignGroup("server", serverRoutes()))
}

func assignGroup(name string, list []route) []route {
	for i := range list {
		list[i].group = name
	}
	return list
}

// Parameters that several routes have.
func ofProject() param { return param{name: "project", about: "only of this project"} }
func onlyTask() param  { return param{name: "task", about: "only of the task with this whole id"} }
func ofRole() param {
	return param{name: "role", about: "the agent of this role; the one at work without it"}
}
func ofAttempt() param {
	return param{name: "attempt", about: "number of the attempt; the newest without it", kind: "integer"}
}
func newestOf() param { return param{name: "role", about: "the newest attempt of this role"} }
func withAll() param {
	return param{name: "all", about: "1: those that are over, too"}
}
func withRecent() param {
	return param{name: "all", about: fmt.Sprintf("1: those that are over, too; %s: those that were over in the last %d days", wire.Recent, wire.RecentDays)}
}
func afterSeq() param {
	return param{name: "after", about: "only what came after this seq", kind: "integer"}
}
func afterRow() param {
	return param{name: "after", about: "row of the journal after which to begin; Last-Event-ID counts more", kind: "integer"}
}

func taskRoutes() []route {
	return []route{
		{method: "GET", path: wire.PathTasks, who: everyone, summary: "The records of tasks that are not over, in the order of creation",
			query: []param{ofProject(), {name: "status", about: "only in this status, over or not"}, withAll()}, work: handleRaw[wire.TaskList]((*Server).listTasks)},
		{method: "POST", path: wire.PathTasks, who: everyone, summary: "Create a task", must: []string{"project", "summary"}, work: handleBody((*Server).createTask)},
		{method: "GET", path: wire.PathTask, who: everyone, summary: "A task with the text of its TASK.md", work: handleQuery((*Server).showTask)},
		{method: "GET", path: wire.PathTaskHistory, who: everyone, summary: "What happened to a task, as in history.jsonl",
			query: []param{afterSeq()}, work: handleQuery((*Server).readHistory)},
		{method: "GET", path: wire.PathTaskJournal, who: everyone, summary: "What was decided about a task",
			query: []param{afterSeq()}, work: handleQuery((*Server).readJournal)},
		{method: "GET", path: wire.PathTaskChain, who: everyone, summary: "Whether the journal is what was written, up to the last row of a task", work: handleQuery((*Server).checkChain)},
		{method: "GET", path: wire.PathTaskExplain, who: everyone, summary: "Why a task is where it is, and what would move it", work: handleQuery((*Server).explainTask)},
		{method: "POST", path: wire.PathTaskSignals, who: everyone, summary: "Say that something happened to a task, or ask for something; the engine decides",
			must: []string{"kind"}, work: handleBody((*Server).submitSignal)},
		{method: "POST", path: wire.PathTaskFork, who: everyone, summary: "Create a task that begins where this one stood", must: []string{"seq"}, work: handleBody((*Server).forkTask)},
		{method: "GET", path: wire.PathTaskDiff, who: ownTask, summary: "What a task's branch changes", work: handleQuery((*Server).readDiff)},
		{method: "GET", path: wire.PathTaskFile, who: ownTask, summary: "A file of a task's branch, before or after its changes",
			query: []param{{name: wire.ParamPath, about: "of the file, in the repository"}, {name: wire.ParamSide, about: "old: as it was where the branch left the default branch"}}, work: handleQuery((*Server).readFile)},
		{method: "GET", path: wire.PathInbox, who: everyone, summary: "What waits for a person", query: []param{ofProject()}, work: handleQuery((*Server).listInbox)},
	}
}

func attemptRoutes() []route {
	return []route{
		{method: "GET", path: wire.PathTaskAttempts, who: family, needs: agents, summary: "The runs of a task's roles, alive and over", work: handleQuery((*Server).listAttempts)},
		{method: "GET", path: wire.PathTaskLog, who: family, needs: agents, summary: "What happened in an attempt: the conversation its agent keeps, else the end of what it printed",
			query: []param{ofAttempt(), newestOf(), {name: "after", about: "only what was said behind this point, as an answer named it"}}, work: handleQuery((*Server).attemptLog)},
		{method: "GET", path: wire.PathTaskOutput, who: family, needs: agents, summary: "What an attempt said last",
			query: []param{ofAttempt(), newestOf()}, work: handleQuery((*Server).lastMessage)},
		{method: "GET", path: wire.PathTaskAttach, who: family, needs: agents, summary: "The command that shows an agent's terminal on this machine",
			query: []param{ofRole()}, work: handleQuery((*Server).attachCommand)},
		{method: "GET", path: wire.PathTaskScreen, who: ownTask, needs: screens, summary: "What an agent's terminal shows, or the end of what it wrote",
			query: []param{ofRole()}, work: handleQuery((*Server).readScreen)},
		{method: "GET", path: wire.PathTaskScreenEvents, who: ownTask, needs: screens, summary: "What an agent's terminal shows, now and whenever it changes",
			query: []param{ofRole()}, work: handleStream[wire.Screen](wire.EventScreen, (*Server).screenEvents)},
		{method: "POST", path: wire.PathTaskType, who: people, needs: screens, summary: "Type a line into an agent's terminal", must: []string{"text"}, work: handleBody((*Server).typeIn)},
		{method: "POST", path: wire.PathTaskKeys, who: people, needs: screens, summary: "Press a key in an agent's terminal, if it still shows what the person saw", must: []string{"key", "seen"}, work: handleBody((*Server).pressKey)},
		{method: "POST", path: wire.PathHooks, who: everyone, needs: agents, summary: "An agent's harness reports an event; only an attempt may",
			must: []string{"harness", "event"}, work: handleBody((*Server).handleHook)},
	}
}

func stateRoutes() []route {
	return []route{
		{method: "GET", path: wire.PathState, who: everyone, summary: "Everything at a glance, now or as it was after a row of the journal",
			query: []param{ofProject(), onlyTask(), withRecent(), {name: "at", about: "as it was after this row of the journal", kind: "integer"}},
			work:  handleRaw[overview.State]((*Server).serveState)},
		{method: "GET", path: wire.PathStateSummary, who: everyone, summary: "What a status line shows: how many agents work and what waits",
			query: []param{ofProject(), {name: "task", about: "and how the task with this whole id is"}}, work: handleQuery((*Server).readStatusLine)},
		{method: "GET", path: wire.PathStateMoves, who: everyone, summary: "Moments at which tasks changed their state, at most 60, spread over the whole journal", work: handleQuery((*Server).listMoves)},
		{method: "GET", path: wire.PathStateTasks, who: everyone, summary: "The tasks as a table shows them, in order of creation",
			query: []param{ofProject(), withAll(), {name: "status", about: "only tasks in this state"}}, work: handleQuery((*Server).listTaskLines)},
		{method: "GET", path: wire.PathStateEvents, who: everyone, summary: "What becomes of a state: what happens quickly is told together, nothing is left out",
			query: []param{ofProject(), onlyTask(), withRecent(), afterRow()}, work: handleStream[overview.Change](wire.EventChange, (*Server).stateEvents)},
		{method: "GET", path: wire.PathStats, who: everyone, summary: "What became of tasks and what they cost, by group",
			query: []param{ofProject(), {name: "by", about: "harness (the default), model, workflow, role, prompt, project or day"}, {name: "since", about: "only tasks that were created at this time or later (RFC 3339)"}},
			work:  handleQuery((*Server).readStats)},
		{method: "GET", path: wire.PathEvents, who: everyone, summary: "Every entry of the journal, and each new one as it is committed",
			query: []param{afterRow(), onlyTask()}, work: handleStream[journal.Entry](wire.EventEntry, (*Server).journalEvents)},
	}
}

func workflowRoutes() []route {
	return []route{
		{method: "GET", path: wire.PathWorkflows, who: everyone, summary: "The workflows that tasks follow, or may follow", work: handleQuery((*Server).listWorkflows)},
		{method: "GET", path: wire.PathWorkflow, who: everyone, summary: "The text that tasks are pinned to", work: handleQuery((*Server).readWorkflow)},
	}
}

func projectRoutes() []route {
	return []route{
		{method: "GET", path: wire.PathProjects, who: everyone, summary: "The registered repositories", work: handleQuery((*Server).listProjects)},
		{method: "POST", path: wire.PathProjects, who: people, summary: "Register a repository", must: []string{"path"}, work: handleBody((*Server).addProject)},
		{method: "PATCH", path: wire.PathProject, who: people, summary: "Change a project; what is left out stays", work: handleBody((*Server).updateProject)},
		{method: "DELETE", path: wire.PathProject, who: people, summary: "Forget a project that has no open task",
			query: []param{{name: "code", about: "that was shown by notification, where merges are confirmed by codes"}}, work: handleQuery((*Server).removeProject)},
		{method: "GET", path: wire.PathWhere, who: everyone, summary: "What a folder belongs to",
			query: []param{{name: "path", about: "an absolute path", must: true}}, work: handleQuery((*Server).findPlace)},
	}
}

func boardRoutes() []route {
	return []route{
		{method: "GET", path: wire.PathBoard, who: ownBoard, needs: boards, summary: "The board of a project", work: handleQuery((*Server).showBoard)},
		{method: "POST", path: wire.PathCards, who: people, needs: boards, summary: "Put a card on a board, and create its task", must: []string{"title"}, work: handleBody((*Server).addCard)},
		{method: "GET", path: wire.PathCard, who: ownBoard, needs: boards, summary: "A card with its comments", work: handleQuery((*Server).showCard)},
		{method: "POST", path: wire.PathCard, who: people, needs: boards, summary: "Change a card, as a whole or not at all",
			query: []param{{name: "code", about: "that was shown by notification, where merges are confirmed by codes"}}, work: handleBody((*Server).changeCard)},
		{method: "GET", path: wire.PathCardHistory, who: ownBoard, needs: boards, summary: "What became of a card", work: handleQuery((*Server).cardHistory)},
	}
}

func trackerRoutes() []route {
	return []route{
		{method: "GET", path: wire.PathTrackers, who: people, needs: trackers, summary: "What is said about each tracker, and its last look", work: handleQuery((*Server).listTrackers)},
		{method: "POST", path: wire.PathTrackers, who: people, needs: trackers, summary: "Add a tracker, or replace the one of that name", must: []string{"name", "kind"}, work: handleBody((*Server).setTracker)},
		{method: "DELETE", path: wire.PathTracker, who: people, needs: trackers, summary: "Forget a tracker that no task works for", work: handleQuery((*Server).removeTracker)},
		{method: "GET", path: wire.PathTrackerIssues, who: people, needs: trackers, summary: "The issues of a tracker, as they were last read", work: handleQuery((*Server).listIssues)},
		{method: "POST", path: wire.PathTrackerSync, who: people, needs: trackers, summary: "Look at a tracker now", work: handleBody((*Server).syncTracker)},
		{method: "POST", path: wire.PathTrackerTest, who: people, needs: trackers, summary: "Find out whether a tracker answers", work: handleQuery((*Server).testTracker)},
		{method: "POST", path: wire.PathTrackerDispatch, who: people, needs: trackers, summary: "Create tasks for the issues that are next", work: handleBody((*Server).dispatchIssues)},
		{method: "POST", path: wire.PathForgesSync, who: people, needs: trackers, summary: "Look at the pull requests of tasks that have no tracker", work: handleQuery((*Server).syncForges)},
		{method: "POST", path: wire.PathDoctorBoard, who: people, needs: trackers, summary: "Find cards that nobody will pick up", work: handleBody((*Server).checkBoard)},
	}
}

func workspaceRoutes() []route {
	return []route{
		{method: "GET", path: wire.PathWorkspaces, who: everyone, needs: workspaces, summary: "The workspaces of all projects", work: handleQuery((*Server).listWorkspaces)},
		{method: "POST", path: wire.PathWorkspacesInit, who: people, needs: workspaces, summary: "Make workspaces of a project ready", must: []string{"project"}, work: handleBody((*Server).initWorkspaces)},
		{method: "POST", path: wire.PathWorkspacesGC, who: people, needs: workspaces, summary: "Remove the workspaces that nobody needs", work: handleBody((*Server).gcWorkspaces)},
		{method: "GET", path: wire.PathSalvages, who: everyone, needs: workspaces, summary: "Work that was kept when its workspace was cleared", query: []param{ofProject()}, work: handleQuery((*Server).listSalvages)},
	}
}

func serverRoutes() []route {
	return []route{
		{method: "GET", path: wire.PathHello, who: anybody, summary: "Who is there; answered to a client of any version", work: handleQuery((*Server).sayHello)},
		{method: "GET", path: wire.PathOpenAPI, who: anybody, summary: "This description", work: handleRaw[map[string]any]((*Server).openAPI)},
		{method: "POST", path: wire.PathPause, who: people, summary: "Hold every task", work: handleQuery((*Server).pauseAll)},
		{method: "POST", path: wire.PathResume, who: people, summary: "Release every task", work: handleQuery((*Server).resumeAll)},
		{method: "GET", path: wire.PathDoctor, who: everyone, summary: "The server looks at itself", work: handleQuery((*Server).runChecks)},
		{method: "POST", path: wire.PathRepair, who: people, summary: "Write records anew that are not what their journals fold to", work: handleQuery((*Server).repairRecords)},
		{method: "GET", path: wire.PathExport, who: everyone, summary: "Everything, as JSON lines", work: handleRaw[map[string]any]((*Server).exportAll).asLines()},
		{method: "POST", path: wire.PathImport, who: people, summary: "Take over an export (application/jsonl), or a folder of an earlier installation",
			must: []string{"path"}, work: handleRaw[wire.Imported]((*Server).importAll).readsBody(reflect.TypeFor[wire.ImportRequest](), wire.TypeJSONLines)},
		{method: "POST", path: wire.PathWeb, who: people, summary: "Open the web page, and say where it is", work: handleQuery((*Server).openPage)},
		{method: "POST", path: wire.PathWebToken, who: people, summary: "Open the web page, and say what programs show there", work: handleQuery((*Server).webToken)},
		{method: "POST", path: wire.PathStop, who: people, summary: "Leave; answered to a client of any version", work: handleRaw[wire.Stopped]((*Server).stopServer)},
	}
}
