package main

import (
	"bufio"
	"context"
	"encoding/json"
	"io"
	"net/http"
	"os"
	"path/filepath"
	"strings"
	"testing"
)

// running returns the command at work, until the test ends or stop is called.
func running(t *testing.T, args ...string) (url string, stop func()) {
	t.Helper()
	ctx, cancel := context.WithCancel(context.WithoutCancel(t.Context()))
	in, out := io.Pipe()
	ended := make(chan error, 1)
	go func() {
		err := run(ctx, args, out)
		out.CloseWithError(err)
		ended <- err
	}()
	line, err := bufio.NewReader(in).ReadString('\n')
	if err != nil {
		t.Fatal(err)
	}
	done := false
	stop = func() {
		if done {
			return
		}
		done = true
		cancel()
		if err := <-ended; err != nil {
			t.Error(err)
		}
	}
	t.Cleanup(stop)
	return strings.TrimSpace(line), stop
}

func issues(t *testing.T, url string) (list []struct{ Key, Title, State string }) {
	t.Helper()
	resp, err := http.Get(strings.TrimSuffix(url, "/graphql") + "/issues")
	if err != nil {
		t.Fatal(err)
	}
	defer resp.Body.Close()
	if err := json.NewDecoder(resp.Body).Decode(&list); err != nil {
		t.Fatal(err)
	}
	return list
}

func TestServe(t *testing.T) {
	dir := t.TempDir()
	seed, state, addr := filepath.Join(dir, "seed.json"), filepath.Join(dir, "state.json"), filepath.Join(dir, "addr")
	if err := os.WriteFile(seed, []byte(`[{"title":"One","tags":["Ready"]},{"title":"Two","state":"Started","priority":2,"parent":"ENG-1","blocked_by":["ENG-1"]}]`), 0o600); err != nil {
		t.Fatal(err)
	}
	url, stop := running(t, "-seed", seed, "-state", state, "-addr-file", addr, "-token", "lin_api_x")
	if text, err := os.ReadFile(addr); err != nil || strings.TrimSpace(string(text)) != url {
		t.Errorf("%q, %v", text, err)
	}
	if got := issues(t, url); len(got) != 2 || got[0].Key != "ENG-1" || got[0].State != "Backlog" || got[1].State != "Started" {
		t.Errorf("%+v", got)
	}
	resp, err := http.PostForm(strings.TrimSuffix(url, "/graphql")+"/people/move", map[string][]string{"key": {"ENG-1"}, "column": {"Accepted"}})
	if err != nil || resp.StatusCode != http.StatusNoContent {
		t.Fatal(resp, err)
	}
	resp.Body.Close()
	if resp, err := http.Post(url, "application/json", strings.NewReader(`{"query":"{ viewer { id } }"}`)); err != nil || resp.StatusCode != http.StatusUnauthorized {
		t.Errorf("without the token: %v, %v", resp, err)
	} else {
		resp.Body.Close()
	}
	stop()
	url, _ = running(t, "-seed", seed, "-state", state)
	if got := issues(t, url); len(got) != 2 || got[0].State != "Accepted" {
		t.Errorf("after another start: %+v", got)
	}
}

func TestWhatServeCannotBeginWith(t *testing.T) {
	dir := t.TempDir()
	bad := filepath.Join(dir, "bad.json")
	if err := os.WriteFile(bad, []byte(`[{"title":"One","state":"Nope"}]`), 0o600); err != nil {
		t.Fatal(err)
	}
	for name, args := range map[string][]string{
		"no such seed":       {"-seed", filepath.Join(dir, "nope")},
		"a column not there": {"-seed", bad},
		"a seed of no list":  {"-seed", os.Args[0]},
		"no such schema":     {"-schema", filepath.Join(dir, "nope")},
		"no address":         {"-addr", "nowhere:x"},
	} {
		if err := run(t.Context(), args, io.Discard); err == nil {
			t.Errorf("%s: no error", name)
		}
	}
}
