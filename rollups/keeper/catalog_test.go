package keeper_test

import (
	"context"
	"database/sql"
	"fmt"
	"path/filepath"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
	"github.com/google/go-cmp/cmp/cmpopts"
	"github.com/rs/zerolog"

	"pmx/data"
	"pmx/data/feeds"
	"pmx/data/sample"
	"pmx/engine"
	"pmx/engine/enginetest"
	"pmx/rollups/keeper"
	"pmx/rollups/serving"

	"pmx/data/testfiles"
)

// figuresSQL computes the figures of every market from the facts alone, in another way than the
// service does: with full scans, with sliding windows written out, and with the last trade found by
// sorting. @venue lists the venue's own wallets.
const figuresSQL = `
WITH newest AS (SELECT max(ts) AS ts FROM fills),
f AS (
  SELECT t.market, t.outcome, t.token, f.*, f.role = 1 AS maker, newest.ts - f.ts AS age,
    w.address IN (@venue) AS venue
  FROM fills AS f JOIN tokens AS t ON t.token = f.token JOIN wallets AS w ON w.wallet = f.wallet, newest
  WHERE t.market IS NOT NULL
),
basis AS (SELECT market, bool_and(maker) AS makers, min(ts) AS first, max(ts) AS last,
    count(DISTINCT wallet) FILTER (NOT venue) AS traders, count(DISTINCT wallet) FILTER (NOT venue AND age < 86400000000) AS day_traders
  FROM f GROUP BY market),
sums AS (
  SELECT f.market, sum(usd) AS usd, sum(shares) AS shares, count(*) AS n,
    sum(usd) FILTER (age < 86400000000) AS d, sum(usd) FILTER (age < 604800000000) AS w, sum(usd) FILTER (age < 2592000000000) AS m
  FROM f JOIN basis AS b ON b.market = f.market WHERE maker = makers GROUP BY f.market
),
orders AS (
  SELECT market, outcome, side, sum(usd) AS usd FROM f WHERE NOT maker AND NOT venue AND age < 86400000000
  GROUP BY market, outcome, side, wallet, tx, CASE WHEN tx IS NULL THEN ts END, token HAVING sum(usd) >= 10000000000
),
whale AS (SELECT market, sum(CASE WHEN (outcome = 0) = (side = 0) THEN usd ELSE -usd END) AS flow FROM orders GROUP BY market),
size AS (
  SELECT m.market, greatest(coalesce(json_array_length(m.outcomes), 0), coalesce(json_array_length(m.prices), 0),
    coalesce(len(m.payouts), 0), coalesce((SELECT max(t.outcome) + 1 FROM tokens AS t WHERE t.market = m.market), 0)) AS n
  FROM markets AS m
),
said AS ( -- each trade as a price of the first outcome
  SELECT f.market, f.age, CASE WHEN f.outcome = 0 THEN p ELSE 1000000 - p END AS price,
    row_number() OVER (PARTITION BY f.market, f.age >= 86400000000 ORDER BY ts DESC, log_index DESC NULLS LAST, f.outcome, f.token, p DESC) AS nth
  FROM (SELECT *, least(1000000, floor((usd::HUGEINT * 2000000 + shares) // (shares::HUGEINT * 2)))::BIGINT AS p FROM f WHERE shares > 0) AS f
  JOIN size AS s ON s.market = f.market
  WHERE f.outcome = 0 OR s.n <= 2
),
price AS (
  SELECT market, max(price) FILTER (age < 86400000000) AS fresh, max(price) FILTER (age >= 86400000000) AS ago
  FROM said WHERE nth = 1 GROUP BY market
),
final AS (
  SELECT m.market, coalesce(m.payouts[1], p.fresh, p.ago) AS now,
    CASE WHEN m.payouts IS NOT NULL AND m.resolved_at IS NULL THEN NULL
      WHEN m.payouts IS NOT NULL AND m.resolved_at <= newest.ts - 86400000000 THEN m.payouts[1] ELSE p.ago END AS before
  FROM newest, markets AS m LEFT JOIN price AS p ON p.market = m.market
)
SELECT m.market, z.n <= 2, coalesce(b.makers, false), coalesce(s.usd, 0)::BIGINT, coalesce(s.shares, 0)::BIGINT, coalesce(s.n, 0),
  coalesce(s.d, 0)::BIGINT, coalesce(s.w, 0)::BIGINT, coalesce(s.m, 0)::BIGINT, coalesce(b.first, 0), coalesce(b.last, 0),
  coalesce(b.traders, 0), coalesce(b.day_traders, 0), f.now, f.now - f.before, m.liquidity, m.best_ask - m.best_bid,
  coalesce(o.flow, 0)::BIGINT
FROM markets AS m JOIN final AS f ON f.market = m.market JOIN size AS z ON z.market = m.market
LEFT JOIN basis AS b ON b.market = m.market LEFT JOIN sums AS s ON s.market = m.market
LEFT JOIN whale AS o ON o.market = m.market
ORDER BY m.market`

// figuresOf reads the figures of every market from the facts.
func figuresOf(t *testing.T, k *keeper.Keeper, venue string) map[int32]serving.Figures {
	t.Helper()
	out := map[int32]serving.Figures{}
	err := k.DB().Read(context.Background(), func(conn *sql.Conn) error {
		rows, err := conn.QueryContext(context.Background(), strings.ReplaceAll(figuresSQL, "@venue", venue))
		if err != nil {
			return err
		}
		defer func() { _ = rows.Close() }()
		for rows.Next() {
			var id int32
			var makers bool
			var v serving.Figures
			var price, change, liquidity, spread sql.NullInt64
			if err := rows.Scan(&id, &v.Binary, &makers, &v.VolumeUSD, &v.VolumeShares, &v.Trades, &v.Volume24h, &v.Volume7d, &v.Volume30d,
				&v.FirstTS, &v.LastTS, &v.Traders, &v.Traders24h, &price, &change, &liquidity, &spread, &v.WhaleFlow24h); err != nil {
				return err
			}
			basis := serving.TakerUSD
			if makers {
				basis = serving.MakerUSD
			}
			f := serving.NewFigures(basis)
			f.VolumeUSD, f.VolumeShares, f.Trades, f.Volume24h, f.Volume7d, f.Volume30d = v.VolumeUSD, v.VolumeShares, v.Trades, v.Volume24h, v.Volume7d, v.Volume30d
			f.Binary, f.FirstTS, f.LastTS, f.Traders, f.Traders24h, f.WhaleFlow24h = v.Binary, v.FirstTS, v.LastTS, v.Traders, v.Traders24h, v.WhaleFlow24h
			for _, c := range []struct {
				dst *data.Micro
				v   sql.NullInt64
			}{{&f.Price, price}, {&f.PriceChange24h, change}, {&f.Liquidity, liquidity}, {&f.Spread, spread}} {
				if c.v.Valid {
					*c.dst = data.Micro(c.v.Int64)
				}
			}
			out[id] = f
		}
		return rows.Err()
	})
	if err != nil {
		t.Fatal(err)
	}
	return out
}

// compareFigures compares the snapshot's figures with the facts.
func compareFigures(t *testing.T, k *keeper.Keeper, venue string) {
	t.Helper()
	c, differ := k.Snapshot().Catalog, 0
	want := figuresOf(t, k, venue)
	if len(want) == 0 || int64(len(want)) != k.Snapshot().Counts.Markets {
		t.Errorf("%d markets in the database, %d in the snapshot", len(want), k.Snapshot().Counts.Markets)
	}
	for id, f := range want {
		if diff := cmp.Diff(f, *c.Figures(id), cmpopts.EquateComparable(serving.Figures{})); diff != "" && differ < 5 {
			differ++
			t.Errorf("market %d: facts %+v\nsnapshot %+v", id, f, *c.Figures(id))
		}
	}
}

// eventSQL counts the traders of events, and the sum of the traders of their markets, from the
// facts alone. @event lists (event, market), @venue the venue's own wallets.
const eventSQL = `
SELECT e.event, count(DISTINCT f.wallet) AS traders, count(DISTINCT (f.wallet, e.market)) AS of_markets
FROM (VALUES @event) AS e(event, market)
LEFT JOIN tokens AS t ON t.market = e.market
LEFT JOIN (SELECT f.* FROM fills AS f JOIN wallets AS w ON w.wallet = f.wallet WHERE w.address NOT IN (@venue)) AS f ON f.token = t.token
GROUP BY e.event`

// eventTraders is a row of its result: a position in @event, its traders, and the sum of the
// traders of its markets.
type eventTraders struct {
	Event     int `sql:"event"`
	Traders   int `sql:"traders"`
	OfMarkets int `sql:"of_markets"`
}

// compareEvents compares the traders of every event with the facts and, for some events, with a
// list of them. It returns how many more traders the markets have in sum.
func compareEvents(t *testing.T, k *keeper.Keeper, venue string) (twice int) {
	t.Helper()
	snap, events, seen, pairs := k.Snapshot(), []*serving.Event(nil), map[string]bool{"": true}, []string(nil)
	for id := range int32(snap.Catalog.Len()) {
		key := snap.Catalog.Market(id).EventKey()
		if seen[key] {
			continue
		}
		seen[key] = true
		e := snap.Catalog.Event(key)
		for _, market := range e.Markets {
			pairs = append(pairs, fmt.Sprintf("(%d, %d)", len(events), market))
		}
		events = append(events, e)
		if len(events)%testfiles.Cases(120, 10) == 1 {
			read, err := k.Reader().EventTraders(context.Background(), snap, e.Markets, 1)
			if err != nil || read.Total != e.Traders {
				t.Errorf("event %s has %d traders, the list has %d: %v", key, e.Traders, read.Total, err)
			}
		}
	}
	query := strings.NewReplacer("@event", strings.Join(pairs, ", "), "@venue", venue).Replace(eventSQL)
	err := k.DB().Read(context.Background(), func(conn *sql.Conn) error {
		return engine.EachRow(context.Background(), conn, query, func(row *eventTraders) error {
			e := events[row.Event]
			if e.Traders != row.Traders {
				t.Errorf("event %s %s has %d traders, want %d", e.ID, e.Slug, e.Traders, row.Traders)
			}
			twice += row.OfMarkets - row.Traders
			return nil
		})
	})
	if err != nil {
		t.Fatal(err)
	}
	return twice
}

func TestFiguresOfTheSampleVenueFollowFromItsFacts(t *testing.T) {
	k := readSample(t)
	compareFigures(t, k, "''::BLOB")
	if compareEvents(t, k, "''::BLOB") == 0 {
		t.Error("nobody trades two markets of one event")
	}
	markets, traded, priced, moved, day := 0, 0, 0, 0, 0
	c := k.Snapshot().Catalog
	for id := range int32(c.Len()) {
		f := c.Figures(id)
		markets++
		traded += count01(f.Trades > 0)
		priced += count01(f.Price != serving.NoValue)
		moved += count01(f.PriceChange24h != serving.NoValue && f.PriceChange24h != 0)
		day += count01(f.Traders24h > 0)
	}
	t.Logf("%d markets, %d traded, %d priced, %d moved, %d traded in the last day", markets, traded, priced, moved, day)
	if traded == 0 || priced == 0 || moved == 0 || day == 0 {
		t.Error("the sample venue has too few markets for this test")
	}
}

func count01(b bool) int {
	if b {
		return 1
	}
	return 0
}

func TestFiguresOfEveryFeedsMarketsFollowFromTheFacts(t *testing.T) {
	testfiles.InLong(t, "TestFiguresOfTheSampleVenueFollowFromItsFacts compares the figures of another venue")
	k, _ := readSlices(t) // with the captured files of these feeds, where they are
	compareFigures(t, k, "''::BLOB")
	compareEvents(t, k, "''::BLOB")
}

func TestTheVenuesOwnWalletsAreNoTraders(t *testing.T) {
	dir := filepath.Join(t.TempDir(), "venue")
	if _, err := sample.Write(context.Background(), sample.Config{Fills: int64(testfiles.Cases(2_500, 5_000)), FileRows: int64(testfiles.Cases(2_500, 1_000)), Days: sampleDays()}, dir, nil); err != nil {
		t.Fatal(err)
	}
	withoutWeather(t, dir)
	leaderboard := readSample(t).Snapshot().Traders[serving.Day]
	own := map[data.Address]bool{leaderboard[0].Wallet: true, leaderboard[1].Wallet: true, leaderboard[len(leaderboard)-1].Wallet: true}
	list := "''::BLOB"
	for a := range own {
		list += ", unhex('" + a.String()[2:] + "')"
	}
	k, err := keeper.Open(context.Background(), keeper.Config{
		Engine: enginetest.Options(t, t.TempDir(), "2GB"),
		Feeds:  feeds.Catalog{},
		Log:    zerolog.Nop(),
		Venue:  own,
		Serve:  true,
	})
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = k.Close() })
	mustImport(t, k, dir)
	compareFigures(t, k, list)
	if compareEvents(t, k, list) == 0 {
		t.Error("nobody trades two markets of one event")
	}
	alsoVerify(t, k)
}

// Reads from the database have the state of the snapshot that they are for, even if the next import
// is already committed.
func TestReadsOfMarketsStayWithTheirSnapshot(t *testing.T) {
	testfiles.InLong(t, "TestPagesOfMarketsStayWithTheirSnapshot reads further pages")
	dir := filepath.Join(t.TempDir(), "venue")
	if _, err := sample.Write(context.Background(), sample.Config{Fills: 6_000, FileRows: int64(testfiles.Cases(2_500, 1_000)), Days: sampleDays()}, dir, nil); err != nil {
		t.Fatal(err)
	}
	files, err := filepath.Glob(filepath.Join(dir, "orderFilled*.csv"))
	if err != nil || len(files) < 3 {
		t.Fatalf("parts of the sample: files = %v, err = %v", files, err)
	}
	others, err := filepath.Glob(filepath.Join(dir, "events.ndjson"))
	if err != nil || len(others) == 0 {
		t.Fatalf("markets of the sample: others = %v, err = %v", others, err)
	}
	k := open(t, t.TempDir())
	mustImport(t, k, append(others, files[:len(files)-1]...)...)
	snap := k.Snapshot()
	without := *snap
	without.Venue = []data.WalletID{2}
	read := func() (traders []serving.EventTraders, holders []serving.HolderList, fills [][]serving.Fill) {
		for id := range int32(snap.Catalog.Len()) {
			f := snap.Catalog.Figures(id)
			if f == nil || f.Trades == 0 || id%5 != 0 {
				continue
			}
			list, err := k.Reader().MarketFills(context.Background(), nil, snap.Catalog.Tokens(id), snap.Batch, f, nil, 20)
			if err != nil {
				t.Fatal(err)
			}
			held, err := k.Reader().EventTraders(context.Background(), &without, []int32{id}, 50)
			if err != nil {
				t.Fatal(err)
			}
			all, err := k.Reader().Holders(context.Background(), snap, id, serving.HolderQuery{Outcome: -1, N: 50})
			if err != nil {
				t.Fatal(err)
			}
			traders, holders, fills = append(traders, held), append(holders, all), append(fills, list)
		}
		return traders, holders, fills
	}
	traders, holders, fills := read()
	if len(traders) < 20 {
		t.Fatalf("%d markets", len(traders))
	}
	mustImport(t, k, files[len(files)-1])
	laterTraders, laterHolders, laterFills := read()
	if diff := cmp.Diff(traders, laterTraders); diff != "" {
		t.Errorf("traders (-before +after the next import):\n%s", diff)
	}
	if diff := cmp.Diff(holders, laterHolders); diff != "" {
		t.Errorf("holders (-before +after the next import):\n%s", diff)
	}
	if diff := cmp.Diff(fills, laterFills); diff != "" {
		t.Errorf("fills (-before +after the next import):\n%s", diff)
	}
}
