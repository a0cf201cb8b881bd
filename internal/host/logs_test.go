package host

import (
	"os"
	"path/filepath"
	"strings"
	"testing"
)

func TestWhatIsSecretIsTakenOut(t *testing.T) {
	file := filepath.Join(t.TempDir(), "key.json")
	check(t, os.WriteFile(file, []byte("{}"), 0o600))
	env := []string{"GOOGLE_APPLICATION_CREDENTIALS=" + file, "API_KEY=sk-live-0123456789", "HOME=/home/somebody"}
	for text, want := range map[string]string{
		"cannot read " + filepath.Dir(file) + "/a.go": "cannot read " + filepath.Dir(file) + "/a.go",
		"key sk-live-0123456789 is wrong":             "key [secret] is wrong",
		"key ...23456789 is wrong":                    "key ...[secret] is wrong",
		"key sk-live-... is wrong":                    "key [secret]... is wrong",
		"/home/somebody/a.go":                         "/home/somebody/a.go",
	} {
		if got := MaskSecrets(env, text); got != want {
			t.Errorf("%q: %q, want %q", text, got, want)
		}
	}
}

func TestTheEndOfAnOutput(t *testing.T) {
	const most = 64 << 10
	path := filepath.Join(t.TempDir(), "output.log")
	for name, tc := range map[string]struct {
		in, want string
		cut      bool
	}{
		"nothing":              {"", "", false},
		"a line":               {"one\n", "one", false},
		"colours and redrawn":  {"\x1b[31mred\x1b[0m\r\n10 %\r100 %\n", "red\n100 %", false},
		"no line end":          {"one\ntwo", "one\ntwo", false},
		"more than is read":    {"first\n" + strings.Repeat("y", most-4) + "\nend\n", "end", true},
		"one line, and no end": {strings.Repeat("y", most+9), strings.Repeat("y", most), true},
	} {
		t.Run(name, func(t *testing.T) {
			check(t, os.WriteFile(path, []byte(tc.in), 0o600))
			text, cut, err := readOutputEnd(path, most)
			check(t, err)
			want(t, strings.Join(outputLines(text), "\n"), tc.want)
			want(t, cut, tc.cut)
		})
	}
	if text, cut, err := readOutputEnd(path+"x", most); len(text) > 0 || cut || err != nil {
		t.Error(text, cut, err)
	}
}
