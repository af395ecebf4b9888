package api

import (
	"slices"
	"strconv"

	"github.com/gofiber/fiber/v2"

	"pmx/http/wire"
	"pmx/rollups/serving/screen"
	"pmx/rollups/serving/search"
)

// searchRows is the maximum number of rows of a search.
const searchRows = 200

// The parameters of GET /markets/search.
var (
	searchQ        = queryParam(true)
	searchCategory = categoryParam()
	searchStatus   = statusParam()
	searchLimit    = limitParam("50", searchRows)
)

func searchRoutes() []Route {
	return []Route{{
		Method: fiber.MethodGet, Path: "/markets/search", Section: wire.Market, MaxRows: searchRows,
		Summary: "Search for markets by words of their titles", serve: (*API).marketSearch, Reply: wire.MarketHits{},
		Params: []*Param{searchQ, searchCategory, searchStatus, searchLimit},
		Doc: "Case and accents are ignored, and the beginning of a word is enough. One word of at least four letters, without " +
			"digits, may contain a typo: one letter too many, missing or wrong, or two adjacent letters swapped. Results are sorted " +
			"by `match` in the order listed, then by `volume_24h` and `volume`, largest first, then by `condition_id`. `total` " +
			"counts all markets that match.",
	}, searchAllRoute()}
}

// matchName is the wire name of a level.
func matchName(l search.Level) string {
	return [search.Levels]string{
		search.Whole: "whole_title", search.Title: "title", search.Exact: "exact", search.TitlePrefix: "title_prefix",
		search.Prefix: "prefix", search.TitleTypo: "title_typo", search.Typo: "typo",
	}[l]
}

// hit is a market that a search found.
type hit struct {
	id    int32
	level search.Level
}

// marketSearch answers GET /markets/search.
func (a *API) marketSearch(c *fiber.Ctx, call *Call) error {
	v, err := a.current()
	if err != nil {
		return err
	}
	words, bad := call.words(searchQ)
	if bad != nil {
		return bad
	}
	class, bad := call.titled(v.markets)
	if bad != nil {
		return bad
	}
	limit := call.number(searchLimit)
	hits, total := v.markets.find(words, class, min(limit, call.tier.Caps().Rows))
	e, n := call.listEnvelope(limit, total)
	mark, start := a.beginReply(call, v.asOf, e)
	call.buf = strconv.AppendInt(append(call.buf, `,"total":`...), int64(total), 10)
	call.buf = appendRows(append(call.buf, `,"data":`...), n, func(b []byte, i int) []byte {
		b = append(append(append(b, `{"match":"`...), matchName(hits[i].level)...), `",`...)
		r := v.markets.row(hits[i].id)
		return append(appendRow(b, a.rowMembers, &r), '}')
	})
	return a.finishReply(c, call, mark, start, a.secondsToRefresh(call))
}

// titled is the search's condition on a market's class; nil: none.
func (call *Call) titled(w *marketEpoch) (func(*screen.Class) bool, *problem) {
	categories, bad := call.categories(searchCategory, w)
	states := call.choices(searchStatus)
	if bad != nil || categories == nil && states == nil {
		return nil, bad
	}
	return func(c *screen.Class) bool {
		return (categories == nil || slices.Contains(categories, c.Category)) && (states == nil || slices.Contains(states, c.Status))
	}, nil
}

// find returns the first n markets that match words, and how many do.
func (w *marketEpoch) find(words []string, class func(*screen.Class) bool, n int) (hits []hit, total int) {
	if w.screener == nil {
		return nil, 0
	}
	m := w.screener.Titles.Find(words)
	defer m.Release()
	columns := w.columns()
	for l := range search.Levels {
		f := &screen.Filter{Class: class, Within: []screen.Set{screen.Set(m.Level(l))}}
		found := m.Level(l).Count()
		if found > 0 && class != nil {
			found = columns.Count(f)
		}
		total += found
		if found == 0 || len(hits) == n {
			continue
		}
		for _, id := range columns.Top(f, screen.Order{}, nil, n-len(hits), w.condition) {
			hits = append(hits, hit{id, l})
		}
	}
	return hits, total
}
