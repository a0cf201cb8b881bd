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

// LoadKey reads the key that tokens are made with, and makes one if there is none. A process that has the key can speak
// for any attempt, so only the owner can read the file.
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

// attemptMAC returns a code for an attempt that only the holder of the key can compute.
func (a *Agents) attemptMAC(use string, k Key) []byte {
	mac := hmac.New(sha256.New, a.Key)
	fmt.Fprintf(mac, "%s %s %d", use, k.Task, k.Number)
	return mac.Sum(nil)
}

// AttemptToken returns the token of an attempt. A caller that presents it speaks for that attempt.
func (a *Agents) AttemptToken(k Key) string {
	return fmt.Sprintf("%s.%d.%s", k.Task, k.Number, base64.RawURLEncoding.EncodeToString(a.attemptMAC("token", k)))
}

// AttemptNonce returns the nonce that marks what an attempt itself prints. It is not secret, and no other attempt has it.
func (a *Agents) AttemptNonce(k Key) string { return hex.EncodeToString(a.attemptMAC("nonce", k)[:4]) }

// readToken returns the attempt of a token, or false if the token is not valid.
func (a *Agents) readToken(token string) (Key, bool) {
	parts := strings.Split(token, ".")
	if len(parts) != 3 {
		return Key{}, false
	}
	n, err := strconv.Atoi(parts[1])
	k := Key{Task: task.ID(parts[0]), Number: n}
	return k, err == nil && hmac.Equal([]byte(token), []byte(a.AttemptToken(k)))
}

var errUnknownToken = errors.New("the token does not belong to this server: unset ORANGE_TOKEN, or run the command inside the attempt")

// IdentifyCaller identifies a caller by its token and its process. A process below an agent counts as that agent, with
// or without a token. IdentifyCaller returns nil for a caller that is not an agent.
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
		return nil, fmt.Errorf("the token belongs to attempt %d of task %s, but this process belongs to another attempt", byToken.Number, byToken.Task)
	case inside:
		return a.callerOf(byPID)
	case shown:
		return a.callerOf(byToken)
	}
	return nil, nil
}

// CallerOfToken returns the attempt of a token, without checking the process of the caller.
func (a *Agents) CallerOfToken(token string) (*agent.Caller, error) {
	k, ok := a.readToken(token)
	if !ok {
		return nil, errUnknownToken
	}
	return a.callerOf(k)
}

// ownerOf finds the attempt that a process belongs to. The nearest ancestor decides: a process below an attempt belongs
// to it; a process below the server or its tmux, but below no attempt, is refused, because nothing that Orange starts
// calls the server. If no ancestor is a process of Orange, the marks decide, because a process can outlive its parents.
func (a *Agents) ownerOf(pid int) (k Key, inside bool, err error) {
	if pid == 0 && a.Len() == 0 { // the kernel does not report the process
		return Key{}, false, nil
	}
	chain, origin := a.Processes.Ancestry(pid)
	k, inside, starts := a.findInChain(chain)
	if inside {
		return k, true, nil
	}
	if origin == agent.UnknownLine {
		return Key{}, false, errors.New("cannot identify the caller, because the process that asked has ended: wait for the answer")
	}
	timeout := time.NewTimer(longestStart)
	defer timeout.Stop()
	for _, started := range starts {
		select {
		case <-started:
		case <-timeout.C:
			return Key{}, false, errors.New("cannot identify the caller while an agent is being started: try again")
		}
	}
	if len(starts) > 0 {
		k, inside, _ = a.findInChain(chain)
	}
	switch {
	case inside:
	case origin == agent.Outside:
		return a.markedOf(chain)
	case origin == agent.FromServer:
		err = errors.New("the server started this process, for instance a hook or filter of git, so its requests are refused: run the command in a terminal of your own")
	case origin == agent.FromTmux:
		err = errors.New("this process runs in the tmux of Orange outside of every agent, so its requests are refused: run the command in a terminal of your own")
	}
	return k, inside, err
}

// longestStart bounds how long a caller waits until the processes of a start are known.
const longestStart = 10 * time.Second

// findInChain finds the attempt that a process of a chain belongs to. If there is none, it returns the starts in progress.
func (a *Agents) findInChain(chain []int) (k Key, inside bool, starts []chan struct{}) {
	a.mu.Lock()
	defer a.mu.Unlock()
	for _, p := range chain {
		if k, ok := a.pids[p]; ok {
			return k, true, nil
		}
	}
	return Key{}, false, slices.Clone(a.pendingStarts)
}

// IsShim reports whether a process is the shim of an attempt that runs.
func (a *Agents) IsShim(pid int) bool {
	a.mu.Lock()
	defer a.mu.Unlock()
	k, ok := a.pids[pid]
	return ok && a.live[k] != nil && a.live[k].pids[0] == pid
}

// callerOf returns an attempt as a caller, with its role: from its task while it runs, from its card afterwards.
func (a *Agents) callerOf(k Key) (*agent.Caller, error) {
	c := &agent.Caller{Task: k.Task, Attempt: k.Number}
	t, ok, err := a.Task(k.Task)
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
