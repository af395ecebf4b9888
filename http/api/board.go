package api

import (
	"fmt"
	"sync"
	"sync/atomic"

	"github.com/cespare/xxhash/v2"
	"github.com/gofiber/fiber/v2"

	"pmx/http/access"
	"pmx/rollups/serving"
)

const (
	// boardRows is the most rows a leaderboard gives.
	boardRows = 200
	// keepPerEpoch bounds the finished bodies that one snapshot keeps; beyond
	// it they are put together anew for every request.
	keepPerEpoch = 32 << 20
)

// view is one published snapshot with all that is encoded of it beforehand.
type view struct {
	snap    *serving.Snapshot
	asOf    []byte // as JSON
	traders [serving.Periods]board
	markets [serving.Periods]board
	kept    atomic.Int64 // bytes of finished bodies
}

func newView(snap *serving.Snapshot) *view {
	v := &view{snap: snap, asOf: appendTime(nil, snap.AsOf)}
	for p := range serving.Periods {
		traders, markets := snap.Traders[p], snap.Markets[p]
		v.traders[p].encode(snap, p, len(traders), func(b []byte, i int) []byte { return appendTraderRow(b, &traders[i]) })
		v.markets[p].encode(snap, p, len(markets), func(b []byte, i int) []byte { return appendMarketRow(b, &markets[i]) })
	}
	return v
}

// board is one leaderboard over one period. Its rows are encoded once, so that
// any limit is a prefix of one buffer and its tag a link of one chain.
type board struct {
	middle    []byte // period, window and the key of the rows
	middleSum uint64
	rows      []byte
	ends      []int    // ends[n]: where the first n rows end
	sums      []uint64 // sums[n]: their chained fingerprint
	total     int      // rows there are, also beyond boardRows
	replies   [access.Nobody][boardRows + 1]atomic.Pointer[boardReply]
}

func (o *board) encode(snap *serving.Snapshot, p serving.Period, total int, row func(b []byte, i int) []byte) {
	n := min(total, boardRows)
	o.total = total
	o.ends, o.sums = make([]int, n+1), make([]uint64, n+1)
	for i := range n {
		from := len(o.rows)
		if i > 0 {
			o.rows = append(o.rows, ',')
		}
		o.rows = row(o.rows, i)
		o.ends[i+1] = len(o.rows)
		o.sums[i+1] = chain(o.sums[i], xxhash.Sum64(o.rows[from:]))
	}
	b := append([]byte(`,"period":"`), p.String()...)
	b = append(b, `","window_start":`...)
	if snap.AsOf.IsZero() {
		b = append(b, `null,"window_end":null`...)
	} else {
		b = appendTime(b, snap.AsOf.Add(-p.Length()))
		b = appendTime(append(b, `,"window_end":`...), snap.AsOf)
	}
	o.middle = append(b, `,"data":[`...)
	o.middleSum = xxhash.Sum64(o.middle)
}

// boardReply is the answer to one (tier, limit): the texts around the rows, the
// tag, and the finished bodies as far as they are kept.
type boardReply struct {
	tag   tag
	head  []byte // up to the first row
	rows  []byte // shared with the board
	busy  sync.Mutex
	forms [encodings]atomic.Pointer[[]byte]
}

const boardTail = "]}"

func (r *boardReply) size() int { return len(r.head) + len(r.rows) + len(boardTail) }

func (r *boardReply) append(b []byte) []byte {
	return append(append(append(b, r.head...), r.rows...), boardTail...)
}

// trim is the envelope for limit rows asked of total by tier, and how many rows
// that gives.
func trim(tier access.Tier, limit, total int) (envelope, int) {
	e := envelope{tier: tier, maxRows: min(tier.Caps().Rows, boardRows), hint: access.Nobody}
	n := min(limit, total)
	if n > e.maxRows {
		e.trimmed = true
		if better, ok := access.LowestWithRows(n); ok {
			e.hint = better
		}
		n = e.maxRows
	}
	return e, n
}

// reply gives the answer to limit rows asked by tier, made at its first use.
func (o *board) reply(all *envelopes, asOf []byte, tier access.Tier, limit int) *boardReply {
	slot := &o.replies[tier][limit]
	if r := slot.Load(); r != nil {
		return r
	}
	e, n := trim(tier, limit, o.total)
	b := all.append([]byte{'{'}, e)
	sum := chain(xxhash.Sum64(b), o.middleSum, o.sums[n])
	b = append(append(b, `,"as_of":`...), asOf...)
	r := &boardReply{tag: tagOf(sum), head: append(b, o.middle...), rows: o.rows[:o.ends[n]]}
	if !slot.CompareAndSwap(nil, r) {
		return slot.Load()
	}
	return r
}

// traderBoard answers GET /leaderboard/traders.
func (a *API) traderBoard(c *fiber.Ctx, call *Call) error {
	v, err := a.ready()
	if err != nil {
		return err
	}
	return a.sendBoard(c, call, v, &v.traders[call.values[boardPeriod].n])
}

// marketBoard answers GET /leaderboard/markets.
func (a *API) marketBoard(c *fiber.Ctx, call *Call) error {
	v, err := a.ready()
	if err != nil {
		return err
	}
	return a.sendBoard(c, call, v, &v.markets[call.values[boardPeriod].n])
}

func (a *API) sendBoard(c *fiber.Ctx, call *Call, v *view, o *board) error {
	r := o.reply(a.envelopes, v.asOf, call.tier, int(call.values[boardLimit].n))
	if !success(c, &r.tag, a.untilRefresh(call)) {
		return nil
	}
	form := acceptedForm(c, r.size(), denseFirst)
	if body := r.forms[form].Load(); body != nil {
		sendForm(c.Response(), form, *body)
		return nil
	}
	body, err := a.finished(v, r, form)
	if err != nil {
		return fmt.Errorf("compress board: %w", err)
	}
	sendForm(c.Response(), form, body)
	return nil
}

// finished makes the body of r in form and keeps it while the view has room.
func (a *API) finished(v *view, r *boardReply, form encoding) ([]byte, error) {
	r.busy.Lock()
	defer r.busy.Unlock()
	if body := r.forms[form].Load(); body != nil {
		return *body, nil
	}
	body := r.append(make([]byte, 0, r.size()))
	if form != identity {
		var err error
		if body, err = a.compress.compress(form, body); err != nil {
			return nil, err
		}
	}
	if v.kept.Add(int64(len(body))) <= keepPerEpoch {
		r.forms[form].Store(&body)
	} else {
		v.kept.Add(-int64(len(body)))
	}
	return body, nil
}
