package wire_test

import (
	"encoding/json"
	"go/ast"
	"go/parser"
	"go/token"
	"io/fs"
	"regexp"
	"strings"
	"testing"

	"pmx/data"
	"pmx/http/wire"
)

// TestDegreesSurviveARoundTrip, with one decimal or two, of either sign.
func TestDegreesSurviveARoundTrip(t *testing.T) {
	form := regexp.MustCompile(`^-?\d+\.\d\d?$`)
	for d := wire.Degrees(-10_000); d <= 15_000; d++ {
		text, err := json.Marshal(d)
		if err != nil || !form.Match(text) || strings.HasSuffix(string(text), "00") {
			t.Fatalf("%d is written as %s, %v", d, text, err)
		}
		var back wire.Degrees
		if err := json.Unmarshal(text, &back); err != nil || back != d {
			t.Fatalf("%s is read as %d, %v", text, back, err)
		}
	}
	for text, want := range map[string]wire.Degrees{"33": 3300, "33.0": 3300, "71.6": 7160, "-0.55": -55, "0.05": 5} {
		var got wire.Degrees
		if err := json.Unmarshal([]byte(text), &got); err != nil || got != want {
			t.Errorf("%s is read as %d, %v", text, got, err)
		}
	}
	for _, text := range []string{"1.234", `"1.2"`, "{}", "true", "1e400"} {
		got := wire.Degrees(5)
		if err := json.Unmarshal([]byte(text), &got); err == nil || got != 5 {
			t.Errorf("%s is read as %d", text, got)
		}
	}
	for text, unit := range map[string]data.Unit{"71.6": data.Fahrenheit, "22.0": data.Celsius} {
		v, err := data.ParseTemp(text, unit)
		if err != nil {
			t.Fatal(err)
		}
		if got, _ := wire.DegreesOf(v, unit).MarshalJSON(); string(got) != text {
			t.Errorf("%s %s comes back as %s", text, unit, got)
		}
	}
}

// TestEveryProblemHasItsOwnType: no two kinds have the same code, statuses are those of errors, and
// each kind says what happened and what to do.
func TestEveryProblemHasItsOwnType(t *testing.T) {
	form := regexp.MustCompile(`^[a-z]+(_[a-z]+)*$`)
	seen := map[string]bool{}
	for _, k := range wire.ProblemKinds() {
		if seen[k.Code] || !form.MatchString(k.Code) || k.Status < 400 || k.Status > 599 {
			t.Errorf("%+v", k)
		}
		seen[k.Code] = true
		if !strings.HasSuffix(k.Meaning, ".") || !strings.HasSuffix(k.Advice, ".") || k.Title() == "" || k.Title()[:1] != strings.ToUpper(k.Title()[:1]) {
			t.Errorf("%s: k.Title() = %q, k.Meaning = %q, k.Advice = %q", k.Code, k.Title(), k.Meaning, k.Advice)
		}
		if found, ok := wire.KindOf(k.Code); !ok || found != k {
			t.Errorf("%s is found as %+v", k.Code, found)
		}
	}
	if k, ok := wire.KindOf("teapot"); ok {
		t.Errorf("there is a kind %+v", k)
	}
	for code, want := range map[string]string{"missing_api_key": "Missing API key", "https_required": "HTTPS required", "": ""} {
		if got := wire.ProblemTitle(code); got != want {
			t.Errorf("%s is called %q", code, got)
		}
	}
	if err := (&wire.Problem{Code: "internal", Detail: "Try again."}); err.Error() != "internal: Try again." {
		t.Errorf("err = %v", err)
	}
}

// TestNamesOnTheWire: every field of every response has a name of its own in snake case, so
// that none is written under the name that Go gives it.
func TestNamesOnTheWire(t *testing.T) {
	names, err := fs.Glob(wire.Source(), "*.go")
	if err != nil || len(names) < 10 {
		t.Fatal(names, err)
	}
	// A grade is its own name.
	form := regexp.MustCompile("json:\"([a-z0-9]+(_[a-z0-9]+)*|[ABCDF]|-)(,omitempty|,omitzero|,string)*\"")
	fields := 0
	for _, name := range names {
		text, err := fs.ReadFile(wire.Source(), name)
		if err != nil {
			t.Fatal(err)
		}
		file, err := parser.ParseFile(token.NewFileSet(), name, text, 0)
		if err != nil {
			t.Fatal(err)
		}
		ast.Inspect(file, func(n ast.Node) bool {
			s, ok := n.(*ast.TypeSpec)
			if !ok || s.Name.Name == "ProblemKind" { // not sent
				return true
			}
			st, ok := s.Type.(*ast.StructType)
			if !ok {
				return true
			}
			for _, f := range st.Fields.List {
				if len(f.Names) == 0 {
					continue // its fields are sent as the struct's own
				}
				fields++
				if f.Tag == nil || !form.MatchString(f.Tag.Value) {
					t.Errorf("%s: %s.%s has no name", name, s.Name.Name, f.Names[0].Name)
				}
			}
			return true
		})
	}
	if fields < 200 {
		t.Errorf("only %d fields were looked at", fields)
	}
}

// TestThirteenSections: each has a name of its own.
func TestThirteenSections(t *testing.T) {
	seen := map[wire.Section]bool{}
	for _, s := range wire.Sections() {
		if seen[s] || s == "" {
			t.Errorf("%q twice", s)
		}
		seen[s] = true
	}
	if len(seen) != 13 {
		t.Errorf("got %d sections", len(seen))
	}
}
