package rollups

import (
	"encoding/binary"
	"testing"

	"pgregory.net/rapid"

	"pmx/data"
	"pmx/rollups/serving"
)

// Wallets get their ids in any order of reading.
func TestWalletsAreAddedInAnyOrder(t *testing.T) {
	rapid.Check(t, func(rt *rapid.T) {
		n := rapid.IntRange(1, 20).Draw(rt, "wallets")
		ids := make([]data.WalletID, n)
		for i := range ids {
			ids[i] = data.WalletID(i)
		}
		l := &Live{}
		l.walletBuilder, l.excluded = serving.NewWalletBuilder(n), map[data.WalletID]bool{}
		for _, id := range rapid.Permutation(ids).Draw(rt, "order") {
			row := walletRow{Wallet: id}
			binary.BigEndian.PutUint32(row.Address[:], uint32(id))
			l.addWallet(&row)
		}
		wallets := l.walletBuilder.Wallets()
		if wallets.Len() != n || len(l.early) != 0 {
			rt.Fatalf("%d wallets of %d are there, %d wait", wallets.Len(), n, len(l.early))
		}
		for _, id := range ids {
			if a := wallets.Address(id); binary.BigEndian.Uint32(a[:]) != uint32(id) {
				rt.Errorf("wallet %d has the address %s", id, a)
			}
		}
	})
}
