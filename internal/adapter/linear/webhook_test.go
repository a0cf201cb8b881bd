package linear

import (
	"context"
	"crypto/hmac"
	"crypto/sha256"
	"encoding/hex"
	"errors"
	"fmt"
	"net/http"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"orange/internal/core/tracker"
)

const secret = "lin_wh_secret"

var noon = time.Date(2026, 1, 2, 12, 0, 0, 0, time.UTC)

func ear() *Tracker {
	t := New(TrackerOptions{Scope: "ENG/Shop", WebhookSecret: give(secret), Now: func() time.Time { return noon }})
	t.rememberKey("11111111-1111-4111-8111-111111111111", "ENG-7")
	return t
}

func sign(body string) http.Header {
	mac := hmac.New(sha256.New, []byte(secret))
	mac.Write([]byte(body))
	h := http.Header{}
	h.Set("Linear-Signature", hex.EncodeToString(mac.Sum(nil)))
	h.Set("Linear-Delivery", "d-1")
	return h
}

func at(when time.Time, kind, rest string) string {
	return fmt.Sprintf(`{"action":"update","type":%q,"webhookTimestamp":%d%s}`, kind, when.UnixMilli(), rest)
}

func TestHear(t *testing.T) {
	for name, tc := range map[string]struct {
		body string
		want []string
	}{
		"an issue":                                   {at(noon, "Issue", `,"data":{"id":"x","identifier":"ENG-12"}`), []string{"ENG-12"}},
		"a comment":                                  {at(noon, "Comment", `,"data":{"issueId":"x","issue":{"id":"x","identifier":"ENG-12"}}`), []string{"ENG-12"}},
		"a comment that has an address":              {at(noon, "Comment", `,"url":"https://linear.app/acme/issue/ENG-9/title#comment-1","data":{"issueId":"x"}`), []string{"ENG-9"}},
		"a comment on a document":                    {at(noon, "Comment", `,"data":{"documentContentId":"x"}`), nil},
		"an attachment of an issue that was seen":    {at(noon, "Attachment", `,"data":{"issueId":"11111111-1111-4111-8111-111111111111"}`), []string{"ENG-7"}},
		"an attachment of an issue that was not":     {at(noon, "Attachment", `,"data":{"issueId":"22222222-2222-4222-8222-222222222222"}`), []string{"22222222-2222-4222-8222-222222222222"}},
		"an attachment with an id that is none":      {at(noon, "Attachment", `,"data":{"issueId":"../../etc"}`), nil},
		"a label":                                    {at(noon, "IssueLabel", `,"data":{"id":"x","name":"bug"}`), nil},
		"something else":                             {at(noon, "Project", `,"data":{"id":"x","identifier":"ENG-12"}`), nil},
		"an issue of another team":                   {at(noon, "Issue", `,"data":{"identifier":"OPS-12"}`), nil},
		"an issue with a key that is none":           {at(noon, "Issue", `,"data":{"identifier":"ENG-1; rm -rf"}`), nil},
		"an issue with the address of another place": {at(noon, "Issue", `,"url":"https://evil.test/ENG-1","data":{"id":"x"}`), nil},
		"no data":                    {at(noon, "Issue", ``), nil},
		"almost too old":             {at(noon.Add(-time.Minute), "Issue", `,"data":{"identifier":"ENG-1"}`), []string{"ENG-1"}},
		"from a clock that is ahead": {at(noon.Add(time.Minute), "Issue", `,"data":{"identifier":"ENG-1"}`), []string{"ENG-1"}},
	} {
		t.Run(name, func(t *testing.T) {
			got, err := ear().ParseWebhook(sign(tc.body), []byte(tc.body))
			if err != nil {
				t.Fatal(err)
			}
			if diff := cmp.Diff(tracker.Event{Delivery: "d-1", Keys: tc.want}, got); diff != "" {
				t.Error(diff)
			}
		})
	}
}

func TestWebhooksThatAreIgnored(t *testing.T) {
	good := at(noon, "Issue", `,"data":{"identifier":"ENG-12"}`)
	without := func(name string) http.Header {
		h := sign(good)
		h.Del(name)
		return h
	}
	for name, tc := range map[string]struct {
		header http.Header
		body   string
		want   error // nil: neither forged nor malformed
	}{
		"no signature":         {without("Linear-Signature"), good, tracker.ErrForged},
		"of another body":      {sign(good + " "), good, tracker.ErrForged},
		"no delivery":          {without("Linear-Delivery"), good, tracker.ErrMalformed},
		"an odd delivery":      {http.Header{"Linear-Signature": sign(good)["Linear-Signature"], "Linear-Delivery": {"a\nb"}}, good, tracker.ErrMalformed},
		"too old":              {nil, at(noon.Add(-time.Minute-time.Millisecond), "Issue", ""), nil},
		"from the future":      {nil, at(noon.Add(time.Minute+time.Millisecond), "Issue", ""), nil},
		"without a time":       {nil, `{"type":"Issue"}`, tracker.ErrMalformed},
		"without a type":       {nil, at(noon, "", ""), tracker.ErrMalformed},
		"a time out of bounds": {nil, `{"type":"Issue","webhookTimestamp":1e300}`, nil},
		"no JSON":              {nil, `{`, tracker.ErrMalformed},
		"another form":         {nil, `{"type":7}`, tracker.ErrMalformed},
		"a list":               {nil, `[]`, tracker.ErrMalformed},
		"null":                 {nil, `null`, tracker.ErrMalformed},
		"nothing":              {nil, ``, tracker.ErrMalformed},
		"too much":             {nil, `{"type":"` + strings.Repeat("x", maxDelivery) + `"}`, nil},
	} {
		t.Run(name, func(t *testing.T) {
			if tc.header == nil {
				tc.header = sign(tc.body)
			}
			got, err := ear().ParseWebhook(tc.header, []byte(tc.body))
			if err == nil || errors.Is(err, tracker.ErrForged) != (tc.want == tracker.ErrForged) || errors.Is(err, tracker.ErrMalformed) != (tc.want == tracker.ErrMalformed) {
				t.Fatalf("%+v, %v", got, err)
			}
			if strings.ContainsAny(err.Error(), "\n\r") || strings.Contains(err.Error(), secret) {
				t.Errorf("%q", err)
			}
		})
	}
}

// TestMalformedSignaturesAskForNoSecret sends what cannot be signed.
func TestMalformedSignaturesAskForNoSecret(t *testing.T) {
	asked := 0
	tr := New(TrackerOptions{Scope: "ENG/Shop", Now: func() time.Time { return noon }, WebhookSecret: func(context.Context) (string, error) {
		asked++
		return secret, nil
	}})
	body := at(noon, "Issue", "")
	for _, signature := range []string{"", "x", strings.Repeat("z", 64), strings.Repeat("a", 63), strings.Repeat("a", 66), "sha256=" + strings.Repeat("a", 64)} {
		h := sign(body)
		h.Set("Linear-Signature", signature)
		if _, err := tr.ParseWebhook(h, []byte(body)); !errors.Is(err, tracker.ErrForged) || asked > 0 {
			t.Errorf("%q: %v, the secret was asked for %d times", signature, err, asked)
		}
	}
	if _, err := tr.ParseWebhook(sign(body), []byte(body)); err != nil || asked != 1 {
		t.Errorf("%v, the secret was asked for %d times", err, asked)
	}
}

func TestWithoutASecretWebhooksAreRejected(t *testing.T) {
	body := at(noon, "Issue", "")
	for name, opts := range map[string]TrackerOptions{
		"none": {}, "an empty one": {WebhookSecret: give("")},
	} {
		opts.Now = func() time.Time { return noon }
		mac := hmac.New(sha256.New, nil)
		mac.Write([]byte(body))
		h := sign(body)
		h.Set("Linear-Signature", hex.EncodeToString(mac.Sum(nil)))
		if _, err := New(opts).ParseWebhook(h, []byte(body)); !errors.Is(err, tracker.ErrForged) {
			t.Errorf("%s: %v", name, err)
		}
	}
}

func FuzzHear(f *testing.F) {
	for _, body := range []string{
		at(noon, "Issue", `,"data":{"identifier":"ENG-12"}`), at(noon, "Comment", `,"url":"https://l/a/issue/ENG-9","data":{"issueId":"x"}`),
		at(noon, "Attachment", `,"data":{"issueId":"22222222-2222-4222-8222-222222222222"}`), `{`, `[]`, `{"webhookTimestamp":-1}`,
	} {
		f.Add(body, "d-1")
	}
	client := ear()
	f.Fuzz(func(t *testing.T, body, delivery string) {
		h := sign(body)
		h.Set("Linear-Delivery", delivery)
		e, err := client.ParseWebhook(h, []byte(body))
		if err != nil {
			if strings.ContainsAny(err.Error(), "\n\r") || len(err.Error()) > 500 {
				t.Errorf("%q", err)
			}
			return
		}
		for _, key := range e.Keys {
			if !keyForm.MatchString(key) && !uuidForm.MatchString(key) {
				t.Errorf("key %q", key)
			}
		}
		h.Set("Linear-Signature", "00")
		if _, err := client.ParseWebhook(h, []byte(body)); !errors.Is(err, tracker.ErrForged) {
			t.Error(err)
		}
	})
}
