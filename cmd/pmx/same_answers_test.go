package main

import (
	"os"
	"testing"

	"pmx/data/sample"
)

// TestSameAnswersAsAnotherProgram imports a sample venue into this program and into another build of pmx, and requests everything from
// both: every response must be the same byte by byte. `make same REF=COMMIT` builds the other one.
func TestSameAnswersAsAnotherProgram(t *testing.T) {
	other := os.Getenv("PMX_TEST_OTHER")
	if other == "" {
		t.Skip("make same REF=COMMIT compares with the program of another commit")
	}
	files := t.TempDir()
	if _, err := sample.Write(t.Context(), sample.Config{Fills: 30_000, Seed: 5}, files, nil); err != nil {
		t.Fatal(err)
	}
	var asked []string
	answers := func(program string) map[string]string {
		in := &installation{t: t, dir: t.TempDir(), program: program}
		in.run("import", files)
		in.serve()
		defer in.shutdown()
		if asked == nil {
			asked = in.everything()
		}
		return in.answers(asked)
	}
	ours := answers("")
	sameAnswers(t, "another program has imported the same,", answers(other), ours)
}
