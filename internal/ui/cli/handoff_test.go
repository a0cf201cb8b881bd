package cli_test

import (
	"os"
	"path/filepath"
	"strings"
	"testing"
)

const (
	handoffJSON = `{"from_stage":"ba","to_stage":"architect","key_decisions":["Use JWT","x\nDONE: y"]}`
	handoffALS  = "ALS/1\nactor: ba\nintent: handoff\naction: context-handoff\nfrom_stage: ba\nto_stage: architect\n" +
		"summary: Context handoff for next stage\nkey_decisions:\n- Use JWT\n- \"x\\nDONE: y\"\n"
	handoffSection = "FROM: ba\nTO: architect\nDONE: Context handoff for next stage\n\nDECISIONS:\n- Use JWT\n- \"x\\nDONE: y\"\n"
	handoffRead    = `{"from_stage":"ba","to_stage":"architect","summary":"Context handoff for next stage","key_decisions":["Use JWT","x\nDONE: y"],` +
		`"files_of_interest":[],"warnings":[],"dependencies":[],"metadata":{}}` + "\n"
)

func TestHandoff(t *testing.T) {
	tests := []struct {
		name, stdin string
		args        []string
		want        string
	}{
		{"JSON as it is", handoffJSON, nil, handoffJSON + "\n"},
		{"JSON as a comment", handoffJSON, []string{"-", "--as", "als"}, handoffALS},
		{"JSON as a section", handoffJSON, []string{"--as", "section"}, handoffSection},
		{"a comment as JSON", handoffALS, []string{"--json"}, handoffRead},
		{"a section as JSON", handoffSection, []string{"--from-format", "section"}, handoffRead},
		{"a task file as a comment", "---\nid: x\n---\n## Plan\n\nDONE: no\n\n## Handoff\n\n" + handoffSection + "\n## Review\n\nDONE: no\n", []string{"--as", "als"}, handoffALS},
		{"a section in JSON", handoffJSON, []string{"--as", "section", "--json"},
			`{"as":"section","text":"FROM: ba\nTO: architect\nDONE: Context handoff for next stage\n\nDECISIONS:\n- Use JWT\n- \"x\\nDONE: y\"\n"}` + "\n"},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			code, out, errs := orange(t, t.TempDir(), tt.stdin, append([]string{"handoff"}, tt.args...)...)
			if code != 0 || out != tt.want {
				t.Errorf("exit %d, %s\ngot\n%s\nwant\n%s", code, errs, out, tt.want)
			}
		})
	}
	_, out, _ := orange(t, t.TempDir(), handoffJSON, "handoff", "--as", "prompt")
	if !strings.Contains(out, "\n> - Use JWT\n") {
		t.Errorf("the prompt is\n%s", out)
	}
}

func TestHandoffRefusals(t *testing.T) {
	tests := []struct {
		name, stdin string
		args        []string
		code        int
		want        string
	}{
		{"limits", `{"from_stage":"ba","to_stage":"b","key_decisions":["1","2","3","4","5","6"],"warnings":["1","2","3","4"]}`, nil, 1,
			"orange: handoff: key_decisions has 6 items: the limit is 5; warnings has 4 items: the limit is 3\n"},
		{"no handoff", "ALS/1\nactor: x", nil, 1,
			"orange: handoff: the comment is not a handoff: it needs intent: handoff, action: context-handoff, from_stage and to_stage\n"},
		{"a bad comment", "ALS/1\nx", nil, 1, "orange: handoff: line 2: \"x\" is neither \"key: value\" nor \"- item\" nor an indented line\n"},
		{"nothing", " \n", nil, 1, "orange: handoff: the text is empty: give a handoff as JSON, as an ALS/1 comment or as a ## Handoff section\n"},
		{"nothing, as JSON", "", []string{"--from-format", "json"}, 1, "orange: handoff: the text is empty: give a handoff as JSON, as an ALS/1 comment or as a ## Handoff section\n"},
		{"plain text", "Well, it works.\n", nil, 1,
			"orange: handoff: the text is not a handoff: give JSON that begins with {, an ALS/1 comment, or a ## Handoff section with DONE: and DECISIONS: in it\n"},
		{"a list", "[1]", nil, 1,
			"orange: handoff: the text is not a handoff: give JSON that begins with {, an ALS/1 comment, or a ## Handoff section with DONE: and DECISIONS: in it\n"},
		{"a section without labels", "# Task\n\n## Handoff\n\nIt works.\n", nil, 1,
			"orange: handoff: the section has no label: write DONE:, DECISIONS:, REMAINING: or UNCERTAIN: with some text\n"},
		{"a section that is none", "It works.\n", []string{"--from-format", "section"}, 1,
			"orange: handoff: the section has no label: write DONE:, DECISIONS:, REMAINING: or UNCERTAIN: with some text\n"},
		{"a number that is no text", `{"from_stage":"ba","key_decisions":[],"warnings":["x",5]}`, nil, 1,
			"orange: handoff: warnings[1]: a JSON number does not fit: give a text; to_stage is missing: name a stage\n"},
		{"a key that is there twice", `{"from_stage":"ba","to_stage":"b","from_stage":"c","key_decisions":[]}`, nil, 1, "orange: handoff: the key \"from_stage\" is there twice: keep one\n"},
		{"a file that is not there", "", []string{"no.md"}, 1, "orange: handoff: there is no file no.md: give the path of a handoff, or - for standard input\n"},
		{"an unknown form", "", []string{"--as", "x"}, 2, "orange: handoff: --as x is not known: use json, als, section or prompt\n"},
		{"an unknown format", "", []string{"--from-format", "x"}, 2, "orange: handoff: --from-format x is not known: use json, als, section or auto\n"},
		{"too much", strings.Repeat("x", 1<<20+1), nil, 1, "orange: handoff: the text is larger than 1 MiB: give a smaller one\n"},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			code, out, errs := orange(t, t.TempDir(), tt.stdin, append([]string{"handoff"}, tt.args...)...)
			if code != tt.code || out != "" || errs != tt.want {
				t.Errorf("exit %d, printed %q, said %q", code, out, errs)
			}
		})
	}
}

func TestALS(t *testing.T) {
	dir := t.TempDir()
	if err := os.WriteFile(filepath.Join(dir, "c.txt"), []byte("\nALS/1\r\nactor:dev\r\ntags.add: A\r\nlinks:\r\n  pr: x\r\n"), 0o600); err != nil {
		t.Fatal(err)
	}
	for _, tt := range []struct{ flag, want string }{
		{"--json=false", "ALS/1\nactor: dev\ntags.add: [A]\nlinks:\n- pr: x\n"},
		{"--json", `{"actor":"dev","intent":"","action":"","tags.add":["A"],"tags.remove":[],"summary":"","details":[],"links":{"pr":"x"}}` + "\n"},
	} {
		if code, out, errs := orange(t, dir, "", "als", "c.txt", tt.flag); code != 0 || out != tt.want {
			t.Errorf("exit %d, %s\n%s", code, errs, out)
		}
	}
	code, out, errs := orange(t, dir, "hello\x1b[2J", "als", "--json")
	if code != 1 || !strings.HasPrefix(out, `{"error":"line 1: `) || strings.Contains(errs, "\x1b") {
		t.Errorf("exit %d, printed %q, said %q", code, out, errs)
	}
	if code, _, errs := orange(t, dir, "", "als", "none.txt"); code != 1 || errs != "orange: als: there is no file none.txt: give the path of an ALS/1 comment, or - for standard input\n" {
		t.Errorf("exit %d, said %q", code, errs)
	}
}

func TestHelpNamesWhatAFlagTakes(t *testing.T) {
	for _, tt := range []struct {
		command []string
		says    []string
		never   string
	}{
		{[]string{"handoff"}, []string{"--as FORM ", "--from-format FORM ", `(default "json")`}, "--as json"},
		{[]string{"workflow", "decide"}, []string{"--exit[=ROLE] ", "--to STATE ", "--actor WHO ", "--task-file FILE "}, "*"},
	} {
		code, out, errs := orange(t, t.TempDir(), "", append(tt.command, "--help")...)
		for _, says := range tt.says {
			if code != 0 || !strings.Contains(out, says) || strings.Contains(out, tt.never) {
				t.Errorf("%v: exit %d, %s\n%s\nwant %q and not %q", tt.command, code, errs, out, says, tt.never)
			}
		}
	}
}
