package fillseg

import (
	"os"
	"testing"

	"go.uber.org/goleak"

	"pmx/data/testfiles"
)

// TestMain lets the test binary be the process that is killed.
func TestMain(m *testing.M) {
	if dir := os.Getenv("PMX_TEST_FLUSH_IN"); dir != "" {
		flushAloud(dir)
		return
	}
	if err := testfiles.SetChecks(8, 100); err != nil {
		panic(err)
	}
	goleak.VerifyTestMain(m)
}
