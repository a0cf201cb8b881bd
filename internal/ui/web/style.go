package web

import (
	"fmt"
	"html/template"
	"net/http"
	"slices"

	"orange/internal/core/workflow"
	"orange/internal/lazy"
)

// styleRoutes registers the page that shows every component of the design system. It is for people who change the page,
// so only a server with the option for them has it.
func (s *Site) styleRoutes(mux *http.ServeMux) {
	if s.o.Dev {
		mux.HandleFunc("GET /style", s.serveStyle)
	}
}

type styleData struct {
	page
	Icons  []string
	Kinds  []string // of pills
	Colors []string // tokens
	Sizes  []string // tokens of the type scale
	Spaces []string
	Card   card
}

func (s *Site) serveStyle(w http.ResponseWriter, r *http.Request) {
	d := styleData{
		page: s.newPage(r), Icons: iconNames(), Kinds: []string{"need", "work", "wait", "queued", "human", "halt", "done"},
		Colors: []string{"text", "soft", "accent", "work", "live", "wait", "person", "good", "bad", "idle", "line", "line-strong", "well", "card"},
		Sizes:  []string{"xs", "s", "m", "l", "xl"}, Spaces: []string{"1", "2", "3", "4", "5", "6"},
	}
	d.Card = sampleCard()
	s.renderPage(w, r, http.StatusOK, "style", d)
}

// iconFile holds the icons, one symbol each.
const iconFile = "static/icons.svg"

var symbolID = lazy.NewRegexp(`<symbol id="([a-z-]+)"`)

// iconNames returns the names of the icons, sorted.
func iconNames() []string {
	text, _ := staticFiles.ReadFile(iconFile)
	var out []string
	for _, m := range symbolID.FindAllStringSubmatch(string(text), -1) {
		out = append(out, m[1])
	}
	slices.Sort(out)
	return out
}

// icon returns the HTML of an icon. Icons are hidden from screen readers: the text beside an icon, or the label of its
// button, says what it means.
func icon(name string) (template.HTML, error) {
	if !slices.Contains(allIcons(), name) {
		return "", fmt.Errorf("there is no icon %q", name)
	}
	return template.HTML(`<svg class="icon" aria-hidden="true"><use href="/static/icons.svg#` + name + `"></use></svg>`), nil //nolint:gosec // the name is one of ours
}

var allIcons = lazy.OnFirstUse(iconNames)

// sampleCard returns a card that shows everything a card can show.
func sampleCard() card {
	return card{
		ID: "sample", Short: "sample", Class: "alive wants", Title: "Keep the user name after a failed login", Project: "shop", Branch: "fix-login", Status: "reviewing", Kind: workflow.HumanDo,
		Life: "reviewer at work", LifeClass: "alive", Age: "12m", Output: "Running the tests ...", Act: "Review", ActIcon: "eye", ActHref: "#chip",
		PR: "#12", Commits: "2 commits", Added: 24, Deleted: 3, Check: "3 checks passed", CheckClass: "good", Cost: "$0.21", Waits: "landing 2/5", Unblocks: 2,
	}
}
