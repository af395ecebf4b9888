package keeper_test

import (
	"context"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"pmx/data/sample"
	"pmx/rollups/serving"
)

// A scan reads the pages of a market from one snapshot, even if the next import is committed
// meanwhile.
func TestPagesOfMarketsStayWithTheirSnapshot(t *testing.T) {
	dir := filepath.Join(t.TempDir(), "venue")
	if _, err := sample.Write(context.Background(), sample.Config{Fills: 6_000, FileRows: 2_500, Days: sampleDays()}, dir, nil); err != nil {
		t.Fatal(err)
	}
	files, _ := filepath.Glob(filepath.Join(dir, "orderFilled*.csv"))
	others, _ := filepath.Glob(filepath.Join(dir, "events.ndjson"))
	// Two files of the same days: the second one has the rows that the first one lacks.
	var texts [2]strings.Builder
	for i, part := range files {
		text, err := os.ReadFile(part)
		if err != nil {
			t.Fatal(err)
		}
		lines := strings.SplitAfter(strings.TrimSuffix(string(text), "\n"), "\n")
		if i == 0 {
			texts[0].WriteString(lines[0])
			texts[1].WriteString(lines[0])
		}
		for k, line := range lines[1:] {
			if !strings.HasSuffix(line, "\n") {
				line += "\n"
			}
			to := 1
			if k%4 == 0 {
				to = 0
			}
			texts[to].WriteString(line)
		}
	}
	files = nil
	for i := range texts {
		path := filepath.Join(dir, fmt.Sprintf("orderFilled-x%d.csv", i))
		if err := os.WriteFile(path, []byte(texts[i].String()), 0o600); err != nil {
			t.Fatal(err)
		}
		files = append(files, path)
	}
	k := open(t, t.TempDir())
	mustImport(t, k, append(others, files[:len(files)-1]...)...)
	snap := k.Snapshot()
	scan := func(id int32, n int) (all []serving.Fill) {
		var after *serving.Fill
		for {
			page, err := k.Reader().MarketFills(context.Background(), nil, snap.Catalog.Tokens(id), snap.Batch, snap.Catalog.Figures(id), after, n+1)
			if err != nil {
				t.Fatal(err)
			}
			all = append(all, page[:min(n, len(page))]...)
			if len(page) <= n {
				return all
			}
			after = &all[len(all)-1]
		}
	}
	before := map[int32][]serving.Fill{}
	for id := range int32(snap.Catalog.Len()) {
		if f := snap.Catalog.Figures(id); f != nil && f.Trades > 4 {
			before[id] = scan(id, 5)
		}
	}
	mustImport(t, k, files[len(files)-1])
	bad := 0
	for id, want := range before {
		got := scan(id, 5)
		if !slices.Equal(got, want) {
			bad++
			if bad < 6 {
				t.Errorf("market %d: %d fills by pages before the import, %d during it", id, len(want), len(got))
			}
		}
	}
	if len(before) == 0 {
		t.Error("nothing is compared")
	}
}
