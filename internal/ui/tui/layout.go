package tui

// area is a part of the screen.
type area struct{ x, y, width, height int }

func (a area) containsPoint(x, y int) bool {
	return x >= a.x && x < a.x+a.width && y >= a.y && y < a.y+a.height
}

// layout is the position of every part. An area without height is not shown.
type layout struct {
	head   area // one line
	names  area // of the columns
	list   area
	tabs   area
	detail area
	note   area
	footer area
	beside bool // the detail is beside the list, not below it
}

// Minimum sizes to show parts.
const (
	wideEnough  = 130 // for the detail beside the list
	tallEnough  = 16  // for the detail below it
	namesHeight = 6   // for the names of columns
	noteHeight  = 4   // for a line of its own for messages
	shortest    = 8   // minimum height of the list when there are few tasks

	enoughDetail = 80 // width of the detail beside the list: the list may have more than its share as long as this is left
)

// evenSplit is the list's share of the room until a person changes it, in percent.
const evenSplit = 50

// planLayout divides the screen.
func (m *model) planLayout() layout {
	w, h := max(0, m.width), max(0, m.height)
	var l layout
	row := func(y int) area { return area{0, y, w, 1} }
	top, bottom := 0, h
	if h > 1 {
		l.head, top = row(0), 1
	}
	if h > 2 {
		bottom--
		l.footer = row(bottom)
	}
	if h > noteHeight {
		bottom--
		l.note = row(bottom)
	}
	body := area{0, top, w, bottom - top}
	switch {
	case m.page != pageList:
		l.list = body
		return l
	case m.hidden && !m.focused:
	case w >= wideEnough:
		left := w * m.listShare() / 100
		if m.split == evenSplit {
			left = max(left, min(m.wantedListWidth(), w-2-enoughDetail))
		}
		l.beside = true
		l.tabs = area{left + 2, top, w - left - 2, 1}
		l.detail = area{left + 2, top + 1, w - left - 2, body.height - 1}
		body.width = left
	case h >= tallEnough:
		up := max(4, min(body.height*m.listShare()/100, max(shortest, len(m.lines)+2))) // at most the height of the content
		l.tabs = area{0, top + up, w, 1}
		l.detail = area{0, top + up + 1, w, body.height - up - 1}
		body.height = up
	case m.focused && body.height > 1:
		l.tabs, l.detail = area{0, top, w, 1}, area{0, top + 1, w, body.height - 1}
		return l
	}
	if body.height >= namesHeight {
		l.names = area{0, body.y, body.width, 1}
		body.y, body.height = body.y+1, body.height-1
	}
	l.list = body
	return l
}

// listShare returns the list's share of the room, in percent.
func (m *model) listShare() int {
	if m.focused {
		return max(20, m.split-15)
	}
	return m.split
}
