package workflow

func (d *Definition) readRoles(v value) {
	for _, p := range v.readPairs("roles") {
		role := Role{Name: declaredName(v.r, p), Harness: TaskHarness, FallbackAfter: fallbackAfter, Session: Persistent, Window: p.key, Access: "full", Pos: p.pos}
		var model, effort string
		for _, q := range p.val.readPairs("role " + p.key) {
			what := "role " + p.key + ": " + q.key
			switch q.key {
			case "harness":
				role.Choices = readChoices(q.val, what)
			case "model":
				model = q.val.readText(what)
			case "effort":
				effort = q.val.readText(what)
			case "fallback_after":
				role.FallbackAfter = q.val.readDuration(what)
			case "session":
				role.Session = Session(q.val.oneOf(what, sessionWords[:]...))
			case "window":
				role.Window = q.val.readText(what)
			case "prompt":
				role.Prompt = q.val.readName(what)
			case "respawn_prompt":
				role.RespawnPrompt = q.val.readName(what)
			case "rework_prompt":
				role.ReworkPrompt = q.val.readName(what)
			case "access":
				role.Access = q.val.oneOf(what, accessWords[:]...)
			case "stands_in_for":
				role.StandsInFor = q.val.readName(what)
			case "protocol":
				role.Protocol = q.val.oneOf(what, protocolWords[:]...)
			case "work_type":
				role.WorkType = q.val.readName(what)
			case "serial":
				role.Serial = q.val.readName(what)
			case "flag":
				role.Flag = q.val.readText(what)
			case "claim":
				role.Claim = q.val.readText(what)
			case "describe":
				role.Describe = q.val.readText(what)
			default:
				unknownKey(v.r, q, "a role", "harness", "model", "effort", "fallback_after", "session", "window", "prompt", "respawn_prompt", "rework_prompt", "access", "stands_in_for", "protocol", "work_type", "serial", "flag", "claim", "describe")
			}
		}
		role.settleChoices(v.r, p.pos, model, effort)
		if role.WorkType == "" {
			role.WorkType = role.Name
		}
		d.Roles = append(d.Roles, role)
	}
}

func (d *Definition) readCounters(v value) {
	for _, p := range v.readPairs("counters") {
		c := Counter{Name: declaredName(v.r, p), Pos: p.pos, placeholder: "{" + p.key + "}"}
		for _, q := range p.val.readPairs("counter " + p.key) {
			what := "counter " + p.key + ": " + q.key
			switch q.key {
			case "max":
				c.Max = q.val.readInteger(what)
			case "per":
				c.PerState = q.val.oneOf(what, perWords[:]...) == "state"
			case "counts":
				word := q.val.oneOf(what, countsWords[:]...)
				c.Crashes, c.Silence = word == "crashes", word == "no-answers"
			case "reset":
				c.ByPerson = q.val.oneOf(what, resetWords[:]...) == "person"
			default:
				unknownKey(v.r, q, "a counter", "max", "per", "counts", "reset")
			}
		}
		if c.Max < 1 || c.Max > 1000 {
			v.r.failAt(p.pos, "counter %s: give max: a bound from 1 to 1000, so that the file can be checked", p.key)
		}
		if c.Crashes && d.CrashCounter() != nil {
			v.r.failAt(p.pos, "counter %s: a second counter with counts: crashes: keep one", p.key)
		}
		if c.Silence && d.SilenceCounter() != nil {
			v.r.failAt(p.pos, "counter %s: a second counter with counts: no-answers: keep one", p.key)
		}
		d.Counters = append(d.Counters, c)
	}
}

func (d *Definition) readGates(v value) {
	for _, p := range v.readPairs("gates") {
		g := Gate{Name: declaredName(v.r, p), Pos: p.pos}
		for _, q := range p.val.readPairs("gate " + p.key) {
			what := "gate " + p.key + ": " + q.key
			switch q.key {
			case "section":
				g.Section = q.val.readText(what)
			case "any_of":
				g.AnyOf = q.val.readTexts(what)
			case "verdict":
				g.Verdict = q.val.oneOf(what, verdictWords[:]...)
			case "form":
				g.AnyWord = q.val.oneOf(what, formWords[:]...) == "word"
			case "fresh":
				g.Fresh = Fresh(q.val.oneOf(what, freshWords[:]...))
			case "evidence":
				g.Evidence = q.val.oneOf(what, evidenceVocabulary[:]...)
			case "file":
				g.File = q.val.readText(what)
			case "header":
				g.Header = q.val.readTexts(what)
			case "children":
				g.Children = q.val.readTexts(what)
			case "check":
				g.Check = q.val.readName(what)
			default:
				unknownKey(v.r, q, "a gate", "section", "any_of", "verdict", "form", "fresh", "evidence", "file", "header", "children", "check")
			}
		}
		if g.kindCount() != 1 {
			v.r.failAt(p.pos, "gate %s: give one of %s", p.key, gateKeys())
		}
		if why := badPath(g.File); why != "" {
			v.r.failAt(p.pos, "gate %s: file %q %s", p.key, g.File, why)
		}
		if g.Section != "" && g.Fresh == "" {
			g.Fresh = FreshUnused
		}
		d.Gates = append(d.Gates, g)
	}
}

func (d *Definition) readPrompts(v value) {
	for _, q := range v.readPairs("prompts") {
		d.Prompts = append(d.Prompts, Prompt{Name: declaredName(v.r, q), Text: q.val.readText("prompt " + q.key), Pos: q.pos})
	}
}

func (d *Definition) readVars(v value) {
	for _, p := range v.readPairs("vars") {
		one := Var{Name: declaredName(v.r, p), Pos: p.pos}
		for _, q := range p.val.readPairs("variable " + p.key) {
			what := "variable " + p.key + ": " + q.key
			switch q.key {
			case "default":
				one.Default = q.val.readText(what)
			case "describe":
				one.Describe = q.val.readText(what)
			default:
				unknownKey(v.r, q, "a variable", "default", "describe")
			}
		}
		d.Vars = append(d.Vars, one)
	}
}
