package orange_test

import (
	"encoding/json"
	"fmt"
	"os"
	"regexp"
	"slices"
	"strconv"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"orange/internal/core/als"
	"orange/internal/core/handoff"
	"orange/internal/core/signal"
)

// minExamples is how many fenced examples docs/PROTOCOLS.md has at least, and minRows
// how many rows of tables.
const (
	minExamples = 12
	minRows     = 30
)

// An example is a fence of docs/PROTOCOLS.md, or the rows of a table, with what its
// comment says about it.
type example struct {
	line int
	says map[string]string
	text string     // of a fence
	rows [][]string // of a table, without its head
}

// has says whether the comment has a word.
func (e *example) has(word string) bool { _, ok := e.says[word]; return ok }

func (e *example) errorf(t *testing.T, format string, args ...any) {
	t.Helper()
	t.Errorf("docs/PROTOCOLS.md:%d: %s", e.line, fmt.Sprintf(format, args...))
}

func TestTheExamplesOfTheProtocolsAreTrue(t *testing.T) {
	fences, tables := readExamples(t, "docs/PROTOCOLS.md")
	named := map[string]*example{}
	for _, e := range fences {
		if name := e.says["name"]; name != "" {
			named[name] = e
		}
	}
	for _, e := range fences {
		checkFence(t, e, named)
	}
	rows := 0
	for _, e := range tables {
		rows += len(e.rows)
		checkTable(t, e)
	}
	if len(fences) < minExamples || rows < minRows {
		t.Errorf("docs/PROTOCOLS.md has %d fenced examples and %d rows of them, want at least %d and %d", len(fences), rows, minExamples, minRows)
	}
}

var (
	exampleComment = regexp.MustCompile(`^<!-- (example|examples): (.*) -->$`)
	exampleWord    = regexp.MustCompile(`([a-z-]+)(?:=("[^"]*"|\S+))?`)
	fenceLine      = regexp.MustCompile("^(`{3,})[a-z]*$")
)

// readExamples reads the fences and tables of a document that a comment marks.
func readExamples(t *testing.T, file string) (fences, tables []*example) {
	t.Helper()
	text, err := os.ReadFile(file)
	if err != nil {
		t.Fatal(err)
	}
	lines := strings.Split(string(text), "\n")
	for i := 0; i < len(lines); i++ {
		m := exampleComment.FindStringSubmatch(lines[i])
		if m == nil {
			i = skipFence(lines, i)
			continue
		}
		e := &example{line: i + 1, says: map[string]string{}}
		for _, w := range exampleWord.FindAllStringSubmatch(m[2], -1) {
			e.says[w[1]] = strings.Trim(w[2], `"`)
		}
		if m[1] == "example" {
			end := skipFence(lines, i+1)
			if end == i+1 {
				t.Fatalf("%s:%d: no fence follows the example", file, i+1)
			}
			e.text = strings.Join(lines[i+2:end], "\n") + "\n"
			fences, i = append(fences, e), end
			continue
		}
		for i++; i < len(lines) && strings.HasPrefix(lines[i], "|"); i++ {
			e.rows = append(e.rows, cells(lines[i]))
		}
		if len(e.rows) < 3 {
			t.Fatalf("%s:%d: no table follows the examples", file, e.line)
		}
		e.rows = e.rows[2:]
		tables = append(tables, e)
	}
	return fences, tables
}

// skipFence returns the line that ends the fence which line i begins, i if it begins none.
func skipFence(lines []string, i int) int {
	m := fenceLine.FindStringSubmatch(lines[i])
	if m == nil {
		return i
	}
	for end := i + 1; end < len(lines); end++ {
		if lines[end] == m[1] {
			return end
		}
	}
	return i
}

// cells takes the row of a table apart. Code loses its backticks, and ↵ is a line's end.
func cells(row string) []string {
	const pipe = "\x00"
	row = strings.ReplaceAll(strings.Trim(row, "|"), `\|`, pipe)
	var out []string
	for cell := range strings.SplitSeq(row, "|") {
		cell = strings.TrimSpace(strings.ReplaceAll(cell, pipe, "|"))
		ticks := len(cell) - len(strings.TrimLeft(cell, "`"))
		if fence := strings.Repeat("`", ticks); ticks > 0 && len(cell) > 2*ticks && strings.HasSuffix(cell, fence) {
			cell = cell[ticks : len(cell)-ticks]
			if ticks > 2 {
				cell = strings.TrimSuffix(strings.TrimPrefix(cell, " "), " ")
			}
		}
		out = append(out, strings.ReplaceAll(cell, "↵", "\n"))
	}
	return out
}

// looking is what the comment says to look for.
func (e *example) looking() signal.DetectOptions {
	return signal.DetectOptions{
		Protocol: signal.Protocol(e.says["protocol"]), WorkType: e.says["work-type"], Task: e.says["task"], Agent: e.says["agent"],
		Nonce: e.says["nonce"], OwnStream: e.has("own-stream"),
	}
}

func checkFence(t *testing.T, e *example, named map[string]*example) {
	t.Helper()
	of := named[e.says["of"]]
	switch {
	case e.has("of") && of == nil:
		e.errorf(t, "there is no example %s", e.says["of"])
	case e.has("report-of") && named[e.says["report-of"]] == nil:
		e.errorf(t, "there is no example %s", e.says["report-of"])
	case e.has("report-of"):
		of = named[e.says["report-of"]]
		sameJSON(t, e, signal.DetectText(of.text, of.looking()))
	case e.has("protocol"):
		checkReport(t, e)
	case e.has("handoff"):
		checkHandoff(t, e, of)
	case e.has("als"):
		checkALS(t, e, of)
	default:
		e.errorf(t, "nothing checks this example: give protocol=, report-of=, handoff= or als=")
	}
}

func checkReport(t *testing.T, e *example) {
	t.Helper()
	if !e.has("outcome") || !e.has("code") {
		e.errorf(t, "say outcome= and code=")
	}
	r := signal.DetectText(e.text, e.looking())
	if string(r.Outcome) != e.says["outcome"] || r.Code != e.says["code"] || r.Protocol != e.looking().Protocol {
		e.errorf(t, "%s: %s %q (%s)", r.Protocol, r.Outcome, r.Code, r.Diagnosis)
	}
	if e.has("source") && string(r.Source) != e.says["source"] {
		e.errorf(t, "it was found in %s", r.Source)
	}
	if e.has("consult") && (r.Consult == nil || r.Consult.Role != e.says["consult"]) {
		e.errorf(t, "it asks %+v", r.Consult)
	}
}

// sameJSON compares the fence with a value, as JSON.
func sameJSON(t *testing.T, e *example, v any) {
	t.Helper()
	var want, got any
	raw, err := json.Marshal(v)
	if err == nil {
		err = json.Unmarshal(raw, &got)
	}
	if err == nil {
		err = json.Unmarshal([]byte(e.text), &want)
	}
	if err != nil {
		e.errorf(t, "%v", err)
	}
	if diff := cmp.Diff(want, got); diff != "" {
		e.errorf(t, "(-page +program)\n%s", diff)
	}
}

func checkHandoff(t *testing.T, e, of *example) {
	t.Helper()
	source := e
	if of != nil {
		source = of
	}
	h, err := handoff.FromJSON([]byte(source.text))
	if err != nil {
		e.errorf(t, "%v", err)
		return
	}
	if problems := strings.Join(h.Check(), "; "); problems != e.says["problem"] {
		e.errorf(t, "problems: %q", problems)
	}
	got := e.text
	switch e.says["handoff"] {
	case "als":
		got = h.ALS().String()
		c, err := als.Parse(e.text)
		back, ok := handoff.FromALS(c)
		sameHandoff(t, e, h, back, err == nil && ok)
	case "section":
		got = h.Section()
		back, err := handoff.ParseSection(e.text)
		sameHandoff(t, e, h, back, err == nil)
	case "prompt":
		got = h.Prompt()
	}
	if diff := cmp.Diff(strings.TrimSpace(e.text), strings.TrimSpace(got)); diff != "" {
		e.errorf(t, "(-page +program)\n%s", diff)
	}
}

// sameHandoff makes sure that what is written can be read back.
func sameHandoff(t *testing.T, e *example, want, got handoff.Handoff, ok bool) {
	t.Helper()
	if !ok || want.ALS().String() != got.ALS().String() {
		e.errorf(t, "it is read back as %+v", got)
	}
}

func checkALS(t *testing.T, e, of *example) {
	t.Helper()
	source := e
	if of != nil {
		source = of
	}
	c, err := als.Parse(source.text)
	switch kind := e.says["als"]; {
	case err != nil:
		e.errorf(t, "%v", err)
	case kind == "normal" && c.String()+"\n" != e.text:
		e.errorf(t, "its normal form is\n%s", c)
	case kind == "json":
		sameJSON(t, e, c)
	}
}

func checkTable(t *testing.T, e *example) {
	t.Helper()
	switch {
	case e.has("precedence"):
		checkPrecedence(t, e)
	case e.has("protocol"):
		checkReports(t, e)
	case e.has("worker-result-fields"):
		checkFields(t, e)
	case e.has("handoff-limits"):
		for _, row := range e.rows {
			checkLimit(t, e, row)
		}
	case e.has("als"):
		for _, row := range e.rows {
			c, err := als.Parse(row[0])
			if got := c.String(); err == nil && got != row[1] || err != nil && err.Error() != row[1] {
				e.errorf(t, "%q: %q, %v", row[0], got, err)
			}
		}
	default:
		e.errorf(t, "nothing checks this table")
	}
}

// checkReports checks rows of text, outcome and diagnosis.
func checkReports(t *testing.T, e *example) {
	t.Helper()
	for _, row := range e.rows {
		r := signal.DetectText(row[0], e.looking())
		if string(r.Outcome) != row[1] || r.Diagnosis != row[2] {
			e.errorf(t, "%q: %s, diagnosis %q", row[0], r.Outcome, r.Diagnosis)
		}
	}
}

// checkPrecedence checks rows of form, source and text: beside one of a later row, an
// earlier one counts, whichever comes first.
func checkPrecedence(t *testing.T, e *example) {
	t.Helper()
	for i, first := range e.rows {
		for _, second := range e.rows[i:] {
			for _, text := range []string{first[2] + "\n\n" + second[2], second[2] + "\n\n" + first[2]} {
				if r := signal.DetectText(text, e.looking()); string(r.Source) != first[1] {
					e.errorf(t, "%s beside %s: found in %q", first[0], second[0], r.Source)
				}
			}
		}
	}
}

// checkFields compares rows of field and "yes" with the schema.
func checkFields(t *testing.T, e *example) {
	t.Helper()
	schema := signal.WorkerResultSchema()
	var listed []string
	for _, row := range e.rows {
		listed = append(listed, row[0])
		if required := slices.Contains(schema.Required, row[0]); required != (row[1] == "yes") {
			e.errorf(t, "%s: required is %v", row[0], required)
		}
	}
	known := slices.Sorted(slices.Values(schema.PropertyOrder))
	if slices.Sort(listed); !slices.Equal(listed, known) {
		e.errorf(t, "the fields are %v", known)
	}
}

// checkLimit checks a row of field, items and characters: so many are in order, and one
// more is not.
func checkLimit(t *testing.T, e *example, row []string) {
	t.Helper()
	items, err := strconv.Atoi(row[1])
	if err != nil {
		e.errorf(t, "%s: %v", row[0], err)
		return
	}
	length, _ := strconv.Atoi(row[2]) // empty for any
	for _, c := range []struct {
		items, length int
		good          bool
	}{{items, 1, true}, {items + 1, 1, false}, {1, max(length, 300), length == 0}, {1, max(length, 1), true}, {1, length + 1, length == 0}} {
		fields := map[string]any{"from_stage": "a", "to_stage": "b", "key_decisions": []string{}}
		fields[row[0]] = slices.Repeat([]string{strings.Repeat("x", c.length)}, c.items)
		raw, err := json.Marshal(fields)
		if err != nil {
			t.Fatal(err)
		}
		h, err := handoff.FromJSON(raw)
		if problems := h.Check(); err != nil || (len(problems) == 0) != c.good {
			e.errorf(t, "%s with %d items of %d characters: %v, %v", row[0], c.items, c.length, problems, err)
		}
	}
}
