// Command serve runs a server that answers like Linear, for trying Orange without one:
//
//	go run ./internal/trackertest/fakelinear/serve -state linear.json -seed issues.json
//
// It prints its address and serves until it is interrupted. It keeps its state in a
// file, written after every change, so it can be killed and started again. GET /issues
// lists the issues (?text=1 as text); POST /people/move (key, column) and POST
// /people/comment (key, author, text) do what a person does.
package main

import (
	"context"
	"encoding/json"
	"errors"
	"flag"
	"fmt"
	"io"
	"log"
	"net"
	"net/http"
	"os"
	"os/signal"
	"syscall"
	"time"

	"orange/internal/core/board"
	"orange/internal/core/tracker"
	"orange/internal/trackertest/fakelinear"
)

func main() {
	ctx, stop := signal.NotifyContext(context.Background(), os.Interrupt, syscall.SIGTERM)
	defer stop()
	if err := run(ctx, os.Args[1:], os.Stdout); err != nil {
		log.Fatalf("serve: %v", err)
	}
}

type settings struct{ addr, addrFile, state, token, seed, secret, schema string }

func run(ctx context.Context, args []string, out io.Writer) error {
	var s settings
	flags := flag.NewFlagSet("serve", flag.ContinueOnError)
	flags.StringVar(&s.addr, "addr", "127.0.0.1:0", "where to listen")
	flags.StringVar(&s.addrFile, "addr-file", "", "a file for the address of the interface")
	flags.StringVar(&s.state, "state", "", "a file that keeps the state")
	flags.StringVar(&s.token, "token", "", "the only token that is taken")
	flags.StringVar(&s.seed, "seed", "", "a JSON file of issues to begin with, if there is no state yet")
	flags.StringVar(&s.secret, "secret", "", "signs deliveries")
	flags.StringVar(&s.schema, "schema", "", "the schema that Linear publishes, to check requests against")
	if err := flags.Parse(args); err != nil {
		return err
	}
	server, err := openServer(s)
	if err != nil {
		return err
	}
	listener, err := net.Listen("tcp", s.addr)
	if err != nil {
		return err
	}
	url := "http://" + listener.Addr().String() + "/graphql"
	if s.addrFile != "" {
		if err := publishAddress(s.addrFile, url); err != nil {
			return errors.Join(err, listener.Close())
		}
	}
	fmt.Fprintln(out, url)
	return serveUntilDone(ctx, listener, server)
}

// openServer creates the server. It adds the initial issues if there is no state yet.
func openServer(s settings) (*fakelinear.FakeServer, error) {
	opts := fakelinear.FakeOptions{Token: s.token, Secret: s.secret, File: s.state}
	if s.schema != "" {
		schema, err := fakelinear.ReadSchema(s.schema)
		if err != nil {
			return nil, err
		}
		opts.Schema = schema
	}
	server, err := fakelinear.New(opts)
	if err != nil || s.seed == "" || len(server.AllIssues()) > 0 {
		return server, err
	}
	text, err := os.ReadFile(s.seed)
	if err != nil {
		return nil, fmt.Errorf("read the issues to begin with: %w", err)
	}
	var drafts []issueDraft
	if err := json.Unmarshal(text, &drafts); err != nil {
		return nil, fmt.Errorf("read %s: %w: give a list of issues with title, description, state, tags, author and priority", s.seed, err)
	}
	for _, d := range drafts {
		if _, err := server.AddIssue(d.trackerIssue()); err != nil {
			return nil, fmt.Errorf("file %q: %w", d.Title, err)
		}
	}
	return server, nil
}

// An issueDraft is an initial issue.
type issueDraft struct {
	Title       string   `json:"title"`
	Description string   `json:"description"`
	State       string   `json:"state"`
	Tags        []string `json:"tags"`
	Author      string   `json:"author"`
	Priority    int      `json:"priority"`
	Parent      string   `json:"parent"`
	BlockedBy   []string `json:"blocked_by"`
}

func (d *issueDraft) trackerIssue() tracker.Issue {
	is := tracker.Issue{
		Card:     board.Card{Title: d.Title, Description: d.Description, Column: d.State, Tags: d.Tags, Author: d.Author},
		Priority: tracker.Priority(d.Priority), Parent: d.Parent,
	}
	for _, key := range d.BlockedBy {
		is.BlockedBy = append(is.BlockedBy, tracker.Link{Key: key})
	}
	return is
}

// publishAddress writes the address to a file atomically.
func publishAddress(file, url string) error {
	if err := os.WriteFile(file+".new", []byte(url+"\n"), 0o600); err != nil {
		return fmt.Errorf("write the address: %w", err)
	}
	return os.Rename(file+".new", file)
}

func serveUntilDone(ctx context.Context, listener net.Listener, handler http.Handler) error {
	server := &http.Server{Handler: handler, ReadHeaderTimeout: 10 * time.Second}
	ended := make(chan error, 1)
	go func() { ended <- server.Serve(listener) }()
	select {
	case err := <-ended:
		return err
	case <-ctx.Done():
	}
	wait, cancel := context.WithTimeout(context.WithoutCancel(ctx), 5*time.Second)
	defer cancel()
	err := server.Shutdown(wait)
	if end := <-ended; !errors.Is(end, http.ErrServerClosed) {
		err = errors.Join(err, end)
	}
	return err
}
