package ingest

import (
	"encoding/binary"
	"fmt"
	"os"
	"runtime"
	"strings"
	"testing"
	"time"

	"pmx/data"
)

// TestMarketsOfAFileAreBounded: 120 MB of texts of 30,000 markets with two records each are merged
// in a few megabytes, and every market has the values of its second record.
func TestMarketsOfAFileAreBounded(t *testing.T) {
	dir, peak := t.TempDir(), uint64(0)
	look := func() {
		var m runtime.MemStats
		runtime.GC()
		runtime.ReadMemStats(&m)
		peak = max(peak, m.HeapAlloc)
	}
	look()
	start, m := peak, newMarkets(dir, 4<<20)
	said := func(i, nth int) data.Market {
		next := data.Market{Description: strings.Repeat("x", 2000) + fmt.Sprint(i, nth), UpdatedAt: time.Unix(int64(nth), 0).UTC()}
		binary.BigEndian.PutUint32(next.Condition[:], uint32(i)*2654435761)
		return next
	}
	for nth := range 2 {
		for i := range 30_000 {
			if err := m.add(int64(i), said(i, nth)); err != nil {
				t.Fatal(err)
			}
			if i%2000 == 0 {
				look()
			}
		}
	}
	n := 0
	err := m.each(func(g *gathered) error {
		if n++; n%2000 == 0 {
			look()
		}
		if g.Line < 0 || g.Market.Description != said(int(g.Line), 1).Description {
			return fmt.Errorf("line %d has %q", g.Line, g.Market.Description[2000:])
		}
		return nil
	})
	if err != nil || n != 30_000 {
		t.Errorf("%d markets, %v", n, err)
	}
	if grown := peak - start; grown > 24<<20 {
		t.Errorf("it took %d KB", grown>>10)
	}
	if err := m.close(); err != nil {
		t.Error(err)
	}
	if left, _ := os.ReadDir(dir); len(left) > 0 {
		t.Errorf("left: %v", left)
	}
}
