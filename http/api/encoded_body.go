package api

import (
	"fmt"
	"sync"
	"sync/atomic"

	"github.com/cespare/xxhash/v2"
	"github.com/gofiber/fiber/v2"

	"pmx/http/access"
)

// maxBodyBytes bounds the encoded bodies that one snapshot keeps; beyond it bodies are put together
// for every request.
const maxBodyBytes = 32 << 20

// encodedBody is a complete response from one snapshot for one tier: the text around the rows, the
// entity tag, and the body in every content coding that is kept.
type encodedBody struct {
	etag    etag
	prefix  []byte // up to the first row
	rows    []byte // shared
	suffix  string
	mu      sync.Mutex
	codings [encodings]atomic.Pointer[[]byte]
}

func (r *encodedBody) size() int { return len(r.prefix) + len(r.rows) + len(r.suffix) }

func (r *encodedBody) append(b []byte) []byte {
	return append(append(append(b, r.prefix...), r.rows...), r.suffix...)
}

// rankedBody is a ranked list of a snapshot, encoded once: any limit is a prefix of one
// buffer, and its entity tag comes from a prefix of chained sums.
type rankedBody struct {
	middle    []byte // from after as_of to the bracket of the rows
	middleSum uint64
	rows      []byte
	ends      []int    // ends[n]: where the first n rows end
	sums      []uint64 // sums[n]: their chained fingerprint
	total     int      // number of rows, including those beyond leaderboardRows
	bodies    [access.Nobody][leaderboardRows + 1]atomic.Pointer[encodedBody]
}

// encode encodes a list of total rows, the first leaderboardRows of which are shown; middle is the
// text between as_of and data, from its comma on.
func (o *rankedBody) encode(middle []byte, total int, row func(i int) any) {
	n := min(total, leaderboardRows)
	o.total = total
	o.ends, o.sums = make([]int, n+1), make([]uint64, n+1)
	for i := range n {
		from := len(o.rows)
		if i > 0 {
			o.rows = append(o.rows, ',')
		}
		o.rows = appendJSON(o.rows, row(i))
		o.ends[i+1] = len(o.rows)
		o.sums[i+1] = chainSums(o.sums[i], xxhash.Sum64(o.rows[from:]))
	}
	o.middle = append(middle, `,"data":[`...)
	o.middleSum = xxhash.Sum64(o.middle)
}

// bodyFor returns the response with the limit rows that call requests, made at its first use.
func (o *rankedBody) bodyFor(all *envelopes, asOf []byte, call *Call, limit int) *encodedBody {
	slot := &o.bodies[call.tier][limit]
	if r := slot.Load(); r != nil {
		return r
	}
	e, n := call.listEnvelope(limit, o.total)
	b := all.append([]byte{'{'}, e)
	sum := chainSums(xxhash.Sum64(b), o.middleSum, o.sums[n])
	b = append(append(b, `,"as_of":`...), asOf...)
	r := &encodedBody{etag: etagOf(sum), prefix: append(b, o.middle...), rows: o.rows[:o.ends[n]], suffix: "]}"}
	if !slot.CompareAndSwap(nil, r) {
		return slot.Load()
	}
	return r
}

// objectBody is the encoded response about one object, the same for every caller of a tier.
type objectBody struct {
	payload []byte // from after as_of up to the closing brace of the response
	sum     uint64
	bodies  [access.Nobody + 1]atomic.Pointer[encodedBody]
}

// encode keeps payload, everything after as_of, from its comma on.
func (o *objectBody) encode(payload []byte) { o.payload, o.sum = payload, xxhash.Sum64(payload) }

// bodyFor returns the response to call, made at its first use; e is its envelope and must be the
// same for every call of the tier.
func (o *objectBody) bodyFor(all *envelopes, asOf []byte, e envelope) *encodedBody {
	slot := &o.bodies[e.tier]
	if r := slot.Load(); r != nil {
		return r
	}
	b := all.append([]byte{'{'}, e)
	sum := chainSums(xxhash.Sum64(b), o.sum)
	r := &encodedBody{etag: etagOf(sum), prefix: append(append(b, `,"as_of":`...), asOf...), rows: o.payload, suffix: "}"}
	if !slot.CompareAndSwap(nil, r) {
		return slot.Load()
	}
	return r
}

// sendEncoded answers with r, which is compressed once per coding.
func (a *API) sendEncoded(c *fiber.Ctx, call *Call, v *encodedSnapshot, r *encodedBody) error {
	if !setSuccessHeaders(c, &r.etag, a.secondsToRefresh(call)) {
		return nil
	}
	form := negotiateBody(c, r.size(), denseFirst)
	if body := r.codings[form].Load(); body != nil {
		sendBody(c.Response(), form, *body)
		return nil
	}
	body, err := a.bodyIn(v, r, form)
	if err != nil {
		return fmt.Errorf("compress: %w", err)
	}
	sendBody(c.Response(), form, body)
	return nil
}

// bodyIn returns the body of r in the coding form, and keeps it if the snapshot has room.
func (a *API) bodyIn(v *encodedSnapshot, r *encodedBody, form encoding) ([]byte, error) {
	r.mu.Lock()
	defer r.mu.Unlock()
	if body := r.codings[form].Load(); body != nil {
		return *body, nil
	}
	body := r.append(make([]byte, 0, r.size()))
	if form != identity {
		var err error
		if body, err = a.compress.compress(form, body); err != nil {
			return nil, err
		}
	}
	if v.bodyBytes.Add(int64(len(body))) <= maxBodyBytes {
		r.codings[form].Store(&body)
	} else {
		v.bodyBytes.Add(-int64(len(body)))
	}
	return body, nil
}
