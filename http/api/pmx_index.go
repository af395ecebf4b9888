package api

import (
	"strings"
	"sync"

	"github.com/gofiber/fiber/v2"

	"pmx/data"
	"pmx/http/access"
	"pmx/http/wire"
	"pmx/rollups/index"
	"pmx/rollups/serving"
)

// indexRows is the maximum number of rows of an index history.
const indexRows = 2000

// The parameters of GET /pmx-index/{name}/history.
var (
	indexName = &Param{Name: "name", InPath: true, Kind: Text, Min: 1, Max: 40,
		Doc: "PMX-Volume, PMX-Whale, PMX-Politics, PMX-Crypto, PMX-Sentiment or PMX-Composite, case-insensitive"}
	indexInterval = &Param{Name: "interval", Kind: Choice, Choices: []string{"1h", "6h", "1d"}, Default: "1h", Doc: "length of the interval that a row covers"}
	indexFrom     = &Param{Name: "from", Kind: Moment, Doc: "rows that begin at this time or later; if omitted, the newest rows"}
	indexLimit    = &Param{Name: "limit", Kind: Integer, Default: "168", Min: 1, Max: indexRows,
		Doc: "maximum number of rows: the first ones from `from` on or, without `from`, the newest"}
)

// hoursOf is how many hours a choice of interval has.
func hoursOf(interval int64) int64 { return [...]int64{1, 6, 24}[interval] }

func indexRoutes() []Route {
	return []Route{
		{
			Method: fiber.MethodGet, Path: "/pmx-index", Section: wire.Index, Summary: "The PMX index now",
			serve: (*API).pmxIndex, Reply: wire.One[wire.PMXIndex]{},
			Doc: "A composite and five indices at the latest multiple of five minutes up to `as_of`, available on every plan. 100 " +
				"is a normal day of the venue itself. docs/index.md describes the method and has the SQL that recomputes every number.",
		},
		{
			Method: fiber.MethodGet, Path: "/pmx-index/{name}/history", Section: wire.Index, MaxRows: indexRows,
			Summary: "History of an index", serve: (*API).indexHistory, Reply: wire.PMXHistory{}, Codes: []string{"index_not_found"},
			Params: []*Param{indexName, indexInterval, indexFrom, indexLimit},
			Doc: "An index has a value every five minutes. Each row summarizes the values of one interval: open, high, low, close, " +
				"and value, which equals close. Intervals are aligned to UTC and include their start but not their end. The " +
				"interval that contains `as_of` is not over; its `is_partial` is true. The plan's history limit may leave out old " +
				"rows.",
		},
		indexHistoriesRoute(),
	}
}

// indexBodies is what is encoded of a snapshot's index.
type indexBodies struct {
	now    objectBody
	once   sync.Once
	newest [index.Names][3]seriesBody // by interval, of up to indexRows rows
	points [index.Names][3]indexPoints
}

// indexOf is the snapshot's index, empty if it has none.
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
	v.index.once.Do(func() { o.encode(dataOf(pmxOf(v.indexOf()))) })
	return a.sendEncoded(c, call, v, o.bodyFor(a.envelopes, v.asOf, envelope{tier: call.tier, maxRows: noRows}))
}

// pmxOf is the payload of GET /pmx-index.
func pmxOf(x *serving.Index) wire.PMXIndex {
	now, before := x.Now.Values(), x.DayBefore.Values()
	c := subIndexOf(index.Composite, &x.Now, &now, &before)
	out := wire.PMXIndex{SnapshotAt: microsOrNull(index.Time(x.Bucket)), Composite: wire.PMXComposite{
		Name: c.Name, Value: c.Value, Change24h: c.Change24h, NullReason: c.NullReason, MethodologyVersion: c.MethodologyVersion, Base: c.Base}}
	for n := index.Volume; n < index.Names; n++ {
		out.Composite.Inputs = append(out.Composite.Inputs,
			wire.PMXContribution{Name: n.String(), Weight: data.Micro(n.Weight()) * data.One / 10, Value: indexValue(now[n])})
		sub := subIndexOf(n, &x.Now, &now, &before)
		sub.Inputs = inputsOf(n, &x.Now)
		out.Indices = append(out.Indices, sub)
	}
	return out
}

func inputsOf(n index.Name, in *index.Inputs) wire.PMXInputs {
	out := wire.PMXInputs{LastUSD: in.LastOf(n), BaseUSD: microOrNull(in.BaseOf(n))}
	if n != index.Sentiment {
		out.Windows = &in.Windows
	}
	return out
}

// subIndexOf has what all indices have in common, without their inputs.
func subIndexOf(n index.Name, in *index.Inputs, now, before *index.Values) wire.PMXSubIndex {
	return wire.PMXSubIndex{Name: n.String(), Value: indexValue(now[n]),
		Change24h:  microOrNull(now[n]-before[n], now[n] != index.None && before[n] != index.None),
		NullReason: textOrNull(in.Reason(n)), MethodologyVersion: index.Version, Base: indexBase(n)}
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

func indexValue(v data.Micro) *data.Micro { return microOrNull(v, v != index.None) }

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
		return missing("index_not_found", "The indices are PMX-Volume, PMX-Whale, PMX-Politics, PMX-Crypto, PMX-Sentiment and PMX-Composite.")
	}
	interval, limit := call.value(indexInterval).n, call.value(indexLimit).n
	h := v.barsOf(name, interval)
	e := envelope{tier: call.tier, maxRows: indexRows, hint: access.Nobody}
	o, first := &v.index.newest[name][interval], max(h.oldest, h.end-indexRows)
	o.once.Do(func() {
		o.encode(append(h.appendHead(nil), '['), int(h.end-first), func(i int) any { return h.bar(first + int64(i)) })
	})
	if f := call.value(indexFrom); f.given {
		from := min(h.end, h.shown(call, max(h.oldest, (f.n+h.length()-1)/h.length()), &e))
		to := min(h.end, from+limit)
		mark, start := a.beginReply(call, v.asOf, e)
		b := h.appendHead(call.buf)
		if from >= first {
			call.buf = append(append(append(b, '['), o.between(int(from-first), int(to-first))...), ']')
		} else {
			call.buf = appendList(b, int(to-from), func(i int) wire.PMXBar { return h.bar(from + int64(i)) })
		}
		return a.finishReply(c, call, mark, start, a.secondsToRefresh(call))
	}
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
	oldest, end int64 // the first row, and the one after the last
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

// shown is the first row from from on that the plan shows; it notes in e what is left out. A row
// that is partly within the plan's history is shown.
func (h *bars) shown(call *Call, from int64, e *envelope) int64 {
	if start := historyStart(call.tier, h.v.snap) / h.length(); from < min(start, h.end) {
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

// bar is row n. A row is over when as_of is past it, which may be minutes after its last
// instant.
func (h *bars) bar(n int64) wire.PMXBar {
	x, hours, bar := h.x, h.hours, index.NoBar()
	for hour := max(n*hours, x.FirstHour); hour < min((n+1)*hours, x.FirstHour+int64(x.Len())); hour++ {
		bar.Join(x.Hour(int(hour - x.FirstHour))[h.name])
	}
	return wire.PMXBar{Time: timeOfMicros(n * h.length()), Open: indexValue(bar.Open), High: indexValue(bar.High), Low: indexValue(bar.Low),
		Close: indexValue(bar.Close), Value: indexValue(bar.Close), IsPartial: (n+1)*h.length() > h.v.snap.AsOf.UnixMicro()}
}
