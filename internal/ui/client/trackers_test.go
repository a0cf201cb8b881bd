package client_test

import (
	"context"
	"errors"
	"strings"
	"testing"

	"orange/internal/core/boardcheck"
	"orange/internal/core/tracker"
	"orange/internal/ui/apitest"
	"orange/internal/ui/client"
	"orange/internal/wire"
)

func TestWhatIsAskedAboutTrackers(t *testing.T) {
	ask := map[string]func(context.Context, *client.Client) error{
		"GET /v1/trackers": func(ctx context.Context, c *client.Client) error { _, err := c.ListTrackers(ctx); return err },
		`POST /v1/trackers {"name":"lin","kind":"linear","project":"p","token":"env:X","max":2}`: func(ctx context.Context, c *client.Client) error {
			_, err := c.SetTracker(ctx, tracker.Config{Name: "lin", Kind: "linear", Project: "p", Token: "env:X", Max: 2})
			return err
		},
		"DELETE /v1/trackers/a%2Fb":     func(ctx context.Context, c *client.Client) error { return c.RemoveTracker(ctx, "a/b") },
		"GET /v1/trackers/a%20b/issues": func(ctx context.Context, c *client.Client) error { _, err := c.ListIssues(ctx, "a b"); return err },
		`POST /v1/trackers/lin/sync {"fix":true}`: func(ctx context.Context, c *client.Client) error {
			_, err := c.SyncTracker(ctx, "lin", true)
			return err
		},
		"POST /v1/forges/sync {}":       func(ctx context.Context, c *client.Client) error { _, err := c.SyncForges(ctx); return err },
		"POST /v1/trackers/lin/test {}": func(ctx context.Context, c *client.Client) error { _, err := c.TestTracker(ctx, "lin"); return err },
		`POST /v1/trackers/lin/dispatch {"dry":true}`: func(ctx context.Context, c *client.Client) error {
			_, err := c.DispatchIssues(ctx, "lin", true)
			return err
		},
		`POST /v1/doctor/board {"tracker":"lin","key":"ENG-1","fix":true}`: func(ctx context.Context, c *client.Client) error {
			_, err := c.CheckBoard(ctx, wire.BoardCheckRequest{Tracker: "lin", Key: "ENG-1", Fix: true})
			return err
		},
	}
	for want, f := range ask {
		r := inspect()
		socket := socketIn(t)
		listen(t, socket, r)
		c := client.New(socket)
		if err := f(t.Context(), c); err != nil || len(r.got) != 1 || r.got[0] != want {
			t.Errorf("asked %q (%v), want %q", r.got, err, want)
		}
		c.Close()
	}
}

func TestAnswersAboutTrackers(t *testing.T) {
	for name, tt := range map[string]struct {
		parts apitest.Trackers
		good  func(ctx context.Context, c *client.Client) (bool, error)
	}{
		"the list": {apitest.Trackers{Readings: []tracker.Reading{{Config: tracker.Config{Name: "lin"}, Issues: 3}}}, func(ctx context.Context, c *client.Client) (bool, error) {
			got, err := c.ListTrackers(ctx)
			return len(got) == 1 && got[0].Config.Name == "lin" && got[0].Issues == 3, err
		}},
		"one that was added": {apitest.Trackers{Config: tracker.Config{Name: "lin", Max: 2}}, func(ctx context.Context, c *client.Client) (bool, error) {
			got, err := c.SetTracker(ctx, tracker.Config{})
			return got.Name == "lin" && got.Max == 2, err
		}},
		"issues": {apitest.Trackers{Kept: []tracker.Issue{{Key: "ENG-1"}}}, func(ctx context.Context, c *client.Client) (bool, error) {
			got, err := c.ListIssues(ctx, "lin")
			return len(got) == 1 && got[0].Key == "ENG-1", err
		}},
		"a look": {apitest.Trackers{Report: tracker.Report{Tracker: "lin", Issues: 2, Drift: []tracker.Drift{{Want: "Started"}}}}, func(ctx context.Context, c *client.Client) (bool, error) {
			got, err := c.SyncTracker(ctx, "lin", false)
			return got.Tracker == "lin" && got.Issues == 2 && len(got.Drift) == 1, err
		}},
		"a look at forges": {apitest.Trackers{News: []string{"n"}}, func(ctx context.Context, c *client.Client) (bool, error) {
			got, err := c.SyncForges(ctx)
			return len(got) == 1 && got[0] == "n", err
		}},
		"a trial": {apitest.Trackers{Trial: tracker.Trial{Account: "a", Missing: []string{`column "X"`}}}, func(ctx context.Context, c *client.Client) (bool, error) {
			got, err := c.TestTracker(ctx, "lin")
			return got.Account == "a" && len(got.Missing) == 1, err
		}},
		"a round": {apitest.Trackers{Round: tracker.Round{Choices: []tracker.Choice{{Key: "ENG-1", Dispatch: true}}}}, func(ctx context.Context, c *client.Client) (bool, error) {
			got, err := c.DispatchIssues(ctx, "lin", false)
			return len(got.Choices) == 1 && got.Choices[0].Dispatch, err
		}},
		"findings": {apitest.Trackers{Findings: []boardcheck.Finding{{Card: "c", Anomaly: boardcheck.Anomaly{Text: "odd"}}}}, func(ctx context.Context, c *client.Client) (bool, error) {
			got, err := c.CheckBoard(ctx, wire.BoardCheckRequest{})
			return len(got) == 1 && got[0].Card == "c" && got[0].Text == "odd", err
		}},
	} {
		t.Run(name, func(t *testing.T) {
			socket := socketIn(t)
			s := apitest.NewServer(apitest.NewStore())
			s.Trackers = tt.parts
			listen(t, socket, s.Handler())
			c := client.New(socket)
			defer c.Close()
			if ok, err := tt.good(t.Context(), c); !ok || err != nil {
				t.Errorf("not read: %v", err)
			}
		})
	}
}

func TestARefusalAboutATrackerIsAnError(t *testing.T) {
	socket := socketIn(t)
	s := apitest.NewServer(apitest.NewStore())
	s.Trackers = apitest.Trackers{Err: errors.New(`there is no tracker "x": see orange tracker list`)}
	listen(t, socket, s.Handler())
	c := client.New(socket)
	defer c.Close()
	if _, err := c.SyncTracker(t.Context(), "x", false); err == nil || !strings.Contains(err.Error(), "see orange tracker list") {
		t.Error(err)
	}
}
