package tracker_test

import (
	"strings"
	"testing"
	"time"
	"unicode/utf8"

	"github.com/google/go-cmp/cmp"
	"pgregory.net/rapid"

	"orange/internal/core/tracker"
)

func TestParseDirective(t *testing.T) {
	tests := map[string]struct {
		text     string
		kind     string // "" if it is none
		reason   string
		priority tracker.Priority
	}{
		"hold":                   {text: "HOLD", kind: tracker.Hold},
		"hold, spaces":           {text: " \n hold \t", kind: tracker.Hold},
		"hold, hyphen":           {text: "HOLD - no budget", kind: tracker.Hold, reason: "no budget"},
		"hold, en dash":          {text: "hold–no budget", kind: tracker.Hold, reason: "no budget"},
		"hold, em dash":          {text: "Hold —  no budget", kind: tracker.Hold, reason: "no budget"},
		"hold, two hyphens":      {text: "HOLD -- no budget", kind: tracker.Hold, reason: "no budget"},
		"hold, a dash alone":     {text: "HOLD -", kind: tracker.Hold},
		"hold, more lines":       {text: "HOLD - why\r\nRESUME", kind: tracker.Hold, reason: "why"},
		"hold in a sentence":     {text: "HOLD this until Monday"},
		"holding":                {text: "HOLDING"},
		"hold, later":            {text: "I think so.\nHOLD"},
		"hold, quoted":           {text: "> HOLD"},
		"resume":                 {text: "Resume\nthanks", kind: tracker.Resume},
		"resume in a sentence":   {text: "Resume tomorrow"},
		"skip":                   {text: "skip  qa", kind: tracker.SkipQA},
		"skip, hyphen":           {text: "Skip-QA", kind: tracker.SkipQA},
		"skip, one word":         {text: "SKIPQA"},
		"skip, something else":   {text: "SKIP QA AND MORE"},
		"decompose":              {text: "DECOMPOSE", kind: tracker.Decompose},
		"reassign":               {text: "reassign", kind: tracker.Reassign},
		"priority, colon":        {text: "PRIORITY: high", kind: tracker.Prioritize, priority: tracker.High},
		"priority, close colon":  {text: "priority:LOW", kind: tracker.Prioritize, priority: tracker.Low},
		"priority, no colon":     {text: "Priority  Medium", kind: tracker.Prioritize, priority: tracker.Medium},
		"priority, urgent":       {text: "PRIORITY URGENT", kind: tracker.Prioritize, priority: tracker.Urgent},
		"priority, colon urgent": {text: "PRIORITY: urgent"},
		"priority, unknown":      {text: "PRIORITY: whenever"},
		"priority, none":         {text: "PRIORITY"},
		"priority, only colon":   {text: "PRIORITY:"},
		"priority, one word":     {text: "PRIORITYHIGH"},
		"our own words":          {text: "HOLD\n\n" + tracker.Mark + "12ab -->"},
		"empty":                  {text: ""},
		"spaces":                 {text: " \n "},
	}
	for name, tt := range tests {
		t.Run(name, func(t *testing.T) {
			at := time.Unix(100, 0)
			got, ok := tracker.ParseDirective(tracker.Comment{ID: "c", Author: "alice", At: at, Text: tt.text})
			want := tracker.Directive{}
			if tt.kind != "" {
				want = tracker.Directive{Kind: tt.kind, Reason: tt.reason, Priority: tt.priority, Comment: "c", Author: "alice", At: at}
			}
			if diff := cmp.Diff(want, got); diff != "" || ok != (tt.kind != "") {
				t.Errorf("ok = %v\n%s", ok, diff)
			}
			if _, ok := tracker.ParseDirective(tracker.Comment{Text: tt.text, Bot: true}); ok {
				t.Error("a bot gives orders")
			}
		})
	}
}

func TestAReasonIsOneBoundedLine(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		text := "HOLD - " + rapid.OneOf(rapid.String(), rapid.StringOfN(rapid.RuneFrom([]rune("ä\x1b\xff \t-")), 0, 900, -1)).Draw(t, "reason")
		d, ok := tracker.ParseDirective(tracker.Comment{Text: text})
		if !ok {
			t.Fatalf("%q is no hold", text)
		}
		if !utf8.ValidString(d.Reason) || strings.ContainsAny(d.Reason, "\n\r\x1b") || utf8.RuneCountInString(d.Reason) > 203 {
			t.Fatalf("the reason is %q", d.Reason)
		}
	})
}

// said makes comments, one a minute: "alice: HOLD".
func said(lines ...string) []tracker.Comment {
	var out []tracker.Comment
	for i, line := range lines {
		author, text, _ := strings.Cut(line, ": ")
		out = append(out, tracker.Comment{ID: text, Author: author, Bot: author == "bot", At: time.Unix(int64(i)*60, 0), Text: text})
	}
	return out
}

func TestOrdersIn(t *testing.T) {
	tests := map[string]struct {
		comments []string
		want     string // the comments that hold: hold, skip, decompose, reassign, priority; last
	}{
		"none":                                {nil, "| | | | |"},
		"talk":                                {[]string{"alice: fine"}, "| | | | |"},
		"held":                                {[]string{"alice: HOLD", "alice: why not"}, "HOLD| | | | |HOLD"},
		"held and resumed":                    {[]string{"alice: HOLD", "bob: RESUME"}, "| | | | |RESUME"},
		"held again":                          {[]string{"alice: HOLD - a", "bob: RESUME", "bob: HOLD - b"}, "HOLD - b| | | | |HOLD - b"},
		"a priority ends no hold":             {[]string{"alice: HOLD", "alice: PRIORITY HIGH"}, "HOLD| | | |PRIORITY HIGH|PRIORITY HIGH"},
		"the latest priority":                 {[]string{"alice: PRIORITY HIGH", "bob: PRIORITY LOW"}, "| | | |PRIORITY LOW|PRIORITY LOW"},
		"resume ends nothing else":            {[]string{"alice: SKIP QA", "alice: DECOMPOSE", "alice: REASSIGN", "alice: RESUME"}, "|SKIP QA|DECOMPOSE|REASSIGN| |RESUME"},
		"who is not allowed holds nothing":    {[]string{"mallory: HOLD"}, "| | | | |"},
		"who is not allowed resumes nothing":  {[]string{"alice: HOLD", "mallory: RESUME"}, "HOLD| | | | |HOLD"},
		"a bot resumes nothing":               {[]string{"alice: HOLD", "bot: RESUME"}, "HOLD| | | | |HOLD"},
		"our own report of a hold is nothing": {[]string{"alice: HOLD\n" + tracker.Mark + "1 -->"}, "| | | | |"},
	}
	for name, tt := range tests {
		t.Run(name, func(t *testing.T) {
			allowed := func(author string) bool { return author != "mallory" }
			if got := show(tracker.OrdersIn(said(tt.comments...), allowed)); got != strings.ReplaceAll(tt.want, " |", "|") {
				t.Errorf("got %s, want %s", got, tt.want)
			}
			if got := show(tracker.OrdersIn(said(tt.comments...), nil)); got != "|||||" {
				t.Errorf("without a rule: %s", got)
			}
		})
	}
}

func show(o tracker.Orders) string {
	var out []string
	for _, d := range []*tracker.Directive{o.Hold, o.SkipQA, o.Decompose, o.Reassign, o.Priority, o.Last} {
		if d == nil {
			d = &tracker.Directive{}
		}
		out = append(out, d.Comment)
	}
	return strings.Join(out, "|")
}

func TestTheTimeOfACommentCountsNotItsPlace(t *testing.T) {
	comments := said("alice: HOLD", "alice: RESUME")
	comments[0], comments[1] = comments[1], comments[0]
	everybody := func(string) bool { return true }
	if o := tracker.OrdersIn(comments, everybody); o.Hold != nil {
		t.Error("it is held, though RESUME came later")
	}
	if comments[0].Text != "RESUME" {
		t.Error("the comments given were sorted")
	}
}
