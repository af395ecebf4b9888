package main

import (
	"strings"
	"testing"

	"pmx/rollups"
)

func TestAFailedCheckSaysWhatIsWrong(t *testing.T) {
	var out strings.Builder
	printChecks(&out, []rollups.Check{
		{Name: "rollups_current", Detail: "the rollups lack some of the facts: run pmx rebuild"},
		{Name: "unique_fills", OK: true, Rows: 1234},
		{Name: "grain_sums", Rows: 10, Bad: 1, Detail: "run pmx rebuild"},
	})
	const want = `FAILED  rollups_current: the rollups lack some of the facts: run pmx rebuild
ok      unique_fills                      1,234 rows
FAILED  grain_sums                           10 rows, 1 wrong: run pmx rebuild
2 of 3 checks failed
`
	if out.String() != want {
		t.Errorf("got:\n%s\nwant:\n%s", out.String(), want)
	}
}
