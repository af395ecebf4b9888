package api

import (
	"strconv"
	"strings"
	"sync"

	"github.com/gofiber/fiber/v2"

	"pmx/data"
	"pmx/http/access"
	"pmx/http/wire"
	"pmx/rollups/index"
	"pmx/rollups/serving"
)

// indexRows is the most rows of an index history.
const indexRows = 2000

// The parameters of GET /pmx-index/{name}/history.
var (
	indexName = &Param{Name: "name", InPath: true, Kind: Text, Min: 1, Max: 40,
		Doc: "PMX-Volume, PMX-Whale, PMX-Politics, PMX-Crypto, PMX-Sentiment or PMX-Composite, in any letter case"}
	indexInterval = &Param{Name: "interval", Kind: Choice, Choices: []string{"1h", "6h", "1d"}, Default: "1h", Doc: "length of a row"}
	indexFrom     = &Param{Name: "from", Kind: Moment, Doc: "rows that begin at this time or later; left out: the newest rows"}
	indexLimit    = &Param{Name: "limit", Kind: Integer, Default: "168", Min: 1, Max: indexRows,
		Doc: "rows wanted: the first ones from `from` on, else the newest"}
)

// hoursOf is how many hours a choice of interval has.
func hoursOf(interval int64) int64 { return [...]int64{1, 6, 24}[interval] }

func indexRoutes() []Route {
	return []Route{
		{
			Method: fiber.MethodGet, Path: "/pmx-index", Section: wire.Index, Summary: "The PMX index now",
			serve: (*API).pmxIndex, Reply: wire.One[wire.PMXIndex]{},
			Doc: "A composite and five indices at the last full five minutes up to `as_of`, open on every plan. 100 is the venue's " +
				"own normal day. The method, with the SQL that recomputes every number, is in docs/index.md.",
		},
		{
			Method: fiber.MethodGet, Path: "/pmx-index/{name}/history", Section: wire.Index, MaxRows: indexRows,
			Summary: "How an index moved", serve: (*API).indexHistory, Reply: wire.PMXHistory{}, Codes: []string{"index_not_found"},
			Params: []*Param{indexName, indexInterval, indexFrom, indexLimit},
			Doc: "Rows of the values at every five minutes of an interval: open, high, low, close, and value, which equals close. " +
				"Intervals are aligned to UTC; they hold the instants from their beginning to before their end. The one in which `as_of` " +
				"lies is not over: `is_partial`. The plan's history cap may leave old rows out.",
		},
	}
}

// indexBodies is what is encoded of a snapshot's index.
type indexBodies struct {
	now    objectBody
	once   sync.Once
	newest [index.Names][3]seriesBody // by interval, of up to indexRows rows
}

// indexOf is the snapshot's index, empty where it has none.
func (v *encodedSnapshot) indexOf() *serving.Index {
	if v.snap.Index == nil {
		return &serving.Index{}
	}
	return v.snap.Index
}

// pmxIndex answers GET /pmx-index.
func (a *API) pmxIndex(c *fiber.Ctx, call *Call) error {
	v, err := a.current()
	if err != nil {
		return err
	}
	o := &v.index.now
	v.index.once.Do(func() { o.encode(appendIndex([]byte(`,"data":`), v.indexOf())) })
	return a.sendEncoded(c, call, v, o.bodyFor(a.envelopes, v.asOf, envelope{tier: call.tier, maxRows: noRows}))
}

// appendIndex writes wire.PMXIndex.
func appendIndex(b []byte, x *serving.Index) []byte {
	now, before := x.Now.Values(), x.DayBefore.Values()
	b = appendMicros(append(b, `{"snapshot_at":`...), index.Time(x.Bucket))
	b = append(b, `,"composite":`...)
	b = appendIndexHead(b, index.Composite, &x.Now, &now, &before)
	b = appendRows(b, int(index.Names-index.Volume), func(b []byte, i int) []byte {
		n := index.Volume + index.Name(i)
		b = append(append(append(b, `{"name":"`...), n.String()...), `","weight":`...)
		b = (data.Micro(n.Weight()) * data.One / 10).Append(b)
		return append(appendIndexValue(append(b, `,"value":`...), now[n]), '}')
	})
	b = append(b, `},"indices":`...)
	b = appendRows(b, int(index.Names-index.Volume), func(b []byte, i int) []byte {
		n := index.Volume + index.Name(i)
		return append(appendInputs(appendIndexHead(b, n, &x.Now, &now, &before), n, &x.Now), '}')
	})
	return append(b, '}')
}

// appendInputs writes wire.PMXInputs.
func appendInputs(b []byte, n index.Name, in *index.Inputs) []byte {
	b = in.LastOf(n).Append(append(b, `{"last_24h_usd":`...))
	b = append(b, `,"base_usd":`...)
	if base, ok := in.BaseOf(n); ok {
		b = base.Append(b)
	} else {
		b = append(b, "null"...)
	}
	b = append(b, `,"base_windows":`...)
	if n == index.Sentiment {
		return append(b, "null}"...)
	}
	return append(strconv.AppendInt(b, int64(in.Windows), 10), '}')
}

// appendIndexHead writes the members that all indices have, up to the key inputs.
func appendIndexHead(b []byte, n index.Name, in *index.Inputs, now, before *index.Values) []byte {
	b = append(append(b, `{"name":"`...), n.String()...)
	b = appendIndexValue(append(b, `","value":`...), now[n])
	b = append(b, `,"change_24h":`...)
	if now[n] == index.None || before[n] == index.None {
		b = append(b, "null"...)
	} else {
		b = (now[n] - before[n]).Append(b)
	}
	b = appendText(append(b, `,"null_reason":`...), in.Reason(n))
	b = append(b, `,"methodology_version":"`+index.Version+`","base":`...)
	return append(appendString(b, indexBase(n)), `,"inputs":`...)
}

// indexBase says what 100 means.
func indexBase(n index.Name) string {
	switch n {
	case index.Composite:
		return "100: geometric mean of the five indices, weighted; each counts at least 1"
	case index.Sentiment:
		return "100: takers move as many dollars towards the first outcome of markets as away from it"
	}
	return "100: the mean of the 30 preceding windows of 24 hours that hold data"
}

func appendIndexValue(b []byte, v data.Micro) []byte {
	if v == index.None {
		return append(b, "null"...)
	}
	return v.Append(b)
}

// indexNamed finds an index by name, in any letter case.
func indexNamed(name string) (index.Name, bool) {
	for n := index.Composite; n < index.Names; n++ {
		if strings.EqualFold(n.String(), name) {
			return n, true
		}
	}
	return 0, false
}

// indexHistory answers GET /pmx-index/{name}/history.
func (a *API) indexHistory(c *fiber.Ctx, call *Call) error {
	v, err := a.current()
	if err != nil {
		return err
	}
	name, known := indexNamed(call.value(indexName).text)
	if !known {
		return missing("index_not_found", "Ask for PMX-Volume, PMX-Whale, PMX-Politics, PMX-Crypto, PMX-Sentiment or PMX-Composite.")
	}
	interval, limit := call.value(indexInterval).n, call.value(indexLimit).n
	h := v.barsOf(name, interval)
	e := envelope{tier: call.tier, maxRows: indexRows, hint: access.Nobody}
	if f := call.value(indexFrom); f.given {
		from := h.shown(call, max(h.oldest, (f.n+h.length()-1)/h.length()), &e)
		mark, start := a.beginReply(call, v.asOf, e)
		call.buf = appendRows(h.appendHead(call.buf), int(max(0, min(h.end, from+limit)-from)), func(b []byte, i int) []byte {
			return h.appendBar(b, from+int64(i))
		})
		return a.finishReply(c, call, mark, start, a.secondsToRefresh(call))
	}
	o := &v.index.newest[name][interval]
	first := max(h.oldest, h.end-indexRows)
	o.once.Do(func() {
		o.encode(append(h.appendHead(nil), '['), int(h.end-first), func(b []byte, i int) []byte { return h.appendBar(b, first+int64(i)) })
	})
	return a.sendEncoded(c, call, v, o.bodyFor(a.envelopes, v.asOf, int(limit), e, func(from int, e *envelope) int {
		return int(min(h.shown(call, first+int64(from), e), h.end) - first)
	}))
}

// bars is the history of one index in rows of so many hours, numbered since 1970.
type bars struct {
	v           *encodedSnapshot
	x           *serving.Index
	name        index.Name
	interval    string
	hours       int64
	oldest, end int64 // the first row, and the one behind the last
}

func (v *encodedSnapshot) barsOf(name index.Name, interval int64) bars {
	x, hours := v.indexOf(), hoursOf(interval)
	h := bars{v: v, x: x, name: name, interval: indexInterval.Choices[interval], hours: hours}
	if x.Len() > 0 {
		h.oldest, h.end = x.FirstHour/hours, (x.FirstHour+int64(x.Len())-1)/hours+1
	}
	return h
}

func (h *bars) length() int64 { return h.hours * microsPerHour }

// shown is the first row from one on that the plan shows, and says in e what it
// leaves out. A row that lies partly within the plan's history is shown.
func (h *bars) shown(call *Call, from int64, e *envelope) int64 {
	if start := call.historyStart(h.v.snap) / h.length(); from < min(start, h.end) {
		e.trimHistory(h.v.snap, lastInstant((from+1)*h.length()))
		return start
	}
	return from
}

// appendHead adds the members before the rows.
func (h *bars) appendHead(b []byte) []byte {
	b = append(append(b, `,"name":"`...), h.name.String()...)
	b = append(append(b, `","interval":"`...), h.interval...)
	return append(b, `","methodology_version":"`+index.Version+`","data":`...)
}

// appendBar writes wire.PMXBar of row n. A row is over when as_of is past it, which
// may be minutes after its last instant.
func (h *bars) appendBar(b []byte, n int64) []byte {
	x, hours, bar := h.x, h.hours, index.NoBar()
	for hour := max(n*hours, x.FirstHour); hour < min((n+1)*hours, x.FirstHour+int64(x.Len())); hour++ {
		bar.Join(x.Hour(int(hour - x.FirstHour))[h.name])
	}
	b = appendMicros(append(b, `{"time":`...), n*hours*microsPerHour)
	b = appendIndexValue(append(b, `,"open":`...), bar.Open)
	b = appendIndexValue(append(b, `,"high":`...), bar.High)
	b = appendIndexValue(append(b, `,"low":`...), bar.Low)
	b = appendIndexValue(append(b, `,"close":`...), bar.Close)
	b = appendIndexValue(append(b, `,"value":`...), bar.Close)
	b = appendBool(append(b, `,"is_partial":`...), (n+1)*hours*microsPerHour > h.v.snap.AsOf.UnixMicro())
	return append(b, '}')
}
