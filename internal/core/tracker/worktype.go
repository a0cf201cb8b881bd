package tracker

import "slices"

// Statuses of an issue, as issue trackers of this kind name them.
const (
	Icebox    = "Icebox"
	Backlog   = "Backlog"
	Started   = "Started"
	Finished  = "Finished"
	Delivered = "Delivered"
	Accepted  = "Accepted"
	Rejected  = "Rejected"
	Canceled  = "Canceled"
	Duplicate = "Duplicate"
)

// A WorkType is a kind of work that an agent does on an issue.
type WorkType struct {
	Name   string
	In     []string // statuses in which it may begin; none: any
	Start  string   // the status while it is done, "" if it stays
	Pass   string   // after it passed, "" if it stays
	Fail   string   // after it failed, "" if it stays: a person looks at it
	Reject string   // after it failed, on a board where rework begins by itself
	Suffix string   // in the name of its workspace, behind the key
	Parent bool     // about a parent issue as a whole
	Auto   bool     // passes by ending, without a word about how it went
}

// workTypes is what is known about all of them, the usual ones first.
var workTypes = []WorkType{
	{Name: "development", In: []string{Backlog}, Start: Started, Pass: Finished, Suffix: "DEV", Auto: true},
	{Name: "inflight", In: []string{Started}, Pass: Finished, Suffix: "INF", Auto: true},
	{Name: "qa", In: []string{Finished}, Pass: Delivered, Reject: Rejected, Suffix: "QA"},
	{Name: "acceptance", In: []string{Delivered}, Pass: Accepted, Reject: Rejected, Suffix: "AC"},
	{Name: "qa-coordination", In: []string{Finished}, Pass: Delivered, Reject: Rejected, Suffix: "QA-COORD", Parent: true},
	{Name: "acceptance-coordination", In: []string{Delivered}, Pass: Accepted, Reject: Rejected, Suffix: "AC-COORD", Parent: true},
	{Name: "refinement", In: []string{Rejected}, Pass: Backlog, Suffix: "REF"},
	{Name: "refinement-coordination", In: []string{Rejected}, Pass: Backlog, Suffix: "REF-COORD", Parent: true},
	{Name: "research", In: []string{Icebox}, Suffix: "RES"},
	{Name: "backlog-creation", In: []string{Icebox}, Suffix: "BC"},
	{Name: "backlog-groomer", In: []string{Icebox}, Suffix: "BG"},
	{Name: "merge", In: []string{Started, Finished}, Suffix: "MRG"},
	{Name: "security", In: []string{Started, Finished}, Pass: Finished, Suffix: "SEC"},
	{Name: "outcome-auditor", In: []string{Accepted}, Suffix: "OA"},
	{Name: "improvement-loop", Suffix: "IMP"},
	{Name: "ga-readiness", Suffix: "GA"},
	{Name: "documentation-steward", Suffix: "DS"},
	{Name: "operational-scanner-vercel", Suffix: "OSV"},
	{Name: "operational-scanner-audit", Suffix: "OSA"},
	{Name: "operational-scanner-ci", Suffix: "OSC"},
}

// WorkTypes lists all of them, the usual ones first.
func WorkTypes() []WorkType {
	out := slices.Clone(workTypes)
	for i := range out {
		out[i].In = slices.Clone(out[i].In)
	}
	return out
}

// WorkTypeNamed finds one, false if there is none of this name.
func WorkTypeNamed(name string) (WorkType, bool) {
	for _, w := range workTypes {
		if w.Name == name {
			w.In = slices.Clone(w.In)
			return w, true
		}
	}
	return WorkType{}, false
}

// Takes says whether this work may begin on an issue in a status.
func (w WorkType) Takes(status string) bool {
	return len(w.In) == 0 || slices.Contains(w.In, status)
}

// WorkTypeFor is the work that an issue in a status asks for, of a parent as of any other.
// A status that is unknown asks for development, so ask first whether it has Ended.
func WorkTypeFor(status string) string {
	switch status {
	case Icebox:
		return "research"
	case Started:
		return "inflight"
	case Finished:
		return "qa"
	case Delivered:
		return "acceptance"
	case Rejected:
		return "refinement"
	}
	return "development"
}

// Ended says whether nothing is left to do about an issue in a status.
func Ended(status string) bool {
	return status == Accepted || status == Canceled || status == Duplicate
}
