package tui

import (
	"reflect"
	"sync"
	"time"

	tea "charm.land/bubbletea/v2"
)

// How long a screen on which nothing happens is still looked at as often as another, and
// how often it is looked at then.
const (
	idleAfter    = 250 * time.Millisecond
	idleInterval = time.Second
)

// framePacer lets the renderer rest. Bubble Tea looks for something to draw at every beat of a
// ticker, whether anything happened or not, and has no way to be told: that alone is more
// than an idle dashboard may take. So the ticker is found by reflection, slowed down while
// nothing happens, and sped up by every message. Where it is not found all beats stay as
// they are.
type framePacer struct {
	mu    sync.Mutex
	beat  *time.Ticker
	idle  *time.Timer
	quick bool
}

// findTicker is the ticker of a program that runs, nil if it has none by that name.
func findTicker(p *tea.Program) *time.Ticker {
	f := reflect.ValueOf(p).Elem().FieldByName("ticker")
	if !f.IsValid() || f.Type() != reflect.TypeFor[*time.Ticker]() {
		return nil
	}
	return (*time.Ticker)(f.UnsafePointer())
}

// speedUp makes the renderer look soon, and for a while.
func (p *framePacer) speedUp(of *tea.Program) {
	if of == nil {
		return
	}
	p.mu.Lock()
	defer p.mu.Unlock()
	if p.beat == nil {
		if p.beat = findTicker(of); p.beat == nil {
			return
		}
		p.idle = time.AfterFunc(idleAfter, p.slowDown)
	}
	p.idle.Reset(idleAfter)
	if !p.quick {
		p.quick = true
		p.beat.Reset(time.Second / framesPerSecond)
	}
}

func (p *framePacer) slowDown() {
	p.mu.Lock()
	defer p.mu.Unlock()
	p.quick = false
	p.beat.Reset(idleInterval)
}

// stopTimer leaves the ticker alone.
func (p *framePacer) stopTimer() {
	p.mu.Lock()
	defer p.mu.Unlock()
	if p.idle != nil {
		p.idle.Stop()
	}
}

// drawMsg says that what was held back is to be drawn.
type drawMsg struct{}

// holdBack keeps the screen as it is until the next frame is due: where keys and changes
// come faster than a terminal shows them, none of them waits for a drawing.
func (m *model) holdBack() tea.Cmd {
	since := time.Since(m.drawn)
	if !m.stale || m.held || m.program == nil || since >= time.Second/framesPerSecond {
		return nil
	}
	m.held = true
	return m.tick(time.Second/framesPerSecond-since, drawMsg{})
}
