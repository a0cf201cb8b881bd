package gitea

import (
	"strconv"

	sdk "code.gitea.io/sdk/gitea"
)

const (
	perPage  = 50  // what a forge gives at most, unless it was told otherwise
	maxPages = 500 // of one list: a forge may give fewer items at once
)

// pages goes through a list. Only some lists link to their next page; how many items there
// are the forge says of all, but it may leave out some that are not for everybody.
type pages struct {
	turned int // so many pages
	got    int // items of them
	ended  bool
}

func (p *pages) hasMore() bool { return !p.ended && p.turned < maxPages }

func (p *pages) listOptions() sdk.ListOptions {
	return sdk.ListOptions{Page: p.turned + 1, PageSize: perPage}
}

// countPage notes that a page had so many items.
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
