package main

import (
	"bufio"
	"context"
	"io"
	"net/http"
	"path/filepath"
	"strings"
	"testing"
)

func TestItServesTheExampleAndPrintsWhatIsAsked(t *testing.T) {
	ctx, cancel := context.WithCancel(t.Context())
	defer cancel()
	out, in := io.Pipe()
	ended := make(chan error, 1)
	go func() {
		ended <- run(ctx, []string{"-scripts", "example.json"}, in)
		in.Close()
	}()
	lines := bufio.NewScanner(out)
	if !lines.Scan() {
		t.Fatalf("it printed no address: %v", <-ended)
	}
	body := `{"messages":[{"role":"user","content":"[[script:hello]]"}],"tools":[{"name":"Bash"}]}`
	response, err := http.Post(lines.Text()+"/v1/messages", "application/json", strings.NewReader(body))
	if err != nil {
		t.Fatal(err)
	}
	response.Body.Close()
	if !lines.Scan() || !strings.Contains(lines.Text(), `"script":"hello","turn":0`) {
		t.Errorf("it printed %s", lines.Text())
	}
	cancel()
	if err := <-ended; err != nil {
		t.Errorf("it ended with %v", err)
	}
}

func TestItSaysWhatIsWrong(t *testing.T) {
	for name, args := range map[string][]string{
		"no file":         {},
		"no such file":    {"-scripts", filepath.Join(t.TempDir(), "none.json")},
		"no scripts":      {"-scripts", "main.go"},
		"no such flag":    {"-nonsense"},
		"no such address": {"-scripts", "example.json", "-addr", "nowhere:x"},
	} {
		t.Run(name, func(t *testing.T) {
			if err := run(t.Context(), args, io.Discard); err == nil {
				t.Error("it did not fail")
			}
		})
	}
}
