package api_test

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"strings"
	"sync/atomic"
	"testing"
	"time"

	"github.com/gofiber/fiber/v2"
	"github.com/rs/zerolog"

	"pmx/data"
	"pmx/http/access"
	"pmx/http/api/apitest"
	"pmx/http/wire"
	"pmx/rollups/serving"
)

// leaderboardVenue has thirty wallets, of which wallet i made i dollars in a window up to as_of, and 30 − i in any other;
// wallet 7 is the venue's own.
func leaderboardVenue(t *testing.T) *venue {
	snap := apitest.Snapshot(1, 30, 0)
	snap.Venue = []data.WalletID{7}
	v := newVenue(t, snap)
	v.wallets.Leaderboard = map[int]map[string][]serving.LeaderboardRow{0: {}, 3: {}, 5: {}}
	for age, parts := range v.wallets.Leaderboard {
		for i := range 30 {
			usd := data.Micro(i) * data.One
			if age > 0 {
				usd = 30*data.One - usd
			}
			parts["weather"] = append(parts["weather"], serving.LeaderboardRow{Wallet: data.WalletID(i), Fills: 1, SellUSD: usd, BuyUSD: data.One, Redemption: data.One, Unresolved: usd - data.One})
			for _, empty := range []string{"politics", "crypto"} {
				parts[empty] = append(parts[empty], serving.LeaderboardRow{Wallet: data.WalletID(i)})
			}
		}
	}
	return v
}

func askLeaderboard(t *testing.T, v *venue, tier access.Tier, query string) wire.RankedList[wire.TraderRow] {
	t.Helper()
	r := v.get(tier, "/leaderboard/traders?"+query)
	if r.status != 200 {
		t.Fatalf("%s: status = %d, body = %s", query, r.status, r.Body())
	}
	return exact[wire.RankedList[wire.TraderRow]](t, r.Body())
}

func TestRankedLeaderboards(t *testing.T) {
	v := leaderboardVenue(t)
	v.wallets.Made = []serving.ProfitDay{{Wallet: 29, Day: serving.DayOf(apitest.AsOf.UnixMicro()) - 1, USD: 5}, {Wallet: 29, Day: serving.DayOf(apitest.AsOf.UnixMicro()), USD: -2}}
	b := askLeaderboard(t, v, access.Alpha, "include=split&include=previous_rank&include=spark")
	// Wallet 29 was the last of 29 before.
	first := b.Data[0]
	if len(b.Data) != 29 || b.Period != "7d" || first.Address != apitest.Wallet(29).String() || first.RealPnL != 29*data.One || *first.ResolvedPnL != data.One || *first.UnresolvedCash != 28*data.One ||
		*first.PreviousRank != 29 || len(first.Spark) != 30 || first.Spark[27] != 0 || first.Spark[28] != 5 || first.Spark[29] != 3 || b.Data[1].Spark[29] != 0 {
		t.Errorf("%d rows, %+v", len(b.Data), first)
	}
	for _, r := range b.Data {
		if r.Address == apitest.Wallet(7).String() {
			t.Error("the venue's own wallet is ranked")
		}
	}
	reads := v.wallets.Reads
	if askLeaderboard(t, v, access.Alpha, "include=previous_rank&limit=3&offset=4"); v.wallets.Reads != reads {
		t.Errorf("%d reads for what was read in this epoch", v.wallets.Reads-reads)
	}
	// Every other wallet of the made-up venue has three resolved markets: the odd ones, without wallet 7.
	if some := askLeaderboard(t, v, access.Alpha, "min_resolved=3"); len(some.Data) != 14 || some.Data[0].ResolvedMarketsAllTime != 3 {
		t.Errorf("%d rows with three resolved markets", len(some.Data))
	}
	if none := askLeaderboard(t, v, access.Alpha, "min_resolved=4"); len(none.Data) != 0 {
		t.Errorf("got %d rows with four", len(none.Data))
	}
}

func TestRankedLeaderboardsAreTrimmedToThePlan(t *testing.T) {
	v := leaderboardVenue(t)
	for query, want := range map[string]string{
		"sort=volume":                  `20 true "explorer"`,
		"sort=volume&limit=20":         `20 false null`,
		"sort=roi&offset=25":           `4 false null`,
		"sort=roi&offset=10000":        `0 false null`,
		"category=weather&limit=200":   `20 true "explorer"`,
		"include=split&offset=5":       `20 true "explorer"`,
		"include=spark&limit=1":        `1 false null`,
		"period=30d&category=POLITICS": `20 true "explorer"`,
	} {
		r := v.get(access.Free, "/leaderboard/traders?"+query)
		if got := fmt.Sprint(r.rows(t), " ", r.text("truncated"), " ", r.text("upgrade_hint")); got != want {
			t.Errorf("%s: got %s, want %s", query, got, want)
		}
	}
	for query, param := range map[string]string{"sort=pnl": "sort", "include=all": "include", "min_resolved=-1": "min_resolved", "offset=10001": "offset", "category=nonsense": "category"} {
		if r := v.get(access.Free, "/leaderboard/traders?"+query); r.status != 400 || r.text("param") != `"`+param+`"` {
			t.Errorf("%s: status = %d, body = %s", query, r.status, r.Body())
		}
	}
	first := v.get(access.Free, "/leaderboard/traders?sort=roi")
	if again := v.get(access.Free, "/leaderboard/traders?sort=roi", "If-None-Match: "+first.header("Etag")); again.status != 304 {
		t.Errorf("the same leaderboard has the status %d", again.status)
	}
}

// Choices of which several may be given are repeated or separated by commas, in any order: equal sets are one response and one reading.
func TestChoicesMayBeSeparatedByCommas(t *testing.T) {
	v := leaderboardVenue(t)
	for first, others := range map[string][]string{
		"/leaderboard/traders?include=split&include=previous_rank&include=spark": {"include=spark,split,previous_rank", "include=previous_rank,spark&include=split", "include=spark%2Csplit,previous_rank"},
		"/screener?status=open&status=closed":                                    {"status=closed,open"},
		"/pmx-index/histories?name=PMX-Whale&name=PMX-Volume":                    {"name=PMX-Volume,PMX-Whale"},
		"/search?q=a&kind=trader&kind=city":                                      {"q=a&kind=city,trader"},
	} {
		path, _, _ := strings.Cut(first, "?")
		want := v.get(access.Alpha, first)
		reads := v.wallets.Reads
		for _, query := range others {
			if got := v.get(access.Alpha, path+"?"+query); got.status != 200 || got.header("Etag") != want.header("Etag") || !bytes.Equal(got.Body(), want.Body()) {
				t.Errorf("%s?%s: status = %d, body = %s, want as %s: %s", path, query, got.status, got.Body(), first, want.Body())
			}
		}
		if v.wallets.Reads != reads {
			t.Errorf("%s: %d reads for what was read", path, v.wallets.Reads-reads)
		}
	}
	for query, detail := range map[string]string{
		"include=spark,":                  "include must be one of split, previous_rank, spark.",
		"include=,spark":                  "include must be one of split, previous_rank, spark.",
		"include=spark, split":            "include must be one of split, previous_rank, spark.",
		"include=split&include=spark,all": "include must be one of split, previous_rank, spark.",
		"include=spark,split,spark,split": "include may have at most 3 values.",
		"sort=volume,roi":                 "sort must be one of real_pnl, volume, roi.",
	} {
		r := v.get(access.Alpha, "/leaderboard/traders?"+strings.ReplaceAll(query, " ", "%20"))
		if r.status != 400 || r.text("code") != `"invalid_parameter"` || r.text("detail") != `"`+detail+`"` {
			t.Errorf("%s: status = %d, body = %s", query, r.status, r.Body())
		}
	}
}

// The rows of a period are read once for all leaderboards of the same categories, in any order and
// with any repeats.
func TestLeaderboardsOfAPeriodShareOneReading(t *testing.T) {
	v := leaderboardVenue(t)
	reads := func(query string) uint64 {
		_, before := v.api.CachedReads()
		askLeaderboard(t, v, access.Alpha, query)
		_, after := v.api.CachedReads()
		return after - before
	}
	if n := reads("category=crypto&category=politics"); n != 2 { // the leaderboard, and its text
		t.Errorf("the first leaderboard takes %d reads", n)
	}
	if n := reads("category=politics&category=crypto&category=politics"); n != 0 {
		t.Errorf("the same categories in another order take %d reads", n)
	}
	for _, other := range []string{"sort=volume", "min_resolved=1", "sort=roi&min_resolved=2"} {
		if n := reads("category=crypto&category=politics&" + other); n != 2 { // ranked from the same rows, and written
			t.Errorf("%s takes %d reads", other, n)
		}
	}
}

// With KeepLeaderboards, leaderboards are read in the background: a request gets older ones at once, with their own time.
func TestKeptLeaderboardsAreNotWaitedFor(t *testing.T) {
	v := leaderboardVenue(t)
	second := apitest.AsOf.Truncate(time.Second) // as in responses
	v.wallets.LeaderboardGate = make(chan struct{})
	for i := range 60_000 { // much to read, for wallets that do not exist yet
		v.wallets.Leaderboard[5]["sports"] = append(v.wallets.Leaderboard[5]["sports"], serving.LeaderboardRow{Wallet: data.WalletID(1000 + i)})
	}
	ctx, stop := context.WithCancel(context.Background())
	kept := make(chan error, 1)
	go func() { kept <- v.api.KeepLeaderboards(ctx, time.Millisecond, zerolog.Nop()) }()
	first := make(chan wire.RankedList[wire.TraderRow], 1)
	go func() { first <- askLeaderboard(t, v, access.Alpha, "min_resolved=1") }()
	select {
	case <-first:
		t.Error("a response before the leaderboards were read")
	case <-v.leaderboardsRead:
		t.Error("leaderboards count as read before they were")
	case <-time.After(20 * time.Millisecond):
	}
	v.wallets.LeaderboardGate <- struct{}{}
	if b := <-first; !b.AsOf.Equal(second) {
		t.Errorf("as of %v", b.AsOf)
	}
	<-v.leaderboardsRead
	next := apitest.Snapshot(2, 30, 0)
	next.AsOf, next.Venue = apitest.AsOf.Add(time.Hour), []data.WalletID{7}
	v.api.Publish(next)
	b := askLeaderboard(t, v, access.Alpha, "period=1d&include=split")
	if !b.AsOf.Equal(second) || !b.WindowEnd.Equal(second) || !b.WindowStart.Equal(second.AddDate(0, 0, -1)) || len(b.Data) != 29 {
		t.Errorf("%d rows as of %v, from %v to %v", len(b.Data), b.AsOf, b.WindowStart, b.WindowEnd)
	}
	v.wallets.LeaderboardGate <- struct{}{} // the worker has requested the next ones
	for range 500 {
		if b = askLeaderboard(t, v, access.Alpha, "period=1d&include=split"); b.AsOf.Equal(second.Add(time.Hour)) {
			break
		}
		time.Sleep(10 * time.Millisecond)
	}
	if !b.AsOf.Equal(second.Add(time.Hour)) || !b.WindowEnd.Equal(second.Add(time.Hour)) {
		t.Errorf("as of %v after the next reading", b.AsOf)
	}
	stop()
	if err := <-kept; err != nil {
		t.Error(err)
	}
}

// If leaderboards cannot be read, the server keeps the last ones, and tries again.
func TestLeaderboardsThatCannotBeReadAreReadLater(t *testing.T) {
	v := leaderboardVenue(t)
	for i := range 60_000 {
		v.wallets.Leaderboard[5]["sports"] = append(v.wallets.Leaderboard[5]["sports"], serving.LeaderboardRow{Wallet: data.WalletID(1000 + i)})
	}
	var fails, failed atomic.Bool
	v.wallets.LeaderboardErr = func() error {
		if !fails.Load() {
			return nil
		}
		failed.Store(true)
		return errors.New("the database is closed")
	}
	ctx, stop := context.WithCancel(context.Background())
	kept := make(chan error, 1)
	go func() { kept <- v.api.KeepLeaderboards(ctx, time.Millisecond, zerolog.Nop()) }()
	was := *askLeaderboard(t, v, access.Alpha, "min_resolved=1").AsOf
	fails.Store(true)
	next := apitest.Snapshot(2, 30, 0)
	next.AsOf, next.Venue = apitest.AsOf.Add(time.Hour), []data.WalletID{7}
	v.api.Publish(next)
	for n := 0; n < 500 && !failed.Load(); n++ {
		if b := askLeaderboard(t, v, access.Alpha, "min_resolved=1"); !b.AsOf.Equal(was) {
			t.Fatalf("as of %v", b.AsOf)
		}
		time.Sleep(10 * time.Millisecond)
	}
	if b := askLeaderboard(t, v, access.Alpha, "min_resolved=1"); !failed.Load() || !b.AsOf.Equal(was) {
		t.Errorf("failed %t, as of %v", failed.Load(), b.AsOf)
	}
	fails.Store(false)
	for range 500 {
		if was = *askLeaderboard(t, v, access.Alpha, "min_resolved=1").AsOf; was.Equal(next.AsOf.Truncate(time.Second)) {
			break
		}
		time.Sleep(10 * time.Millisecond)
	}
	stop()
	if err := <-kept; err != nil || !was.Equal(next.AsOf.Truncate(time.Second)) {
		t.Errorf("%v, as of %v", err, was)
	}

	// Wallets of another database have other ids.
	fails.Store(true)
	other := apitest.Snapshot(3, 30, 0)
	other.AsOf, other.Venue, other.Lineage = next.AsOf, next.Venue, 1
	v.api.Publish(other)
	if status := v.get(access.Alpha, "/leaderboard/traders?min_resolved=1").status; status != fiber.StatusInternalServerError {
		t.Errorf("leaderboards of another database: status %d", status)
	}
}

// Leaderboards for which there is too little memory are read once per snapshot, however often they
// are requested.
func TestLeaderboardsThatAreTooLargeAreReadOnce(t *testing.T) {
	v := leaderboardVenue(t)
	reads := 0
	v.wallets.LeaderboardErr = func() error {
		reads++
		return serving.ErrLeaderboardsTooLarge
	}
	for range 3 {
		if status := v.get(access.Alpha, "/leaderboard/traders?min_resolved=1").status; status != fiber.StatusInternalServerError {
			t.Errorf("leaderboards that are too large: status %d", status)
		}
	}
	v.api.Publish(apitest.Snapshot(2, 30, 0))
	v.get(access.Alpha, "/leaderboard/traders?min_resolved=1")
	if reads != 1 {
		t.Errorf("they were read %d times for two snapshots within ten seconds", reads)
	}
}
