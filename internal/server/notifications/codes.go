package notifications

import (
	"context"
	"crypto/rand"
	"errors"
	"fmt"
	"slices"
	"strings"
	"sync"
	"time"

	"orange/internal/adapter/git"
	"orange/internal/adapter/notify"
	"orange/internal/config"
	"orange/internal/core/explain"
	"orange/internal/core/task"
	"orange/internal/runtime/local"
)

// Codes shows codes by the notification channels that can carry one.
type Codes struct {
	Config func() *config.Config // the settings in use
	Git    *git.Git
}

// Head implements local.Codes.
func (c Codes) Head(ctx context.Context, p task.Project, branch string) (string, error) {
	return c.Git.BranchTip(ctx, p.Path, branch)
}

// Shares implements local.Codes. It returns true if git fails.
func (c Codes) Shares(ctx context.Context, a, b task.Project) bool {
	same, err := c.Git.SameRepository(ctx, a.Path, b.Path)
	return err != nil || same
}

// codeChannels returns the notification channels that show codes of a project. The bell carries no text, and on the
// desktop the text is an argument of a program, where every process of this user, including agents, could read the code.
func (c Codes) codeChannels(project string) []*config.Notify {
	var out []*config.Notify
	list := c.Config().Notify
	for i := range list {
		n := &list[i]
		if n.IsRemote() && (len(n.Projects) == 0 || slices.Contains(n.Projects, project)) {
			out = append(out, n)
		}
	}
	return out
}

// CanShow implements local.Codes.
func (c Codes) CanShow(project string) error {
	if len(c.codeChannels(project)) == 0 {
		return task.Mistakef("no notification channel can show a code for project %s: add ntfy, slack or webhook to notify in config.json; desktop and bell cannot carry one", project)
	}
	return nil
}

// Show implements local.Codes. It sends a code by every channel and returns an error if none accepted it.
func (c Codes) Show(ctx context.Context, code local.Code) error {
	channels := c.codeChannels(code.Project)
	failed := make([]error, len(channels))
	var sending sync.WaitGroup
	for i, n := range channels {
		sending.Go(func() {
			if err := newSender(*c.Config(), n).SendMessage(ctx, codeMessage(code, n.Brief)); err != nil {
				failed[i] = fmt.Errorf("%s: %w", n.Kind, err)
			}
		})
	}
	sending.Wait()
	if slices.Contains(failed, nil) {
		return nil
	}
	return errors.Join(append(failed, c.CanShow(code.Project))...)
}

// codeMessage returns the notification that shows a code.
func codeMessage(c local.Code, brief bool) notify.Message {
	it := explain.Item{Kind: notify.Code, Project: c.Project, Do: c.Do + " --code " + c.Code, Since: time.Now().UTC()}
	words := []string{c.Code, "confirms", c.Action}
	if t := c.Task; t != nil {
		it.Task, it.Branch, it.Summary, it.Status = t.ID, t.Branch, t.Summary, t.Status
		words = append(words, "of task", string(t.ID))
	}
	if c.Head != "" {
		words = append(words, fmt.Sprintf("at commit %.12s", c.Head))
	}
	words = append(words, "for five minutes; if you did not request it, check orange task history")
	return notify.Message{ID: "code-" + strings.ToLower(rand.Text()[:12]), Items: []explain.Item{it}, Brief: brief, Code: strings.Join(words, " ")}
}
