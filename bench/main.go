// Command bench measures what docs/PERFORMANCE.md promises. Machines are shared and noisy, so every figure that depends
// on the machine is compared with a baseline of the same run, measured alternately with it. A missed target is a line
// of the table, not a failure.
package main

import (
	"flag"
	"fmt"
	"io"
	"log"
	"os"
	"path/filepath"
	"slices"
	"strings"
)

type options struct {
	json   bool
	update string // document to rewrite
	orange string // program to measure
	dir    string // on the disk to measure
	only   string // names of measurements, "" for all
}

func main() {
	log.SetFlags(0)
	log.SetPrefix("bench: ")
	var o options
	var update bool
	flag.BoolVar(&o.json, "json", false, "print JSON instead of a table")
	flag.BoolVar(&update, "update", false, "rewrite the table in docs/PERFORMANCE.md")
	flag.StringVar(&o.orange, "orange", "bin/orange", "program to measure")
	flag.StringVar(&o.dir, "dir", "bin", "folder for the databases, on the disk to measure")
	flag.StringVar(&o.only, "only", "", "measure only these: "+strings.Join(measurementNames(), ","))
	flag.Parse()
	if update {
		o.update = filepath.Join("docs", "PERFORMANCE.md")
	}
	if err := runMeasurements(o, os.Stdout); err != nil {
		log.Fatal(err)
	}
}

// measurement adds figures to the report. It may use the folder freely.
type measurement struct {
	name string
	run  func(r *report, dir string) error
}

func allMeasurements(orange string) []measurement {
	return []measurement{
		{"decide", measureDecisions},
		{"commit", measureCommits},
		{"fold", measureFolds},
		{"simulate", measureSimulations},
		{"verify", measureVerifications},
		{"final", measureFinals},
		{"detect", func(r *report, dir string) error { return measureDetection(r, dir, orange) }},
		{"start", func(r *report, dir string) error { return measureStart(r, dir, orange) }},
		{"server", func(r *report, dir string) error { return measureServer(r, dir, orange) }},
		{"agents", func(r *report, dir string) error { return measureAgents(r, dir, orange) }},
		{"spawn", func(r *report, dir string) error { return measureSpawns(r, dir, orange) }},
		{"checks", func(r *report, dir string) error { return measureChecks(r, dir, orange) }},
		{"landing", func(r *report, dir string) error { return measureLandings(r, dir, orange) }},
		{"seen", func(r *report, dir string) error { return measureDisplays(r, dir, orange) }},
	}
}

func measurementNames() []string {
	var out []string
	for _, m := range allMeasurements("") {
		out = append(out, m.name)
	}
	return out
}

// runMeasurements runs all measurements that it can. It returns an error for those that it cannot.
func runMeasurements(o options, w io.Writer) error {
	orange, err := filepath.Abs(o.orange)
	if err != nil {
		return err
	}
	r := newReport()
	for _, m := range allMeasurements(orange) {
		if o.only != "" && !slices.Contains(strings.Split(o.only, ","), m.name) {
			continue
		}
		if err := inFolder(o.dir, func(dir string) error { return m.run(r, dir) }); err != nil {
			r.Missing = append(r.Missing, fmt.Sprintf("%s: %v", m.name, err))
		}
	}
	show := r.printTable
	if o.json {
		show = r.printJSON
	}
	if err := show(w); err != nil {
		return err
	}
	if len(r.Missing) > 0 {
		return fmt.Errorf("could not measure %s", strings.Join(r.Missing, "; "))
	}
	if o.update != "" {
		return r.updateDocument(o.update)
	}
	return nil
}

// inFolder creates a folder, passes it to do, and removes it.
func inFolder(parent string, do func(dir string) error) error {
	parent, err := filepath.Abs(parent)
	if err != nil {
		return err
	}
	if err := os.MkdirAll(parent, 0o755); err != nil {
		return err
	}
	dir, err := os.MkdirTemp(parent, "bench-")
	if err != nil {
		return err
	}
	defer os.RemoveAll(dir) //nolint:errcheck // what is left lies in bin, which make clean removes
	return do(dir)
}
