package web_test

import (
	"testing"

	"orange/internal/core/board"
	"orange/internal/testbrowser"
	"orange/internal/testneeds"
)

func TestKanbanInABrowser(t *testing.T) {
	browser := testbrowser.Start(t)
	for name, story := range map[string]func(t *testing.T, b *tab){
		"a tag is set with one click":               storyTag,
		"a card is dragged to another column":       storyDragCard,
		"a change made elsewhere shows by itself":   storyKanbanLive,
		"a comment that is being typed survives it": storyKanbanComment,
		"the kanban pages have a look":              storyKanbanPictures,
	} {
		t.Run(name, func(t *testing.T) {
			b := newTab(t, browser, newEnv(t, newKanbanBackend(t)))
			b.open("/kanban")
			b.Wait(`"connected" in document.body.dataset`)
			story(t, b)
		})
	}
}

func storyTag(t *testing.T, b *tab) {
	eval[bool](b, `document.querySelector('#k-1 button[value="tag:Plan-Approved"]').click(), true`)
	b.Wait(`[...document.querySelectorAll("#k-1 .badge")].some((n) => n.textContent === "Plan-Approved") && !document.querySelector('#k-1 button[value="tag:Plan-Approved"]')`)
	if c := b.env.backend.cardNow(1); len(c.Tags) != 2 || c.Tags[1] != "Plan-Approved" {
		t.Errorf("%+v", c)
	}
	b.Quiet()
}

func storyDragCard(t *testing.T, b *tab) {
	b.Drag("#k-2 .t", `[data-col="Review"] h2`, true)
	b.Wait(`document.querySelector('[data-col="Review"] #k-2')`)
	if c := b.env.backend.cardNow(2); c.Column != "Review" {
		t.Errorf("%+v", c)
	}
	if got := eval[string](b, "location.pathname"); got != "/kanban" {
		t.Errorf("the drag was taken for a click: %s", got)
	}
	b.Quiet()
}

func storyKanbanLive(t *testing.T, b *tab) {
	eval[bool](b, "window.notReloaded = true")
	if _, _, err := b.env.backend.api.Boards.ChangeCard(t.Context(), "shop", 3, board.Change{Column: "Deploy", AddTags: []string{"Ops-Ready"}}, ""); err != nil {
		t.Fatal(err)
	}
	b.Wait(`document.querySelector('[data-col="Deploy"] #k-3 .b .badge')?.textContent === "Ops-Ready"`)
	if !eval[bool](b, "window.notReloaded === true") {
		t.Error("the page was loaded again")
	}
	b.Quiet()
}

func storyKanbanComment(t *testing.T, b *tab) {
	b.open("/kanban/shop/1")
	b.Wait(`"connected" in document.body.dataset`)
	eval[bool](b, `document.getElementById("comment").value = "half a", true`)
	if _, _, err := b.env.backend.api.Boards.ChangeCard(t.Context(), "shop", 1, board.Change{Comment: "from elsewhere", Author: "worker"}, ""); err != nil {
		t.Fatal(err)
	}
	b.Wait(`document.getElementById("card-comments").textContent.includes("from elsewhere")`)
	if got := eval[string](b, `document.getElementById("comment").value`); got != "half a" {
		t.Errorf("typed %q", got)
	}
	eval[bool](b, `document.querySelector(".kanban-main form button").click(), true`)
	b.Wait(`document.getElementById("card-comments").textContent.includes("half a")`)
	b.Quiet()
}

func storyKanbanPictures(t *testing.T, b *tab) {
	testneeds.OncePerSoak(t)
	for _, path := range []string{"/kanban", "/kanban/shop/1"} {
		b.open(path)
		b.Wait(`document.querySelector("main h1")`)
		for _, size := range []struct {
			name          string
			width, height int64
		}{{"desk", 1440, 900}, {"phone", 390, 844}} {
			b.Size(size.width, size.height)
			if wide := eval[bool](b, `document.documentElement.scrollWidth > innerWidth`); wide {
				t.Errorf("%s at %d is wider than the window", path, size.width)
			}
			for _, scheme := range []string{"light", "dark"} {
				b.Media("prefers-color-scheme", scheme)
				b.Shot("kanban" + map[string]string{"/kanban": "", "/kanban/shop/1": "-card"}[path] + "-" + size.name + "-" + scheme)
				b.Axe(path + " in " + scheme + " on a " + size.name)
			}
		}
	}
	b.Quiet()
}
