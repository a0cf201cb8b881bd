// Command tour makes pictures: a terminal as SVG, from what tmux captured, and pages as PNG, from a real browser.
// scripts/tour.sh lists them.
//
//	tour screen FILE.svg TITLE HOME < capture
//	tour pages FOLDER LOGIN < list
//	tour matrix FOLDER LOGIN < list
//
// HOME is the temporary folder that was the home of the person at the terminal. A picture shows it as an ordinary one.
//
// A line of the list of pages is NAME PATH WIDTHxHEIGHT light|dark [SELECTOR], and makes FOLDER/NAME.png. A line of the
// list of a matrix is NAME PATH [SELECTOR], and makes a picture for each size and theme, and FOLDER/sheets/NAME.png with
// all of them. A page with a selector is scrolled to that element.
package main

import (
	"bufio"
	"errors"
	"fmt"
	"io"
	"log"
	"os"
	"path/filepath"
	"strings"
)

func main() {
	log.SetFlags(0)
	log.SetPrefix("tour: ")
	if err := run(os.Args[1:]); err != nil {
		log.Fatal(err)
	}
}

func run(args []string) error {
	switch {
	case len(args) == 4 && args[0] == "screen":
		text, err := io.ReadAll(io.LimitReader(os.Stdin, 4<<20))
		if err != nil {
			return err
		}
		lines, err := replaceHome(string(text), args[3])
		if err != nil {
			return err
		}
		return os.WriteFile(args[1], []byte(drawTerminal(lines, args[2])), 0o644)
	case len(args) == 3 && args[0] == "pages":
		return eachPage(args[2], func(c camera, line []string) error { return takePage(c, args[1], line) })
	case len(args) == 3 && args[0] == "matrix":
		if err := os.MkdirAll(filepath.Join(args[1], "sheets"), 0o755); err != nil {
			return err
		}
		return eachPage(args[2], func(c camera, line []string) error { return takeMatrix(c, args[1], line) })
	}
	return errors.New("use tour screen FILE.svg TITLE HOME, tour pages FOLDER LOGIN or tour matrix FOLDER LOGIN")
}

// eachPage reads a list from standard input and calls take for each line, with one browser.
func eachPage(login string, take func(camera, []string) error) error {
	c, closeBrowser, err := openCamera(login)
	if err != nil {
		return err
	}
	defer closeBrowser()
	for list := bufio.NewScanner(os.Stdin); list.Scan(); {
		line := strings.Fields(list.Text())
		if len(line) == 0 {
			continue
		}
		if err := take(c, line); err != nil {
			return fmt.Errorf("%s: %w", list.Text(), err)
		}
	}
	return nil
}

// takePage takes one picture.
func takePage(c camera, folder string, line []string) error {
	if len(line) != 4 && len(line) != 5 {
		return errors.New("this is not NAME PATH WIDTHxHEIGHT light|dark [SELECTOR]")
	}
	var s size
	if _, err := fmt.Sscanf(line[2], "%dx%d", &s.wide, &s.tall); err != nil {
		return err
	}
	if err := c.open(line[1], s, strings.Join(line[4:], "")); err != nil {
		return err
	}
	return c.take(filepath.Join(folder, line[0]+".png"), line[3])
}
