package scriptedmodel

import (
	"encoding/json"
	"slices"
)

// tool is something that the agent offers to do for the model.
type tool struct {
	name   string
	schema json.RawMessage // JSON schema of the arguments; nil if the protocol knows them
	native bool            // the shell tool that the Responses protocol knows by type
}

// shellNames returns the names under which agents offer a shell, the preferred first.
func shellNames() []string {
	return []string{"Bash", "bash", "run_shell_command", "exec_command", "shell_command", "local_shell", "shell", "execute_command", "run_terminal_cmd", "terminal"}
}

// call is a wish to use a tool.
type call struct {
	id        string
	tool      tool
	command   string
	arguments map[string]any
}

// argumentsJSON returns the arguments as a JSON text. Angle brackets and ampersands stay as
// they are, as they do with a real model.
func (c call) argumentsJSON() string { return compactJSON(c.arguments) }

// findShellTool returns the tool to run a command with, false if none is offered.
func findShellTool(tools []tool) (tool, bool) {
	for _, name := range shellNames() {
		if i := slices.IndexFunc(tools, func(t tool) bool { return t.name == name }); i >= 0 {
			return tools[i], true
		}
	}
	return tool{}, false
}

// shellCall makes the call of a shell tool that runs a command, with the arguments that
// the schema of the tool asks for.
func shellCall(id string, t tool, command string) call {
	c := call{id: id, tool: t, command: command, arguments: map[string]any{}}
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

// shellArgv runs a command with a shell where a list of words is asked for.
func shellArgv(command string) []string { return []string{"bash", "-lc", command} }
