package web

import (
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
		return []string{"vendor/uPlot.min.css", "site.css", "views.css"}
	}
	return []string{name}
}

// published are the assets that pages name; modules bring in further ones.
func published() []string {
	names := []string{"site.css", "icon.svg", "theme.js", "frame.js", "try.js", "status.js", "vendor/uPlot.iife.min.js"}
	for _, v := range views() {
		names = append(names, v.Module)
	}
	return names
}

// importOf is a line by which a module names another one.
var importOf = regexp.MustCompile(`(?m)^((?:import|export) [^;"]*")\./([a-z-]+\.js)(";)$`)

// margins are what browsers do not need of a source: comments that fill their
// lines, and indents.
var margins = regexp.MustCompile(`(?m)^[ \t]*//[^\n]*\n|^[ \t]+`)

// assetSet is what pages load, by the name that their sources have.
type assetSet struct {
	paths map[string]string // served paths
	sizes map[string]int    // as sent in br
	needs map[string][]string
	pages map[string]*Page // by path
}

// loadAssets gives the assets of this program, which are packed once.
var loadAssets = sync.OnceValues(newAssets)

func newAssets() (*assetSet, error) {
	a := &assetSet{paths: map[string]string{}, sizes: map[string]int{}, needs: map[string][]string{}, pages: map[string]*Page{}}
	for _, name := range published() {
		if _, err := a.add(name); err != nil {
			return nil, err
		}
	}
	return a, nil
}

// add serves an asset under a name with the hash of its content. A module names
// the modules it imports by theirs, which are added first.
func (a *assetSet) add(name string) (string, error) {
	if at, ok := a.paths[name]; ok {
		return at, nil
	}
	var body []byte
	for _, part := range joined(name) {
		text, err := assets.ReadFile("assets/" + part)
		if err != nil {
			return "", fmt.Errorf("read asset: %w", err)
		}
		body = append(body, text...)
	}
	var failed error
	if path.Dir(name) == "." {
		body = margins.ReplaceAll(body, nil)
	}
	if path.Ext(name) == ".js" && !strings.HasPrefix(name, "vendor/") {
		body = importOf.ReplaceAllFunc(body, func(line []byte) []byte {
			m := importOf.FindSubmatch(line)
			at, err := a.add(string(m[2]))
			if err != nil {
				failed = err
			}
			a.need(name, string(m[2]))
			return []byte(string(m[1]) + at + string(m[3]))
		})
	}
	if failed != nil {
		return "", fmt.Errorf("asset %s: %w", name, failed)
	}
	sum := sha256.Sum256(body)
	ext := path.Ext(name)
	at := "/assets/" + strings.TrimSuffix(path.Base(name), ext) + "." + hex.EncodeToString(sum[:6]) + ext
	page, err := packPage(mime.TypeByExtension(ext), body, assetAge, brotli.BestCompression)
	if err != nil {
		return "", err
	}
	page.immutable = true
	a.paths[name], a.pages[at], a.sizes[name] = at, page, len(page.brotli)
	return at, nil
}

// need notes that a module imports another one, and what that one imports.
func (a *assetSet) need(name, other string) {
	for _, n := range append([]string{other}, a.needs[other]...) {
		known := false
		for _, have := range a.needs[name] {
			known = known || have == n
		}
		if !known {
			a.needs[name] = append(a.needs[name], n)
		}
	}
}

// path is where an asset is served.
func (a *assetSet) path(name string) (string, error) {
	at, ok := a.paths[name]
	if !ok {
		return "", fmt.Errorf("no asset %s", name)
	}
	return at, nil
}
