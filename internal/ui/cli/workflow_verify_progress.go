package cli

import (
	"fmt"
	"io"
	"sync"
	"time"

	"orange/internal/core/verify"
)

// How long a search may be silent: at first, and then between two lines where nothing
// can be written over.
const (
	progressAfter = 2 * time.Second
	progressEvery = 10 * time.Second
	progressDrawn = 100 * time.Millisecond // on a terminal
)

// searchProgress shows how far a search is: on a terminal in one line that is written
// over, elsewhere in a line now and then once it takes longer.
type searchProgress struct {
	w        io.Writer
	terminal bool
	now      func() time.Time
	began    time.Time
	next     time.Time
	drawn    bool
}

func newSearchProgress(w io.Writer, terminal bool, now func() time.Time) *searchProgress {
	p := &searchProgress{w: w, terminal: terminal, now: now, began: now()}
	if p.next = p.began; !terminal {
		p.next = p.began.Add(progressAfter)
	}
	return p
}

func (p *searchProgress) show(at verify.Progress) {
	now := p.now()
	if now.Before(p.next) {
		return
	}
	rate := 0.0
	if took := now.Sub(p.began).Seconds(); took > 0 {
		rate = float64(at.States) / took
	}
	text := fmt.Sprintf("%d states, %d steps deep, %.0f states/s", at.States, at.Depth, rate)
	if p.terminal {
		fmt.Fprintf(p.w, "\r\033[K%s", text)
		p.next, p.drawn = now.Add(progressDrawn), true
		return
	}
	fmt.Fprintf(p.w, "orange: %s\n", text)
	p.next = now.Add(progressEvery)
}

// end takes the line away again.
func (p *searchProgress) end() {
	if p.drawn {
		fmt.Fprint(p.w, "\r\033[K")
	}
}

// shareWork does the parts of a search at the same time.
func shareWork(parts int, work func(part int)) {
	var all sync.WaitGroup
	for part := range parts {
		all.Go(func() { work(part) })
	}
	all.Wait()
}
