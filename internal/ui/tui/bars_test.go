package tui

import (
	"fmt"
	"io/fs"
	"strings"
	"testing"

	tea "charm.land/bubbletea/v2"
	charm "github.com/charmbracelet/x/ansi"
)

func TestTheHeadIsInTwoParts(t *testing.T) {
	r := newEnv(t, 20, 24)
	r.pauseAll()
	for width := 20; width < 140; width++ {
		r.tell(tea.WindowSizeMsg{Width: width, Height: 24})
		for name, lost := range map[string]error{"live": nil, "connection lost": errNo, "no server": fs.ErrNotExist} {
			r.tell(linkMsg{lost})
			head := charm.Strip(r.m.renderHeader())
			if right := strings.Index(head, "paused"); right < 0 || !strings.HasSuffix(head[:right], "  ") {
				t.Fatalf("%d columns, %s: %q", width, name, head)
			}
			if width >= 60 && (charm.StringWidth(head) != width || !strings.Contains(head, name)) {
				t.Fatalf("%d columns, %s: %q", width, name, head)
			}
		}
	}
	r = newEnv(t, 60, 24)
	r.shows(" for you  ")
}

func TestAKeyStartsAServer(t *testing.T) {
	gone := linkMsg{fmt.Errorf("ask the server: %w", fs.ErrNotExist)}
	for name, tt := range map[string]struct {
		first []string // before the server is gone
		key   string
		want  string
	}{
		"a key that asks for nothing": {key: "k", want: "state"},
		"a key that means nothing":    {key: "Z", want: "state"},
		"a letter of an answer":       {first: []string{"r"}, key: "q", want: "state"},
		"a letter of a search":        {first: []string{"/"}, key: "e", want: "state"},
		"the key to leave":            {key: "q"},
		"the key to leave at once":    {key: "ctrl+c"},
	} {
		t.Run(name, func(t *testing.T) {
			r := newEnv(t, 100, 30)
			r.press(tt.first...)
			r.tell(gone)
			r.shows("no server: any key starts one")
			r.api.take()
			r.press(tt.key)
			if got := strings.Join(r.api.take(), ", "); got != tt.want {
				t.Errorf("asked %q, want %q", got, tt.want)
			}
			if tt.want != "" {
				r.hides("no server", "connection lost")
				r.tell(linkMsg{})
				r.shows("live")
			}
		})
	}
	t.Run("one at a time", func(t *testing.T) {
		r := newEnv(t, 100, 30)
		r.tell(gone)
		_, slow := r.m.Update(tea.KeyPressMsg{Code: 'k', Text: "k"})
		r.m.View()
		r.shows("starting the server")
		r.tell(gone)
		r.press("k")
		if got := r.api.take(); got != nil {
			t.Errorf("asked %q", got)
		}
		r.run(slow)
		r.hides("starting the server")
	})
	t.Run("that cannot be started", func(t *testing.T) {
		r := newEnv(t, 100, 30)
		r.tell(gone)
		r.api.store.FailReads(errNo)
		r.press("k")
		r.shows("no server: any key starts one", "a gate is not met")
	})
	t.Run("where there is one that fails", func(t *testing.T) {
		r := newEnv(t, 100, 30)
		r.tell(linkMsg{errNo})
		r.press("k")
		if got := r.api.take(); got != nil {
			t.Errorf("asked %q", got)
		}
	})
}
