package keeper_test

import (
	"context"
	"fmt"
	"math/rand/v2"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	godiff "github.com/google/go-cmp/cmp"

	"pmx/data"
	"pmx/data/testfiles"
	"pmx/rollups/keeper"
	"pmx/rollups/serving"
)

// checkMarkets compares what is read of markets with the database, and returns how many of all were
// in memory and how many fills were compared.
func checkMarkets(t *testing.T, k *keeper.Keeper) (atHand, fills int) {
	t.Helper()
	ctx, snap, r := context.Background(), k.Snapshot(), k.Reader()
	for id := range int32(snap.Catalog.Len()) {
		tokens, figures := snap.Catalog.Tokens(id), snap.Catalog.Figures(id)
		if r.MarketInMemory(id, tokens, snap.Batch) {
			atHand++
		}
		if !sampled(snap, int64(id), testfiles.Cases(271, 17)) {
			continue
		}
		for _, n := range []int{20, 7, 55} {
			want, err := r.Reader.MarketFills(ctx, nil, tokens, snap.Batch, figures, nil, n)
			if err != nil {
				t.Fatal(err)
			}
			got, err := r.MarketFills(ctx, nil, tokens, snap.Batch, figures, nil, n)
			if diff := godiff.Diff(want, got); diff != "" || err != nil {
				t.Fatalf("%d fills of market %d (-database +reader): %v\n%s", n, id, err, diff)
			}
			fills += len(got)
		}
		checkPages(t, r, id, snap)
		checkCandles(t, r, id, snap)
		want, err := r.Reader.MarketTexts(ctx, id, snap.Batch)
		if err != nil {
			t.Fatal(err)
		}
		if got, err := r.MarketTexts(ctx, id, snap.Batch); err != nil || got != want {
			t.Fatalf("texts of market %d: %v\n got %+v\nwant %+v", id, err, got, want)
		}
	}
	return atHand, fills
}

// checkPages reads the fills of a market page by page: together they are the fills that are read at
// once.
func checkPages(t *testing.T, r *keeper.Reader, id int32, snap *serving.Snapshot) {
	t.Helper()
	tokens, figures := snap.Catalog.Tokens(id), snap.Catalog.Figures(id)
	want, err := r.MarketFills(context.Background(), nil, tokens, snap.Batch, figures, nil, 40)
	if err != nil {
		t.Fatal(err)
	}
	var after *serving.Fill
	for got := []serving.Fill(nil); len(got) < len(want); after = &got[len(got)-1] {
		page, err := r.MarketFills(context.Background(), nil, tokens, snap.Batch, figures, after, 9)
		if err != nil || len(page) == 0 {
			t.Fatalf("market %d has %d fills on its pages, want %d: %v", id, len(got), len(want), err)
		}
		got = append(got, page...)
		if n := min(len(got), len(want)); !slices.Equal(got[:n], want[:n]) {
			t.Fatalf("pages of market %d (-whole +pages)\n%s", id, godiff.Diff(want[:n], got[:n]))
		}
	}
}

// checkCandles compares the candles and the holders of a market, and the fills after one of its
// fills.
func checkCandles(t *testing.T, r *keeper.Reader, id int32, snap *serving.Snapshot) {
	t.Helper()
	ctx, tokens := context.Background(), snap.Catalog.Tokens(id)
	outcomes := make([]serving.OutcomeToken, len(tokens))
	for i, token := range tokens {
		outcomes[i] = serving.OutcomeToken{Token: token, Outcome: snap.Catalog.Token(token).Outcome}
	}
	var after *serving.Candle
	for i, hours := range []int64{1, 6, 24, 1} {
		want, err := r.Reader.Candles(ctx, outcomes, snap.Batch, hours, after, 30)
		if err != nil {
			t.Fatal(err)
		}
		got, err := r.Candles(ctx, outcomes, snap.Batch, hours, after, 30)
		if diff := godiff.Diff(want, got); diff != "" || err != nil {
			t.Fatalf("candles of market %d by %d hours (-database +reader): %v\n%s", id, hours, err, diff)
		}
		if i == 2 && len(want) > 1 {
			after = &want[len(want)/2]
		}
	}
	checkHolders(t, r, id, snap)
	checkEventTraders(t, r, id, snap)
	pages, err := r.Reader.MarketFills(ctx, nil, tokens, snap.Batch, snap.Catalog.Figures(id), nil, 33)
	if err != nil || len(pages) == 0 {
		return
	}
	behind := &pages[len(pages)/2]
	wanted, err := r.Reader.MarketFills(ctx, nil, tokens, snap.Batch, snap.Catalog.Figures(id), behind, 33)
	if err != nil {
		t.Fatal(err)
	}
	fills, err := r.MarketFills(ctx, nil, tokens, snap.Batch, snap.Catalog.Figures(id), behind, 33)
	if diff := godiff.Diff(wanted, fills); diff != "" || err != nil {
		t.Fatalf("fills of market %d after one of them (-database +reader): %v\n%s", id, err, diff)
	}
}

// checkHolders compares the holders of a market, all and some, and those without some wallets.
func checkHolders(t *testing.T, r *keeper.Reader, id int32, snap *serving.Snapshot) {
	t.Helper()
	some := *snap
	some.Venue = nil
	for wallet := data.WalletID(1); int(wallet) < snap.Wallets(); wallet += 3 {
		some.Venue = append(some.Venue, wallet)
	}
	for i, q := range []serving.HolderQuery{{Outcome: -1, N: 1 << 20}, {Outcome: -1, Short: true, N: 3}, {Outcome: 0, N: 2}, {Outcome: 1, Short: true, N: 1 << 20}} {
		s := snap
		if i%2 == 1 {
			s = &some
		}
		want, err := r.Reader.Holders(context.Background(), s, id, q)
		if err != nil {
			t.Fatal(err)
		}
		got, err := r.Holders(context.Background(), s, id, q)
		if diff := godiff.Diff(want, got); diff != "" || err != nil {
			t.Fatalf("holders %+v of market %d (-database +reader): %v\n%s", q, id, err, diff)
		}
	}
}

// checkEventTraders compares the traders of a market's event if the market is its first one, and
// otherwise of the market alone.
func checkEventTraders(t *testing.T, r *keeper.Reader, id int32, snap *serving.Snapshot) {
	t.Helper()
	markets := []int32{id}
	if e := snap.Catalog.Event(snap.Catalog.Market(id).EventKey()); e != nil && len(e.Markets) > 1 {
		if markets = e.Markets; markets[0] != id {
			return
		}
	}
	for _, n := range []int{1 << 20, 2} {
		want, err := r.Reader.EventTraders(context.Background(), snap, markets, n)
		if err != nil {
			t.Fatal(err)
		}
		got, err := r.EventTraders(context.Background(), snap, markets, n)
		if diff := godiff.Diff(want, got); diff != "" || err != nil {
			t.Fatalf("the first %d traders of markets %d (-database +reader): %v\n%s", n, markets, err, diff)
		}
	}
}

func mustHaveMarkets(t *testing.T, k *keeper.Keeper, missing int) {
	t.Helper()
	n, fills := checkMarkets(t, k)
	if all := k.Snapshot().Catalog.Len(); n != all-missing || all == 0 || fills == 0 {
		t.Errorf("%d of %d markets are in memory, want all but %d; %d fills compared", n, all, missing, fills)
	}
}

// TestSegmentsSurviveImportsAndRestarts: fills of which many have the same second, with markets
// that are described after they were traded, restarts, a rebuild, and an import that is left to a
// rebuild. The segments of wallets and of markets are compared with the database at every step.
func TestSegmentsSurviveImportsAndRestarts(t *testing.T) {
	mustHaveAll := func(t *testing.T, k *keeper.Keeper) {
		t.Helper()
		mustHave(t, k, 0)
		mustHaveMarkets(t, k, 0)
	}
	files := sampleFiles(t)
	k := open(t, t.TempDir())
	k.Settle()
	mustImport(t, k, files[1])
	mustImport(t, k, files[0], files[3])
	mustHaveAll(t, k)
	k = reopen(t, k)
	mustHaveAll(t, k)
	if testfiles.Long() { // a short run has restarted already, and has imported older fills above
		mustImport(t, k, files[4])
		mustImport(t, k, files[2]) // older than existing fills
		mustHaveAll(t, k)
		mustVerify(t, k)
		k = reopen(t, k)
		mustHaveAll(t, k)
		if err := k.Rebuild(context.Background(), nil); err != nil {
			t.Fatal(err)
		}
		mustHaveAll(t, k)
	}
	if err := k.RewriteSegments(context.Background()); err != nil {
		t.Fatal(err)
	}
	mustHaveAll(t, k)
	k.Bulk(1)
	mustImport(t, k, files[5])
	k.Settle()
	mustHaveAll(t, k)
	mustVerify(t, k)
}

// tie is a random fill of one of three tokens, with nearly all fields equal for many of them.
func tie(rng *rand.Rand, log bool) string {
	tx, second := rng.IntN(4), 10+rng.IntN(3)
	row := fmt.Sprintf("0x%064x,", 16*second+tx)
	if log {
		row += fmt.Sprintf("%d,", rng.Int32()) // two fills of one log would contradict each other
	}
	return row + fmt.Sprintf("2026-03-01T10:00:%02dZ,0x%040x,taker,%d,%s,%d,%d,0\n", second, 1+rng.IntN(6), 70+rng.IntN(3),
		[]string{"BUY", "SELL"}[rng.IntN(2)], 5+rng.IntN(2), 2+rng.IntN(2))
}

// ties writes n of them to a file.
func ties(t *testing.T, rng *rand.Rand, n int, log bool) string {
	var b strings.Builder
	b.WriteString(plainFills)
	if log {
		b.Reset()
		b.WriteString(strings.Replace(plainFills, "tx,", "tx,log_index,", 1))
	}
	for range n {
		b.WriteString(tie(rng, log))
	}
	return write(t, "ties.csv", b.String())
}

// checkTies compares the fills of every wallet and the newest ones of every set of tokens, and
// returns how many sets the file has.
func checkTies(t *testing.T, k *keeper.Keeper) (atHand int) {
	t.Helper()
	checkWallets(t, k)
	r, batch := k.Reader(), k.Snapshot().Batch
	figures := serving.NewFigures(serving.TakerUSD)
	figures.FirstTS, figures.LastTS, figures.Trades = 1, 1<<60, 1
	for set := 1; set < 8; set++ {
		var tokens []data.TokenID
		for token := range data.TokenID(3) {
			if set>>token&1 > 0 {
				tokens = append(tokens, token)
			}
		}
		if r.MarketInMemory(0, tokens, batch) {
			atHand++
		}
		for _, n := range []int{49, 1, 50, 20, 5, 13}[:testfiles.Cases(2, 6)] {
			want, err := r.Reader.MarketFills(context.Background(), nil, tokens, batch, &figures, nil, n)
			if err != nil || len(want) != n {
				t.Fatalf("%d fills of %v: %d, %v", n, tokens, len(want), err)
			}
			got, err := r.MarketFills(context.Background(), nil, tokens, batch, &figures, nil, n)
			if diff := godiff.Diff(want, got); diff != "" || err != nil {
				t.Fatalf("%d fills of tokens %v (-database +reader): %v\n%s", n, tokens, err, diff)
			}
		}
	}
	return atHand
}

// Fills with equal time, transaction, size and side have the same order whether they are read from
// the file, from memory or from the database; replaced ones are read from the database.
func TestTiesAmongTheNewestFills(t *testing.T) {
	testfiles.InLong(t, "TestAnswersDoNotDependOnHistory imports random data with ties in two orders")
	rng := rand.New(rand.NewPCG(1, 2))
	k := open(t, t.TempDir())
	mustImport(t, k, write(t, "market.ndjson", `{"condition":"0x`+strings.Repeat("5", 64)+`","question":"Will it?","outcomes":["A","B","C"],"tokens":["70","71","72"]}`+"\n"))
	mustImport(t, k, ties(t, rng, 400, false))
	k = reopen(t, k)
	if n := checkTies(t, k); n != 7 {
		t.Errorf("%d of 7 sets are in the file", n)
	}
	replaced := int64(0)
	for round := range 6 {
		replaced += mustImport(t, k, ties(t, rng, 60, round%2 == 0))[0].Replaced
		checkTies(t, k)
		mustVerify(t, k)
	}
	if n := checkTies(t, k); replaced == 0 || n == 7 {
		t.Errorf("%d fills replaced, %d of 7 sets in memory", replaced, n)
	}
	k.AllowSegmentBuild()
	if err := k.Cycle(context.Background()); err != nil {
		t.Fatal(err)
	}
	k.Settle()
	if n := checkTies(t, k); n != 7 {
		t.Errorf("%d of 7 sets are in the next file", n)
	}
	alsoVerify(t, k)
	k = reopen(t, k)
	if n := checkTies(t, k); n != 7 {
		t.Errorf("after a restart, %d of 7 sets are there", n)
	}
}

func described(condition, tokens, description string, year int) string {
	return fmt.Sprintf(`{"condition":"0x%s","question":"Will it?","description":"%s","resolution_source":"https://example.com","outcomes":["Yes","No"],"tokens":[%s],"updated_at":"%d-01-01T00:00:00Z"}`+"\n",
		strings.Repeat(condition, 64), description, tokens, year)
}

// If another market takes over a token, the token's fills move with it. Changed texts are served at
// once and after a restart.
func TestMarketsThatChange(t *testing.T) {
	testfiles.InLong(t, "TestSegmentsSurviveImportsAndRestarts has markets that are described after they were traded")
	k := open(t, t.TempDir())
	mustImport(t, k, write(t, "fills.csv", strings.Replace(plainFills, "token,", "token,condition,outcome,", 1)+
		strings.ReplaceAll(fillRow(1, -1, walletAnn, "0")+fillRow(2, -1, walletBob, "0"), "taker,77,", "taker,77,0x"+strings.Repeat("6", 64)+",0,")))
	mustImport(t, k, write(t, "one.ndjson", described("6", "", "Rules of old.", 2025)))
	k = reopen(t, k)
	mustHaveMarkets(t, k, 0)
	taken := mustImport(t, k, write(t, "two.ndjson", described("7", `"77","78"`, "Others.", 2025)+described("6", "", "Rules of today.", 2026)))
	if taken[0].MarketsChanged != 1 || taken[0].MarketsNew != 1 {
		t.Fatalf("taken[0] = %+v", taken[0])
	}
	check := func() {
		t.Helper()
		mustHaveMarkets(t, k, 0)
		for id, want := range map[int32]string{0: "Rules of today.", 1: "Others."} {
			texts, err := k.Reader().MarketTexts(context.Background(), id, k.Snapshot().Batch)
			fills, err2 := k.Reader().MarketFills(context.Background(), nil, k.Snapshot().Catalog.Tokens(id), k.Snapshot().Batch, k.Snapshot().Catalog.Figures(id), nil, 20)
			if texts.Description != want || len(fills) != 2*int(id) || err != nil || err2 != nil {
				t.Errorf("market %d: %+v, %d fills, %v %v", id, texts, len(fills), err, err2)
			}
		}
		alsoVerify(t, k)
	}
	check()
	k = reopen(t, k) // the file of texts is an older one
	check()
	if fills, texts := k.MarketStats(); !fills.Ready || fills.Stored != 2 || !texts.Ready || texts.Stored != 2 || texts.Recent != 0 {
		t.Errorf("fills = %+v, texts = %+v", fills, texts)
	}
	k = reopen(t, k)
	check()
}

// Verification finds files whose rows or texts differ from the database.
func TestVerificationFindsWrongFilesOfMarkets(t *testing.T) {
	testfiles.InLong(t, "TestVerificationFindsAWrongFile finds a wrong file of wallets")
	k := open(t, t.TempDir())
	mustImport(t, k, write(t, "fills.csv", plainFills+fillRow(1, -1, walletAnn, "0")+fillRow(2, -1, walletBob, "0")))
	mustImport(t, k, write(t, "market.ndjson", described("7", `"77","78"`, "Rules.", 2025)))
	k = reopen(t, k)
	for name, check := range map[string]string{"tokens.seg": "token_segment", "markets.seg": "market_segment"} {
		f, err := os.OpenFile(filepath.Join(k.DB().Dir().Segments(), name), os.O_RDWR, 0)
		if err != nil {
			t.Fatal(err)
		}
		if _, err := f.WriteAt([]byte{'X'}, 4096+5); err != nil { // in the first transaction's hash, and in the first description
			t.Fatal(err)
		}
		checks, err := k.Verify(context.Background(), nil)
		if err != nil {
			t.Fatal(err)
		}
		for _, c := range checks {
			if c.OK != (c.Name != check) {
				t.Errorf("%s: c = %+v", name, c)
			}
		}
		if _, err := f.WriteAt([]byte{0}, 4096+5); err != nil {
			t.Fatal(err)
		}
		if name == "markets.seg" {
			_, err = f.WriteAt([]byte("l"), 4096+5)
		}
		if err != nil || f.Close() != nil {
			t.Fatal(err)
		}
	}
}
