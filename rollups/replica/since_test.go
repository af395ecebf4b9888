package replica

import (
	"testing"

	"pmx/engine"
	"pmx/engine/backup"
)

// TestWhatIsUnchangedOfADatabase: a range of the file is unchanged if every block of the backup
// that it touches is in both states with the same contents. The first block is the header, which
// each commit changes.
func TestWhatIsUnchangedOfADatabase(t *testing.T) {
	state := func(blocks ...string) *backup.Copy {
		name := "pmx.duckdb"
		if got := engine.Dir("").Database(); got != name {
			t.Fatalf("the database is called %s", got)
		}
		return &backup.Copy{Dir: "served", Manifest: &backup.Manifest{Files: []backup.File{{Name: name, Head: engine.FileHead, Blocks: blocks}}}}
	}
	s := since(state("head1", "a", "b", "c", "end1"), state("head2", "a", "x", "c", "end2", "new"))
	if s == nil {
		t.Fatal("the states share nothing")
	}
	const whole, quarter = backup.BlockSize, backup.BlockSize / 4
	for name, c := range map[string]struct {
		at, size int64
		want     bool
	}{
		"the same":                           {0, whole, true},
		"changed":                            {whole, whole, false},
		"behind a changed one":               {2 * whole, whole, true},
		"the end that grew":                  {3 * whole, whole, false},
		"in one state alone":                 {4 * whole, whole, false},
		"beyond both":                        {9 * whole, whole, false},
		"before the head":                    {-whole, whole, false},
		"the last quarter of the same":       {3 * quarter, quarter, true},
		"the first quarter of a changed":     {whole, quarter, false},
		"a quarter behind a changed one":     {2*whole + quarter, quarter, true},
		"from the same into a changed one":   {3 * quarter, 2 * quarter, false},
		"a small block of the end that grew": {3 * whole, quarter, false},
	} {
		if got := s.Unchanged(c.at, c.size); got != c.want {
			t.Errorf("%s: unchanged is %t", name, got)
		}
	}
	if since(state("head1", "a"), &backup.Copy{Manifest: &backup.Manifest{Files: []backup.File{{Name: "pmx.duckdb", Blocks: []string{"a"}}}}}) != nil {
		t.Error("a database that was cut elsewhere is compared")
	}
}
