package pmx_test

import (
	"os"
	"path"
	"path/filepath"
	"regexp"
	"strings"
	"testing"

	"pmx/data/feeds"
	"pmx/engine/export"
	"pmx/http/api"
)

func read(t *testing.T, file string) string {
	t.Helper()
	text, err := os.ReadFile(file)
	if err != nil {
		t.Fatal(err)
	}
	return string(text)
}

func TestImportDocumentNamesEveryFeed(t *testing.T) {
	text := read(t, "docs/import.md")
	for _, name := range feeds.Names() {
		if !strings.Contains(text, "`"+name+"`") {
			t.Errorf("docs/import.md does not name the feed %s", name)
		}
	}
}

func TestDataDictionaryNamesEveryColumn(t *testing.T) {
	text := read(t, "docs/exports.md")
	for dataset, columns := range export.Columns() {
		if !strings.Contains(text, "\n## "+dataset+"\n") {
			t.Errorf("docs/exports.md does not describe %s", dataset)
		}
		for _, column := range columns {
			if !strings.Contains(text, "`"+column+"`") {
				t.Errorf("docs/exports.md does not explain %s of %s", column, dataset)
			}
		}
	}
}

func TestReadmeNamesEveryPackage(t *testing.T) {
	text := read(t, "README.md")
	for pkg := range packages(t) {
		if covers("data/feeds/...", pkg) {
			pkg = "data/feeds" // its packages are the feeds of docs/import.md
		}
		if pkg != "." && pkg != "http/api/apitest" && !strings.Contains(text, "| `"+pkg+"` |") {
			t.Errorf("README.md does not say what package %s is for", pkg)
		}
	}
}

// endpointCell matches the endpoints in a cell of README's table: methods and paths below the API's
// base, in code, without their queries.
var endpointCell = regexp.MustCompile("`((?:[A-Z]+ )?)(/[^`?]*)[^`]*`")

func TestReadmeNamesEveryEndpoint(t *testing.T) {
	_, text, found := strings.Cut(read(t, "README.md"), "\n## API endpoints\n")
	text, _, ended := strings.Cut(text, "\n## ")
	if !found || !ended {
		t.Fatal("README.md has no section \"API endpoints\"")
	}
	named := map[string]bool{}
	for line := range strings.Lines(text) {
		cells := strings.Split(strings.ReplaceAll(line, `\|`, "/"), "|")
		if len(cells) != 4 || !strings.Contains(cells[1], "`") {
			continue
		}
		method := "GET "
		for _, m := range endpointCell.FindAllStringSubmatch(cells[1], -1) {
			if m[1] != "" {
				method = m[1]
			}
			named[method+m[2]] = true
		}
	}
	for _, r := range api.Routes() {
		name := r.Method + " " + r.Path
		if !named[name] {
			t.Errorf("README.md does not name %s", name)
		}
		delete(named, name)
	}
	for name := range named {
		t.Errorf("README.md names %s, which is not an existing endpoint", name)
	}
}

var link = regexp.MustCompile(`\]\(([^)#:]+)(#[^)]*)?\)`)

func TestLinksBetweenDocumentsLead(t *testing.T) {
	for _, file := range sourceFiles(t, func(name string) bool { return strings.HasSuffix(name, ".md") }) {
		for _, m := range link.FindAllStringSubmatch(read(t, file), -1) {
			if _, err := os.Stat(filepath.FromSlash(path.Join(path.Dir(file), m[1]))); err != nil {
				t.Errorf("%s links to %s: %v", file, m[1], err)
			}
		}
	}
}

// TestMakefileHelpIsWhole finds targets that help does not explain.
func TestMakefileHelpIsWhole(t *testing.T) {
	text := read(t, "Makefile")
	phony := regexp.MustCompile(`(?m)^\.PHONY: (.*)$`).FindStringSubmatch(text)
	if phony == nil {
		t.Fatal("the Makefile declares no targets")
	}
	for _, target := range strings.Fields(phony[1]) {
		if target != "tools" && !regexp.MustCompile(`(?m)^`+target+`:.*## \w`).MatchString(text) {
			t.Errorf("make help does not explain %s", target)
		}
	}
}

var (
	metricInText = regexp.MustCompile(`\bpmx_[a-z_]*[a-z]\b`)
	metricInCode = regexp.MustCompile(`(NewDesc|desc)\("([a-z_]+)",`)
)

// Alerts on a metric that does not exist never fire.
func TestMetricsOfTheDocumentsExist(t *testing.T) {
	made := map[string]bool{}
	for file, prefix := range map[string]string{"http/server/metrics.go": "", "http/server/source_metrics.go": "pmx_sync_", "cmd/pmx/store_metrics.go": "pmx_", "cmd/pmx/work_metrics.go": "pmx_", "cmd/pmx/serve_replica.go": "pmx_replica_"} {
		before := len(made)
		for _, m := range metricInCode.FindAllStringSubmatch(read(t, file), -1) {
			made[prefix+m[2]] = true
		}
		if len(made) == before {
			t.Errorf("%s makes no metrics", file)
		}
	}
	named := map[string]bool{}
	for _, file := range []string{"docs/operate.md", "docs/sync.md", "docs/replicas.md", "docs/monitoring/alerts.yml", "docs/monitoring/dashboard.json"} {
		for _, name := range metricInText.FindAllString(read(t, file), -1) {
			if named[name] = strings.HasSuffix(file, ".md") || named[name]; strings.HasSuffix(name, "_duration_seconds_bucket") {
				name = strings.TrimSuffix(name, "_bucket") // of a histogram
			}
			if !made[name] && name != "pmx_sync" { // pmx_sync_… is all of them
				t.Errorf("%s names %s, which is not an existing metric", file, name)
			}
		}
	}
	for name := range made {
		if !named[name] && !strings.HasPrefix(name, "pmx_sync_") {
			t.Errorf("docs/operate.md does not name %s", name)
		}
	}
}
