package keeper_test

import (
	"context"
	"slices"
	"strconv"
	"strings"
	"testing"
	"time"

	"pmx/data"
	"pmx/rollups/serving"
)

// The daily profits of wallets end at the requested time, even if the database has later fills of
// that day.
func TestProfitOfDaysEndsWithATime(t *testing.T) {
	k := openFacts(t, t.TempDir())
	mustImport(t, k, write(t, "fills.csv", plainFills+strings.Join([]string{
		"0x" + strings.Repeat("a", 64) + ",2026-02-28T23:59:59Z," + walletAnn + ",taker,77,BUY,10,4,0",
		"0x" + strings.Repeat("b", 64) + ",2026-03-01T10:00:00Z," + walletAnn + ",taker,77,SELL,2,1.5,0.25",
		"0x" + strings.Repeat("c", 64) + ",2026-03-01T10:00:00Z," + walletBob + ",maker,77,BUY,2,1.5,0",
		"0x" + strings.Repeat("d", 64) + ",2026-03-01T10:00:01Z," + walletAnn + ",taker,77,SELL,3,2,0.5",
		"0x" + strings.Repeat("e", 64) + ",2026-03-01T10:00:01Z," + walletBob + ",maker,77,BUY,3,2,1",
		"0x" + strings.Repeat("f", 64) + ",2026-03-02T00:00:00Z," + walletAnn + ",taker,77,SELL,1,0.5,0",
	}, "\n")+"\n"))
	for at, want := range map[string][]string{
		"2026-03-01T10:00:00Z": {"0 20512 -4000000", "0 20513 1250000", "1 20513 -1500000"},
		"2026-03-01T10:00:01Z": {"0 20512 -4000000", "0 20513 2750000", "1 20513 -3500000"},
		"2026-02-28T23:59:58Z": nil,
	} {
		upTo, err := time.Parse(time.RFC3339, at)
		if err != nil {
			t.Fatal(err)
		}
		days, err := k.Reader().ProfitDays(context.Background(), []data.WalletID{0, 1}, 20500, upTo.UnixMicro())
		if err != nil {
			t.Fatal(err)
		}
		days = slices.DeleteFunc(days, func(d serving.ProfitDay) bool { return d.USD == 0 })
		var got []string
		for _, d := range days {
			got = append(got, strings.Join([]string{strconv.Itoa(int(d.Wallet)), strconv.Itoa(int(d.Day)), strconv.FormatInt(int64(d.USD), 10)}, " "))
		}
		if !slices.Equal(got, want) {
			t.Errorf("up to %s: %q, want %q", at, got, want)
		}
	}
}
