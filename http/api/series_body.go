package api

import (
	"sync"
	"sync/atomic"

	"github.com/cespare/xxhash/v2"

	"pmx/http/access"
)

// encodedRows is a list of rows, encoded once.
type encodedRows struct {
	rows   []byte // each with the comma after it
	starts []int  // start of each row, and the end of the last one
}

// encodeRows encodes n rows.
func (o *encodedRows) encodeRows(n int, row func(i int) any) {
	o.starts = make([]int, 1, n+1)
	for i := range n {
		o.rows = append(appendJSON(o.rows, row(i)), ',')
		o.starts = append(o.starts, len(o.rows))
	}
}

// between returns the rows from one up to another.
func (o *encodedRows) between(from, to int) []byte {
	return o.rows[o.starts[from]:max(o.starts[from], o.starts[to]-1)]
}

// seriesBody is a list of a snapshot by time, oldest first, encoded once: any number of the
// newest rows is a suffix of one buffer.
type seriesBody struct {
	encodedRows
	once   sync.Once
	middle []byte // from after as_of to the bracket of the rows
	bodies [access.Nobody + 1][]atomic.Pointer[encodedBody]
}

// encode encodes n rows; middle is the text between as_of and the first of them, from its comma on.
func (o *seriesBody) encode(middle []byte, n int, row func(i int) any) {
	o.middle = middle
	o.encodeRows(n, row)
	for tier := range o.bodies {
		o.bodies[tier] = make([]atomic.Pointer[encodedBody], n+1)
	}
}

// bodyFor returns the response with the n newest rows, made at its first use. shown returns the
// first row that the plan shows from a row on, and notes in the envelope what is left out; it and e
// must be the same for every call of the tier.
func (o *seriesBody) bodyFor(all *envelopes, asOf []byte, n int, e envelope, shown func(from int, e *envelope) int) *encodedBody {
	from := max(0, len(o.starts)-1-n)
	slot := &o.bodies[e.tier][from]
	if r := slot.Load(); r != nil {
		return r
	}
	from = shown(from, &e)
	r := &encodedBody{rows: o.between(from, len(o.starts)-1), suffix: "]}"}
	b := all.append([]byte{'{'}, e)
	r.etag = etagOf(chainSums(xxhash.Sum64(b), xxhash.Sum64(o.middle), xxhash.Sum64(r.rows)))
	r.prefix = append(append(append(b, `,"as_of":`...), asOf...), o.middle...)
	if !slot.CompareAndSwap(nil, r) {
		return slot.Load()
	}
	return r
}
