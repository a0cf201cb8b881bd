package signal

import (
	"fmt"
	"strings"
	"unicode"
)

// Via is where an action of a person came from, as far as known. It explains an entry to a
// person; no decision depends on it. Names of programs, terminals and accounts are untrusted
// text. Command lines are never part of it, because they may contain secrets.
type Via struct {
	Kind     ViaKind `json:"kind"`
	PID      int     `json:"pid,omitempty"`      // of the requesting process
	Program  string  `json:"program,omitempty"`  // file name of its program
	Path     string  `json:"path,omitempty"`     // full path of that file
	Parent   string  `json:"parent,omitempty"`   // name of the program that started it
	Terminal string  `json:"terminal,omitempty"` // such as pts/3; "" without one
	Session  string  `json:"session,omitempty"`  // of the page: a name that is not a secret
	Tracker  string  `json:"tracker,omitempty"`
	Account  string  `json:"account,omitempty"` // as the tracker gives it; "" if unknown
}

// ViaKind is the kind of surface an action came through.
type ViaKind string

// The kinds of surfaces.
const (
	ViaSocket  ViaKind = "socket"  // a command, the dashboard or another client of the socket
	ViaPage    ViaKind = "page"    // a session of the web page
	ViaToken   ViaKind = "token"   // a program that sent the page's token
	ViaMCP     ViaKind = "mcp"     // an MCP client, over stdio or HTTP
	ViaTracker ViaKind = "tracker" // a tracker or forge
)

// Size limits of the stored texts, in bytes.
const (
	maxViaName = 80
	maxViaPath = 400
)

// SanitizedCopy returns v with its texts limited in length and printable. An unknown kind
// becomes ViaSocket.
func (v Via) SanitizedCopy() Via {
	switch v.Kind {
	case ViaSocket, ViaPage, ViaToken, ViaMCP, ViaTracker:
	default:
		v.Kind = ViaSocket
	}
	v.PID = max(v.PID, 0)
	v.Path = printableText(v.Path, maxViaPath)
	for _, text := range []*string{&v.Program, &v.Parent, &v.Terminal, &v.Session, &v.Tracker, &v.Account} {
		*text = printableText(*text, maxViaName)
	}
	return v
}

// printableText returns text without control, invisible and reordering characters, at most n
// bytes.
func printableText(s string, n int) string {
	s = strings.Map(func(r rune) rune {
		if r == unicode.ReplacementChar || !unicode.IsPrint(r) {
			return -1
		}
		return r
	}, s[:min(len(s), 4*n)])
	if len(s) > n {
		s = strings.ToValidUTF8(s[:n], "")
	}
	return strings.TrimSpace(s)
}

// String returns v in a few words: orange from bash, pts/3, pid 4711.
func (v Via) String() string {
	var parts []string
	program := v.Program
	if program != "" && v.Parent != "" {
		program += " from " + v.Parent
	}
	switch v.Kind {
	case ViaPage:
		parts = append(parts, strings.TrimSpace("page session "+v.Session))
	case ViaToken:
		parts = append(parts, "page token")
	case ViaMCP:
		parts = append(parts, "MCP")
	case ViaTracker:
		account := v.Account
		if account == "" {
			account = "unnamed account"
		}
		return strings.TrimSuffix(account+" in "+v.Tracker, " in ")
	}
	for _, text := range []string{program, v.Terminal} {
		if text != "" {
			parts = append(parts, text)
		}
	}
	if v.PID > 0 {
		parts = append(parts, fmt.Sprintf("pid %d", v.PID))
	}
	if len(parts) == 0 {
		return "unknown process"
	}
	return strings.Join(parts, ", ")
}
