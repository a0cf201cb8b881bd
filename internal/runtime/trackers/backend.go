// Package trackers works with trackers and forges: it reads issues, keeps what it read,
// changes them once and makes sure that the change is there, hears what people do to them
// and gets the tasks made that they ask for. It decides nothing about a task: it tells the
// runtime what happened.
package trackers

import (
	"context"
	"net/http"

	"orange/internal/core/board"
	"orange/internal/core/tracker"
)

// Backend is one tracker, as its adapter reaches it over the network.
type Backend interface {
	// ReadVocabulary are the columns and tags that the tracker knows now, read anew. Names are
	// resolved to ids with what was read here.
	ReadVocabulary(ctx context.Context) (board.Vocabulary, error)
	// ListIssues returns the issues that a query asks for, oldest first. They may be brief.
	ListIssues(ctx context.Context, q tracker.Query) ([]tracker.Issue, error)
	// ReadIssue reads one issue whole: all comments, links and pull requests. The error is
	// tracker.ErrNotFound if there is none.
	ReadIssue(ctx context.Context, key string) (tracker.Issue, error)
	// WriteChange makes a change of an issue that was just read: tags, column, title,
	// description, comment, in this order, with names as Words spells them. It can be
	// made again: what is so already stays so; only a comment would be said twice. A
	// name that is gone is tracker.ErrStale; what can never be done a *board.Refusal.
	WriteChange(ctx context.Context, was tracker.Issue, c board.Change) error
	// AccountName names the account, and so shows that the secret is good.
	AccountName(ctx context.Context) (string, error)
}

// A LocalBoard is the tracker that is in the store. It makes a change that has a key once, all
// of it or nothing, keeps who made it and who has claimed a card, and learns the columns and
// tags of workflows.
type LocalBoard interface {
	Backend
	LearnVocabulary(v board.Vocabulary) error
}

// A WebhookParser is a tracker that sends news. The error is tracker.ErrForged unless they are
// signed with the secret that both sides know.
type WebhookParser interface {
	ParseWebhook(header http.Header, body []byte) (tracker.Event, error)
}

// Forge is the port of forges: where pull requests live.
type Forge interface {
	// CreatePR opens a pull request, or finds the open one that the branch has.
	CreatePR(ctx context.Context, n tracker.NewPR) (tracker.PR, error)
	// ReadPR shows one with its checks and reviews. The error is tracker.ErrNotFound if
	// there is none.
	ReadPR(ctx context.Context, number int) (tracker.PR, error)
	// ListBranchPRs are those of a branch, in any state, without checks and reviews.
	ListBranchPRs(ctx context.Context, branch string) ([]tracker.PR, error)
	// ListMentioningPRs are those that name an issue in title, text or branch, likewise.
	ListMentioningPRs(ctx context.Context, key string) ([]tracker.PR, error)
	// MergePR merges one if its head is still that commit. One that was merged so already
	// is no error. What can never be done is a *board.Refusal.
	MergePR(ctx context.Context, number int, head string) error
}
