package engine

import "testing"

// TestDuckDBLeavesGoWhatTheHeapNeeds, down to a minimum; the sum of the parts is constant, and
// small changes of the heap change nothing.
func TestDuckDBLeavesGoWhatTheHeapNeeds(t *testing.T) {
	for _, total := range []int64{LeastMemory, 600_000_000, 2_000_000_000, 6_000_000_000, 1 << 40} {
		for _, databases := range []int64{1, 2} {
			for _, threads := range []int{1, 2, 16} {
				m := divideMemory(total)
				d := NewDivision(m, databases, threads)
				for heap := m.Go / 8; heap < 2*total; heap += m.Go / 8 {
					duckDB := d.duckDB(d.Now(), heap)
					goes := m.Go + m.DuckDB - duckDB
					if duckDB < min(d.least, m.DuckDB) || goes < m.Go {
						t.Errorf("of %d for a heap of %d: DuckDB %d, Go %d", total, heap, duckDB, goes)
					}
					if needed := d.needed(d.Now(), heap); (goes < goNeeds(heap)) != (needed > total) || needed > 0 && needed <= total {
						t.Errorf("of %d for a heap of %d: Go gets %d, and %d are needed", total, heap, goes, needed)
					} else if needed > 0 {
						if more := NewDivision(divideMemory(needed), databases, threads); more.needed(more.Now(), heap) != 0 {
							t.Errorf("%d are needed for a heap of %d, and are not enough", needed, heap)
						}
					}
				}
			}
		}
	}
	d := NewDivision(divideMemory(6_000_000_000), 1, 2) // halves of 2,604 MB
	at := func(heap int64) Divided {
		now := d.Now()
		was := now.Go + now.DuckDB
		now.DuckDB = d.duckDB(now, heap)
		now.Go = was - now.DuckDB
		d.becomes(now)
		return now
	}
	for _, c := range []struct{ heap, goes int64 }{
		{1_000_000_000, 2_604_000_000},
		{2_600_000_000, 3_296_000_000}, // a quarter more, 32 MB, and up to the next step
		{2_610_000_000, 3_296_000_000},
		{2_620_000_000, 3_312_000_000},
		{2_400_000_000, 3_312_000_000}, // not much less
		{2_200_000_000, 2_784_000_000},
		{5_000_000_000, 2*2_604_000_000 - leastDuckDB},
		{100_000_000, 2_604_000_000},
	} {
		if got := at(c.heap); got.Go != c.goes {
			t.Errorf("for a heap of %d Go has %d, want %d", c.heap, got.Go, c.goes)
		}
	}
}

func TestNothingIsDividedWhereTheOperatorLimitsGo(t *testing.T) {
	t.Setenv("GOMEMLIMIT", "1GiB")
	m := divideMemory(6_000_000_000)
	m.Go = 1 << 30
	d := NewDivision(m, 1, 2)
	more, err := d.Follow(t.Context(), nil, 2_600_000_000)
	if now := d.Now(); more || err != nil || now.Memory != m || !now.GoFixed || now.Needed != 4_100_000_000 {
		t.Errorf("%+v, %v, %v", now, more, err)
	}
}
