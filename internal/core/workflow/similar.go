package workflow

import "strings"

// suggestSimilar returns a hint with the known word that is most similar to an unknown one, or
// "" if none is similar enough.
func suggestSimilar(word string, known []string) string {
	best, most := "", max(1, min(3, len([]rune(word))/3))
	for _, k := range known {
		if d := editDistance(strings.ToLower(word), strings.ToLower(k)); d <= most && k != word {
			best, most = k, d-1
		}
	}
	if best == "" {
		return ""
	}
	return " (did you mean " + best + "?)"
}

// editDistance returns the number of letters to add, drop, replace or swap with their neighbor
// to turn one word into another.
func editDistance(a, b string) int {
	x, y := []rune(a), []rune(b)
	before, last, row := make([]int, len(y)+1), make([]int, len(y)+1), make([]int, len(y)+1)
	for j := range last {
		last[j] = j
	}
	for i := 1; i <= len(x); i++ {
		row[0] = i
		for j := 1; j <= len(y); j++ {
			cost := 1
			if x[i-1] == y[j-1] {
				cost = 0
			}
			row[j] = min(last[j]+1, row[j-1]+1, last[j-1]+cost)
			if i > 1 && j > 1 && x[i-1] == y[j-2] && x[i-2] == y[j-1] {
				row[j] = min(row[j], before[j-2]+1)
			}
		}
		before, last, row = last, row, before
	}
	return last[len(y)]
}

// namesOf returns the names of declared things.
func namesOf[T any](list []T, name func(*T) string) []string {
	out := make([]string, len(list))
	for i := range list {
		out[i] = name(&list[i])
	}
	return out
}

func (d *Definition) stateList() []string {
	return namesOf(d.States, func(s *State) string { return s.Name })
}

func (d *Definition) roleList() []string {
	return namesOf(d.Roles, func(r *Role) string { return r.Name })
}

func (d *Definition) gateList() []string {
	return namesOf(d.Gates, func(g *Gate) string { return g.Name })
}

func (d *Definition) counterList() []string {
	return namesOf(d.Counters, func(c *Counter) string { return c.Name })
}

func (d *Definition) promptList() []string {
	return namesOf(d.Prompts, func(p *Prompt) string { return p.Name })
}

func (b *Board) tagList() []string {
	if b == nil {
		return nil
	}
	return namesOf(b.Tags, func(m *Mark) string { return m.Name })
}

func (b *Board) columnList() []string {
	if b == nil {
		return nil
	}
	return namesOf(b.Columns, func(m *Mark) string { return m.Name })
}
