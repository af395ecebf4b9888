package api

import (
	"context"
	"strconv"
	"time"

	"github.com/gofiber/fiber/v2"

	"pmx/data"
	"pmx/rollups/serving"
	"pmx/rollups/serving/screen"
)

// topTags is how many tags a summary lists.
const topTags = 50

// endBuckets are the intervals after as_of by which a summary sorts ends, each
// without the ones before it.
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
		return appendSummary(nil, v.snap, v.markets.columns(), &q.Filter), nil
	})
	if err != nil {
		return err
	}
	mark, start := a.beginObject(call, v.asOf)
	call.buf = append(call.buf, text...)
	return a.finishReply(c, call, mark, start, a.secondsToRefresh(call))
}

// appendSummary writes wire.ScreenerSummary.
func appendSummary(b []byte, snap *serving.Snapshot, columns *screen.Columns, f *screen.Filter) []byte {
	var ends []int64
	for _, d := range endBuckets() {
		ends = append(ends, snap.AsOf.Add(d).UnixMicro())
	}
	s := columns.Summarize(f, ends)
	b = appendSum(append(b, '{'), s.Sum)
	b = data.Micro(s.Volume7d).Append(append(b, `,"volume_7d":`...))
	b = data.Micro(s.Volume30d).Append(append(b, `,"volume_30d":`...))
	b = data.Micro(s.Volume).Append(append(b, `,"volume":`...))
	b = append(b, `,"liquidity":`...)
	if s.LiquidityKnown > 0 {
		b = data.Micro(s.Liquidity).Append(b)
	} else {
		b = append(b, "null"...)
	}
	b = strconv.AppendInt(append(b, `,"liquidity_markets":`...), s.LiquidityKnown, 10)
	b = appendFacets(append(b, `,"by_category":`...), s.Categories)
	b = appendFacets(append(b, `,"by_status":`...), everyStatus(s.Statuses))
	b = strconv.AppendInt(append(b, `,"tag_count":`...), int64(len(s.Tags)), 10)
	b = appendFacets(append(b, `,"by_tag":`...), s.Tags[:min(topTags, len(s.Tags))])
	b = appendPrices(append(b, `,"by_price":[`...), s)
	return append(appendEnds(append(b, `],"by_end_date":[`...), s, ends), "]}"...)
}

func appendSum(b []byte, s screen.Sum) []byte {
	b = strconv.AppendInt(append(b, `"count":`...), s.Markets, 10)
	return data.Micro(s.Volume24h).Append(append(b, `,"volume_24h":`...))
}

// everyStatus lists the four states in a fixed order, those of no market too.
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

func appendFacets(b []byte, list []screen.Facet) []byte {
	return appendRows(b, len(list), func(b []byte, i int) []byte {
		b = appendText(append(b, `{"name":`...), list[i].Name)
		return append(appendSum(append(b, ','), list[i].Sum), '}')
	})
}

func appendPrices(b []byte, s *screen.Summary) []byte {
	const width = data.One / screen.PriceBuckets
	for i := range data.Micro(screen.PriceBuckets) {
		b = (i * width).Append(append(b, `{"from":`...))
		b = ((i + 1) * width).Append(append(b, `,"to":`...))
		b = append(appendSum(append(b, ','), s.Prices[i]), "},"...)
	}
	return append(appendSum(append(b, `{"from":null,"to":null,`...), s.NoPrice), '}')
}

func appendEnds(b []byte, s *screen.Summary, ends []int64) []byte {
	names := [...]string{"ended", "24h", "7d", "30d", "90d", "later"}
	bounds := append(append([]int64{0}, ends...), 0) // 0: none
	for i, sum := range s.Ends {
		b = append(append(append(b, `{"bucket":"`...), names[i]...), `","from":`...)
		b = appendMicros(b, bounds[i])
		b = appendMicros(append(b, `,"to":`...), bounds[i+1])
		b = append(appendSum(append(b, ','), sum), "},"...)
	}
	return append(appendSum(append(b, `{"bucket":"unknown","from":null,"to":null,`...), s.NoEnd), '}')
}
