package tui

import (
	"io"
	"testing"

	tea "charm.land/bubbletea/v2"
)

// probe inspects its program once it runs.
type probe struct {
	program **tea.Program
	found   *bool
}

func (p probe) Init() tea.Cmd  { return tea.Quit }
func (p probe) View() tea.View { return tea.NewView("") }
func (p probe) Update(tea.Msg) (tea.Model, tea.Cmd) {
	*p.found = *p.found || findTicker(*p.program) != nil
	return p, nil
}

// TestTheTickerIsFound fails when Bubble Tea keeps its ticker elsewhere: the dashboard
// would go on, and never rest.
func TestTheTickerIsFound(t *testing.T) {
	var found bool
	var program *tea.Program
	in, _ := io.Pipe()
	program = tea.NewProgram(probe{&program, &found}, tea.WithContext(t.Context()), tea.WithInput(in), tea.WithOutput(io.Discard), tea.WithWindowSize(80, 24))
	if _, err := program.Run(); err != nil {
		t.Fatal(err)
	}
	if !found {
		t.Error("the ticker of the renderer is not found: see frame_pacer.go")
	}
}
