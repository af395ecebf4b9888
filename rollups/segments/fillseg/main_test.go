package fillseg_test

import (
	"testing"

	"go.uber.org/goleak"

	"pmx/data/testfiles"
)

func TestMain(m *testing.M) {
	if err := testfiles.SetChecks(30, 100); err != nil {
		panic(err)
	}
	goleak.VerifyTestMain(m)
}
