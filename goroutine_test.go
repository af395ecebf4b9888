package pmx_test

import (
	"go/ast"
	"go/parser"
	"go/token"
	"os"
	"strings"
	"testing"
)

// unguarded lists the files that may start goroutines without package guard, with the number of
// places and the reason.
var unguarded = map[string]struct {
	places int
	reason string
}{
	"rollups/serving/screen/top.go": {1, "on the path of requests: it recovers a panic and repeats it in the request, which recovers it"},
}

// Every goroutine is started through package guard, because a panic in any other ends the process.
// The test finds go statements, Go of wait groups and error groups, funcs of timers, and
// schedulers.
func TestEveryGoroutineIsGuarded(t *testing.T) {
	found := map[string]int{}
	for _, file := range sourceFiles(t, isGo) {
		if strings.HasSuffix(file, "_test.go") || strings.HasPrefix(file, "engine/guard/") || strings.HasPrefix(file, "cmd/bench/") {
			continue // bench measures the program and is not part of it
		}
		text, err := os.ReadFile(file)
		if err != nil {
			t.Fatal(err)
		}
		for _, place := range goroutines(t, file, text) {
			found[file]++
			if found[file] > unguarded[file].places {
				t.Errorf("%s starts a goroutine without package guard: use it, or give the reason in unguarded", place)
			}
		}
	}
	for file, exception := range unguarded {
		if found[file] != exception.places || exception.reason == "" {
			t.Errorf("%s is listed in unguarded with %d places, has %d", file, exception.places, found[file])
		}
	}
}

// goroutines returns the places of a file where it starts goroutines.
func goroutines(t *testing.T, file string, text []byte) (places []string) {
	t.Helper()
	set := token.NewFileSet()
	parsed, err := parser.ParseFile(set, file, text, 0)
	if err != nil {
		t.Fatal(err)
	}
	ast.Inspect(parsed, func(n ast.Node) bool {
		switch n := n.(type) {
		case *ast.GoStmt:
			places = append(places, set.Position(n.Pos()).String())
		case *ast.CallExpr:
			if f, ok := n.Fun.(*ast.SelectorExpr); ok {
				owner, _ := f.X.(*ast.Ident)
				name := f.Sel.Name
				if name == "Go" || name == "TryGo" || name == "AfterFunc" || owner != nil && owner.Name == "cron" && name == "New" {
					places = append(places, set.Position(n.Pos()).String())
				}
			}
		}
		return true
	})
	return places
}

func TestGoroutinesAreFound(t *testing.T) {
	const text = `package p
func f() {
	go f()
	go func() { f() }()
	group.Go(f)
	a.b.Go(func() {})
	group.TryGo(f)
	time.AfterFunc(0, f)
	cron.New()
	watch.Begin(nil, "x", f)
	strings.New()
}`
	if places := goroutines(t, "p.go", []byte(text)); len(places) != 7 {
		t.Errorf("%d places of 7: %v", len(places), places)
	}
}
