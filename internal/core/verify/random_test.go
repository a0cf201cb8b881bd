package verify_test

import (
	"fmt"
	"math/rand/v2"
	"slices"
	"strings"
)

// randomWorkflow returns the text of a small random workflow. Some do not load; most have
// something wrong with them.
func randomWorkflow(r *rand.Rand, checks bool) string {
	w := &randomText{r: r, checks: checks}
	w.roles()
	w.states()
	w.edges()
	return w.text()
}

type randomText struct {
	r         *rand.Rand
	role      []string // names
	roleText  []string
	agent     []string          // states with an agent
	roleOf    map[string]string // by state
	people    []string          // states in which people are waited for
	stateText []string
	edgeText  []string
	rounds    bool // there is a counter
	verdicts  bool // there is a section with verdicts
	silence   bool // ends without an answer are counted
	checks    bool // there is a check state
}

func (w *randomText) yes(percent int) bool { return w.r.IntN(100) < percent }

func pick[T any](r *rand.Rand, list []T) T { return list[r.IntN(len(list))] }

func (w *randomText) roles() {
	most := 3
	if w.checks { // the full search of larger ones takes too long
		most = 1
	}
	for i := range 1 + w.r.IntN(most) {
		name := fmt.Sprintf("role%d", i+1)
		more := ""
		if w.yes(15) && i > 0 {
			more += ", stands_in_for: " + pick(w.r, w.role)
		}
		if w.yes(15) {
			more += ", harness: [claude, codex]"
		}
		w.role = append(w.role, name)
		w.roleText = append(w.roleText, fmt.Sprintf("  %s: {session: %s, prompt: work%s}", name, pick(w.r, []string{"persistent", "persistent", "visit"}), more))
	}
	w.rounds, w.verdicts, w.silence = w.yes(50), w.yes(40), w.yes(30)
}

func (w *randomText) states() {
	w.roleOf = map[string]string{}
	w.stateText = []string{"  todo: {kind: queued}"}
	most := 4
	if w.checks {
		most = 2
	}
	for i := range 1 + w.r.IntN(most) {
		name := fmt.Sprintf("work%d", i+1)
		w.roleOf[name] = pick(w.r, w.role)
		if i < len(w.role) {
			w.roleOf[name] = w.role[i]
		}
		more := ""
		if w.yes(85) {
			more += ", deadline: {wall: 1h}"
		}
		if w.yes(40) {
			more += ", respawn: " + pick(w.r, []string{"now", "auto", "manual"})
		}
		if w.yes(15) {
			more += ", cooldown: 30m"
		}
		w.agent = append(w.agent, name)
		w.stateText = append(w.stateText, fmt.Sprintf("  %s: {kind: agent, role: %s%s}", name, w.roleOf[name], more))
	}
	for _, kind := range []string{"human", "halt", "waiting"} {
		if kind != "halt" && !w.yes(50) {
			continue
		}
		more := ""
		if kind != "human" && w.yes(40) {
			more = ", returns: true"
		}
		if kind == "halt" && w.yes(20) {
			more += ", role: " + pick(w.r, w.role)
		}
		w.people = append(w.people, kind+"1")
		w.stateText = append(w.stateText, fmt.Sprintf("  %s1: {kind: %s%s}", kind, kind, more))
	}
	if w.checks {
		w.stateText = append(w.stateText, "  checking: {kind: check"+pick(w.r, []string{"", ", checks: [tests]"})+"}")
	}
	reopen := ""
	if w.yes(30) {
		reopen = ", reopen: " + pick(w.r, w.agent)
	}
	w.stateText = append(w.stateText, "  done: {kind: terminal"+reopen+"}", "  dropped: {kind: terminal}")
}

func (w *randomText) edge(format string, args ...any) {
	w.edgeText = append(w.edgeText, "  - {"+fmt.Sprintf(format, args...)+"}")
}

func (w *randomText) edges() {
	w.edge("from: new, to: todo, on: create, by: [human]")
	if w.yes(30) {
		w.edge("from: new, to: %s, on: create, by: [human]", pick(w.r, w.agent))
	}
	w.edge("from: todo, to: %s, on: [request, ready], as: complete, by: [human, engine]", w.agent[0])
	for i, from := range w.agent {
		to := "done"
		if i+1 < len(w.agent) {
			to = w.agent[i+1]
		} else if len(w.people) > 0 && w.yes(70) {
			to = pick(w.r, w.people)
		}
		if w.checks && (i+1 == len(w.agent) || w.yes(20)) {
			w.checkEdges(from, to)
			to = "checking"
		}
		w.onward(from, to)
		for w.yes(35) {
			w.onward(from, pick(w.r, slices.Concat(w.agent, w.people)))
		}
		if w.yes(90) {
			w.edge("from: %s, to: %s, on: crash-limit", from, pick(w.r, w.people))
		}
		if w.silence && w.yes(90) {
			w.edge("from: %s, to: %s, on: no-answer-limit", from, pick(w.r, w.people))
		}
	}
	for _, from := range w.people {
		w.edge("from: %s, to: %s, as: resume, by: [human]%s", from, pick(w.r, w.agent), w.extra())
		if w.yes(40) {
			w.edge("from: %s, to: done, as: complete, by: [human%s]%s", from, pick(w.r, []string{"", ", " + pick(w.r, w.role)}), w.extra())
		}
		if w.yes(25) {
			w.edge("from: %s, to: %s, on: {timer: 1h}", from, pick(w.r, w.agent))
		}
	}
	if w.yes(90) {
		w.edge("from: [%s], to: dropped, as: cancel, by: [human%s]", strings.Join(slices.Concat([]string{"todo"}, w.agent, w.people), ", "), pick(w.r, []string{"", "", ", " + pick(w.r, w.role)}))
	}
}

// checkEdges are the ways out of the check state. Some loops have no bound, and some failures no edge.
func (w *randomText) checkEdges(back, to string) {
	if slices.ContainsFunc(w.edgeText, func(e string) bool { return strings.Contains(e, "from: checking") }) {
		return
	}
	w.edge("from: checking, to: %s, on: {check: passed}", to)
	if w.yes(80) {
		w.edge("from: checking, to: %s, on: {check: failed}, when: failures < 1, count: {failures: +1}%s", back, pick(w.r, []string{"", ", do: [{notify: {role: " + w.roleOf[back] + ", prompt: work}}]"}))
	} else {
		w.edge("from: checking, to: %s, on: {check: failed}", back)
	}
	if w.yes(80) {
		w.edge("from: checking, to: %s, on: {check: failed}, when: failures >= 1", pick(w.r, w.people))
	}
	if w.yes(60) {
		w.edge("from: checking, to: %s, as: accept, by: [human]", to)
	}
	if w.yes(90) {
		w.edge("from: checking, to: dropped, as: cancel, by: [human], do: [kill_session]")
	}
}

// onward is an edge that agents take.
func (w *randomText) onward(from, to string) {
	by := w.roleOf[from]
	if w.yes(20) {
		by = pick(w.r, w.role)
	}
	on := pick(w.r, []string{"[request, exit]", "[request, exit]", "request", "exit", "{outcome: GO}", "{outcome: FAILED}, hold: true", "[request, {tracker: \"pr:merged\"}]"})
	w.edge("from: %s, to: %s, on: %s, as: go-%s, by: [%s%s]%s", from, to, on, to, by, pick(w.r, []string{"", ", human", ", human, engine"}), w.extra())
}

// extra are gates, guards, counts and effects of an edge.
func (w *randomText) extra() string {
	out := ""
	switch {
	case w.yes(40):
		out += ", gate: report"
	case w.yes(20):
		out += ", gate: plan"
	case w.verdicts && w.yes(50):
		out += ", gate: " + pick(w.r, []string{"passed", "failed"})
	case w.yes(10):
		out += ", gate: merged"
	}
	if w.rounds && w.yes(30) {
		out += ", when: rounds < 1, count: {rounds: +1}"
	} else if w.rounds && w.yes(20) {
		out += ", " + pick(w.r, []string{"when: rounds >= 1", "count: {rounds: 0}", "count: {rounds: +1}"})
	}
	if w.yes(20) {
		role := pick(w.r, w.role)
		out += ", do: [" + pick(w.r, []string{"kill_session", "{kill_agent: " + role + "}", "{spawn_agent: " + role + "}", "{notify: {role: " + role + ", prompt: work}}", "delete_remote_branch"}) + "]"
	}
	return out
}

func (w *randomText) text() string {
	var b strings.Builder
	part := func(title string, lines []string) {
		b.WriteString(title + ":\n" + strings.Join(lines, "\n") + "\n")
	}
	b.WriteString("name: random\nversion: 1\ndescribe: Nobody thought about it.\n")
	part("roles", w.roleText)
	counters := []string{"  crashes: {max: 2, per: state, counts: crashes}"}
	if w.rounds {
		counters = append(counters, "  rounds: {max: 1"+pick(w.r, []string{"", ", reset: person"})+"}")
	}
	if w.checks {
		counters = append(counters, "  failures: {max: 1"+pick(w.r, []string{"", ", reset: person"})+"}")
	}
	if w.silence {
		counters = append(counters, "  silence: {max: 2, per: state, counts: no-answers}")
	}
	part("counters", counters)
	gates := []string{
		"  report: {section: Report, any_of: [DONE], fresh: " + pick(w.r, []string{"unused", "unused", "off"}) + "}",
		"  plan: {section: Plan, fresh: unused}", "  merged: {evidence: merged}",
	}
	if w.verdicts {
		fresh := pick(w.r, []string{"visit", "visit", "unused", "off"})
		gates = append(gates, "  passed: {section: Review, verdict: PASS, fresh: "+fresh+"}", "  failed: {section: Review, verdict: FAIL, fresh: "+fresh+"}")
	}
	part("gates", gates)
	part("states", w.stateText)
	part("edges", w.edgeText)
	part("prompts", []string{`  work: "{summary}"`})
	return b.String()
}
