package signal

import (
	"github.com/google/jsonschema-go/jsonschema"

	"orange/internal/core/handoff"
)

// The workers and stages, those that can be asked, and those that go on with an answer.
var (
	workerNames = [...]string{"ba", "architect", "dev", "reviewer", "ops"}
	askedNames  = [...]string{"architect", "ba", "reviewer"}
	resumeNames = [...]string{"dev", "ops", "reviewer"}
)

// WorkerResultSchema describes a worker result, as JSON Schema of draft 2020-12. Results
// are checked with it. The sizes of a handoff cannot be said in a schema: they are in the
// descriptions.
func WorkerResultSchema() *jsonschema.Schema {
	s := resultSchema(nil)
	s.Schema = "https://json-schema.org/draft/2020-12/schema"
	s.Title = "Orange worker result"
	return s
}

// resultSchema is the schema with these names of workers and stages, nil for the usual ones.
func resultSchema(stages []string) *jsonschema.Schema {
	if stages == nil {
		stages = workerNames[:]
	}
	return object("What a worker says about its work, and what it wants done.",
		must("success", &jsonschema.Schema{Type: "boolean", Description: "Whether the worker did its work. If not, none of its actions is carried out."}),
		must("summary", text("What was done, for people.")),
		must("joan_actions", object("What is to be done on the board, in this order.",
			may("add_tags", texts("Names of tags to add.")),
			may("remove_tags", texts("Names of tags to remove.")),
			may("add_comment", text("A comment, best in the form ALS/1.")),
			may("move_to_column", text("The name of the column to move the task to.")),
			may("update_description", text("The new description of the task.")),
		)),
		may("git_actions", gitSchema()),
		may("errors", texts("What went wrong.")),
		may("needs_human", text("Why a person is needed.")),
		must("worker_type", oneOf("Who worked.", stages)),
		must("task_id", text("The task that was worked on.")),
		may("execution_time_ms", &jsonschema.Schema{Type: "number", Description: "How long it took, in milliseconds."}),
		may("result_type", text("The outcome in one word, such as review_rejected.")),
		may("nonce", text("The mark that the prompt handed out.")),
		may("stage_context", stageSchema(stages)),
		may("invoke_agent", consultSchema()),
	)
}

func gitSchema() *jsonschema.Schema {
	return object("What was done to the repository. It is checked.",
		may("branch_created", text("The branch that was created.")),
		may("files_changed", texts("The files that were changed.")),
		may("commit_made", &jsonschema.Schema{Type: "boolean", Description: "Whether a commit was made."}),
		may("commit_sha", text("The commit.")),
		may("pr_created", object("The pull request that was opened.",
			must("number", &jsonschema.Schema{Type: "integer", Description: "Its number."}),
			must("url", text("Its address.")),
			must("title", text("Its title.")),
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
	return object("A question to another worker, in the middle of the work.",
		must("agent_type", oneOf("Who is asked.", askedNames[:])),
		must("mode", text("What sort of question it is, such as advisory-conflict.")),
		must("context", object("What the one who is asked must know.",
			must("reason", text("Why it is asked.")),
			may("question", text("The question.")),
			may("files_of_interest", texts("The files that it is about.")),
			may("conflict_details", object("A merge that did not go through.",
				must("conflicting_files", texts("The files in conflict.")),
				must("develop_summary", text("What the target branch changed.")),
				must("feature_summary", text("What the feature branch changed.")),
			)),
		)),
		must("resume_as", object("Who goes on with the answer.",
			must("agent_type", oneOf("The worker.", resumeNames[:])),
			must("mode", text("In which mode, such as merge-with-guidance.")),
		)),
	)
}

// field is one key of an object.
type field struct {
	name     string
	value    *jsonschema.Schema
	required bool
}

func must(name string, value *jsonschema.Schema) field { return field{name, value, true} }

// may is a key that can be missing, or null, which means the same.
func may(name string, value *jsonschema.Schema) field {
	if value.Type != "" {
		value.Type, value.Types = "", []string{value.Type, "null"}
	}
	return field{name, value, false}
}

// object describes an object that may have other keys too.
func object(describe string, fields ...field) *jsonschema.Schema {
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

func text(describe string) *jsonschema.Schema {
	return &jsonschema.Schema{Type: "string", Description: describe}
}

func texts(describe string) *jsonschema.Schema {
	return &jsonschema.Schema{Type: "array", Items: &jsonschema.Schema{Type: "string"}, Description: describe}
}

func oneOf(describe string, names []string) *jsonschema.Schema {
	s := &jsonschema.Schema{Type: "string", Description: describe}
	for _, n := range names {
		s.Enum = append(s.Enum, n)
	}
	return s
}
