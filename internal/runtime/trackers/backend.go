// Package trackers works with trackers and forges. It reads and stores issues, makes each change once and checks that
// it was made, submits what people do there to the tasks, and creates the tasks that issues ask for. It decides nothing
// about a task: it submits signals to the runtime.
package trackers

import (
	"context"
	"net/http"

	"orange/internal/core/board"
	"orange/internal/core/tracker"
)

// Backend is the adapter of one tracker.
type Backend interface {
	// ReadVocabulary reads the columns and tags of the tracker. Later calls resolve names with the result.
	ReadVocabulary(ctx context.Context) (board.Vocabulary, error)
	// ListIssues returns the issues that match a query, oldest first. Brief ones lack comments and links.
	ListIssues(ctx context.Context, q tracker.Query) ([]tracker.Issue, error)
	// ReadIssue reads one issue with all comments, links and pull requests. It returns tracker.ErrNotFound if there is
	// none.
	ReadIssue(ctx context.Context, key string) (tracker.Issue, error)
	// WriteChange changes an issue that was just read: tags, column, title, description, comment, in this order, with
	// names as ReadVocabulary spells them. It can be repeated, but that adds a comment again. It returns
	// tracker.ErrStale for a name that no longer exists, and a *board.Refusal for a change that can never be made. It
	// returns the whole issue if the tracker answers with the state after the change, and nil if it must be read.
	WriteChange(ctx context.Context, was tracker.Issue, c board.Change) (after *tracker.Issue, err error)
	// AccountName returns the name of the account, which shows that the secret works.
	AccountName(ctx context.Context) (string, error)
}

// A LocalBoard is the tracker in the store. It makes a change with a key once and completely, records who made it and
// who claimed a card, and learns the columns and tags of workflows.
type LocalBoard interface {
	Backend
	LearnVocabulary(v board.Vocabulary) error
}

// A WebhookParser is a tracker that sends webhooks. It returns tracker.ErrForged unless they are signed with the shared
// secret.
type WebhookParser interface {
	ParseWebhook(header http.Header, body []byte) (tracker.Event, error)
}

// Forge is the adapter of a forge, where pull requests are.
type Forge interface {
	// CreatePR opens a pull request, or returns the open one of the branch.
	CreatePR(ctx context.Context, n tracker.NewPR) (tracker.PR, error)
	// ReadPR reads a pull request with its checks and reviews. It returns tracker.ErrNotFound if there is none.
	ReadPR(ctx context.Context, number int) (tracker.PR, error)
	// ListBranchPRs returns the pull requests of a branch, in any state, without checks and reviews.
	ListBranchPRs(ctx context.Context, branch string) ([]tracker.PR, error)
	// ListMentioningPRs returns those that name an issue in title, text or branch, likewise.
	ListMentioningPRs(ctx context.Context, key string) ([]tracker.PR, error)
	// MergePR merges a pull request if its head is still that commit. It returns nil if that was done before, and a
	// *board.Refusal if it can never be done.
	MergePR(ctx context.Context, number int, head string) error
	// UpdatePR lets the forge bring the branch of a pull request up to date with its base, if its head is still that
	// commit. The new head may appear a moment later. It returns a *board.Refusal if it can never be done.
	UpdatePR(ctx context.Context, number int, head string) error
	// RequiredChecks returns the names of the checks that pull requests into a branch must pass, in which * may stand for
	// any text. It returns nil if the forge requires none, or does not say which.
	RequiredChecks(ctx context.Context, branch string) ([]string, error)
}
