package api

import (
	"strings"
	"testing"
	"time"

	"pmx/data"
	"pmx/rollups/serving"
	"pmx/rollups/serving/screen"
)

// epochs returns snapshots of one market, which changes in each.
func epochs(n int) (list []*encodedSnapshot) {
	catalog, screener := serving.NewCatalogBuilder(), serving.NewScreenerBuilder()
	for i := range n {
		catalog.Set(&serving.Market{Condition: data.Hash{1}})
		f := serving.NewFigures(serving.TakerUSD)
		f.Volume24h = data.Micro(i)
		catalog.SetFigures(0, f)
		snap := &serving.Snapshot{Epoch: uint64(i), Catalog: catalog.Seal()}
		snap.Screener = screener.Next(snap.Catalog)
		list = append(list, newEncodedSnapshot(snap))
	}
	return list
}

func TestCursorsOfAnEarlierRunHaveExpired(t *testing.T) {
	now := time.Unix(1_700_000_000, 0)
	before, after := &API{pinned: newPinnedEpochs(now)}, &API{pinned: newPinnedEpochs(now.Add(time.Minute))}
	v := epochs(1)[0]
	want := screen.Place{Value: screen.Null, Volume: 7, Condition: data.Hash{1, 31: 2}}
	b := before.pinned.appendPosition(nil, before.pinned.pin(v.markets, v.markets, now), &want)
	w, place, bad := before.readScreenerPosition(b, v, now)
	if bad != nil || w != v.markets || *place != want {
		t.Errorf("in the same run: %+v, %v", place, bad)
	}
	after.pinned.pin(v.markets, v.markets, now) // it has the same id there
	if _, _, bad = after.readScreenerPosition(b, v, now); bad == nil || bad.code != "invalid_cursor" || !strings.Contains(bad.detail, "expired") {
		t.Errorf("after a restart: %v", bad)
	}
	if _, _, bad = before.readScreenerPosition(b[1:], v, now); bad == nil || strings.Contains(bad.detail, "expired") {
		t.Errorf("a place cut short: %v", bad)
	}
}

// The memory of pinned epochs is bounded: three of four epochs fit, and the one whose scan was not
// continued is dropped first.
func TestPinnedEpochsAreBounded(t *testing.T) {
	now := time.Unix(1_700_000_000, 0)
	k, views := newPinnedEpochs(now), epochs(6)
	one := views[0].markets.ownBytes(views[1].markets)
	if one <= 0 || views[0].markets.ownBytes(views[0].markets) != 0 {
		t.Fatalf("an epoch keeps %d bytes that the next one does not have", one)
	}
	k.maxBytes = 3 * one
	current := views[5]
	for i, v := range views[:4] {
		k.pin(v.markets, v.markets, now.Add(time.Duration(i)*time.Second))
	}
	if k.lookUp(views[0].markets.id, current.markets, now) == nil {
		t.Fatal("the first epoch is gone before anything was published")
	}
	k.sweep(current.markets, now)
	var kept []uint64
	for _, w := range k.epochs {
		kept = append(kept, w.id)
	}
	// The second was idle the longest of those whose scan was not continued.
	if len(kept) != 3 || kept[0] != 1 || kept[1] != 3 || k.pinnedBytes(current.markets) > k.maxBytes {
		t.Errorf("kept %v, %d bytes of %d", kept, k.pinnedBytes(current.markets), k.maxBytes)
	}
	k.pin(current.markets, current.markets, now.Add(time.Minute))
	k.sweep(current.markets, now.Add(pinIdle+30*time.Second))
	if len(k.epochs) != 1 || k.epochs[0] != current.markets {
		t.Errorf("%d epochs are pinned when all but one are idle", len(k.epochs))
	}
	k.maxBytes = -1
	k.sweep(current.markets, now.Add(time.Minute))
	if len(k.epochs) != 0 {
		t.Error("the current epoch is pinned, although it exceeds the maximum")
	}
}

// TestAScanOfAWalletsMarketsKeepsNoColumns: it is of one epoch, too, but the screener's columns are
// not kept for it.
func TestAScanOfAWalletsMarketsKeepsNoColumns(t *testing.T) {
	now := time.Unix(1_700_000_000, 0)
	a, views := &API{pinned: newPinnedEpochs(now), pinnedHoldings: newPinnedEpochs(now)}, epochs(3)
	current := views[2]
	for _, v := range views[:2] {
		a.pinned.pin(v.markets, v.markets, now)
	}
	first := views[0].holdings
	want := serving.HoldingPlace{Key: 5, Volume: 7, Unmapped: true, Condition: data.Hash{1}}
	b := appendHoldingPosition(a.pinnedHoldings.appendPin(nil, a.pinnedHoldings.pin(first, first, now)), &want)
	m, place, bad := a.readHoldingPosition(b, current, now)
	if bad != nil || m != first || *place != want || m.epoch != 0 || m.catalog != views[0].snap.Catalog {
		t.Errorf("in a later epoch: %+v, %+v, %v", m, place, bad)
	}
	a.pinnedHoldings.pin(views[1].holdings, current.holdings, now)
	scans, holdings := a.pinned.pinnedBytes(current.markets), a.pinnedHoldings.pinnedBytes(current.holdings)
	if holdings <= 0 || holdings > scans/2 {
		t.Errorf("two epochs keep %d bytes, and for the screener %d", holdings, scans)
	}
	a.pinnedHoldings.sweep(current.holdings, now.Add(pinIdle+time.Second))
	if _, _, bad := a.readHoldingPosition(b, current, now); bad == nil || !strings.Contains(bad.detail, "expired") {
		t.Errorf("after the time that it is kept: %v", bad)
	}
}
