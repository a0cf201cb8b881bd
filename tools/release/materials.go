package main

import (
	"bytes"
	"crypto/sha256"
	"debug/buildinfo"
	"encoding/base64"
	"encoding/hex"
	"fmt"
	"os"
	"path/filepath"
	"runtime/debug"
	"strings"
	"time"

	cdx "github.com/CycloneDX/cyclonedx-go"
)

// writeMaterials writes a bill of materials (CycloneDX) for the program of every target, from
// the build information inside it.
func (r release) writeMaterials() error {
	for _, t := range r.targets {
		content, err := os.ReadFile(r.program(t))
		if err != nil {
			return err
		}
		info, err := buildinfo.Read(bytes.NewReader(content))
		if err != nil {
			return err
		}
		bom, err := r.listMaterials(t, info, sha256.Sum256(content))
		if err != nil {
			return err
		}
		var text bytes.Buffer
		if err := cdx.NewBOMEncoder(&text, cdx.BOMFileFormatJSON).SetPretty(true).Encode(bom); err != nil {
			return err
		}
		if err := os.WriteFile(filepath.Join(r.out, r.archiveName(t)+".cdx.json"), text.Bytes(), 0o644); err != nil {
			return err
		}
	}
	return nil
}

func (r release) listMaterials(t target, info *debug.BuildInfo, sum [32]byte) (*cdx.BOM, error) {
	program := cdx.Component{
		BOMRef: "orange", Type: cdx.ComponentTypeApplication, Name: "orange", Version: r.version,
		Hashes:     &[]cdx.Hash{{Algorithm: cdx.HashAlgoSHA256, Value: hex.EncodeToString(sum[:])}},
		Licenses:   &cdx.Licenses{{License: &cdx.License{ID: "Apache-2.0"}}},
		Properties: &[]cdx.Property{{Name: "orange:platform", Value: t.String()}, {Name: "orange:commit", Value: r.commit}},
	}
	components := []cdx.Component{{
		BOMRef: "pkg:golang/std@" + goVersion(info), Type: cdx.ComponentTypeLibrary, Name: "std", Version: goVersion(info),
		PackageURL: "pkg:golang/std@" + goVersion(info),
	}}
	for _, m := range info.Deps {
		if m.Replace != nil {
			m = m.Replace
		}
		c := cdx.Component{
			BOMRef: "pkg:golang/" + m.Path + "@" + m.Version, Type: cdx.ComponentTypeLibrary, Name: m.Path, Version: m.Version,
			PackageURL: "pkg:golang/" + m.Path + "@" + m.Version,
		}
		if hash, err := moduleHash(m.Sum); err != nil {
			return nil, fmt.Errorf("sum of %s: %w", m.Path, err)
		} else if hash != "" {
			c.Hashes = &[]cdx.Hash{{Algorithm: cdx.HashAlgoSHA256, Value: hash}}
		}
		components = append(components, c)
	}
	refs := []string{}
	for _, c := range components {
		refs = append(refs, c.BOMRef)
	}
	bom := cdx.NewBOM()
	bom.SerialNumber = serialNumber(sum)
	bom.Metadata = &cdx.Metadata{Timestamp: r.at.Format(time.RFC3339), Component: &program}
	bom.Components = &components
	bom.Dependencies = &[]cdx.Dependency{{Ref: "orange", Dependencies: &refs}}
	return bom, nil
}

func goVersion(info *debug.BuildInfo) string { return strings.TrimPrefix(info.GoVersion, "go") }

// moduleHash turns a sum of go.sum, h1: and base64, into hex. A module from a folder has none.
func moduleHash(sum string) (string, error) {
	text, ok := strings.CutPrefix(sum, "h1:")
	if !ok {
		return "", nil
	}
	hash, err := base64.StdEncoding.DecodeString(text)
	return hex.EncodeToString(hash), err
}

// serialNumber is a UUID (version 8) made from the sum of the program: the same program has
// the same number.
func serialNumber(sum [32]byte) string {
	u := [16]byte(sum[:16])
	u[6] = u[6]&0x0f | 0x80
	u[8] = u[8]&0x3f | 0x80
	return fmt.Sprintf("urn:uuid:%x-%x-%x-%x-%x", u[:4], u[4:6], u[6:8], u[8:10], u[10:])
}
