// Package pmx_test has the rules for all packages: the direction of imports, what needs no C
// compiler, and the form of every file.
package pmx_test

import (
	"bytes"
	"cmp"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"maps"
	"os"
	"os/exec"
	"path"
	"path/filepath"
	"regexp"
	"slices"
	"strconv"
	"strings"
	"testing"

	"pmx/data/testfiles"
)

// venueLists are the packages that clients of the venue's lists may import: they parse records like
// the feeds that import them.
var venueLists = []string{"data", "data/feeds/polymarket", "data/feeds/shape", "data/upstream/fetch", "data/upstream/pages"}

// weatherSources are the packages that clients of weather services may import.
var weatherSources = []string{"data", "data/upstream/fetch", "data/upstream/pages"}

// layers say which packages of the project a package may import; tests are exempt. The entry with
// the longest matching prefix counts, and its list is complete: a package may import packages in
// its own folder only if they are listed, too. "x/..." is x and all packages below it.
//
// The order is a rule as well. Entries are from top to bottom: first by folder (cmd, http, rollups,
// engine, data), then within a folder. Nothing that is linked into a package may be above it. So
// each folder has one direction: data/chain imports data, and engine imports engine/schema.
var layers = []struct {
	pkg string
	may []string
}{
	{"cmd", []string{"..."}},

	{"http/server", []string{"http/access", "http/acme", "http/api", "http/web", "http/wire", "data/...", "rollups/serving"}},
	{"http/web", []string{"http/openapi", "http/wire", "data", "docs", "engine/control/record"}},
	{"http/openapi/check", []string{"http/api", "http/openapi", "http/wire"}},
	{"http/openapi", []string{"http/access", "http/api", "http/wire", "data/..."}},
	{"http/api", []string{"http/access", "http/wire", "data/...", "rollups/serving/...", "rollups/index", "rollups/weather",
		"engine/export/job", "engine/control/record"}},
	{"http/access", []string{"http/wire", "data", "engine/control/record"}},
	{"http/client", []string{"http/wire", "data"}},
	{"http/admin", []string{"http/wire"}},
	{"http/replay", []string{"data/..."}},
	{"http/acme", nil},
	{"http/wire", []string{"data"}},

	{"rollups/cluster/clustertest", []string{"rollups", "rollups/cluster", "engine/export", "engine/statement"}},
	{"rollups/keeper", []string{"rollups/...", "engine/...", "data/..."}},
	{"rollups/cluster", []string{"rollups", "engine", "engine/export", "engine/statement", "data"}},
	{"rollups", []string{"rollups/query", "rollups/image", "rollups/segments/...", "rollups/serving", "rollups/index", "rollups/weather", "engine", "engine/statement", "data/..."}},
	{"rollups/query", []string{"engine", "engine/statement", "data/...", "rollups/serving", "rollups/weather"}},
	{"rollups/replica", []string{"rollups/serving", "engine", "engine/backup", "engine/control", "data/..."}},
	{"rollups/follow", []string{"rollups/serving", "engine/ledger", "engine/ingest", "engine", "engine/statement", "data/..."}},
	{"rollups/segments/fillseg", []string{"data", "rollups/segments", "rollups/serving"}},
	{"rollups/segments/textseg", []string{"data", "rollups/segments", "rollups/serving"}},
	{"rollups/segments", nil},
	{"rollups/serving", []string{"data/...", "rollups/serving/screen", "rollups/serving/search", "rollups/index", "rollups/weather"}},
	{"rollups/image", nil},
	{"rollups/pnl", []string{"data"}},
	{"rollups/oracle", []string{"data"}},
	{"rollups/index", []string{"data"}},
	{"rollups/weather", []string{"data/..."}},

	{"engine/enginetest", []string{"engine", "data/testfiles"}},
	{"engine/backup", []string{"engine", "data"}},
	{"engine/export", []string{"engine", "engine/export/job", "engine/statement", "data/..."}},
	{"engine/ingest", []string{"engine", "engine/statement", "data/..."}},
	{"engine/ledger", []string{"engine", "engine/statement", "data"}},
	{"engine/control", []string{"engine/control/record", "engine/export/job", "engine/statement", "data"}},
	{"engine", []string{"engine/schema", "engine/statement", "data"}},
	{"engine/schema", []string{"engine/statement"}},
	{"engine/statement", nil},
	{"engine/export/job", []string{"data"}},
	{"engine/control/record", nil},

	{"data/upstream/upstreamtest", []string{"data/..."}},
	{"data/upstream/channel", []string{"data", "data/feeds/shape", "data/upstream/clob"}},
	{"data/upstream/clob", venueLists},
	{"data/upstream/dataapi", venueLists},
	{"data/upstream/gamma", venueLists},
	{"data/upstream/openmeteo", weatherSources},
	{"data/upstream/metar", weatherSources},
	{"data/upstream/nws", weatherSources},
	{"data/upstream/rpc", []string{"data", "data/chain", "data/upstream/fetch"}},
	{"data/upstream/pages", []string{"data/upstream/fetch"}},
	{"data/upstream/fetch", nil},
	{"data/feeds", []string{"data", "data/chain", "data/reference", "data/feeds/..."}},
	{"data/sample", []string{"data", "data/reference"}},
	{"data/reference", []string{"data"}},
	{"data/chain", []string{"data"}},
	{"data/datasets", nil},
	{"data/testfiles", nil},
	{"data", nil},

	{"docs", nil},
	{".", nil},
	{"engine/guard", nil},
}

// everywhere is the package that all others may import. It is the last of the layers.
const everywhere = "engine/guard"

// databases are packages that no package of http may link: requests are answered from snapshots and
// named reads.
var databases = []string{"database/sql", "github.com/duckdb/duckdb-go", "github.com/marcboeker/go-duckdb", "modernc.org/sqlite"}

// withoutC are the packages that can be used without a C compiler.
var withoutC = []string{"engine/guard", "data", "data/chain", "data/datasets", "data/reference", "data/sample", "data/upstream/fetch",
	"data/upstream/rpc",
	"http/wire", "http/client", "rollups/serving", "rollups/serving/search", "rollups/serving/screen",
	"data/chain/encode", "http/replay", "rollups/segments", "rollups/segments/fillseg", "rollups/segments/textseg"}

const module = "pmx"

// maxLines is the maximum length of a Go file that was written by hand.
const maxLines = 500

// sourceFiles returns the slash paths of the project's files whose name matches.
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

// listed is a package as listed by the go command: what it imports, and what is linked into a
// program that uses it.
type listed struct {
	ImportPath string
	Imports    []string
	Deps       []string
}

// packages returns the project's packages as listed by the go command, by path within the module.
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

// covers reports whether pattern, a package or "package/...", includes pkg.
func covers(pattern, pkg string) bool {
	root, below := strings.CutSuffix(pattern, "...")
	root = strings.TrimSuffix(root, "/")
	return pkg == root || below && (root == "" || strings.HasPrefix(pkg, root+"/"))
}

// layerOf returns the index of the layer of pkg, -1 if it has none.
func layerOf(pkg string) int {
	found := -1
	for i, l := range layers {
		if (pkg == l.pkg || strings.HasPrefix(pkg, l.pkg+"/")) && (found < 0 || len(l.pkg) > len(layers[found].pkg)) {
			found = i
		}
	}
	return found
}

// misplaced returns what is wrong with the imports of pkg, and with what is linked into it.
func misplaced(pkg string, p listed) (faults []string) {
	layer := layerOf(pkg)
	if layer < 0 {
		return []string{"package " + pkg + " belongs to no layer: add it to layers"}
	}
	for _, name := range p.Imports {
		own, inside := strings.CutPrefix(name, module+"/")
		if inside && own != everywhere && !slices.ContainsFunc(layers[layer].may, func(pattern string) bool { return covers(pattern, own) }) {
			faults = append(faults, fmt.Sprintf("%s imports %s, but layer %s may only import %q", pkg, own, layers[layer].pkg, layers[layer].may))
		}
	}
	for _, name := range p.Deps {
		own, inside := strings.CutPrefix(name, module+"/")
		switch below := layerOf(own); {
		case !inside:
		case below < layer:
			faults = append(faults, fmt.Sprintf("%s links %s, which is above it in layers", pkg, own))
		case below == layer && strings.HasPrefix(pkg, own+"/"):
			faults = append(faults, fmt.Sprintf("%s links %s, the package above it in one layer", pkg, own))
		}
	}
	return faults
}

func TestImportsRunDownwards(t *testing.T) {
	for pkg, p := range packages(t) {
		for _, fault := range misplaced(pkg, p) {
			t.Error(fault)
		}
	}
}

// TestMisplacedImportsAreFound plants imports in the wrong direction.
func TestMisplacedImportsAreFound(t *testing.T) {
	for _, c := range []struct {
		pkg     string
		imports []string
		links   []string
		want    string
	}{
		{"engine", []string{"engine/schema", everywhere}, nil, ""},
		{"engine", []string{"engine/backup"}, nil, "engine imports engine/backup"},
		{"engine", nil, []string{"engine/backup"}, "engine links engine/backup, which is above it"},
		{"engine/schema", []string{"engine"}, nil, "engine/schema imports engine"},
		{"data", []string{"data/chain"}, nil, "data imports data/chain"},
		{"data/chain", []string{"data"}, []string{"data"}, ""},
		{"data/feeds", []string{"data/feeds/hko"}, []string{"data/feeds/hko"}, ""},
		{"data/feeds/hko", nil, []string{"data/feeds"}, "the package above it in one layer"},
		{"rollups/serving", []string{"rollups/serving/screen"}, []string{"rollups/serving/screen"}, ""},
		{"rollups/serving/screen", nil, []string{"rollups/serving"}, "the package above it in one layer"},
		{"rollups", []string{"rollups/keeper"}, nil, "rollups imports rollups/keeper"},
		{"rollups/query", nil, []string{"rollups"}, "rollups/query links rollups, which is above it"},
		{"http/api", []string{"http/server"}, nil, "http/api imports http/server"},
		{"data/feeds/nws", nil, []string{"engine"}, "data/feeds/nws links engine, which is above it"},
		{"elsewhere", nil, nil, "belongs to no layer"},
	} {
		var p listed
		for _, own := range c.imports {
			p.Imports = append(p.Imports, module+"/"+own)
		}
		for _, own := range c.links {
			p.Deps = append(p.Deps, module+"/"+own)
		}
		if got := strings.Join(misplaced(c.pkg, p), "; "); (got == "") != (c.want == "") || !strings.Contains(got, c.want) {
			t.Errorf("%s with %v, linking %v: got %q, want %q", c.pkg, c.imports, c.links, got, c.want)
		}
	}
}

// TestLayersExist finds entries without a package, and lists that name none.
func TestLayersExist(t *testing.T) {
	found := packages(t)
	for _, l := range layers {
		for _, pattern := range append([]string{l.pkg + "/..."}, l.may...) {
			if !slices.ContainsFunc(slices.Collect(maps.Keys(found)), func(pkg string) bool { return l.pkg == "." || covers(pattern, pkg) }) {
				t.Errorf("layer %s: there is no package %s", l.pkg, pattern)
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

// TestHTTPKnowsNoDatabase checks everything that is linked, not only imports: a package in between
// must not link a database either.
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

// TestPackagesForOthersNeedNoCCompiler looks for C in what is linked. A long run also builds them without a C compiler.
func TestPackagesForOthersNeedNoCCompiler(t *testing.T) {
	args := []string{"list", "-deps", "-f", "{{if and .CgoFiles (not .Standard)}}{{.ImportPath}}{{end}}"}
	if testfiles.Long() {
		args = []string{"build"}
	}
	for _, pkg := range withoutC {
		if _, err := os.Stat(pkg); err == nil {
			args = append(args, "./"+pkg)
		}
	}
	cmd := exec.CommandContext(t.Context(), "go", args...)
	if testfiles.Long() {
		cmd.Env = append(os.Environ(), "CGO_ENABLED=0")
	}
	if out, err := cmd.CombinedOutput(); err != nil || len(out) > 0 {
		t.Errorf("go %s: %v\n%s", strings.Join(args, " "), err, out)
	}
}

func TestFilesAreShort(t *testing.T) {
	for _, file := range sourceFiles(t, isGo) {
		text, err := os.ReadFile(file)
		if err != nil {
			t.Fatal(err)
		}
		if bytes.HasPrefix(text, []byte("// Code generated ")) {
			continue // nobody reads generated code from top to bottom
		}
		if n := bytes.Count(text, []byte("\n")); n > maxLines {
			t.Errorf("%s has %d lines: split it, at most %d are allowed", file, n, maxLines)
		}
	}
}

// unfinished matches the marks of unfinished work, which no file may have. They are split here, so
// that this file has none.
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
				t.Errorf("%s:%d: strings.TrimSpace(line) = %s", file, i+1, strings.TrimSpace(line))
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

// goText returns the text of a package's files.
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
