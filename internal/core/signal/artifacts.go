package signal

import (
	"strings"

	"orange/internal/core/taskfile"
)

// FromSection returns the report in a section of TASK.md: a Review by its verdict, any other
// section by having content. Of several sections with the name, the last counts.
func FromSection(sections []taskfile.Section, name string) Report {
	r := Report{Protocol: TaskSections, Outcome: Unknown}
	s, ok := taskfile.FindSection(sections, name)
	switch {
	case !ok:
		r.Diagnosis = "there is no ## " + name
		return r
	case !strings.EqualFold(name, "Review"):
		if s.Size == 0 {
			r.Diagnosis = "## " + name + " is empty"
			return r
		}
		r.Outcome, r.Code = Passed, strings.ToLower(name)
	default:
		verdict, _, why := s.Verdict()
		switch verdict {
		case "PASS":
			r.Outcome = Passed
		case "FAIL":
			r.Outcome = Failed
		default:
			r.Diagnosis = why
			return r
		}
		r.Code = verdict
	}
	r.Source, r.Detail = FromArtifact, s.Text
	return r
}
