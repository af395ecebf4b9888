package api

import (
	"fmt"
	"sync"
	"sync/atomic"

	"github.com/cespare/xxhash/v2"
	"github.com/gofiber/fiber/v2"

	"pmx/http/access"
)

// keepPerEpoch bounds the finished bodies that one snapshot keeps; beyond it they
// are put together anew for every request.
const keepPerEpoch = 32 << 20

// prepared is a whole answer of one snapshot to one tier: the texts around the
// rows, the tag, and the finished bodies as far as they are kept.
type prepared struct {
	tag   tag
	head  []byte // up to the first row
	rows  []byte // shared
	tail  string
	busy  sync.Mutex
	forms [encodings]atomic.Pointer[[]byte]
}

func (r *prepared) size() int { return len(r.head) + len(r.rows) + len(r.tail) }

func (r *prepared) append(b []byte) []byte {
	return append(append(append(b, r.head...), r.rows...), r.tail...)
}

// sheet is a ranked list of a snapshot. Its rows are encoded once, so that any
// limit is a prefix of one buffer and its tag a link of one chain.
type sheet struct {
	middle    []byte // from behind as_of to the bracket of the rows
	middleSum uint64
	rows      []byte
	ends      []int    // ends[n]: where the first n rows end
	sums      []uint64 // sums[n]: their chained fingerprint
	total     int      // rows there are, also beyond boardRows
	replies   [access.Nobody][boardRows + 1]atomic.Pointer[prepared]
}

// encode makes the sheet of total rows, of which the first boardRows are shown;
// middle is what stands between as_of and data, from its comma on.
func (o *sheet) encode(middle []byte, total int, row func(b []byte, i int) []byte) {
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
	o.middle = append(middle, `,"data":[`...)
	o.middleSum = xxhash.Sum64(o.middle)
}

// reply gives the answer to limit rows asked by call, made at its first use.
func (o *sheet) reply(all *envelopes, asOf []byte, call *Call, limit int) *prepared {
	slot := &o.replies[call.tier][limit]
	if r := slot.Load(); r != nil {
		return r
	}
	e, n := call.rowsFor(limit, o.total)
	b := all.append([]byte{'{'}, e)
	sum := chain(xxhash.Sum64(b), o.middleSum, o.sums[n])
	b = append(append(b, `,"as_of":`...), asOf...)
	r := &prepared{tag: tagOf(sum), head: append(b, o.middle...), rows: o.rows[:o.ends[n]], tail: "]}"}
	if !slot.CompareAndSwap(nil, r) {
		return slot.Load()
	}
	return r
}

// card is an answer about one thing that every caller of a tier gets alike.
type card struct {
	payload []byte // from behind as_of to the last brace but one
	sum     uint64
	replies [access.Nobody + 1]atomic.Pointer[prepared]
}

// encode makes the card; payload is all behind as_of, from its comma on.
func (o *card) encode(payload []byte) { o.payload, o.sum = payload, xxhash.Sum64(payload) }

// reply gives the answer to call, made at its first use; e is its envelope and
// must be the same for every call of the tier.
func (o *card) reply(all *envelopes, asOf []byte, e envelope) *prepared {
	slot := &o.replies[e.tier]
	if r := slot.Load(); r != nil {
		return r
	}
	b := all.append([]byte{'{'}, e)
	sum := chain(xxhash.Sum64(b), o.sum)
	r := &prepared{tag: tagOf(sum), head: append(append(b, `,"as_of":`...), asOf...), rows: o.payload, tail: "}"}
	if !slot.CompareAndSwap(nil, r) {
		return slot.Load()
	}
	return r
}

// sendPrepared answers with r, whose finished body is made once.
func (a *API) sendPrepared(c *fiber.Ctx, call *Call, v *view, r *prepared) error {
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
		return fmt.Errorf("compress: %w", err)
	}
	sendForm(c.Response(), form, body)
	return nil
}

// finished makes the body of r in form and keeps it while the view has room.
func (a *API) finished(v *view, r *prepared, form encoding) ([]byte, error) {
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
