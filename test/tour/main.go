// Command tour makes the pictures of docs/TOUR.md: a terminal as SVG, from what tmux captured, and pages as PNG, from a
// real browser. scripts/tour.sh lists them.
//
//	tour screen FILE.svg TITLE HOME < capture
//	tour page FILE.png LOGIN PATH [WIDTHxHEIGHT] [dark] [SELECTOR-TO-SCROLL-TO]
//
// HOME is the temporary folder that was the home of the person at the terminal. A picture shows it as an ordinary one.
package main

import (
	"errors"
	"fmt"
	"io"
	"log"
	"os"
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
	case len(args) >= 4 && args[0] == "page":
		picture, err := capturePage(args[2], args[3], args[4:])
		if err != nil {
			return fmt.Errorf("%s: %w", args[3], err)
		}
		return os.WriteFile(args[1], picture, 0o644)
	}
	return errors.New("use tour screen FILE.svg TITLE HOME, or tour page FILE.png LOGIN PATH [WIDTHxHEIGHT] [dark] [SELECTOR]")
}
