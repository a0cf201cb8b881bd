package main

import (
	"fmt"
	"io/fs"
	"net/http"
	"os"
	"path/filepath"
	"regexp"
	"strings"
	"testing"

	"orange/internal/core/journal"
	"orange/internal/core/task"
)

var codePattern = regexp.MustCompile(`\b\d{6}\b`)

// lastCode is the code in the last of n messages.
func (s *env) lastCode(m *mailbox, n int) string {
	s.t.Helper()
	s.eventually(fmt.Sprintf("message %d comes", n), func() bool { return len(m.got()) >= n })
	code := codePattern.FindString(m.got()[n-1])
	if code == "" {
		s.t.Fatalf("there is no code in %s", m.got()[n-1])
	}
	return code
}

// handWork makes a branch with a commit and a task that waits for its merge.
func (s *env) handWork(branch string) task.ID {
	s.t.Helper()
	s.git(s.repo, "switch", "-qc", branch, "main")
	s.handCommit(branch, "one")
	s.git(s.repo, "switch", "-q", "main")
	id := s.create(branch, "worker:\n  - print: nothing\n", "--status", "reviewing")
	s.rests(id, "reviewing")
	return id
}

func (s *env) handCommit(branch, text string) {
	s.t.Helper()
	s.write("shop/"+branch+".txt", text+"\n")
	s.git(s.repo, "add", ".")
	s.git(s.repo, "commit", "-qm", text)
}

// TestAMergeIsConfirmedByACode merges with a real server, real git and somebody on the
// loopback who is shown the codes.
func TestAMergeIsConfirmedByACode(t *testing.T) {
	t.Parallel()
	hook, ntfy := openMailbox(t), openMailbox(t)
	s := openEnv(t, "headless")
	s.refused("no notification channel can show a code for project shop: add ntfy, slack or webhook", "project", "update", "shop", "--confirm", "merge=code")
	s.orange("stop")
	s.write("config/orange/config.json", `{"sessions":"headless","notify":[{"kind":"desktop"},{"kind":"bell"}]}`)
	s.refused("desktop and bell cannot carry one", "project", "update", "shop", "--confirm", "merge=code")
	s.refused("give merge=code or merge=none", "project", "update", "shop", "--confirm", "merge=maybe")
	s.orange("stop")
	s.write("config/orange/config.json", fmt.Sprintf(`{"sessions":"headless","log_level":"debug","notify":[
		{"kind":"webhook","url":%q,"on":["start"]},{"kind":"ntfy","url":%q,"brief":true,"on":["start"]}]}`, hook.URL, ntfy.URL+"/topic"))
	if out := s.orange("project", "update", "shop", "--confirm", "merge=code"); !strings.Contains(out, "confirm merge=code") {
		t.Error(out)
	}
	if out := s.orange("project", "list"); !strings.Contains(out, "merge=code") {
		t.Error(out)
	}
	one, two := s.handWork("one"), s.handWork("two")
	const sent = "it was sent by notification"
	merge := func(id task.ID, more ...string) []string {
		return append([]string{"task", "merge", string(id)}, more...)
	}
	s.refused(sent, merge(one)...)
	first := s.lastCode(hook, 1)
	if got := ntfy.got()[0]; !strings.Contains(got, first) || strings.Contains(got, "do it") {
		t.Errorf("ntfy, in brief, says %s", got)
	}
	s.refused("this code confirms nothing here", merge(two, "--code", first)...)
	s.refused("the code is wrong: 4 tries are left", merge(one, "--code", "none")...)

	s.git(s.repo, "switch", "-q", "one") // the branch is another by now
	s.handCommit("one", "two")
	s.git(s.repo, "switch", "-q", "main")
	s.refused("this code confirms nothing here", merge(one, "--code", first)...)
	s.refused(sent, merge(one)...)
	second := s.lastCode(hook, 2)

	s.orange("stop") // codes end with the server
	s.refused("this code confirms nothing here", merge(one, "--code", second)...)
	hook.answer(http.StatusInternalServerError)
	ntfy.answer(http.StatusInternalServerError)
	s.refused("the code could not be sent", merge(one)...)
	hook.answer(http.StatusOK)
	s.refused(sent, merge(one)...)
	third := s.lastCode(hook, 4)
	s.orange(merge(one, "--code", third)...)
	s.reaches(one, "done")
	s.git(s.repo, "cat-file", "-e", "main:one.txt")

	asked := s.entries(one, journal.EffectAsked)
	if len(asked) != 1 || asked[0].Via == nil || asked[0].Via.Kind != "socket" || asked[0].Via.PID == 0 || asked[0].Via.Program == "" || asked[0].Via.Parent == "" {
		t.Errorf("the merge came via %+v", asked)
	}
	if out := s.orange("task", "history", string(one)); !strings.Contains(out, fmt.Sprintf("pid %d)", asked[0].Via.PID)) || !strings.Contains(out, "by you (") {
		t.Errorf("history does not say it: %s", out)
	}
	if out := s.orange("task", "history", string(one), "--refused"); !strings.Contains(out, ", pid ") {
		t.Errorf("refusals do not say it: %s", out)
	}

	s.refused(sent, "project", "update", "shop", "--confirm", "merge=none")
	s.refused("open tasks", "project", "remove", "shop", "--code", s.removalCode(hook, 6))
	s.orange("project", "update", "shop", "--confirm", "merge=", "--code", s.lastCode(hook, 5))
	s.orange(merge(two)...)
	s.orange("stop")
	s.noCodes(first, second, third)
}

// removalCode asks for the removal of the project and is the code that is shown for it.
func (s *env) removalCode(m *mailbox, n int) string {
	s.t.Helper()
	s.refused("it was sent by notification", "project", "remove", "shop")
	return s.lastCode(m, n)
}

// noCodes looks for codes in every file of the data folder.
func (s *env) noCodes(codes ...string) {
	s.t.Helper()
	err := filepath.WalkDir(s.home, func(path string, d fs.DirEntry, err error) error {
		if err != nil || !d.Type().IsRegular() {
			return err
		}
		text, err := os.ReadFile(path)
		for _, code := range codes {
			for _, form := range []string{"--code " + code, `"` + code, " " + code + " "} {
				if strings.Contains(string(text), form) {
					s.t.Errorf("%s holds the code %s", path, code)
				}
			}
		}
		return err
	})
	check(s.t, err)
}
