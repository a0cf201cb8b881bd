package notify

import (
	"cmp"
	"context"
	"crypto/hmac"
	"crypto/sha256"
	"encoding/hex"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"mime"
	"net/http"
	"net/url"
	"strconv"
	"strings"
	"time"

	"orange/internal/core/explain"
	"orange/internal/core/task"
)

// maxAnswer is how much of a response is read, so that its connection can be used again.
const maxAnswer = 64 << 10

// NewClient returns an HTTP client for remote channels. It does not follow redirects, because a
// secret is for one host only.
func NewClient() *http.Client {
	return &http.Client{
		Timeout:       sendTimeout,
		CheckRedirect: func(*http.Request, []*http.Request) error { return http.ErrUseLastResponse },
	}
}

// Remote is what the channels over HTTP have in common.
type Remote struct {
	Client *http.Client
	URL    string
	Secret func(context.Context) (string, error) // called for each message; nil if there is no secret
}

// readSecret returns the secret, or "" if there is none.
func (r *Remote) readSecret(ctx context.Context) (string, error) {
	if r.Secret == nil {
		return "", nil
	}
	secret, err := r.Secret(ctx)
	if err != nil {
		return "", &Failure{why: err.Error()} // it may exist the next time
	}
	return secret, nil
}

// postRequest is a request before it is sent.
type postRequest struct {
	id     string
	url    string
	body   string
	header map[string]string
}

// sendPost sends a request. Its errors contain at most the host: the rest of an address may be
// a secret, and a response may contain anything.
func (r *Remote) sendPost(ctx context.Context, l postRequest) error {
	req, err := http.NewRequestWithContext(ctx, http.MethodPost, l.url, strings.NewReader(l.body))
	if err != nil || req.URL.Host == "" || req.URL.Scheme != "http" && req.URL.Scheme != "https" {
		return &Failure{why: "its address is not valid: give one that begins with https://", lasting: true}
	}
	req.Header.Set("User-Agent", "orange")
	req.Header.Set("Orange-Delivery", l.id)
	for name, value := range l.header {
		req.Header.Set(name, value)
	}
	host := req.URL.Host
	res, err := r.Client.Do(req)
	if err != nil {
		return &Failure{why: fmt.Sprintf("%s cannot be reached: %s", host, failureReason(err))}
	}
	defer res.Body.Close()                                          //nolint:errcheck // it was only read
	_, _ = io.Copy(io.Discard, io.LimitReader(res.Body, maxAnswer)) // the header of the response is enough
	return checkStatus(host, res.StatusCode)
}

// checkStatus returns the error for a status, or nil.
func checkStatus(host string, status int) error {
	said := fmt.Sprintf("%s answered %d", host, status)
	switch {
	case status >= 200 && status < 300:
		return nil
	case status >= 500, status == http.StatusTooManyRequests, status == http.StatusRequestTimeout:
		return &Failure{why: said}
	case status >= 300 && status < 400:
		return &Failure{why: said + ", a redirect: give its new address", lasting: true}
	case status == http.StatusUnauthorized, status == http.StatusForbidden:
		return &Failure{why: said + ": check the secret", lasting: true}
	}
	return &Failure{why: said + ": check the address", lasting: true}
}

// failureReason returns why a request failed, without its address.
func failureReason(err error) string {
	var of *url.Error
	if errors.As(err, &of) {
		if of.Timeout() {
			return "it takes too long"
		}
		err = of.Err
	}
	if strings.Contains(err.Error(), "proxy address") { // it may contain a password
		return "the environment names a proxy without a valid address"
	}
	return boundLine(err.Error(), maxName)
}

// Webhook posts items as JSON, signed if there is a secret.
type Webhook struct{ Remote }

// event is the body of a webhook.
type event struct {
	ID      string           `json:"id"`
	Kind    explain.ItemKind `json:"kind"`
	Task    task.ID          `json:"task"`
	Project string           `json:"project"`
	Branch  string           `json:"branch,omitempty"`
	Summary string           `json:"summary,omitempty"`
	Status  string           `json:"status"`
	Text    string           `json:"text,omitempty"`
	Do      string           `json:"do,omitempty"`
	Since   time.Time        `json:"since"`
	URL     string           `json:"url,omitempty"`
	Test    bool             `json:"test,omitempty"` // nothing waits
}

// SendMessage posts a message, which has one item.
func (w Webhook) SendMessage(ctx context.Context, m Message) error {
	if len(m.Items) == 0 {
		return errNothing
	}
	it := m.firstItem()
	body, err := json.Marshal(event{
		ID: m.ID, Kind: it.Kind, Task: it.Task, Project: it.Project, Branch: it.Branch, Summary: it.Summary, Status: it.Status,
		Text: it.Text, Do: it.Do, Since: it.Since, URL: m.URL, Test: m.Test,
	})
	if err != nil {
		return &Failure{why: err.Error(), lasting: true}
	}
	l := postRequest{id: m.ID, url: w.URL, body: string(body), header: map[string]string{"Content-Type": "application/json", "Orange-Event": string(it.Kind)}}
	key, err := w.readSecret(ctx)
	if err != nil {
		return err
	}
	if key != "" {
		l.header["Orange-Signature"] = SignBody(key, body)
	}
	return w.sendPost(ctx, l)
}

// SignBody returns the signature of a webhook's body.
func SignBody(key string, body []byte) string {
	mac := hmac.New(sha256.New, []byte(key))
	mac.Write(body)
	return "sha256=" + hex.EncodeToString(mac.Sum(nil))
}

// Ntfy publishes to a topic of a server with the API of ntfy.
type Ntfy struct{ Remote }

// SendMessage publishes a message.
func (w Ntfy) SendMessage(ctx context.Context, m Message) error {
	if len(m.Items) == 0 {
		return errNothing
	}
	l := postRequest{id: m.ID, url: w.URL, body: m.bodyText(), header: map[string]string{
		"Content-Type": "text/plain; charset=utf-8", "Title": mime.BEncoding.Encode("utf-8", m.titleText()),
		"Priority": strconv.Itoa(int(m.messageWeight()) + 2), "Tags": kindTag(m.Items[0].Kind),
	}}
	if m.URL != "" {
		l.header["Click"] = m.URL
	}
	token, err := w.readSecret(ctx)
	if err != nil {
		return err
	}
	if token != "" {
		l.header["Authorization"] = "Bearer " + token
	}
	return w.sendPost(ctx, l)
}

// kindTag returns the emoji name for a kind.
func kindTag(kind explain.ItemKind) string {
	if kind == Code {
		return "key"
	}
	return cmp.Or(kind.Info().Picture, "tangerine")
}

// Slack posts to an incoming webhook of Slack, or to a compatible one. If URL is "", the secret
// is the whole address.
type Slack struct{ Remote }

// SendMessage posts a message.
func (w Slack) SendMessage(ctx context.Context, m Message) error {
	if len(m.Items) == 0 {
		return errNothing
	}
	text := escapeChat(m.titleText() + "\n" + m.bodyText())
	if m.URL != "" {
		text += "\n" + m.URL
	}
	body, err := json.Marshal(map[string]any{"text": text, "mrkdwn": false, "link_names": false, "unfurl_links": false, "unfurl_media": false})
	if err != nil {
		return &Failure{why: err.Error(), lasting: true}
	}
	at := w.URL
	if at == "" {
		if at, err = w.readSecret(ctx); err != nil {
			return err
		}
	}
	return w.sendPost(ctx, postRequest{id: m.ID, url: at, body: string(body), header: map[string]string{"Content-Type": "application/json"}})
}

// escapeChat breaks up what chats turn into mentions and links. The result looks the same.
func escapeChat(s string) string {
	const gap = "\u200b" // a character without width
	return strings.NewReplacer("&", "&amp;", "<", "&lt;", ">", "&gt;", "@", "@"+gap, "://", ":"+gap+"//", "www.", "www"+gap+".", "](", "]"+gap+"(").Replace(s)
}
