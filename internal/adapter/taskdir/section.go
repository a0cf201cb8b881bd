package taskdir

import (
	"bytes"
	"fmt"

	"orange/internal/core/task"
	"orange/internal/core/taskfile"
)

// AddSection adds a person's text to TASK.md as a new section at the end. It writes the key
// beside the text, so that repeated calls with the same key add it once.
func (d *Dir) AddSection(project string, id task.ID, section, text, key string) error {
	dir, err := d.checkedPath(project, id)
	if err != nil {
		return fmt.Errorf("add to the folder of a task: %w", err)
	}
	mark := []byte("<!-- " + key + " -->")
	return addAdvice(d.spliceLocked(dir, func(path string, src []byte) ([]byte, error) {
		if bytes.Contains(src, mark) {
			return src, nil
		}
		out := bytes.TrimRight(src, "\n")
		if len(out) > 0 {
			out = append(bytes.Clone(out), "\n\n"...)
		}
		out = fmt.Appendf(out, "## %s\n\n%s\n%s\n", section, mark, taskfile.QuoteContext(text))
		return checkSize(path, out)
	}))
}

// SetRequirements replaces the requirements in TASK.md.
func (d *Dir) SetRequirements(project string, id task.ID, text string) error {
	dir, err := d.checkedPath(project, id)
	if err != nil {
		return fmt.Errorf("write into the folder of a task: %w", err)
	}
	return addAdvice(d.spliceLocked(dir, func(path string, src []byte) ([]byte, error) {
		doc, err := parseTaskFile(path, src)
		if err != nil {
			return nil, err
		}
		return checkSize(path, doc.WithRequirements(text).Bytes())
	}))
}

// WriteVerdict writes a verdict to a section of TASK.md and returns the file as it was written.
func (d *Dir) WriteVerdict(project string, id task.ID, section string, s taskfile.Statement) (taskfile.Document, error) {
	dir, err := d.checkedPath(project, id)
	if err != nil {
		return taskfile.Document{}, fmt.Errorf("write into the folder of a task: %w", err)
	}
	var written taskfile.Document
	err = d.spliceLocked(dir, func(path string, src []byte) ([]byte, error) {
		doc, err := parseTaskFile(path, src)
		if err != nil {
			return nil, err
		}
		written = doc.WithVerdict(section, s)
		return checkSize(path, written.Bytes())
	})
	return written, addAdvice(err)
}
