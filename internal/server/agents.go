package server

import (
	"context"
	"fmt"
	"os/exec"
	"strings"

	"orange/internal/adapter/harness"
	"orange/internal/config"
	"orange/internal/core/agent"
	"orange/internal/core/prompt"
	"orange/internal/core/task"
	"orange/internal/core/taskfile"
	"orange/internal/host"
	"orange/internal/runtime/effect"
	"orange/internal/server/prompts"
	"orange/internal/server/workspaces"
)

// newHost returns the host of this machine. It starts nothing.
func (s *Server) newHost() (*host.Host, error) {
	return host.New(host.Parts{
		Home: s.cfg.Home, Self: s.self, Socket: s.cfg.Socket, Data: dataFolder(s.cfg.Home), Terminal: s.cfg.Terminal, Headless: s.isHeadless(), Tmux: s.cfg.Tmux,
		Recording: s.cfg.Record, Git: s.git, Getenv: config.Getenv, Programs: func(name string) string { return s.settings().Harnesses[name].Path }, AgentEnv: s.agentEnv,
		ToolEnv:     func() []string { return config.ToolEnv(config.Environ()) },
		TerminalEnv: func() []string { return config.TerminalEnv(config.Environ()) },
		ServerEnv:   func() []string { return config.ServerEnv(s.environment.variables(), s.settings().AgentEnv...) },
		Project:     s.runtime.Project, Engine: s.runtime, Task: s.store.Task, Prompts: s.newPrompts(), Log: s.log,
	})
}

// newPrompts returns the renderer of prompts.
func (s *Server) newPrompts() prompts.Renderer {
	records := prompts.TaskRecords{
		TaskFile: func(project string, id task.ID) (taskfile.Document, error) {
			return s.host.Folders.ReadTaskFile(project, id)
		},
		Definition: s.runtime.Definition, Journal: s.store.Journal, Reasons: s.waitReasons, Log: s.log,
	}
	return prompts.Renderer{
		Task: s.runtime.TaskWithWorkflow, Definition: s.runtime.Definition, Project: s.runtime.Project, Facts: records.TaskFacts,
		Card: func(t *task.Task) *prompt.Card { return s.trackerService.CardForAgents(t) },
		Pull: func(ctx context.Context, t task.Task) (string, string, error) {
			return s.trackerService.PullRequest(ctx, t)
		},
	}
}

// fillExecutor sets the parts of the executor of effects. They need the runtime, which has held the executor since it was
// built.
func (s *Server) fillExecutor() {
	*s.executor = effect.Executor{Agents: s.host.Agents, Workspaces: s.workspaces(), Delivery: s.delivery, Sections: s.host.Folders, Cards: s.trackerService}
}

// workspaces returns the manager of the workspaces of all projects.
func (s *Server) workspaces() workspaces.Manager {
	return workspaces.Manager{Host: s.host, Bound: s.store.BoundWorkspaces, Project: s.runtime.Project, Projects: s.runtime.Projects, EachTask: s.store.EachTask, Log: s.log}
}

// isHeadless reports whether agents run without a terminal.
func (s *Server) isHeadless() bool {
	if s.cfg.Sessions != "" {
		return s.cfg.Sessions == "headless"
	}
	_, err := exec.LookPath("tmux")
	return err != nil
}

// agentEnv returns the environment that an agent of a harness inherits from this server.
func (s *Server) agentEnv(name string) []string {
	return config.AgentEnv(s.environment.variables(), name, s.settings().AgentEnv...)
}

// checkHarness returns an error if a task cannot use an agent. Forms show the message too, so it does not mention flags.
func (s *Server) checkHarness(t agent.Terms) error {
	found, err := harness.Find(t.Harness)
	if err != nil {
		return err
	}
	cfg := s.settings()
	if _, err := cfg.FindProgram(found.Program()); err != nil && found.Program() != "" {
		if set := cfg.Harnesses[t.Harness].Path; set != "" {
			return fmt.Errorf("the program of %s cannot be started: %w: correct \"harnesses\" in %s", t.Harness, err, cfg.File())
		}
		if _, some := harness.FirstInstalled(cfg.FindProgram); !some && cfg.Harness == "" && t.Harness == agent.HarnessNames()[0] { // as if none was chosen
			return fmt.Errorf("no coding agent is installed here: install %s; or, if one is outside of PATH or a shell alias, set its path in %s, as in %s; or choose script:FILE or command:PROGRAM", anyHarness(), cfg.File(), programExample)
		}
		return fmt.Errorf("%s is not in the PATH of the server: install %s, or run orange restart where it is in PATH; or set its path in %s, as in \"harnesses\": {\"%s\": {\"path\": \"/opt/%s\"}}; or choose another agent", found.Program(), found.Name(), cfg.File(), found.Name(), found.Name())
	}
	if err := harness.CheckScript(found, config.Getenv); err != nil {
		return err
	}
	if t.Permissions != "" && t.Permissions != agent.SkipPermissions && s.isHeadless() {
		return fmt.Errorf("agents run without a terminal here, where nobody can be asked: install tmux, or leave the permissions at %s", agent.SkipPermissions)
	}
	return harness.CheckTerms(found, t)
}

// programExample is a setting of config.json.
const programExample = `"harnesses": {"claude": {"path": "/opt/claude"}}`

// anyHarness names the agents of which one is enough.
func anyHarness() string {
	names := agent.HarnessNames()
	return strings.Join(names[:len(names)-1], ", ") + " or " + names[len(names)-1]
}
