package harness

// posts lists the commands by which work leaves the machine or a forge is written to.
// Reviewers may not run them. It is advice to an honest agent: what a determined one
// can do is decided by the credentials it is given.
func posts() []string {
	return []string{
		"git push", "gh pr review", "gh pr comment", "gh pr create", "gh pr merge", "gh pr close", "gh pr edit", "gh pr ready",
		"gh issue comment", "gh review",
	}
}

// refusal is what a reviewer is told.
const refusal = "a reviewer does not push or post: write the verdict into TASK.md"

// noPush makes git refuse every push of a reviewer, whatever program calls it.
func (l Launch) noPush() []string {
	if !l.ReadOnly {
		return nil
	}
	return []string{
		"GIT_CONFIG_COUNT=1",
		"GIT_CONFIG_KEY_0=url.reviewers-do-not-push::.pushInsteadOf",
		"GIT_CONFIG_VALUE_0=", // a prefix of every address
	}
}
