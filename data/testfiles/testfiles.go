// Package testfiles finds the files that tests read, for tests of any package.
package testfiles

import (
	"flag"
	"os"
	"path/filepath"
	"strconv"
	"testing"
)

// Root returns the root of the repository: the nearest folder upwards with a go.mod.
func Root() string {
	dir, err := os.Getwd()
	if err != nil {
		panic(err)
	}
	for {
		if _, err := os.Stat(filepath.Join(dir, "go.mod")); err == nil {
			return dir
		}
		up := filepath.Dir(dir)
		if up == dir {
			panic("no go.mod above the test's folder")
		}
		dir = up
	}
}

// Path returns a path below testdata/ at the root.
func Path(parts ...string) string {
	return filepath.Join(append([]string{Root(), "testdata"}, parts...)...)
}

// Beside returns a path of the captured data, which is in shared/data next to the checkout and not
// part of the repository; false without it, and in a short run. A test that reads a small file of
// the repository reads the captured one too, if it is.
func Beside(parts ...string) (string, bool) {
	path := filepath.Join(append([]string{Root(), "..", "shared", "data"}, parts...)...)
	_, err := os.Stat(path)
	return path, err == nil && Long()
}

// Captured returns such a path, and skips the test without it. What a test of captured data alone
// shows must not depend on it: another test shows it of a file in testdata.
func Captured(t testing.TB, parts ...string) string {
	t.Helper()
	path, ok := Beside(parts...)
	if !ok {
		if !Long() {
			t.Skip("captured data is read by make test-long")
		}
		t.Skipf("the captured data is not next to the checkout: no %s", path)
	}
	return path
}

// Long reports a run that may take its time: make test-long, which sets PMX_TEST_LONG.
func Long() bool { return os.Getenv("PMX_TEST_LONG") != "" }

// InLong skips a test in a short run. shown says which test shows a case of the same rule in a
// short run: its name, which another test looks for, and what it shows.
func InLong(t testing.TB, shown string) {
	t.Helper()
	if !Long() {
		t.Skip("left to make test-long: in a short run " + shown)
	}
}

// Cases returns the number of drawn cases, rows or threads of a test: short by default, and long
// where the run may take its time.
func Cases(short, long int) int {
	if Long() {
		return long
	}
	return short
}

// SetChecks says, for a TestMain, on how many drawn cases each property of a package is tried
// where the command line does not (-rapid.checks): short by default, and long in a long run.
func SetChecks(short, long int) error {
	flag.Parse()
	given := false
	flag.Visit(func(f *flag.Flag) { given = given || f.Name == "rapid.checks" })
	if given {
		return nil
	}
	return flag.Set("rapid.checks", strconv.Itoa(Cases(short, long)))
}
