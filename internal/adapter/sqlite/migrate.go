package sqlite

import (
	"context"
	"database/sql"
	"fmt"
)

// applicationID marks the file as Orange's: "Orng".
const applicationID = 0x4f726e67

// schemaMigrations returns the steps from each version of the schema to the next. Their number is the
// version. Published steps never change: a new one is appended.
func schemaMigrations() []migration {
	return []migration{{schema1, nil}, {schema2, nil}, {schema3, nil}, {schema4, nil}, {schema5, nil}, {schema6, nil}, {schema7, nil}, {schema8, linkRows}, {schema9, nil}, {schema10, refoldRecords}, {schema11, nil}, {schema12, refoldRecords}, {schema13, nil}}
}

// SchemaVersion returns the version of the schema that this program writes.
func SchemaVersion() int { return len(schemaMigrations()) }

// A migration is a text of SQL, and a function for what SQL alone cannot do, which runs after it.
type migration struct {
	text string
	then func(context.Context, *sql.Conn) error
}

const schema1 = `
	CREATE TABLE journal (
		row   INTEGER PRIMARY KEY, -- in the order of commits; none is ever deleted
		task  TEXT NOT NULL,
		seq   INTEGER NOT NULL,
		at    TEXT NOT NULL,
		entry TEXT NOT NULL,
		UNIQUE (task, seq)
	);
	CREATE TABLE task (
		n         INTEGER PRIMARY KEY,
		id        TEXT NOT NULL UNIQUE,
		project   TEXT NOT NULL,
		branch    TEXT NOT NULL,
		status    TEXT NOT NULL,
		workspace TEXT NOT NULL,
		queued    INTEGER NOT NULL,
		over      INTEGER NOT NULL,
		deleted   INTEGER NOT NULL,
		pending   INTEGER NOT NULL,
		due       INTEGER,
		seq       INTEGER NOT NULL,
		fold      TEXT NOT NULL
	);
	CREATE TABLE project (
		name           TEXT PRIMARY KEY,
		path           TEXT NOT NULL,
		default_branch TEXT NOT NULL,
		pool_size      INTEGER NOT NULL,
		workflow       TEXT NOT NULL
	) WITHOUT ROWID;
	CREATE TABLE workflow (
		hash TEXT PRIMARY KEY,
		name TEXT NOT NULL,
		file TEXT NOT NULL,
		text TEXT NOT NULL
	);
	CREATE TABLE setting (
		key   TEXT PRIMARY KEY,
		value TEXT NOT NULL
	) WITHOUT ROWID;`

// schema2 counts the attempts that are not over, and adds indexes that cover only rows in use.
const schema2 = `
	ALTER TABLE task ADD COLUMN live INTEGER NOT NULL DEFAULT 0;
	UPDATE task SET live = coalesce(json_array_length(fold, '$.attempts'), 0);
	CREATE INDEX task_open ON task (project, branch) WHERE over = 0 AND deleted = 0;
	CREATE INDEX task_queued ON task (project) WHERE queued = 1;
	CREATE INDEX task_bound ON task (workspace) WHERE workspace <> '';`

// schema3 stores refusals, next to the journal.
const schema3 = `
	CREATE TABLE refusal (
		row     INTEGER PRIMARY KEY,
		task    TEXT NOT NULL,
		at      TEXT NOT NULL,
		actor   TEXT NOT NULL,
		attempt INTEGER NOT NULL,
		kind    TEXT NOT NULL,
		asked   TEXT NOT NULL,
		why     TEXT NOT NULL
	);
	CREATE INDEX refusal_task ON refusal (task, row);`

// schema4 stores the settings that a person chose for a project.
const schema4 = `
	ALTER TABLE project ADD COLUMN policy TEXT NOT NULL DEFAULT '{}';`

// schema5 stores the boards of projects: their cards, comments and events, and the keys of the changes that were made.
const schema5 = `
	CREATE TABLE board (
		project    TEXT PRIMARY KEY,
		vocabulary TEXT NOT NULL
	) WITHOUT ROWID;
	CREATE TABLE card (
		n       INTEGER PRIMARY KEY,
		project TEXT NOT NULL REFERENCES board (project),
		number  INTEGER NOT NULL,
		card    TEXT NOT NULL,
		UNIQUE (project, number)
	);
	CREATE TABLE card_comment (
		card   INTEGER NOT NULL REFERENCES card (n),
		number INTEGER NOT NULL,
		at     TEXT NOT NULL,
		author TEXT NOT NULL,
		text   TEXT NOT NULL,
		PRIMARY KEY (card, number)
	);
	CREATE TABLE card_event (
		card   INTEGER NOT NULL REFERENCES card (n),
		seq    INTEGER NOT NULL,
		at     TEXT NOT NULL,
		author TEXT NOT NULL,
		change TEXT NOT NULL,
		PRIMARY KEY (card, seq)
	);
	CREATE TABLE card_key (
		card INTEGER NOT NULL REFERENCES card (n),
		key  TEXT NOT NULL,
		PRIMARY KEY (card, key)
	) WITHOUT ROWID;`

// schema6 stores trackers: their configurations, their issues as last read and when, which webhooks were handled and
// what was done about them, and who works on which issue.
const schema6 = `
	CREATE TABLE tracker (
		name   TEXT PRIMARY KEY,
		config TEXT NOT NULL
	) WITHOUT ROWID;
	CREATE TABLE tracker_issue (
		n       INTEGER PRIMARY KEY,
		tracker TEXT NOT NULL,
		key     TEXT NOT NULL,
		issue   TEXT NOT NULL,
		UNIQUE (tracker, key)
	);
	CREATE TABLE tracker_sync (
		tracker TEXT PRIMARY KEY,
		at      INTEGER NOT NULL,
		problem TEXT NOT NULL
	) WITHOUT ROWID;
	CREATE TABLE tracker_delivery (
		tracker  TEXT NOT NULL,
		delivery TEXT NOT NULL,
		at       INTEGER NOT NULL,
		PRIMARY KEY (tracker, delivery)
	) WITHOUT ROWID;
	CREATE INDEX tracker_delivery_at ON tracker_delivery (at);
	CREATE TABLE tracker_act (
		ref TEXT NOT NULL,
		key TEXT NOT NULL,
		PRIMARY KEY (ref, key)
	) WITHOUT ROWID;
	CREATE TABLE tracker_lease (
		ref   TEXT PRIMARY KEY,
		owner TEXT NOT NULL,
		until INTEGER NOT NULL
	) WITHOUT ROWID;`

// schema7 stores the checks of pull requests as last read, and what was last announced about each task.
const schema7 = `
	CREATE TABLE sight (
		task   TEXT PRIMARY KEY,
		checks TEXT NOT NULL
	) WITHOUT ROWID;
	CREATE TABLE notice (
		task TEXT PRIMARY KEY,
		key  TEXT NOT NULL
	) WITHOUT ROWID;`

// schema9 stores the origin of a refused action.
const schema9 = `
	ALTER TABLE refusal ADD COLUMN via TEXT NOT NULL DEFAULT '';`

// schema10 is the first version in which records and new rows of the journal have journal.Format 1. It
// folds the records from the journal again. Existing rows of the journal stay as they are.
const schema10 = ``

// schema11 finds tasks by their branch, whether they are over or not.
const schema11 = `
	CREATE INDEX task_branch ON task (branch COLLATE NOCASE) WHERE deleted = 0;`

// schema12 is the first version in which a record has the cause of its pause, and names every effect that was given up.
const schema12 = ``

// schema13 finds tasks by the time at which they were over.
const schema13 = `
	CREATE INDEX task_over ON task (fold->>'$.current_visit.since') WHERE over = 1 AND deleted = 0;`

// migrateSchema brings the schema to the newest version, with one transaction for each step.
func migrateSchema(ctx context.Context, b transactor, steps []migration) error {
	version, err := schemaVersion(ctx, b.conn)
	if err != nil {
		return err
	}
	if version > len(steps) {
		return errNewer(version)
	}
	for ; version < len(steps); version++ {
		step := steps[version]
		text := step.text + fmt.Sprintf(";\nPRAGMA application_id = %d; PRAGMA user_version = %d", applicationID, version+1)
		err := b.runTransaction(ctx, func(ctx context.Context, c *sql.Conn) error {
			_, err := c.ExecContext(ctx, text)
			if err == nil && step.then != nil {
				err = step.then(ctx, c)
			}
			return err
		})
		if err != nil {
			return fmt.Errorf("upgrade to schema %d: %w", version+1, err)
		}
	}
	return nil
}

func errNewer(version int) error {
	return fmt.Errorf("it was written by a newer orange (schema %d, this one knows %d): upgrade orange", version, len(schemaMigrations()))
}

// schemaVersion returns the schema version of the file, or 0 if it is empty.
func schemaVersion(ctx context.Context, c *sql.Conn) (int, error) {
	var version, application, tables int
	for _, q := range []struct {
		text string
		into *int
	}{{"PRAGMA user_version", &version}, {"PRAGMA application_id", &application}, {"SELECT count(*) FROM sqlite_schema", &tables}} {
		if err := c.QueryRowContext(ctx, q.text).Scan(q.into); err != nil {
			return 0, err
		}
	}
	if application != applicationID && (tables > 0 || version != 0) {
		return 0, brokenStore("it is the database of another program; move it away")
	}
	return version, nil
}
