package agents

import (
	"context"
	"crypto/rand"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strconv"
	"strings"

	"orange/internal/atomicfile"
	"orange/internal/core/agent"
	"orange/internal/core/task"
	"orange/internal/core/workflow"
)

// StartAgent starts the agent of an effect. If the agent was started already, StartAgent only watches it.
func (a *Agents) StartAgent(ctx context.Context, t task.Task, e task.Effect) (agent.Start, error) {
	k := Key{t.ID, e.Attempt}
	session, err := a.startOnce(ctx, &t, &e, k)
	if err != nil {
		return agent.Start{}, err
	}
	card, err := a.LoadCard(k)
	return agent.Start{Session: session, Harness: card.Harness, Model: card.Model, PromptHash: card.PromptHash}, err
}

// startOnce starts the agent of an effect, or watches it if it was started already. It returns the terminal session
// that shows it.
func (a *Agents) startOnce(ctx context.Context, t *task.Task, e *task.Effect, k Key) (session string, err error) {
	if a.Terminal != nil {
		session = a.Terminal.SessionName(t.Project, t.Branch)
	}
	dir := a.Folder(k)
	phase, pids, err := a.Processes.ReadPhase(dir)
	if err != nil {
		return "", err
	}
	if phase != agent.Absent {
		return session, a.watchAttempt(k, pids)
	}
	if e.Do == workflow.RunCheck {
		orders, err := a.prepareCheck(t, e)
		if err != nil {
			return "", err
		}
		return t.TmuxSession, a.launchAndWatch(ctx, k, orders)
	}
	orders, err := a.prepareOrders(ctx, t, e, session)
	if err != nil {
		return "", err
	}
	if err := a.launchAndWatch(ctx, k, orders); err != nil {
		return "", err
	}
	if orders.Window != nil {
		a.answerDialogs(k, orders.Window)
		a.watchStart(k, orders.Window.Session)
	}
	return session, nil
}

func (a *Agents) launchAndWatch(ctx context.Context, k Key, orders agent.Orders) error {
	defer a.announceStart()()
	pids, err := a.Processes.Start(ctx, a.Folder(k), orders)
	if err != nil {
		return err
	}
	return a.watchAttempt(k, pids)
}

// prepareOrders writes the files that the attempt needs and returns the orders for its shim.
func (a *Agents) prepareOrders(ctx context.Context, t *task.Task, e *task.Effect, session string) (agent.Orders, error) {
	k := Key{t.ID, e.Attempt}
	start, err := a.Prompts.PlanStart(t, e)
	if err != nil {
		return agent.Orders{}, err
	}
	if t.Workspace == "" {
		return agent.Orders{}, task.Mistakef("the task has no workspace to start the %s in", e.Role)
	}
	if err := os.MkdirAll(a.Folder(k), 0o700); err != nil {
		return agent.Orders{}, fmt.Errorf("make the folder of attempt %d: %w", e.Attempt, err)
	}
	if start.Reports && !a.Harnesses.SeparatesMessages(start.Harness) {
		session = "" // at a terminal its report could not be told apart from typed text
	}
	if err := a.makeTmuxFolder(k); err != nil {
		return agent.Orders{}, err
	}
	launch, err := a.buildLaunch(ctx, start, t, e, session != "")
	if err != nil {
		return agent.Orders{}, err
	}
	plan, err := a.Harnesses.PlanLaunch(launch)
	if err != nil {
		return agent.Orders{}, err
	}
	card := Card{Role: e.Role, Since: a.Clock().UTC(), Harness: launch.Harness, Model: launch.Model, Session: launch.Session, Resumed: launch.Resume != "", Unhooked: plan.Unhooked,
		PromptHash: launch.PromptHash}
	o := agent.Orders{Argv: plan.Argv, Dir: launch.Workspace}
	if session != "" {
		card.Window = e.Window
		o.Window = &agent.Window{Session: session, Name: e.Window, Log: a.OutputFile(k)}
	}
	o.Env = a.agentEnvironment(t, e, launch.Harness, plan.Env, session != "")
	return o, a.updateCard(k, func(c *Card) { *c = card })
}

// buildLaunch renders and writes the prompt, and returns how to start the agent.
func (a *Agents) buildLaunch(ctx context.Context, start agent.StartPlan, t *task.Task, e *task.Effect, terminal bool) (agent.Launch, error) {
	k := Key{t.ID, e.Attempt}
	l := agent.Launch{
		PromptFile: filepath.Join(a.Folder(k), "prompt.md"), Interactive: terminal,
		Harness: start.Harness, Effort: start.Effort, Model: start.Model, Flags: start.Flags, Permissions: start.Permissions, ReadOnly: start.ReadOnly,
		Workspace: a.Workspaces.Path(t.Workspace), Dir: a.Folder(k),
	}
	if start.GoesOn {
		l.Resume = a.resumableSession(t, e, l.Harness)
	}
	if l.Session = l.Resume; l.Session == "" {
		l.Session = a.sessionOf(k)
	}
	o := agent.Opening{Nonce: a.AttemptNonce(k), GoesOn: l.Resume != ""}
	if start.Answers {
		o.Asked = a.askedMessage(t, e, o.GoesOn)
	}
	var err error
	if l.Prompt, l.PromptHash, err = a.Prompts.StartPrompt(ctx, t, e, o); err != nil {
		return l, err
	}
	if err := atomicfile.Write(l.PromptFile, []byte(l.Prompt), 0o600); err != nil {
		return l, fmt.Errorf("write the prompt of attempt %d: %w", e.Attempt, err)
	}
	return l, nil
}

// sessionOf returns the id of a new conversation: the one from an earlier try of the same start, or a new one.
func (a *Agents) sessionOf(k Key) string {
	if card, err := a.LoadCard(k); err == nil && card.Session != "" && card.Code == nil {
		return card.Session
	}
	return newUUID()
}

// resumableSession returns the conversation that a new attempt continues: that of the last attempt of the role, if the
// harness reported it. It returns "" if that conversation was resumed and broke off again, or if nothing of it was
// recorded.
func (a *Agents) resumableSession(t *task.Task, e *task.Effect, harness string) string {
	card, ok := a.previousCard(t, e)
	broke := card.Mass == "" && (card.Code == nil || *card.Code != 0)
	switch {
	case !ok, card.Harness != harness, !card.Reported && card.Transcript == "" && card.Final == "", card.Resumed && broke:
		return ""
	case card.Transcript != "" && broke && len(a.recordedConversation(card).Turns) == 0: // it was killed before it wrote anything
		return ""
	}
	return card.Session
}

// previousCard returns the card of the last attempt of the role that an effect starts.
func (a *Agents) previousCard(t *task.Task, e *task.Effect) (Card, bool) {
	for n := e.Attempt - 1; n > 0; n-- {
		if card, err := a.LoadCard(Key{t.ID, n}); err == nil && card.Role == e.Role {
			return card, true
		}
	}
	return Card{}, false
}

// recordedConversation returns the conversation of an attempt that is over, from the agent's own record.
func (a *Agents) recordedConversation(card Card) agent.Conversation {
	return a.Harnesses.ReadConversation(card.Harness, agent.Output{Transcript: card.Transcript, Session: card.Session, Over: true}, "")
}

// askedMessage returns the last message of the previous agent, which a person answers, if the new agent does not know
// it: because it begins a new conversation, or because its record lacks the message.
func (a *Agents) askedMessage(t *task.Task, e *task.Effect, goesOn bool) string {
	card, _ := a.previousCard(t, e)
	if record := a.recordedConversation(card); card.Final == "" || goesOn && !lacksMessage(&record, card.Final) {
		return ""
	}
	return tailText(card.Final)
}

// agentEnvironment returns the environment of an agent: what it may inherit, who it is, and the mark that identifies
// its processes.
func (a *Agents) agentEnvironment(t *task.Task, e *task.Effect, harness string, more []string, terminal bool) []string {
	k := Key{t.ID, e.Attempt}
	env := append(a.markedEnvironment(t, e, a.Env(harness)),
		"ORANGE_ROLE_RUN="+strconv.Itoa(t.AttemptsOfRole(e.Role)), "ORANGE_ROUND="+strconv.Itoa(t.CounterValue("review_round")), "ORANGE_TOKEN="+a.AttemptToken(k), "ORANGE_NONCE="+a.AttemptNonce(k))
	if terminal {
		env = append(env, "TERM="+a.Term)
	}
	return withVariables(env, more)
}

// markedEnvironment adds to an environment which attempt its processes belong to, and where they may work.
func (a *Agents) markedEnvironment(t *task.Task, e *task.Effect, env []string) []string {
	k := Key{t.ID, e.Attempt}
	env = append(env,
		"ORANGE_TASK="+string(t.ID), "ORANGE_ATTEMPT="+strconv.Itoa(e.Attempt), "ORANGE_ROLE="+e.Role, "ORANGE_STATE="+t.Status,
		keyVariable+"="+a.attemptMark(k), tmuxVariable+"="+a.tmuxFolder(k), CeilingVariable+"="+filepath.Dir(a.Workspaces.Path(t.Workspace)))
	if n := workspaceSlot(t.Workspace); n > 0 {
		env = append(env, "ORANGE_SLOT="+strconv.Itoa(n), "ORANGE_PORT_OFFSET="+strconv.Itoa(n*100))
	}
	return env
}

// withVariables adds variables to an environment and removes those of the same name, because programs disagree about
// which of two counts.
func withVariables(env, more []string) []string {
	names := map[string]bool{}
	for _, kv := range more {
		name, _, _ := strings.Cut(kv, "=")
		names[name] = true
	}
	env = slices.DeleteFunc(env, func(kv string) bool {
		name, _, _ := strings.Cut(kv, "=")
		return names[name]
	})
	return append(env, more...)
}

// CeilingVariable names the folders above which git does not search for a repository. From a broken worktree, git must
// not find a repository around the data folder.
const CeilingVariable = "GIT_CEILING_DIRECTORIES"

// keyVariable is in the environment of every process of an attempt.
const keyVariable = "ORANGE_ATTEMPT_KEY"

// workspaceSlot returns the number of a workspace in its project's pool.
func workspaceSlot(workspace string) int {
	for i := len(workspace) - 1; i >= 0; i-- {
		if workspace[i] == '-' {
			n, _ := strconv.Atoi(workspace[i+1:])
			return n
		}
	}
	return 0
}

// newUUID returns a random UUID.
func newUUID() string {
	var b [16]byte
	rand.Read(b[:]) //nolint:errcheck // never fails
	b[6], b[8] = b[6]&0x0f|0x40, b[8]&0x3f|0x80
	return fmt.Sprintf("%x-%x-%x-%x-%x", b[:4], b[4:6], b[6:8], b[8:10], b[10:])
}
