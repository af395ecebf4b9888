package api

import (
	"sync"

	"github.com/gofiber/fiber/v2"

	"pmx/data"
	"pmx/http/access"
	"pmx/http/wire"
	"pmx/rollups/serving"
)

const (
	// hourlyRows is how many hours a snapshot keeps.
	hourlyRows = 24
	// dailyStatsRows is the maximum number of days of GET /stats/daily: ten years.
	dailyStatsRows = 3650

	microsPerHour = 3_600_000_000
	microsPerDay  = 24 * microsPerHour
)

// statsDays is the parameter of GET /stats/daily.
var statsDays = &Param{Name: "days", Kind: Integer, Default: "30", Min: 1, Max: dailyStatsRows,
	Doc: "number of newest days; the plan's history limit may reduce it"}

// growthWithDays is the parameter of GET /stats/growth.
var growthWithDays = &Param{Name: "days", Kind: Choice, Choices: yesNo(), Default: "true",
	Doc: "false: `days` is empty, which makes the response much shorter"}

func statsRoutes() []Route {
	return []Route{
		{
			Method: fiber.MethodGet, Path: "/stats", Section: wire.Stats, Summary: "Figures of the whole venue",
			serve: (*API).stats, Reply: wire.One[wire.StatsOverview]{},
			Doc: "Volume and trades count each match once: they are sums over the fills of takers, or of makers if no taker's fill " +
				"is known at all (`volume_basis`). Windows are rolling: the last 24, 168 and 720 hours up to `as_of`. The venue's " +
				"own wallets do not count as traders. `reconciliation` has sums over all wallets.",
		},
		{
			Method: fiber.MethodGet, Path: "/stats/hourly", Section: wire.Stats, MaxRows: hourlyRows,
			Summary: "The last 24 hours, hour by hour", serve: (*API).statsHourly, Reply: wire.StatsSeries[wire.StatsHour]{},
			Doc: "UTC hours, oldest first, up to the one that contains `as_of`, which is not over and whose `is_partial` is true. " +
				"An hour without trades is a row of zeros.",
		},
		{
			Method: fiber.MethodGet, Path: "/stats/daily", Section: wire.Stats, MaxRows: dailyStatsRows,
			Summary: "The venue day by day", serve: (*API).statsDaily, Reply: wire.StatsSeries[wire.StatsDay]{},
			Params: []*Param{statsDays},
			Doc: "UTC days, oldest first, from the day of the first trade up to the one that contains `as_of`, which is not over " +
				"and whose `is_partial` is true. A day without trades is a row of zeros. A wallet or market is new on the day of " +
				"its first fill.",
		},
		{
			Method: fiber.MethodGet, Path: "/stats/growth", Section: wire.Stats, Summary: "Growth and trends",
			serve: (*API).statsGrowth, Reply: wire.One[wire.StatsGrowth]{}, Params: []*Param{growthWithDays},
			Doc: "`week_over_week` and `month_over_month` compare rolling windows that end at `as_of` with the windows of equal " +
				"length before them. The number of wallets active in the previous window is not kept; `weeks` and `months` show how " +
				"it changes. Buckets are UTC days, ISO weeks and calendar months, oldest first: at most 90, 53 and 36 of them, as " +
				"far back as the plan's history goes. A week or month with a day outside that history is left out, and `truncated` " +
				"is then true. Changes are in percent of the previous bucket; they are null if the previous bucket has no value or " +
				"the bucket is not over. `stickiness` is `last_24h` ÷ `last_30d`.",
		},
	}
}

// statsBodies has the encoded responses from a snapshot's Stats.
type statsBodies struct {
	overview, hourly         objectBody
	overviewOnce, hourlyOnce sync.Once
	days                     seriesBody
	growth                   [access.Nobody][2]growthBody // with the days, without
	newWallets               newWalletCounts
	newWalletsOnce           sync.Once
	open                     wire.StatsOpen
	openOnce                 sync.Once
}

// statsOf is the snapshot's activity, empty if it has none.
func (v *encodedSnapshot) statsOf() *serving.Stats {
	if v.snap.Stats == nil {
		return &serving.Stats{}
	}
	return v.snap.Stats
}

// basis is the venue's volume basis.
func (v *encodedSnapshot) basis() serving.VolumeBasis {
	if v.snap.Counts.Basis == "" {
		return serving.TakerUSD
	}
	return v.snap.Counts.Basis
}

// stats answers GET /stats.
func (a *API) stats(c *fiber.Ctx, call *Call) error {
	v, err := a.current()
	if err != nil {
		return err
	}
	o := &v.stats.overview
	v.stats.overviewOnce.Do(func() { o.encode(dataOf(v.overview())) })
	return a.sendEncoded(c, call, v, o.bodyFor(a.envelopes, v.asOf, envelope{tier: call.tier, maxRows: noRows}))
}

// statsHourly answers GET /stats/hourly.
func (a *API) statsHourly(c *fiber.Ctx, call *Call) error {
	v, err := a.current()
	if err != nil {
		return err
	}
	o := &v.stats.hourly
	v.stats.hourlyOnce.Do(func() {
		hours := v.statsOf().Hours
		o.encode(appendList(append(v.appendBasis(nil), `,"data":`...), len(hours), func(i int) wire.StatsHour { return hourOf(&hours[i], i == len(hours)-1) }))
	})
	return a.sendEncoded(c, call, v, o.bodyFor(a.envelopes, v.asOf, envelope{tier: call.tier, maxRows: hourlyRows}))
}

// statsDaily answers GET /stats/daily.
func (a *API) statsDaily(c *fiber.Ctx, call *Call) error {
	v, err := a.current()
	if err != nil {
		return err
	}
	return a.sendEncoded(c, call, v, a.daysReply(v, call, call.number(statsDays)))
}

// countOlder counts the buckets at the beginning of list that ended at or before start, in unix µs:
// a bucket is shown if any part of it is after start.
func countOlder[T any](list []T, start int64, end func(*T) int64) (n int) {
	for n < len(list) && end(&list[n]) <= start {
		n++
	}
	return n
}

func endOfDay(d *serving.DayStats) int64 { return (d.Day + 1) * microsPerDay }

// endOfFirstDay returns the end of the first day of a week or month, or of the venue's first day if
// that is later: the bucket is shown if that day is.
func endOfFirstDay(days []serving.DayStats) func(*serving.SpanStats) int64 {
	return func(s *serving.SpanStats) int64 { return (max(s.First, days[0].Day) + 1) * microsPerDay }
}

func (v *encodedSnapshot) appendBasis(b []byte) []byte {
	return append(append(append(b, `,"volume_basis":"`...), v.basis()...), '"')
}

// overview is the payload of GET /stats.
func (v *encodedSnapshot) overview() wire.StatsOverview {
	c, s := &v.snap.Counts, v.statsOf()
	day, week, month := &s.Windows[serving.Day], &s.Windows[serving.Week], &s.Windows[serving.Month]
	return wire.StatsOverview{
		VolumeBasis: string(v.basis()), Volume: c.VolumeUSD, Volume24h: day.VolumeUSD, Volume7d: week.VolumeUSD, Volume30d: month.VolumeUSD,
		VolumeShares: c.VolumeShares, Trades: c.Trades, Trades24h: day.Trades, Trades7d: week.Trades, Trades30d: month.Trades,
		Traders: s.Traders, ActiveTraders24h: day.Traders, ActiveTraders7d: week.Traders, ActiveTraders30d: month.Traders,
		Markets: c.Markets, ActiveMarkets: day.Markets, ActiveMarkets7d: week.Markets, ActiveMarkets30d: month.Markets,
		OpenMarkets: c.OpenMarkets, ClosedMarkets: c.ClosedMarkets, ResolvedMarkets: c.ResolvedMarkets, Events: c.Events,
		FirstTradeAt: microsOrNull(s.FirstTS), LastTradeAt: microsOrNull(s.LastTS), Reconciliation: venueCounts(c, &s.Sums),
	}
}

func venueCounts(c *serving.Counts, t *serving.Totals) wire.VenueCounts {
	return wire.VenueCounts{
		Fills: c.Fills, TakerFills: t.TakerFills, MakerFills: t.MakerFills, UnknownRole: t.Fills - t.TakerFills - t.MakerFills,
		Wallets: c.Wallets, Tokens: c.Tokens, UnmappedFills: c.UnmappedFills, UnmappedTokens: c.UnmappedTokens,
		BuyVolumeUSD: t.BuyUSD, SellVolumeUSD: t.SellUSD, FeesUSD: t.FeeUSD, NetCash: t.NetCash, RedemptionValue: t.Redemption,
		RealPnL: t.RealPnL(), UnresolvedCash: t.UnresolvedCash, NegativeLegs: t.NegativeLegs,
	}
}

func hourOf(h *serving.HourStats, partial bool) wire.StatsHour {
	return wire.StatsHour{Hour: timeOfMicros(h.Start * microsPerHour), Volume: h.VolumeUSD, VolumeShares: h.VolumeShares, Trades: h.Trades,
		ActiveWallets: h.ActiveWallets, IsPartial: partial}
}

// changeOf returns by how many percent now is more than before, nil if before is 0.
func changeOf(now, before data.Micro) *data.Micro {
	if before == 0 {
		return nil
	}
	return new(data.MulDiv(now-before, 100*data.One, before))
}
