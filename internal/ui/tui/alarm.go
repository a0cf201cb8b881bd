package tui

import (
	"time"

	tea "charm.land/bubbletea/v2"

	"orange/internal/view/humanize"
)

// alarmMsg says that an age in sight has changed. It carries the number of the alarm:
// one that was set again does not count.
type alarmMsg int

// setAlarm sets a timer for the moment at which the next age in sight changes, unless
// one is set for that moment or an earlier one.
func (m *model) setAlarm() tea.Cmd {
	at := m.nextAge()
	if at.IsZero() || !m.alarm.IsZero() && !m.alarm.After(at) {
		return nil
	}
	m.alarms++
	m.alarm = at
	return m.tick(at.Sub(m.now), alarmMsg(m.alarms))
}

// ageInterval is the least time between two drawings that only make ages older. Rows grow older
// at moments of their own, so an age may be late by as much; a screen on which every row
// counts seconds would never rest.
const ageInterval = 10 * time.Second

// nextAge is when the next age in sight changes, at least calm and at most a minute from
// now.
func (m *model) nextAge() time.Time {
	if !m.known || m.height == 0 {
		return time.Time{}
	}
	wait := time.Minute
	see := func(at time.Time) {
		if at.IsZero() {
			return
		}
		wait = min(wait, untilOlder(m.now.Sub(at)))
	}
	switch m.page {
	case pageInbox:
		for _, it := range m.inbox.visibleItems(m) {
			see(it.Since)
		}
	case pageList:
		for i := m.top; i < len(m.lines) && i < m.top+m.layout.list.height; i++ {
			if r := m.lines[i].row; r != nil {
				see(r.Active)
			}
		}
	}
	return m.now.Add(max(wait, ageInterval))
}

// untilOlder is how long an age is written as it is.
func untilOlder(age time.Duration) time.Duration {
	switch {
	case age < 0:
		return ageInterval
	case age < time.Minute:
		return ageInterval - age%ageInterval
	case age < time.Hour:
		return time.Minute - age%time.Minute
	}
	return time.Minute
}

// formatAge says how long ago something was.
func formatAge(now, at time.Time) string {
	switch d := now.Sub(at); {
	case at.IsZero() || d >= time.Minute:
		return humanize.FormatAge(now, at)
	case d < ageInterval:
		return "now"
	default:
		return humanize.FormatDuration(d / ageInterval * ageInterval)
	}
}

// formatWhen says how far ahead a moment is.
func formatWhen(now, at time.Time) string {
	if !at.After(now) {
		return "now"
	}
	return "in " + humanize.FormatDuration(at.Sub(now).Round(time.Second))
}
