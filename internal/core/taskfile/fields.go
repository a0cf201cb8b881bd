package taskfile

import (
	"fmt"
	"strings"
)

// MissingFields returns a message that names the first of the fields that the frontmatter of a
// file lacks, or "" if it has all. An empty field counts as missing.
func MissingFields(file, text string, fields []string) string {
	if len(fields) == 0 {
		return ""
	}
	lines := strings.Split(strings.ReplaceAll(text, "\r\n", "\n"), "\n")
	if strings.TrimRight(lines[0], " \t") != "---" {
		return "Output missing metadata header: " + file
	}
	have := map[string]bool{}
	for _, line := range lines[1:] {
		if strings.TrimRight(line, " \t") == "---" {
			return firstMissing(file, have, fields)
		}
		if key, value, ok := strings.Cut(line, ":"); ok && strings.TrimSpace(value) != "" {
			have[strings.TrimSpace(key)] = true
		}
	}
	return "Output missing metadata header: " + file + ": its second --- is not there"
}

func firstMissing(file string, have map[string]bool, fields []string) string {
	for _, f := range fields {
		if !have[f] {
			return fmt.Sprintf("Missing metadata field '%s' in: %s", f, file)
		}
	}
	return ""
}

// FieldOf returns the value of a field of a file's frontmatter, or "" if it has none.
func FieldOf(text, field string) string {
	lines := strings.Split(strings.ReplaceAll(text, "\r\n", "\n"), "\n")
	if strings.TrimRight(lines[0], " \t") != "---" {
		return ""
	}
	for _, line := range lines[1:] {
		if strings.TrimRight(line, " \t") == "---" {
			return ""
		}
		if key, value, ok := strings.Cut(line, ":"); ok && strings.TrimSpace(key) == field {
			return strings.Trim(strings.TrimSpace(value), `"'`)
		}
	}
	return ""
}
