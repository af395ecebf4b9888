package pmx_test

import (
	"go/ast"
	"go/parser"
	"go/token"
	"go/types"
	"maps"
	"os"
	"path/filepath"
	"strings"
	"testing"
)

// functions are the top-level functions of a file with the types of their
// parameters and results, by name.
func functions(t *testing.T, path string) map[string]string {
	t.Helper()
	f, err := parser.ParseFile(token.NewFileSet(), path, nil, parser.SkipObjectResolution)
	if err != nil {
		t.Fatal(err)
	}
	found := map[string]string{}
	for _, d := range f.Decls {
		if fn, ok := d.(*ast.FuncDecl); ok {
			found[fn.Name.Name] = fieldTypes(fn.Type.Params) + " " + fieldTypes(fn.Type.Results)
		}
	}
	return found
}

// fieldTypes lists the types of fields, each as often as it has names.
func fieldTypes(fields *ast.FieldList) string {
	var all []string
	if fields != nil {
		for _, f := range fields.List {
			for range max(len(f.Names), 1) {
				all = append(all, types.ExprString(f.Type))
			}
		}
	}
	return "(" + strings.Join(all, ", ") + ")"
}

// A file for another platform must declare the same functions as the one that is compiled here.
// Nothing else would notice a rename.
func TestOtherPlatformsDeclareTheSame(t *testing.T) {
	pairs := 0
	err := filepath.WalkDir(".", func(path string, _ os.DirEntry, err error) error {
		base, other := strings.CutSuffix(path, "_other.go")
		if err != nil || !other {
			return err
		}
		for _, platform := range []string{"_linux.go", "_unix.go"} {
			if _, err := os.Stat(base + platform); err != nil {
				continue
			}
			pairs++
			if here, there := functions(t, base+platform), functions(t, path); !maps.Equal(here, there) {
				t.Errorf("%s declares %v, %s declares %v", path, there, base+platform, here)
			}
		}
		return nil
	})
	if err != nil || pairs == 0 {
		t.Errorf("%d pairs of files, %v", pairs, err)
	}
}
