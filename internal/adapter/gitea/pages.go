package gitea

import (
	"strconv"

	sdk "code.gitea.io/sdk/gitea"
)

const (
	perPage  = 50  // the most that a forge returns by default
	maxPages = 500 // of one list: a forge may return fewer items per page
)

// pages iterates over a list. Only some lists link to their next page; all give the total
// number of items, but may leave out items that the token cannot see.
type pages struct {
	turned int // number of pages read
	got    int // number of items in them
	ended  bool
}

func (p *pages) hasMore() bool { return !p.ended && p.turned < maxPages }

func (p *pages) listOptions() sdk.ListOptions {
	return sdk.ListOptions{Page: p.turned + 1, PageSize: perPage}
}

// countPage records the number of items of a page.
func (p *pages) countPage(n int, resp *sdk.Response) {
	p.turned++
	p.got += n
	p.ended = n == 0
	if resp == nil || resp.Response == nil {
		return
	}
	if total, err := strconv.Atoi(resp.Header.Get("X-Total-Count")); err == nil && p.got >= total {
		p.ended = true
	}
}
