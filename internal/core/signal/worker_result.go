package signal

import (
	"bytes"
	"encoding/json"
	"fmt"
	"math/bits"
	"slices"
	"strings"

	"github.com/google/jsonschema-go/jsonschema"

	"orange/internal/core/handoff"
)

// maxResult is the size limit of a worker result, in bytes.
const maxResult = 1 << 20

// resultFinder finds JSON objects that are worker results, anywhere in a text. It tries every
// brace, and searches a text that turns out not to be JSON again for braces within it.
type resultFinder struct {
	options DetectOptions
	notes   *notes

	schema *jsonschema.Schema // created on first use

	scan   objectScan
	active bool
	start  int64 // offset of the object's brace in the text
	line   int
	where  place
	text   []byte // of the object so far
	spare  []byte
	over   bool // it is longer than a result may be; its text is not kept

	offset int64   // of the next byte of the text
	dead   []int64 // offsets of braces that are known not to begin an object, ascending

	last    Report
	lastAt  int // its line
	has     bool
	noted   bool
	stray   int // line of the last object that is not a worker result
	missing uint8
}

func newResultFinder(l DetectOptions, n *notes) finder {
	return &resultFinder{options: l, notes: n}
}

func (f *resultFinder) takePiece(p *piece) {
	if f.active || p.has&seenBrace != 0 {
		f.searchData(p.text, f.offset, p.line, p.where)
	}
	f.offset += int64(len(p.text))
	if p.last {
		if f.active {
			f.searchData(newline, f.offset, p.line, p.where)
		}
		f.offset++
	}
}

// searchData searches data, which begins at an offset of the text and at a line. An object may
// be open from before.
func (f *resultFinder) searchData(data []byte, offset int64, line int, where place) {
	counted := 0 // of data, for lines
	for at := 0; at < len(data); {
		if !f.active {
			brace := bytes.IndexByte(data[at:], '{')
			if brace < 0 {
				return
			}
			at += brace
			if at+1 < len(data) && !mayFollowBrace(data[at+1]) || f.isDead(offset+int64(at)) {
				at++
				continue
			}
			line += bytes.Count(data[counted:at], newline)
			counted = at
			f.beginObject(offset+int64(at), line, where)
		}
		n, state := f.scan.feedData(data[at:])
		f.keepText(data[at : at+n])
		at += n
		switch state {
		case objectWhole:
			f.active = false
			f.judgeObject()
		case objectBroken:
			at = f.retryInside(data, at, offset)
		}
	}
}

// mayFollowBrace is a cheap filter for braces that begin no object.
func mayFollowBrace(c byte) bool {
	return c == '"' || c == '}' || c == ' ' || c == '\t' || c == '\r' || c == '\n'
}

func (f *resultFinder) beginObject(start int64, line int, where place) {
	f.active, f.start, f.line, f.where = true, start, line, where
	f.text, f.over = f.text[:0], false
	f.scan.beginScan()
}

func (f *resultFinder) keepText(text []byte) {
	if f.over {
		return
	}
	if len(f.text)+len(text) > maxResult {
		f.over = true
		return
	}
	f.text = append(f.text, text...)
}

func (f *resultFinder) isDead(offset int64) bool {
	_, dead := slices.BinarySearch(f.dead, offset)
	return dead
}

// retryInside searches a text that is not JSON, from its second byte. The objects that were
// open when it broke are broken too. It returns the position in data at which to continue.
func (f *resultFinder) retryInside(data []byte, at int, offset int64) int {
	f.active = false
	f.rememberDeadBraces()
	if f.scan.keys != 0 && f.where.describeQuote() != "in a block quote" {
		f.addNote(f.line, "a worker result that is no JSON does not count: "+f.scan.why)
	}
	if f.over {
		return at
	}
	if f.start >= offset {
		return int(f.start-offset) + 1
	}
	old := f.text
	f.text, f.spare = f.spare, old
	if len(old) > 1 {
		f.searchData(old[1:], f.start+1, f.line, f.where)
	}
	return at
}

// rememberDeadBraces records the braces that are known not to begin an object.
func (f *resultFinder) rememberDeadBraces() {
	behind, _ := slices.BinarySearch(f.dead, f.start)
	f.dead = append(f.dead[:0], f.dead[behind:]...)
	for _, open := range f.scan.open {
		if open.object {
			f.dead = append(f.dead, f.start+int64(open.at))
		}
	}
	slices.Sort(f.dead)
	f.dead = slices.Compact(f.dead)
}

func (f *resultFinder) addNote(line int, text string) {
	f.noted = true
	f.notes.add(line, text)
}

// judgeObject decides whether a complete object is a worker result that counts.
func (f *resultFinder) judgeObject() {
	if bits.OnesCount8(f.scan.keys) < 2 && f.scan.keys&(keyActions|keyWorker) == 0 {
		f.stray, f.missing = f.line, ^f.scan.keys
		return
	}
	var why string
	switch {
	case f.where.quote:
		why = "in a block quote does not count"
	case f.over:
		why = fmt.Sprintf("has more than %d bytes", maxResult)
	case f.scan.deepest > maxResultDepth:
		why = fmt.Sprintf("nests deeper than %d levels", maxResultDepth)
	default:
		why = f.readObject()
	}
	if why != "" {
		f.addNote(f.line, "a worker result "+why)
	}
}

// readObject takes the object as the result, or returns why it does not count.
func (f *resultFinder) readObject() string {
	if f.schema == nil {
		f.schema = resultSchema(f.options.stageNames())
	}
	result, problems := readResult(f.text, f.schema)
	if len(problems) > 0 {
		return "does not count: " + joinProblems(problems)
	}
	l := f.options
	switch {
	case l.Task != "" && result.Task != l.Task:
		return "of task " + quoteOddWord(result.Task) + ", and this is task " + quoteOddWord(l.Task)
	case l.Agent != "" && !strings.EqualFold(result.Worker, l.Agent):
		return "of worker " + quoteOddWord(result.Worker) + ", and this is " + quoteOddWord(l.Agent)
	}
	if why := l.describeNonceRefusal(result.Nonce); why != "" {
		return why
	}
	r := result.toReport()
	if f.has && (r.Outcome != f.last.Outcome || r.Code != f.last.Code) {
		f.addNote(f.lastAt, "a worker result says "+describeResult(&f.last)+", and a later one counts")
	}
	f.last, f.lastAt, f.has = r, f.line, true
	return ""
}

// describeResult returns a short description of a worker result.
func describeResult(r *Report) string {
	if r.Code == "success" || r.Code == "failure" {
		return r.Code
	}
	return string(r.Outcome) + " with " + quoteOddWord(r.Code)
}

// stageNames returns the valid names of workers and stages, or nil for the default ones. The
// agent of the text is always a valid worker.
func (l DetectOptions) stageNames() []string {
	if l.Stages != nil || l.Agent == "" || slices.Contains(workerNames[:], l.Agent) {
		return l.Stages
	}
	return append(slices.Clone(workerNames[:]), l.Agent)
}

func (f *resultFinder) foundReport() (Report, bool) {
	switch {
	case f.active && f.scan.keys != 0:
		f.addNote(f.line, "a worker result breaks off")
	case !f.has && !f.noted && f.stray > 0 && f.options.Protocol == WorkerResult:
		f.addNote(f.stray, "an object is no worker result: it has no "+missingFields(f.missing))
	}
	return f.last, f.has
}

// joinProblems returns a list in one line, short enough for a note.
func joinProblems(problems []string) string {
	var b strings.Builder
	for i, p := range problems {
		if i > 0 {
			b.WriteString(", ")
		}
		if b.Len() > maxDiagnosis/2 {
			fmt.Fprintf(&b, "%d more", len(problems)-i)
			break
		}
		b.WriteString(p)
	}
	return b.String()
}

// workerResult is the object as the schema describes it.
type workerResult struct {
	Success bool             `json:"success"`
	Summary string           `json:"summary"`
	Joan    Actions          `json:"joan_actions"`
	Git     *GitActions      `json:"git_actions"`
	Errors  []string         `json:"errors"`
	Human   string           `json:"needs_human"`
	Worker  string           `json:"worker_type"`
	Task    string           `json:"task_id"`
	Type    string           `json:"result_type"`
	Nonce   string           `json:"nonce"`
	Handoff *handoff.Handoff `json:"stage_context"`
	Consult *Consult         `json:"invoke_agent"`
}

func (w *workerResult) toReport() Report {
	r := Report{
		Outcome: Failed, Code: "failure", Detail: w.Summary, Nonce: w.Nonce,
		Actions: &w.Joan, Handoff: w.Handoff, Consult: w.Consult,
	}
	if w.Success {
		r.Outcome, r.Code = Passed, "success"
	}
	if w.Type != "" {
		r.Code = w.Type
	}
	r.Actions.Git, r.Actions.Errors, r.Actions.NeedsHuman = w.Git, w.Errors, w.Human
	return r
}

// readResult decodes and checks a worker result.
func readResult(text []byte, schema *jsonschema.Schema) (*workerResult, []string) {
	value, err := decodeStrict(text)
	if err != nil {
		return nil, []string{err.Error()}
	}
	value = withoutNulls(value)
	problems := listViolations(schema, value, "")
	if len(problems) > 0 {
		return nil, problems
	}
	raw, err := json.Marshal(keepDeclared(schema, value))
	if err != nil {
		return nil, []string{err.Error()}
	}
	var w workerResult
	if err := json.Unmarshal(raw, &w); err != nil {
		return nil, []string{err.Error()}
	}
	if w.Handoff != nil {
		for _, p := range w.Handoff.Check() {
			problems = append(problems, handoffPath(p))
		}
	}
	return &w, problems
}
