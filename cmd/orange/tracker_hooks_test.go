package main

import (
	"bytes"
	"io"
	"net/http"
	"regexp"
	"slices"
	"strings"
	"testing"

	"orange/internal/core/task"
	"orange/internal/trackertest"
)

// hear starts a server that receives webhooks, and returns its address.
func (s *env) hear() (url string) {
	s.t.Helper()
	s.orange("stop")
	server := s.command(s.program, "serve", "--hooks", "127.0.0.1:0")
	check(s.t, server.Start())
	go server.Wait() //nolint:errcheck // it is stopped with the shop
	address := regexp.MustCompile(`"component":"hooks","address":"([^"]+)"`)
	s.eventually("the server hears", func() bool {
		found := address.FindStringSubmatch(s.text("home/orange.log"))
		if found != nil {
			url = "http://" + found[1] + "/hooks/"
		}
		return found != nil && held(s.home+"/server.lock")
	})
	s.eventually("the server answers", func() bool { _, _, err := s.run("task", "list"); return err == nil })
	return url
}

// deliver sends a piece of news, and returns what the server says about it.
func deliver(t *testing.T, url string, d trackertest.Delivery) int {
	t.Helper()
	req, err := http.NewRequestWithContext(t.Context(), http.MethodPost, url, bytes.NewReader(d.Body))
	check(t, err)
	req.Header = d.Header.Clone()
	resp, err := http.DefaultClient.Do(req)
	check(t, err)
	defer resp.Body.Close() //nolint:errcheck // it was read
	if said, err := io.ReadAll(resp.Body); err != nil || len(said) > 20 {
		t.Errorf("a stranger is told %q, %v", said, err)
	}
	return resp.StatusCode
}

func delivers(t *testing.T, url string, list ...trackertest.Delivery) {
	t.Helper()
	for _, d := range list {
		if code := deliver(t, url, d); code != http.StatusNoContent {
			t.Errorf("news of %s is answered with %d", d.Header.Get("Linear-Event"), code)
		}
	}
}

func TestWebhooksOfLinearAreAccepted(t *testing.T) {
	t.Parallel()
	s, w := openLinear(t, sdlc)
	url := s.hear() // the server that was started first does not
	s.secret("webhook.secret", "lin_wh_fake")
	s.addTracker("lin", "development:\n"+untilGo("go")+"  - commit: {file: \"{attempt}.txt\", text: \"x\\n\", message: do it}\nqa:\n  - idle:\n",
		"--webhook-secret", "file:"+s.dir+"/webhook.secret", "--auto", "--every", "24h")
	s.eventually("it was looked at", func() bool { return !strings.Contains(s.orange("tracker", "list"), "never") })
	lin := url + "lin"

	key := w.AddIssue(t, filed("Login", "Backlog"))
	news := w.TakeDeliveries(t)
	if len(news) != 1 {
		t.Fatalf("%d pieces of news", len(news))
	}
	forged, unsigned, other := news[0], news[0], news[0]
	forged.Body = bytes.Replace(forged.Body, []byte("Login"), []byte("Logon"), 1)
	unsigned.Header = unsigned.Header.Clone()
	unsigned.Header.Del("Linear-Signature")
	other.Header = other.Header.Clone()
	other.Header.Set("Linear-Signature", strings.Repeat("ab", 32))
	for name, d := range map[string]trackertest.Delivery{"forged": forged, "unsigned": unsigned, "signed by somebody else": other} {
		if code := deliver(t, lin, d); code != http.StatusForbidden {
			t.Errorf("news that is %s is answered with %d", name, code)
		}
	}
	if code := deliver(t, url+"nope", news[0]); code != http.StatusForbidden {
		t.Errorf("a tracker that is not there answers with %d", code)
	}
	if code := deliver(t, lin, trackertest.Delivery{Header: http.Header{}, Body: make([]byte, 4<<20+1)}); code != http.StatusRequestEntityTooLarge {
		t.Errorf("too much is answered with %d", code)
	}
	if n := len(s.list()); n != 0 {
		t.Fatalf("%d tasks were made of what is not believed", n)
	}

	delivers(t, lin, news[0], news[0], news[0])
	tasks := s.list()
	if len(tasks) != 1 {
		t.Fatalf("%d tasks", len(tasks))
	}
	id := tasks[0].ID
	s.eventually("the agent is at work", func() bool { return s.has("go-begun") })

	// News say where to look, and not what is there: in which order they come is all one.
	w.CommentIssue(t, key, "alice", "HOLD - wait")
	delivers(t, lin, w.TakeDeliveries(t)...)
	s.await(id, "it is held", func(t task.Task) bool { return t.Paused })
	w.CommentIssue(t, key, "mallory", "RESUME")
	delivers(t, lin, w.TakeDeliveries(t)...)
	if !s.task(id).Paused {
		t.Error("a stranger resumes it")
	}
	w.CommentIssue(t, key, "alice", "RESUME")
	w.CommentIssue(t, key, "alice", "HOLD")
	w.CommentIssue(t, key, "alice", "RESUME")
	news = w.TakeDeliveries(t)
	slices.Reverse(news)
	delivers(t, lin, slices.Concat(news, news)...)
	if s.task(id).Paused {
		t.Error("it is held by what is over")
	}
	s.write("go", "")
	s.await(id, "QA is at work", func(t task.Task) bool { _, ok := t.LiveAttempt("qa"); return ok && len(t.Pending) == 0 })
	delivers(t, lin, w.TakeDeliveries(t)...) // of what we did ourselves

	w.MoveIssue(t, key, "Started")
	news = w.TakeDeliveries(t)
	delivers(t, lin, news[0], news[0])
	s.await(id, "QA is at work again", func(t task.Task) bool { return t.AttemptsOfRole("qa") == 2 && len(t.Pending) == 0 })
	news = append(w.TakeDeliveries(t), news...)
	delivers(t, lin, news...) // the move comes once more, late
	s.wayIs(id, "Backlog", "Started", "Finished", "Started", "Finished")
	if r := s.sync(); len(r.News)+len(r.Drift) != 0 {
		t.Errorf("%+v", r)
	}

	// News that could not be followed are sent again, and are not old then.
	w.TakeDeliveries(t)
	w.AddIssue(t, filed("Logout", "Backlog"))
	news = w.TakeDeliveries(t)
	w.InjectFault(trackertest.Fault{Kind: trackertest.Broken, Times: 100})
	if code := deliver(t, lin, news[0]); code != http.StatusServiceUnavailable {
		t.Errorf("news that cannot be followed is answered with %d", code)
	}
	w.InjectFault(trackertest.Fault{})
	delivers(t, lin, news...)
	if n := len(s.list()); n != 2 {
		t.Errorf("%d tasks", n)
	}
	s.eventually("nothing is wrong", func() bool { _, _, err := s.run("doctor"); return err == nil }) // the second begins just now
}
