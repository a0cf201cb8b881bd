package tracker_test

import (
	"testing"

	"orange/internal/core/tracker"
)

func TestParseIssueAddress(t *testing.T) {
	tests := []struct {
		address string
		want    tracker.IssueAddress
		ok      bool
	}{
		{"https://github.com/acme/shop/issues/12", tracker.IssueAddress{Host: "github.com", Scope: "acme/shop", Key: "12"}, true},
		{"https://github.com/acme/shop/issues/12#issuecomment-3", tracker.IssueAddress{Host: "github.com", Scope: "acme/shop", Key: "12"}, true},
		{"http://127.0.0.1:3000/git/acme/shop/issues/7/", tracker.IssueAddress{Host: "127.0.0.1", Scope: "acme/shop", Key: "7"}, true},
		{"https://linear.app/acme/issue/eng-12/fix-the-cart", tracker.IssueAddress{Host: "linear.app", Scope: "ENG", Key: "ENG-12", Team: true}, true},
		{"https://github.com/acme/shop/pull/12", tracker.IssueAddress{}, false},
		{"https://github.com/acme/shop/issues/new", tracker.IssueAddress{}, false},
		{"https://github.com/issues/12", tracker.IssueAddress{}, false},
		{"github.com/acme/shop/issues/12", tracker.IssueAddress{}, false},
		{"ENG-12", tracker.IssueAddress{}, false},
		{"", tracker.IssueAddress{}, false},
	}
	for _, tt := range tests {
		if got, ok := tracker.ParseIssueAddress(tt.address); got != tt.want || ok != tt.ok {
			t.Errorf("ParseIssueAddress(%q) = %+v, %t, want %+v, %t", tt.address, got, ok, tt.want, tt.ok)
		}
	}
}

func TestHasIssue(t *testing.T) {
	hub := tracker.IssueAddress{Host: "github.com", Scope: "acme/shop", Key: "12"}
	lin := tracker.IssueAddress{Host: "linear.app", Scope: "ENG", Key: "ENG-1", Team: true}
	tests := []struct {
		cfg  tracker.Config
		at   tracker.IssueAddress
		want bool
	}{
		{tracker.Config{Kind: tracker.GitHub, Scope: "Acme/Shop"}, hub, true},
		{tracker.Config{Kind: tracker.GitHub, Scope: "acme/shop", URL: "https://api.github.com"}, hub, true},
		{tracker.Config{Kind: tracker.GitHub, Scope: "acme/shop", URL: "https://git.example/api/v3"}, hub, false},
		{tracker.Config{Kind: tracker.GitHub, Scope: "acme/other"}, hub, false},
		{tracker.Config{Kind: tracker.Linear, Scope: "ENG/Web"}, lin, true},
		{tracker.Config{Kind: tracker.Linear, Scope: "OPS"}, lin, false},
		{tracker.Config{Kind: tracker.Board}, hub, false},
	}
	for _, tt := range tests {
		if got := tt.cfg.HasIssue(tt.at); got != tt.want {
			t.Errorf("%+v has %+v: %t, want %t", tt.cfg, tt.at, got, tt.want)
		}
	}
}
