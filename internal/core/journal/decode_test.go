package journal

import (
	"bytes"
	"reflect"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
)

// full is an entry in which nothing is empty.
func full() Entry {
	var e Entry
	n := 0
	fill(reflect.ValueOf(&e).Elem(), &n)
	return e
}

func fill(v reflect.Value, n *int) {
	*n++
	switch v.Kind() {
	case reflect.String:
		v.SetString(strings.Repeat("x", *n%7+1))
	case reflect.Int:
		v.SetInt(int64(*n - 50))
	case reflect.Bool:
		v.SetBool(true)
	case reflect.Pointer:
		v.Set(reflect.New(v.Type().Elem()))
		fill(v.Elem(), n)
	case reflect.Slice:
		v.Set(reflect.MakeSlice(v.Type(), 2, 2))
		fill(v.Index(0), n)
		fill(v.Index(1), n)
	case reflect.Struct:
		if v.Type() == reflect.TypeFor[time.Time]() {
			v.Set(reflect.ValueOf(time.Unix(int64(*n), 1000*int64(*n)).UTC()))
			return
		}
		for i := range v.NumField() {
			fill(v.Field(i), n)
		}
	}
}

func TestWhatIsWrittenIsReadWithoutHelp(t *testing.T) {
	odd := full()
	odd.Note = "a \"quoted\" \\ <b> & more,\nßüß \\"
	for name, e := range map[string]Entry{"everything": full(), "as little as possible": {}, "odd text": odd} {
		t.Run(name, func(t *testing.T) {
			text, err := Encode(&e)
			if err != nil {
				t.Fatal(err)
			}
			var got Entry
			s := scanner{text: text, at: len(formatHead)}
			if s.readFields(entryShape().fields, reflect.ValueOf(&got).Elem()); s.lost || s.at != len(text) {
				t.Fatalf("lost after %s", text[:s.at])
			}
			if diff := cmp.Diff(e, got); diff != "" {
				t.Error(diff)
			}
		})
	}
}

// FuzzDecode: whatever the text is, Decode reads it as encoding/json does.
func FuzzDecode(f *testing.F) {
	everything := full()
	everything.Type = TaskUpdated
	text, err := Encode(&everything)
	if err != nil {
		f.Fatal(err)
	}
	f.Add(text)
	f.Add([]byte(`{"task":"a","seq":1,"at":"2026-01-02T03:04:05Z","type":"task.created","to":"x","heard":{"face":{"column":"c"}},"effects":[{"aside":true}]}`))
	for _, from := range []string{
		`{"format":1}`, `{"format":2,"type":"task.created"}`, `{"format":1,"type":"task.created","move":{}}`, `{"format":1,}`, `{}`, ``, `{`, `null`, `[]`, `{"task":"a","seq":1,"at":"2026-01-02T03:04:05Z","type":"x"}`, ` {"seq":1}`, `{"seq": 1}`, `{"seq":1} `, `{"seq":1}x`,
		`{"type":"x","task":"a"}`, `{"task":"a","task":"b"}`, `{"TASK":"a"}`, `{"unknown":{"a":[1]},"task":"a"}`, `{"seq":01}`, `{"seq":-0}`, `{"seq":1.0}`,
		`{"seq":12345678901}`, `{"seq":"1"}`, `{"seq":null}`, `{"new":null}`, `{"effects":[]}`, `{"effects":[{}]}`, `{"effects":[{},]}`, `{"ending":[1,2]}`,
		`{"at":"2026-01-02"}`, `{"at":"2026-01-02T03:04:05+01:00"}`, `{"at":""}`, `{"unbind":true,"override":false}`, `{"unbind":truex}`, `{"note":"\u00e4\ud800"}`,
		"{\"note\":\"\xff\"}", "{\"note\":\"\n\"}", `{"note":"\\"}`, `{"note":"\\\""}`, `{"note":"a`, `{"note":"a\"}`, `{"ta\u0073k":"a"}`, `{,"seq":1}`, `{"seq":1,}`,
	} {
		f.Add([]byte(from))
		if rest, ok := strings.CutPrefix(from, "{"); ok {
			f.Add([]byte(formatHead + rest))
		}
	}
	f.Fuzz(func(t *testing.T, text []byte) {
		want, wantErr := decodeSlowly(bytes.Clone(text))
		got, err := Decode(bytes.Clone(text))
		if (err == nil) != (wantErr == nil) {
			t.Fatalf("%q: %v instead of %v", text, err, wantErr)
		}
		if diff := cmp.Diff(want, got); diff != "" {
			t.Errorf("%q: %s", text, diff)
		}
	})
}
