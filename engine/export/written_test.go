package export

import (
	"os"
	"path/filepath"
	"slices"
	"testing"
)

// The size of an unfinished file is reported as it grows, and not after the end.
func TestTheSizeOfAFileIsReportedWhileItGrows(t *testing.T) {
	path := filepath.Join(t.TempDir(), "x")
	sizes := make(chan int64, 100)
	stop := watchSize(path, func(bytes int64) { sizes <- bytes })
	var got []int64
	for _, text := range []string{"a", "abc"} { // it does not exist at first
		if err := os.WriteFile(path, []byte(text), 0o600); err != nil {
			t.Fatal(err)
		}
		got = append(got, <-sizes)
	}
	stop()
	if want := []int64{1, 3}; !slices.Equal(got, want) || len(sizes) > 0 {
		t.Errorf("%v and %d more, want %v", got, len(sizes), want)
	}
}
