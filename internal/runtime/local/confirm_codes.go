package local

import (
	"crypto/hmac"
	"crypto/rand"
	"crypto/sha256"
	"fmt"
	"math/big"
	"slices"
	"strings"
	"sync"
	"time"

	"orange/internal/core/task"
)

const (
	codeLife  = 5 * time.Minute
	codeTries = 5                // wrong codes within codeLife after which every code of the project is void
	codesOpen = 16               // codes of a project that may be open at the same time
	codePause = 30 * time.Second // before another code is sent for the same action
)

// A codeSubject is what one code confirms, and nothing else.
type codeSubject struct {
	project string
	task    task.ID // "" if it is about the project itself
	head    string  // commit of the task's branch
	action  string
}

func (s codeSubject) String() string {
	return strings.Join([]string{s.project, string(s.task), s.head, s.action}, "\x00")
}

// codeStore holds the codes that were sent and not used. They are in memory only, as hashes under a key of this
// process, so they end with the server.
type codeStore struct {
	mu     sync.Mutex
	key    []byte
	open   map[codeSubject]*sentCode
	wrong  map[string][]time.Time // times of recent wrong codes, by project
	locked map[string]time.Time   // projects for which no code is accepted, and until when
}

type sentCode struct {
	sum    []byte
	sentAt time.Time
}

func (b *codeStore) init() {
	b.key = make([]byte, 32)
	rand.Read(b.key) //nolint:errcheck // never fails
	b.open, b.wrong, b.locked = map[codeSubject]*sentCode{}, map[string][]time.Time{}, map[string]time.Time{}
}

func (b *codeStore) keyedSum(s codeSubject, code string) []byte {
	mac := hmac.New(sha256.New, b.key)
	mac.Write([]byte(s.String() + "\x00" + code))
	return mac.Sum(nil)
}

// issueCode makes a code of six digits. If it makes none, why has the reason.
func (b *codeStore) issueCode(now time.Time, s codeSubject) (code, why string) {
	b.mu.Lock()
	defer b.mu.Unlock()
	b.dropExpired(now)
	if why := b.lockedOut(s.project); why != "" {
		return "", why
	}
	if have := b.open[s]; have != nil {
		if wait := have.sentAt.Add(codePause).Sub(now); wait > 0 {
			return "", fmt.Sprintf("a code was sent by notification %s ago: give it back with --code, or ask again in %s for another",
				now.Sub(have.sentAt).Round(time.Second), wait.Round(time.Second))
		}
	}
	if b.open[s] == nil && b.openFor(s.project) >= codesOpen {
		return "", fmt.Sprintf("%d codes of project %s wait to be given back: give one back, or ask again in five minutes", codesOpen, s.project)
	}
	n, err := rand.Int(rand.Reader, big.NewInt(1e6))
	if err != nil {
		return "", "no code can be made: " + err.Error()
	}
	code = fmt.Sprintf("%06d", n)
	b.open[s] = &sentCode{sum: b.keyedSum(s, code), sentAt: now}
	return code, ""
}

// redeemCode accepts a code once. If the code is not valid, why has the reason.
func (b *codeStore) redeemCode(now time.Time, s codeSubject, code string) (why string) {
	b.mu.Lock()
	defer b.mu.Unlock()
	b.dropExpired(now)
	if why := b.lockedOut(s.project); why != "" {
		return why
	}
	have := b.open[s]
	switch {
	case have == nil:
		return "this code confirms nothing here: it was used, is older than five minutes, or is for another task, commit or action; ask again without a code to get another"
	case hmac.Equal(have.sum, b.keyedSum(s, strings.TrimSpace(code))):
		delete(b.open, s)
		return ""
	}
	b.wrong[s.project] = append(b.wrong[s.project], now)
	if left := codeTries - len(b.wrong[s.project]); left > 0 {
		return fmt.Sprintf("the code is wrong: %d tries are left", left)
	}
	for other := range b.open {
		if other.project == s.project {
			delete(b.open, other)
		}
	}
	delete(b.wrong, s.project)
	b.locked[s.project] = now.Add(codeLife)
	return b.lockedOut(s.project)
}

// openFor counts the unused codes of a project. The caller holds mu.
func (b *codeStore) openFor(project string) (n int) {
	for s := range b.open {
		if s.project == project {
			n++
		}
	}
	return n
}

// forgetCode drops a code that could not be shown to anybody.
func (b *codeStore) forgetCode(s codeSubject) {
	b.mu.Lock()
	defer b.mu.Unlock()
	delete(b.open, s)
}

// lockedOut returns why no code is accepted for a project after wrong codes, or "" if codes are accepted. The caller
// holds mu.
func (b *codeStore) lockedOut(project string) string {
	until, locked := b.locked[project]
	if !locked {
		return ""
	}
	return fmt.Sprintf("a wrong code was given %d times: no code is sent for project %s before %s UTC", codeTries, project, until.UTC().Format(time.TimeOnly))
}

// dropExpired drops expired codes and locks. The caller holds mu.
func (b *codeStore) dropExpired(now time.Time) {
	for s, c := range b.open {
		if now.Sub(c.sentAt) >= codeLife {
			delete(b.open, s)
		}
	}
	for project, at := range b.wrong {
		b.wrong[project] = slices.DeleteFunc(at, func(t time.Time) bool { return now.Sub(t) >= codeLife })
	}
	for project, until := range b.locked {
		if !now.Before(until) {
			delete(b.locked, project)
		}
	}
}
