package rollups_test

import (
	"os"
	"testing"

	"pmx/data/testfiles"
)

// TestMain sets the number of venues for each property. Each is a database that is filled, rebuilt
// and compared.
func TestMain(m *testing.M) {
	if err := testfiles.SetChecks(1, 9); err != nil {
		panic(err)
	}
	os.Exit(m.Run())
}
