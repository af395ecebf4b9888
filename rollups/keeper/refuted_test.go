package keeper

import (
	"testing"

	"pmx/rollups"
)

// What is logged of a check that is not about rows does not say that none of them is wrong.
func TestFailedChecksAreListed(t *testing.T) {
	err := refutedBy([]rollups.Check{{Name: "rollups_current", Detail: "run pmx rebuild"}, {Name: "unique_fills", OK: true, Rows: 7}, {Name: "grain_sums", Rows: 7, Bad: 2, Detail: "run pmx verify"}})
	if want := "rollups_current: run pmx rebuild\ngrain_sums: 2 of 7 rows: run pmx verify"; err == nil || err.Error() != want {
		t.Errorf("err = %v, want %s", err, want)
	}
}
