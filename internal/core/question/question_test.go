package question_test

import (
	"strings"
	"testing"

	"orange/internal/core/question"
)

// The endings are of the kinds that coding agents leave at the end of a turn.
func TestAsked(t *testing.T) {
	for _, c := range []struct {
		want bool
		text string
	}{
		{true, "I found two ways to do this.\n\nWhich one should I implement?"},
		{true, "Should I go ahead and delete the old table?"},
		{true, "I can do this with a migration or with a view.\n\n1. **Migration**: slower, permanent\n2. **View**: quick, can be dropped\n\nWhich do you prefer?"},
		{true, "Which approach do you prefer?\n\n1. Keep the API and add a flag\n2. Break the API"},
		{true, "Do you want me to proceed?\n\nI lean towards option A, because it is smaller."},
		{true, "The tests need a database. Could you tell me which one to use?"},
		{true, "Before I change the schema, please confirm that no other service reads it."},
		{true, "Please let me know which of the two you want."},
		{true, "I'm waiting for your decision."},
		{true, "I need your approval before I can push this."},
		{true, "I need access to the staging credentials to reproduce this. Please provide them."},
		{true, "Let me know whether I should also update the docs."},
		{true, "Questions:\n\n- Is the limit per user or per team?\n- What happens when it is reached?"},
		{true, "Questions:\n\n1. What is the timeout?\n2. Who owns the cache?\n\nI have not changed anything yet."},
		{false, "What I looked at:\n\n- Is the cache stale? No.\n- Does it build? Yes.\n\nAll is committed."},
		{true, "## Open questions\n\n1. What should the default be?\n2. Who may change it?"},
		{true, "Ready to merge?"},
		{true, "Is it okay to drop support for Go 1.22?"},
		{true, "**Shall I continue with phase 2?**"},
		{true, "This would remove 14 files (see above). OK to proceed? (y/n)"},
		{true, "Reply \"yes\" to continue."},
		{true, "Soll ich die Tests auch anpassen?"},
		{true, "どちらにしますか？"},
		{true, "The spec says both 30 and 60 seconds. What should the timeout be? I will wait for your answer."},
		{true, "I'd like to clarify one thing: do you want this behind a feature flag?\n\nOnce you confirm I'll write the migration."},
		{true, "Would you like me to also fix the flaky test I noticed?"},
		{true, "What exactly do you mean by \"fast\" here?"},
		{true, "Should I use A or B?\n\n- A keeps the API\n- B breaks it, and is smaller\n- both need a migration"},
		{true, "The first part is committed. Should I go on with the second, or stop here?"},
		{true, "Could you clarify what \"soon\" means?\n\nThanks!"},
		{true, "I cannot reach the database from here. How would you like me to proceed?"},
		{true, "Two options are left:\n\n1. drop the column\n2. keep it and ignore it\n\nLet me know which you'd prefer."},
		{true, "The plan is above. Let me know if you'd like me to proceed."},
		{true, "Nothing is deleted yet. Waiting for your go-ahead."},
		{true, "One thing is open: what's the expected behaviour when the list is empty?"},
		{true, "All tests pass. Before I push: should the version be bumped, too?\n\nLet me know if you have any questions!"},

		{false, "Let me know if you want anything else!"},
		{false, "Everything is committed and the tests pass. Let me know if you want anything else!"},
		{false, "All tests pass. Let me know how it goes!"},
		{false, "Done. Want me to explain any of it? Just ask."},
		{false, "That's everything; shout if something looks off."},
		{false, "The work is committed. If you'd like, I can also add a benchmark."},
		{false, "What changed? The list above says it. I ran the whole suite afterwards."},
		{false, "The reviewer asked \"should this be public?\" and I made it private."},
		{false, "Done. All 214 tests pass and the work is committed."},
		{false, "I've implemented the change. Let me know if you have any questions!"},
		{false, "The fix is in place. Let me know if you'd like any changes."},
		{false, "All done! Is there anything else I can help you with?"},
		{false, "Feel free to ask if anything is unclear."},
		{false, "Why did it fail? Because the cache was never invalidated. I fixed that and added a test."},
		{false, "I added a comment that reads:\n\n```go\n// should we retry here?\n```\n\nEverything is committed."},
		{false, "The issue says:\n\n> Should the button be blue?\n\nI made it blue, as the design shows."},
		{false, "Committed as 3f2a91c. The handoff is in TASK.md and I asked for agent-review."},
		{false, "I wrote the plan and set the status to working. Next I will implement step 1."},
		{false, "Happy to walk you through the details if you want?"},
		{false, ""},
		{false, "Renamed `isReady?` to `ready?` in the Ruby client and updated all callers."},
		{false, "The review passed; nothing is left to do."},
		{false, "Curious how it works? The package documentation explains it."},
		{false, "I ran `grep -r 'what?' .` and found nothing, so I stopped there."},
		{false, "Summary:\n\n- Added the endpoint\n- Added tests\n- Updated the changelog"},
	} {
		if got := question.AsksReader(c.text); got != c.want {
			t.Errorf("Asked(%q) = %v", c.text, got)
		}
	}
}

func TestOnlyTheEndOfAMessageIsSearched(t *testing.T) {
	long := "Should I go on?\n\n" + strings.Repeat("I changed another file.\n\n", 10)
	if question.AsksReader(long) {
		t.Error("a question at the beginning counts")
	}
	if !question.AsksReader(strings.Repeat("x ", 1<<20) + "\n\nShould I go on?") {
		t.Error("the question at the end of a long message is not seen")
	}
}

func FuzzAsked(f *testing.F) {
	f.Add("Which one?\n\n1. a\n2. b")
	f.Add("```\nwhat?\n```")
	f.Fuzz(func(t *testing.T, text string) {
		if question.AsksReader(text) != question.AsksReader(text+"\n") {
			t.Errorf("a line end makes a difference: %q", text)
		}
	})
}
