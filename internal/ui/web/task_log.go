package web

import (
	"net/http"
	"strconv"
	"time"

	"orange/internal/core/engine"
	"orange/internal/core/signal"
	"orange/internal/core/transcript"
	"orange/internal/view/ansi"
	"orange/internal/view/humanize"
)

// maxTurns limits how many turns of a conversation the page shows.
const maxTurns = 300

// A taskLog is the log of one attempt.
type taskLog struct {
	Attempt int
	Role    string
	Alive   bool
	Turns   []taskTurn
	Lines   string
	Older   bool // earlier turns or lines are left out
	Problem string
}

// A taskTurn is one turn of a conversation.
type taskTurn struct {
	Who, What string
	At        time.Time
	Text      string
	More      int
	Failed    bool
}

// addLog adds the log of the attempt that the request names, or of the newest one.
func (s *Site) addLog(r *http.Request, out *taskPage) {
	number, _ := strconv.Atoi(r.URL.Query().Get("attempt"))
	out.Log = &taskLog{Attempt: number}
	if len(out.Attempts) == 0 {
		return
	}
	if number == 0 {
		number = out.Attempts[0].Number
	}
	l, err := s.o.API.ReadLog(r.Context(), string(out.Task.ID), number, "")
	if err != nil {
		out.Log.Problem = ansi.OneLine(err.Error())
		return
	}
	*out.Log = taskLog{Attempt: l.Attempt, Role: ansi.OneLine(l.Role), Alive: l.Alive, Older: l.Cut}
	turns := transcript.LatestTurns(l.Turns)
	if n := len(turns); n > maxTurns {
		turns, out.Log.Older = turns[n-maxTurns:], true
	}
	for _, t := range turns {
		one := taskTurn{Who: string(t.Who), At: t.At, Text: ansi.SafeText(humanize.Cut(t.Text, maxWritten)), More: t.More, Failed: t.Failed}
		if t.Tool != "" {
			one.What = ansi.OneLine(humanize.Cut(t.Tool+" "+t.Argument, 500))
		}
		out.Log.Turns = append(out.Log.Turns, one)
	}
	for _, line := range l.Lines {
		out.Log.Lines += ansi.SafeText(line) + "\n"
	}
}

// submitEdit changes the summary and the requirements of a task. What did not change is not sent.
func (s *Site) submitEdit(w http.ResponseWriter, r *http.Request) error {
	id := r.PathValue("id")
	requirements, err := noteOf(r)
	if err != nil {
		return err
	}
	v, err := s.o.API.ReadTask(r.Context(), id)
	if err != nil {
		return err
	}
	now := &taskPage{}
	now.fillText(&v)
	sig := signal.Signal{Kind: signal.Request, Verb: engine.VerbEdit}
	if requirements != now.Given {
		sig.Note = requirements
	}
	summary := ansi.OneLine(r.PostForm.Get("summary"))
	if summary != "" && summary != v.Task.Summary {
		sig.Fields = []signal.Field{{Name: "summary", To: summary}}
	}
	switch {
	case summary == "":
		return newRefusal(http.StatusBadRequest, "the summary is empty: write one")
	case requirements == "" && now.Given != "":
		return newRefusal(http.StatusBadRequest, "the requirements are empty: write at least a line")
	case sig.Note == "" && sig.Fields == nil:
		s.finishForm(w, r, "/tasks/"+id+"?tab="+tabOverview, "nothing changed")
		return nil
	}
	a, err := s.o.API.SendSignal(r.Context(), id, sig)
	if err != nil {
		return err
	}
	s.finishForm(w, r, "/tasks/"+string(a.Task.ID)+"?tab="+tabOverview, describeOutcome(sig, a))
	return nil
}
