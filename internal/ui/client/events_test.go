package client_test

import (
	"context"
	"errors"
	"fmt"
	"net/http"
	"testing"
	"testing/synctest"

	"github.com/google/go-cmp/cmp"

	"orange/internal/ui/client"
)

var errEnough = errors.New("enough")

func entry(row int) string {
	return fmt.Sprintf("id: %d\nevent: entry\ndata: {\"task\":\"t\",\ndata: \"seq\":%d}\n\n", row, row)
}

// broken sends a few events on each connection, then cuts it.
type broken struct {
	asked []string
	parts []string
}

func (b *broken) ServeHTTP(w http.ResponseWriter, r *http.Request) {
	b.asked = append(b.asked, r.URL.RawQuery+" last="+r.Header.Get("Last-Event-ID"))
	n := len(b.asked) - 1
	if n >= len(b.parts) {
		w.WriteHeader(http.StatusNotFound)
		fmt.Fprint(w, `{"error":"gone"}`)
		return
	}
	fmt.Fprint(w, b.parts[n])
}

func TestEventsResumeAfterABrokenConnection(t *testing.T) {
	socket := socketIn(t)
	b := &broken{parts: []string{
		": ping\n\n" + entry(4) + entry(5) + "id: 6\nevent: entry\ndata: {\"ta", // cut in the middle of one
		"",
		"id: 6\nevent: other\ndata: x\n\n" + entry(7),
	}}
	listen(t, socket, b)
	c := client.New(socket)
	defer c.Close()
	var rows []int64
	opened := 0
	watch := client.EventOptions{After: 3, Task: "t", Opened: func() error { opened++; return nil }}
	err := c.FollowEvents(t.Context(), watch, func(e client.StreamEvent) error {
		rows = append(rows, e.Row)
		if e.Entry.Seq != int(e.Row) || e.Entry.Task != "t" {
			t.Errorf("row %d has entry %+v", e.Row, e.Entry)
		}
		return nil
	})
	if err == nil || err.Error() != "gone" {
		t.Errorf("ended with %v", err)
	}
	if diff := cmp.Diff([]int64{4, 5, 7}, rows); diff != "" {
		t.Error(diff)
	}
	want := []string{"after=3&task=t last=", "after=3&task=t last=5", "after=3&task=t last=5", "after=3&task=t last=7"}
	if diff := cmp.Diff(want, b.asked); diff != "" {
		t.Error(diff)
	}
	if opened != 3 {
		t.Errorf("opened %d times, want 3", opened)
	}
}

func TestEventsEndWhenTheCallerHasEnough(t *testing.T) {
	socket := socketIn(t)
	listen(t, socket, &broken{parts: []string{entry(1) + entry(2)}})
	c := client.New(socket)
	defer c.Close()
	if err := c.FollowEvents(t.Context(), client.EventOptions{}, func(client.StreamEvent) error { return errEnough }); err != errEnough {
		t.Errorf("each: got %v", err)
	}
	other := socketIn(t)
	listen(t, other, &broken{parts: []string{entry(1)}})
	d := client.New(other)
	defer d.Close()
	w := client.EventOptions{Opened: func() error { return errEnough }}
	if err := d.FollowEvents(t.Context(), w, func(client.StreamEvent) error { t.Error("called"); return nil }); err != errEnough {
		t.Errorf("opened: got %v", err)
	}
}

func TestEventsEndWithTheirContext(t *testing.T) {
	socket := socketIn(t)
	listen(t, socket, http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		fmt.Fprint(w, entry(1))
		w.(http.Flusher).Flush()
		<-r.Context().Done()
	}))
	c := client.New(socket)
	defer c.Close()
	ctx, cancel := context.WithCancel(t.Context())
	err := c.FollowEvents(ctx, client.EventOptions{}, func(client.StreamEvent) error { cancel(); return nil })
	if !errors.Is(err, context.Canceled) {
		t.Errorf("got %v", err)
	}
}

func TestEventsGiveUpWithoutAServer(t *testing.T) {
	socket := socketIn(t)
	synctest.Test(t, func(t *testing.T) {
		c := client.New(socket)
		defer c.Close()
		if err := c.FollowEvents(t.Context(), client.EventOptions{}, func(client.StreamEvent) error { return nil }); err == nil {
			t.Error("no error")
		}
	})
}
