package fillseg_test

import (
	"testing"

	"go.uber.org/goleak"

	"pmx/data/testfiles"
)

func TestMain(m *testing.M) {
	if err := testfiles.SetChecks(8, 100); err != nil {
		panic(err)
	}
	goleak.VerifyTestMain(m)
}
