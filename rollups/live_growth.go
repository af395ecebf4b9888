package rollups

import (
	"context"
	"database/sql"
	"strconv"
	"strings"

	"pmx/data"
	"pmx/rollups/serving"
)

// keptHours is how many UTC hours are served.
const keptHours = 24

// growth is the section of the snapshot behind /stats: activity by hour, day, week and month.
type growth struct {
	days          days
	weeks, months map[int64]int64 // distinct wallets, including the venue's own
	hours         map[int64]*hourActivity
	firsts        firsts
	sums          serving.Totals // over all wallets
	// venueDays are the days on which each of the venue's own wallets traded, to be subtracted from
	// the counts of wallets.
	venueDays map[data.WalletID]map[int64]bool
	// long is the volume of the last 14 and 60 days: with the windows of 7 and 30
	// days it gives that of the 7 and 30 days before.
	long [2]legs
}

var longWindows = [2]int64{14 * dayLength, 60 * dayLength}

// hourActivity is one UTC hour; seen has the bit of every wallet that traded in it.
type hourActivity struct {
	legs
	seen   []uint64
	active int64
}

func newGrowth() *growth {
	return &growth{weeks: map[int64]int64{}, months: map[int64]int64{}, hours: map[int64]*hourActivity{},
		venueDays: map[data.WalletID]map[int64]bool{}}
}

func (g *growth) follow(ctx context.Context, conn *sql.Conn, l *Live, from func(table) string, whole bool) error {
	if whole {
		*g = *newGrowth()
	}
	s := l.next
	fills := "n_fill"
	if whole {
		fills = allFills(firstHour(s.asOf) * hourLength)
	}
	steps := []step{
		eachAdded(l, func(b *batchSums) []platformDayRow { return b.platformDays.rows }, from(tableNamed("platform_day")), g.addDay),
		eachAdded(l, func(b *batchSums) []dayMarketsRow { return b.dayMarkets.rows }, from(tableNamed("day_markets")), func(row *dayMarketsRow) { g.days.at(row.Day).markets += row.Markets }),
		eachAdded(l, (*batchSums).weekRows, from(tableNamed("week_wallets")), func(row *weekWalletsRow) { g.weeks[row.Week] += row.Wallets }),
		eachAdded(l, (*batchSums).monthRows, from(tableNamed("month_wallets")), func(row *monthWalletsRow) { g.months[row.Month] += row.Wallets }),
		eachAdded(l, func(b *batchSums) []platformHourRow { return b.platformHours.rows }, from(tableNamed("platform_hour")), func(row *platformHourRow) { g.hour(row.Hour).plus(&row.legs) }),
		eachAdded(l, func(b *batchSums) []hourWalletRow { return b.hourWallets(firstHour(s.asOf)) }, hourWallets(fills, s.asOf), func(row *hourWalletRow) { g.addHourWallet(l, row) }),
	}
	if len(l.excluded) > 0 {
		steps = append(steps, eachAdded(l, func(b *batchSums) []dayWalletRow { return b.daysAmong(l.excluded) }, venueDays(l, from(tableNamed("wallet_day"))), g.addVenueDay))
	}
	for _, s := range steps {
		if err := s(ctx, conn); err != nil {
			return err
		}
	}
	if err := eachAdded(l, (*batchSums).longRows, longWindowRows(l, from, whole), func(row *longWindowRow) { g.long[row.Nth].plus(&row.legs) })(ctx, conn); err != nil {
		return err
	}
	if whole {
		g.loadFirsts(l)
		return nil
	}
	return g.followFirsts(ctx, conn, l, from)
}

// hourWallets is the query of who traded in the hours that are served.
func hourWallets(fills string, asOf int64) string {
	return statements.Get("HourWallets", "@fills", fills, "@start", strconv.FormatInt(firstHour(asOf)*hourLength, 10))
}

// allFills is a table of all facts from a time in unix µs on, and of a few that are older.
func allFills(from int64) string {
	return statements.Get("AllFills", "@from", strconv.FormatInt(from, 10))
}

// firstHour is the first hour that is served.
func firstHour(asOf int64) int64 { return asOf/hourLength - keptHours + 1 }

// venueDays is the query of when the venue's own wallets traded. There must be some.
func venueDays(l *Live, days string) string {
	ids := make([]string, 0, len(l.excluded))
	for id := range l.excluded {
		ids = append(ids, strconv.Itoa(int(id)))
	}
	return statements.Get("VenueDays", "@days", days, "@wallets", strings.Join(ids, ", "))
}

// longWindowRow is volume to be added to one of longWindows.
type longWindowRow struct {
	Nth int `sql:"nth"`
	legs
}

// longWindowRows is the query of the volume of longWindows, or of what the batch changes in it.
func longWindowRows(l *Live, from func(table) string, whole bool) string {
	arg := func(us int64) string { return strconv.FormatInt(us, 10) }
	legs := statements.Get("Legs")
	parts := make([]string, len(longWindows))
	for i, length := range longWindows {
		if whole {
			parts[i] = statements.Get("LongWindow", "@nth", strconv.Itoa(i), "@legs", legs, "@days", from(tableNamed("platform_day")), "@fills", allFills(l.next.asOf-length), "@lo", arg(l.next.asOf-length))
		} else {
			parts[i] = statements.Get("LongWindowMove", "@nth", strconv.Itoa(i), "@lo", arg(l.progress.asOf-length), "@hi", arg(l.next.asOf-length))
		}
	}
	if whole {
		return unionAll(parts)
	}
	return statements.Get("LongWindowMoves", "@legs", legs, "@rows", unionAll(parts))
}

// Rows of the rollups by day, week, month and hour, and of HourWallets and VenueDays.
type (
	platformDayRow struct {
		Day int64 `sql:"day"`
		legs
		Wallets int64 `sql:"active_wallets"`
	}
	dayMarketsRow struct {
		Day     int64 `sql:"day"`
		Markets int64 `sql:"markets"`
	}
	weekWalletsRow struct {
		Week    int64 `sql:"week"`
		Wallets int64 `sql:"wallets"`
	}
	monthWalletsRow struct {
		Month   int64 `sql:"month"`
		Wallets int64 `sql:"wallets"`
	}
	platformHourRow struct {
		Hour int64 `sql:"hour"`
		legs
	}
	hourWalletRow struct {
		Hour   int64         `sql:"hour"`
		Wallet data.WalletID `sql:"wallet"`
	}
	dayWalletRow struct {
		Day    int64         `sql:"day"`
		Wallet data.WalletID `sql:"wallet"`
	}
)

func (g *growth) addDay(row *platformDayRow) {
	d := g.days.at(row.Day)
	d.plus(&row.legs)
	d.wallets += row.Wallets
}

func (g *growth) hour(hour int64) *hourActivity {
	h := g.hours[hour]
	if h == nil {
		h = &hourActivity{}
		g.hours[hour] = h
	}
	return h
}

func (g *growth) addHourWallet(l *Live, row *hourWalletRow) {
	id := row.Wallet
	if l.excluded[id] {
		return
	}
	h := g.hour(row.Hour)
	for int(id)/64 >= len(h.seen) {
		h.seen = append(h.seen, make([]uint64, max(64, int(id)/64+1-len(h.seen)))...)
	}
	if bit := uint64(1) << (id % 64); h.seen[id/64]&bit == 0 {
		h.seen[id/64] |= bit
		h.active++
	}
}

func (g *growth) addVenueDay(row *dayWalletRow) {
	if g.venueDays[row.Wallet] == nil {
		g.venueDays[row.Wallet] = map[int64]bool{}
	}
	g.venueDays[row.Wallet][row.Day] = true
}

// publish makes the series of the snapshot.
func (g *growth) publish(_ context.Context, _ *sql.Conn, l *Live, snap *serving.Snapshot) error {
	basis := snap.Counts.Basis
	out := &serving.Stats{Traders: g.firsts.wallets, FirstTS: g.firsts.firstTS, LastTS: g.sums.LastTS, Sums: g.sums}
	snap.Stats = out
	for p := range serving.Periods {
		w := &out.Windows[p]
		w.Activity = activity(&l.tokenWindows[p].sum, basis)
		w.Traders, w.Markets = l.walletWindows[p].active, int64(len(l.tradedMarkets[p].rows))
		for id := range l.excluded {
			if own := l.walletWindows[p].rows.of(int32(id)); own != nil && own.fills > 0 {
				w.Traders--
			}
		}
	}
	for i, p := range [2]serving.Period{serving.Week, serving.Month} {
		before := g.long[i]
		before.minus(&l.tokenWindows[p].sum)
		out.Windows[p].Previous = activity(&before, basis)
	}
	if snap.AsOf.IsZero() {
		return nil
	}
	asOf := snap.AsOf.UnixMicro()
	out.Hours = g.servedHours(asOf/hourLength, basis)
	out.Days = g.servedDays(asOf/dayLength, basis)
	out.Weeks = g.servedSpans(out.Days, g.weeks, weekOf, weekStart)
	out.Months = g.servedSpans(out.Days, g.months, monthOf, monthStart)
	return nil
}

func activity(l *legs, basis serving.VolumeBasis) (a serving.Activity) {
	a.Trades, a.VolumeUSD, a.VolumeShares = l.by(basis)
	return a
}

// servedHours returns the hours up to last, and forgets those before them.
func (g *growth) servedHours(last int64, basis serving.VolumeBasis) []serving.HourStats {
	for hour := range g.hours {
		if hour <= last-keptHours {
			delete(g.hours, hour)
		}
	}
	out := make([]serving.HourStats, 0, keptHours)
	for hour := last - keptHours + 1; hour <= last; hour++ {
		row := serving.HourStats{Start: hour}
		if h := g.hours[hour]; h != nil {
			row.Activity, row.ActiveWallets = activity(&h.legs, basis), h.active
		}
		out = append(out, row)
	}
	return out
}

// servedDays returns all days up to last.
func (g *growth) servedDays(last int64, basis serving.VolumeBasis) []serving.DayStats {
	venue := map[int64]int64{}
	for _, days := range g.venueDays {
		for day := range days {
			venue[day]++
		}
	}
	out := make([]serving.DayStats, 0, len(g.days.rows))
	for day := g.days.first; day <= last; day++ {
		d := g.days.at(day)
		out = append(out, serving.DayStats{Day: day, Activity: activity(&d.legs, basis), ActiveWallets: d.wallets - venue[day],
			NewWallets: d.newWallets, NewMarkets: d.newMarkets, ActiveMarkets: d.markets})
	}
	return out
}

// servedSpans sums days up by span; counts has the distinct wallets of each span.
func (g *growth) servedSpans(days []serving.DayStats, counts map[int64]int64, of, start func(int64) int64) []serving.SpanStats {
	venue := map[int64]int64{}
	for _, days := range g.venueDays {
		seen := map[int64]bool{}
		for day := range days {
			if span := of(day); !seen[span] {
				seen[span] = true
				venue[span]++
			}
		}
	}
	var out []serving.SpanStats
	for i := range days {
		d := &days[i]
		span := of(d.Day)
		if len(out) == 0 || d.Day > out[len(out)-1].Last {
			out = append(out, serving.SpanStats{First: start(span), Last: start(span+1) - 1, ActiveWallets: counts[span] - venue[span]})
		}
		s := &out[len(out)-1]
		s.VolumeUSD += d.VolumeUSD
		s.VolumeShares += d.VolumeShares
		s.Trades += d.Trades
		s.NewWallets += d.NewWallets
		s.NewMarkets += d.NewMarkets
	}
	return out
}
