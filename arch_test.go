// Package pmx_test holds the rules of the house that no single package can:
// which way imports run, what needs no C compiler, and what every file keeps to.
package pmx_test

import (
	"bytes"
	"cmp"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"os/exec"
	"path"
	"path/filepath"
	"regexp"
	"slices"
	"strconv"
	"strings"
	"testing"
)

// venueLists are what packages that read the venue's lists may import: they read records as
// the feeds do that import them.
var venueLists = []string{"data", "data/feeds/polymarket", "data/feeds/shape", "data/upstream/fetch", "data/upstream/pages"}

// weatherSources are what packages that ask sources of the weather may import.
var weatherSources = []string{"data", "data/upstream/fetch", "data/upstream/pages"}

// layers say which packages of the project a package may import, tests left
// out. The longest prefix that fits a package decides; "x/..." is x and all
// below it. Imports run downwards only: cmd, http, rollups, engine, data.
var layers = []struct {
	pkg string
	may []string
}{
	{"cmd", []string{"..."}},
	{"http/server", []string{"http/...", "data/...", "rollups/serving"}},
	{"http/admin", []string{"http/wire"}},
	{"http/api", []string{"http/access", "http/wire", "data/...", "rollups/serving/...", "rollups/index", "rollups/weather",
		"engine/export/job", "engine/control/record"}},
	{"http/openapi", []string{"http/access", "http/api", "http/wire", "data/..."}},
	{"http/openapi/check", []string{"http/api", "http/openapi", "http/wire"}},
	{"http/acme", nil},
	{"http/access", []string{"http/wire", "data", "engine/control/record"}},
	{"http/client", []string{"http/wire", "data"}},
	{"http/web", []string{"http/openapi", "http/wire", "data", "docs", "engine/control/record"}},
	{"http/replay", []string{"data/..."}},
	{"http/wire", []string{"data"}},
	{"rollups/serving", []string{"data/...", "rollups/index", "rollups/weather"}},
	{"rollups/keeper", []string{"rollups/...", "engine/...", "data/..."}},
	{"rollups/replica", []string{"rollups/serving", "engine/...", "data/..."}},
	{"rollups/follow", []string{"rollups/serving", "engine/ledger", "engine/ingest", "engine", "data/..."}},
	{"rollups/segments", nil},
	{"rollups/segments/fillseg", []string{"data", "rollups/segments", "rollups/serving"}},
	{"rollups/segments/textseg", []string{"data", "rollups/segments", "rollups/serving"}},
	{"rollups", []string{"rollups", "rollups/serving", "rollups/query", "rollups/segments/fillseg", "rollups/segments/textseg", "rollups/pnl", "rollups/oracle", "rollups/index", "rollups/weather",
		"engine/...", "data/..."}},
	{"rollups/cluster/clustertest", []string{"rollups", "rollups/cluster", "engine/export"}},
	{"rollups/cluster", []string{"rollups", "engine", "engine/export", "data"}},
	{"rollups/pnl", []string{"data"}},
	{"rollups/oracle", []string{"data"}},
	{"rollups/index", []string{"data"}},
	{"rollups/weather", []string{"data/..."}},
	{"engine", []string{"engine/...", "data/..."}},
	{"rollups/query", []string{"engine", "data/...", "rollups/serving", "rollups/weather"}},
	{"data", []string{"data/..."}},
	{"data/chain", []string{"data"}},
	{"data/feeds", []string{"data", "data/chain", "data/reference", "data/feeds/..."}},
	{"data/reference", []string{"data"}},
	{"data/sample", []string{"data", "data/reference"}},
	{"data/testfiles", nil},
	{"data/upstream/fetch", nil},
	{"data/upstream/rpc", []string{"data", "data/chain", "data/upstream/fetch"}},
	{"data/upstream/pages", []string{"data/upstream/fetch"}},
	{"data/upstream/gamma", venueLists},
	{"data/upstream/clob", venueLists},
	{"data/upstream/dataapi", venueLists},
	{"data/upstream/openmeteo", weatherSources},
	{"data/upstream/metar", weatherSources},
	{"data/upstream/nws", weatherSources},
	{"data/upstream/upstreamtest", []string{"data/..."}},
	{"data/upstream/channel", []string{"data", "data/feeds/shape", "data/upstream/clob"}},
	{"docs", nil},
	{"engine/guard", nil},
	{"engine/control/record", nil},
	{".", nil},
}

// everywhere are the packages that all others may import.
var everywhere = []string{"engine/guard"}

// databases are what no package of http may import: requests are answered from
// snapshots and named reads.
var databases = []string{"database/sql", "github.com/duckdb/duckdb-go", "github.com/marcboeker/go-duckdb", "modernc.org/sqlite"}

// withoutC are the packages that others may build on without a C compiler.
var withoutC = []string{"engine/guard", "data", "data/chain", "data/datasets", "data/reference", "data/sample", "data/upstream/fetch",
	"data/upstream/rpc",
	"http/wire", "http/client", "rollups/serving", "rollups/serving/search", "rollups/serving/screen",
	"data/chain/encode", "http/replay", "rollups/segments", "rollups/segments/fillseg", "rollups/segments/textseg"}

const module = "pmx"

// maxLines is the longest a Go file may be that was written by hand.
const maxLines = 500

// sourceFiles gives the project's own files whose name matches, by slash path.
func sourceFiles(t *testing.T, match func(name string) bool) []string {
	t.Helper()
	var files []string
	err := filepath.WalkDir(".", func(p string, d fs.DirEntry, err error) error {
		if err != nil {
			return err
		}
		if d.IsDir() && p != "." && (strings.HasPrefix(d.Name(), ".") && d.Name() != ".ci" || d.Name() == "bin" || d.Name() == "pmx-data" || d.Name() == "pmx-live") {
			return fs.SkipDir
		}
		if !d.IsDir() && match(d.Name()) {
			files = append(files, filepath.ToSlash(p))
		}
		return nil
	})
	if err != nil {
		t.Fatal(err)
	}
	if len(files) == 0 {
		t.Fatal("no files found: is this the root of the repository?")
	}
	return files
}

func isGo(name string) bool { return strings.HasSuffix(name, ".go") }

// listed is what the go command says of a package: what it imports, and what is linked
// into a program that uses it.
type listed struct {
	ImportPath string
	Imports    []string
	Deps       []string
}

// packages asks the go command for the project's packages, by path below the module.
func packages(t *testing.T) map[string]listed {
	t.Helper()
	cmd := exec.CommandContext(t.Context(), "go", "list", "-json=ImportPath,Imports,Deps", "./...")
	out, err := cmd.Output()
	if err != nil {
		t.Fatalf("go list: %v", err)
	}
	found := map[string]listed{}
	for dec := json.NewDecoder(bytes.NewReader(out)); ; {
		var p listed
		if err := dec.Decode(&p); errors.Is(err, io.EOF) {
			break
		} else if err != nil {
			t.Fatal(err)
		}
		own := strings.TrimPrefix(strings.TrimPrefix(p.ImportPath, module), "/")
		found[cmp.Or(own, ".")] = p
	}
	if len(found) < 30 {
		t.Fatalf("go list found %d packages only", len(found))
	}
	return found
}

// covers tells whether pattern, a package or "package/...", takes pkg in.
func covers(pattern, pkg string) bool {
	root, below := strings.CutSuffix(pattern, "...")
	root = strings.TrimSuffix(root, "/")
	return pkg == root || below && (root == "" || strings.HasPrefix(pkg, root+"/"))
}

// allowed gives what the layer of pkg may import.
func allowed(pkg string) (may []string, layer string) {
	for _, l := range layers {
		if (pkg == l.pkg || strings.HasPrefix(pkg, l.pkg+"/")) && len(l.pkg) > len(layer) {
			may, layer = l.may, l.pkg
		}
	}
	return may, layer
}

func TestImportsRunDownwards(t *testing.T) {
	for pkg, p := range packages(t) {
		may, layer := allowed(pkg)
		if layer == "" {
			t.Errorf("package %s belongs to no layer: add it to layers", pkg)
		}
		for _, name := range p.Imports {
			own, inside := strings.CutPrefix(name, module+"/")
			if !inside || strings.HasPrefix(own, pkg+"/") {
				continue
			}
			if !slices.Contains(everywhere, own) && !slices.ContainsFunc(may, func(pattern string) bool { return covers(pattern, own) }) {
				t.Errorf("%s imports %s, which layer %s may not: it may import %s", pkg, own, layer, strings.Join(may, " "))
			}
		}
	}
}

func TestOnlyCommandsUseTheKeeper(t *testing.T) {
	for pkg, p := range packages(t) {
		if slices.Contains(p.Imports, module+"/rollups/keeper") && !covers("cmd/...", pkg) {
			t.Errorf("%s imports rollups/keeper: only commands may", pkg)
		}
	}
}

// TestHTTPKnowsNoDatabase looks at all that is linked, not at import lines alone: a
// package in between must not bring a database in either.
func TestHTTPKnowsNoDatabase(t *testing.T) {
	for pkg, p := range packages(t) {
		if !covers("http/...", pkg) {
			continue
		}
		for _, name := range p.Deps {
			if slices.ContainsFunc(databases, func(db string) bool { return name == db || strings.HasPrefix(name, db+"/") && db != "database/sql" }) {
				t.Errorf("%s links %s: read through rollups/serving or an interface that a command fills in", pkg, name)
			}
		}
	}
}

func TestPackagesForOthersNeedNoCCompiler(t *testing.T) {
	if testing.Short() {
		t.Skip("builds packages a second time")
	}
	args := []string{"build"}
	for _, pkg := range withoutC {
		if _, err := os.Stat(pkg); err == nil {
			args = append(args, "./"+pkg)
		}
	}
	cmd := exec.CommandContext(t.Context(), "go", args...)
	cmd.Env = append(os.Environ(), "CGO_ENABLED=0")
	if out, err := cmd.CombinedOutput(); err != nil {
		t.Errorf("CGO_ENABLED=0 go %s: %v\n%s", strings.Join(args, " "), err, out)
	}
}

func TestFilesAreShort(t *testing.T) {
	for _, file := range sourceFiles(t, isGo) {
		text, err := os.ReadFile(file)
		if err != nil {
			t.Fatal(err)
		}
		if bytes.HasPrefix(text, []byte("// Code generated ")) {
			continue // nobody reads it through
		}
		if n := bytes.Count(text, []byte("\n")); n > maxLines {
			t.Errorf("%s has %d lines: split it, %d are enough", file, n, maxLines)
		}
	}
}

// unfinished are the marks that must not be left in any file; written apart, so
// that this file holds none.
var unfinished = regexp.MustCompile(`\b(` + "TO" + `DO|` + "FIX" + `ME|` + "XX" + `X)\b`)

func TestNothingIsLeftUnfinished(t *testing.T) {
	kinds := []string{".go", ".sql", ".md", ".txtar", ".yml", ".csv", "run", "Makefile", "go.mod"}
	for _, file := range sourceFiles(t, func(name string) bool {
		return slices.Contains(kinds, filepath.Ext(name)) || slices.Contains(kinds, name)
	}) {
		text, err := os.ReadFile(file)
		if err != nil {
			t.Fatal(err)
		}
		for i, line := range strings.Split(string(text), "\n") {
			if unfinished.MatchString(line) {
				t.Errorf("%s:%d: %s", file, i+1, strings.TrimSpace(line))
			}
		}
	}
}

// TestSQLStatementsAreUsed finds named statements that no Go file of their
// package names.
func TestSQLStatementsAreUsed(t *testing.T) {
	for _, file := range sourceFiles(t, func(name string) bool { return strings.HasSuffix(name, ".sql") }) {
		if path.Base(path.Dir(file)) != "sql" {
			continue
		}
		text, err := os.ReadFile(file)
		if err != nil {
			t.Fatal(err)
		}
		code := goText(t, path.Dir(path.Dir(file)))
		names := namedStatement.FindAllStringSubmatch(string(text), -1)
		if len(names) == 0 {
			t.Errorf("%s names no statement", file)
		}
		for _, name := range names {
			if !strings.Contains(code, strconv.Quote(name[1])) {
				t.Errorf("%s: no code uses statement %s", file, name[1])
			}
		}
	}
}

var namedStatement = regexp.MustCompile(`(?m)^-- name: (\w+)`)

// goText is the text of a package's own files.
func goText(t *testing.T, dir string) string {
	t.Helper()
	files, err := filepath.Glob(filepath.Join(dir, "*.go"))
	if err != nil {
		t.Fatal(err)
	}
	var all strings.Builder
	for _, file := range files {
		if strings.HasSuffix(file, "_test.go") {
			continue
		}
		text, err := os.ReadFile(file)
		if err != nil {
			t.Fatal(err)
		}
		_, _ = fmt.Fprintf(&all, "%s\n", text)
	}
	return all.String()
}
