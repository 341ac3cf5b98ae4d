// Command sbom prints what is in the programs that are named, as a CycloneDX document: the Go modules that were linked, with the sums
// that they were fetched by, and the npm packages that the page is made of. The same programs give the same bytes.
package main

import (
	"debug/buildinfo"
	"encoding/base64"
	"encoding/hex"
	"encoding/json"
	"flag"
	"fmt"
	"maps"
	"os"
	"path/filepath"
	"slices"
	"strings"
)

func main() {
	version := flag.String("version", "", "version of the programs")
	lock := flag.String("lock", "", "package-lock.json of the page")
	flag.Parse()
	if err := run(*version, *lock, flag.Args()); err != nil {
		fmt.Fprintln(os.Stderr, "sbom:", err)
		os.Exit(1)
	}
}

// The parts of a CycloneDX 1.6 document that are used here.
type (
	document struct {
		Format      string      `json:"bomFormat"`
		SpecVersion string      `json:"specVersion"`
		Version     int         `json:"version"`
		Metadata    metadata    `json:"metadata"`
		Components  []component `json:"components"`
	}
	metadata struct {
		Component component `json:"component"`
	}
	component struct {
		Type    string `json:"type"`
		Ref     string `json:"bom-ref"`
		Name    string `json:"name"`
		Version string `json:"version"`
		Purl    string `json:"purl,omitempty"`
		Hashes  []hash `json:"hashes,omitempty"`
	}
	hash struct {
		Alg     string `json:"alg"`
		Content string `json:"content"`
	}
)

func run(version, lock string, programs []string) error {
	parts := map[string]component{}
	for _, path := range programs {
		info, err := buildinfo.ReadFile(path)
		if err != nil {
			return fmt.Errorf("%s: %w", filepath.Base(path), err)
		}
		toolchain := component{Type: "platform", Name: "go", Version: strings.TrimPrefix(info.GoVersion, "go"), Purl: "pkg:golang/stdlib@" + strings.TrimPrefix(info.GoVersion, "go")}
		parts[toolchain.Purl] = toolchain
		for _, m := range info.Deps {
			if m.Replace != nil {
				m = m.Replace
			}
			c := component{Type: "library", Name: m.Path, Version: m.Version, Purl: "pkg:golang/" + strings.ToLower(m.Path) + "@" + m.Version}
			if sum, ok := strings.CutPrefix(m.Sum, "h1:"); ok {
				raw, err := base64.StdEncoding.DecodeString(sum)
				if err != nil {
					return fmt.Errorf("sum of %s: %w", m.Path, err)
				}
				c.Hashes = []hash{{"SHA-256", hex.EncodeToString(raw)}}
			}
			parts[c.Purl] = c
		}
	}
	if err := page(lock, parts); err != nil {
		return err
	}
	doc := document{Format: "CycloneDX", SpecVersion: "1.6", Version: 1,
		Metadata: metadata{component{Type: "application", Ref: "termic", Name: "termic", Version: version}}}
	for _, purl := range slices.Sorted(maps.Keys(parts)) {
		c := parts[purl]
		c.Ref = purl
		doc.Components = append(doc.Components, c)
	}
	enc := json.NewEncoder(os.Stdout)
	enc.SetIndent("", "  ")
	enc.SetEscapeHTML(false)
	return enc.Encode(doc)
}

// bundled are tools of the build of which a part is in the page.
var bundled = []string{"svelte"}

// page adds the packages of the lock file that are no mere tools of the build.
func page(lock string, parts map[string]component) error {
	text, err := os.ReadFile(lock)
	if err != nil {
		return err
	}
	var l struct {
		Packages map[string]struct {
			Version, Integrity string
			Dev, DevOptional   bool
		} `json:"packages"`
	}
	if err := json.Unmarshal(text, &l); err != nil {
		return fmt.Errorf("%s: %w", lock, err)
	}
	for at, p := range l.Packages {
		_, name, ok := strings.Cut(at, "node_modules/")
		if i := strings.LastIndex(at, "node_modules/"); i >= 0 {
			name = at[i+len("node_modules/"):]
		}
		if !ok || (p.Dev || p.DevOptional) && !slices.Contains(bundled, name) {
			continue
		}
		c := component{Type: "library", Name: name, Version: p.Version, Purl: "pkg:npm/" + strings.Replace(name, "@", "%40", 1) + "@" + p.Version}
		if sum, ok := strings.CutPrefix(p.Integrity, "sha512-"); ok {
			raw, err := base64.StdEncoding.DecodeString(sum)
			if err != nil {
				return fmt.Errorf("sum of %s: %w", name, err)
			}
			c.Hashes = []hash{{"SHA-512", hex.EncodeToString(raw)}}
		}
		parts[c.Purl] = c
	}
	return nil
}
