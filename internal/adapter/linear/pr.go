package linear

import (
	"encoding/json"
	"net/url"
	"slices"
	"strconv"
	"strings"
	"time"

	"orange/internal/core/tracker"
	"orange/internal/lazy"
)

// prPath matches the address of a pull request on the forges, up to its number.
var prPath = lazy.NewRegexp(`^/[^/]+/.+/(?:pull|pulls|pull-requests|merge_requests)/([0-9]{1,9})(?:/|$)`)

// prFacts is what Linear stores about a pull request of a connected forge.
type prFacts struct {
	Title     string    `json:"title"`
	Status    string    `json:"status"`
	Branch    string    `json:"branch"`
	Base      string    `json:"targetBranch"`
	MergedAt  string    `json:"mergedAt"`
	ClosedAt  string    `json:"closedAt"`
	CreatedAt time.Time `json:"createdAt"`
}

// pullRequests returns the pull requests among the attachments. The state is empty if Linear is
// not connected with the forge.
func pullRequests(list []attachment) []tracker.PR {
	var out []tracker.PR
	for _, a := range list {
		address, number, ok := prAddress(a.URL)
		if !ok || slices.ContainsFunc(out, func(pr tracker.PR) bool { return pr.URL == address }) {
			continue
		}
		pr := tracker.PR{Number: number, URL: address, Title: oneLine(a.Title), CreatedAt: a.CreatedAt}
		var facts prFacts
		if json.Unmarshal(a.Metadata, &facts) == nil {
			facts.fillPR(&pr)
		}
		out = append(out, pr)
	}
	return out
}

// prAddress returns the address of a pull request without what follows its number.
func prAddress(text string) (address string, number int, ok bool) {
	u, err := url.Parse(text)
	if err != nil || u.Scheme != "https" && u.Scheme != "http" || u.Host == "" || u.User != nil {
		return "", 0, false
	}
	m := prPath.FindStringSubmatchIndex(u.Path)
	if m == nil {
		return "", 0, false
	}
	number, err = strconv.Atoi(u.Path[m[2]:m[3]])
	u.Path, u.RawPath, u.RawQuery, u.Fragment, u.RawFragment = u.Path[:m[3]], "", "", "", ""
	return oneLine(u.String()), number, err == nil && number > 0
}

func (f *prFacts) fillPR(pr *tracker.PR) {
	if f.Title != "" {
		pr.Title = oneLine(f.Title)
	}
	if !f.CreatedAt.IsZero() {
		pr.CreatedAt = f.CreatedAt
	}
	pr.Branch, pr.Base = oneLine(f.Branch), oneLine(f.Base)
	switch status := strings.ToLower(f.Status); {
	case status == "merged" || f.MergedAt != "":
		pr.State = tracker.Merged
	case status == "closed" || f.ClosedAt != "":
		pr.State = tracker.Closed
	case status != "":
		pr.State = tracker.Open
	}
}
