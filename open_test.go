package pmx_test

import (
	"go/ast"
	"go/parser"
	"go/token"
	"os"
	"slices"
	"strings"
	"testing"
)

// opened lists the files that may open files without the helpers of data/regular.go,
// each with how many places it has and why no pipe can make them wait.
var opened = map[string]struct {
	places int
	reason string
}{
	"data/regular.go":                    {1, "the helpers themselves"},
	"data/feeds/shape/second_pass.go":    {1, "the copy below tmp/"},
	"data/feeds/shape/parquet.go":        {1, "the copy below tmp/"},
	"data/sync_folder.go":                {1, "a folder"},
	"engine/backup/ahead.go":             {1, "appends to the list below tmp/, which was opened with the helper before"},
	"engine/backup/clone.go":             {2, "for reading and writing, which does not wait; and a new name in a folder of this process"},
	"engine/control/control.go":          {1, "for reading and writing, which does not wait"},
	"engine/export/csv.go":               {1, "written by this process just before"},
	"engine/export/job/pool.go":          {1, "written by this process, below exports/"},
	"engine/export/parquet.go":           {1, "written by this process just before"},
	"engine/export/output_file.go":       {1, "a new name below the data directory"},
	"engine/export/partition.go":         {1, "written by this process, for reading and writing"},
	"engine/export/trader.go":            {1, "written by this process just before"},
	"engine/ingest/clean.go":             {1, "a new name below tmp/"},
	"engine/ingest/line_check.go":        {1, "the copy below tmp/"},
	"engine/ingest/number.go":            {2, "the copy below tmp/, and a new name there"},
	"engine/ingest/record.go":            {1, "the copy below tmp/"},
	"engine/ingest/sink.go":              {1, "the copy below tmp/"},
	"engine/ingest/source.go":            {1, "a new name in a new folder below tmp/"},
	"engine/ingest/read_progress.go":     {1, "the system's own file"},
	"engine/lock_unix.go":                {1, "the database, which this process has tried to open before"},
	"engine/journal.go":                  {1, "opens the database to write to it, which Open has checked to be regular"},
	"engine/wal.go":                      {2, "copies the log, which was opened with the helper before"},
	"rollups/keeper/inbox.go":            {1, "a note beside a file that was just moved"},
	"rollups/replica/replica.go":         {1, "a new name in a new folder below tmp/"},
	"rollups/replica/status.go":          {1, "a new name in a folder of this process"},
	"rollups/segments/file.go":           {2, "does not wait itself; and a folder"},
	"rollups/segments/writer.go":         {1, "for reading and writing, which does not wait"},
	"rollups/segments/fillseg/writer.go": {1, "for reading and writing, which does not wait"},
	"cmd/pmx/serve.go":                   {1, "the log, which may be a pipe: does not wait for its reader"},
	"cmd/pmx/output_files.go":            {1, "the target of an export, which may be a pipe: until the context ends"},
}

// openers are the functions of package os that block if the path is a pipe.
var openers = []string{"Open", "OpenFile", "ReadFile", "Create", "WriteFile"}

// Paths from users, and files in their folders, are opened with data.OpenRegular and the like: a
// pipe would make the program wait in a way that no signal ends.
func TestFilesAreOpenedWithoutWaiting(t *testing.T) {
	found := map[string]int{}
	for _, file := range sourceFiles(t, isGo) {
		if strings.HasSuffix(file, "_test.go") || strings.HasPrefix(file, "cmd/bench/") || strings.HasPrefix(file, "data/testfiles/") || strings.HasPrefix(file, "engine/enginetest/") || strings.HasPrefix(file, "rollups/cluster/clustertest/") {
			continue // these are not part of the program
		}
		set := token.NewFileSet()
		parsed, err := parser.ParseFile(set, file, nil, 0)
		if err != nil {
			t.Fatal(err)
		}
		ast.Inspect(parsed, func(n ast.Node) bool {
			f, ok := n.(*ast.SelectorExpr)
			if !ok {
				return true
			}
			if owner, _ := f.X.(*ast.Ident); owner == nil || owner.Name != "os" || !slices.Contains(openers, f.Sel.Name) {
				return true
			}
			if found[file]++; found[file] > opened[file].places {
				t.Errorf("%s: os.%s: use data.OpenRegular, ReadRegular or CreateRegular, or say in opened why not", set.Position(n.Pos()), f.Sel.Name)
			}
			return true
		})
	}
	for file, exception := range opened {
		if _, err := os.Stat(file); err != nil || found[file] != exception.places || exception.reason == "" {
			t.Errorf("%s is listed in opened with %d places, has %d", file, exception.places, found[file])
		}
	}
}
