package api

import (
	"encoding/json"
	"fmt"
	"net/http"
	"reflect"
	"slices"
	"strings"
	"sync"

	"github.com/google/jsonschema-go/jsonschema"

	"orange/internal/wire"
)

// A Description is the OpenAPI 3.1 document of this API.
type Description struct {
	OpenAPI    string                          `json:"openapi"`
	Info       docInfo                         `json:"info"`
	Servers    []docServer                     `json:"servers"`
	Security   []map[string][]string           `json:"security"`
	Tags       []docTag                        `json:"tags"`
	Paths      map[string]map[string]operation `json:"paths"`
	Components components                      `json:"components"`
}

type docInfo struct {
	Title       string `json:"title"`
	Version     string `json:"version"`
	Description string `json:"description"`
}

type docServer struct {
	URL         string `json:"url"`
	Description string `json:"description"`
}

type docTag struct {
	Name string `json:"name"`
}

type operation struct {
	ID         string              `json:"operationId"`
	Summary    string              `json:"summary"`
	Who        string              `json:"description"`
	Tags       []string            `json:"tags"`
	Parameters []parameter         `json:"parameters,omitempty"`
	Body       *body               `json:"requestBody,omitempty"`
	Responses  map[string]response `json:"responses"`
}

type parameter struct {
	Ref      string             `json:"$ref,omitempty"`
	Name     string             `json:"name,omitempty"`
	In       string             `json:"in,omitempty"`
	Required bool               `json:"required,omitempty"`
	About    string             `json:"description,omitempty"`
	Schema   *jsonschema.Schema `json:"schema,omitempty"`
}

type body struct {
	Required bool             `json:"required"`
	Content  map[string]media `json:"content"`
}

type response struct {
	Ref     string            `json:"$ref,omitempty"`
	About   string            `json:"description,omitempty"`
	Headers map[string]header `json:"headers,omitempty"`
	Content map[string]media  `json:"content,omitempty"`
}

type media struct {
	Schema *jsonschema.Schema            `json:"schema,omitempty"`
	Events map[string]*jsonschema.Schema `json:"x-events,omitempty"` // of a stream: the data of each event, by its name
}

type header struct {
	Ref    string             `json:"$ref,omitempty"`
	About  string             `json:"description,omitempty"`
	Schema *jsonschema.Schema `json:"schema,omitempty"`
}

type components struct {
	Schemas    map[string]*jsonschema.Schema `json:"schemas"`
	Parameters map[string]parameter          `json:"parameters"`
	Headers    map[string]header             `json:"headers"`
	Responses  map[string]response           `json:"responses"`
	Security   map[string]map[string]string  `json:"securitySchemes"`
}

const aboutAPI = "Orange over HTTP and JSON, on a unix socket that only its owner can open. " +
	"A person shows nothing; an attempt shows its token. docs/API.md says what words mean."

// BuildDescription builds the description of the API from its routes and their types. An error is a bug in those.
func BuildDescription(release string) (*Description, error) {
	names := newSchemas()
	doc := &Description{
		OpenAPI: "3.1.0", Info: docInfo{"Orange", release, aboutAPI},
		Servers: []docServer{
			{"http://orange" + wire.Root, "over the unix socket: curl --unix-socket SOCKET http://orange/v1/hello"},
			{"http://orange" + wire.Alias, "the same by another name"},
		},
		Security: []map[string][]string{{}, {"token": {}}},
		Paths:    map[string]map[string]operation{},
	}
	for _, rt := range allRoutes() {
		if doc.Paths[rt.path] == nil {
			doc.Paths[rt.path] = map[string]operation{}
		}
		doc.Paths[rt.path][strings.ToLower(rt.method)] = operationOf(&rt, names)
		if tag := (docTag{rt.group}); !slices.Contains(doc.Tags, tag) {
			doc.Tags = append(doc.Tags, tag)
		}
	}
	doc.Components = commonParts(names)
	return doc, names.err
}

// commonParts returns what all operations share.
func commonParts(names *schemas) components {
	number, text := &jsonschema.Schema{Type: "integer"}, &jsonschema.Schema{Type: "string"}
	failure := names.schemaOf(reflect.TypeFor[wire.Failure](), false)
	return components{
		Schemas: names.named,
		Parameters: map[string]parameter{
			"Api":         {Name: wire.HeaderAPI, In: "header", About: "version of the interface that the client speaks; another one than the server's is refused with 426", Schema: number},
			"LastEventID": {Name: wire.HeaderLastEventID, In: "header", About: "id of the last event that was seen: the stream goes on behind it", Schema: number},
		},
		Headers: map[string]header{
			"Api":     {About: "version of the interface that the server speaks", Schema: number},
			"Version": {About: "version of the program", Schema: text},
		},
		Responses: map[string]response{
			"Failure": {About: "It came to nothing. The error is one line", Headers: handshakeHeaders(), Content: map[string]media{"application/json": {Schema: failure}}},
		},
		Security: map[string]map[string]string{
			"token": {"type": "apiKey", "in": "header", "name": wire.HeaderToken, "description": "shown by an attempt, which has it in ORANGE_TOKEN"},
		},
	}
}

func handshakeHeaders() map[string]header {
	return map[string]header{wire.HeaderAPI: {Ref: "#/components/headers/Api"}, wire.HeaderVersion: {Ref: "#/components/headers/Version"}}
}

// operationOf returns the operation of one route.
func operationOf(rt *route, names *schemas) operation {
	op := operation{ID: operationID(rt), Summary: rt.summary, Who: "Asked for by " + string(rt.who) + ".", Tags: []string{rt.group}, Parameters: parametersOf(rt)}
	if rt.work.in != nil {
		op.Body = &body{Required: true, Content: map[string]media{"application/json": {Schema: requestOf(rt, names)}}}
		if rt.work.or != "" {
			op.Body.Content[rt.work.or] = media{Schema: &jsonschema.Schema{Type: "string"}}
		}
	}
	op.Responses = map[string]response{
		"200":     {About: rt.summary, Headers: handshakeHeaders(), Content: contentOf(rt, names)},
		"default": {Ref: "#/components/responses/Failure"},
	}
	if rt.work.out == reflect.TypeFor[wire.Answer]() {
		op.Responses["409"] = response{About: "It was refused: nothing was written", Headers: handshakeHeaders(), Content: contentOf(rt, names)}
	}
	return op
}

// operationID returns the name of a route for programs: GET /tasks/{id}/screen is getTasksIdScreen.
func operationID(rt *route) string {
	id := strings.ToLower(rt.method)
	for _, word := range strings.FieldsFunc(rt.path, func(r rune) bool { return strings.ContainsRune("/{}.", r) }) {
		id += strings.ToUpper(word[:1]) + word[1:]
	}
	return id
}

func parametersOf(rt *route) []parameter {
	out := []parameter{}
	if rt.path != wire.PathHello && rt.path != wire.PathStop {
		out = append(out, parameter{Ref: "#/components/parameters/Api"})
	}
	for _, part := range strings.Split(rt.path, "/") {
		if name, ok := strings.CutPrefix(part, "{"); ok {
			name = strings.TrimSuffix(name, "}")
			out = append(out, parameter{Name: name, In: "path", Required: true, About: placeholderDescriptions()[name], Schema: &jsonschema.Schema{Type: "string"}})
		}
	}
	for _, p := range rt.query {
		kind := "string"
		if p.kind != "" {
			kind = p.kind
		}
		out = append(out, parameter{Name: p.name, In: "query", Required: p.must, About: p.about, Schema: &jsonschema.Schema{Type: kind}})
	}
	if rt.work.event != "" && rt.work.event != wire.EventScreen {
		out = append(out, parameter{Ref: "#/components/parameters/LastEventID"})
	}
	return out
}

// placeholderDescriptions describes the placeholders of paths.
func placeholderDescriptions() map[string]string {
	return map[string]string{
		"id": "id of a task, or a beginning of it that no other has", "project": "name of a project", "number": "number of a card",
		"hash": "a task's whole workflow_hash", "name": "name of a project or a tracker",
	}
}

// requestOf returns the schema of a route's request, with its required fields.
func requestOf(rt *route, names *schemas) *jsonschema.Schema {
	out := names.schemaOf(rt.work.in, true)
	if len(rt.must) == 0 {
		return out
	}
	for _, name := range rt.must {
		if in := names.named[names.schemaName(rt.work.in, true)]; in.Properties[name] == nil {
			names.err = fmt.Errorf("describe %s: %s has no field %q", rt.muxPattern(), rt.work.in, name)
		}
	}
	return &jsonschema.Schema{AllOf: []*jsonschema.Schema{out}, Required: rt.must}
}

// contentOf returns the content of a route's response.
func contentOf(rt *route, names *schemas) map[string]media {
	switch data := names.schemaOf(rt.work.out, false); {
	case rt.work.event != "":
		text := &jsonschema.Schema{Type: "string", Description: "server-sent events; the data of each is JSON, and x-events says of what form"}
		return map[string]media{wire.TypeEventStream: {Schema: text, Events: map[string]*jsonschema.Schema{rt.work.event: data}}}
	case rt.work.lines:
		return map[string]media{wire.TypeJSONLines: {Schema: &jsonschema.Schema{Type: "string", Description: "one JSON value on each line"}}}
	default:
		return map[string]media{"application/json": {Schema: data}}
	}
}

// descriptionCache builds the description once.
type descriptionCache struct {
	once sync.Once
	text []byte
	err  error
}

func (s *Server) openAPI(w http.ResponseWriter, _ *http.Request) {
	s.description.once.Do(func() {
		var doc *Description
		if doc, s.description.err = BuildDescription(s.Release); s.description.err == nil {
			s.description.text, s.description.err = json.Marshal(doc)
		}
	})
	s.replyOr(w, json.RawMessage(s.description.text), s.description.err)
}
