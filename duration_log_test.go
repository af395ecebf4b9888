package pmx_test

import (
	"os"
	"strings"
	"testing"
)

// Durations are logged in seconds, and the name of their field says so: Dur of zerolog writes
// milliseconds without a unit.
func TestDurationsAreLoggedInSeconds(t *testing.T) {
	for _, file := range sourceFiles(t, isGo) {
		text, err := os.ReadFile(file)
		if err != nil {
			t.Fatal(err)
		}
		for i, line := range strings.Split(string(text), "\n") {
			if strings.Contains(line, "."+"Dur(") {
				t.Errorf("%s:%d logs a duration with Dur: write Float64(\"seconds\", d.Seconds()), or a name that ends in _seconds", file, i+1)
			}
		}
	}
}
