package scriptedmodel

import (
	"os"
	"path/filepath"
	"testing"
	"unicode/utf8"
)

// isPlain reports whether a text comes out of JSON as it went in.
func isPlain(text string) bool { return utf8.ValidString(text) }

func paths() []string {
	return []string{"/v1/messages", "/v1/responses", "/v1/chat/completions", "/v1beta/models/m:generateContent", "/v1beta/models/m:streamGenerateContent"}
}

func FuzzNoRequestBreaksTheModel(f *testing.F) {
	files, err := filepath.Glob(filepath.Join("testdata", "*.json"))
	if err != nil || len(files) == 0 {
		f.Fatal("no samples were found")
	}
	for _, file := range files {
		text, err := os.ReadFile(file)
		if err != nil {
			f.Fatal(err)
		}
		f.Add(text)
	}
	f.Add([]byte(`{"messages":[{"role":"user","content":[null,{"text":7}]}],"tools":[{}],"input":"x","contents":[{}]}`))
	f.Fuzz(func(t *testing.T, body []byte) {
		m := newModel(t, workAndMore()...)
		for i, path := range paths() {
			w := post(m, path, string(body))
			if w.Code != 200 && w.Code != 400 {
				t.Errorf("%s was answered with %d", path, w.Code)
			}
			if n := len(m.Requests()); n != i+1 {
				t.Fatalf("%d requests are in the log, not %d", n, i+1)
			}
		}
	})
}

func TestWhatIsNotTheProtocolIsRefused(t *testing.T) {
	for name, body := range map[string]string{"nothing": "", "no JSON": "hello", "another shape": `{"messages":1,"input":1,"contents":1}`} {
		t.Run(name, func(t *testing.T) {
			m := newModel(t)
			for _, path := range paths() {
				if w := post(m, path, body); w.Code != 400 {
					t.Errorf("%s was answered with %d", path, w.Code)
				}
			}
			for _, r := range m.Requests() {
				if r.Kind != Unreadable || r.Answer == "" {
					t.Errorf("the log says %q, %q", r.Kind, r.Answer)
				}
			}
		})
	}
}

func TestTheResponsesProtocolTakesATextAlone(t *testing.T) {
	m := newModel(t, workAndMore()...)
	post(m, "/v1/responses", `{"input":"begin [[script:work]]","tools":[{"type":"local_shell"}]}`)
	got := m.Requests()[0]
	if got.Script != "work" || got.Turn != 0 || got.Answer != `local_shell {"command":"echo one > one.txt && cat one.txt"}` {
		t.Errorf("the log says %+v", got)
	}
}
