package github

import (
	"context"
	"fmt"
	"path"
	"regexp"
	"slices"
	"strconv"
	"strings"

	gh "github.com/google/go-github/v92/github"

	"orange/internal/core/tracker"
)

// maxLinked limits the number of pull requests that are read for an issue, latest first.
const maxLinked = 30

// readLinks reads the parent, the parts and the blockers of an issue. Hosts without this
// feature return none.
func (t *Tracker) readLinks(ctx context.Context, is *gh.Issue, w *words, out *tracker.Issue) error {
	number := int64(is.GetNumber())
	if parent := is.GetParentIssueURL(); parent != "" {
		out.Parent = t.keyOf(parent, path.Base(parent))
	}
	if sum := is.SubIssuesSummary; sum == nil || sum.GetTotal() > 0 {
		children, err := listAll(ctx, t.client, fmt.Sprintf("read the sub-issues of issue %d", number), func(at pagePosition) ([]*gh.SubIssue, *gh.Response, error) {
			return t.api.SubIssue.ListByIssue(ctx, t.owner, t.repo, number, &at.ListOptions)
		})
		if err != nil && !isMissing(err) {
			return err
		}
		for _, child := range children {
			out.Children = append(out.Children, t.convertLink((*gh.Issue)(child), w))
		}
	}
	if sum := is.IssueDependenciesSummary; sum == nil || sum.GetTotalBlockedBy() > 0 || sum.GetBlockedBy() > 0 {
		blockers, err := listAll(ctx, t.client, fmt.Sprintf("read what blocks issue %d", number), func(at pagePosition) ([]*gh.Issue, *gh.Response, error) {
			return t.api.Issues.ListBlockedBy(ctx, t.owner, t.repo, number, &at.ListOptions)
		})
		if err != nil && !isMissing(err) {
			return err
		}
		for _, blocker := range blockers {
			out.BlockedBy = append(out.BlockedBy, t.convertLink(blocker, w))
		}
	}
	return nil
}

func (t *Tracker) convertLink(is *gh.Issue, w *words) tracker.Link {
	return tracker.Link{
		Key:    t.keyOf(is.GetRepositoryURL(), strconv.Itoa(is.GetNumber())),
		Column: w.issueColumn(is),
		Closed: is.GetState() == "closed",
	}
}

// keyOf returns the key of an issue that may be in another repository.
func (t *Tracker) keyOf(address, number string) string {
	if owner, repo, ok := ownerRepo(address); ok && !t.isThisRepository(address) {
		return oneLine(owner+"/"+repo+"#"+number, maxLine)
	}
	return oneLine(number, maxLine)
}

// linkedPulls returns the pull requests of this repository that are about an issue: they close
// it, or name it in their title or in the name of their branch. GitHub's timeline lists all
// pull requests that mention the issue, and a mention in passing is not enough: the result of
// such a pull request means nothing for the issue.
func (t *Tracker) linkedPulls(ctx context.Context, number int) ([]tracker.PR, error) {
	events, err := listAll(ctx, t.client, fmt.Sprintf("read the timeline of issue %d", number), func(at pagePosition) ([]*gh.Timeline, *gh.Response, error) {
		return t.api.Issues.ListIssueTimeline(ctx, t.owner, t.repo, number, &at.ListOptions)
	})
	if err != nil {
		return nil, err
	}
	sources := map[int]*gh.Issue{}
	for _, e := range events {
		if from := e.GetSource().GetIssue(); e.GetEvent() == "cross-referenced" && from != nil && from.IsPullRequest() && t.isThisRepository(from.GetRepositoryURL()) {
			sources[from.GetNumber()] = from
		}
	}
	numbers := make([]int, 0, len(sources))
	for n := range sources {
		numbers = append(numbers, n)
	}
	slices.Sort(numbers)
	numbers = numbers[max(0, len(numbers)-maxLinked):]
	about := t.mentionPatterns(strconv.Itoa(number))
	var out []tracker.PR
	for _, n := range numbers {
		pr, err := t.readPull(ctx, n)
		if isMissing(err) {
			continue
		}
		if err != nil {
			return nil, err
		}
		from := sources[n]
		if about.closesIssue(from.GetTitle()+"\n"+from.GetBody()) || about.inText(pr.GetTitle()) || about.inBranch(pr.GetHead().GetRef()) {
			out = append(out, t.convertPull(pr))
		}
	}
	return out, nil
}

// A mention matches the ways in which texts and branches name one issue.
type mention struct{ text, branch, close *regexp.Regexp }

// mentionPatterns returns how an issue is named: by its number after #, GH- or the address of
// the issues, or, if it is another tracker's, by its key.
func (c *client) mentionPatterns(key string) mention {
	word := regexp.QuoteMeta(strings.TrimPrefix(key, "#"))
	named := `(?i)(?:^|[^\pL\pN_])` + word + `(?:$|[^\pL\pN_])`
	if _, err := numberOf(key); err != nil {
		m := regexp.MustCompile(named)
		return mention{text: m, branch: m, close: regexp.MustCompile(`(?i)\b(?:close[sd]?|fix(?:es|ed)?|resolve[sd]?):?\s+` + word + `(?:$|[^\pL\pN_])`)}
	}
	repo := regexp.QuoteMeta(c.owner + "/" + c.repo)
	ref := `(?:(?:` + repo + `)?#|GH-|https?://[^\s/]+/` + repo + `/issues/)` + word + `(?:$|[^\pL\pN_])`
	return mention{
		text:   regexp.MustCompile(`(?i)(?:^|[^\pL\pN_/])` + ref),
		branch: regexp.MustCompile(`(?:^|[/_#-])` + word + `(?:$|[/_-])`),
		close:  regexp.MustCompile(`(?i)\b(?:close[sd]?|fix(?:es|ed)?|resolve[sd]?):?\s+` + ref),
	}
}

func (m mention) inText(text string) bool      { return m.text.MatchString(text) }
func (m mention) inBranch(branch string) bool  { return m.branch.MatchString(branch) }
func (m mention) closesIssue(text string) bool { return m.close.MatchString(text) }
