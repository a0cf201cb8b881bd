package agent

import "slices"

// Harnesses that are not programs which people install.
const (
	Script        = "script"   // plays the file that ORANGE_SCRIPT names
	ScriptPrefix  = "script:"  // plays the file whose path follows
	CommandPrefix = "command:" // runs the command line that follows
)

// A Harness is what more than one package needs to know about a coding agent that people
// install. How it is started and what it prints, adapter/harness knows.
type Harness struct {
	Name      string
	Program   string      // the executable that must be in PATH
	Tried     string      // the version that Orange was tried with, as scripts/agents.sh installs it
	Efforts   []string    // that it takes; nil if it takes none
	Variables []string    // beginnings of the names of variables with its credentials and settings
	Exclusive bool        // it works with one provider: it gets no variables of other harnesses
	Skills    SkillFolder // where it looks for skills of the user
	Silent    bool        // no hook of it says that a turn failed
}

// A SkillFolder is the folder Path in the folder that the variable Variable names, or in
// the folder Default in the user's home if the variable is not set.
type SkillFolder struct{ Variable, Default, Path string }

// harnesses are in order of preference.
var harnesses = [...]Harness{
	{
		Name: "claude", Program: "claude", Tried: "2.1.197", Exclusive: true,
		Efforts:   []string{"low", "medium", "high", "xhigh", "max"},
		Variables: []string{"ANTHROPIC_", "CLAUDE_CODE_", "CLAUDE_CONFIG_DIR", "DISABLE_AUTOUPDATER", "DISABLE_TELEMETRY", "IS_SANDBOX"},
		Skills:    SkillFolder{"CLAUDE_CONFIG_DIR", ".claude", "skills"},
	},
	{
		Name: "codex", Program: "codex", Tried: "0.166.0", Exclusive: true, Silent: true,
		Efforts:   []string{"none", "minimal", "low", "medium", "high", "xhigh", "max"},
		Variables: []string{"OPENAI_", "CODEX_"},
		Skills:    SkillFolder{"CODEX_HOME", ".codex", "skills"},
	},
	{
		Name: "opencode", Program: "opencode", Tried: "1.18.33",
		// opencode calls them variants. Which there are depends on the model; one that a model does not have has no effect.
		Efforts:   []string{"minimal", "low", "medium", "high", "xhigh", "max"},
		Variables: []string{"OPENCODE_"},
		Skills:    SkillFolder{"XDG_CONFIG_HOME", ".config", "opencode/skills"},
	},
	{
		Name: "gemini", Program: "gemini", Tried: "0.61.0", Exclusive: true, Silent: true,
		Variables: []string{"GEMINI_", "GOOGLE_"},
		Skills:    SkillFolder{"GEMINI_CLI_HOME", "", ".gemini/skills"},
	},
	{
		Name: "pi", Program: "pi", Tried: "0.73.1",
		Efforts:   []string{"off", "minimal", "low", "medium", "high", "xhigh"},
		Variables: []string{"PI_"},
		Skills:    SkillFolder{"PI_CODING_AGENT_DIR", ".pi/agent", "skills"},
	},
}

// Harnesses lists the coding agents that people install, the preferred first.
func Harnesses() []Harness { return slices.Clone(harnesses[:]) }

// HarnessNames lists the names of Harnesses.
func HarnessNames() []string {
	out := make([]string, len(harnesses))
	for i := range harnesses {
		out[i] = harnesses[i].Name
	}
	return out
}

// FindHarness returns the row of a name. There is none for scripts and commands.
func FindHarness(name string) (Harness, bool) {
	i := slices.IndexFunc(harnesses[:], func(h Harness) bool { return h.Name == name })
	if i < 0 {
		return Harness{}, false
	}
	return harnesses[i], true
}
