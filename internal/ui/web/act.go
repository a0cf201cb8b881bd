package web

import (
	"cmp"
	"context"
	"net/http"
	"slices"
	"strings"
	"unicode/utf8"

	"orange/internal/core/engine"
	"orange/internal/core/explain"
	"orange/internal/core/signal"
	"orange/internal/core/task"
	"orange/internal/view/ansi"
	"orange/internal/view/narrate"
	"orange/internal/wire"
)

// actRoutes registers the forms through which people act. All actions on one task share one address:
// the field do names the action, note the reason, and back the page to show afterwards.
func (s *Site) actRoutes(mux *http.ServeMux) {
	mux.HandleFunc("GET /move/{id}", s.moveForm)
	mux.HandleFunc("POST /act/{id}", s.formHandler(s.submitAction))
	mux.HandleFunc("POST /pause", s.formHandler(func(w http.ResponseWriter, r *http.Request) error {
		return s.changePause(w, r, s.o.API.PauseAll, "All tasks are paused.")
	}))
	mux.HandleFunc("POST /resume", s.formHandler(func(w http.ResponseWriter, r *http.Request) error {
		return s.changePause(w, r, s.o.API.ResumeAll, "All tasks continue.")
	}))
}

func (s *Site) changePause(w http.ResponseWriter, r *http.Request, do func(context.Context) error, said string) error {
	if err := do(r.Context()); err != nil {
		return err
	}
	s.finishForm(w, r, r.FormValue("back"), said)
	return nil
}

// fieldCode is the form field that carries the confirmation code.
const fieldCode = "code"

// maxNote limits the length of a note, in bytes.
const maxNote = 256 << 10

// submitAction sends the signal that a form describes to the server.
func (s *Site) submitAction(w http.ResponseWriter, r *http.Request) error {
	id := r.PathValue("id")
	note, err := noteOf(r)
	if err != nil {
		return err
	}
	sig, err := s.signalFromForm(r, id, note)
	if err != nil {
		return err
	}
	sig.Confirm = strings.TrimSpace(r.PostForm.Get(fieldCode))
	a, err := s.o.API.SendSignal(r.Context(), id, sig)
	if err != nil {
		return err
	}
	to := r.PostForm.Get("back")
	if sig.Kind == signal.Delete {
		to = "/"
	}
	s.finishForm(w, r, to, describeOutcome(sig, a))
	return nil
}

// noteOf returns the note of a form, with line feeds as line ends. It refuses a note that is too long
// or is not valid UTF-8.
func noteOf(r *http.Request) (string, error) {
	note := strings.TrimSpace(strings.ReplaceAll(r.PostForm.Get("note"), "\r\n", "\n"))
	switch {
	case len(note) > maxNote:
		return "", newRefusal(http.StatusRequestEntityTooLarge, "the text is longer than %d bytes: shorten it", maxNote)
	case !utf8.ValidString(note) || strings.ContainsRune(note, 0):
		return "", newRefusal(http.StatusBadRequest, "the text is not valid UTF-8: write it again")
	}
	return note, nil
}

// signalFromForm returns the signal that a form describes.
func (s *Site) signalFromForm(r *http.Request, id, note string) (signal.Signal, error) {
	do, to, _ := strings.Cut(r.PostForm.Get("do"), ":")
	if to == "" {
		to = r.PostForm.Get("to")
	}
	ask := signal.Signal{Kind: signal.Request, Note: note}
	switch do {
	case "move":
		if to == "" {
			return ask, newRefusal(http.StatusBadRequest, "the request names no state: choose one")
		}
		ask.To = to
	case "answer", "request-changes", engine.VerbSend:
		if note == "" {
			return ask, newRefusal(http.StatusBadRequest, "the text is empty: write some text")
		}
		ask.Verb = do
	case "complete", "cancel", "stuck", engine.VerbStop, engine.Reopen, engine.VerbPush, engine.VerbCreatePR, engine.VerbApproveChanges:
		ask.Verb = do
	case engine.VerbCheck:
		ask.Verb, ask.Arg = do, to
	case engine.Respawn:
		if to != "" && to != engine.Force {
			return ask, newRefusal(http.StatusBadRequest, "unknown way to start an agent again: reload the page and try again")
		}
		ask.Verb, ask.Arg = do, to
	case engine.VerbMerge:
		if to != "" && !slices.Contains(task.LandStrategies, to) {
			return ask, newRefusal(http.StatusBadRequest, "unknown merge strategy: choose auto, ff, merge, rebase or squash")
		}
		ask.Verb, ask.Arg = do, to
	case "approve":
		if to == "" {
			return ask, newRefusal(http.StatusBadRequest, "the request does not say what is approved: reload the page and try again")
		}
		v, err := s.o.API.ReadTask(r.Context(), id)
		if err != nil {
			return ask, err
		}
		if v.Task.Asked == nil {
			return ask, newRefusal(http.StatusConflict, "this task no longer waits for approval: see the inbox")
		}
		if now := v.Task.Asked.To; now != to {
			return ask, newRefusal(http.StatusConflict, "the task now requests %s, not %s: check it and decide again", now, to)
		}
		ask.To = to
	case "spawn":
		ask.Kind = signal.Ready
	case "pause":
		ask.Kind = signal.Pause
	case "resume":
		ask.Kind = signal.Resume
	case "delete":
		ask.Kind = signal.Delete
	default:
		return ask, newRefusal(http.StatusBadRequest, "unknown action: reload the page and try again")
	}
	return ask, nil
}

// describeOutcome describes the result of a request in words.
func describeOutcome(sig signal.Signal, a wire.Answer) string {
	return narrate.DescribeOutcome(a.Outcome(sig.Kind), narrate.Voice{Name: cmp.Or(a.Task.Branch, string(a.Task.ID)), Live: true, Arrow: "→", Stop: "."})
}

// A formButton is a button of a form.
type formButton struct {
	Do    string // value of the field do
	Label string
	To    string // the target state, if it is known
	Class string // go for the usual action, back to send work back, end for an action that is hard to undo
	Ask   string // what the person confirms first, "" for nothing
	ID    string // HTML id of the element that shows Ask
	Href  string // if set, the button is a link to it
	Title string // the engine's words
}

// confirmMerge returns what a person confirms before a merge. base may be unknown.
func confirmMerge(base string) string {
	return "The branch is merged into " + cmp.Or(ansi.OneLine(base), "the branch it came from") + ", and the task is done."
}

// moveButtons returns a button for each move of a task that a person may ask for.
func moveButtons(id task.ID, moves []explain.Move, ends func(explain.Move) bool) []formButton {
	var out []formButton
	for _, m := range moves {
		one := formButton{Do: "move:" + m.To, Label: narrate.LabelMove(m), To: m.To, Title: strings.TrimPrefix(m.As+" → "+m.To, " → ")}
		switch {
		case m.As == "request-changes":
			one.Do, one.Class = "request-changes", "back"
		case m.As == "cancel":
			one.Class, one.Ask = "end", "The task ends without a result."
		case ends(m):
			one.Ask = "The task ends in " + m.To + "."
		}
		if one.Ask != "" {
			one.ID = "end-" + string(id) + "-" + m.To
		}
		out = append(out, one)
	}
	return out
}

type moveData struct {
	page
	ID      string
	Summary string
	Where   string
	Status  string
	Ways    []formButton
	Back    string
	To      string // the state that is already chosen
}

// moveForm serves the form that moves a task without dragging.
func (s *Site) moveForm(w http.ResponseWriter, r *http.Request) {
	id := r.PathValue("id")
	row, p, err := s.rowOf(r, id)
	if err != nil {
		s.writeError(w, r, err)
		return
	}
	s.renderPage(w, r, http.StatusOK, "move", moveData{
		page: p, ID: string(row.ID), Summary: titleText(&row), Where: row.Project + "/" + row.Branch, Status: row.Status,
		Ways: moveButtons(row.ID, row.Moves, s.endPredicate(r.Context(), row.WorkflowHash)), Back: ownPath(r.URL.Query().Get("back")), To: r.URL.Query().Get("to"),
	})
}
