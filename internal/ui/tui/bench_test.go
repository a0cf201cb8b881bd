package tui

import (
	"slices"
	"testing"
	"time"

	tea "charm.land/bubbletea/v2"

	"orange/internal/ui/client"
)

// BenchmarkKeyToScreen measures how long it takes from a key to the content of the screen with 1,000 tasks: the time in
// which the terminal waits for the dashboard. docs/PERFORMANCE.md states the limit.
func BenchmarkKeyToScreen(b *testing.B) {
	api := newCrowd(b, 1000, 200)
	state, err := api.ReadState(b.Context(), client.StateQuery{All: true})
	if err != nil {
		b.Fatal(err)
	}
	key := func(text string) tea.KeyPressMsg { return tea.KeyPressMsg{Code: []rune(text)[0], Text: text} }
	for name, keys := range map[string][]tea.KeyPressMsg{
		"move":   {key("j"), key("k")},
		"search": {key("/"), key("s"), key("r"), key("v"), key("n"), {Code: tea.KeyEscape}},
		"filter": {key("/"), key("i"), key("s"), key(":"), key("i"), key("d"), key("l"), key("e"), {Code: tea.KeyEscape}},
		"group":  {key("g")},
		"select": {{Code: ' ', Text: " "}, key("*"), {Code: tea.KeyEscape}},
		"fold":   {{Code: tea.KeyLeft}, {Code: tea.KeyRight}},
		"inbox":  {key("i"), key("j"), key("i")},
	} {
		b.Run(name, func(b *testing.B) {
			m := newModel(b.Context(), DashboardOptions{API: api, Now: func() time.Time { return noon }})
			m.Update(tea.WindowSizeMsg{Width: 200, Height: 60})
			m.Update(stateMsg{state})
			m.View()
			var took []time.Duration
			for i := 0; b.Loop(); i++ {
				began := time.Now()
				m.Update(keys[i%len(keys)])
				m.held = false // as after the frame before it
				if content := m.View().Content; content == "" {
					b.Fatal("the screen is empty")
				}
				took = append(took, time.Since(began))
			}
			slices.Sort(took)
			b.ReportMetric(float64(took[len(took)/2].Microseconds())/1000, "median-ms")
			b.ReportMetric(float64(took[len(took)*95/100].Microseconds())/1000, "p95-ms")
		})
	}
}
