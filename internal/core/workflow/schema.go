package workflow

import "github.com/google/jsonschema-go/jsonschema"

// namePattern is what validName accepts, for editors.
const namePattern = "^[A-Za-z][A-Za-z0-9_-]{0,63}$"

// timePattern is approximately the form of a duration, for editors.
const timePattern = "^([0-9]+(\\.[0-9]+)?(d|ns|us|µs|ms|s|m|h))+$"

// Schema returns the JSON Schema (draft 2020-12) of a workflow file, for editors. Its word
// lists are the ones that Parse uses. A file that it accepts may still use names that it does
// not declare: Parse and Check report those.
func Schema() *jsonschema.Schema {
	s := mappingSchema("A lifecycle of tasks: states, the edges between them, who may take an edge and what must be true first.",
		key{"name", nameOf("What the workflow is called; the name of its file without .yaml.")},
		key{"version", &jsonschema.Schema{Type: "integer", Enum: []any{1}, Description: "The version of this format: 1."}},
		key{"describe", textSchema("What the workflow is for, in one sentence.")},
		key{"roles", namedSchema("The parts that agents play.", roleSchema())},
		key{"counters", namedSchema("Bounded numbers of a task, which guards and prompts may ask for.", counterSchema())},
		key{"gates", namedSchema("Evidence that must be there when an edge is taken.", gateSchema())},
		key{"states", namedSchema("Where a task can be, in the order in which people think of them.", stateSchema())},
		key{"edges", &jsonschema.Schema{Type: "array", Items: edgeSchema(), Description: "The permitted moves. Of several that open, the first is taken."}},
		key{"prompts", namedSchema("The prompts of agents. {summary} and the like are filled in.", textSchema("Words for an agent."))},
		key{"board", boardSchema()},
		key{"vars", namedSchema("Texts that people give a project or a task, for {vars.NAME} in prompts. No place for secrets.", mappingSchema("A variable.",
			key{"default", textSchema("What it is where nobody gives it.")},
			key{"describe", textSchema("What it is for.")}))},
		key{"checks", checksSchema()},
		key{"include", listOf(textSchema("The name of a file in the same folder."), "Fragments with roles, counters, gates and prompts that belong to the workflow.")},
		key{"tracker", namedSchema("The status that a tracker shows for each state.", textSchema("A status of the tracker."))},
	)
	s.Schema = "https://json-schema.org/draft/2020-12/schema"
	s.Title = "Orange workflow"
	s.Required = []string{"name", "version", "states"}
	return s
}

func roleSchema() *jsonschema.Schema {
	return mappingSchema("A part that an agent plays.",
		key{"harness", listOf(choiceSchema(), "The agents that may run it, the preferred first.")},
		key{"model", textSchema("The model of the one agent that harness names, in the words of its CLI.")},
		key{"effort", textSchema("Its effort.")},
		key{"fallback_after", durationSchema("How long an agent may be at its limit before the next one continues.")},
		key{"session", wordsSchema("How long its agent lives: until the task ends, as long as the task stays in the state, or that with a person at the terminal.", sessionWords[:]...)},
		key{"window", textSchema("The name of its terminal window; {counters} are filled in.")},
		key{"prompt", nameOf("The prompt at its start, by name.")},
		key{"respawn_prompt", nameOf("The prompt of a replacement, by name.")},
		key{"rework_prompt", nameOf("The prompt of a new agent when the task returns to the role, by name.")},
		key{"access", wordsSchema("Whether it may change the record's summary and branch.", accessWords[:]...)},
		key{"stands_in_for", nameOf("A role: while its agent lives, that agent is notified instead, and this one is not started.")},
		key{"protocol", wordsSchema("How it says how it went, besides requests and sections.", protocolWords[:]...)},
		key{"work_type", nameOf("What kind of work it does; scopes what counts as its word. Its name if nothing is given.")},
		key{"serial", nameOf("A group of roles of which one agent works at a time in a project.")},
		key{"flag", textSchema("The tag of a card for which it needs a person.")},
		key{"claim", textSchema("The tag of a card while it works on it.")},
		key{"describe", textSchema("What the role does, in a few words.")},
	)
}

// choiceSchema describes an agent that may run a role.
func choiceSchema() *jsonschema.Schema {
	one := mappingSchema("A harness with the model and the effort it runs with.",
		key{"harness", textSchema("The harness.")}, key{"model", textSchema("The model.")}, key{"effort", textSchema("The effort.")})
	one.Required = []string{"harness"}
	return &jsonschema.Schema{Description: "task or review for one of the task's two harnesses, or a harness by its name.", AnyOf: []*jsonschema.Schema{textSchema("A name."), one}}
}

func counterSchema() *jsonschema.Schema {
	most, least := 1000.0, 1.0
	s := mappingSchema("A bounded number of a task.",
		key{"max", &jsonschema.Schema{Type: "integer", Minimum: &least, Maximum: &most, Description: "Its bound, so that the file can be checked."}},
		key{"per", wordsSchema("When it goes back to 0: never by itself, or with every transition.", perWords[:]...)},
		key{"counts", wordsSchema("What it counts by itself. At max the crash-limit or the no-answer-limit edge is taken.", countsWords[:]...)},
		key{"reset", wordsSchema("Who takes it back to 0: a person who moves, answers, resumes or respawns the task, or changes column or tags of its card.", resetWords[:]...)},
	)
	s.Required = []string{"max"}
	return s
}

func gateSchema() *jsonschema.Schema {
	s := mappingSchema("Evidence: a section of TASK.md, or a fact about the world.",
		key{"section", textSchema("The heading of the section, without ##.")},
		key{"any_of", listOf(textSchema("A label such as DONE."), "At least one of these labels has content behind it.")},
		key{"verdict", wordsSchema("The verdict that the section gives.", verdictWords[:]...)},
		key{"form", wordsSchema("Where the verdict is: a line \"Verdict: PASS\" at the beginning, or the first line with the word.", formWords[:]...)},
		key{"fresh", wordsSchema("When the text is too old: it opened a gate before, it has not changed in this visit, or never.", freshWords[:]...)},
		key{"evidence", wordsSchema("A fact that Orange looks up.", EvidenceVocabulary()...)},
		key{"file", textSchema("A file of the worktree that must be there, not empty, and written in this visit; {variables} are filled in.")},
		key{"header", listOf(textSchema("A field."), "Fields that the frontmatter of the file must have.")},
		key{"children", listOf(nameOf("A state."), "Every child of the task must be in one of these states; it must have one.")},
		key{"check", nameOf("A check that passed on the present tree of the branch.")},
	)
	for _, kind := range GateKinds() {
		s.OneOf = append(s.OneOf, &jsonschema.Schema{Required: []string{kind.Key}})
	}
	return s
}

func stateSchema() *jsonschema.Schema {
	s := mappingSchema("Where a task can be.",
		key{"kind", wordsSchema("What the state waits for: a resource, an agent, checks that Orange runs, an answer, a decision, a person to resume, or nothing.", kindWords...)},
		key{"role", nameOf("Who works here.")},
		key{"deadline", mappingSchema("How long its agent may take.",
			key{"wall", durationSchema("In all.")}, key{"idle", durationSchema("Without a sign of life.")})},
		key{"respawn", wordsSchema("How a dead agent is replaced.", respawnWords[:]...)},
		key{"on_idle", wordsSchema("What follows when the agent ends its turn without a question and without moving the task: a person is asked, or the agent is asked once to continue.", onIdleWords[:]...)},
		key{"prompt", nameOf("The prompt of the role on entering, if not its own.")},
		key{"respawn_prompt", nameOf("The prompt of a replacement, if not the role's own.")},
		key{"model", textSchema("The model of the agent, in the agent's own words.")},
		key{"mode", textSchema("What the role is to do here, where it has several parts.")},
		key{"cooldown", durationSchema("After the work failed here, before an agent is started again.")},
		key{"returns", &jsonschema.Schema{Type: "boolean", Description: "Remember where the task came from; going back needs no gate."}},
		key{"reopen", nameOf("Where a person may send a finished task again.")},
		key{"on_enter", listOf(effectSchema(), "Effects of entering, in order.")},
		key{"checks", listOf(nameOf("A check."), "The checks that run here, in order; all if nothing is given.")},
	)
	s.Required = []string{"kind"}
	return s
}

func edgeSchema() *jsonschema.Schema {
	s := mappingSchema("A permitted move.",
		key{"from", listOf(nameOf("A state, or new for a task that does not exist yet."), "Where it leads from.")},
		key{"to", nameOf("Where it leads to.")},
		key{"on", listOf(triggerSchema(), "What it answers to; a request if nothing is given.")},
		key{"by", listOf(nameOf("human, engine, tracker or a role."), "Who may take it.")},
		key{"as", nameOf("The verb that asks for it.")},
		key{"when", textSchema("A guard over counters and return_to, such as review_round < 2.")},
		key{"gate", listOf(nameOf("A gate."), "Evidence that must be there.")},
		key{"count", countsSchema()},
		key{"do", listOf(effectSchema(), "Effects of taking it, in order.")},
		key{"confirm", listOf(nameOf("A role."), "Who may ask for it if a person agrees.")},
		key{"hold", &jsonschema.Schema{Type: "boolean", Description: "The task stays, its agent is not replaced, and a person looks."}},
		key{"override", &jsonschema.Schema{Type: "boolean", Description: "Recorded as a person's decision against the rules."}},
		key{"describe", textSchema("What the move means, in a few words.")},
	)
	s.Required = []string{"from", "to"}
	return s
}

func triggerSchema() *jsonschema.Schema {
	word := wordsSchema("Something that happens.", triggerWords[:]...)
	object := mappingSchema("Something that happens, with its value.",
		key{"outcome", textSchema("A code that an agent's protocol gave.")},
		key{"consult", nameOf("The role that is asked for advice.")},
		key{"board", mappingSchema("How the card looks.",
			key{"column", listOf(textSchema("A column."), "The card is in one of these.")},
			key{"tags", listOf(textSchema("A tag; * at its end stands for any rest."), "It has all of these.")},
			key{"not", listOf(textSchema("A tag; * at its end stands for any rest."), "It has none of these.")})},
		key{"timer", durationSchema("The time since the task came here.")},
		key{"tracker", textSchema("An event of a tracker.")},
		key{"tag", textSchema("A tag that was set on the tracker.")},
		key{"pr", textSchema("What became of the pull request, such as merged.")},
		key{"check", wordsSchema("How the checks of the state went.", checkWords[:]...)},
		key{"landing", wordsSchema("How the landing of the branch went.", landingWords[:]...)},
	)
	return &jsonschema.Schema{AnyOf: []*jsonschema.Schema{word, object}}
}

// effectSchema accepts the bare word of an effect without an argument, and a mapping for one
// with a role or a message.
func effectSchema() *jsonschema.Schema {
	var bare []string
	var full []key
	for _, e := range effectVocabulary {
		if e.Own {
			continue
		}
		if e.TakesArg == "" {
			bare = append(bare, e.Name)
			continue
		}
		if e.Name == Notify {
			s := mappingSchema(e.Describe+".", key{"role", nameOf("The role whose agent is notified.")}, key{"prompt", nameOf("The message to it.")})
			s.Required = []string{"role", "prompt"}
			full = append(full, key{e.Name, s})
			continue
		}
		value := nameOf
		if e.Card {
			value = textSchema
		}
		full = append(full, key{e.Name, value(e.Describe + "; give the " + e.TakesArg + ".")})
	}
	return &jsonschema.Schema{AnyOf: []*jsonschema.Schema{
		wordsSchema("An effect.", bare...),
		mappingSchema("An effect, with the role or message it is about.", full...),
	}}
}

func marksSchema(describe string) *jsonschema.Schema {
	return &jsonschema.Schema{Type: "object", Description: describe, AdditionalProperties: listOf(nameOf("human or a role."), "Who may ask for it.")}
}

func boardSchema() *jsonschema.Schema {
	s := mappingSchema("The board that tasks are on.",
		key{"columns", marksSchema("Its columns in order, each with the roles that may move a card there by their result; people may always.")},
		key{"tags", marksSchema("Its tags, each with the roles that may set it by their result; people may always.")},
	)
	s.Required = []string{"columns"}
	return s
}

func countsSchema() *jsonschema.Schema {
	return namedSchema("Changes of counters: +1 raises, 0 sets.", &jsonschema.Schema{
		Types: []string{"integer", "string"}, Pattern: "^\\+?[0-9]+$", Description: "+1 raises, 0 sets.",
	})
}

func checksSchema() *jsonschema.Schema {
	one := mappingSchema("A command that Orange runs on the work of a task.",
		key{"run", textSchema("The command, for the shell.")},
		key{"timeout", durationSchema("How long it may run.")},
		key{"retries", &jsonschema.Schema{Type: "integer", Description: "How often it is run again after it failed."}},
		key{"env", namedSchema("Variables of its environment.", textSchema("A value."))},
		key{"folder", textSchema("The folder of the worktree in which it runs.")},
		key{"setup", textSchema("A command that runs first.")})
	one.Required = []string{"run"}
	return namedSchema("Checks of workflows whose project does not define them. The project's definition wins.",
		&jsonschema.Schema{AnyOf: []*jsonschema.Schema{textSchema("The command, for the shell."), one}})
}
