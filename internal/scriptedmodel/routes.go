package scriptedmodel

import (
	"net/http"
	"strings"
)

// protocol is one API of a model.
type protocol struct {
	name  string
	read  func(r *http.Request, body []byte) (modelRequest, error)
	write func(w http.ResponseWriter, a modelRequest, out reply)
	fail  func(w http.ResponseWriter, f fault)
}

// protocolOf returns the protocol for the end of a path: a base URL may have any beginning.
func protocolOf(path string) (protocol, bool) {
	switch {
	case strings.HasSuffix(path, "/messages"):
		return protocol{"anthropic", readAnthropic, writeAnthropic, failAnthropic}, true
	case strings.HasSuffix(path, "/responses"):
		return protocol{"responses", readResponses, writeResponses, failResponses}, true
	case strings.HasSuffix(path, "/chat/completions"):
		return protocol{"chat", readChat, writeChat, failChat}, true
	case strings.HasSuffix(path, ":generateContent"), strings.HasSuffix(path, ":streamGenerateContent"):
		return protocol{"gemini", readGemini, writeGemini, failGemini}, true
	}
	return protocol{}, false
}

// serveRest answers the other requests of CLIs: lists of models, token counts, health checks.
func (m *Model) serveRest(w http.ResponseWriter, r *http.Request) {
	record := Request{Kind: Listed, Method: r.Method, Path: r.URL.Path, Turn: -1}
	path := r.URL.Path
	switch {
	case strings.HasSuffix(path, "/count_tokens"):
		writeJSON(w, http.StatusOK, jsonObject{"input_tokens": ordinaryUsage().Input})
	case strings.HasSuffix(path, ":countTokens"):
		writeJSON(w, http.StatusOK, jsonObject{"totalTokens": ordinaryUsage().Input})
	case strings.HasSuffix(path, "/models"):
		writeJSON(w, http.StatusOK, modelList())
	case r.Method == http.MethodHead, path == "/":
		w.WriteHeader(http.StatusOK)
	default:
		record.Kind = Unknown
		writeJSON(w, http.StatusNotFound, jsonObject{"error": jsonObject{"message": "the scripted model does not serve " + path}})
	}
	m.appendRequest(record)
}

// ModelName is the model in the lists of models. Any other name is served as well.
const ModelName = "scripted-1"

// modelList returns a list of models that is valid in every protocol.
func modelList() jsonObject {
	return jsonObject{
		"object":   "list",
		"has_more": false,
		"data":     []jsonObject{{"id": ModelName, "object": "model", "type": "model", "display_name": ModelName, "owned_by": "script"}},
		"models":   []jsonObject{{"name": "models/" + ModelName, "displayName": ModelName, "supportedGenerationMethods": []string{"generateContent", "countTokens"}}},
	}
}
