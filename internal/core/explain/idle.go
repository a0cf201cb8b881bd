package explain

import (
	"fmt"

	"orange/internal/core/engine"
	"orange/internal/core/task"
	"orange/internal/core/workflow"
	"orange/internal/view/humanize"
)

// asksForAnswer reports whether an agent waits for words and none needs a person at its terminal.
func (d *explainer) asksForAnswer() bool { return d.atTerminal() == nil && d.wantsAnswer() }

// idleItem fills in the item of an agent that waits for a message from a person.
func (d *explainer) idleItem(w *task.Unanswered, it *Item) {
	it.Kind, it.Since, it.Action = ItemIdle, w.Since, d.taskAction(engine.VerbAnswer)
	it.Text = d.idleText(w)
}

// idleText returns what an agent waits for.
func (d *explainer) idleText(w *task.Unanswered) string {
	lives := d.attemptLives(w.Attempt)
	switch {
	case lives && d.t.WorkFailed != "":
		return fmt.Sprintf("%s; the %s waits", d.t.WorkFailed, w.Role)
	case w.Asks && lives:
		return fmt.Sprintf("the %s asks something and waits for an answer", w.Role)
	case w.Asks:
		return fmt.Sprintf("the %s ended with a question: your answer lets it continue", w.Role)
	case lives:
		return fmt.Sprintf("the %s ended its turn without moving the task, and waits", w.Role)
	}
	return fmt.Sprintf("the %s ended while it waited: your answer lets it continue", w.Role)
}

// unstartedItem fills in the item of an agent that could not start: why, and what happens next.
func (d *explainer) unstartedItem(s *workflow.State, u *task.Unstarted, it *Item) {
	it.Kind, it.Since = ItemNotStarted, d.t.UpdatedAt
	it.Text, it.Action = fmt.Sprintf("the %s could not start: %s", s.Role, u.Words), d.taskAction(engine.Respawn)
	switch {
	case d.t.WorkFailed != "":
		it.Text += fmt.Sprintf("; after %d tries Orange does not start it again", u.Count)
	case u.Count <= engine.StartTries:
		it.Text += fmt.Sprintf("; it is started again after %s (try %d of %d)", humanize.FormatDuration(engine.StartDelay(u.Count)), u.Count+1, engine.StartTries+1)
	}
}

// attemptLives reports whether an attempt is not over.
func (d *explainer) attemptLives(number int) bool {
	_, ok := d.t.AttemptByNumber(number)
	return ok
}
