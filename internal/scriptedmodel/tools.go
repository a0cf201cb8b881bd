package scriptedmodel

import (
	"encoding/json"
	"slices"
)

// tool is a tool that the agent offers to the model.
type tool struct {
	name   string
	schema json.RawMessage // JSON schema of the arguments; nil if the protocol defines them
	native bool            // the built-in shell tool of the Responses protocol
}

// shellNames returns the names of agents' shell tools, in order of preference.
func shellNames() []string {
	return []string{"Bash", "bash", "run_shell_command", "exec_command", "shell_command", "local_shell", "shell", "execute_command", "run_terminal_cmd", "terminal"}
}

// toolCall is a request to use a tool.
type toolCall struct {
	id        string
	tool      tool
	command   string
	arguments map[string]any
}

// argumentsJSON returns the arguments as JSON. Angle brackets and ampersands are not escaped,
// as with a real model.
func (c toolCall) argumentsJSON() string { return compactJSON(c.arguments) }

// findShellTool returns the tool to run a command with, or false if none is offered.
func findShellTool(tools []tool) (tool, bool) {
	for _, name := range shellNames() {
		if i := slices.IndexFunc(tools, func(t tool) bool { return t.name == name }); i >= 0 {
			return tools[i], true
		}
	}
	return tool{}, false
}

// shellCall returns the call of a shell tool that runs a command, with the arguments that the
// tool's schema requires.
func shellCall(id string, t tool, command string) toolCall {
	c := toolCall{id: id, tool: t, command: command, arguments: map[string]any{}}
	schema := parseSchema(t.schema)
	key := "command"
	if _, ok := schema.Properties["cmd"]; ok {
		key = "cmd"
	}
	if schema.Properties[key].valueType() == "array" {
		c.arguments[key] = shellArgv(command)
	} else {
		c.arguments[key] = command
	}
	for _, name := range schema.Required {
		if _, ok := c.arguments[name]; !ok {
			c.arguments[name] = schema.Properties[name].sampleValue()
		}
	}
	return c
}

// shellArgv returns the command line of a shell that runs a command, for tools that require a
// list of words.
func shellArgv(command string) []string { return []string{"bash", "-lc", command} }
