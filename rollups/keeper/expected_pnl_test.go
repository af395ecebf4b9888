package keeper_test

import (
	"fmt"
	"path/filepath"
	"strings"
	"testing"

	"pmx/data"
	"pmx/rollups/keeper"
	"pmx/rollups/serving"

	"pmx/data/testfiles"
)

// TestEveryWalletHasItsExpectedPnL: invented trades of 146 wallets in six markets, one of them
// open, with figures from a calculation that shares no code with pmx. They include repeated rows,
// names in place of addresses, labels in two spellings, and tokens that were sold without having
// been bought. If the captured data is there, also the trades of 1,429 wallets in 2022.
func TestEveryWalletHasItsExpectedPnL(t *testing.T) {
	expected := rows(t, testfiles.Path("pnl", "expected_wallet_pnl.csv"))
	short := 0
	for _, e := range expected {
		if e["negative_share_legs"] != "0" {
			short++
		}
	}
	if len(expected) != 146 || short < 50 {
		t.Fatalf("%d wallets are expected, %d of them short of a token", len(expected), short)
	}
	expectPnL(t, expected, 1_123, testfiles.Path("pnl", "trades"), testfiles.Path("pnl", "markets.csv"))
	if derived, ok := testfiles.Beside("A_trades", "midterms2022_fpmm_derived"); ok {
		expected := rows(t, filepath.Join(derived, "expected_wallet_pnl.csv"))
		expectPnL(t, expected, 14_580, filepath.Join(derived, "..", "midterms2022_fpmm"), filepath.Join(derived, "markets.csv"))
	}
}

// expectPnL imports trades with the winners of their markets and compares every wallet's
// figures with those of a list.
func expectPnL(t *testing.T, expected []map[string]string, fills int64, trades, winners string) {
	t.Helper()
	k := open(t, t.TempDir())
	mustImport(t, k, trades, winners)
	snap := k.Snapshot()
	if snap.Counts.Fills != fills {
		t.Errorf("%d fills, want %d", snap.Counts.Fills, fills)
	}
	if snap.Wallets() != len(expected) {
		t.Errorf("%d wallets, want %d", snap.Wallets(), len(expected))
	}
	for _, e := range expected {
		trader, ok := find(t, k, snap, e["wallet"])
		if !ok {
			t.Errorf("wallet %s is not known", e["wallet"])
			continue
		}
		want, err := data.ParseMicro(e["real_pnl_all_trades_plus_redemption"])
		if err != nil {
			t.Fatal(err)
		}
		if cents(trader.Totals.RealPnL()) != cents(want) {
			t.Errorf("wallet %s: real_pnl %s, want %s", e["wallet"], trader.Totals.RealPnL(), want)
		}
		for _, c := range []struct {
			name string
			got  int64
		}{
			{"trades", trader.Totals.Fills}, {"unique_markets", trader.Totals.Markets}, {"active_days", trader.Totals.ActiveDays},
			{"won_markets", trader.Totals.WinningMarkets}, {"resolved_markets", trader.Totals.ResolvedMarkets},
			// The published count of negative legs omits those below a cent.
		} {
			if fmt.Sprint(c.got) != e[c.name] {
				t.Errorf("wallet %s: %s %d, want %s", e["wallet"], c.name, c.got, e[c.name])
			}
		}
	}
	alsoVerify(t, k)
}

// cents rounds to whole cents, half away from zero.
func cents(m data.Micro) data.Micro { return data.MulDiv(m, 1, 10_000) }

// find looks a wallet up by address, or by user name if the source has no address.
func find(t *testing.T, k *keeper.Keeper, snap *serving.Snapshot, wallet string) (serving.Trader, bool) {
	t.Helper()
	a, err := data.ParseAddress(wallet)
	if err == nil {
		return snap.Trader(a)
	}
	for i := range data.WalletID(snap.Wallets()) {
		if trader, ok := snap.Trader(snap.WalletAt(i)); ok && strings.EqualFold(trader.Name, wallet) {
			return trader, true
		}
	}
	return serving.Trader{}, false
}
