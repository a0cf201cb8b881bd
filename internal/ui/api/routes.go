package api

import (
	"reflect"
	"slices"

	"orange/internal/core/journal"
	"orange/internal/core/overview"
	"orange/internal/wire"
)

// routes is everything that can be asked for. Nothing else says so: the server and its
// description are made of this.
func routes() []route {
	return slices.Concat(
		group("tasks", taskRoutes()), group("attempts", attemptRoutes()), group("state", stateRoutes()), group("workflows", workflowRoutes()),
		group("projects", projectRoutes()), group("boards", boardRoutes()), group("trackers", trackerRoutes()),
		group("workspaces", workspaceRoutes()), group("server", serverRoutes()))
}

func group(name string, list []route) []route {
	for i := range list {
		list[i].group = name
	}
	return list
}

// Parameters that several routes have.
func ofProject() param { return param{name: "project", about: "only of this project"} }
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
func afterSeq() param {
	return param{name: "after", about: "only what came after this seq", kind: "integer"}
}
func afterRow() param {
	return param{name: "after", about: "row of the journal after which to begin; Last-Event-ID counts more", kind: "integer"}
}

func taskRoutes() []route {
	return []route{
		{method: "GET", path: wire.PathTasks, who: everyone, summary: "The records of tasks that are not over, in the order of creation",
			query: []param{ofProject(), {name: "status", about: "only in this status, over or not"}, withAll()}, work: write[wire.TaskList]((*Server).listTasks)},
		{method: "POST", path: wire.PathTasks, who: everyone, summary: "Create a task", must: []string{"project", "summary"}, work: tell((*Server).createTask)},
		{method: "GET", path: wire.PathTask, who: everyone, summary: "A task with the text of its TASK.md", work: ask((*Server).showTask)},
		{method: "GET", path: wire.PathTaskHistory, who: everyone, summary: "What happened to a task, as in history.jsonl",
			query: []param{afterSeq()}, work: ask((*Server).history)},
		{method: "GET", path: wire.PathTaskJournal, who: everyone, summary: "What was decided about a task",
			query: []param{afterSeq()}, work: ask((*Server).journal)},
		{method: "GET", path: wire.PathTaskChain, who: everyone, summary: "Whether the journal is what was written, up to the last row of a task", work: ask((*Server).chain)},
		{method: "GET", path: wire.PathTaskExplain, who: everyone, summary: "Why a task is where it is, and what would move it", work: ask((*Server).explain)},
		{method: "POST", path: wire.PathTaskSignals, who: everyone, summary: "Say that something happened to a task, or ask for something; the engine decides",
			must: []string{"kind"}, work: tell((*Server).submit)},
		{method: "POST", path: wire.PathTaskFork, who: everyone, summary: "Create a task that begins where this one stood", must: []string{"seq"}, work: tell((*Server).fork)},
		{method: "GET", path: wire.PathTaskDiff, who: ownTask, summary: "What a task's branch changes", work: ask((*Server).diff)},
		{method: "GET", path: wire.PathInbox, who: everyone, summary: "What waits for a person", query: []param{ofProject()}, work: ask((*Server).inbox)},
	}
}

func attemptRoutes() []route {
	return []route{
		{method: "GET", path: wire.PathTaskAttempts, who: family, needs: agents, summary: "The runs of a task's roles, alive and over", work: ask((*Server).attempts)},
		{method: "GET", path: wire.PathTaskLog, who: family, needs: agents, summary: "What happened in an attempt: the conversation its agent keeps, else the end of what it printed",
			query: []param{ofAttempt(), newestOf(), {name: "after", about: "only what was said behind this point, as an answer named it"}}, work: ask((*Server).attemptLog)},
		{method: "GET", path: wire.PathTaskOutput, who: family, needs: agents, summary: "What an attempt said last",
			query: []param{ofAttempt(), newestOf()}, work: ask((*Server).lastMessage)},
		{method: "GET", path: wire.PathTaskAttach, who: family, needs: agents, summary: "The command that shows an agent's terminal on this machine",
			query: []param{ofRole()}, work: ask((*Server).attach)},
		{method: "GET", path: wire.PathTaskScreen, who: ownTask, needs: screens, summary: "What an agent's terminal shows, or the end of what it wrote",
			query: []param{ofRole()}, work: ask((*Server).screen)},
		{method: "GET", path: wire.PathTaskScreenEvents, who: ownTask, needs: screens, summary: "What an agent's terminal shows, now and whenever it changes",
			query: []param{ofRole()}, work: stream[wire.Screen](wire.EventScreen, (*Server).screenEvents)},
		{method: "POST", path: wire.PathTaskType, who: people, needs: screens, summary: "Type a line into an agent's terminal", must: []string{"text"}, work: tell((*Server).typeIn)},
		{method: "POST", path: wire.PathHooks, who: everyone, needs: agents, summary: "An agent's harness reports an event; only an attempt may",
			must: []string{"harness", "event"}, work: tell((*Server).hook)},
	}
}

func stateRoutes() []route {
	return []route{
		{method: "GET", path: wire.PathState, who: everyone, summary: "Everything at a glance, now or as it was after a row of the journal",
			query: []param{ofProject(), withAll(), {name: "at", about: "as it was after this row of the journal", kind: "integer"}},
			work:  write[overview.State]((*Server).state)},
		{method: "GET", path: wire.PathStateEvents, who: everyone, summary: "What becomes of a state: what happens quickly is told together, nothing is left out",
			query: []param{ofProject(), withAll(), afterRow()}, work: stream[overview.Change](wire.EventChange, (*Server).stateEvents)},
		{method: "GET", path: wire.PathEvents, who: everyone, summary: "Every entry of the journal, and each new one as it is committed",
			query: []param{afterRow(), {name: "task", about: "only of the task with this whole id"}}, work: stream[journal.Entry](wire.EventEntry, (*Server).journalEvents)},
	}
}

func workflowRoutes() []route {
	return []route{
		{method: "GET", path: wire.PathWorkflows, who: everyone, summary: "The workflows that tasks follow, or may follow", work: ask((*Server).listWorkflows)},
		{method: "GET", path: wire.PathWorkflow, who: everyone, summary: "The text that tasks are pinned to", work: ask((*Server).workflow)},
	}
}

func projectRoutes() []route {
	return []route{
		{method: "GET", path: wire.PathProjects, who: everyone, summary: "The registered repositories", work: ask((*Server).listProjects)},
		{method: "POST", path: wire.PathProjects, who: people, summary: "Register a repository", must: []string{"path"}, work: tell((*Server).addProject)},
		{method: "PATCH", path: wire.PathProject, who: people, summary: "Change a project; what is left out stays", work: tell((*Server).updateProject)},
		{method: "DELETE", path: wire.PathProject, who: people, summary: "Forget a project that has no open task",
			query: []param{{name: "code", about: "that was shown by notification, where merges are confirmed by codes"}}, work: ask((*Server).removeProject)},
		{method: "GET", path: wire.PathWhere, who: everyone, summary: "What a folder belongs to",
			query: []param{{name: "path", about: "an absolute path", must: true}}, work: ask((*Server).where)},
	}
}

func boardRoutes() []route {
	return []route{
		{method: "GET", path: wire.PathBoard, who: ownBoard, needs: boards, summary: "The board of a project", work: ask((*Server).showBoard)},
		{method: "POST", path: wire.PathCards, who: people, needs: boards, summary: "Put a card on a board, and create its task", must: []string{"title"}, work: tell((*Server).addCard)},
		{method: "GET", path: wire.PathCard, who: ownBoard, needs: boards, summary: "A card with its comments", work: ask((*Server).showCard)},
		{method: "POST", path: wire.PathCard, who: people, needs: boards, summary: "Change a card, as a whole or not at all",
			query: []param{{name: "code", about: "that was shown by notification, where merges are confirmed by codes"}}, work: tell((*Server).changeCard)},
		{method: "GET", path: wire.PathCardHistory, who: ownBoard, needs: boards, summary: "What became of a card", work: ask((*Server).cardHistory)},
	}
}

func trackerRoutes() []route {
	return []route{
		{method: "GET", path: wire.PathTrackers, who: people, needs: trackers, summary: "What is said about each tracker, and its last look", work: ask((*Server).listTrackers)},
		{method: "POST", path: wire.PathTrackers, who: people, needs: trackers, summary: "Add a tracker, or replace the one of that name", must: []string{"name", "kind"}, work: tell((*Server).setTracker)},
		{method: "DELETE", path: wire.PathTracker, who: people, needs: trackers, summary: "Forget a tracker that no task works for", work: ask((*Server).removeTracker)},
		{method: "GET", path: wire.PathTrackerIssues, who: people, needs: trackers, summary: "The issues of a tracker, as they were last read", work: ask((*Server).listIssues)},
		{method: "POST", path: wire.PathTrackerSync, who: people, needs: trackers, summary: "Look at a tracker now", work: tell((*Server).syncTracker)},
		{method: "POST", path: wire.PathTrackerTest, who: people, needs: trackers, summary: "Find out whether a tracker answers", work: ask((*Server).testTracker)},
		{method: "POST", path: wire.PathTrackerDispatch, who: people, needs: trackers, summary: "Create tasks for the issues that are next", work: tell((*Server).dispatch)},
		{method: "POST", path: wire.PathForgesSync, who: people, needs: trackers, summary: "Look at the pull requests of tasks that have no tracker", work: ask((*Server).syncForges)},
		{method: "POST", path: wire.PathDoctorBoard, who: people, needs: trackers, summary: "Find cards that nobody will pick up", work: tell((*Server).examine)},
	}
}

func workspaceRoutes() []route {
	return []route{
		{method: "GET", path: wire.PathWorkspaces, who: everyone, needs: workspaces, summary: "The workspaces of all projects", work: ask((*Server).workspaces)},
		{method: "POST", path: wire.PathWorkspacesInit, who: people, needs: workspaces, summary: "Make workspaces of a project ready", must: []string{"project"}, work: tell((*Server).initWorkspaces)},
		{method: "POST", path: wire.PathWorkspacesGC, who: people, needs: workspaces, summary: "Remove the workspaces that nobody needs", work: tell((*Server).gcWorkspaces)},
		{method: "GET", path: wire.PathSalvages, who: everyone, needs: workspaces, summary: "Work that was kept when its workspace was cleared", query: []param{ofProject()}, work: ask((*Server).salvages)},
	}
}

func serverRoutes() []route {
	return []route{
		{method: "GET", path: wire.PathHello, who: anybody, summary: "Who is there; answered to a client of any version", work: ask((*Server).hello)},
		{method: "GET", path: wire.PathOpenAPI, who: anybody, summary: "This description", work: write[map[string]any]((*Server).openAPI)},
		{method: "POST", path: wire.PathPause, who: people, summary: "Hold every task", work: ask((*Server).pause)},
		{method: "POST", path: wire.PathResume, who: people, summary: "Release every task", work: ask((*Server).resume)},
		{method: "GET", path: wire.PathDoctor, who: everyone, summary: "The server looks at itself", work: ask((*Server).doctor)},
		{method: "POST", path: wire.PathRepair, who: people, summary: "Write records anew that are not what their journals fold to", work: ask((*Server).repair)},
		{method: "GET", path: wire.PathExport, who: everyone, summary: "Everything, as JSON lines", work: write[map[string]any]((*Server).export).asLines()},
		{method: "POST", path: wire.PathImport, who: people, summary: "Take over an export (application/jsonl), or a folder of an earlier installation",
			must: []string{"path"}, work: write[wire.Imported]((*Server).importAll).reading(reflect.TypeFor[wire.ImportWish](), wire.TypeJSONLines)},
		{method: "POST", path: wire.PathWeb, who: people, summary: "Open the web page, and say where it is", work: ask((*Server).web)},
		{method: "POST", path: wire.PathWebToken, who: people, summary: "Open the web page, and say what programs show there", work: ask((*Server).webToken)},
		{method: "POST", path: wire.PathStop, who: people, summary: "Leave; answered to a client of any version", work: write[wire.Stopped]((*Server).stop)},
	}
}
