package signal

import (
	"github.com/google/jsonschema-go/jsonschema"

	"orange/internal/core/handoff"
)

// The workers and stages, those that can be asked, and those that continue with an answer.
var (
	workerNames = [...]string{"ba", "architect", "dev", "reviewer", "ops"}
	askedNames  = [...]string{"architect", "ba", "reviewer"}
	resumeNames = [...]string{"dev", "ops", "reviewer"}
)

// WorkerResultSchema returns the JSON Schema (draft 2020-12) of a worker result. Results are
// checked with it. The size limits of a handoff cannot be expressed in a schema: they are in
// the descriptions.
func WorkerResultSchema() *jsonschema.Schema {
	s := resultSchema(nil)
	s.Schema = "https://json-schema.org/draft/2020-12/schema"
	s.Title = "Orange worker result"
	return s
}

// resultSchema returns the schema with these names of workers and stages, nil for the default
// ones.
func resultSchema(stages []string) *jsonschema.Schema {
	if stages == nil {
		stages = workerNames[:]
	}
	return objectSchema("What a worker says about its work, and what it wants done.",
		requiredField("success", &jsonschema.Schema{Type: "boolean", Description: "Whether the worker did its work. If not, none of its actions is carried out."}),
		requiredField("summary", textSchema("What was done, for people.")),
		requiredField("joan_actions", objectSchema("What is to be done on the board, in this order.",
			optionalField("add_tags", textListSchema("Names of tags to add.")),
			optionalField("remove_tags", textListSchema("Names of tags to remove.")),
			optionalField("add_comment", textSchema("A comment, best in the form ALS/1.")),
			optionalField("move_to_column", textSchema("The name of the column to move the task to.")),
			optionalField("update_description", textSchema("The new description of the task.")),
		)),
		optionalField("git_actions", gitSchema()),
		optionalField("errors", textListSchema("What went wrong.")),
		optionalField("needs_human", textSchema("Why a person is needed.")),
		requiredField("worker_type", oneOf("Who worked.", stages)),
		requiredField("task_id", textSchema("The task that was worked on.")),
		optionalField("execution_time_ms", &jsonschema.Schema{Type: "number", Description: "How long it took, in milliseconds."}),
		optionalField("result_type", textSchema("The outcome in one word, such as review_rejected.")),
		optionalField("nonce", textSchema("The mark that the prompt handed out.")),
		optionalField("stage_context", stageSchema(stages)),
		optionalField("invoke_agent", consultSchema()),
	)
}

func gitSchema() *jsonschema.Schema {
	return objectSchema("What was done to the repository. It is checked.",
		optionalField("branch_created", textSchema("The branch that was created.")),
		optionalField("files_changed", textListSchema("The files that were changed.")),
		optionalField("commit_made", &jsonschema.Schema{Type: "boolean", Description: "Whether a commit was made."}),
		optionalField("commit_sha", textSchema("The commit.")),
		optionalField("pr_created", objectSchema("The pull request that was opened.",
			requiredField("number", &jsonschema.Schema{Type: "integer", Description: "Its number."}),
			requiredField("url", textSchema("Its address.")),
			requiredField("title", textSchema("Its title.")),
		)),
	)
}

func stageSchema(stages []string) *jsonschema.Schema {
	s := handoff.Schema()
	s.Schema, s.Title = "", ""
	for _, name := range []string{"from_stage", "to_stage"} {
		s.Properties[name] = oneOf(s.Properties[name].Description, stages)
	}
	return s
}

func consultSchema() *jsonschema.Schema {
	return objectSchema("A question to another worker, in the middle of the work.",
		requiredField("agent_type", oneOf("Who is asked.", askedNames[:])),
		requiredField("mode", textSchema("What sort of question it is, such as advisory-conflict.")),
		requiredField("context", objectSchema("What the one who is asked must know.",
			requiredField("reason", textSchema("Why it is asked.")),
			optionalField("question", textSchema("The question.")),
			optionalField("files_of_interest", textListSchema("The files that it is about.")),
			optionalField("conflict_details", objectSchema("A merge that did not go through.",
				requiredField("conflicting_files", textListSchema("The files in conflict.")),
				requiredField("develop_summary", textSchema("What the target branch changed.")),
				requiredField("feature_summary", textSchema("What the feature branch changed.")),
			)),
		)),
		requiredField("resume_as", objectSchema("Who continues with the answer.",
			requiredField("agent_type", oneOf("The worker.", resumeNames[:])),
			requiredField("mode", textSchema("In which mode, such as merge-with-guidance.")),
		)),
	)
}

// field is one key of an object.
type field struct {
	name     string
	value    *jsonschema.Schema
	required bool
}

func requiredField(name string, value *jsonschema.Schema) field { return field{name, value, true} }

// optionalField returns a key that can be missing, or null, which means the same.
func optionalField(name string, value *jsonschema.Schema) field {
	if value.Type != "" {
		value.Type, value.Types = "", []string{value.Type, "null"}
	}
	return field{name, value, false}
}

// objectSchema describes an object that may have other keys too.
func objectSchema(describe string, fields ...field) *jsonschema.Schema {
	s := &jsonschema.Schema{Type: "object", Description: describe, Properties: map[string]*jsonschema.Schema{}}
	for _, f := range fields {
		s.Properties[f.name] = f.value
		s.PropertyOrder = append(s.PropertyOrder, f.name)
		if f.required {
			s.Required = append(s.Required, f.name)
		}
	}
	return s
}

func textSchema(describe string) *jsonschema.Schema {
	return &jsonschema.Schema{Type: "string", Description: describe}
}

func textListSchema(describe string) *jsonschema.Schema {
	return &jsonschema.Schema{Type: "array", Items: &jsonschema.Schema{Type: "string"}, Description: describe}
}

func oneOf(describe string, names []string) *jsonschema.Schema {
	s := &jsonschema.Schema{Type: "string", Description: describe}
	for _, n := range names {
		s.Enum = append(s.Enum, n)
	}
	return s
}
