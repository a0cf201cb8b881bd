package linear

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"net/http"
	"net/url"
	"strings"
	"time"
)

const (
	requestTimeout = 30 * time.Second // for one request
	maxAnswer      = 16 << 20         // bytes of one answer
)

// sendQuery sends one request and decodes the response into out. While Linear is rate-limited
// it waits, at most maxWait in all.
func (t *Tracker) sendQuery(ctx context.Context, query string, vars, out any) error {
	name := operationName(query)
	body, err := json.Marshal(map[string]any{"query": query, "operationName": name, "variables": vars})
	if err != nil {
		return fmt.Errorf("ask linear (%s): %w", name, err)
	}
	if strings.HasPrefix(query, "query ") {
		ctx = t.opts.Reads(ctx)
	}
	var pause pauses
	for {
		err := t.sendOnce(ctx, body, out)
		var busy *limited
		if errors.As(err, &busy) {
			if err = pause.waitForLimit(ctx, busy, t.opts.Now()); err == nil {
				continue
			}
		}
		if err != nil {
			return fmt.Errorf("ask linear (%s): %w", name, err)
		}
		return nil
	}
}

// operationName returns the name that a query gives itself.
func operationName(query string) string {
	words := strings.FieldsFunc(query, func(r rune) bool { return r == ' ' || r == '(' })
	return words[1]
}

func (t *Tracker) sendOnce(ctx context.Context, body []byte, out any) error {
	ctx, cancel := context.WithTimeout(ctx, requestTimeout)
	defer cancel()
	req, err := http.NewRequestWithContext(ctx, http.MethodPost, t.opts.URL, bytes.NewReader(body))
	if err != nil {
		return errors.New("the tracker's url is not valid: check its settings")
	}
	if err := t.authorizeRequest(ctx, req); err != nil {
		return err
	}
	req.Header.Set("Content-Type", "application/json")
	req.Header.Set("User-Agent", "orange")
	resp, err := t.opts.HTTP.Do(req)
	if err != nil {
		return withoutAddress(err)
	}
	defer resp.Body.Close()
	text, err := io.ReadAll(io.LimitReader(resp.Body, maxAnswer+1))
	if err != nil {
		return fmt.Errorf("read the answer: %w", withoutAddress(err))
	}
	if len(text) > maxAnswer {
		return fmt.Errorf("the answer is longer than %d MB", maxAnswer>>20)
	}
	return t.readAnswer(resp, text, out)
}

// withoutAddress returns an error of a request without its address, which may contain a secret.
func withoutAddress(err error) error {
	var u *url.Error
	if errors.As(err, &u) {
		return u.Err
	}
	return err
}

// authorizeRequest sends personal keys unchanged and everything else as a bearer token.
func (t *Tracker) authorizeRequest(ctx context.Context, req *http.Request) error {
	if t.opts.Token == nil {
		return errors.New("the tracker has no token: set where it comes from in the tracker's settings")
	}
	token, err := t.opts.Token(ctx)
	if err != nil {
		return fmt.Errorf("read the token: %w", err)
	}
	token = strings.TrimSpace(strings.TrimPrefix(strings.TrimSpace(token), "Bearer "))
	switch {
	case token == "" || strings.ContainsFunc(token, func(r rune) bool { return r <= ' ' || r > '~' }):
		return errors.New("the token is empty or not one word: check the secret that the tracker's token names")
	case strings.HasPrefix(token, "lin_api_"):
		req.Header.Set("Authorization", token)
	default:
		req.Header.Set("Authorization", "Bearer "+token)
	}
	return nil
}

// readAnswer decodes a response. Linear reports in the body what is wrong with a request, with
// any status.
func (t *Tracker) readAnswer(resp *http.Response, text []byte, out any) error {
	var answer struct {
		Data   json.RawMessage `json:"data"`
		Errors []fault         `json:"errors"`
	}
	broken := json.Unmarshal(text, &answer)
	hasData := len(answer.Data) > 0 && string(answer.Data) != "null"
	if err := t.answerError(resp, answer.Errors, hasData); err != nil {
		return err
	}
	if broken != nil || !hasData {
		return errors.New("the response is not one of Linear: check the tracker's url")
	}
	if err := json.Unmarshal(answer.Data, out); err != nil {
		return errors.New("the response does not have the requested form")
	}
	return nil
}
