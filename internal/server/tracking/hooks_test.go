package tracking

import (
	"context"
	"errors"
	"fmt"
	"io"
	"log/slog"
	"net/http"
	"net/http/httptest"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"orange/internal/core/task"
	"orange/internal/core/tracker"
)

// send posts a piece of news, and returns the status and the words of the answer.
func send(t *testing.T, url, body string) (int, string) {
	t.Helper()
	res, err := http.Post(url, "application/json", strings.NewReader(body))
	if err != nil {
		t.Error(err)
		return 0, ""
	}
	defer res.Body.Close()
	said, err := io.ReadAll(res.Body)
	if err != nil {
		t.Error(err)
	}
	return res.StatusCode, strings.TrimSpace(string(said))
}

func TestNewsIsAnsweredWithoutAReason(t *testing.T) {
	var answer error
	server := httptest.NewServer(hookHandler(func(context.Context, string, http.Header, []byte) error { return answer }, slog.New(slog.DiscardHandler)))
	defer server.Close()
	for name, tc := range map[string]struct {
		err  error
		want int
	}{
		"heard":                {nil, 204},
		"forged":               {fmt.Errorf("linear: %w", tracker.ErrForged), 403},
		"no such tracker":      {task.Mistakef("there is none"), 403},
		"signed, and nonsense": {fmt.Errorf("linear: %w", tracker.ErrMalformed), 400},
		"not now":              {errors.New("the tracker is down"), 503},
	} {
		answer = tc.err
		if got, said := send(t, server.URL+"/hooks/lin", "{}"); got != tc.want || len(said) > 20 {
			t.Errorf("%s: %d %q, want %d", name, got, said, tc.want)
		}
	}
}

// TestNewsIsBounded sends more news at the same time than are followed.
func TestNewsIsBounded(t *testing.T) {
	begun, done := make(chan struct{}, 2*maxHooks), make(chan struct{})
	server := httptest.NewServer(hookHandler(func(context.Context, string, http.Header, []byte) error {
		begun <- struct{}{}
		<-done
		return nil
	}, slog.New(slog.DiscardHandler)))
	defer server.Close()
	got := make(chan int, maxHooks)
	for range maxHooks {
		go func() {
			status, _ := send(t, server.URL+"/hooks/lin", "{}")
			got <- status
		}()
	}
	for range maxHooks {
		<-begun
	}
	if status, _ := send(t, server.URL+"/hooks/lin", "{}"); status != http.StatusTooManyRequests {
		t.Errorf("one too many: %d", status)
	}
	close(done)
	for range maxHooks {
		if status := <-got; status != http.StatusNoContent {
			t.Errorf("one that was taken in: %d", status)
		}
	}
	if status, _ := send(t, server.URL+"/hooks/lin", "{}"); status != http.StatusNoContent {
		t.Errorf("afterwards: %d", status)
	}
}

// TestTheSecretOfAWebhookIsReadOnce asks for the secret of a command that counts.
func TestTheSecretOfAWebhookIsReadOnce(t *testing.T) {
	count := filepath.Join(t.TempDir(), "count")
	port, err := Connector{Log: slog.New(slog.DiscardHandler)}.Connect(tracker.Config{Name: "lin", Kind: tracker.Linear, Scope: "ENG", Webhook: "command:echo x >>'" + count + "'; echo secret"})
	if err != nil {
		t.Fatal(err)
	}
	hearer, ok := port.(interface {
		ParseWebhook(http.Header, []byte) (tracker.Event, error)
	})
	if !ok {
		t.Fatalf("%T hears nothing", port)
	}
	for range 5 {
		if _, err := hearer.ParseWebhook(http.Header{"Linear-Signature": {strings.Repeat("a", 64)}}, []byte("{}")); !errors.Is(err, tracker.ErrForged) {
			t.Error(err)
		}
	}
	if text, err := os.ReadFile(count); err != nil || string(text) != "x\n" {
		t.Errorf("the command ran %d times: %v", strings.Count(string(text), "x"), err)
	}
}
