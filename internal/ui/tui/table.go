package tui

import (
	"cmp"
	"fmt"
	"slices"
	"strings"
	"time"

	charm "github.com/charmbracelet/x/ansi"

	"orange/internal/core/explain"
	"orange/internal/core/workflow"
	"orange/internal/ui/tui/render"
	"orange/internal/view/narrate"
	"orange/internal/view/overview"
)

// styledText is a text and its style.
type styledText struct {
	text  string
	style render.Style
}

// column is a column of the table.
type column struct {
	name  string
	width int  // 0: it is not shown
	right bool // its texts are right-aligned
	cell  func(*model, *overview.Row) []styledText
}

// Limits of widths.
const (
	leastTask    = 16
	enoughTask   = 26
	mostTask     = 48
	leastSummary = 16

	enoughSummary = 40
	mostCell      = 22
)

// allColumns returns the columns in order.
func allColumns() []column {
	return []column{
		{name: "TASK", cell: taskCell},
		{name: "STATUS", cell: statusCell},
		{name: "WHO", cell: whoCell},
		{name: "CHECKS", cell: checksCell},
		{name: "PR", cell: prCell},
		{name: "COMMITS", right: true, cell: commitsCell},
		{name: "CHANGES", right: true, cell: changesCell},
		{name: "COST", right: true, cell: costCell},
		{name: "ACTIVE", right: true, cell: activeCell},
		{name: "TITLE", cell: summaryCell},
	}
}

// columnDropOrder returns the columns that are dropped when there is no room, least important first.
func columnDropOrder() []string {
	return []string{"COMMITS", "TITLE", "COST", "CHANGES", "CHECKS", "PR", "ACTIVE", "WHO", "STATUS"}
}

// measureColumns computes the widths of the columns. A column that is empty everywhere is not shown.
func (m *model) measureColumns() {
	m.cols, m.longest = allColumns(), 0
	for i := range m.lines {
		if r := m.lines[i].row; r != nil {
			m.widenColumns(r)
		}
	}
}

// widenColumns widens the columns for a row. Columns do not become narrower when rows change, because a table that
// moves is hard to read.
func (m *model) widenColumns(r *overview.Row) {
	for c := range m.cols {
		col := &m.cols[c]
		if c > 0 && col.width >= mostCell {
			continue
		}
		w := widthOf(col.cell(m, r))
		if c == 0 {
			m.longest = max(m.longest, min(w, mostTask))
		}
		if w > 0 {
			col.width = max(col.width, min(w, mostCell), len(col.name))
		}
	}
}

func widthOf(pieces []styledText) int {
	n := 0
	for _, p := range pieces {
		n += charm.StringWidth(p.text)
	}
	return n
}

// fittingColumns returns the columns that fit into a width.
func (m *model) fittingColumns(width int) []column {
	all := slices.Clone(m.cols)
	if len(all) == 0 {
		all = allColumns()[:1]
	}
	all = append(all[:1], slices.DeleteFunc(all[1:], func(c column) bool { return c.width == 0 })...)
	for i := range all {
		if all[i].name == "TITLE" {
			all[i].width = leastSummary
		}
	}
	need := max(leastTask, min(m.longest, enoughTask))
	for _, name := range columnDropOrder() {
		if width-takenWidth(all) >= need {
			break
		}
		all = slices.DeleteFunc(all, func(c column) bool { return c.name == name })
	}
	all[0].width = max(0, width-takenWidth(all))
	if last := &all[len(all)-1]; last.name == "TITLE" {
		name := min(all[0].width, max(need, m.longest)) // the rest is for the summary
		last.width += all[0].width - name
		all[0].width = name
	}
	return all
}

// wantedListWidth returns the width at which the list shows all columns, with most of the summaries.
func (m *model) wantedListWidth() int {
	cols := m.cols
	if len(cols) == 0 {
		return 0
	}
	width := m.longest
	for _, c := range cols[1:] {
		switch {
		case c.name == "TITLE":
			width += enoughSummary + 1
		case c.width > 0:
			width += c.width + 1
		}
	}
	return width
}

// takenWidth returns how many screen columns everything but the name of a task takes.
func takenWidth(all []column) int {
	n := 0
	for _, c := range all[1:] {
		n += c.width + 1
	}
	return n
}

// renderColumnNames renders the header of the table.
func (m *model) renderColumnNames(cols []column) string {
	var out strings.Builder
	for i, c := range cols {
		name := c.name
		if i == 0 {
			name = "  " + name
		}
		if i > 0 {
			out.WriteByte(' ')
		}
		out.WriteString(alignText(name, c.width, c.right))
	}
	return m.theme.Faint.Render(out.String())
}

func alignText(text string, width int, right bool) string {
	if gap := width - charm.StringWidth(text); right && gap > 0 {
		return strings.Repeat(" ", gap) + text
	}
	return fitWidth(text, width)
}

// tableRow renders one task as a line.
func (m *model) tableRow(cols []column, r *overview.Row, selected bool) string {
	wear := func(s render.Style) render.Style {
		if selected {
			return s.WithBackground(m.theme.Selected)
		}
		return s
	}
	var out strings.Builder
	for i, c := range cols {
		if i > 0 {
			out.WriteString(wear(m.theme.Text).Render(" "))
		}
		out.WriteString(m.renderCell(c, r, wear))
	}
	return out.String()
}

// renderCell renders a cell in exactly its width.
func (m *model) renderCell(c column, r *overview.Row, wear func(render.Style) render.Style) string {
	var out strings.Builder
	pieces, room := c.cell(m, r), c.width
	used := widthOf(pieces)
	if c.right && used < room {
		out.WriteString(wear(m.theme.Text).Render(strings.Repeat(" ", room-used)))
		room = used
	}
	for _, p := range pieces {
		w := min(room, charm.StringWidth(p.text))
		if w <= 0 {
			break
		}
		out.WriteString(wear(p.style).Render(fitWidth(p.text, w)))
		room -= w
	}
	if room > 0 {
		out.WriteString(wear(m.theme.Text).Render(strings.Repeat(" ", room)))
	}
	return out.String()
}

func (m *model) lifeIcon(r *overview.Row) styledText {
	switch mk, marked := m.marks[r.ID]; {
	case m.busy[r.ID] != "":
		return styledText{"◌ ", m.theme.Accent}
	case mk.why != "":
		return styledText{"! ", m.theme.Bad}
	case marked:
		return styledText{"✔ ", m.theme.Accent}
	case r.Idle():
		return styledText{"● ", m.theme.Faint}
	case r.Life == overview.Alive:
		return styledText{"● ", m.theme.Good}
	case r.Life == overview.Dead:
		return styledText{"✗ ", m.theme.Bad}
	}
	return styledText{"○ ", m.theme.Faint}
}

func taskCell(m *model, r *overview.Row) []styledText {
	out := []styledText{m.lifeIcon(r)}
	if n := workspaceNumber(r.Workspace); n != "" {
		out = append(out, styledText{"[" + n + "] ", m.theme.Faint})
	}
	return append(out, styledText{r.Project + "/", m.theme.Faint}, styledText{r.Branch, m.theme.Text})
}

// workspaceNumber returns the number at the end of a workspace's name.
func workspaceNumber(name string) string {
	i := len(name)
	for i > 0 && name[i-1] >= '0' && name[i-1] <= '9' {
		i--
	}
	return name[i:]
}

func statusCell(m *model, r *overview.Row) []styledText {
	out := []styledText{{r.Status, m.statusStyle(r)}}
	switch {
	case r.Life == overview.Dead:
		out = append(out, styledText{" crashed", m.theme.Bad})
	case r.Paused:
		out = append(out, styledText{" paused", m.theme.Warn})
	case r.Landing != nil:
		out = append(out, styledText{" " + narrate.DescribePlace(overview.PlaceOf(m.state.Tasks, r)), m.theme.Busy})
	case r.Queued:
		out = append(out, styledText{" " + cmp.Or(narrate.DescribeAfter(r.After), "queued"), m.theme.Faint})
	}
	return out
}

func (m *model) statusStyle(r *overview.Row) render.Style {
	switch r.Kind {
	case workflow.Agent:
		return m.theme.Busy
	case workflow.HumanDo, workflow.Waiting:
		return m.theme.Warn
	case workflow.Halt:
		return m.theme.Bad
	case workflow.Terminal, workflow.Queued:
		return m.theme.Faint
	}
	return m.theme.Text
}

func whoCell(m *model, r *overview.Row) []styledText {
	switch {
	case r.Wants == explain.ItemStart:
		return []styledText{{"backlog", m.theme.Faint}}
	case r.Wants != "":
		return []styledText{{wantWord(r.Wants), wantStyle(m, r.Wants)}}
	case r.Owner == "a person":
		return []styledText{{"you", m.theme.Warn}}
	case r.Owner == "nobody", r.Kind == workflow.Terminal:
		return []styledText{{"-", m.theme.Faint}}
	}
	who := strings.TrimPrefix(strings.TrimPrefix(r.Owner, "the "), "a ")
	if r.Idle() {
		return []styledText{{who + " idle", m.theme.Faint}}
	}
	return []styledText{{who, m.theme.Text}}
}

// wantWord says what a task needs a person for, in a few words.
func wantWord(kind explain.ItemKind) string {
	if kind == explain.ItemAttention {
		return "needs attention"
	}
	return "you: " + string(kind)
}

func wantStyle(m *model, kind explain.ItemKind) render.Style {
	switch {
	case kind.Info().Alarming:
		return m.theme.Bad
	case !kind.WaitsForPerson():
		return m.theme.Faint
	}
	return m.theme.Warn
}

func prCell(m *model, r *overview.Row) []styledText {
	if r.PR == nil {
		return nil
	}
	out := []styledText{{fmt.Sprintf("#%d ", r.PR.Number), m.theme.Text}}
	switch {
	case r.PR.State == "MERGED":
		return append(out, styledText{"merged", m.theme.Good})
	case r.PR.State == "CLOSED":
		return append(out, styledText{"closed", m.theme.Faint})
	}
	switch r.PR.Checks {
	case "passed":
		return append(out, styledText{"✓", m.theme.Good}, styledText{" open", m.theme.Faint})
	case "failed":
		return append(out, styledText{"✗", m.theme.Bad}, styledText{" open", m.theme.Faint})
	case "pending":
		return append(out, styledText{"…", m.theme.Warn}, styledText{" open", m.theme.Faint})
	}
	return append(out, styledText{"open", m.theme.Faint})
}

func commitsCell(m *model, r *overview.Row) []styledText {
	if r.Work == nil || r.Work.Commits == 0 {
		return nil
	}
	return []styledText{{fmt.Sprint(r.Work.Commits), m.theme.Text}}
}

func changesCell(m *model, r *overview.Row) []styledText {
	if r.Work == nil || r.Work.Added == 0 && r.Work.Deleted == 0 {
		return nil
	}
	return []styledText{{"+" + shortNumber(r.Work.Added), m.theme.Good}, {" -" + shortNumber(r.Work.Deleted), m.theme.Bad}}
}

// shortNumber returns a number in at most four characters.
func shortNumber(n int) string {
	switch {
	case n < 10_000:
		return fmt.Sprint(n)
	case n < 1_000_000:
		return fmt.Sprintf("%dk", n/1000)
	}
	return fmt.Sprintf("%dM", n/1_000_000)
}

func costCell(m *model, r *overview.Row) []styledText {
	if r.Spent.CostMicroUSD == 0 {
		return nil
	}
	return []styledText{{formatCost(r.Spent.CostMicroUSD), m.theme.Text}}
}

func formatCost(micros int64) string {
	if micros >= 1_000_000_000 {
		return fmt.Sprintf("$%d", micros/1_000_000)
	}
	return fmt.Sprintf("$%d.%02d", micros/1_000_000, micros/10_000%100)
}

func activeCell(m *model, r *overview.Row) []styledText {
	style := m.theme.Text
	if m.now.Sub(r.Active) > time.Hour {
		style = m.theme.Faint
	}
	return []styledText{{formatAge(m.now, r.Active), style}}
}

func summaryCell(m *model, r *overview.Row) []styledText {
	return []styledText{{r.Summary, m.theme.Faint}}
}
