package scriptedmodel

import (
	"fmt"
	"io"
	"net/http"
)

// jsonObject is a JSON object that is written once and never read.
type jsonObject = map[string]any

func writeJSON(w http.ResponseWriter, status int, value any) {
	w.Header().Set("Content-Type", "application/json")
	w.WriteHeader(status)
	io.WriteString(w, compactJSON(value)+"\n")
}

// events is a stream of server-sent events. Write errors are ignored: the client is gone then.
type events struct {
	w http.ResponseWriter
}

func startEvents(w http.ResponseWriter) events {
	w.Header().Set("Content-Type", "text/event-stream")
	w.Header().Set("Cache-Control", "no-cache")
	w.WriteHeader(http.StatusOK)
	return events{w}
}

// sendEvent writes one event, with a name if the protocol uses names.
func (e events) sendEvent(name string, value any) {
	if name != "" {
		fmt.Fprintf(e.w, "event: %s\n", name)
	}
	e.sendData(compactJSON(value))
}

func (e events) sendData(data string) {
	fmt.Fprintf(e.w, "data: %s\n\n", data)
	if f, ok := e.w.(http.Flusher); ok {
		f.Flush()
	}
}

// splitInTwo splits a text in two, so that clients have to join it again.
func splitInTwo(text string) []string {
	runes := []rune(text)
	if len(runes) < 2 {
		return []string{text}
	}
	half := len(runes) / 2
	return []string{string(runes[:half]), string(runes[half:])}
}
