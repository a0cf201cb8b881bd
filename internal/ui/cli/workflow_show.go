package cli

import (
	"cmp"
	"io"

	"github.com/spf13/cobra"

	"orange/internal/core/workflow"
)

func newWorkflowShowCommand(deps Deps) *cobra.Command {
	return needsNoServer(&cobra.Command{
		Use: "show NAME|FILE", Short: "Print a workflow file", Args: requireArguments(1, 1),
		Long:    "Print the text of a workflow file: one of the repository, of the user, or a built-in one.",
		Example: "  orange workflow show orange >.orange/workflows/mine.yaml",
		RunE: func(cmd *cobra.Command, args []string) error {
			if !wantsJSON(cmd) {
				_, text, err := findWorkflow(deps, args[0])
				if err != nil {
					return err
				}
				_, err = io.WriteString(cmd.OutOrStdout(), cleanText(text))
				return err
			}
			def, err := loadWorkflow(deps, args[0])
			if err != nil {
				return err
			}
			return printJSON(cmd.OutOrStdout(), structureOf(def))
		},
	})
}

// The structure of a workflow as JSON: what the file says, with its defaults filled in.
type (
	workflowJSON struct {
		Name     string             `json:"name"`
		Version  int                `json:"version"`
		Describe string             `json:"describe,omitempty"`
		File     string             `json:"file"`
		Hash     string             `json:"hash"`
		Roles    []roleJSON         `json:"roles"`
		Counters []counterJSON      `json:"counters"`
		Gates    []gateJSON         `json:"gates"`
		States   []stateJSON        `json:"states"`
		Edges    []edgeJSON         `json:"edges"`
		Prompts  []promptJSON       `json:"prompts"`
		Vars     []varJSON          `json:"vars,omitempty"`
		Board    *boardJSON         `json:"board,omitempty"`
		Tracker  []trackerStateJSON `json:"tracker"`
	}
	roleJSON struct {
		Name          string `json:"name"`
		Harness       string `json:"harness"`
		Session       string `json:"session"`
		Window        string `json:"window"`
		Prompt        string `json:"prompt,omitempty"`
		RespawnPrompt string `json:"respawn_prompt,omitempty"`
		ReworkPrompt  string `json:"rework_prompt,omitempty"`
		Access        string `json:"access"`
		StandsInFor   string `json:"stands_in_for,omitempty"`
		Protocol      string `json:"protocol,omitempty"`
		WorkType      string `json:"work_type,omitempty"`
		Serial        string `json:"serial,omitempty"`
		Flag          string `json:"flag,omitempty"`
		Claim         string `json:"claim,omitempty"`
		Describe      string `json:"describe,omitempty"`
	}
	counterJSON struct {
		Name   string `json:"name"`
		Max    int    `json:"max"`
		Per    string `json:"per"`
		Counts string `json:"counts,omitempty"`
		Reset  string `json:"reset,omitempty"`
	}
	gateJSON struct {
		Name     string   `json:"name"`
		Section  string   `json:"section,omitempty"`
		AnyOf    []string `json:"any_of,omitempty"`
		Verdict  string   `json:"verdict,omitempty"`
		Form     string   `json:"form,omitempty"`
		Fresh    string   `json:"fresh,omitempty"`
		Evidence string   `json:"evidence,omitempty"`
		File     string   `json:"file,omitempty"`
		Header   []string `json:"header,omitempty"`
		Children []string `json:"children,omitempty"`
	}
	stateJSON struct {
		Name          string       `json:"name"`
		Kind          string       `json:"kind"`
		Role          string       `json:"role,omitempty"`
		Wall          string       `json:"wall,omitempty"`
		Idle          string       `json:"idle,omitempty"`
		Respawn       string       `json:"respawn,omitempty"`
		OnIdle        string       `json:"on_idle,omitempty"`
		Prompt        string       `json:"prompt,omitempty"`
		RespawnPrompt string       `json:"respawn_prompt,omitempty"`
		Model         string       `json:"model,omitempty"`
		Mode          string       `json:"mode,omitempty"`
		Input         string       `json:"input,omitempty"`
		Output        string       `json:"output,omitempty"`
		Cooldown      string       `json:"cooldown,omitempty"`
		Returns       bool         `json:"returns,omitempty"`
		Reopen        string       `json:"reopen,omitempty"`
		OnEnter       []effectJSON `json:"on_enter,omitempty"`
	}
	edgeJSON struct {
		From     []string     `json:"from"`
		To       string       `json:"to"`
		On       []string     `json:"on"`
		By       []string     `json:"by"`
		As       string       `json:"as,omitempty"`
		When     string       `json:"when,omitempty"`
		Gate     []string     `json:"gate,omitempty"`
		Count    []countJSON  `json:"count,omitempty"`
		Do       []effectJSON `json:"do"`
		Confirm  []string     `json:"confirm,omitempty"`
		Hold     bool         `json:"hold,omitempty"`
		Override bool         `json:"override,omitempty"`
		Describe string       `json:"describe,omitempty"`
		Line     int          `json:"line"`
	}
	countJSON struct {
		Counter string `json:"counter"`
		Add     bool   `json:"add,omitempty"`
		Value   int    `json:"value"`
	}
	effectJSON struct {
		Do      string `json:"do"`
		Role    string `json:"role,omitempty"`
		Message string `json:"message,omitempty"`
		Word    string `json:"word,omitempty"` // tag or column
	}
	boardJSON struct {
		Columns []markJSON `json:"columns"`
		Tags    []markJSON `json:"tags"`
	}
	markJSON struct {
		Name string   `json:"name"`
		By   []string `json:"by"`
	}
	promptJSON struct {
		Name string `json:"name"`
		Text string `json:"text"`
	}
	varJSON struct {
		Name     string `json:"name"`
		Default  string `json:"default,omitempty"`
		Describe string `json:"describe,omitempty"`
	}
	trackerStateJSON struct {
		State  string `json:"state"`
		Status string `json:"status"`
	}
)

func structureOf(d *workflow.Definition) workflowJSON {
	out := workflowJSON{
		Name: d.Name, Version: d.Version, Describe: d.Describe, File: d.File, Hash: d.Hash,
		Roles: []roleJSON{}, Counters: []counterJSON{}, Gates: []gateJSON{}, States: []stateJSON{},
		Edges: []edgeJSON{}, Prompts: []promptJSON{}, Tracker: []trackerStateJSON{},
	}
	for _, r := range d.Roles {
		out.Roles = append(out.Roles, roleJSON{
			Name: r.Name, Harness: r.Harness, Session: string(r.Session), Window: r.Window, Prompt: r.Prompt,
			RespawnPrompt: r.RespawnPrompt, ReworkPrompt: r.ReworkPrompt, Access: r.Access, StandsInFor: r.StandsInFor, Describe: r.Describe,
			Protocol: r.Protocol, WorkType: workTypeOf(r), Serial: r.Serial, Flag: r.Flag, Claim: r.Claim,
		})
	}
	for _, c := range d.Counters {
		out.Counters = append(out.Counters, counterOf(c))
	}
	for _, g := range d.Gates {
		out.Gates = append(out.Gates, gateOf(g))
	}
	for _, s := range d.States {
		out.States = append(out.States, stateOf(s))
	}
	for _, e := range d.Edges {
		out.Edges = append(out.Edges, edgeOf(e))
	}
	if b := d.Board; b != nil {
		out.Board = &boardJSON{Columns: marksOf(b.Columns), Tags: marksOf(b.Tags)}
	}
	for _, p := range d.Prompts {
		out.Prompts = append(out.Prompts, promptJSON{p.Name, p.Text})
	}
	for _, v := range d.Vars {
		out.Vars = append(out.Vars, varJSON{v.Name, v.Default, v.Describe})
	}
	for _, p := range d.Projections {
		out.Tracker = append(out.Tracker, trackerStateJSON{p.State, p.Status})
	}
	return out
}

func counterOf(c workflow.Counter) counterJSON {
	out := counterJSON{Name: c.Name, Max: c.Max, Per: "task"}
	if c.PerState {
		out.Per = "state"
	}
	switch {
	case c.Crashes:
		out.Counts = "crashes"
	case c.Silence:
		out.Counts = "no-answers"
	}
	if c.ByPerson {
		out.Reset = "person"
	}
	return out
}

func gateOf(g workflow.Gate) gateJSON {
	out := gateJSON{
		Name: g.Name, Section: g.Section, AnyOf: g.AnyOf, Verdict: g.Verdict,
		Fresh: string(g.Fresh), Evidence: g.Evidence, File: g.File, Header: g.Header, Children: g.Children,
	}
	switch {
	case g.Verdict != "" && g.AnyWord:
		out.Form = "word"
	case g.Verdict != "":
		out.Form = "line"
	}
	return out
}

func stateOf(s workflow.State) stateJSON {
	out := stateJSON{
		Name: s.Name, Kind: string(s.Kind), Role: s.Role, Prompt: s.Prompt, RespawnPrompt: s.RespawnPrompt,
		Returns: s.Returns, Reopen: s.Reopen, OnEnter: effectsOf(s.OnEnter),
		Model: s.Model, Mode: s.Mode, Input: s.Input, Output: s.Output,
	}
	if s.Cooldown > 0 {
		out.Cooldown = s.Cooldown.String()
	}
	if s.Kind == workflow.Agent {
		out.Respawn, out.OnIdle = string(s.Respawn), string(cmp.Or(s.OnIdle, workflow.IdleNudge))
	}
	if s.Wall > 0 {
		out.Wall = s.Wall.String()
	}
	if s.Idle > 0 {
		out.Idle = s.Idle.String()
	}
	return out
}

func edgeOf(e workflow.Edge) edgeJSON {
	out := edgeJSON{
		From: e.From, To: e.To, On: []string{}, By: []string{}, As: e.As, Gate: e.Gates, Do: effectsOf(e.Do),
		Hold: e.Hold, Override: e.Override, Describe: e.Describe, Line: e.Pos.Line,
	}
	for _, t := range e.On {
		out.On = append(out.On, t.String())
	}
	for _, a := range e.By {
		out.By = append(out.By, string(a))
	}
	for _, a := range e.Confirm {
		out.Confirm = append(out.Confirm, string(a))
	}
	if e.When != nil {
		out.When = e.When.Source
	}
	for _, c := range e.Count {
		out.Count = append(out.Count, countJSON(c))
	}
	return out
}

func effectsOf(list []workflow.Effect) []effectJSON {
	out := []effectJSON{}
	for _, e := range list {
		out = append(out, effectJSON{Do: e.Name, Role: e.Role, Message: e.Message, Word: e.Word})
	}
	return out
}

// workTypeOf returns the work type of a role that reports its outcome, "" for other roles.
func workTypeOf(r workflow.Role) string {
	if r.Protocol == "" {
		return ""
	}
	return r.WorkType
}

func marksOf(list []workflow.Mark) []markJSON {
	out := []markJSON{}
	for _, m := range list {
		by := []string{}
		for _, a := range m.By {
			by = append(by, string(a))
		}
		out = append(out, markJSON{m.Name, by})
	}
	return out
}
