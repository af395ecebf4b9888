package serving_test

import (
	"encoding/binary"
	"slices"
	"sync"
	"testing"

	"pmx/data"
	"pmx/rollups/serving"
)

func address(i data.WalletID) (a data.Address) {
	binary.BigEndian.PutUint32(a[16:], uint32(i))
	return a
}

func TestASealedSnapshotNeverChanges(t *testing.T) {
	b := serving.NewWalletBuilder(0)
	for i := range data.WalletID(1000) {
		b.Wallets().Add(address(i))
		b.Set(i, serving.Totals{Fills: int64(i)})
	}
	b.SetName(7, "Ann")
	var before serving.Snapshot
	b.Seal(&before)
	b.Set(7, serving.Totals{Fills: 99})
	b.SetName(7, "Bob")
	b.Wallets().Add(address(1000))
	b.Set(1000, serving.Totals{Fills: 1})
	var after serving.Snapshot
	b.Seal(&after)
	if got, ok := before.Trader(address(7)); !ok || got.Totals.Fills != 7 || got.Name != "Ann" {
		t.Errorf("the earlier snapshot shows %+v %q, want 7 fills of Ann", got.Totals, got.Name)
	}
	if _, ok := before.Trader(address(1000)); ok {
		t.Error("the earlier snapshot knows a wallet that came later")
	}
	if got, _ := after.Trader(address(7)); got.Totals.Fills != 99 || got.Name != "Bob" {
		t.Errorf("the later snapshot shows %+v %q, want 99 fills of Bob", got.Totals, got.Name)
	}
	if rows, differ := before.Compare(&after); differ == 0 || rows < 1000 {
		t.Errorf("comparing them: %d of %d rows differ, want some", differ, rows)
	}
}

func TestLookupsWhileTheIndexGrows(t *testing.T) {
	b := serving.NewWalletBuilder(0)
	const n = 20_000
	var readers sync.WaitGroup
	stop := make(chan struct{})
	for range 2 {
		readers.Go(func() {
			for i := data.WalletID(0); ; i = (i + 7) % n {
				select {
				case <-stop:
					return
				default:
				}
				if id, ok := b.Wallets().Lookup(address(i)); ok && id != i {
					t.Errorf("wallet %d has id %d", i, id)
					return
				}
			}
		})
	}
	for i := range data.WalletID(n) {
		b.Wallets().Add(address(i))
	}
	close(stop)
	readers.Wait()
	for i := range data.WalletID(n) {
		if id, ok := b.Wallets().Lookup(address(i)); !ok || id != i {
			t.Fatalf("wallet %d: id %d, %v", i, id, ok)
		}
	}
}

func TestFirstTradesAreCountedAfterAMomentWithoutTheVenuesOwnWallets(t *testing.T) {
	b := serving.NewWalletBuilder(0)
	for i := range data.WalletID(200) {
		b.Wallets().Add(address(i))
		if i != 150 { // known by name alone
			b.Set(i, serving.Totals{FirstTS: int64(i) + 1, LastTS: 1000})
		}
	}
	s := serving.Snapshot{Venue: []data.WalletID{3, 120, 199}}
	b.Seal(&s)
	// After 0: 200 minus 150 minus three of the venue's. After 100: 101 to 200 minus wallet 150 and
	// two of the venue's. After 200: none.
	if got := s.FirstTradesAfter([]int64{0, 100, 200}); !slices.Equal(got, []int64{196, 97, 0}) {
		t.Errorf("got %d", got)
	}
}
