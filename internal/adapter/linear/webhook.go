package linear

import (
	"context"
	"encoding/json"
	"fmt"
	"net/http"
	"strings"
	"time"

	"orange/internal/core/tracker"
	"orange/internal/lazy"
)

const (
	maxDelivery = 5 << 20         // bytes of one delivery
	freshness   = 1 * time.Minute // how old a delivery may be, or how far in the future
)

// webhookPayload is the part of a delivery that matters. Everything else is read from Linear
// again.
type webhookPayload struct {
	Type string  `json:"type"`
	At   float64 `json:"webhookTimestamp"` // milliseconds
	URL  string  `json:"url"`
	Data struct {
		ID         string `json:"id"`
		Identifier string `json:"identifier"`
		IssueID    string `json:"issueId"`
		Issue      *struct {
			ID         string `json:"id"`
			Identifier string `json:"identifier"`
		} `json:"issue"`
	} `json:"data"`
}

// ParseWebhook returns which issues a webhook of Linear is about. It verifies the signature of
// the body and refuses a delivery that is older than a minute, which may be a replay.
func (t *Tracker) ParseWebhook(header http.Header, body []byte) (tracker.Event, error) {
	var none tracker.Event
	if len(body) > maxDelivery {
		return none, fmt.Errorf("the delivery from linear is longer than %d MB: it is ignored", maxDelivery>>20)
	}
	signature := header.Get("Linear-Signature")
	if !tracker.SignatureForm(signature) {
		return none, fmt.Errorf("delivery from linear: %w", tracker.ErrForged)
	}
	secret, err := t.webhookSecret()
	if err != nil {
		return none, err
	}
	if !tracker.SignedBy(secret, body, signature) {
		return none, fmt.Errorf("delivery from linear: %w", tracker.ErrForged)
	}
	delivery := header.Get("Linear-Delivery")
	if delivery == "" || len(delivery) > 200 || delivery != oneLine(delivery) {
		return none, fmt.Errorf("the delivery from linear has no Linear-Delivery: %w", tracker.ErrMalformed)
	}
	var n webhookPayload
	if err := json.Unmarshal(body, &n); err != nil || n.Type == "" || n.At <= 0 {
		return none, fmt.Errorf("the delivery from linear does not have the form that Linear sends: %w", tracker.ErrMalformed)
	}
	if age := t.opts.Now().Sub(time.UnixMilli(int64(n.At))); age > freshness || age < -freshness {
		return none, fmt.Errorf("the delivery from linear was not sent within the last %s: check the clock of this machine", freshness)
	}
	return tracker.Event{Delivery: delivery, Keys: t.affectedKeys(&n)}, nil
}

func (t *Tracker) webhookSecret() (string, error) {
	if t.opts.WebhookSecret == nil {
		return "", nil
	}
	ctx, cancel := context.WithTimeout(context.Background(), requestTimeout)
	defer cancel()
	secret, err := t.opts.WebhookSecret(ctx)
	if err != nil {
		return "", fmt.Errorf("read the webhook secret: %w", err)
	}
	return strings.TrimSpace(secret), nil
}

// inURL matches the issue in the address of something that belongs to it.
var inURL = lazy.NewRegexp(`^https?://[^/?#]+/[^/?#]+/issue/([A-Za-z][A-Za-z0-9]{0,15}-[0-9]{1,9})(?:[/?#]|$)`)

// affectedKeys returns the keys of the team's issues that a delivery may be about. A delivery
// about labels affects none: names are looked up again when one no longer fits.
func (t *Tracker) affectedKeys(n *webhookPayload) []string {
	var key, id string
	switch n.Type {
	case "Issue":
		key, id = n.Data.Identifier, n.Data.ID
	case "Comment", "Attachment":
		id = n.Data.IssueID
		if n.Data.Issue != nil {
			key, id = n.Data.Issue.Identifier, n.Data.Issue.ID
		}
	default:
		return nil
	}
	if m := inURL.FindStringSubmatch(n.URL); key == "" && m != nil {
		key = m[1]
	}
	if key == "" {
		t.mu.Lock()
		key = t.keys[id]
		t.mu.Unlock()
	}
	switch {
	case keyForm.MatchString(key) && t.isOurs(key):
		return []string{key}
	case key == "" && uuidForm.MatchString(id):
		return []string{id} // an issue can be read by its id as well
	}
	return nil
}

func (t *Tracker) isOurs(key string) bool {
	team, _, _ := strings.Cut(key, "-")
	return t.team == "" || strings.EqualFold(team, t.team)
}
