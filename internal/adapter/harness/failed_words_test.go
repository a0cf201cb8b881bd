package harness

import "testing"

func TestOfAnErrorInJSONTheMessageIsShown(t *testing.T) {
	for text, want := range map[string]string{
		`{"error":{"code":null,"message":"the moon is full","param":null,"type":"invalid_request_error"}}`: "the moon is full",
		`API Error: 400 {"type":"error","error":{"type":"invalid_request_error","message":"too {long}"}} `: "API Error: 400 too {long}",
		`{"error":"overloaded"}`:             `{"error":"overloaded"}`,
		`{"error":{"message":""}}`:           `{"error":{"message":""}}`,
		`unexpected { in {"error":{}}`:       `unexpected { in {"error":{}}`,
		`the key SCRIPTED_KEY is not set`:    `the key SCRIPTED_KEY is not set`,
		`{"error":{"message":"cut off in th`: `{"error":{"message":"cut off in th`,
	} {
		if got := errorWords(text); got != want {
			t.Errorf("%s: %q, want %q", text, got, want)
		}
	}
}
