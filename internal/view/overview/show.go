package overview

import (
	"cmp"
	"slices"
	"strconv"
	"strings"

	"orange/internal/core/explain"
	"orange/internal/core/task"
	"orange/internal/core/workflow"
	"orange/internal/view/narrate"
)

// A Scope selects tasks by whether they are over.
type Scope string

// The scopes.
const (
	Active  Scope = "active" // not over
	Done    Scope = "done"   // over
	All     Scope = "all"
	Current Scope = "current" // all of a state that leaves out what was over long ago
)

// A Choice selects and orders the rows that are shown.
type Choice struct {
	Scope   Scope  // "" is Active
	Project string // "" for all
	Status  string
	Search  string // words that must all be in the row
	Filter  Filter // rows that match it best come first
	Wanted  bool   // only those that wait for a person
	Sort    Order
	Reverse bool
	Group   Grouping
}

// An Order is what rows are sorted by.
type Order string

// The orders.
const (
	ByCreation Order = "created"
	ByActivity Order = "activity" // the latest first
	ByStatus   Order = "status"   // in the order of the workflow's kinds, then by name
	ByProject  Order = "project"
	ByCost     Order = "cost"    // most expensive first
	ByWaiting  Order = "waiting" // waiting longest for a person first
)

// AllOrders lists the orders, as a key cycles through them.
func AllOrders() []Order {
	return []Order{ByCreation, ByActivity, ByStatus, ByProject, ByCost, ByWaiting}
}

// Grouping is what rows are grouped by.
type Grouping string

// The groupings.
const (
	NoGroups    Grouping = ""
	TurnGroup   Grouping = "turn" // by who must act
	StatusGroup Grouping = "status"
	ProjectRows Grouping = "project"
)

// A Group is rows that belong together.
type Group struct {
	Name string
	Rows []Row
}

// ChooseRows returns the rows that are shown, in their groups. It does not change the order of the slice rows.
func ChooseRows(rows []Row, c Choice) []Group {
	words := strings.Fields(strings.ToLower(c.Search))
	type match struct {
		row   *Row
		score int
	}
	picked := make([]match, 0, len(rows))
	for i := range rows {
		if !c.showsRow(&rows[i], words) {
			continue
		}
		if score := c.Filter.scoreRow(&rows[i]); score > 0 {
			picked = append(picked, match{&rows[i], score})
		}
	}
	slices.SortStableFunc(picked, func(a, b match) int {
		n := compareRows(a.row, b.row, c.Sort)
		if c.Reverse {
			n = -n
		}
		return cmp.Or(b.score-a.score, n)
	})
	found := make([]*Row, len(picked))
	for i, p := range picked {
		found[i] = p.row
	}
	return groupRows(found, c.Group)
}

func (c *Choice) showsRow(r *Row, words []string) bool {
	over, scope := r.Kind == workflow.Terminal, c.Filter.scopeOr(c.Scope)
	switch {
	case c.Project != "" && r.Project != c.Project, c.Status != "" && r.Status != c.Status, c.Wanted && !r.Wants.WaitsForPerson():
		return false
	case scope == Done && !over, (scope == Active || scope == "") && over && r.Wants == "":
		return false
	case len(words) == 0:
		return true
	}
	text := strings.ToLower(strings.Join([]string{string(r.ID), r.Project, r.Branch, r.Summary, r.Status, r.Tracker, string(r.Wants), r.Owner}, " "))
	if r.PR != nil {
		text += " #" + strconv.Itoa(r.PR.Number)
	}
	for _, w := range words {
		if !strings.Contains(text, w) {
			return false
		}
	}
	return true
}

func compareRows(a, b *Row, by Order) int {
	switch by {
	case ByActivity:
		return b.Active.Compare(a.Active)
	case ByStatus:
		return cmp.Or(cmp.Compare(KindPlace(a.Kind), KindPlace(b.Kind)), cmp.Compare(a.Status, b.Status))
	case ByProject:
		return cmp.Or(cmp.Compare(a.Project, b.Project), cmp.Compare(a.Branch, b.Branch))
	case ByCost:
		return cmp.Compare(b.Spent.CostMicroUSD, a.Spent.CostMicroUSD)
	case ByWaiting:
		return cmp.Or(cmp.Compare(waitRank(b), waitRank(a)), a.Asked.Compare(b.Asked))
	}
	return a.Created.Compare(b.Created)
}

func waitRank(r *Row) int {
	if r.Wants.WaitsForPerson() {
		return 1
	}
	return 0
}

// KindPlace returns the position of a state's kind in the life of a task.
func KindPlace(k workflow.Kind) int {
	order := []workflow.Kind{workflow.Queued, workflow.Waiting, workflow.Agent, workflow.HumanDo, workflow.Halt, workflow.Terminal}
	if i := slices.Index(order, k); i >= 0 {
		return i
	}
	return len(order)
}

// groupRows copies rows into their groups. Groups are in the order of the life of a task, or by name.
func groupRows(rows []*Row, by Grouping) []Group {
	type part struct {
		name  string
		place int
		rows  []*Row
	}
	index := map[string]int{}
	var parts []part
	for _, r := range rows {
		name, place := groupOf(r, by)
		at, known := index[name]
		if !known {
			at = len(parts)
			index[name] = at
			parts = append(parts, part{name: name, place: place})
		}
		parts[at].place = min(parts[at].place, place)
		parts[at].rows = append(parts[at].rows, r)
	}
	slices.SortFunc(parts, func(a, b part) int { return cmp.Or(cmp.Compare(a.place, b.place), cmp.Compare(a.name, b.name)) })
	all := make([]Row, 0, len(rows)) // rows are large: copy them once
	var out []Group
	for _, p := range parts {
		from := len(all)
		for _, r := range p.rows {
			all = append(all, *r)
		}
		out = append(out, Group{Name: p.name, Rows: all[from:len(all):len(all)]})
	}
	if by == NoGroups && len(out) == 0 {
		return []Group{{Rows: all}}
	}
	return out
}

// groupOf returns the name of a row's group, and its place among the groups.
func groupOf(r *Row, by Grouping) (name string, place int) {
	switch by {
	case NoGroups:
		return "", 0
	case ProjectRows:
		return r.Project, 0
	case TurnGroup:
		turn := r.WhoseTurn()
		return string(turn), slices.Index(AllTurns(), turn)
	}
	return r.Status, KindPlace(r.Kind)
}

// ApplyChange updates a state. Rows keep their places; new ones come last. It ignores rows that are older than those of
// the state.
func (s *State) ApplyChange(c Change) {
	if c.Row >= s.Row {
		s.Row, s.At, s.Paused, s.Projects = c.Row, c.At, c.Paused, c.Projects
	}
	if c.Row == s.Row && len(c.Gone) > 0 {
		s.Tasks = slices.DeleteFunc(s.Tasks, func(r Row) bool { return slices.Contains(c.Gone, r.ID) })
	}
	if len(c.Tasks) == 0 {
		return
	}
	places := make(map[task.ID]int, len(s.Tasks))
	for i := range s.Tasks {
		places[s.Tasks[i].ID] = i
	}
	for _, r := range c.Tasks {
		switch at, known := places[r.ID]; {
		case !known:
			places[r.ID] = len(s.Tasks)
			s.Tasks = append(s.Tasks, r)
		case r.Seq >= s.Tasks[at].Seq:
			s.Tasks[at] = r
		}
	}
}

// CountWaiting returns how many things wait for a person, of tasks, of projects and of all of Orange. project is "" for
// all projects.
func (s *State) CountWaiting(project string) int {
	n := s.CountItemsWithoutTask(project)
	for i := range s.Tasks {
		if r := &s.Tasks[i]; r.Wants.WaitsForPerson() && (project == "" || r.Project == project) {
			n++
		}
	}
	return n
}

// CountItemsWithoutTask returns how many things wait for a person that belong to a project or to all of Orange.
func (s *State) CountItemsWithoutTask(project string) int {
	n := 0
	for _, it := range s.itemsWithoutTask() {
		if project == "" || it.Project == "" || it.Project == project {
			n++
		}
	}
	return n
}

// hasDependencies reports whether a task is after another.
func (s *State) hasDependencies() bool {
	for i := range s.Tasks {
		if len(s.Tasks[i].After) > 0 {
			return true
		}
	}
	return false
}

// itemsWithoutTask returns what waits for a person and belongs to a project or to all of Orange.
func (s *State) itemsWithoutTask() []explain.Item {
	held := map[string]int{} // to land, by project
	pools := map[string][]explain.PoolTask{}
	dependent := s.hasDependencies() // without dependencies no pool is in a deadlock
	for i := range s.Tasks {
		r := &s.Tasks[i]
		if dependent {
			pools[r.Project] = append(pools[r.Project], explain.PoolTask{ID: r.ID, Holds: r.Workspace != "", Queued: r.Queued, Works: r.Kind.GoesOn(), After: r.After})
		}
		if l := r.Landing; l != nil && !l.Begun {
			held[r.Project]++
		}
	}
	var out []explain.Item
	if s.Paused {
		out = append(out, explain.PausedItem())
	}
	for _, p := range s.Projects {
		out = append(out, explain.GitItems(p.Name, p.Git)...)
		out = append(out, explain.HeldItems(p.Name, p.HoldLanding, held[p.Name])...)
		out = append(out, explain.PoolItems(p.Name, p.Pool, pools[p.Name])...)
	}
	return out
}

// InboxItems returns what waits for a person: first what frees other tasks, then by age. The backlog comes last.
func (s *State) InboxItems() []explain.Item {
	queued := map[string]int{} // for a workspace, by project
	for i := range s.Tasks {
		if s.Tasks[i].Queued {
			queued[s.Tasks[i].Project]++
		}
	}
	out := s.itemsWithoutTask()
	for i := range out {
		narrate.AddCommand(&out[i])
	}
	for i := range s.Tasks {
		r := &s.Tasks[i]
		if r.Wants == "" {
			continue
		}
		it := explain.Item{Task: r.ID, Project: r.Project, Branch: r.Branch, Summary: r.Summary, Status: r.Status, Kind: r.Wants, Text: r.Text, Action: r.Action, Do: r.Do, Verb: r.Verb, Note: r.Note, Since: r.Asked, Reasons: r.Reasons}
		if r.Workspace != "" {
			it.Frees = queued[r.Project]
		}
		out = append(out, it)
	}
	explain.SortInbox(out)
	return out
}

// UsedWorkspaces returns how many workspaces of a project are in use.
func (s *State) UsedWorkspaces(project string) int {
	n := 0
	for i := range s.Tasks {
		if s.Tasks[i].Project == project && s.Tasks[i].Workspace != "" {
			n++
		}
	}
	return n
}

// A Summary counts what a status line shows.
type Summary struct {
	Tasks   int `json:"tasks"`  // not over
	Agents  int `json:"agents"` // alive: they have a process
	Idle    int `json:"idle"`   // agents whose turn is over
	Wants   int `json:"wants"`  // wait for a person
	Queued  int `json:"queued"`
	Backlog int `json:"backlog,omitempty"` // created and not started
	Blocked int `json:"blocked,omitempty"` // agents that cannot continue by themselves
}

// SumRows counts rows.
func SumRows(rows []Row) Summary {
	var out Summary
	for i := range rows {
		out.AddRow(&rows[i])
	}
	return out
}

// AddRow counts a row.
func (s *Summary) AddRow(r *Row) {
	if r.Kind != workflow.Terminal {
		s.Tasks++
	}
	switch {
	case r.Wants.WaitsForPerson():
		s.Wants++
	case r.Wants != "":
		s.Backlog++
	}
	if r.Queued {
		s.Queued++
	}
	for i := range r.Attempts {
		if r.Attempts[i].IsLive() {
			s.Agents++
		}
		if r.Attempts[i].Idle() {
			s.Idle++
		}
		if r.Attempts[i].Blocked() {
			s.Blocked++
		}
	}
}
