package harness

import (
	"os"
	"path/filepath"
	"testing"
)

func TestCheckScript(t *testing.T) {
	dir := t.TempDir()
	file := filepath.Join(dir, "play.yaml")
	if err := os.WriteFile(file, nil, 0o600); err != nil {
		t.Fatal(err)
	}
	tests := map[string]struct{ name, variable, want string }{
		"a file":                {"script:" + file, "", ""},
		"a file in a variable":  {"script", file, ""},
		"another agent":         {"command:no-such-program", "", ""},
		"no file":               {"script:/no/such/play.yaml", "", "there is no script /no/such/play.yaml: give the whole path of one, as in script:/home/me/demo.yaml"},
		"below a file":          {"script:" + file + "/x", "", "the script " + file + "/x cannot be read: give another"},
		"a folder":              {"script:" + dir, "", dir + " is a folder or a device, not a script: give a file"},
		"a device":              {"script:/dev/null", "", "/dev/null is a folder or a device, not a script: give a file"},
		"nothing in a variable": {"script", "", "harness script: name the file, as script:FILE with its whole path or in ORANGE_SCRIPT"},
		"half a path":           {"script", "play.yaml", "harness script: name the file, as script:FILE with its whole path or in ORANGE_SCRIPT"},
		"an odd name":           {"script:/a\nb\x1b[31m", "", "there is no script /a b: give the whole path of one, as in script:/home/me/demo.yaml"},
	}
	for name, tt := range tests {
		t.Run(name, func(t *testing.T) {
			h, err := Find(tt.name)
			if err != nil {
				t.Fatal(err)
			}
			said := ""
			if err := CheckScript(h, func(string) string { return tt.variable }); err != nil {
				said = err.Error()
			}
			if said != tt.want {
				t.Errorf("it says %q, not %q", said, tt.want)
			}
		})
	}
}
