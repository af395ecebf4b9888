package api

import (
	"context"
	"time"

	"github.com/gofiber/fiber/v2"

	"pmx/data"
	"pmx/http/wire"
	"pmx/rollups/serving"
	"pmx/rollups/serving/screen"
)

// topTags is how many tags a summary lists.
const topTags = 50

// endBuckets are the intervals after as_of by which a summary groups ends, each without the ones
// before it.
func endBuckets() []time.Duration {
	const day = 24 * time.Hour
	return []time.Duration{0, day, 7 * day, 30 * day, 90 * day}
}

// summary is the encoded data of a summary, which is kept for equal requests.
type summary []byte

// screenerSummary answers GET /screener/summary.
func (a *API) screenerSummary(c *fiber.Ctx, call *Call) error {
	v, err := a.current()
	if err != nil {
		return err
	}
	q, bad := call.screening(v.markets)
	if bad != nil {
		return bad
	}
	defer q.release()
	text, err := cachedRead(a, v, "/screener/summary?"+string(c.Context().QueryArgs().QueryString()), func(context.Context) (summary, error) {
		return marshal(summaryOf(v.snap, v.markets.columns(), &q.Filter)), nil
	})
	if err != nil {
		return err
	}
	mark, start := a.beginObject(call, v.asOf)
	call.buf = append(call.buf, text...)
	return a.finishReply(c, call, mark, start, a.secondsToRefresh(call))
}

// summaryOf sums up the markets that f keeps.
func summaryOf(snap *serving.Snapshot, columns *screen.Columns, f *screen.Filter) wire.ScreenerSummary {
	var ends []int64
	for _, d := range endBuckets() {
		ends = append(ends, snap.AsOf.Add(d).UnixMicro())
	}
	s := columns.Summarize(f, ends)
	out := wire.ScreenerSummary{
		Count: s.Markets, Volume24h: data.Micro(s.Volume24h), Volume7d: data.Micro(s.Volume7d), Volume30d: data.Micro(s.Volume30d), Volume: data.Micro(s.Volume),
		Liquidity: microOrNull(data.Micro(s.Liquidity), s.LiquidityKnown > 0), LiquidityMarkets: s.LiquidityKnown,
		ByCategory: facetsOf(s.Categories), ByStatus: facetsOf(everyStatus(s.Statuses)), TagCount: len(s.Tags), ByTag: facetsOf(s.Tags[:min(topTags, len(s.Tags))]),
	}
	const width = data.One / screen.PriceBuckets
	for i, sum := range s.Prices {
		from := data.Micro(i) * width
		out.ByPrice = append(out.ByPrice, wire.PriceBucket{From: &from, To: new(from + width), Count: sum.Markets, Volume24h: data.Micro(sum.Volume24h)})
	}
	out.ByPrice = append(out.ByPrice, wire.PriceBucket{Count: s.NoPrice.Markets, Volume24h: data.Micro(s.NoPrice.Volume24h)})
	names := [...]string{"ended", "24h", "7d", "30d", "90d", "later"}
	bounds := make([]int64, len(ends)+2) // 0: none
	if !snap.AsOf.IsZero() {
		copy(bounds[1:], ends)
	}
	for i, sum := range s.Ends {
		out.ByEndDate = append(out.ByEndDate, wire.EndBucket{Bucket: names[i], From: microsOrNull(bounds[i]), To: microsOrNull(bounds[i+1]),
			Count: sum.Markets, Volume24h: data.Micro(sum.Volume24h)})
	}
	out.ByEndDate = append(out.ByEndDate, wire.EndBucket{Bucket: "unknown", Count: s.NoEnd.Markets, Volume24h: data.Micro(s.NoEnd.Volume24h)})
	return out
}

// everyStatus lists all statuses in a fixed order, including those of no market.
func everyStatus(known []screen.Facet) []screen.Facet {
	var all []screen.Facet
	for _, name := range screenStatus.Choices {
		facet := screen.Facet{Name: name}
		for _, f := range known {
			if f.Name == name {
				facet = f
			}
		}
		all = append(all, facet)
	}
	return all
}

func facetsOf(list []screen.Facet) []wire.Facet {
	out := make([]wire.Facet, len(list))
	for i, f := range list {
		out[i] = wire.Facet{Name: textOrNull(f.Name), Count: f.Markets, Volume24h: data.Micro(f.Volume24h)}
	}
	return out
}
