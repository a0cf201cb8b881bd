package harness

import (
	"embed"
	"encoding/json"
	"fmt"
	"time"

	"orange/internal/core/agent"
	"orange/internal/core/task"
)

// sources are the programs that run inside an agent.
//
//go:embed files
var sources embed.FS

// pluginSource returns a source with the constant orange prepended.
func pluginSource(name string, orange map[string]any) ([]byte, error) {
	source, err := sources.ReadFile("files/" + name)
	if err != nil {
		return nil, err
	}
	values, err := json.Marshal(orange)
	if err != nil {
		return nil, err
	}
	return fmt.Appendf(nil, "const orange = %s\n%s", values, source), nil
}

// hookList returns the hook command for a plugin, never null.
func (l Launch) hookList() []string { return append([]string{}, l.Hook...) }

// spent is usage as Orange's plugins write it.
type spent struct {
	Input  count   `json:"input"`
	Output count   `json:"output"`
	Cache  count   `json:"cache"`
	Cost   float64 `json:"cost"`
	Known  bool    `json:"known,omitempty"` // the cost is known even if it is 0
}

func (s spent) toTaskUsage() task.Usage {
	return task.Usage{
		InputTokens: s.Input.toInt(), OutputTokens: s.Output.toInt(), CachedTokens: s.Cache.toInt(), CostMicroUSD: dollarsToMicros(s.Cost), CostReported: s.Known || s.Cost > 0,
	}
}

// endTurn records the end of a turn: the agent is idle, unless the provider returned an error
// or a limit.
func endTurn(n *agent.Notice, final, failure string, now time.Time) {
	n.Condition.Name, n.Final = task.Idle, cleanProse(final)
	if failure != "" && !addLimit(n, failure, now) {
		n.Condition.Name, n.Condition.Detail = task.TurnFailed, cleanLine(failure, maxDetail)
	}
}
