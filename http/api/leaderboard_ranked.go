package api

import (
	"context"
	"fmt"

	"github.com/gofiber/fiber/v2"

	"pmx/data"
	"pmx/http/wire"
	"pmx/rollups/serving"
)

// leaderboardReader reads the data of leaderboards that no snapshot ranks.
type leaderboardReader interface {
	// Leaderboards returns the figures of all wallets in the windows up to a time in unix µs, as of a batch;
	// what resolutions paid may be of a later one. It is slow. They take at most most bytes; 0: no limit.
	Leaderboards(ctx context.Context, upTo, batch, most int64) (*serving.Leaderboards, error)
	// ProfitDays returns what some wallets made on each UTC day from first up to a time in unix µs,
	// by wallet and day.
	ProfitDays(ctx context.Context, wallets []data.WalletID, first int32, upTo int64) ([]serving.ProfitDay, error)
}

// sparkDays is how many UTC days a spark has.
const sparkDays = 30

// What rows of a leaderboard can include.
const (
	includeSplit = iota
	includePrevious
	includeSpark
)

// The parameters of GET /leaderboard/traders beyond those of every leaderboard.
var (
	leaderboardCategory    = categoryParam()
	leaderboardMinResolved = &Param{Name: "min_resolved", Kind: Integer, Default: "0", Min: 0, Max: 1_000_000,
		Doc: "only wallets that have traded at least this many resolved markets, over all time and in any category"}
	leaderboardSort   = &Param{Name: "sort", Kind: Choice, Choices: []string{"real_pnl", "volume", "roi"}, Default: "real_pnl", Doc: "figure of the period to rank by, largest first; a null `roi` comes last"}
	leaderboardOffset = offsetParam()
	leaderboardInc    = &Param{Name: "include", Kind: Choice, Choices: []string{includeSplit: "split", includePrevious: "previous_rank", includeSpark: "spark"}, Many: 3,
		Doc: "extra fields for each row, repeated or separated by commas: `split` adds `resolved_pnl` and `unresolved_cash`"}
)

// rankedTraders answers GET /leaderboard/traders for requests that the snapshot's ranking does not
// cover.
func (a *API) rankedTraders(c *fiber.Ctx, call *Call) error {
	v, err := a.current()
	if err != nil {
		return err
	}
	categories, bad := call.categories(leaderboardCategory, v.markets)
	if bad != nil {
		return bad
	}
	var include [3]bool
	for given := range call.all(leaderboardInc) {
		include[given.n] = true
	}
	set, err := a.leaderboardSet(v)
	if err != nil {
		return err
	}
	if set.epoch > v.snap.Epoch { // it was read meanwhile, and may have wallets that v does not have
		if v, err = a.current(); err == nil && !set.follows(v) { // the snapshot may be of another database by now
			set, err = a.leaderboardSet(v)
		}
		if err != nil {
			return err
		}
	}
	b := leaderboard{period: serving.Period(call.value(leaderboardPeriod).n), sort: serving.LeaderboardSort(call.value(leaderboardSort).n), minResolved: call.value(leaderboardMinResolved).n,
		previous: include[includePrevious], categories: categories}
	key := fmt.Sprintf("leaderboard %d %d %d %t %q", b.period, b.sort, b.minResolved, b.previous, b.categories)
	ranked, err := cachedReadOf(a, set.epoch, key, func(context.Context) ([]serving.RankedRow, error) { return set.rank(v.snap, b), nil })
	if err != nil {
		return err
	}
	offset := min(call.number(leaderboardOffset), len(ranked))
	e, n := call.listEnvelope(call.number(leaderboardLimit), len(ranked)-offset)
	rows := ranked[offset : offset+n]
	text, err := cachedReadOf(a, set.epoch, fmt.Sprint(key, " text ", include, " ", offset, " ", n), func(ctx context.Context) ([]byte, error) {
		return a.rankedText(ctx, v, set, rows, include)
	})
	if err != nil {
		return err
	}
	mark, start := a.beginReply(call, set.asOfText, e)
	call.buf = append(append(append(call.buf, windowText(set.asOf, b.period)...), `,"data":`...), text...)
	return a.finishReply(c, call, mark, start, a.secondsToRefresh(call))
}

// rankedText returns rows of a leaderboard as JSON, which are kept: encoding them, with a spark each, takes far
// longer than sending them.
func (a *API) rankedText(ctx context.Context, v *encodedSnapshot, set *leaderboardSet, rows []serving.RankedRow, include [3]bool) ([]byte, error) {
	var sparks [][]data.Micro
	if include[includeSpark] {
		var err error
		if sparks, err = a.sparks(ctx, set, rows); err != nil {
			return nil, err
		}
	}
	return appendList(nil, len(rows), func(i int) wire.TraderRow {
		row := rankedRow(v.snap, &rows[i], include)
		if sparks != nil {
			row.Spark = sparks[i]
		}
		return row
	}), nil
}

// leaderboard says which leaderboard is requested.
type leaderboard struct {
	period      serving.Period
	sort        serving.LeaderboardSort
	minResolved int64
	previous    bool     // with the ranks in the previous window
	categories  []string // nil: all
}

// rank ranks a leaderboard. The lifetime figures of a wallet come from snap.
func (set *leaderboardSet) rank(snap *serving.Snapshot, b leaderboard) []serving.RankedRow {
	now := snap.RankLeaderboard(set.leaderboards.Rows(b.period, false, b.categories), b.sort, b.minResolved, maxOffset+leaderboardRows)
	if b.previous {
		before := snap.RankLeaderboard(set.leaderboards.Rows(b.period, true, b.categories), b.sort, b.minResolved, snap.Wallets())
		serving.RankedBefore(now, before)
	}
	return now
}

// sparks returns the cumulative profit of each wallet at the end of each of the last days, starting
// from zero.
func (a *API) sparks(ctx context.Context, set *leaderboardSet, rows []serving.RankedRow) ([][]data.Micro, error) {
	if len(rows) == 0 {
		return [][]data.Micro{}, nil
	}
	upTo := set.asOf.UnixMicro()
	first := serving.DayOf(upTo) - sparkDays + 1
	wallets, place := make([]data.WalletID, len(rows)), make(map[data.WalletID]int, len(rows))
	sparks := make([][]data.Micro, len(rows))
	for i := range rows {
		wallets[i], sparks[i] = rows[i].Wallet, make([]data.Micro, sparkDays)
		place[rows[i].Wallet] = i
	}
	days, err := a.reader.ProfitDays(ctx, wallets, first, upTo)
	for _, d := range days {
		if i, shown := place[d.Wallet]; shown && d.Day >= first && d.Day < first+sparkDays {
			sparks[i][d.Day-first] += d.USD
		}
	}
	for _, spark := range sparks {
		for i := range spark[1:] {
			spark[i+1] += spark[i]
		}
	}
	return sparks, err
}

func rankedRow(snap *serving.Snapshot, r *serving.RankedRow, include [3]bool) wire.TraderRow {
	trader, known := snap.Trader(snap.WalletAt(r.Wallet))
	totals := trader.Totals
	if !known {
		totals = &serving.Totals{}
	}
	row := traderRow(&serving.TraderRow{Rank: r.Rank, Wallet: snap.WalletAt(r.Wallet), Name: trader.Name, RealPnL: r.RealPnL(), NetCash: r.NetCash(), Redemption: r.Redemption,
		Undated: r.Undated, UndatedMarkets: r.UndatedMarkets, BuyUSD: r.BuyUSD, SellUSD: r.SellUSD, Fills: r.Fills, RealPnLAllTime: totals.RealPnL(),
		ResolvedMarkets: totals.ResolvedMarkets, WinningMarkets: totals.WinningMarkets, LastTS: totals.LastTS})
	if include[includeSplit] {
		resolved := r.RealPnL() - r.Unresolved
		row.ResolvedPnL, row.UnresolvedCash = &resolved, &r.Unresolved
	}
	if include[includePrevious] && r.Previous > 0 {
		row.PreviousRank = &r.Previous
	}
	return row
}
