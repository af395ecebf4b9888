package web

import (
	"bytes"
	"crypto/sha256"
	"embed"
	"encoding/hex"
	"fmt"
	"mime"
	"path"
	"regexp"
	"strings"
	"sync"

	"github.com/andybalholm/brotli"
)

// Files of vendor are unchanged from their projects; assets_test.go has their checksums.
//
//go:embed assets
var assets embed.FS

// assetAge is how long, in seconds, a browser may cache an asset: its name contains the hash of its
// content.
const assetAge = 365 * 24 * 3600

// joined returns the sources of an asset that are served as one file, to save requests.
func joined(name string) []string {
	if name == "site.css" {
		return []string{"vendor/uPlot.min.css", "site.css", "explorer.css"}
	}
	return []string{name}
}

// shared are the modules that pages have in common, by the file that they are served in: base.js
// runs on every page, plots.js where something is drawn. In addition, each page has one file with
// what only it needs.
var shared = map[string][]string{
	"base.js":  {"core.js", "ui.js", "frame.js"},
	"plots.js": {"vendor/uPlot.iife.min.js", "plot.js"},
}

// entries returns the modules that pages load first.
func entries() []string {
	names := []string{"docs.js", "status.js"}
	for _, p := range explorerPages() {
		names = append(names, p.Module)
	}
	return names
}

// margins matches what browsers do not need in a source: lines with only a comment, and
// indentation.
var margins = regexp.MustCompile(`(?m)^[ \t]*//[^\n]*\n|^[ \t]+`)

// These match the comments of a style sheet, spaces that it does not need, and uPlot's rules for titles and legends, which
// plots have of their own.
var (
	legends = regexp.MustCompile(`[^{}]*\.u-(?:title|legend|inline|series)\b[^{}]*\{[^{}]*\}`)
	remarks = regexp.MustCompile(`(?s)/\*.*?\*/`)
	spaces  = regexp.MustCompile(`\s*([{};])\s*`)
)

// packed removes from a style sheet what browsers do not need. Strings in it must not contain
// braces, semicolons or colons.
func packed(css []byte) []byte {
	css = spaces.ReplaceAll(remarks.ReplaceAll(legends.ReplaceAll(css, nil), nil), []byte("$1"))
	return bytes.ReplaceAll(css, []byte(": "), []byte(":"))
}

// assetSet has the assets that pages load, by the name of their source.
type assetSet struct {
	paths map[string]string   // served paths
	loads map[string][]string // the files of shared modules that an entry imports
	pages map[string]*Page    // by path
	theme []byte              // inlined in every page: it runs before the page is painted
}

// loadAssets returns the assets of this program, which are packed once.
var loadAssets = sync.OnceValues(newAssets)

func newAssets() (*assetSet, error) {
	a := &assetSet{paths: map[string]string{}, loads: map[string][]string{}, pages: map[string]*Page{}}
	for _, name := range []string{"site.css", "docs.css", "icon.svg"} {
		var body []byte
		for _, part := range joined(name) {
			text, err := assets.ReadFile("assets/" + part)
			if err != nil {
				return nil, fmt.Errorf("read asset: %w", err)
			}
			body = append(body, text...)
		}
		if path.Ext(name) == ".css" {
			body = packed(body)
		}
		a.add(name, body)
	}
	theme, err := assets.ReadFile("assets/theme.js")
	if err != nil {
		return nil, fmt.Errorf("read asset: %w", err)
	}
	a.theme = margins.ReplaceAll(theme, nil)
	for _, name := range append([]string{"base.js", "plots.js"}, entries()...) {
		b := bundle{assets: a, name: name}
		text, err := b.text()
		if err != nil {
			return nil, fmt.Errorf("asset %s: %w", name, err)
		}
		a.loads[name] = b.loads
		a.add(name, text)
	}
	return a, nil
}

// add registers an asset under a name with the hash of its content.
func (a *assetSet) add(name string, body []byte) {
	sum := sha256.Sum256(body)
	ext := path.Ext(name)
	at := "/assets/" + strings.TrimSuffix(name, ext) + "." + hex.EncodeToString(sum[:6]) + ext
	page := packPage(mime.TypeByExtension(ext), body, assetAge, brotli.BestCompression)
	page.immutable = true
	a.paths[name], a.pages[at] = at, page
}

// path returns the path that an asset is served at.
func (a *assetSet) path(name string) (string, error) {
	at, ok := a.paths[name]
	if !ok {
		return "", fmt.Errorf("no asset %s", name)
	}
	return at, nil
}
