package api

import (
	"strings"
	"testing"
	"time"

	"pmx/data"
	"pmx/rollups/serving"
	"pmx/rollups/serving/screen"
)

// epochs makes views of one market, each of which changed since the one before.
func epochs(n int) (list []*view) {
	catalog, screener := serving.NewCatalogBuilder(), serving.NewScreenerBuilder()
	for i := range n {
		catalog.Set(&serving.Market{Condition: data.Hash{1}})
		f := serving.NewFigures(serving.TakerUSD)
		f.Volume24h = data.Micro(i)
		catalog.SetFigures(0, f)
		snap := &serving.Snapshot{Epoch: uint64(i), Catalog: catalog.Seal()}
		snap.Screener = screener.Next(snap.Catalog)
		list = append(list, newView(snap))
	}
	return list
}

func TestCursorsOfAnEarlierRunHaveExpired(t *testing.T) {
	now := time.Unix(1_700_000_000, 0)
	before, after := &API{walks: newWalks(now)}, &API{walks: newWalks(now.Add(time.Minute))}
	v := epochs(1)[0]
	want := screen.Place{Value: screen.Null, Volume: 7, Condition: data.Hash{1, 31: 2}}
	b := before.walks.appendScreenPlace(nil, before.walks.keep(v.walk, v.walk, now), &want)
	w, place, bad := before.readScreenPlace(b, v, now)
	if bad != nil || w != v.walk || *place != want {
		t.Errorf("in the same run: %+v, %v", place, bad)
	}
	after.walks.keep(v.walk, v.walk, now) // which has the same id there
	if _, _, bad = after.readScreenPlace(b, v, now); bad == nil || bad.code != "invalid_cursor" || !strings.Contains(bad.detail, "expired") {
		t.Errorf("after a restart: %v", bad)
	}
	if _, _, bad = before.readScreenPlace(b[1:], v, now); bad == nil || strings.Contains(bad.detail, "expired") {
		t.Errorf("a place cut short: %v", bad)
	}
}

// What walks keep alive is bounded: of four epochs, each of which replaced the
// same, three fit; the one that nobody followed goes first.
func TestWalksKeepNoMoreThanTheyMay(t *testing.T) {
	now := time.Unix(1_700_000_000, 0)
	k, views := newWalks(now), epochs(6)
	one := views[0].walk.alone(views[1].walk)
	if one <= 0 || views[0].walk.alone(views[0].walk) != 0 {
		t.Fatalf("an epoch keeps %d bytes that the next has not", one)
	}
	k.most = 3 * one
	current := views[5]
	for i, v := range views[:4] {
		k.keep(v.walk, v.walk, now.Add(time.Duration(i)*time.Second))
	}
	if k.follow(views[0].walk.id, current.walk, now) == nil {
		t.Fatal("the first walk is gone before anything was published")
	}
	k.sweep(current.walk, now)
	var kept []uint64
	for _, w := range k.kept {
		kept = append(kept, w.id)
	}
	// The second was idle longest of those that nobody followed.
	if len(kept) != 3 || kept[0] != 1 || kept[1] != 3 || k.bytes(current.walk) > k.most {
		t.Errorf("kept %v, %d bytes of %d", kept, k.bytes(current.walk), k.most)
	}
	k.keep(current.walk, current.walk, now.Add(time.Minute))
	k.sweep(current.walk, now.Add(walkIdle+30*time.Second))
	if len(k.kept) != 1 || k.kept[0] != current.walk {
		t.Errorf("%d walks are kept when all but one are idle", len(k.kept))
	}
	k.most = -1
	k.sweep(current.walk, now.Add(time.Minute))
	if len(k.kept) != 0 {
		t.Error("not even the current walk may be kept, and it is")
	}
}
