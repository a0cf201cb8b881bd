package agent

import "slices"

// Harnesses that are not installed programs.
const (
	Script        = "script"   // plays the file that ORANGE_SCRIPT names
	ScriptPrefix  = "script:"  // plays the file whose path follows
	CommandPrefix = "command:" // runs the command line that follows
)

// A Harness is what more than one package needs to know about an installed coding agent. adapter/harness knows how to
// start it and how to read its output.
type Harness struct {
	Name      string
	Program   string      // the executable that must be in PATH
	Tried     string      // the version that Orange was tested with, as scripts/agents.sh installs it
	Efforts   []string    // accepted efforts; nil if it accepts none
	Variables []string    // prefixes of the names of variables with its credentials and settings
	Exclusive bool        // it works with one provider: it gets no variables of other harnesses
	Skills    SkillFolder // where it reads the user's skills
	Silent    bool        // it has no hook that reports a failed turn

	Permissions []string // modes in which it asks before it acts; nil if it has none
}

// Modes of permissions: what an agent may do without asking a person. Orange's own commands are always allowed.
const (
	SkipPermissions = "skip"  // everything; the default
	AllowEdits      = "edits" // change files of its worktree; it asks before other commands
	AskPermission   = "ask"   // read; it asks before anything else
)

// Terms are what a person decided about the agents of a task, besides which program runs.
type Terms struct {
	Harness, Effort, Model string
	Flags                  string // further arguments, as in a shell
	Permissions            string // a mode, "" for SkipPermissions
}

// A SkillFolder is the folder Path in the folder that the variable Variable names, or in the folder Default in the
// user's home if the variable is not set.
type SkillFolder struct{ Variable, Default, Path string }

// harnesses is in order of preference.
var harnesses = [...]Harness{
	{
		Name: "claude", Program: "claude", Tried: "2.1.197", Exclusive: true,
		Efforts:     []string{"low", "medium", "high", "xhigh", "max"},
		Permissions: []string{AllowEdits, AskPermission},
		Variables:   []string{"ANTHROPIC_", "CLAUDE_CODE_", "CLAUDE_CONFIG_DIR", "DISABLE_AUTOUPDATER", "DISABLE_TELEMETRY", "IS_SANDBOX"},
		Skills:      SkillFolder{"CLAUDE_CONFIG_DIR", ".claude", "skills"},
	},
	{
		Name: "codex", Program: "codex", Tried: "0.166.0", Exclusive: true, Silent: true,
		Efforts:     []string{"none", "minimal", "low", "medium", "high", "xhigh", "max"},
		Permissions: []string{AllowEdits, AskPermission},
		Variables:   []string{"OPENAI_", "CODEX_"},
		Skills:      SkillFolder{"CODEX_HOME", ".codex", "skills"},
	},
	{
		Name: "opencode", Program: "opencode", Tried: "1.18.33",
		// opencode calls them variants. The set depends on the model; a variant that a model does not have has no
		// effect.
		Efforts:     []string{"minimal", "low", "medium", "high", "xhigh", "max"},
		Permissions: []string{AllowEdits, AskPermission},
		Variables:   []string{"OPENCODE_"},
		Skills:      SkillFolder{"XDG_CONFIG_HOME", ".config", "opencode/skills"},
	},
	{
		Name: "gemini", Program: "gemini", Tried: "0.61.0", Exclusive: true, Silent: true,
		Permissions: []string{AllowEdits, AskPermission},
		Variables:   []string{"GEMINI_", "GOOGLE_"},
		Skills:      SkillFolder{"GEMINI_CLI_HOME", "", ".gemini/skills"},
	},
	{
		Name: "pi", Program: "pi", Tried: "0.73.1",
		Efforts:   []string{"off", "minimal", "low", "medium", "high", "xhigh"},
		Variables: []string{"PI_"},
		Skills:    SkillFolder{"PI_CODING_AGENT_DIR", ".pi/agent", "skills"},
	},
}

// Harnesses lists the coding agents that people install, preferred first.
func Harnesses() []Harness { return slices.Clone(harnesses[:]) }

// HarnessNames lists the names of Harnesses.
func HarnessNames() []string {
	out := make([]string, len(harnesses))
	for i := range harnesses {
		out[i] = harnesses[i].Name
	}
	return out
}

// FindHarness returns the row of a name. Scripts and commands have none.
func FindHarness(name string) (Harness, bool) {
	i := slices.IndexFunc(harnesses[:], func(h Harness) bool { return h.Name == name })
	if i < 0 {
		return Harness{}, false
	}
	return harnesses[i], true
}
