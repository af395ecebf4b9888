package rollups_test

import (
	"cmp"
	"context"
	"database/sql"
	"maps"
	"math/rand/v2"
	"slices"
	"testing"
	"time"

	"pmx/data"
	"pmx/data/testfiles"
	"pmx/engine"
	"pmx/rollups"
)

// quote is a market's quote; its text has - for a missing side.
type quote struct{ bid, ask, last, liquidity *data.Micro }

func (q quote) String() string {
	text := func(m *data.Micro) string {
		if m == nil {
			return "-"
		}
		return m.String()
	}
	return text(q.bid) + " " + text(q.ask) + " " + text(q.last) + " " + text(q.liquidity)
}

func quoteOf(m data.Market) quote { return quote{m.BestBid, m.BestAsk, m.LastPrice, m.Liquidity} }

func (q quote) compare(o quote) int {
	side := func(a, b *data.Micro) int {
		number := func(m *data.Micro) data.Micro {
			if m == nil {
				return -1
			}
			return *m
		}
		return cmp.Compare(number(a), number(b))
	}
	return cmp.Or(side(q.bid, o.bid), side(q.ask, o.ask), side(q.last, o.last), side(q.liquidity, o.liquidity))
}

func micros(v float64) *data.Micro {
	m := data.Micro(v*1e6 + 0.5)
	return &m
}

// standing is a market's quote in the database.
type standing struct {
	quote quote
	over  bool // closed or resolved
}

// kept reads the quotes of all markets.
func (v *venue) kept() map[data.Hash]standing {
	out := map[data.Hash]standing{}
	query := "SELECT condition, best_bid, best_ask, last_price, liquidity, payouts IS NOT NULL OR closed IS TRUE AS over FROM markets"
	type marketRow struct {
		Condition data.Hash   `sql:"condition"`
		Bid       *data.Micro `sql:"best_bid"`
		Ask       *data.Micro `sql:"best_ask"`
		Last      *data.Micro `sql:"last_price"`
		Liquidity *data.Micro `sql:"liquidity"`
		Over      bool        `sql:"over"`
	}
	v.write(func(ctx context.Context, conn *sql.Conn) error {
		return engine.EachRow(ctx, conn, query, func(row *marketRow) error {
			out[row.Condition] = standing{quote{bid: row.Bid, ask: row.Ask, last: row.Last, liquidity: row.Liquidity}, row.Over}
			return nil
		})
	})
	return out
}

// failed returns the failed checks of verify.
func (v *venue) failed() (names []string) {
	v.write(func(ctx context.Context, conn *sql.Conn) error {
		checks, err := rollups.Verify(ctx, conn, nil, nil, nil)
		for _, c := range checks {
			if !c.OK {
				names = append(names, c.Name)
			}
		}
		return err
	})
	return names
}

// TestASideThatIsGoneDoesNotStay: the second record of a market has only an ask.
func TestASideThatIsGoneDoesNotStay(t *testing.T) {
	market := func(hour int, bid, ask *data.Micro) data.Market {
		return data.Market{Condition: condition(0), UpdatedAt: start.Add(time.Duration(hour) * time.Hour), BestBid: bid, BestAsk: ask}
	}
	first, second := market(1, micros(0.10), micros(0.12)), market(2, nil, micros(0.001))
	closed := second
	closed.UpdatedAt, closed.Closed = start.Add(3*time.Hour), new(bool)
	*closed.Closed = true
	paid := data.Market{Condition: condition(0), Stub: true, Resolution: &data.Resolution{Condition: condition(0),
		Payouts: []data.Micro{data.One, 0}, Source: data.ResolvedByAPI}}
	crossed := market(4, micros(0.6), micros(0.4))
	cases := map[string]struct {
		records []data.Market
		want    string
	}{
		"a newer record":          {[]data.Market{first, second}, "- 0.001 - -"},
		"an older record":         {[]data.Market{second, first}, "- 0.001 - -"},
		"a closed market":         {[]data.Market{first, second, closed}, "- - - -"},
		"closed before":           {[]data.Market{closed, second, first}, "- - - -"},
		"a resolved market":       {[]data.Market{first, paid}, "- - - -"},
		"resolved before":         {[]data.Market{paid, first}, "- - - -"},
		"a crossed book":          {[]data.Market{first, crossed}, "- - - -"},
		"a price above one":       {[]data.Market{market(1, micros(0.5), micros(1.5))}, "0.5 - - -"},
		"equal versions":          {[]data.Market{market(1, micros(0.1), nil), market(1, nil, micros(0.9))}, "0.1 - - -"},
		"an undated record":       {[]data.Market{second, {Condition: condition(0), BestBid: micros(0.3)}}, "- 0.001 - -"},
		"a trade behind a record": {[]data.Market{first, {Condition: condition(0), Stub: true, Question: "Q?"}}, "0.1 0.12 - -"},
	}
	// Each case is a market: with all its records in one file, and with the n-th in the n-th file.
	names := slices.Sorted(maps.Keys(cases))
	one, several := make([]step, 1), make([]step, 3)
	for i, name := range names {
		for n, m := range cases[name].records {
			if m.Condition = condition(i); m.Resolution != nil {
				r := *m.Resolution
				r.Condition, m.Resolution = m.Condition, &r
			}
			one[0].markets, several[n].markets = append(one[0].markets, m), append(several[n].markets, m)
		}
	}
	for _, files := range [][]step{one, several} {
		v := newVenue(t, files)
		for i := range files {
			v.importStep(i)
		}
		kept := v.kept()
		for i, name := range names {
			if got := kept[condition(i)].quote; got.String() != cases[name].want {
				t.Errorf("%s, %d files: %s, want %s", name, len(files), got, cases[name].want)
			}
		}
		v.close()
	}
}

// TestQuotesAreThoseOfTheNewestRecord: in any order and split into files, each group of a quote's
// fields is that of the newest record whose page has it, the largest of equally new ones, and
// missing if the market is closed or resolved.
func TestQuotesAreThoseOfTheNewestRecord(t *testing.T) {
	const markets = 500
	rng := rand.New(rand.NewPCG(11, 1))
	records, files := make([][]data.Market, markets), make([]step, 4)
	for i := range records {
		for range 1 + rng.IntN(6) {
			m := drawQuote(rng, condition(i))
			m.Condition[30] = byte(i >> 8)
			records[i] = append(records[i], m)
			at := rng.IntN(len(files))
			files[at].markets = append(files[at].markets, m)
		}
	}
	v := newVenue(t, files)
	defer v.close()
	for i := range files {
		v.importStep(i)
	}
	for i := range files {
		if r := v.importStep(i); r.MarketsChanged != 0 {
			t.Errorf("file %d changes %d markets the second time", i, r.MarketsChanged)
		}
	}
	kept := v.kept()
	for _, list := range records {
		got := kept[list[0].Condition]
		want := newest(list)
		if got.over {
			want = quote{}
		}
		if got.quote.String() != want.String() {
			t.Errorf("%s, want %s of %d records", got.quote, want, len(list))
		}
	}
	if bad := v.failed(); len(bad) > 0 {
		t.Errorf("verify refutes %v", bad)
	}
}

func drawQuote(rng *rand.Rand, of data.Hash) data.Market {
	m := data.Market{Condition: of, Stub: rng.IntN(5) == 0}
	if m.Stub {
		if rng.IntN(4) == 0 {
			m.Resolution = &data.Resolution{Condition: of, Payouts: []data.Micro{0, data.One}, Source: data.ResolvedByAPI}
		}
		return m
	}
	if hour := rng.IntN(4); hour > 0 {
		m.UpdatedAt = start.Add(time.Duration(hour) * time.Hour)
	}
	price := func() *data.Micro {
		if n := rng.IntN(13); n < 10 {
			return micros(float64(n) / 10)
		}
		return nil
	}
	m.BestBid, m.BestAsk, m.LastPrice, m.Liquidity = price(), price(), price(), price()
	if rng.IntN(3) == 0 {
		m.Lacks = data.QuoteFields(rng.IntN(8))
	}
	if n := rng.IntN(8); n < 2 {
		m.Closed = new(bool)
		*m.Closed = n == 0
	}
	return m
}

// newest returns the quote of records by its definition: each group of fields is that of the newest
// record whose page has it, and the largest of equally new ones.
func newest(records []data.Market) (q quote) {
	for fields, clear := range map[data.QuoteFields]func(*quote){
		data.QuoteBidAsk:    func(o *quote) { o.last, o.liquidity = nil, nil },
		data.QuoteLast:      func(o *quote) { o.bid, o.ask, o.liquidity = nil, nil, nil },
		data.QuoteLiquidity: func(o *quote) { o.bid, o.ask, o.last = nil, nil, nil },
	} {
		var version time.Time
		var best quote
		seen := false
		for _, m := range records {
			if m.Stub || m.Lacks&fields != 0 {
				continue
			}
			o := quoteOf(m)
			if o.bid != nil && o.ask != nil && *o.bid > *o.ask {
				o.bid, o.ask = nil, nil
			}
			clear(&o)
			if !seen || m.UpdatedAt.After(version) || m.UpdatedAt.Equal(version) && o.compare(best) > 0 {
				best, version, seen = o, m.UpdatedAt, true
			}
		}
		q.bid, q.ask = cmp.Or(q.bid, best.bid), cmp.Or(q.ask, best.ask)
		q.last, q.liquidity = cmp.Or(q.last, best.last), cmp.Or(q.liquidity, best.liquidity)
	}
	return q
}

// TestVerifySeesQuotesThatAreNotTheNewestRecords: quotes that are changed directly in the database
// fail verification.
func TestVerifySeesQuotesThatAreNotTheNewestRecords(t *testing.T) {
	v := newVenue(t, []step{{markets: []data.Market{{Condition: condition(0), UpdatedAt: start, BestBid: micros(0.10), BestAsk: micros(0.12), Liquidity: micros(7)}}}})
	defer v.close()
	v.importStep(0)
	if bad := v.failed(); len(bad) > 0 {
		t.Errorf("verify refutes %v", bad)
	}
	for nth, change := range []string{"best_bid = 110000", "best_bid = 130000", "best_ask = NULL", "last_price = 1", "liquidity = 8",
		"closed = true", "payouts = [1000000, 0]", "updated_at = updated_at + 1", "quote = NULL"} {
		if !testfiles.Long() && nth%3 > 0 {
			continue // a short run tries every third
		}
		v.write(func(ctx context.Context, conn *sql.Conn) error {
			for _, stmt := range []string{"CREATE TEMP TABLE held AS FROM markets", "UPDATE markets SET " + change} {
				if _, err := conn.ExecContext(ctx, stmt); err != nil {
					return err
				}
			}
			return nil
		})
		if bad := v.failed(); !slices.Contains(bad, "newest_quotes") {
			t.Errorf("%s: verify refutes %v, want newest_quotes", change, bad)
		}
		v.write(func(ctx context.Context, conn *sql.Conn) error {
			for _, stmt := range []string{"DELETE FROM markets", "INSERT INTO markets FROM held", "DROP TABLE held"} {
				if _, err := conn.ExecContext(ctx, stmt); err != nil {
					return err
				}
			}
			return nil
		})
	}
}

// TestReceiptsSayWhichFinalPricesWereNotTaken: a market counts once per file, by its newest record,
// and not if the file has its payout.
func TestReceiptsSayWhichFinalPricesWereNotTaken(t *testing.T) {
	record := func(market, hour int, why data.Untaken) data.Market {
		return data.Market{Condition: condition(market), UpdatedAt: start.Add(time.Duration(hour) * time.Hour), Untaken: why}
	}
	paid := record(3, 2, "")
	paid.Resolution = &data.Resolution{Condition: paid.Condition, Payouts: []data.Micro{data.One, 0}, Source: data.ResolvedByPrices}
	v := newVenue(t, []step{{markets: []data.Market{record(0, 1, data.UntakenOpen), record(0, 2, data.UntakenOracle),
		record(1, 2, data.UntakenOracle), record(1, 1, ""), record(2, 1, data.UntakenOpen), record(2, 2, ""), record(3, 1, data.UntakenOpen), paid,
		{Condition: condition(1), Stub: true, Question: "Q?"}}}})
	defer v.close()
	r := v.importStep(0)
	if len(r.FinalPricesNotTaken) != 1 || r.FinalPricesNotTaken[data.UntakenOracle] != 2 || r.Resolutions != 1 {
		t.Errorf("%v, %d resolutions", r.FinalPricesNotTaken, r.Resolutions)
	}
}
