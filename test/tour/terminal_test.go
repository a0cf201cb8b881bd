package main

import (
	"strings"
	"testing"
)

func TestAPictureShowsAnOrdinaryHome(t *testing.T) {
	const home = "/tmp/h3344556677"
	lines, err := replaceHome("$ pwd\n\x1b[32m"+home+"/shop\x1b[0m\nadded project shop ("+home+"/shop), 2 workspaces\n", home)
	if err != nil {
		t.Fatal(err)
	}
	picture := drawTerminal(lines, "a shell")
	if strings.Contains(picture, "/tmp") || !strings.Contains(picture, ">/home/me/shop<") || !strings.Contains(picture, "(/home/me/shop), 2 workspaces") {
		t.Errorf("it shows %s", picture)
	}

	for name, capture := range map[string]string{
		"over two lines":   "added project shop (/tmp/h334\n4556677/shop)\n",
		"in two colours":   "/tmp/\x1b[1mh3344556677\x1b[0m\n",
		"over three lines": "/tmp/\nh33\n44556677\n",
	} {
		if _, err := replaceHome(capture, home); err == nil || !strings.Contains(err.Error(), "is not on one line") {
			t.Errorf("%s: %v", name, err)
		}
	}
	for _, none := range []string{"", "/", "/home"} {
		if _, err := replaceHome("/home/me\n", none); err == nil {
			t.Errorf("%q is accepted as a temporary home", none)
		}
	}
}
