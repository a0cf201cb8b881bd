package main

import (
	"errors"
	"fmt"
	"html"
	"log"
	"os"
	"path/filepath"
	"strings"

	"github.com/chromedp/chromedp"
)

var sizes = []size{{1440, 900, false}, {1024, 768, false}, {390, 844, true}}

var themes = []string{"light", "dark"}

// takeMatrix takes pictures of a page in all sizes and themes, and a sheet with all of them.
func takeMatrix(c camera, folder string, line []string) error {
	if len(line) != 2 && len(line) != 3 {
		return errors.New("this is not NAME PATH [SELECTOR]")
	}
	name := line[0]
	for _, s := range sizes {
		if err := c.open(line[1], s, strings.Join(line[2:], "")); err != nil {
			return err
		}
		if wide, err := c.holds(fmt.Sprintf(`document.documentElement.scrollWidth > %d`, s.wide)); err != nil || wide {
			log.Printf("%s scrolls sideways at %d pixels (%v)", name, s.wide, err)
		}
		for _, theme := range themes {
			if err := c.take(filepath.Join(folder, pictureName(name, s, theme)), theme); err != nil {
				return err
			}
		}
	}
	return takeSheet(c, folder, name)
}

func pictureName(name string, s size, theme string) string {
	return fmt.Sprintf("%s-%dx%d-%s.png", name, s.wide, s.tall, theme)
}

// The layout of a sheet, in pixels: a row for each theme.
const (
	sheetWide = 1800
	sheetGap  = 12
	sheetHead = 30
)

// takeSheet takes a picture of the pictures of a page, scaled so that a row is as wide as the sheet.
func takeSheet(c camera, folder, name string) error {
	sum, tall := int64(0), int64(0)
	for _, s := range sizes {
		sum, tall = sum+s.wide, max(tall, s.tall)
	}
	scale := float64(sheetWide-(len(sizes)+1)*sheetGap) / float64(sum)
	var page strings.Builder
	fmt.Fprintf(&page, "<!doctype html><meta charset=utf-8><style>body{margin:0;background:#777;color:#fff;font:16px sans-serif}p,img{position:absolute;margin:0}</style><main><p style=\"left:%dpx;top:6px\">%s</p>", sheetGap, html.EscapeString(name))
	top := float64(sheetHead)
	for _, theme := range themes {
		left := float64(sheetGap)
		for _, s := range sizes {
			fmt.Fprintf(&page, `<img style="left:%.0fpx;top:%.0fpx" width="%.0f" src="../%s">`, left, top, float64(s.wide)*scale, pictureName(name, s, theme))
			left += float64(s.wide)*scale + sheetGap
		}
		top += float64(tall)*scale + sheetGap
	}
	file, err := filepath.Abs(filepath.Join(folder, "sheets", name+".html"))
	if err != nil {
		return err
	}
	if err := os.WriteFile(file, []byte(page.String()), 0o644); err != nil {
		return err
	}
	defer os.Remove(file) //nolint:errcheck // only its picture is wanted
	if err := c.do(chromedp.EmulateViewport(sheetWide, int64(top)), chromedp.Navigate("file://"+file), chromedp.WaitReady("main")); err != nil {
		return err
	}
	return c.take(strings.TrimSuffix(file, ".html")+".png", "light")
}
