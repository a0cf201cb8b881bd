package github

import (
	"context"
	"encoding/json"
	"fmt"
	"mime"
	"net/http"
	"net/url"
	"slices"
	"strconv"
	"strings"
	"time"

	"orange/internal/core/tracker"
)

// secretTimeout is how long it may take to get the webhook secret.
const secretTimeout = 15 * time.Second

// webhookPayload is the part of a delivery that matters: what may have changed.
type webhookPayload struct {
	Repository struct {
		FullName string `json:"full_name"`
	} `json:"repository"`
	Issue         *thing     `json:"issue"`
	ParentIssue   *thing     `json:"parent_issue"`
	SubIssue      *thing     `json:"sub_issue"`
	BlockedIssue  *thing     `json:"blocked_issue"`
	BlockingIssue *thing     `json:"blocking_issue"`
	PullRequest   *thing     `json:"pull_request"`
	CheckRun      *checkNews `json:"check_run"`
	CheckSuite    *checkNews `json:"check_suite"`
	SHA           string     `json:"sha"`
	Ref           string     `json:"ref"`
}

type thing struct {
	Number      int             `json:"number"`
	PullRequest json.RawMessage `json:"pull_request"`
}

type checkNews struct {
	HeadSHA      string  `json:"head_sha"`
	PullRequests []thing `json:"pull_requests"`
}

// ParseWebhook parses a delivery of a webhook. A delivery of another repository affects
// nothing, and neither does one about labels: the vocabulary is read again when a name is
// unknown.
func (t *Tracker) ParseWebhook(header http.Header, body []byte) (tracker.Event, error) {
	if err := t.checkSignature(header, body); err != nil {
		return tracker.Event{}, err
	}
	delivery := header.Get("X-GitHub-Delivery")
	if !oneWord(delivery) || len(delivery) > 200 {
		return tracker.Event{}, fmt.Errorf("the delivery has no id: %w", tracker.ErrMalformed)
	}
	payload, err := payloadOf(header, body)
	if err != nil {
		return tracker.Event{}, err
	}
	if !json.Valid(payload) {
		return tracker.Event{}, fmt.Errorf("the delivery is not JSON: %w", tracker.ErrMalformed)
	}
	e := tracker.Event{Delivery: delivery}
	switch event := header.Get("X-GitHub-Event"); event {
	case "issues", "issue_comment", "sub_issues", "issue_dependencies",
		"pull_request", "pull_request_review", "pull_request_review_comment", "pull_request_review_thread",
		"check_run", "check_suite", "status", "push":
		var n webhookPayload
		if err := json.Unmarshal(payload, &n); err != nil || n.Repository.FullName == "" {
			return tracker.Event{}, fmt.Errorf("the delivery of %s is not what github sends: %w", event, tracker.ErrMalformed)
		}
		if strings.EqualFold(n.Repository.FullName, t.owner+"/"+t.repo) {
			t.addAffected(&n, event, &e)
		}
	}
	return e, nil
}

func (t *Tracker) checkSignature(header http.Header, body []byte) error {
	if t.secret == nil {
		return fmt.Errorf("the tracker has no webhook secret: %w", tracker.ErrForged)
	}
	signature, ok := strings.CutPrefix(header.Get("X-Hub-Signature-256"), "sha256=")
	if !ok || !tracker.SignatureForm(signature) {
		return tracker.ErrForged
	}
	ctx, cancel := context.WithTimeout(context.Background(), secretTimeout)
	defer cancel()
	secret, err := t.secret(ctx)
	if err != nil {
		return fmt.Errorf("find the webhook secret: %w", err)
	}
	if !tracker.SignedBy(secret, body, signature) {
		return tracker.ErrForged
	}
	return nil
}

// payloadOf returns the JSON of a delivery, which GitHub can also send as a form.
func payloadOf(header http.Header, body []byte) ([]byte, error) {
	kind, _, _ := mime.ParseMediaType(header.Get("Content-Type"))
	if kind != "application/x-www-form-urlencoded" {
		return body, nil
	}
	form, err := url.ParseQuery(string(body))
	if err != nil || form.Get("payload") == "" {
		return nil, fmt.Errorf("the delivery is a form without a payload: %w", tracker.ErrMalformed)
	}
	return []byte(form.Get("payload")), nil
}

// addAffected adds the issues and pull requests that a delivery affects. A comment on a pull
// request arrives as one on an issue.
func (t *Tracker) addAffected(n *webhookPayload, event string, e *tracker.Event) {
	for _, is := range []*thing{n.Issue, n.ParentIssue, n.SubIssue, n.BlockedIssue, n.BlockingIssue} {
		switch {
		case is == nil || is.Number < 1:
		case len(is.PullRequest) > 0 && string(is.PullRequest) != "null":
			e.PRs = append(e.PRs, is.Number)
		default:
			e.Keys = append(e.Keys, strconv.Itoa(is.Number))
		}
	}
	var prs []thing
	if n.PullRequest != nil {
		prs = append(prs, *n.PullRequest)
	}
	for _, check := range []*checkNews{n.CheckRun, n.CheckSuite} {
		if check != nil {
			prs = append(prs, check.PullRequests...)
			e.PRs = append(e.PRs, t.heads.pullNumbers(check.HeadSHA, "")...)
		}
	}
	for _, pr := range prs {
		if pr.Number > 0 {
			e.PRs = append(e.PRs, pr.Number)
		}
	}
	switch event {
	case "status":
		e.PRs = append(e.PRs, t.heads.pullNumbers(n.SHA, "")...)
	case "push":
		if branch, ok := strings.CutPrefix(n.Ref, "refs/heads/"); ok {
			e.PRs = append(e.PRs, t.heads.pullNumbers("", branch)...)
		}
	}
	e.Keys, e.PRs = sortUnique(e.Keys), sortUnique(e.PRs)
}

func sortUnique[T string | int](list []T) []T {
	slices.Sort(list)
	return slices.Compact(list)
}
