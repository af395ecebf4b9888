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

// Files of vendor are as their projects publish them; assets_test.go has their
// checksums.
//
//go:embed assets
var assets embed.FS

// assetAge is how long, in seconds, a browser may keep an asset: its name holds
// the hash of its content.
const assetAge = 365 * 24 * 3600

// joined are the assets that are served as one, to save requests.
func joined(name string) []string {
	if name == "site.css" {
		return []string{"vendor/uPlot.min.css", "site.css", "explorer.css"}
	}
	return []string{name}
}

// shared are the modules that pages have in common, as the files they are served
// in: base.js runs on every page, plots.js where something is drawn. A page has one
// further file, of what it alone needs.
var shared = map[string][]string{
	"base.js":  {"core.js", "ui.js", "frame.js"},
	"plots.js": {"vendor/uPlot.iife.min.js", "plot.js"},
}

// entries are the modules that pages begin with.
func entries() []string {
	names := []string{"docs.js", "status.js"}
	for _, p := range explorerPages() {
		names = append(names, p.Module)
	}
	return names
}

// margins are what browsers do not need of a source: comments that fill their
// lines, and indents.
var margins = regexp.MustCompile(`(?m)^[ \t]*//[^\n]*\n|^[ \t]+`)

// Comments of a style sheet, and the spaces that it needs as little.
var (
	remarks = regexp.MustCompile(`(?s)/\*.*?\*/`)
	spaces  = regexp.MustCompile(`\s*([{};])\s*`)
)

// packed leaves out of a style sheet what browsers do not need. Its texts have no braces,
// semicolons or colons in them.
func packed(css []byte) []byte {
	css = spaces.ReplaceAll(remarks.ReplaceAll(css, nil), []byte("$1"))
	return bytes.ReplaceAll(css, []byte(": "), []byte(":"))
}

// assetSet is what pages load, by the name that their sources have.
type assetSet struct {
	paths map[string]string   // served paths
	loads map[string][]string // the files of shared modules that an entry needs
	pages map[string]*Page    // by path
	theme []byte              // stands in every page: it is run before the page is painted
}

// loadAssets gives the assets of this program, which are packed once.
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

// add serves an asset under a name with the hash of its content.
func (a *assetSet) add(name string, body []byte) {
	sum := sha256.Sum256(body)
	ext := path.Ext(name)
	at := "/assets/" + strings.TrimSuffix(name, ext) + "." + hex.EncodeToString(sum[:6]) + ext
	page := packPage(mime.TypeByExtension(ext), body, assetAge, brotli.BestCompression)
	page.immutable = true
	a.paths[name], a.pages[at] = at, page
}

// path is where an asset is served.
func (a *assetSet) path(name string) (string, error) {
	at, ok := a.paths[name]
	if !ok {
		return "", fmt.Errorf("no asset %s", name)
	}
	return at, nil
}
