package prompt

import _ "embed"

// Skill is the skill that harnesses load: how to work with Orange as an operator, and
// how to behave inside a task.
//
//go:embed SKILL.md
var Skill string
