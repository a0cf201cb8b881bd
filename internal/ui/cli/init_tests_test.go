package cli

import (
	"os"
	"path/filepath"
	"slices"
	"testing"
)

func TestFindTestCommands(t *testing.T) {
	for name, c := range map[string]struct {
		files map[string]string
		want  []string
	}{
		"nothing":                         {nil, nil},
		"a makefile with both":            {map[string]string{"Makefile": ".PHONY: test check\ntest: build\n\tgo test\nall check:: test\n"}, []string{"make test", "make check"}},
		"a makefile without":              {map[string]string{"Makefile": ".PHONY: test\ntest := yes\ncheck ::= no\n# test: no\nall:\n\techo test: ok\ntests:\nx = test:\n"}, nil},
		"make reads GNUmakefile first":    {map[string]string{"GNUmakefile": "check:\n", "Makefile": "test:\n"}, []string{"make check"}},
		"a test script":                   {map[string]string{"package.json": `{"scripts":{"test":"vitest"}}`}, []string{"npm test"}},
		"what npm init writes":            {map[string]string{"package.json": `{"scripts":{"test":"echo \"Error: no test specified\" && exit 1"}}`}, nil},
		"a package.json of other scripts": {map[string]string{"package.json": `{"scripts":{"build":"tsc"}}`}, nil},
		"a damaged package.json":          {map[string]string{"package.json": `{"scripts":`}, nil},
		"all of them": {map[string]string{"makefile": "test:\n", "package.json": `{"scripts":{"test":"jest"}}`, "go.mod": "module a\n", "Cargo.toml": "[package]\n"},
			[]string{"make test", "npm test", "go test ./...", "cargo test"}},
	} {
		t.Run(name, func(t *testing.T) {
			dir := t.TempDir()
			for file, text := range c.files {
				if err := os.WriteFile(filepath.Join(dir, file), []byte(text), 0o600); err != nil {
					t.Fatal(err)
				}
			}
			if err := os.Mkdir(filepath.Join(dir, "go.mod"), 0o700); err != nil && !os.IsExist(err) {
				t.Fatal(err)
			}
			if got := findTestCommands(dir); !slices.Equal(got, c.want) {
				t.Errorf("found %q, want %q", got, c.want)
			}
		})
	}
}
