package rollups_test

import (
	"flag"
	"os"
	"testing"
)

// propertyChecks is how many venues each property is tried on where the command
// line does not say: each is a database that is filled, rebuilt and compared.
const propertyChecks = "40"

func TestMain(m *testing.M) {
	flag.Parse()
	given := false
	flag.Visit(func(f *flag.Flag) { given = given || f.Name == "rapid.checks" })
	if !given {
		if err := flag.Set("rapid.checks", propertyChecks); err != nil {
			panic(err)
		}
	}
	os.Exit(m.Run())
}
