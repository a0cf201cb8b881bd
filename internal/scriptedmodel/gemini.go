package scriptedmodel

import (
	"encoding/json"
	"fmt"
	"net/http"
	"path"
	"strings"
)

type geminiRequest struct {
	Contents []struct {
		Role  string       `json:"role"`
		Parts []geminiPart `json:"parts"`
	} `json:"contents"`
	Tools []struct {
		Functions []struct {
			Name       string          `json:"name"`
			Parameters json.RawMessage `json:"parameters"`
			Schema     json.RawMessage `json:"parametersJsonSchema"`
		} `json:"functionDeclarations"`
	} `json:"tools"`
	Config struct {
		Schema     json.RawMessage `json:"responseSchema"`
		JSONSchema json.RawMessage `json:"responseJsonSchema"`
	} `json:"generationConfig"`
}

type geminiPart struct {
	Text    string          `json:"text"`
	Thought bool            `json:"thought"`
	Call    json.RawMessage `json:"functionCall"`
}

// readGemini decodes a request. The path contains the model and whether to stream.
func readGemini(r *http.Request, body []byte) (modelRequest, error) {
	var in geminiRequest
	if err := decodeRequest(body, &in); err != nil {
		return modelRequest{}, err
	}
	model, method, _ := strings.Cut(path.Base(r.URL.Path), ":")
	a := modelRequest{model: model, stream: method == "streamGenerateContent", schema: in.Config.JSONSchema}
	if a.schema == nil {
		a.schema = in.Config.Schema
	}
	for _, t := range in.Tools {
		for _, f := range t.Functions {
			schema := f.Schema
			if schema == nil {
				schema = f.Parameters
			}
			a.tools = append(a.tools, tool{name: f.Name, schema: schema})
		}
	}
	for _, c := range in.Contents {
		calls, texts := geminiParts(c.Parts)
		if c.Role == "model" {
			a.addAnswers(calls, texts)
		} else {
			a.addPrompt(texts)
		}
	}
	return a, nil
}

func geminiParts(parts []geminiPart) (calls int, texts []string) {
	for _, p := range parts {
		switch {
		case p.Call != nil:
			calls++
		case p.Text != "" && !p.Thought:
			texts = append(texts, p.Text)
		}
	}
	return calls, texts
}

// geminiUsage includes cached tokens in the prompt.
func (u Usage) geminiUsage() jsonObject {
	prompt := u.Input + u.CacheRead + u.CacheWrite
	return jsonObject{
		"promptTokenCount": prompt, "candidatesTokenCount": u.Output, "totalTokenCount": prompt + u.Output,
		"cachedContentTokenCount": u.CacheRead,
	}
}

func writeGemini(w http.ResponseWriter, a modelRequest, out reply) {
	whole := func(parts []jsonObject, last bool) jsonObject {
		candidate := jsonObject{"index": 0, "content": jsonObject{"role": "model", "parts": parts}}
		response := jsonObject{"candidates": []jsonObject{candidate}, "modelVersion": a.model, "responseId": fmt.Sprintf("response-%d", out.number)}
		if last {
			candidate["finishReason"] = "STOP"
			response["usageMetadata"] = out.usage.geminiUsage()
		}
		return response
	}
	parts := []jsonObject{{"text": out.text}}
	if out.call != nil {
		parts = []jsonObject{{"functionCall": jsonObject{"name": out.call.tool.name, "args": out.call.arguments}}}
	}
	if !a.stream {
		writeJSON(w, http.StatusOK, whole(parts, true))
		return
	}
	e := startEvents(w)
	if out.call == nil {
		texts := splitInTwo(out.text)
		for _, piece := range texts[:len(texts)-1] {
			e.sendEvent("", whole([]jsonObject{{"text": piece}}, false))
		}
		parts = []jsonObject{{"text": texts[len(texts)-1]}}
	}
	e.sendEvent("", whole(parts, true))
}

// failGemini sends an error response. A used-up limit is a daily one, because clients wait for
// the end of limits per minute.
func failGemini(w http.ResponseWriter, f fault) {
	detail := jsonObject{"code": f.status, "message": f.message, "status": geminiStatus(f.status)}
	if f.resetIn > 0 {
		const types = "type.googleapis.com/google.rpc."
		violation := jsonObject{"quotaMetric": "generativelanguage.googleapis.com/generate_content_requests", "quotaId": "GenerateRequestsPerDayPerProjectPerModel"}
		detail["details"] = []jsonObject{
			{"@type": types + "QuotaFailure", "violations": []jsonObject{violation}},
			{"@type": types + "RetryInfo", "retryDelay": fmt.Sprintf("%ds", int(f.resetIn.Seconds()))},
		}
	}
	writeJSON(w, f.status, jsonObject{"error": detail})
}

func geminiStatus(status int) string {
	switch status {
	case http.StatusBadRequest:
		return "INVALID_ARGUMENT"
	case http.StatusUnauthorized:
		return "UNAUTHENTICATED"
	case http.StatusForbidden:
		return "PERMISSION_DENIED"
	case http.StatusTooManyRequests:
		return "RESOURCE_EXHAUSTED"
	case http.StatusServiceUnavailable:
		return "UNAVAILABLE"
	}
	return "INTERNAL"
}
