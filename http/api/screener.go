package api

import (
	"slices"
	"sync"
	"sync/atomic"

	"github.com/cespare/xxhash/v2"
	"github.com/gofiber/fiber/v2"

	"pmx/data"
	"pmx/http/access"
	"pmx/http/wire"
	"pmx/rollups/serving/screen"
)

// screenRows is the maximum number of rows of a page of the screener.
const screenRows = 200

// The parameters of GET /screener in addition to its filters.
var (
	screenSort      = sortParam()
	screenOrder     = &Param{Name: "order", Kind: Choice, Choices: []string{"desc", "asc"}, Default: "desc", Doc: "desc: largest first; asc: smallest first; unknown values come last in both"}
	screenFieldList = &Param{Name: "fields", Kind: Text, Min: 1, Max: 600, Many: len(rowMembers()), Pattern: listPattern(rowMembers()),
		Doc: "members to return in each row, separated by commas; may be repeated"}
	screenLimit  = limitParam("50", screenRows)
	screenCursor = cursorParam()
)

func sortParam() *Param {
	p := &Param{Name: "sort", Kind: Choice, Default: figureOf(screen.Volume24h).name, Doc: "figure or time to sort by"}
	for f := range screen.Fields {
		p.Choices = append(p.Choices, figureOf(f).name)
	}
	return p
}

func screenerRoutes() []Route {
	return []Route{
		{
			Method: fiber.MethodGet, Path: "/screener", Section: wire.Screener, MaxRows: screenRows,
			Summary: "Markets, filtered and sorted by their figures", serve: (*API).screener, Reply: wire.Page[wire.ScreenerRow]{},
			Params: append(filterParams(), screenSort, screenOrder, screenFieldList, screenLimit, screenCursor), Codes: []string{"invalid_cursor"},
			Doc: "A market must match all filters. If one of its figures is unknown, it matches no minimum or maximum of that " +
				"figure, and it sorts last in both orders. Ties are broken by `volume`, largest first, then by `condition_id`. " +
				"Continue with `next_cursor`: all pages of a scan show the data of the first page, with the same `as_of`, so no row " +
				"is missed or repeated even though figures change. The data is kept for 10 minutes after the last page was " +
				"read, or less if memory is low, and is lost at a restart. A scan that has expired fails with `invalid_cursor`.",
		},
		{
			Method: fiber.MethodGet, Path: "/screener/summary", Section: wire.Screener,
			Summary: "Sums over the markets that match the screener's filters", serve: (*API).screenerSummary,
			Params: filterParams(), Reply: wire.One[wire.ScreenerSummary]{},
			Doc: "The filters are those of `/screener`, with the same meaning. Unknown figures add nothing to the sums.",
		},
	}
}

// screener answers GET /screener.
func (a *API) screener(c *fiber.Ctx, call *Call) error {
	v, err := a.current()
	if err != nil {
		return err
	}
	if call.givesNoneBut(screenLimit) {
		return a.sendEncoded(c, call, v, a.screenerFirstPage(v, call))
	}
	members, bad := a.members(call)
	if bad != nil {
		return bad
	}
	w, after := v.markets, (*screen.Place)(nil)
	position, bad := a.openCursor(call, call.value(screenCursor).text)
	if bad == nil && position != nil {
		w, after, bad = a.readScreenerPosition(position, v, call.Start)
	}
	if bad != nil {
		return bad
	}
	q, bad := call.screening(w)
	if bad != nil {
		return bad
	}
	defer q.release()
	limit := call.number(screenLimit)
	n := call.pageRows(limit)
	order := screen.Order{Field: screen.Field(call.value(screenSort).n), Ascending: call.value(screenOrder).n == 1}
	ids := w.columns().Top(&q.Filter, order, after, n+1, w.condition)
	more := len(ids) > n
	ids = ids[:min(n, len(ids))]
	mark, start := a.beginReply(call, w.asOf, call.pageEnvelope(limit, more))
	call.buf = append(call.buf, `,"next_cursor":`...)
	if more {
		call.buf = appendString(call.buf, a.nextScreenerCursor(call, v, w, ids[n-1], order))
	} else {
		call.buf = append(call.buf, "null"...)
	}
	call.buf = appendRows(append(call.buf, `,"data":`...), len(ids), func(b []byte, i int) []byte {
		r := w.row(ids[i])
		return append(appendRow(append(b, '{'), members, &r), '}')
	})
	return a.finishReply(c, call, mark, start, a.secondsToRefresh(call))
}

// nextScreenerCursor makes the cursor that continues after market id of epoch w.
func (a *API) nextScreenerCursor(call *Call, v *encodedSnapshot, w *marketEpoch, id int32, o screen.Order) string {
	place := w.columns().PlaceOf(id, o, w.condition(id))
	scan := a.pinned.pin(w, v.markets, call.Start)
	return a.sealCursor(call, a.pinned.appendPosition(nil, scan, &place))
}

// columns are the columns of w's markets; nil if there are none.
func (w *marketEpoch) columns() *screen.Columns {
	if w.screener == nil {
		return nil
	}
	return w.screener.Columns
}

func (w *marketEpoch) condition(id int32) data.Hash { return w.catalog.Market(id).Condition }

// screenerFirstPage is the first page of the screener without filters, encoded once.
type screenerFirstPage struct {
	once    sync.Once
	ids     []int32 // one more than a page has, if there are so many
	rows    []byte
	ends    []int // ends[n]: where the first n rows end
	replies [access.Nobody][screenRows + 1]atomic.Pointer[encodedBody]
}

// screenerFirstPage returns the response to call, made at its first use.
func (a *API) screenerFirstPage(v *encodedSnapshot, call *Call) *encodedBody {
	f, w := &v.screener, v.markets
	limit := call.number(screenLimit)
	slot := &f.replies[call.tier][limit]
	if r := slot.Load(); r != nil {
		if len(f.ids) > call.pageRows(limit) {
			a.pinned.pin(w, v.markets, call.Start)
		}
		return r
	}
	f.once.Do(func() {
		f.ids = w.columns().Top(&screen.Filter{}, screen.Order{}, nil, screenRows+1, w.condition)
		f.ends = []int{0}
		for i, id := range f.ids[:min(screenRows, len(f.ids))] {
			if i > 0 {
				f.rows = append(f.rows, ',')
			}
			r := w.row(id)
			f.rows = append(appendRow(append(f.rows, '{'), a.rowMembers, &r), '}')
			f.ends = append(f.ends, len(f.rows))
		}
		f.rows = slices.Clip(f.rows)
	})
	n := min(call.pageRows(limit), len(f.ids))
	more := len(f.ids) > n
	head := a.envelopes.append([]byte{'{'}, call.pageEnvelope(limit, more))
	middle := []byte(`,"next_cursor":`)
	if more {
		middle = appendString(middle, a.nextScreenerCursor(call, v, w, f.ids[n-1], screen.Order{}))
	} else {
		middle = append(middle, "null"...)
	}
	middle = append(middle, `,"data":[`...)
	rows := f.rows[:f.ends[n]]
	sum := chainSums(xxhash.Sum64(head), xxhash.Sum64(middle), xxhash.Sum64(rows))
	head = append(append(append(head, `,"as_of":`...), w.asOf...), middle...)
	r := &encodedBody{etag: etagOf(sum), prefix: head, rows: rows, suffix: "]}"}
	if !slot.CompareAndSwap(nil, r) {
		return slot.Load()
	}
	return r
}
