package export_test

import (
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"pmx/engine/export"
)

// Rows of a table that change in the same way, or swap values, are a change: an incremental lake
// equals one written from scratch.
func TestRowsThatChangeAlikeAreAChange(t *testing.T) {
	digits := func(d string, n int) string { return "0x" + strings.Repeat(d, n) }
	fill := func(ts, who, token, tx, index, name string) string {
		return ts + "," + digits(who, 40) + "," + token + ",BUY,10,2," + digits(tx, 64) + "," + index + "," + name + "\n"
	}
	market := func(d string) string {
		return `{"condition":"` + digits(d, 64) + `","question":"Q` + d + `?","outcomes":["Yes","No"],"tokens":["7` + d + `","6` + d + `"],"active":true,"updated_at":"2026-03-01T00:00:00Z"}` + "\n"
	}
	k := open(t, 1)
	mustImport(t, k, write(t, "fills.csv", lakeHeader+fill("2026-03-03T10:00:00Z", "1", "81", "3", "1", "ann")+fill("2026-03-03T10:00:00Z", "2", "82", "3", "2", "bob")))
	mustImport(t, k, write(t, "markets.ndjson", market("1")+market("2")))
	named := func(first, second string) []string {
		return []string{"UPDATE tokens SET named = {'condition': unhex('aa'), 'label': '" + first + "'} WHERE token_id = '81'",
			"UPDATE tokens SET named = {'condition': unhex('aa'), 'label': '" + second + "'} WHERE token_id = '82'"}
	}
	change(t, k, named("Yes", "No")...)
	days := &lake{dir: t.TempDir()}
	days.refresh(t, k)
	names, _, known := exportLake(t, k, export.LakeKnown{}, nil)
	for _, step := range []struct {
		what string
		do   func()
		days int
	}{
		{"the newest names of two wallets are repeated", func() {
			mustImport(t, k, write(t, "again.csv", lakeHeader+fill("2026-03-04T10:00:00Z", "1", "81", "4", "1", "ann")+fill("2026-03-04T10:00:00Z", "2", "82", "4", "2", "bob")))
		}, 1},
		{"two markets have a field of the same time", func() { change(t, k, `UPDATE markets SET field_versions = '{"active":1772400000000000}'`) }, 0},
		{"the labels of two tokens are exchanged", func() { change(t, k, named("No", "Yes")...) }, 2},
	} {
		step.do()
		var next map[string]string
		next, _, known = exportLake(t, k, known, names)
		whole, _, _ := exportLake(t, k, export.LakeKnown{}, nil)
		if diff := cmp.Diff(whole, next); diff != "" {
			t.Errorf("%s: a lake (-from scratch +incremental):\n%s", step.what, diff)
		}
		names = next
		if written := days.refresh(t, k); len(written) != step.days {
			t.Errorf("%s: the days %v were written, want %d", step.what, written, step.days)
		}
	}
}
