package main

import (
	"strings"
	"testing"

	"github.com/rivo/uniseg"
)

func TestTheTextBesideABarFitsTheTerminal(t *testing.T) {
	long := "reading orderFilled-of-the-first-quarter-of-the-year-2025-polygon-mainnet.csv.gz"
	for _, tc := range []struct {
		label, note string
		columns     int
		share       float64
		want        string
	}{
		{"exporting fills", "", 80, 0.5, "exporting fills"},
		{"computing", "positions", 80, 0.5, "computing positions"},
		{long, "", 80, 0.5, "reading orderFilled-of-the…ainnet.csv.gz"},
		{long, "1,234,567 rows/s", 80, 0.5, "reading orderFi….csv.gz 1,234,567 rows/s"},
		{long, "1,234,567 rows/s", 200, 0.5, long + " 1,234,567 rows/s"},
		{long, "", 40, 0.5, "reading or…sv.gz"},
		{"catching up:", "12,345 blocks to go (1,234 answered), 5,678 fills/s, about 3 min left", 80, -1, "catching up: 12,345 blocks to go (1,234 a…/s, about 3 min left"},
		{"reading 漢字漢字漢字漢字漢字漢字漢字漢字漢字漢字漢字漢字.csv", "", 80, 0.5, "reading 漢字漢字漢字漢字漢…漢字漢字.csv"},
	} {
		got := fitted(tc.label, tc.note, tc.columns, tc.share)
		if got != tc.want {
			t.Errorf("%q, %q in %d columns: got = %q, want %q", tc.label, tc.note, tc.columns, got, tc.want)
		}
	}
	for columns := 1; columns < 200; columns++ {
		if w := uniseg.StringWidth(fitted(long, strings.Repeat("9", 30), columns, 0.5)); columns >= 30 && w > columns-besideSign {
			t.Errorf("in %d columns the text has %d", columns, w)
		}
	}
}
