package boardcheck_test

import (
	"strings"
	"testing"
	"time"

	"orange/internal/core/board"
	"orange/internal/core/boardcheck"
)

var noon = time.Date(2026, 1, 2, 12, 0, 0, 0, time.UTC)

func ago(d time.Duration) time.Time { return noon.Add(-d) }

// cardOf reads "Development: Planned, bug".
func cardOf(text string) board.Card {
	column, tags, _ := strings.Cut(text, ":")
	card := board.Card{Column: column}
	for tag := range strings.SplitSeq(tags, ",") {
		if tag = strings.TrimSpace(tag); tag != "" {
			card.Tags = append(card.Tags, tag)
		}
	}
	return card
}

// say writes what was found in one line each: "TYPE -> column +tag -tag".
func say(found []boardcheck.Anomaly) string {
	var out []string
	for _, a := range found {
		words := []string{string(a.Type)}
		if a.Severity == boardcheck.Warning {
			words = append(words, "warns")
		}
		if a.Fix != nil {
			words = append(words, "->")
			if a.Fix.Column != "" {
				words = append(words, a.Fix.Column)
			}
			for _, tag := range a.Fix.AddTags {
				words = append(words, "+"+tag)
			}
			for _, tag := range a.Fix.RemoveTags {
				words = append(words, "-"+tag)
			}
			if a.Fix.Release != "" {
				words = append(words, "free of "+a.Fix.Release)
			}
		}
		out = append(out, strings.Join(words, " "))
	}
	return strings.Join(out, "; ")
}

func TestWhatIsFineStaysFine(t *testing.T) {
	for _, text := range []string{
		"To Do:", "To Do: bug", "To Do: Needs-Clarification", "To Do: Ready",
		"Analyse: Ready", "Analyse: Needs-Clarification", "Analyse: Needs-Clarification, Clarification-Answered",
		"Analyse: Plan-Pending-Approval", "Analyse: Plan-Pending-Approval, Plan-Approved", "Analyse: Plan-Pending-Approval, Plan-Rejected",
		"Development: Planned", "development: planned, customer-x", "Development: Planned, Claimed-Dev-1", "Development: Claimed-Dev-2",
		"Development: Rework-Requested", "Development: Rework-Requested, Planned", "Development: Merge-Conflict, Rework-Requested, Planned",
		"Development: Planned, Implementation-Failed", "Development: Branch-Setup-Failed", "Development: Ready, Planned", "Development: Plan-Approved, Planned",
		"Development: Rework-Requested, Claimed-Dev-1, Dev-Complete, Design-Complete, Test-Complete",
		"Review: Dev-Complete, Design-Complete, Test-Complete", "Review: Dev-Complete", "Review: Rework-Complete",
		"Review: Review-In-Progress, Dev-Complete", "Review: Review-Approved", "Review: Review-Approved, Ops-Ready",
		"Review: Rework-Requested", "Review: Invoke-Architect", "Review: Architect-Assist-Complete", "Review: Needs-Clarification",
		"Deploy:", "Deploy: bug", "Deploy: Ops-Ready", "Deploy: Review-Approved, Ops-Ready", "Done:", "Done: bug",
		"Parking lot:", "Parking lot: Planned", ":", ": Planned",
	} {
		if got := boardcheck.CheckCard(cardOf(text), boardcheck.Facts{}, noon); len(got) != 0 {
			t.Errorf("%s: %s", text, say(got))
		}
	}
}

func TestWhatIsWrong(t *testing.T) {
	tests := map[string]struct {
		facts boardcheck.Facts
		want  string
	}{
		"Analyse:":                                          {want: "ORPHANED_IN_ANALYSE -> +Ready"},
		"Analyse: bug":                                      {want: "ORPHANED_IN_ANALYSE -> +Ready"},
		"ANALYSE: ":                                         {facts: boardcheck.Facts{Planned: true}, want: "ORPHANED_IN_ANALYSE -> +Plan-Pending-Approval"},
		"Analyse: Clarification-Answered":                   {want: "ORPHANED_IN_ANALYSE -> +Needs-Clarification"},
		"Analyse: Plan-Rejected":                            {want: "ORPHANED_IN_ANALYSE -> +Plan-Pending-Approval"},
		"Analyse: Plan-Approved":                            {want: "ORPHANED_APPROVAL -> +Plan-Pending-Approval"},
		"Analyse: Planned":                                  {want: "ORPHANED_IN_ANALYSE"},
		"Analyse: Rework-Complete":                          {want: "ORPHANED_IN_ANALYSE"},
		"Analyse: Ready, plan-pending-approval":             {want: "INVALID_TAG_COMBO -> -Ready"},
		"Analyse: Plan-Pending-Approval, Planned":           {want: "INVALID_TAG_COMBO"},
		"Analyse: Plan-Approved, Plan-Rejected":             {want: "INVALID_TAG_COMBO; ORPHANED_IN_ANALYSE -> +Plan-Pending-Approval"},
		"To Do: Plan-Approved":                              {want: "ORPHANED_APPROVAL -> Analyse +Plan-Pending-Approval"},
		"Development:":                                      {want: "ORPHANED_IN_DEVELOPMENT -> Analyse +Ready"},
		"Development: bug":                                  {facts: boardcheck.Facts{Planned: true}, want: "ORPHANED_IN_DEVELOPMENT -> +Planned"},
		"Development: Ready":                                {want: "ORPHANED_IN_DEVELOPMENT -> Analyse"},
		"Development: Plan-Pending-Approval":                {want: "ORPHANED_IN_DEVELOPMENT -> Analyse"},
		"Development: Plan-Rejected":                        {want: "ORPHANED_IN_DEVELOPMENT -> Analyse +Plan-Pending-Approval"},
		"Development: Plan-Approved":                        {want: "ORPHANED_IN_DEVELOPMENT -> Analyse +Plan-Pending-Approval"},
		"Development: Rework-Complete":                      {want: "ORPHANED_IN_DEVELOPMENT -> Review"},
		"Development: Review-Approved":                      {want: "ORPHANED_IN_DEVELOPMENT -> Review"},
		"Development: Planned, Plan-Pending-Approval":       {want: "INVALID_TAG_COMBO -> -Plan-Pending-Approval"},
		"Development: Claimed-Dev-3, Implementation-Failed": {want: "INVALID_TAG_COMBO -> -Claimed-Dev-3"},
		"Review:":               {want: "ORPHANED_IN_REVIEW -> Development +Planned"},
		"Review: Planned":       {want: "ORPHANED_IN_REVIEW -> Development"},
		"Review: Ready":         {want: "ORPHANED_IN_REVIEW -> Analyse"},
		"Review: Plan-Rejected": {want: "ORPHANED_IN_REVIEW -> Analyse +Plan-Pending-Approval"},
		"Review: Ops-Ready":     {want: "ORPHANED_IN_REVIEW"},
		"Review: Review-Approved, Ops-Ready, Rework-Requested": {want: "INVALID_TAG_COMBO -> -Review-Approved -Ops-Ready"},
		"Review: Invoke-Architect, Architect-Assist-Complete":  {want: "INVALID_TAG_COMBO -> -Invoke-Architect"},
		"Deploy: Dev-Complete, bug, Claimed-Dev-1":             {want: "STALE_TAGS_IN_DEPLOY -> -Claimed-Dev-1 -Dev-Complete"},
		"Deploy: Rework-Requested, Planned":                    {want: "STALE_TAGS_IN_DEPLOY"},
		"Done: Ops-Ready":                                      {want: "STALE_TAGS_IN_DEPLOY -> -Ops-Ready"},

		"review:":                       {facts: boardcheck.Facts{PR: "Merged"}, want: "PR_ALREADY_MERGED -> Deploy"},
		"Development: Rework-Requested": {facts: boardcheck.Facts{PR: "CLOSED"}, want: ""},
		"Review: Planned, bug":          {facts: boardcheck.Facts{PR: "MERGED"}, want: "PR_ALREADY_MERGED -> Deploy -Planned"},
		"Review: Rework-Requested":      {facts: boardcheck.Facts{PR: "merged"}, want: "PR_ALREADY_MERGED"},
		"Development: Planned":          {facts: boardcheck.Facts{PR: "CLOSED"}, want: "PR_CLOSED_WITHOUT_MERGE warns"},
		"Review: Review-Approved":       {facts: boardcheck.Facts{PR: "CLOSED"}, want: "PR_CLOSED_WITHOUT_MERGE warns"},
		"Development: Merge-Conflict":   {facts: boardcheck.Facts{PR: "OPEN"}, want: ""},
		"Analyse: Ready":                {facts: boardcheck.Facts{PR: "MERGED"}, want: ""},
		"Deploy:":                       {facts: boardcheck.Facts{PR: "MERGED"}, want: ""},
		"To Do:":                        {facts: boardcheck.Facts{Busy: true}, want: ""},
		"Review: bug":                   {facts: boardcheck.Facts{Busy: true}, want: ""},
	}
	for text, tt := range tests {
		t.Run(text, func(t *testing.T) {
			got := boardcheck.CheckCard(cardOf(text), tt.facts, noon)
			if said := say(got); said != tt.want {
				t.Errorf("got %s, want %s", said, tt.want)
			}
			for _, a := range got {
				if a.Text == "" || strings.ContainsAny(a.Text, "\n") {
					t.Errorf("%s says %q", a.Type, a.Text)
				}
			}
		})
	}
}

func TestWhatTakesTooLong(t *testing.T) {
	tests := map[string]struct {
		limit time.Duration // after which it is wrong
		want  string
	}{
		"Development: Planned, Claimed-Dev-1":           {2 * time.Hour, "STALE_CLAIM -> -Claimed-Dev-1"},
		": Claimed-Dev-1":                               {2 * time.Hour, "STALE_CLAIM -> -Claimed-Dev-1"},
		"Review: Review-In-Progress, Rework-Complete":   {2 * time.Hour, "STALE_CLAIM -> -Review-In-Progress"},
		"Analyse: Plan-Pending-Approval, Plan-Approved": {time.Hour, "STUCK_PLAN_FINALIZATION"},
		"To Do: Plan-Pending-Approval, Plan-Approved":   {time.Hour, "STUCK_PLAN_FINALIZATION"},
		"Review: Review-Approved, Ops-Ready":            {time.Hour, "STUCK_OPS_MERGE"},
		"Deploy: Ops-Ready":                             {time.Hour, "STUCK_OPS_MERGE"},
		"To Do: Ready":                                  {time.Hour, "READY_NOT_PLANNED -> Analyse"},
		"Review: Dev-Complete, Test-Complete":           {2 * time.Hour, "ORPHANED_IN_REVIEW"},
	}
	for text, tt := range tests {
		t.Run(text, func(t *testing.T) {
			card := cardOf(text)
			card.UpdatedAt = ago(tt.limit)
			if got := say(boardcheck.CheckCard(card, boardcheck.Facts{}, noon)); got != "" {
				t.Errorf("just in time: %s", got)
			}
			card.UpdatedAt = ago(tt.limit + time.Second)
			if got := say(boardcheck.CheckCard(card, boardcheck.Facts{}, noon)); got != tt.want {
				t.Errorf("by the last change: %s, want %s", got, tt.want)
			}
			since := map[string]time.Time{}
			for _, tag := range card.Tags {
				since[strings.ToUpper(tag)] = ago(tt.limit)
			}
			if got := say(boardcheck.CheckCard(card, boardcheck.Facts{Since: since}, noon)); got != "" {
				t.Errorf("the tag is younger than the last change: %s", got)
			}
			half := tt.limit / 2
			limits := boardcheck.Limits{Claim: half, Finalize: half, Merge: half, Plan: half, Review: half}
			if got := say(boardcheck.CheckCard(card, boardcheck.Facts{Since: since, Limits: limits}, noon)); got != tt.want {
				t.Errorf("with a limit of its own: %s, want %s", got, tt.want)
			}
		})
	}
}

func TestClaimIsStale(t *testing.T) {
	const limit = 45 * time.Minute
	for age, want := range map[time.Duration]bool{0: false, limit - time.Minute: false, limit: false, limit + time.Second: true, 2 * limit: true} {
		if got := boardcheck.ClaimIsStale(age, limit); got != want {
			t.Errorf("%s of %s: %v, want %v", age, limit, got, want)
		}
	}
}

func TestAClaimThatEnds(t *testing.T) {
	card := cardOf("Development: Planned, Claimed-Dev-1")
	card.UpdatedAt = ago(5 * time.Hour)
	card.Claim = &board.Claim{Owner: "task-1", Tag: "Claimed-Dev-1", Until: noon.Add(time.Second)}
	if got := say(boardcheck.CheckCard(card, boardcheck.Facts{}, noon)); got != "" {
		t.Errorf("it holds, and yet: %s", got)
	}
	card.UpdatedAt, card.Claim.Until = ago(time.Minute), noon
	if got, want := say(boardcheck.CheckCard(card, boardcheck.Facts{}, noon)), "STALE_CLAIM -> -Claimed-Dev-1 free of task-1"; got != want {
		t.Errorf("got %s, want %s", got, want)
	}
}
