package gitea

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"net/http"
	"net/url"
	"time"
)

const (
	requestTimeout = 2 * time.Minute // of one request, including retries below
	maxBody        = 16 << 20        // of a response
)

// wire reads responses completely, up to a limit, and remembers the last one: the SDK drops the
// reason why a merge was refused, and quotes a body that is not JSON without a limit.
type wire struct {
	base   http.RoundTripper
	status int    // 0 if there was no response
	said   string // the reason, if it is an error
}

func (w *wire) RoundTrip(req *http.Request) (*http.Response, error) {
	w.status, w.said = 0, ""
	ctx, cancel := context.WithTimeout(req.Context(), requestTimeout)
	defer cancel()
	resp, err := w.base.RoundTrip(req.WithContext(ctx))
	if err != nil {
		return nil, err
	}
	body, err := io.ReadAll(io.LimitReader(resp.Body, maxBody+1))
	_ = resp.Body.Close()
	switch {
	case err != nil:
		return nil, fmt.Errorf("read the answer: %w", err)
	case len(body) > maxBody:
		return nil, fmt.Errorf("the answer is larger than %d MB", maxBody>>20)
	}
	w.status = resp.StatusCode
	if w.status >= http.StatusBadRequest {
		w.said = responseReason(body)
	}
	resp.Body = io.NopCloser(bytes.NewReader(body))
	return resp, nil
}

// responseReason returns the message in an error response, as one short line.
func responseReason(body []byte) string {
	var said struct {
		Message string `json:"message"`
	}
	if json.Unmarshal(body, &said) != nil {
		return ""
	}
	return shortLine(said.Message)
}

// requestError returns why the last request failed. err is the SDK's error; its text counts
// only if there was no response.
func (v *connection) requestError(doing string, err error) error {
	f, said := v.forge, v.wire.said
	if said != "" {
		said = " (" + said + ")"
	}
	switch status := v.wire.status; {
	case status < http.StatusOK || status >= http.StatusMultipleChoices && status < http.StatusBadRequest:
		var at *url.Error
		if errors.As(err, &at) {
			err = at.Err
		} else if status >= http.StatusMultipleChoices { // the SDK's message has several lines
			break
		}
		return fmt.Errorf("%s: %s cannot be reached: %w", doing, f.host, err)
	case status == http.StatusUnauthorized:
		return fmt.Errorf("%s: %s does not accept the token%s: create a new one there and put it where the token of %s comes from",
			doing, f.host, said, f)
	case status == http.StatusForbidden:
		return fmt.Errorf("%s: the token of %s may not do this%s: create one with the scope write:repository, of an account that may write there", doing, f, said)
	case status == http.StatusNotFound:
		return fmt.Errorf("%s: %s is not found: check its name and that the token may see it", doing, f)
	case status == http.StatusTooManyRequests:
		return fmt.Errorf("%s: %s asks for fewer requests: try again later", doing, f.host)
	case status >= http.StatusInternalServerError:
		return fmt.Errorf("%s: %s has a problem and answers %d%s: try again later", doing, f.host, status, said)
	case status >= http.StatusBadRequest:
		return fmt.Errorf("%s: %s answers %d%s", doing, f.host, status, said)
	}
	return fmt.Errorf("%s: %s does not answer like a Gitea: check the url of the forge", doing, f.host)
}
