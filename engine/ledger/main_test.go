package ledger_test

import (
	"os"
	"testing"

	"pmx/data/testfiles"
)

// TestMain sets on how many random orders each property is tried: each commits range by range.
func TestMain(m *testing.M) {
	if err := testfiles.SetChecks(20, 100); err != nil {
		panic(err)
	}
	os.Exit(m.Run())
}
