package api

import (
	"sync"

	"github.com/gofiber/fiber/v2"

	"pmx/http/access"
	"pmx/http/wire"
	"pmx/rollups/index"
)

// The parameters of GET /pmx-index/histories.
var (
	indicesName = &Param{Name: "name", Kind: Choice, Choices: indexNames(), Many: int(index.Names),
		Doc: "index to show; if repeated, or separated by commas, all of these; if omitted, all six"}
	indicesInterval = &Param{Name: "interval", Kind: Choice, Choices: indexInterval.Choices, Default: "1d", Doc: indexInterval.Doc}
	indicesFrom     = &Param{Name: "from", Kind: Moment, Doc: "points that begin at this time or later; if omitted, the newest points"}
	indicesLimit    = &Param{Name: "limit", Kind: Integer, Default: "90", Min: 1, Max: indexRows,
		Doc: "maximum number of points of each index: the first ones from `from` on or, without `from`, the newest"}
)

func indexNames() (names []string) {
	for n := index.Composite; n < index.Names; n++ {
		names = append(names, n.String())
	}
	return names
}

func indexHistoriesRoute() Route {
	return Route{
		Method: fiber.MethodGet, Path: "/pmx-index/histories", Section: wire.Index, MaxRows: indexRows, MaxItems: int(index.Names),
		Summary: "Histories of several indices at once", serve: (*API).indexHistories, Reply: wire.PMXHistories{},
		Params: []*Param{indicesName, indicesInterval, indicesFrom, indicesLimit},
		Doc: "The closing values of `/pmx-index/{name}/history` for several indices in one response, " +
			"always in the order of `/pmx-index`, the composite first. All indices have points at the same times. The plan's history " +
			"limit may leave out old points.",
	}
}

// indexPoints are the points of one index over one interval, encoded once, of up to indexRows.
type indexPoints struct {
	encodedRows
	once sync.Once
}

// indexHistories answers GET /pmx-index/histories.
func (a *API) indexHistories(c *fiber.Ctx, call *Call) error {
	v, err := a.current()
	if err != nil {
		return err
	}
	interval, limit := call.value(indicesInterval).n, call.value(indicesLimit).n
	e := envelope{tier: call.tier, maxRows: indexRows, hint: access.Nobody}
	h := v.barsOf(index.Composite, interval) // all indices begin and end at the same time
	from, to := max(h.oldest, h.end-limit), h.end
	if f := call.value(indicesFrom); f.given {
		from = max(h.oldest, (f.n+h.length()-1)/h.length())
	}
	from = min(h.end, h.shown(call, from, &e))
	to = min(to, from+limit)
	mark, start := a.beginReply(call, v.asOf, e)
	b := append(append(call.buf, `,"interval":"`...), h.interval...)
	b = append(b, `","methodology_version":"`+index.Version+`","data":[`...)
	first := true
	for n := index.Composite; n < index.Names; n++ {
		if !call.wantsIndex(n) {
			continue
		}
		if !first {
			b = append(b, ',')
		}
		first = false
		b = append(append(append(b, `{"name":"`...), n.String()...), `","points":[`...)
		b = append(v.appendPoints(b, n, interval, from, to), "]}"...)
	}
	call.buf = append(b, ']')
	return a.finishReply(c, call, mark, start, a.secondsToRefresh(call))
}

// wantsIndex reports whether call requests an index.
func (call *Call) wantsIndex(n index.Name) bool {
	none := true
	for v := range call.all(indicesName) {
		none = false
		if index.Name(v.n) == n {
			return true
		}
	}
	return none
}

// appendPoints adds the points of an index from one row of its bars up to another: the encoded
// ones, or, if some are older, newly encoded ones.
func (v *encodedSnapshot) appendPoints(b []byte, n index.Name, interval, from, to int64) []byte {
	h := v.barsOf(n, interval)
	point := func(i int64) any {
		bar := h.bar(i)
		return wire.PMXPoint{Time: bar.Time, Value: bar.Value, IsPartial: bar.IsPartial}
	}
	first := max(h.oldest, h.end-indexRows)
	if from < first {
		for i := from; i < to; i++ {
			if i > from {
				b = append(b, ',')
			}
			b = appendJSON(b, point(i))
		}
		return b
	}
	o := &v.index.points[n][interval]
	o.once.Do(func() { o.encodeRows(int(h.end-first), func(i int) any { return point(first + int64(i)) }) })
	return append(b, o.between(int(from-first), int(to-first))...)
}
