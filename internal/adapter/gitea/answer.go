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
	patience = 2 * time.Minute // for one answer, with all that is tried again below
	maxBody  = 16 << 20        // of an answer
)

// wire reads answers whole and bounded, and remembers the last one: the SDK throws away
// why a merge was refused, and quotes without bounds what is not JSON.
type wire struct {
	base   http.RoundTripper
	status int    // 0 if there was no answer
	said   string // the reason, if it is a bad one
}

func (w *wire) RoundTrip(req *http.Request) (*http.Response, error) {
	w.status, w.said = 0, ""
	ctx, cancel := context.WithTimeout(req.Context(), patience)
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

// responseReason is what an answer gives as one, as one short line.
func responseReason(body []byte) string {
	var said struct {
		Message string `json:"message"`
	}
	if json.Unmarshal(body, &said) != nil {
		return ""
	}
	return shortLine(said.Message)
}

// requestError says why the last request did not do what was wanted. err is the SDK's, whose
// text counts only if there was no answer.
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
		} else if status >= http.StatusMultipleChoices { // the words of the SDK have several lines
			break
		}
		return fmt.Errorf("%s: %s cannot be asked: %w", doing, f.host, err)
	case status == http.StatusUnauthorized:
		return fmt.Errorf("%s: %s does not accept the token%s: make a new one there and put it where the token of %s is looked for",
			doing, f.host, said, f)
	case status == http.StatusForbidden:
		return fmt.Errorf("%s: the token of %s may not do this%s: make one with the scope write:repository, of an account that may write there", doing, f, said)
	case status == http.StatusNotFound:
		return fmt.Errorf("%s: %s is not found: see whether its name is right and its token may see it", doing, f)
	case status == http.StatusTooManyRequests:
		return fmt.Errorf("%s: %s asks for fewer requests: try again later", doing, f.host)
	case status >= http.StatusInternalServerError:
		return fmt.Errorf("%s: %s is broken at the moment, it answers %d%s: try again later", doing, f.host, status, said)
	case status >= http.StatusBadRequest:
		return fmt.Errorf("%s: %s answers %d%s", doing, f.host, status, said)
	}
	return fmt.Errorf("%s: %s answers what no Gitea says: look at the url of the forge", doing, f.host)
}
