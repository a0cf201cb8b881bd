package web

import (
	"net/http"
	"net/url"
	"slices"
	"strconv"

	"orange/internal/core/explain"
	"orange/internal/core/task"
	"orange/internal/view/ansi"
	"orange/internal/view/diff"
	"orange/internal/view/syntax"
	"orange/internal/wire"
)

// addDiff adds the diff of the task's branch, with the files that the page shows at once.
func (s *Site) addDiff(r *http.Request, out *taskPage, said *taskWords, threads []diff.Thread) {
	view := diffViewOf(r.URL.Query())
	d, err := s.o.API.ReadDiff(r.Context(), string(out.Task.ID))
	if err != nil {
		out.DiffProblem = ansi.OneLine(err.Error())
	}
	out.Diff = taskDiffOf(out.Task.ID, d, view)
	s.diffs.storeDiff(out.Task.ID, out.Diff.Version, d)
	out.Diff.Whole = said.whole
	out.Diff.May = out.MayReview() || said.whole != "" || len(said.remarks) > 0
	out.Diff.chooseShown(view, said.remarks)
	for _, f := range out.Diff.Files {
		if f.May = out.Diff.May; f.Shown {
			s.fillFile(r, out.Task.ID, f, view.context && view.file == f.Path)
			f.placeThreads(threads)
		}
	}
	out.Diff.placeRemarks(said.remarks)
}

// MayReview reports whether a person may send the work back.
func (p *taskPage) MayReview() bool {
	return slices.ContainsFunc(p.Look.Moves, func(m explain.Move) bool { return m.As == "request-changes" })
}

// fillFile adds the rows of a file, in colours, or its pictures.
func (s *Site) fillFile(r *http.Request, id task.ID, f *taskFile, whole bool) {
	if f.Binary {
		f.addImages(id)
		return
	}
	f.fillRows(s.readSource(r, id, &f.File), whole)
}

// readSource reads both sides of a file. It returns nil if a side cannot be read, or is too long for colours.
func (s *Site) readSource(r *http.Request, id task.ID, f *diff.File) *diff.FileText {
	if len(f.Hunks) == 0 {
		return nil
	}
	before, after := "", ""
	hasOld, hasNew := false, false
	for _, h := range f.Hunks {
		for _, l := range h.Lines {
			hasOld, hasNew = hasOld || l.Old > 0, hasNew || l.New > 0
		}
	}
	read := func(path string, old bool) (string, bool) {
		c, err := s.o.API.ReadFile(r.Context(), string(id), path, old)
		return string(c.Content), err == nil && !c.Cut && len(c.Content) <= syntax.MaxText
	}
	ok := true
	if hasOld {
		was := f.Old
		if was == "" {
			was = f.Path
		}
		before, ok = read(was, true)
	}
	if hasNew && ok {
		after, ok = read(f.Path, false)
	}
	if !ok {
		return nil
	}
	return diff.NewFileText(f, before, after)
}

// quoteLines sets the lines that remarks are about: from the diff that the person saw, or from the file for a line that the diff leaves out.
func (s *Site) quoteLines(r *http.Request, id task.ID, remarks []diff.Remark) {
	d, ok := s.diffs.latestDiff(id)
	if !ok {
		return
	}
	diff.QuoteLines(remarks, d.Files)
	texts := map[string]string{}
	for i := range remarks {
		one := &remarks[i]
		if one.Quote != "" || one.Line == 0 || one.Old || !slices.ContainsFunc(d.Files, func(f diff.File) bool { return f.Path == one.Path }) {
			continue
		}
		text, read := texts[one.Path]
		if !read {
			c, err := s.o.API.ReadFile(r.Context(), string(id), one.Path, false)
			if err == nil && !c.Cut {
				text = string(c.Content)
			}
			texts[one.Path] = text
		}
		one.QuoteText(text)
	}
}

// addImages adds the pictures on both sides, if the file is one.
func (f *taskFile) addImages(id task.ID) {
	if imageType(f.Path) == "" {
		return
	}
	for _, side := range []struct{ name, path, value string }{{"Before", f.Old, wire.SideOld}, {"After", f.Path, ""}} {
		if side.path == "" {
			side.path = f.Path
		}
		f.Images = append(f.Images, taskImage{side.name, "/tasks/" + string(id) + "/image?" + url.Values{"path": {side.path}, "side": {side.value}, "v": {f.Key}}.Encode()})
	}
}

// filePart is the data of a file that is fetched alone.
type filePart struct {
	File *taskFile
}

// findFile returns the file that a request for a part names, from the diff that the page shows.
func (s *Site) findFile(r *http.Request) (task.ID, *taskFile, error) {
	q := r.URL.Query()
	v, err := s.o.API.ReadTask(r.Context(), r.PathValue("id"))
	if err != nil {
		return "", nil, err
	}
	id := v.Task.ID
	version := q.Get("v")
	d, ok := s.diffs.findDiff(id, version)
	if !ok {
		if d, err = s.o.API.ReadDiff(r.Context(), string(id)); err != nil {
			return id, nil, err
		}
		version = digestOf(d)
	}
	at := slices.IndexFunc(d.Files[:min(len(d.Files), maxDiffFiles)], func(f diff.File) bool { return f.Path == q.Get("path") })
	if at < 0 {
		return id, nil, newRefusal(http.StatusNotFound, "the branch does not change this file any more: reload the page")
	}
	f := newTaskFile(id, d, at, version, diffViewOf(q))
	f.body = v.Body
	row := s.rowFromRecord(r.Context(), &v.Task, s.o.Now())
	f.May, f.Open, f.Shown = slices.ContainsFunc(row.Moves, func(m explain.Move) bool { return m.As == "request-changes" }), true, true
	return id, f, nil
}

// serveFile serves the changes of one file, for the script that opens files on demand.
func (s *Site) serveFile(w http.ResponseWriter, r *http.Request) {
	id, f, err := s.findFile(r)
	if err != nil {
		s.writeError(w, r, err)
		return
	}
	s.fillFile(r, id, f, false)
	if entries, err := s.o.API.ReadJournal(r.Context(), string(id), 0); err == nil {
		f.placeThreads(threadsOf(entries, f.body))
	}
	s.renderPart(w, "task", "task-file-body", filePart{f})
}

// serveLines serves lines of a file that its diff leaves out.
func (s *Site) serveLines(w http.ResponseWriter, r *http.Request) {
	id, f, err := s.findFile(r)
	if err != nil {
		s.writeError(w, r, err)
		return
	}
	q := r.URL.Query()
	from, err1 := strconv.Atoi(q.Get("from"))
	to, err2 := strconv.Atoi(q.Get("to"))
	shift, err3 := strconv.Atoi(q.Get("shift"))
	if err1 != nil || err2 != nil || err3 != nil || from < 1 || to < from {
		s.writeError(w, r, newRefusal(http.StatusBadRequest, "the request names no lines: reload the page"))
		return
	}
	src := s.readSource(r, id, &f.File)
	if src == nil {
		s.writeError(w, r, newRefusal(http.StatusNotFound, "the file cannot be read any more: reload the page"))
		return
	}
	f.Rows = nil
	for _, row := range src.ContextRows(from, min(to, from+maxFileLines), shift) {
		f.Rows = append(f.Rows, taskRow{Row: row})
	}
	s.renderPart(w, "task", "task-rows", filePart{f})
}

// serveImage serves a picture of a diff. The type comes from a fixed list and must be that of the content; browsers may
// not guess another one.
func (s *Site) serveImage(w http.ResponseWriter, r *http.Request) {
	q := r.URL.Query()
	kind := imageType(q.Get("path"))
	if kind == "" {
		s.serveNotFound(w, r)
		return
	}
	c, err := s.o.API.ReadFile(r.Context(), r.PathValue("id"), q.Get("path"), q.Get("side") == wire.SideOld)
	if err != nil || c.Cut || http.DetectContentType(c.Content) != kind {
		s.writeError(w, r, newRefusal(http.StatusNotFound, "there is no such picture on this side"))
		return
	}
	w.Header().Set("Content-Type", kind)
	w.Header().Set("Content-Security-Policy", "default-src 'none'; sandbox")
	w.Header().Set("Cache-Control", "private, max-age=300")
	w.Write(c.Content) //nolint:errcheck // the client left
}
