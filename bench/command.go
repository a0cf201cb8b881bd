package main

import (
	"bytes"
	"database/sql"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"net/url"
	"path/filepath"
	"strconv"
	"time"

	"orange/internal/core/task"
)

const (
	listRounds   = 9
	updateRounds = 41
	maxUpdate    = 25 * time.Millisecond
)

// measureList measures the list of all tasks against reading and encoding the same rows in
// this process, twice, and one start of the program.
func measureList(r *report, p *program) error {
	args := []string{"task", "list", "--json", "--all", "--closed"}
	if err := p.listsAll(args); err != nil {
		return err
	}
	took, err := alternateRounds(listRounds, p.timedRun(args...), timedCall(func() error { return recodeRecords(filepath.Join(p.dir, "home", "orange.db")) }), p.timedRun("version"))
	if err != nil {
		return err
	}
	allowed := make(samples, listRounds)
	for i := range allowed {
		allowed[i] = 2*took[1][i] + took[2][i]
	}
	share := medianRatio(took[0], allowed)
	r.addFigure(figure{
		Name:     "orange task list --json --all --closed, " + formatThousands(homeTasks) + " tasks",
		Measured: formatMillis(took[0].median()), Target: "under " + formatMillis(allowed.median()), Met: share < 1,
		Note: fmt.Sprintf("%.2f of twice the same rows decoded and encoded in process (%s) and one orange version (%s)", share, formatMillis(took[1].median()), formatMillis(took[2].median())),
	})
	return nil
}

// listsAll checks that the command lists what is to be measured.
func (p *program) listsAll(args []string) error {
	text, err := p.newCommand(p.path, args...).Output()
	if err != nil {
		return fmt.Errorf("list the tasks: %w", err)
	}
	var got struct {
		Tasks []json.RawMessage `json:"tasks"`
	}
	if err := json.NewDecoder(bytes.NewReader(text)).Decode(&got); err != nil {
		return fmt.Errorf("read the list of tasks: %w", err)
	}
	if len(got.Tasks) != homeTasks {
		return fmt.Errorf("%d tasks are listed instead of %d", len(got.Tasks), homeTasks)
	}
	return nil
}

// recodeRecords reads the records of all tasks, decodes them and encodes them again.
func recodeRecords(path string) (err error) {
	query := url.Values{"mode": {"ro"}}
	db, err := sql.Open("sqlite", (&url.URL{Scheme: "file", Path: path, RawQuery: query.Encode()}).String())
	if err != nil {
		return err
	}
	defer func() { err = errors.Join(err, db.Close()) }()
	rows, err := db.Query("SELECT CAST(fold AS BLOB) FROM task WHERE deleted = 0 ORDER BY n")
	if err != nil {
		return err
	}
	defer rows.Close()
	enc := json.NewEncoder(io.Discard)
	var text sql.RawBytes
	for rows.Next() {
		if err := rows.Scan(&text); err != nil {
			return err
		}
		var t task.Task
		if err := json.Unmarshal(text, &t); err != nil {
			return err
		}
		if err := enc.Encode(&t); err != nil {
			return err
		}
	}
	return rows.Err()
}

// measureUpdate measures one durable change from the command to its end.
func measureUpdate(r *report, p *program, ids []task.ID) error {
	n := 0
	change := func() (time.Duration, error) {
		n++
		return p.timedRun("task", "update", string(ids[n%len(ids)]), "--summary", "Say which line is wrong, version "+strconv.Itoa(n))()
	}
	took, err := alternateRounds(updateRounds, change, p.timedRun("version"))
	if err != nil {
		return err
	}
	r.addFigure(figure{
		Name:     "orange task update, " + formatThousands(homeTasks) + " tasks",
		Measured: formatMillis(took[0].median()), Target: "under " + formatMillis(maxUpdate), Met: took[0].median() < maxUpdate,
		Note: fmt.Sprintf("median of %d; %.1f times orange version (%s)", updateRounds, medianRatio(took[0], took[1]), formatMillis(took[1].median())),
	})
	return nil
}
