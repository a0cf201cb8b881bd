package agents

import (
	"encoding/json"
	"fmt"
	"os"
	"path/filepath"

	"orange/internal/atomicfile"
	"orange/internal/core/agent"
	"orange/internal/core/signal"
	"orange/internal/core/task"
	"orange/internal/core/workflow"
)

// prepareCheck writes the orders of a check into the folder of its attempt. The definition comes from the record, never
// from the worktree. The attempt has no prompt, no terminal and no token.
func (a *Agents) prepareCheck(t *task.Task, e *task.Effect) (agent.Orders, error) {
	k := Key{t.ID, e.Attempt}
	c, ok := t.Checks.Named(e.Arg)
	if !ok {
		return agent.Orders{}, task.Mistakef("the task has no check %q", e.Arg)
	}
	place, dir := task.PlaceWorkspace, ""
	switch {
	case t.CheckRun != nil && t.CheckRun.Place == task.PlaceLanding:
		place, dir = task.PlaceLanding, a.Workspaces.LandingPath(t)
	case t.Workspace == "":
		return agent.Orders{}, task.Mistakef("the task has no workspace to run check %s in", c.Name)
	default:
		dir = a.Workspaces.Path(t.Workspace)
	}
	text, err := json.Marshal(agent.CheckOrders{Check: *c, Dir: dir, Place: place})
	if err == nil {
		err = os.MkdirAll(a.Folder(k), 0o700)
	}
	if err == nil {
		err = atomicfile.Write(filepath.Join(a.Folder(k), agent.CheckOrdersFile), text, 0o600)
	}
	if err != nil {
		return agent.Orders{}, fmt.Errorf("write the orders of check %s: %w", c.Name, err)
	}
	if err := a.makeTmuxFolder(k); err != nil {
		return agent.Orders{}, err
	}
	card := Card{Role: e.Role, Since: a.Clock().UTC(), Check: c.Name}
	o := agent.Orders{Argv: append(append([]string(nil), a.CheckArgv...), a.Folder(k)), Dir: dir, Env: a.markedEnvironment(t, e, a.CheckEnv())}
	return o, a.updateCard(k, func(old *Card) { *old = card })
}

// reportCheckEnd submits the end of a check with its result, if it left one.
func (a *Agents) reportCheckEnd(k Key, x agent.Exit) {
	sig := signal.Signal{Kind: signal.Exit, Actor: task.Engine, Attempt: k.Number, Role: workflow.CheckRole, Code: x.Code, Note: x.DescribeCause(), Mass: x.Mass}
	var r task.CheckResult
	text, err := os.ReadFile(filepath.Join(a.Folder(k), agent.CheckResultFile))
	if err == nil && json.Unmarshal(text, &r) == nil {
		if a.MaskCheck != nil {
			r.Last, r.Detail = a.MaskCheck(r.Last), a.MaskCheck(r.Detail)
		}
		sig.Check = &r
	}
	a.keepNotice(k, agent.Notice{}, &x)
	a.submitSignal(k, sig)
}
