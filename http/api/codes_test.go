package api

import (
	"io/fs"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"pmx/http/wire"
)

// TestEveryDocumentedProblemIsAnswered: every documented code is returned somewhere.
func TestEveryDocumentedProblemIsAnswered(t *testing.T) {
	var source strings.Builder
	err := filepath.WalkDir("..", func(path string, d fs.DirEntry, err error) error {
		if err != nil || d.IsDir() || !strings.HasSuffix(path, ".go") || strings.HasSuffix(path, "_test.go") || strings.HasSuffix(path, "problems.go") ||
			strings.Contains(path, "client") {
			return err
		}
		text, err := os.ReadFile(path)
		source.Write(text)
		return err
	})
	if err != nil {
		t.Fatal(err)
	}
	for _, k := range wire.ProblemKinds() {
		if !strings.Contains(source.String(), `"`+k.Code+`"`) {
			t.Errorf("%s is documented, but never returned", k.Code)
		}
	}
}
