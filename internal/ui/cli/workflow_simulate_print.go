package cli

import (
	"fmt"
	"io"
	"strings"
	"unicode/utf8"

	"orange/internal/core/simulate"
	"orange/internal/ui/chart"
)

// printSimulation prints a simulation for people.
func printSimulation(w io.Writer, s *simulation) error {
	var b strings.Builder
	fmt.Fprintf(&b, "%s: %s runs, seed %d\n", cleanLine(s.File), chart.Grouped(s.Runs), s.Seed)
	if s.Learned != nil {
		fmt.Fprintf(&b, "learned from %d tasks:\n", s.Learned.Tasks)
		for _, n := range s.Learned.Notes {
			fmt.Fprintf(&b, "  %s\n", cleanLine(n))
		}
	}
	if s.WhatIf != nil {
		for _, c := range s.WhatIf.Changes {
			fmt.Fprintf(&b, "what if %s is %d instead of %d (%d places of the file change)\n", cleanLine(c.Counter), c.To, c.From, c.Places)
		}
	}
	for _, rows := range [][][]string{s.figureRows(), s.endRows(), s.stateRows()} {
		b.WriteString("\n" + numberTable(rows))
	}
	_, err := io.WriteString(w, b.String())
	return err
}

// variants are the summaries to show side by side.
func (s *simulation) variants() []simulate.Summary {
	if s.WhatIf == nil {
		return []simulate.Summary{s.Summary}
	}
	return []simulate.Summary{s.Summary, s.WhatIf.Summary}
}

func (s *simulation) figureRows() [][]string {
	head := []string{"PER TASK"}
	for i := range s.variants() {
		head = append(head, marked("P50", i), marked("P95", i), marked("MEAN", i))
	}
	if s.WhatIf != nil {
		head = append(head, "CHANGE")
	}
	rows := [][]string{head}
	for i, f := range s.Summary.Figures {
		row := []string{cleanLine(f.Name)}
		for _, v := range s.variants() {
			x := v.Figures[i]
			row = append(row, chart.Quantity(x.P50, f.Unit, false), chart.Quantity(x.P95, f.Unit, false), chart.Quantity(x.Mean, f.Unit, true))
		}
		if s.WhatIf != nil {
			row = append(row, chart.Signed(s.WhatIf.Summary.Figures[i].Mean-f.Mean, func(d float64) string { return chart.Quantity(d, f.Unit, true) }))
		}
		rows = append(rows, row)
	}
	return rows
}

// marked names a column of the second variant.
func marked(column string, variant int) string {
	if variant == 1 {
		return "IF " + column
	}
	return column
}

func (s *simulation) endRows() [][]string {
	rows := [][]string{s.shareHead("TASKS THAT", "SHARE")}
	for i, e := range s.Summary.Ends {
		rows = append(rows, s.shareRow("end in "+cleanLine(e.State), func(v *simulate.Summary) float64 { return v.Ends[i].Share }))
	}
	return append(rows,
		s.shareRow("do not end in time", func(v *simulate.Summary) float64 { return v.Unfinished }),
		s.shareRow("were ever stuck", func(v *simulate.Summary) float64 { return v.Stuck }))
}

func (s *simulation) shareHead(first, column string) []string {
	row := []string{first}
	for i := range s.variants() {
		row = append(row, marked(column, i))
	}
	if s.WhatIf != nil {
		row = append(row, "CHANGE")
	}
	return row
}

func (s *simulation) shareRow(name string, of func(*simulate.Summary) float64) []string {
	row := []string{name}
	for _, v := range s.variants() {
		row = append(row, chart.Percent(of(&v)))
	}
	if s.WhatIf != nil {
		row = append(row, chart.Signed(of(&s.WhatIf.Summary)-of(&s.Summary), chart.Percent))
	}
	return row
}

func (s *simulation) stateRows() [][]string {
	head := []string{"TIME IN STATE"}
	for i := range s.variants() {
		head = append(head, marked("MEAN", i), marked("SHARE", i))
	}
	if s.WhatIf != nil {
		head = append(head, "CHANGE")
	}
	rows := [][]string{head}
	for i, st := range s.Summary.States {
		row := []string{cleanLine(st.State)}
		for _, v := range s.variants() {
			row = append(row, chart.Lasting(v.States[i].Mean), chart.Percent(v.States[i].Share))
		}
		if s.WhatIf != nil {
			row = append(row, chart.Signed(s.WhatIf.Summary.States[i].Mean-st.Mean, chart.Lasting))
		}
		rows = append(rows, row)
	}
	return rows
}

// numberTable aligns the first column to the left and the numbers to the right.
func numberTable(rows [][]string) string {
	var wide []int
	for _, row := range rows {
		for i, cell := range row {
			if i == len(wide) {
				wide = append(wide, 0)
			}
			wide[i] = max(wide[i], utf8.RuneCountInString(cell))
		}
	}
	wide[0] = max(wide[0], 22) // so that the tables stand below each other
	var b strings.Builder
	for _, row := range rows {
		for i, cell := range row {
			pad := strings.Repeat(" ", wide[i]-utf8.RuneCountInString(cell))
			if i == 0 {
				b.WriteString(cell + pad)
				continue
			}
			b.WriteString("  " + strings.Repeat(" ", max(0, 7-wide[i])) + pad + cell)
		}
		b.WriteByte('\n')
	}
	return b.String()
}
