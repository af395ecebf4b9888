package pmx_test

import (
	"os"
	"path/filepath"
	"regexp"
	"strings"
	"testing"
)

// A test that a short run skips names another one that shows a smaller case. That test must exist
// and must not be skipped.
func TestWhatIsLeftToTheLongRunIsShownInAShortOne(t *testing.T) {
	function := regexp.MustCompile(`(?m)^func ((?:Test|Fuzz)\w+)\(`)
	left := regexp.MustCompile(`testfiles\.InLong\(t, "(\w+) [^"]+"\)`)
	script := regexp.MustCompile(`(?m)^\[!long\] skip(?: '(\w+) [^']+')?$`)
	run, shown := map[string]bool{}, map[string]string{} // by the test that is left: who shows it
	for _, file := range sourceFiles(t, isGo) {
		if !strings.HasSuffix(file, "_test.go") || file == "long_test.go" {
			continue
		}
		text, err := os.ReadFile(file)
		if err != nil {
			t.Fatal(err)
		}
		at := function.FindAllSubmatchIndex(text, -1)
		for i, f := range at {
			end := len(text)
			if i+1 < len(at) {
				end = at[i+1][0]
			}
			name, body := string(text[f[2]:f[3]]), string(text[f[0]:end])
			switch m := left.FindStringSubmatch(body); {
			case m != nil:
				shown[name] = m[1]
			case strings.Contains(body, "testfiles.InLong(t"):
				t.Errorf("%s: %s is left to the long run: say which test shows a case of it, and what", file, name)
			default:
				run[name] = true
			}
		}
	}
	scripts, err := filepath.Glob(filepath.Join("cmd", "pmx", "testdata", "script", "*.txtar"))
	if err != nil || len(scripts) == 0 {
		t.Fatalf("no script is found: %v", err)
	}
	for _, file := range scripts {
		text, err := os.ReadFile(file)
		if err != nil {
			t.Fatal(err)
		}
		if m := script.FindSubmatch(text); m != nil {
			shown[file] = string(m[1])
		}
	}
	for name, by := range shown {
		if !run[by] {
			t.Errorf("%s is left to the long run, and %s, which should show a case of it, does not exist or is left as well", name, by)
		}
	}
	if len(shown) == 0 {
		t.Error("no test is left to the long run")
	}
}
