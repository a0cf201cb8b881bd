package tui

import (
	"reflect"
	"sync"
	"time"

	tea "charm.land/bubbletea/v2"
)

// How long an idle screen keeps its normal frame rate, and its frame interval after that.
const (
	idleAfter    = 250 * time.Millisecond
	idleInterval = time.Second
)

// framePacer slows down an idle renderer. Bubble Tea checks for something to draw at every tick of a ticker, whether
// anything happened or not, and has no option to change that: this alone takes more than an idle dashboard may use. So
// framePacer finds the ticker by reflection, slows it down while nothing happens, and speeds it up at every message. If
// the ticker is not found, nothing changes.
type framePacer struct {
	mu    sync.Mutex
	beat  *time.Ticker
	idle  *time.Timer
	quick bool
}

// findTicker returns the ticker of a running program, or nil if it has none by that name.
func findTicker(p *tea.Program) *time.Ticker {
	f := reflect.ValueOf(p).Elem().FieldByName("ticker")
	if !f.IsValid() || f.Type() != reflect.TypeFor[*time.Ticker]() {
		return nil
	}
	return (*time.Ticker)(f.UnsafePointer())
}

// speedUp makes the renderer draw soon, and for a while.
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

// stopTimer stops changing the ticker.
func (p *framePacer) stopTimer() {
	p.mu.Lock()
	defer p.mu.Unlock()
	if p.idle != nil {
		p.idle.Stop()
	}
}

// drawMsg means that a delayed rendering is due.
type drawMsg struct{}

// holdBack delays rendering until the next frame is due: if keys and changes arrive faster than a terminal shows them,
// none waits for a rendering.
func (m *model) holdBack() tea.Cmd {
	since := time.Since(m.drawn)
	if !m.stale || m.held || m.program == nil || since >= time.Second/framesPerSecond {
		return nil
	}
	m.held = true
	return m.tick(time.Second/framesPerSecond-since, drawMsg{})
}
