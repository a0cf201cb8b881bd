package tui

import (
	"time"

	tea "charm.land/bubbletea/v2"

	"orange/internal/view/humanize"
)

// alarmMsg means that a visible age has changed. Its value is the number of the alarm, so that an alarm that was set
// again is ignored.
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

// ageInterval is the minimum time between two drawings that only update ages. Rows change their age at different
// moments, so an age may be late by as much; otherwise a screen on which every row counts seconds would never be idle.
const ageInterval = 10 * time.Second

// nextAge returns when the next visible age changes, at least ageInterval and at most a minute from now.
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
				for _, c := range r.Checks {
					if c.InProgress() {
						see(c.Since)
					}
				}
			}
		}
	}
	return m.now.Add(max(wait, ageInterval))
}

// untilOlder returns how long the text of an age stays the same.
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

// formatAge returns how long ago something was.
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

// formatWhen returns how far ahead a moment is.
func formatWhen(now, at time.Time) string {
	if !at.After(now) {
		return "now"
	}
	return "in " + humanize.FormatDuration(at.Sub(now).Round(time.Second))
}
