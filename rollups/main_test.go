package rollups_test

import (
	"flag"
	"os"
	"strconv"
	"testing"

	"pmx/data/testfiles"
)

// TestMain says on how many venues each property is tried where the command line does
// not: each is a database that is filled, rebuilt and compared.
func TestMain(m *testing.M) {
	flag.Parse()
	given := false
	flag.Visit(func(f *flag.Flag) { given = given || f.Name == "rapid.checks" })
	if !given {
		if err := flag.Set("rapid.checks", strconv.Itoa(testfiles.Cases(4, 40))); err != nil {
			panic(err)
		}
	}
	os.Exit(m.Run())
}
