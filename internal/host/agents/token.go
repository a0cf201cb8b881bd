package agents

import (
	"crypto/hmac"
	"crypto/rand"
	"crypto/sha256"
	"encoding/base64"
	"encoding/hex"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"slices"
	"strconv"
	"strings"
	"time"

	"orange/internal/atomicfile"
	"orange/internal/core/agent"
	"orange/internal/core/task"
)

// LoadKey reads the key that tokens are made with, and makes one where there is none.
// Whoever has it can speak for any attempt: it is the owner's alone.
func LoadKey(path string) ([]byte, error) {
	key, err := os.ReadFile(path)
	if err == nil && len(key) == sha256.Size {
		return key, nil
	}
	if err != nil && !errors.Is(err, fs.ErrNotExist) {
		return nil, fmt.Errorf("read the key of tokens: %w", err)
	}
	key = make([]byte, sha256.Size)
	rand.Read(key) //nolint:errcheck // never fails
	if err := atomicfile.Write(path, key, 0o600); err != nil {
		return nil, fmt.Errorf("make a key for tokens: %w", err)
	}
	return key, nil
}

// attemptMAC is a name for an attempt that only the holder of the key can make.
func (a *Agents) attemptMAC(use string, k Key) []byte {
	mac := hmac.New(sha256.New, a.Key)
	fmt.Fprintf(mac, "%s %s %d", use, k.Task, k.Number)
	return mac.Sum(nil)
}

// AttemptToken is the capability of an attempt: who shows it speaks for that attempt.
func (a *Agents) AttemptToken(k Key) string {
	return fmt.Sprintf("%s.%d.%s", k.Task, k.Number, base64.RawURLEncoding.EncodeToString(a.attemptMAC("token", k)))
}

// AttemptNonce marks what an attempt itself prints. It is no secret, and no other attempt has it.
func (a *Agents) AttemptNonce(k Key) string { return hex.EncodeToString(a.attemptMAC("nonce", k)[:4]) }

// readToken says whose token it is.
func (a *Agents) readToken(token string) (Key, bool) {
	parts := strings.Split(token, ".")
	if len(parts) != 3 {
		return Key{}, false
	}
	n, err := strconv.Atoi(parts[1])
	k := Key{Task: task.ID(parts[0]), Number: n}
	return k, err == nil && hmac.Equal([]byte(token), []byte(a.AttemptToken(k)))
}

var errUnknownToken = errors.New("the token is not one of this server: unset ORANGE_TOKEN, or ask from inside the attempt")

// IdentifyCaller says who a caller is, by the token it shows and by the process it is. A
// process below an agent is that agent, with or without a token.
func (a *Agents) IdentifyCaller(token string, pid int) (*agent.Caller, error) {
	byToken, shown := a.readToken(token)
	if token != "" && !shown {
		return nil, errUnknownToken
	}
	byPID, inside, err := a.ownerOf(pid)
	switch {
	case err != nil:
		return nil, err
	case shown && inside && byToken != byPID:
		return nil, fmt.Errorf("the token is that of attempt %d of task %s, and this process belongs to another", byToken.Number, byToken.Task)
	case inside:
		return a.callerOf(byPID)
	case shown:
		return a.callerOf(byToken)
	}
	return nil, nil
}

// CallerOfToken says whose token it is, whoever shows it.
func (a *Agents) CallerOfToken(token string) (*agent.Caller, error) {
	k, ok := a.readToken(token)
	if !ok {
		return nil, errUnknownToken
	}
	return a.callerOf(k)
}

// ownerOf finds the attempt that a process belongs to. The nearest process decides: one
// below an attempt is that attempt; one below the server or its tmux, but below no attempt,
// is nobody, because nothing that Orange starts asks it for anything. Where the parents lead
// to no process of Orange the marks decide: a process can leave its parents behind.
func (a *Agents) ownerOf(pid int) (k Key, inside bool, err error) {
	if pid == 0 && a.Len() == 0 { // the kernel does not say which process it is
		return Key{}, false, nil
	}
	chain, origin := a.Processes.Ancestry(pid)
	k, inside, births := a.findInChain(chain)
	if inside {
		return k, true, nil
	}
	if origin == agent.UnknownLine {
		return Key{}, false, errors.New("cannot identify the caller, because the process that asked has ended: wait for the answer")
	}
	patience := time.NewTimer(longestStart)
	defer patience.Stop()
	for _, born := range births {
		select {
		case <-born:
		case <-patience.C:
			return Key{}, false, errors.New("cannot identify the caller while an agent is being started: try again")
		}
	}
	if len(births) > 0 {
		k, inside, _ = a.findInChain(chain)
	}
	switch {
	case inside:
	case origin == agent.Outside:
		return a.markedOf(chain)
	case origin == agent.FromServer:
		err = errors.New("the server started this process, for instance a hook or filter of git, and such a process may ask for nothing: run the command in a terminal of your own")
	case origin == agent.FromTmux:
		err = errors.New("this process runs in the tmux of Orange outside of every agent, and may ask for nothing: run the command in a terminal of your own")
	}
	return k, inside, err
}

// longestStart bounds how long a caller waits until it is known whom a start brought to
// life.
const longestStart = 10 * time.Second

// findInChain finds the attempt that a process of a chain belongs to, and the starts that are
// under way.
func (a *Agents) findInChain(chain []int) (k Key, inside bool, births []chan struct{}) {
	a.mu.Lock()
	defer a.mu.Unlock()
	for _, p := range chain {
		if k, ok := a.pids[p]; ok {
			return k, true, nil
		}
	}
	return Key{}, false, slices.Clone(a.pendingStarts)
}

// IsShim says whether a process is the attendant of an attempt that lives.
func (a *Agents) IsShim(pid int) bool {
	a.mu.Lock()
	defer a.mu.Unlock()
	k, ok := a.pids[pid]
	return ok && a.live[k] != nil && a.live[k].pids[0] == pid
}

// callerOf says which part an attempt plays: its task knows while it lives, its card
// afterwards.
func (a *Agents) callerOf(k Key) (*agent.Caller, error) {
	c := &agent.Caller{Task: k.Task, Attempt: k.Number}
	t, ok, err := a.Engine.Task(k.Task)
	if err != nil {
		return nil, err
	}
	if at := slices.IndexFunc(t.Attempts, func(have task.Attempt) bool { return have.Number == k.Number }); ok && at >= 0 {
		c.Role = t.Attempts[at].Role
		return c, nil
	}
	card, err := a.LoadCard(k)
	if err == nil && card.Role == "" {
		err = fmt.Errorf("attempt %d of task %s is not known here", k.Number, k.Task)
	}
	c.Role = card.Role
	return c, err
}
