package web

import (
	"crypto/sha256"
	"encoding/hex"
	"encoding/json"
	"net/http"
	"net/url"
	"path"
	"slices"
	"strconv"
	"strings"
	"sync"
	"unicode/utf8"

	"orange/internal/core/journal"
	"orange/internal/core/task"
	"orange/internal/core/taskfile"
	"orange/internal/view/ansi"
	"orange/internal/view/diff"
	"orange/internal/view/humanize"
	"orange/internal/wire"
)

// Limits of a diff on a page, in lines. Files beyond shownLines are fetched when a person opens them or scrolls to them.
const (
	maxDiffFiles = 2000
	shownLines   = 300  // of a diff whose files are all part of the page itself
	firstLines   = 100  // of the files that are part of the page if the diff is longer
	maxFileLines = 3000 // of one file
	largeFile    = 800  // a file with more changed lines is opened only on request
)

// maxRemarks limits the number of remarks in one form.
const maxRemarks = 500

// A taskDiff is the diff of a branch, as a page shows it.
type taskDiff struct {
	Base    string
	Notice  string // why changes in the workspace are not shown
	Version string // names this diff, so that files fetched later belong to it
	Files   []*taskFile
	Tree    []diff.Node
	Added   int
	Deleted int
	Cut     bool // there is more than is shown
	May     bool // the person may send remarks
	Split   bool
	Whole   string
	Orphans []diff.Remark // remarks about lines that are not shown
}

// A taskFile is one file of a diff.
type taskFile struct {
	diff.File
	ID      string
	Key     string // names the changes of the file: it differs when they do
	Open    bool
	Large   bool // it is opened only on request
	Shown   bool // its rows are part of the page
	Left    int  // lines that are not shown
	Rows    []taskRow
	Images  []taskImage
	Remark  string        // about the whole file
	Threads []diff.Thread // about the file, or about lines that are not shown
	May     bool          // the person may send remarks
	Split   bool
	Href    string // the page with this file open
	Part    string // the file alone, for the script
	Context string // the same with every line of the file
	Lines   string // stretches of the file, for the script

	body string // TASK.md
}

// A taskRow is a row of a file, with what the page needs to comment on it.
type taskRow struct {
	diff.Row
	Remarks []taskRemark
	Threads []diff.Thread
}

// A taskRemark is a remark below a row.
type taskRemark struct {
	Line int
	Side string // "old" for a removed line
	Text string
}

// A taskImage is a picture on one side of a diff.
type taskImage struct{ Name, Src string }

// Root returns the tree of files.
func (d *taskDiff) Root() diff.Node { return diff.Node{Nodes: d.Tree} }

// Changed returns the number of changed lines.
func (f *taskFile) Changed() int { return f.Added + f.Deleted }

// Columns returns the number of columns of the table.
func (f *taskFile) Columns() int {
	if f.Split {
		return 4
	}
	return 3
}

// Kind returns the class of a row of the unified view.
func (r taskRow) Kind() string {
	switch {
	case r.Old == r.New:
		return ""
	case r.Old == nil:
		return "added"
	}
	return "gone"
}

// Cell returns the cell of a row in the unified view.
func (r taskRow) Cell() *diff.Cell {
	if r.New != nil {
		return r.New
	}
	return r.Old
}

// diffCache keeps the diffs that pages show, so that a file that is opened later is that of the same diff.
type diffCache struct {
	mu   sync.Mutex
	list []cachedDiff // the newest last
}

type cachedDiff struct {
	task    task.ID
	version string
	diff    wire.Diff
}

const maxCachedDiffs = 8

func (c *diffCache) storeDiff(id task.ID, version string, d wire.Diff) {
	c.mu.Lock()
	defer c.mu.Unlock()
	c.list = slices.DeleteFunc(c.list, func(one cachedDiff) bool { return one.task == id && one.version == version })
	c.list = append(c.list, cachedDiff{id, version, d})
	if len(c.list) > maxCachedDiffs {
		c.list = slices.Delete(c.list, 0, 1)
	}
}

func (c *diffCache) findDiff(id task.ID, version string) (wire.Diff, bool) {
	c.mu.Lock()
	defer c.mu.Unlock()
	for _, one := range c.list {
		if one.task == id && one.version == version {
			return one.diff, true
		}
	}
	return wire.Diff{}, false
}

// latestDiff returns the diff that a page of the task showed last.
func (c *diffCache) latestDiff(id task.ID) (wire.Diff, bool) {
	c.mu.Lock()
	defer c.mu.Unlock()
	for _, one := range slices.Backward(c.list) {
		if one.task == id {
			return one.diff, true
		}
	}
	return wire.Diff{}, false
}

// threadsOf returns the remarks that people sent about a task's work, with the replies in TASK.md: those of the last round, and those of
// earlier rounds that are not resolved.
func threadsOf(entries []journal.Entry, body string) []diff.Thread {
	var out []diff.Thread
	section := ""
	if doc, err := taskfile.Parse([]byte(body)); err == nil {
		for _, s := range doc.Sections() {
			if s.Name == diff.RepliesSection {
				section = s.Text
			}
		}
	}
	for i := range entries {
		e := &entries[i]
		if e.Actor != task.Human || e.To == "" || e.Note == "" {
			continue
		}
		if round := diff.ParseRemarks(e.Note); len(round) > 0 {
			out = slices.DeleteFunc(out, func(t diff.Thread) bool { return t.Resolved })
			diff.ReadReplies(round, section)
			out = append(out, round...)
		}
	}
	for i := range out {
		out[i].Text, out[i].Reply = ansi.SafeText(humanize.Cut(out[i].Text, maxWritten)), ansi.SafeText(humanize.Cut(out[i].Reply, maxWritten))
	}
	return out
}

// placeThreads shows the threads of the file at their lines.
func (f *taskFile) placeThreads(list []diff.Thread) {
	rows := make([]diff.Row, len(f.Rows))
	for i := range f.Rows {
		rows[i] = f.Rows[i].Row
	}
	for _, t := range list {
		if t.Path != f.Path {
			continue
		}
		if at := t.FindLine(rows); at >= 0 {
			f.Rows[at].Threads = append(f.Rows[at].Threads, t)
			continue
		}
		f.Threads = append(f.Threads, t)
	}
}

// digestOf names a value by its content.
func digestOf(v any) string {
	text, _ := json.Marshal(v)
	sum := sha256.Sum256(text)
	return hex.EncodeToString(sum[:8])
}

// diffView is how a person wants to see a diff.
type diffView struct {
	split   bool
	file    string // open this file
	context bool   // with every line of it
}

func diffViewOf(q url.Values) diffView {
	return diffView{q.Get("view") == "split", q.Get("file"), q.Get("context") == "all"}
}

// taskDiffOf prepares a diff for a page, without the rows of its files.
func taskDiffOf(id task.ID, d wire.Diff, view diffView) *taskDiff {
	out := &taskDiff{Base: d.Base, Notice: ansi.OneLine(d.Notice()), Version: digestOf(d), Cut: d.Cut || len(d.Files) > maxDiffFiles, Split: view.split}
	d.Files = d.Files[:min(len(d.Files), maxDiffFiles)]
	for i := range d.Files {
		f := newTaskFile(id, d, i, out.Version, view)
		out.Added, out.Deleted = out.Added+f.Added, out.Deleted+f.Deleted
		out.Files = append(out.Files, f)
	}
	out.Tree = diff.FileTree(d.Files)
	return out
}

// newTaskFile prepares one file of a diff, without its rows.
func newTaskFile(id task.ID, d wire.Diff, at int, version string, view diffView) *taskFile {
	f := &taskFile{File: d.Files[at], ID: "file-" + strconv.Itoa(at+1), Key: digestOf(d.Files[at]), Split: view.split}
	f.Large = f.Changed() > largeFile
	q := url.Values{"path": {f.Path}, "v": {version}}
	if view.split {
		q.Set("view", "split")
	}
	base := "/tasks/" + string(id)
	f.Part, f.Lines = base+"/file?"+q.Encode(), base+"/lines?"+q.Encode()
	q.Del("path")
	q.Del("v")
	q.Set("tab", tabChanges)
	q.Set("file", f.Path)
	f.Href = base + "?" + q.Encode() + "#" + f.ID
	q.Set("context", "all")
	f.Context = base + "?" + q.Encode() + "#" + f.ID
	return f
}

// chooseShown marks the files whose rows are part of the page: the first ones, those with remarks, and the one that the
// person opened.
func (d *taskDiff) chooseShown(view diffView, remarks []diff.Remark) {
	left := shownLines
	if d.countLines() > shownLines {
		left = firstLines
	}
	for _, f := range d.Files {
		lines := f.countLines()
		fits := lines <= left
		left -= lines
		asked := view.file == f.Path || slices.ContainsFunc(remarks, func(r diff.Remark) bool { return r.Path == f.Path })
		f.Shown = fits || asked
		f.Open = f.Shown
	}
}

func (d *taskDiff) countLines() (n int) {
	for _, f := range d.Files {
		n += f.countLines()
	}
	return n
}

// countLines returns the number of lines of the file's hunks.
func (f *taskFile) countLines() (n int) {
	for _, h := range f.Hunks {
		n += len(h.Lines)
	}
	return n
}

// fillRows sets the rows of the file. src may be nil.
func (f *taskFile) fillRows(src *diff.FileText, whole bool) {
	rows := diff.BuildRows(&f.File, src, f.Split)
	if whole && src != nil {
		rows = withContext(rows, src)
	}
	if n := len(rows); n > maxFileLines {
		f.Left, rows = n-maxFileLines, rows[:maxFileLines]
	}
	f.Rows = make([]taskRow, len(rows))
	for i := range rows {
		f.Rows[i].Row = rows[i]
	}
	f.Hunks = nil
}

// withContext replaces the gaps by the lines that they leave out.
func withContext(rows []diff.Row, src *diff.FileText) []diff.Row {
	var out []diff.Row
	for _, r := range rows {
		if g := r.Gap; g != nil && g.From > 0 {
			out = append(out, src.ContextRows(g.From, g.To, g.Shift)...)
			continue
		}
		out = append(out, r)
	}
	return out
}

// placeRemarks shows remarks at their lines, and keeps those whose lines are not shown.
func (d *taskDiff) placeRemarks(list []diff.Remark) {
	for _, r := range list {
		at := slices.IndexFunc(d.Files, func(f *taskFile) bool { return f.Path == r.Path })
		if at < 0 || !d.Files[at].placeRemark(r) {
			d.Orphans = append(d.Orphans, r)
		}
	}
}

// placeRemark shows a remark at its line. It returns false if the line is not shown.
func (f *taskFile) placeRemark(r diff.Remark) bool {
	if r.Line == 0 {
		f.Remark, f.Open = r.Text, true
		return true
	}
	for i := range f.Rows {
		row := &f.Rows[i]
		if !r.Old && row.New != nil && row.New.New == r.Line {
			row.Remarks = append(row.Remarks, taskRemark{r.Line, "", r.Text})
			return true
		}
		if r.Old && row.Old != nil && row.Old.Kind == "-" && row.Old.Old == r.Line {
			row.Remarks = append(row.Remarks, taskRemark{r.Line, wire.SideOld, r.Text})
			return true
		}
	}
	return false
}

// readRemarks reads the remarks of a form: a path, a line, a side and a text for each.
func readRemarks(form url.Values) ([]diff.Remark, error) {
	paths, lines, sides, texts := form["path"], form["line"], form["side"], form["remark"]
	if len(paths) != len(texts) || len(lines) != len(texts) || len(sides) != len(texts) {
		return nil, newRefusal(http.StatusBadRequest, "cannot read the remarks: reload the page and try again")
	}
	var out []diff.Remark
	for i, text := range texts {
		text = strings.TrimSpace(strings.ReplaceAll(text, "\r\n", "\n"))
		if text == "" {
			continue
		}
		line, err := strconv.Atoi("0" + lines[i])
		if err != nil || !utf8.ValidString(paths[i]) || len(out) == maxRemarks {
			return nil, newRefusal(http.StatusBadRequest, "cannot read the remarks: send at most %d, each for a line of the diff", maxRemarks)
		}
		out = append(out, diff.Remark{Path: ansi.OneLine(paths[i]), Line: line, Old: sides[i] == wire.SideOld, Text: text})
	}
	return out, nil
}

// imageTypes are the pictures that a page shows, by the endings of their names. SVG is not one of them: it can contain
// scripts, and its text is a better diff.
var imageTypes = map[string]string{".png": "image/png", ".jpg": "image/jpeg", ".jpeg": "image/jpeg", ".gif": "image/gif", ".webp": "image/webp"}

func imageType(name string) string { return imageTypes[strings.ToLower(path.Ext(name))] }
