package main

import (
	"bytes"
	"crypto/sha256"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"text/template"
)

// writeFormula writes the Homebrew formula, if the archives that it names are there.
func (r release) writeFormula() error {
	if len(r.targets) != len(allTargets) {
		return nil
	}
	text, err := os.ReadFile(filepath.Join(r.repo, "packaging", "orange.rb.tmpl"))
	if err != nil {
		return err
	}
	page, err := template.New("orange.rb").Option("missingkey=error").Parse(string(text))
	if err != nil {
		return err
	}
	values := map[string]any{"Version": r.version}
	for _, t := range r.targets {
		name := r.archiveName(t) + ".tar.gz"
		sum, err := sumFile(filepath.Join(r.out, name))
		if err != nil {
			return err
		}
		values[t.os+"_"+t.arch] = map[string]string{"URL": r.baseURL + "/v" + r.version + "/" + name, "Sum": sum}
	}
	var out bytes.Buffer
	if err := page.Execute(&out, values); err != nil {
		return err
	}
	return os.WriteFile(filepath.Join(r.out, "orange.rb"), out.Bytes(), 0o644)
}

// writeInstaller puts the version and the address into install.sh.
func (r release) writeInstaller() error {
	text, err := os.ReadFile(filepath.Join(r.repo, "packaging", "install.sh"))
	if err != nil {
		return err
	}
	stamped := strings.NewReplacer("@VERSION@", r.version, "@BASE_URL@", r.baseURL).Replace(string(text))
	return os.WriteFile(filepath.Join(r.out, "install.sh"), []byte(stamped), 0o755)
}

// writeSums writes SHA256SUMS in the form that sha256sum -c reads.
func (r release) writeSums() error {
	entries, err := os.ReadDir(r.out)
	if err != nil {
		return err
	}
	var out bytes.Buffer
	for _, e := range entries { // sorted by name
		sum, err := sumFile(filepath.Join(r.out, e.Name()))
		if err != nil {
			return err
		}
		fmt.Fprintf(&out, "%s  %s\n", sum, e.Name())
	}
	return os.WriteFile(filepath.Join(r.out, "SHA256SUMS"), out.Bytes(), 0o644)
}

func sumFile(path string) (string, error) {
	content, err := os.ReadFile(path)
	if err != nil {
		return "", err
	}
	return fmt.Sprintf("%x", sha256.Sum256(content)), nil
}
