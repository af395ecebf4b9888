package shape

import (
	"testing"
	"time"
)

// FuzzTime: no layout is left out that a time has.
func FuzzTime(f *testing.F) {
	for _, text := range []string{"2025-01-02", "2025-01-02T03:04:05Z", "2025-01-02 03:04:05+00", "2025-01-02 3:04", "2025-01-02  03:04", "2025-01-02T03:04Z", "May 1, 2025", "january 12, 2025",
		"2025-01-02 03:04:05.5 +01:00", "2025-01-02 03:04:05 UTC", "2025-1-2", "2025-01-02t03:04:05Z", "2025-01-02T03:04:05", "2025-01-02 ", "", "1700000000", "2025-01-02 03:04:05.123456+00:00", "é"} {
		f.Add(text)
	}
	f.Fuzz(func(t *testing.T, text string) {
		for _, layout := range layouts {
			if _, err := time.Parse(layout, text); err == nil && !mayHave(text, layout) {
				t.Errorf("%q is not tried as %q", text, layout)
			}
		}
	})
}
