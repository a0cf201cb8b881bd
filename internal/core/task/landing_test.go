package task

import (
	"testing"
	"time"
)

func TestALandingIsDescribed(t *testing.T) {
	merge := Effect{Do: MergeDo}
	late := Effect{Do: MergeDo, Error: "a rebase is in progress", NotBefore: time.Unix(1, 0)}
	candidate := Candidate{Target: "main", Commit: "0123456789abcdef"}
	two := QueuePlace{Position: 2, Of: 3}
	for name, tt := range map[string]struct {
		landing *Landing
		pending *Effect
		run     *CheckRun
		at      QueuePlace
		want    string
	}{
		"it waits":               {nil, &merge, nil, two, "its work waits in the landing queue (number 2 of 3)"},
		"it is alone":            {nil, &merge, nil, QueuePlace{Position: 1, Of: 1}, "its work waits in the landing queue"},
		"a check runs":           {&Landing{Candidate: candidate}, &merge, &CheckRun{Name: "tests"}, two, "check tests runs on its work merged with main (number 2 of 3)"},
		"it is merged":           {nil, &merge, nil, QueuePlace{Position: 1, Of: 2, Merging: "main"}, "its work is being merged into main (number 1 of 2)"},
		"it moves the target":    {&Landing{Candidate: candidate, Checked: true}, &merge, nil, QueuePlace{}, "its work is being merged into main"},
		"the target is busy":     {&Landing{Candidate: candidate, Checked: true}, &late, nil, QueuePlace{}, "the merge is tried again: a rebase is in progress"},
		"it landed":              {&Landing{Candidate: candidate, Outcome: Landed}, nil, nil, QueuePlace{}, "landed in main as 0123456789ab"},
		"it landed at a remote":  {&Landing{Candidate: Candidate{Target: "main", Remote: "origin", Commit: "0123"}, Outcome: Landed}, nil, nil, QueuePlace{}, "landed in origin/main as 0123"},
		"it conflicts":           {&Landing{Candidate: candidate, Outcome: LandingConflict, Why: "b conflicts with main", Files: []string{"f", "g"}}, nil, nil, QueuePlace{}, "did not land: b conflicts with main: f, g"},
		"nothing was ever asked": {nil, nil, nil, QueuePlace{}, ""},
	} {
		t.Run(name, func(t *testing.T) {
			task := Task{}
			task.Landing, task.CheckRun = tt.landing, tt.run
			got := ""
			if tt.pending != nil {
				task.Pending = []Effect{*tt.pending}
				got = task.DescribeLandingAt(tt.at)
			} else {
				got = task.Landing.DescribeEnd()
			}
			if got != tt.want {
				t.Errorf("%q, want %q", got, tt.want)
			}
		})
	}
}
