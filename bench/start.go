package main

import (
	"bytes"
	"cmp"
	"fmt"
	"maps"
	"regexp"
	"slices"
	"strconv"
	"time"
)

const (
	versionRounds = 101
	initRounds    = 15
	initsShown    = 10
	commandRounds = 31
	maxVersion    = 10 * time.Millisecond
	maxStatus     = 20 * time.Millisecond
	maxTable      = 25 * time.Millisecond
)

// measureStart measures the start of the program, and its initialisation before main.
func measureStart(r *report, dir, orange string) error {
	p := newProgram(orange, dir)
	nothing := timedCall(func() error { return p.newCommand("true").Run() })
	took, err := alternateRounds(versionRounds, p.timedRun("version"), nothing)
	if err != nil {
		return err
	}
	r.addFigure(figure{
		Name: "orange version", Measured: formatMillis(took[0].best()), Target: "under " + formatMillis(maxVersion), Met: took[0].best() < maxVersion,
		Note: fmt.Sprintf("best of %d starts, median %s; true %s, median %s", versionRounds, formatMillis(took[0].median()), formatMillis(took[1].best()), formatMillis(took[1].median())),
	})
	return measureInits(r, p)
}

// initialisation is the cost of the package-level variables and init functions of a package.
type initialisation struct {
	name  string
	took  time.Duration // the best round
	bytes int           // allocated
}

var initLine = regexp.MustCompile(`(?m)^init (\S+) @.* ms, (\S+) ms clock, (\d+) bytes, \d+ allocs$`)

// measureInits reports the packages whose initialisation costs most.
func measureInits(r *report, p *program) error {
	best := map[string]initialisation{}
	for range initRounds {
		cmd := p.newCommand(p.path, "version")
		cmd.Env = append(cmd.Env, "GODEBUG=inittrace=1")
		var stderr bytes.Buffer
		cmd.Stderr = &stderr
		if err := cmd.Run(); err != nil {
			return fmt.Errorf("trace the initialisations: %w", err)
		}
		for _, m := range initLine.FindAllStringSubmatch(stderr.String(), -1) {
			millis, _ := strconv.ParseFloat(m[2], 64)
			size, _ := strconv.Atoi(m[3])
			one := initialisation{m[1], time.Duration(millis * float64(time.Millisecond)), size}
			if known, ok := best[one.name]; !ok || one.took < known.took {
				best[one.name] = one
			}
		}
	}
	var all time.Duration
	for _, one := range best {
		all += one.took
	}
	sorted := slices.SortedFunc(maps.Values(best), func(a, b initialisation) int {
		return cmp.Or(cmp.Compare(b.took, a.took), cmp.Compare(a.name, b.name))
	})
	r.addFigure(figure{Name: "initialisation of all packages", Measured: formatMicros(all), Note: fmt.Sprintf("before main, of %d packages that have something to do; best of %d starts each", len(best), initRounds)})
	for _, one := range sorted[:min(initsShown, len(sorted))] {
		r.addFigure(figure{Name: "initialisation of " + one.name, Measured: formatMicros(one.took), Note: fmt.Sprintf("%d KB allocated", one.bytes/1024)})
	}
	return nil
}

// measureCommands measures the commands with which people and prompts read many tasks.
func (g *displayEnv) measureCommands(r *report) error {
	took, err := alternateRounds(commandRounds, g.timedRun("status"), g.timedRun("task", "list"), g.timedRun("version"))
	if err != nil {
		return err
	}
	for i, f := range []struct {
		name string
		most time.Duration
	}{{"orange status", maxStatus}, {"orange task list", maxTable}} {
		r.addFigure(figure{
			Name: f.name + ", " + formatThousands(seenTasks) + " tasks", Measured: formatMillis(took[i].best()), Target: "under " + formatMillis(f.most), Met: took[i].best() < f.most,
			Note: fmt.Sprintf("best of %d, median %s; orange version %s, median %s", commandRounds, formatMillis(took[i].median()), formatMillis(took[2].best()), formatMillis(took[2].median())),
		})
	}
	return nil
}
